/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_pass_reply.c - whatever bytes a pass's process answers with, there is a verdict, and a graph only with
 * OK, one that computes the original. */
#include "ir/infer/infer.h"
#include "ir/text/text.h"
#include "matcher/host/pass_job.h"
#include "matcher/rewrite/same.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void judge(const PmStr *answer, const PmGraph *in)
{
	PmPassOutcome out = { 0 };

	out.verdict = PM_N_VERDICTS;
	pm__judge_answer(answer, in, 4096, &out);
	if (out.verdict >= PM_N_VERDICTS || (out.verdict != PM_VERDICT_OK && !out.message[0]))
		abort();
	if ((out.graph != NULL) != (in && out.verdict == PM_VERDICT_OK))
		abort();
	if (out.graph && out.applied < 1)
		abort();
	if (out.graph && (pm_verify(out.graph, NULL) || pm_rewrite_check(in, out.graph, NULL)))
		abort();
	pm_pass_outcome_release(&out);
}

/* The bytes as they are; and, so that lengths are no obstacle, as JSON and graph text around the first zero.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char text[] =
		"g (float[4,8] x) => (float[4,8] y)\n{\n  s = Sigmoid (x)\n  y = Mul (x, s)\n}\n";
	const uint8_t *nul = n ? memchr(data, 0, n) : NULL;
	size_t json = nul ? (size_t)(nul - data) : 0;
	PmStr s = PM_STR_INIT;
	PmGraph *in = NULL;

	if (pm_graph_parse(text, sizeof text - 1, &in, NULL) != PM_OK)
		abort();
	pm_str_addn(&s, data, n);
	judge(&s, in);
	pm_str_clear(&s);
	if (nul) {
		pm_str_addf(&s, PM__ANSWER_MAGIC " %zu %zu\n", json, n - json - 1);
		pm_str_addn(&s, data, json);
		pm_str_addn(&s, nul + 1, n - json - 1);
	} else {
		static const char head[] = "{\"end\":\"applied\",\"applied\":1}";

		pm_str_addf(&s, PM__ANSWER_MAGIC " %zu %zu\n", sizeof head - 1, n);
		pm_str_add(&s, head);
		pm_str_addn(&s, data, n);
	}
	judge(&s, in);
	judge(&s, NULL);
	pm_str_release(&s);
	pm_graph_free(in);
	return 0;
}
