/* SPDX-License-Identifier: Apache-2.0 */
/* test_siege_timed.c - the second siege on timed calls: caches of rows, inputs and pointers never hit, what
 * is cheap in the layout of timed calls alone is found in checked runs, nothing can be kept beside a buffer,
 * and nobody gets more memory than there is for a candidate. Where there is no clock the calls are rehearsed;
 * with PASSMITH_TEST_DEVICE=cuda they are timed. */
#include "bench/eval/runner.h"
#include "bench/timing/replay_verify.h"
#include "integrity/referee/referee.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define ATTACKS "tests/adversarial/passes/siege_timed.so"

enum { CALLS = 24, BLOCKS = 10 };

static const char silu[] = "g (float[5,67] x) => (float[5,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";

static const char *device(void)
{
	const char *d = getenv("PASSMITH_TEST_DEVICE");

	return d ? d : "emu";
}

/* The evaluation of one rule ends in one of these verdicts, which are separated by spaces, with `why` in it.
 */
static void evaluated(const char *rule, const PmGraph *g, const char *verdicts, const char *why)
{
	PmEvalVariant m = { .label = rule, .g = g };
	PmEvalOpts o = { .device = device(),
			 .preset = PM_PRESET_SOUND,
			 .secret = test_secret(7),
			 .only_rule = rule,
			 .pass_deadline = 60,
			 .device_deadline = 100,
			 .clock_seconds = 2 };
	const char *name;
	PmEvalRecord r;
	PmErr err;

	pm_err_init(&err);
	if (pm_eval_variant(built(ATTACKS), &m, &o, &r, &err))
		fail_msg("%s: %s", rule, err.text);
	name = pm_verdict_name(r.verdict);
	print_message("# %s: %s%s%s\n", rule, name, *r.why ? ": " : "", r.why);
	if (!strcmp(verdicts, "OK") && r.measured && r.verdict == PM_VERDICT_TIMING_UNSTABLE)
		name = "OK"; /* of its time, not of what it made */
	if (!strstr(verdicts, name) || (*why && !strstr(r.why, why)))
		fail_msg("%s: %s (%s)", rule, name, r.why);
	pm_eval_record_release(&r);
}

static void on_silu(const char *rule, const char *verdicts, const char *why)
{
	PmGraph *g = pm_test_graph(silu);

	evaluated(rule, g, verdicts, why);
	pm_graph_free(g);
}

/* Calls made and checked as an evaluation does, without a gate before them. `rule`: NULL = all. */
static PmReplayResult let_through(const char *so, const char *rule)
{
	PmWorker *w = pm_worker_new(device());
	PmClockOpts o = {
		.secret = test_secret(7), .deadline = 100, .seconds = 3, .blocks = BLOCKS, .keep = 1
	};
	PmGraph *g = pm_test_graph(silu);
	PmWork base = { .g = g }, cand = { 0 };
	PmReplayOpts d = { .deadline = 100, .secret = test_secret(7) };
	PmCandidate c;
	PmClockResult r;
	PmReplayResult out;
	PmDeviceInfo info;
	PmErr err;

	pm_err_init(&err);
	if (pm_referee_rewrite(built(so), rule, g, 60, &c, &err) || pm_worker_info(w, &info, &err))
		fail_msg("%s", err.text);
	if (c.verdict != PM_VERDICT_OK)
		fail_msg("%s: %s", so, c.why);
	cand.g = c.g;
	if (info.measured)
		d.baseline = &base;
	if (info.measured ? pm_clock_compare(w, &base, &cand, 1, &o, &r, &err)
			  : pm_clock_rehearse(w, g, &cand, CALLS, &o, &r, &err))
		fail_msg("%s: %s", so, err.text);
	if (pm_replay_verify(w, g, &cand, 1, &r, &d, &out, &err))
		fail_msg("%s: %s", so, err.text);
	print_message("# %d calls, %d special%s%s\n", out.calls, out.special, *out.why ? ": " : "", out.why);
	pm_clock_release(&r);
	pm_candidate_release(&c);
	pm_worker_free(w);
	pm_graph_free(g);
	return out;
}

/* Places and limits are the emulated device's own. */
static void on_emu_alone(void)
{
	if (!strcmp(device(), "emu"))
		return;
	pm_test_skip("this attack is on the emulated device; S59 and S63 are those of a GPU");
}

/* A hit writes 42. There is none, in any run: neither do rows recur, nor is anything left of another call. */
static void S50_rows_in_scratch(void **state)
{
	(void)state;
	on_silu("S50_rows_in_scratch", "OK", "");
}

static void S51_rows_in_the_tail(void **state)
{
	(void)state;
	on_silu("S51_rows_in_the_tail", "OOB", "past the end");
}

