/* SPDX-License-Identifier: Apache-2.0 */
/* attack.c - running attacks. */
#include "tests/lib/passes/attack.h"

#include "integrity/referee/referee.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static PmGraph *two_places(void)
{
	static const char text[] =
		"g (float[4,8] x, float[8] z) => (float[4,8] y, float[8] w)\n{\n"
		"  s = Sigmoid(x)\n  y = Mul(x, s)\n  t = Sigmoid(z)\n  w = Mul(z, t)\n}\n";

	return pm_test_graph(text);
}

PmPassOutcome pm_attack_run(const char *so, const char *rule, double seconds)
{
	PmGraph *g = two_places();
	PmPassOpts opts = { .seconds = seconds, .only_rule = rule, .memory = (int64_t)256 << 20 };
	PmPassOutcome out;
	PmErr err;

	pm_err_init(&err);
	if (pm_pass_apply(so[0] == '/' ? so : built(so), g, &opts, &out, &err))
		fail_msg("%s", err.text);
	pm_graph_free(g);
	return out;
}

static void honest_pass_works(const char *after)
{
	PmPassOutcome out = pm_attack_run("passes/silu.so", NULL, 60);

	if (out.verdict != PM_VERDICT_OK || out.applied != 2)
		fail_msg("The honest pass after %s: %s: %s", after, pm_verdict_name(out.verdict),
			 out.message);
	pm_pass_outcome_release(&out);
}

void pm_attack(const char *so, const char *rule, double seconds, PmVerdict want, const char *part)
{
	PmPassOutcome out = pm_attack_run(so, rule, seconds);

	if (out.verdict != want || (!strstr(out.message, part) && !strstr(out.problems, part)) ||
	    (out.graph != NULL) != (want == PM_VERDICT_OK))
		fail_msg("%s %s: %s: %s (expected %s, \"%s\")", so, rule ? rule : "",
			 pm_verdict_name(out.verdict), out.message, pm_verdict_name(want), part);
	pm_pass_outcome_release(&out);
	honest_pass_works(rule ? rule : so);
}

static PmCandidate judged(const char *so)
{
	PmGraph *g = two_places();
	PmCandidate c;
	PmErr err;

	pm_err_init(&err);
	if (pm_referee_rewrite(built(so), NULL, g, 60, &c, &err))
		fail_msg("%s", err.text);
	pm_graph_free(g);
	return c;
}

PmVerdict pm_attack_verdict(const char *so)
{
	PmCandidate c = judged(so);
	PmVerdict v = c.verdict;

	pm_candidate_release(&c);
	return v;
}

void pm_attack_referee(const char *so, PmVerdict want, const char *part)
{
	PmCandidate c = judged(so);

	if (c.verdict != want || !strstr(c.why, part))
		fail_msg("%s: %s: %s", so, pm_verdict_name(c.verdict), c.why);
	pm_candidate_release(&c);
	honest_pass_works(so);
}

int pm_attack_is_one_of(const char *name, const char *list)
{
	size_t n = strlen(name);

	for (const char *p = list; (p = strstr(p, name)) != NULL; p += n)
		if ((p == list || p[-1] == ' ') && (p[n] == 0 || p[n] == ' '))
			return 1;
	return 0;
}
