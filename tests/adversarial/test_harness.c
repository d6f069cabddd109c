/* SPDX-License-Identifier: Apache-2.0 */
/* test_harness.c - what a pass could gain from the harness itself: scores, tasks, processes. Named by
 * fixture. */
#include "bench/compare/allclose.h"
#include "bench/gate/gate.h"
#include "bench/inputs/inputs.h"
#include "bench/score/metrics.h"
#include "bench/score/score.h"
#include "ir/text/text.h"
#include "matcher/host/verdict.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/attack.h"
#include "tests/plugin/paths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- scores ---- */

static PmScoreOutput perfect(void)
{
	PmScoreOutput o = { .dtype = PM_F32, .equal = 1 };

	memset(o.close, 1, sizeof o.close);
	return o;
}

/* n records, the first n_ok right and `speed` times as fast, the others with `status`. */
static PmScore scored(size_t n, size_t n_ok, double speed, const char *status)
{
	PmScoreRule rule = pm_score_rule(PM_PRESET_SOUND);
	PmScoreRecord *r = pm_xcalloc(n, sizeof *r);
	PmScoreOutput o = perfect();
	PmScore s;
	PmErr err;

	pm_err_init(&err);
	for (size_t i = 0; i < n; i++) {
		r[i].status = i < n_ok ? "correct" : status;
		r[i].speedup = i < n_ok ? speed : NAN;
		r[i].n_outputs = i < n_ok;
		r[i].outputs = i < n_ok ? &o : NULL;
	}
	if (pm_score(&rule, r, n, &s, &err))
		fail_msg("%s", err.text);
	free(r);
	return s;
}

/* Two shapes of eight are fast and the rest fall back: the six count, and not as fast. */
static void A02_guarded_fallback(void **state)
{
	PmItem item[8] = { { 0 } };

	(void)state;
	for (int i = 0; i < 2; i++)
		item[i] = (PmItem){ .correct = 1, .matched = 1, .speedup = 3 };
	for (int i = 2; i < 8; i++)
		item[i] = (PmItem){ .correct = 1, .speedup = 1 };
	assert_true(pm_fast_p(item, 8, 1) == 0.25);
	assert_true(scored(8, 2, 3, "no_match").as < scored(8, 8, 3, "no_match").as);
	assert_true(scored(8, 2, 3, "no_match").as < 1);
}

static void A05_never_match(void **state)
{
	(void)state;
	assert_true(scored(8, 0, 1, "no_match").as < 0.5);
}

static void C12_fake_zero(void **state)
{
	static const double speeds[] = { 0, 1e-9, -1, 1e300, INFINITY };

	(void)state;
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
		double as = scored(4, 4, speeds[i], "").as;

		/* Never more than the clamp, never a score of nothing for the others. */
		assert_true(as >= 0 && as <= 1e3);
	}
}

/* A broken rule is worth less than any honest failure, at every level. */
static void G11_integrity_zeroes_the_score(void **state)
{
	static const PmVerdict broken[] = { PM_VERDICT_REJECT_ELF,    PM_VERDICT_SANDBOX_KILL,
					    PM_VERDICT_INPUT_MUTATED, PM_VERDICT_OOB,
					    PM_VERDICT_REJECT_PTX,    PM_VERDICT_UNWRITTEN,
					    PM_VERDICT_PASS_NONDET,   PM_VERDICT_REJECT_MATCH };

	(void)state;
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		PmScore s = scored(4, 0, 1, pm_verdict_score_status(broken[i]));
		PmScore honest = scored(4, 0, 1, pm_verdict_score_status(PM_VERDICT_COMPILE_FAIL));

		assert_true(s.as <= honest.as);
		for (int t = 0; t < s.n_t; t++)
			assert_true(s.es[t] <= 0.1 + 1e-12);
	}
}

/* ---- comparison and inputs ---- */

static void G07_tolerance_is_used(void **state)
{
	float a = 1, b = nextafterf(1, 2);
	int64_t dim = 1;
	PmTensorView x = { PM_F32, 1, &dim, &a }, y = { PM_F32, 1, &dim, &b };
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	PmTol none = { 0, 0 }, some = { 1e-6, 0 };

	(void)state;
	assert_int_equal(pm_tensors_close(&x, &y, &none, &rule), 0);
	assert_int_equal(pm_tensors_close(&x, &y, &some, &rule), 1);
}

/* No two trials see the same values. */
static void G06_inputs_differ_by_trial(void **state)
{
	PmGraph *g = pm_test_graph("g (float[64] x) => (float[64] y) { y = Relu(x) }");
	PmTensor t[4 * PM_N_ALL_CLASSES];
	PmErr err;
	int n = 0;

	(void)state;
	pm_err_init(&err);
	for (uint64_t seed = 0; seed < 4; seed++)
		for (int c = 0; c < PM_N_ALL_CLASSES; c++)
			if (pm_inputs_make(g, seed, (PmInputClass)c, &t[n++], &err))
				fail_msg("%s", err.text);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			assert_memory_not_equal(t[i].data, t[j].data, 64 * sizeof(float));
	for (int i = 0; i < n; i++)
		pm_tensors_release(&t[i], 1);
	pm_graph_free(g);
}