static void S52_by_the_pointers(void **state)
{
	(void)state;
	on_silu("S52_by_the_pointers", "OK", "");
}

/* With a memory that no gate lets through: rows of earlier calls are remembered, and none comes again. */
static void S53_no_row_comes_again(void **state)
{
	PmReplayResult d = let_through(ATTACKS, "S53_rows_in_global_memory");

	(void)state;
	assert_int_equal(d.state, PM_REPLAY_OK);
	assert_int_equal(d.special, 0);
	assert_int_equal(d.replayed, d.calls);
}

static void S54_pages_begin(void **state)
{
	(void)state;
	on_emu_alone();
	on_silu("S54_pages_begin", "NONDET INCORRECT", "");
}

static void S55_a_page_ends_behind_y(void **state)
{
	(void)state;
	on_emu_alone();
	on_silu("S55_a_page_ends_behind_y", "NONDET INCORRECT", "");
}

static void S56_far_apart(void **state)
{
	(void)state;
	on_emu_alone();
	on_silu("S56_far_apart", "NONDET INCORRECT", "");
}

static void S57_counts_in_the_tail(void **state)
{
	(void)state;
	on_silu("S57_counts_in_the_tail", "OOB", "past the end");
}

static void S58_scratch_of_65_MiB(void **state)
{
	(void)state;
	on_emu_alone();
	on_silu("S58_scratch_of_65_MiB", "LAUNCH_FAIL", "67108864 bytes of scratch");
}

static void S59_alternative_with_3_GiB(void **state)
{
	(void)state;
	on_silu("S59_alternative_with_3_GiB", "LAUNCH_FAIL", "3221225472 bytes");
}

/* What is allowed stays cheap: a run has its buffer once, in its own process, and calls that are rehearsed
 * share few. */
static void S60_scratch_of_64_MiB(void **state)
{
	struct rusage before, after;

	(void)state;
	getrusage(RUSAGE_SELF, &before);
	on_silu("S60_scratch_of_64_MiB", "OK", "");
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 32 << 10); /* KiB: of this process, the referee */
	getrusage(RUSAGE_CHILDREN, &after);
	print_message("# the largest child had %ld MiB\n", after.ru_maxrss >> 10);
	assert_true(strcmp(device(), "emu") != 0 || after.ru_maxrss < 640 << 10);
}

static void S61_many_sources(void **state)
{
	char text[8192];
	int n = snprintf(text, sizeof text, "g (float[8] x0) => (float[8] x65) {\n");
	PmGraph *g;

	(void)state;
	for (int i = 0; i < 65; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "s%d = Sigmoid(x%d)\n x%d = Mul(x%d, s%d)\n",
			      i, i, i + 1, i, i);
	snprintf(text + n, sizeof text - (size_t)n, "}\n");
	g = pm_test_graph(text);
	evaluated("S61_many_sources", g, "COMPILE_LIMIT", "different sources");
	pm_graph_free(g);
}

/* The outputs are right in every call; what the first kernel left for the second is not. */
static void S62_interior_skipped(void **state)
{
	PmReplayResult d = let_through("tests/adversarial/passes/siege_interior.so", NULL);

	(void)state;
	assert_int_equal(d.state, PM_REPLAY_SPECIAL);
	assert_true(d.special > 0);
	assert_non_null(strstr(d.why, "between its kernels"));
}

static void S63_no_mapping_of_its_own(void **state)
{
	(void)state;
	on_silu("S63_no_mapping_of_its_own", "NONDET INCORRECT", "");
}

static void an_honest_kernel_stays(void **state)
{
	(void)state;
	on_silu("honest", "OK", "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(S50_rows_in_scratch),    cmocka_unit_test(S51_rows_in_the_tail),
		cmocka_unit_test(S52_by_the_pointers),    cmocka_unit_test(S53_no_row_comes_again),
		cmocka_unit_test(S54_pages_begin),        cmocka_unit_test(S55_a_page_ends_behind_y),
		cmocka_unit_test(S56_far_apart),          cmocka_unit_test(S57_counts_in_the_tail),
		cmocka_unit_test(S58_scratch_of_65_MiB),  cmocka_unit_test(S59_alternative_with_3_GiB),
		cmocka_unit_test(S60_scratch_of_64_MiB),  cmocka_unit_test(S61_many_sources),
		cmocka_unit_test(S62_interior_skipped),   cmocka_unit_test(S63_no_mapping_of_its_own),
		cmocka_unit_test(an_honest_kernel_stays),
	};

	return cmocka_run_group_tests_name("siege timed", tests, NULL, NULL);
}