/* ---- tasks ---- */

static PmGateReport gated(const char *text)
{
	PmGraph *g = pm_test_graph(text);
	PmGateReport r = { 0 };
	PmErr err;

	pm_err_init(&err);
	if (pm_gate(g, NULL, &r, &err))
		fail_msg("%s", err.text);
	pm_graph_free(g);
	return r;
}

static void A08_fold_relu_minus2(void **state)
{
	PmGateReport r = gated("g (float[16,32] a) => (float[16,32] y)\n<float two = {2}>\n"
			       "{ x = Sigmoid(a)\n d = Sub(x, two)\n y = Relu(d) }");

	(void)state;
	assert_int_equal(r.ok, 0);
	assert_true(strlen(r.why) > 10);
}

/* A softmax over so many entries that zeros are within any absolute tolerance. */
static void G08_tolerance_larger_than_the_data(void **state)
{
	PmGateReport r = gated("g (float[1,60000] x) => (float[1,60000] y)\n<float small = {1e-7}>\n"
			       "{ s = Softmax<axis = 1>(x)\n y = Mul(s, small) }");

	(void)state;
	assert_int_equal(r.ok, 0);
}

static void G16_planted_tasks_are_rejected(void **state)
{
	static const char *const planted[] = {
		"g (float[16,32] x, float[16,32] z) => (float[16,32] y) { d = Sub(z, z)\n y = Add(x, d) }",
		"g (float[16,32] x) => (float[16,32] y) { y = Identity(x) }",
		("g (float[16,32] x) => (float[16] y) { s = Softmax<axis = 1>(x)\n y = ReduceSum<axes = [1], "
		 "keepdims = 0>(s) }"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
		if (gated(planted[i]).ok)
			fail_msg("%s", planted[i]);
	assert_true(gated("g (float[16,32] x, float[16,32] z) => (float[16,32] y) { m = Mul(x, z)\n e = "
			  "Tanh(m)\n y = Add(e, x) }")
			    .ok);
}

/* ---- processes ---- */

#define STATEFUL "tests/adversarial/passes/stateful.so"

/* Each graph has a process of its own: what a pass keeps from one is gone at the next. */
static void D24_static_counter(void **state)
{
	PmPassOutcome a, b;
	PmStr ta = PM_STR_INIT, tb = PM_STR_INIT;

	(void)state;
	a = pm_attack_run(STATEFUL, "D24_static_counter", 60);
	b = pm_attack_run(STATEFUL, "D24_static_counter", 60);
	assert_int_equal(a.verdict, PM_VERDICT_OK);
	assert_int_equal(b.verdict, PM_VERDICT_OK);
	assert_int_equal(pm_graph_print(a.graph, NULL, &ta, NULL), PM_OK);
	assert_int_equal(pm_graph_print(b.graph, NULL, &tb, NULL), PM_OK);
	assert_string_equal(ta.s, tb.s);
	pm_str_release(&ta);
	pm_str_release(&tb);
	pm_pass_outcome_release(&a);
	pm_pass_outcome_release(&b);
}

static PmVerdict on(const char *rule, const char *text, double seconds)
{
	PmGraph *g = pm_test_graph(text);
	PmPassOpts o = { .seconds = seconds, .only_rule = rule };
	PmPassOutcome out;
	PmVerdict v;
	PmErr err;

	pm_err_init(&err);
	if (pm_pass_apply(built(STATEFUL), g, &o, &out, &err))
		fail_msg("%s", err.text);
	v = out.verdict;
	pm_pass_outcome_release(&out);
	pm_graph_free(g);
	return v;
}

/* The third of four graphs alone is charged. */
static void D19b_hang_on_3rd_graph(void **state)
{
	static const char *const text[] = {
		"g (float[8] x) => (float[8] y) { s = Sigmoid(x)\n y = Mul(x, s) }",
		"g (float[9] x) => (float[9] y) { s = Sigmoid(x)\n y = Mul(x, s) }",
		"g (float[10] x) => (float[10] y) { s = Sigmoid(x)\n y = Mul(x, s) }",
		"g (float[11] x) => (float[11] y) { s = Sigmoid(x)\n y = Mul(x, s) }",
	};

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(on("D19b_hang_on_3rd_graph", text[i], i == 2 ? 0.3 : 60),
				 i == 2 ? PM_VERDICT_PASS_TIMEOUT : PM_VERDICT_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(A02_guarded_fallback),
		cmocka_unit_test(A05_never_match),
		cmocka_unit_test(A08_fold_relu_minus2),
		cmocka_unit_test(C12_fake_zero),
		cmocka_unit_test(D19b_hang_on_3rd_graph),
		cmocka_unit_test(D24_static_counter),
		cmocka_unit_test(G06_inputs_differ_by_trial),
		cmocka_unit_test(G07_tolerance_is_used),
		cmocka_unit_test(G08_tolerance_larger_than_the_data),
		cmocka_unit_test(G11_integrity_zeroes_the_score),
		cmocka_unit_test(G16_planted_tasks_are_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
