/* SPDX-License-Identifier: Apache-2.0 */
/* test_runner.c - every way to be wrong ends in its own verdict, and the next pass is unaffected. */
#include "bench/eval/runner.h"
#include "bench/report/report.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static PmGraph *silu_graph(int64_t rows, int64_t cols, const char *dtype)
{
	return pm_test_graphf("g (%s[%lld,%lld] x) => (%s[%lld,%lld] y) { s = Sigmoid(x)\n y = Mul(x, s) }",
			      dtype, (long long)rows, (long long)cols, dtype, (long long)rows,
			      (long long)cols);
}

/* Deadlines that nothing reaches by being slow on a busy machine. */
static PmEvalOpts options(void)
{
	return (PmEvalOpts){ .device = "emu",
			     .preset = PM_PRESET_SOUND,
			     .secret = test_secret(7),
			     .pass_deadline = 60,
			     .device_deadline = 100 };
}

/* Evaluates one pass on silu of 3 x 67 floats; the caller releases *r. */
static void eval_until(const char *so, const PmGraph *g, const PmEvalOpts *o, PmEvalRecord *r)
{
	PmEvalVariant m = { .label = "3x67", .g = g };
	PmErr err;

	pm_err_init(&err);
	if (pm_eval_variant(built(so), &m, o, r, &err))
		fail_msg("%s", err.text);
}

static void eval_one(const char *so, const PmGraph *g, PmEvalRecord *r)
{
	PmEvalOpts o = options();

	eval_until(so, g, &o, r);
}

static void expect(const char *so, PmVerdict want, const char *says)
{
	PmGraph *g = silu_graph(3, 67, "float");
	PmEvalOpts o = options();
	PmEvalRecord r;

	/* Those that hang are not waited for as long. */
	if (want == PM_VERDICT_PASS_TIMEOUT)
		o.pass_deadline = 2;
	if (want == PM_VERDICT_DEVICE_TIMEOUT)
		o.device_deadline = 3;
	eval_until(so, g, &o, &r);
	if (r.verdict != want || (says && !strstr(r.why, says)))
		fail_msg("%s: %s (%s), expected %s ... %s", so, pm_verdict_name(r.verdict), r.why,
			 pm_verdict_name(want), says ? says : "");
	if (want != PM_VERDICT_OK)
		assert_true(*r.why);
	pm_eval_record_release(&r);
	/* The next pass is as good as ever. */
	eval_one("passes/silu.so", g, &r);
	assert_string_equal(pm_verdict_name(r.verdict), "OK");
	assert_true(r.smallest_t <= -5);
	assert_true(r.speedup > 1);
	pm_eval_record_release(&r);
	pm_graph_free(g);
}

static void a_wrong_pass_is_incorrect_and_told_where(void **state)
{
	(void)state;
	expect("tests/plugin/wrong_silu.so", PM_VERDICT_INCORRECT, "output 'y'");
}

static void an_unwritten_output_is_seen(void **state)
{
	(void)state;
	expect("tests/plugin/half_silu.so", PM_VERDICT_UNWRITTEN, "'y' was never written");
}

/* The sentence and the record name the same element, and no number that says nothing. */
static void the_worst_element_is_that_of_the_sentence(void **state)
{
	PmGraph *g = silu_graph(3, 67, "float");
	PmEvalRecord r;
	char part[64];

	(void)state;
	eval_one("tests/plugin/wrong_silu.so", g, &r);
	assert_string_equal(pm_verdict_name(r.verdict), "INCORRECT");
	snprintf(part, sizeof part, "element %lld is ", (long long)r.worst.index);
	assert_non_null(strstr(r.why, part));
	assert_non_null(strstr(r.why, r.worst_where));
	assert_null(strstr(r.why, "e+"));
	assert_non_null(strstr(r.why, "far beyond"));
	pm_eval_record_release(&r);
	pm_graph_free(g);
}

/* Which element, and that it is no race. */
static void a_hole_is_told_from_a_race(void **state)
{
	(void)state;
	expect("tests/plugin/half_silu.so", PM_VERDICT_UNWRITTEN, "Element 101 of output 'y'");
	expect("tests/plugin/unsynced_silu.so", PM_VERDICT_NONDET, "__syncthreads()");
}

static void a_write_past_the_end_is_out_of_bounds(void **state)
{
	(void)state;
	expect("tests/plugin/oob_silu.so", PM_VERDICT_OOB, NULL);
}

static void too_much_shared_memory_is_a_launch_that_fails(void **state)
{
	(void)state;
	expect("tests/plugin/greedy_silu.so", PM_VERDICT_LAUNCH_FAIL, "shared memory");
}

static void a_write_to_an_input_is_named(void **state)
{
	(void)state;
	expect("tests/plugin/mutating_silu.so", PM_VERDICT_INPUT_MUTATED, NULL);
}

static void a_write_to_an_intermediate_operand_is_named(void **state)
{
	static const char text[] =
		"g (float[3,67] z) => (float[3,67] y) { x = Exp(z)\n s = Sigmoid(x)\n y = Mul(x, s) }";
	PmGraph *g;
	PmEvalRecord r;

	(void)state;
	g = pm_test_graph(text);
	eval_one("tests/plugin/mutating_silu.so", g, &r);
	if (r.verdict != PM_VERDICT_INPUT_MUTATED)
		fail_msg("%s: %s", pm_verdict_name(r.verdict), r.why);
	pm_eval_record_release(&r);
	pm_graph_free(g);
}

static void a_hanging_kernel_times_out(void **state)
{
	(void)state;
	expect("tests/plugin/hanging_silu.so", PM_VERDICT_DEVICE_TIMEOUT,
	       "Kernel 'silu' did not end. The device worker did not finish within 3 seconds");
}

static void a_kernel_that_does_not_compile_says_why(void **state)
{
	(void)state;
	expect("tests/plugin/uncompilable_silu.so", PM_VERDICT_COMPILE_FAIL, "sigmiod");
}

static void a_divergent_barrier_is_a_fault(void **state)
{
	(void)state;
	expect("tests/plugin/divergent_silu.so", PM_VERDICT_DEVICE_FAULT, "__syncthreads");
}

static void a_crashing_pass_is_a_crash(void **state)
{
	(void)state;
	expect("tests/plugin/crashing_check.so", PM_VERDICT_PASS_CRASH, NULL);
}

static void a_hanging_pass_times_out(void **state)
{
	(void)state;
	expect("tests/plugin/hanging_check.so", PM_VERDICT_PASS_TIMEOUT, NULL);
}

static void a_pass_that_never_matches_gets_no_credit(void **state)
{
	(void)state;
	expect("tests/plugin/never_matches.so", PM_VERDICT_NO_MATCH, NULL);
}

static void a_newer_interface_is_refused(void **state)
{
	(void)state;
	expect("tests/plugin/abi_newer.so", PM_VERDICT_REJECT_ABI, NULL);
}

static void an_honest_pass_scores_over_shapes_and_dtypes(void **state)
{
	static const char *const dtypes[] = { "float", "float16", "bfloat16" };
	static const int64_t shapes[][2] = { { 1, 1 }, { 1, 7 }, { 31, 33 }, { 128, 3 } };
	PmEvalVariant m[12];
	PmGraph *g[12];
	PmEvalOpts o = options();
	PmEvalReport r;
	PmErr err;
	size_t n = 0;

	(void)state;
	pm_err_init(&err);
	for (size_t s = 0; s < 4; s++)
		for (size_t d = 0; d < 3; d++, n++) {
			g[n] = silu_graph(shapes[s][0], shapes[s][1], dtypes[d]);
			m[n] = (PmEvalVariant){ .label = dtypes[d], .g = g[n], .number = (int64_t)n };
		}
	if (pm_eval_pass(built("passes/silu.so"), m, n, &o, &r, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < n; i++) {
		if (r.rec[i].verdict != PM_VERDICT_OK)
			fail_msg("%s %s", pm_verdict_name(r.rec[i].verdict), r.rec[i].why);
		assert_int_equal(r.rec[i].baseline_launches, 2);
		assert_int_equal(r.rec[i].candidate_launches, 1);
		assert_true(r.rec[i].coverage > 0.99);
	}
	/* Correct at every level from -5 on with a speedup: AS lies between 1 and the speedup. */
	assert_true(r.score.as > 1 && r.score.as < r.rec[0].speedup);
	assert_true(r.fast1 == 1);
	pm_eval_report_release(&r);
	while (n)
		pm_graph_free(g[--n]);
}

static void a_failing_variant_never_drops_out(void **state)
{
	PmGraph *g = silu_graph(3, 67, "float");
	PmEvalVariant m[2] = { { .label = "a", .g = g }, { .label = "b", .g = g } };
	PmEvalOpts o = options();
	PmEvalReport r;

	(void)state;
	assert_int_equal(pm_eval_pass(built("tests/plugin/never_matches.so"), m, 2, &o, &r, NULL), PM_OK);
	assert_int_equal(r.n, 2);
	assert_true(fabs(r.score.es[0] - 0.1) < 1e-12);
	assert_true(r.score.as < 1);
	pm_eval_report_release(&r);
	pm_graph_free(g);
}

/* Figures as a clock would give, all different. */
static void pretend_measured(PmEvalRecord *r)
{
	PmEvalTiming *t = &r->timing;

	r->measured = 1;
	*t = (PmEvalTiming){ .blocks = 50,
			     .lo = 1.25,
			     .hi = 1.5,
			     .control = 1.01,
			     .control_lo = 0.75,
			     .control_hi = 1.125,
			     .replay = { 2, 3 },
			     .wall = { 4, 5 },
			     .replay_speedup = 6,
			     .wall_speedup = 7,
			     .calls = 8,
			     .replayed = 9,
			     .compared = 10,
			     .projected = 12,
			     .checked = 11,
			     .runs = 2,
			     .found = { 1.75, 1.375 },
			     .host_bound = { 0, 1 } };
	t->gpu = (PmGpuSeen){ .known = 1,
			      .looks = 3,
			      .sm_mhz = { 1500, 1980 },
			      .memory_mhz = { 3200, 3201 },
			      .celsius = 40,
			      .slowed = 0x24,
			      .others = 1,
			      .persistence = 1 };
}

/* A graph that no inputs are legal for, beside one that is judged as ever. */
static void what_the_reference_refuses_is_no_fault_of_the_pass(void **state)
{
	static const char text[] =
		"g (int64[2,2] mask, float[1,8] t, float[2,2,8] x) => (float[2,2,8] y, float[2,2,8] z)\n"
		"<int64 one = {1}, int64 axis = {1}> {\n"
		"c = CumSum(mask, axis)\n p = Add(c, one)\n e = Gather<axis = 0>(t, p)\n"
		"s = Sigmoid(x)\n y = Mul(x, s)\n z = Add(e, x) }";
	PmGraph *good = silu_graph(3, 67, "float"), *bad = NULL;
	PmEvalOpts o = options();
	PmEvalReport both, alone;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	bad = pm_test_graph(text);
	{
		PmEvalVariant m[2] = { { .label = "bad", .g = bad }, { .label = "3x67", .g = good } };

		if (pm_eval_pass(built("passes/silu.so"), m, 2, &o, &both, &err) ||
		    pm_eval_pass(built("passes/silu.so"), m + 1, 1, &o, &alone, &err))
			fail_msg("%s", err.text);
	}
	assert_string_equal(pm_verdict_name(both.rec[0].verdict), "HARNESS_FAIL");
	assert_non_null(strstr(both.rec[0].why, "(Gather -> 'e'): index "));
	assert_int_equal(both.rec[0].n_kernels, 0); /* the pass did not see the graph */
	assert_string_equal(pm_verdict_name(both.rec[1].verdict), "OK");
	assert_int_equal(both.n_not_judged, 1);
	assert_true(both.score.n == 1 && both.score.as == alone.score.as && both.fast1 == alone.fast1);
	pm_eval_report_release(&both);
	pm_eval_report_release(&alone);
	pm_graph_free(good);
	pm_graph_free(bad);
}

/* Rows of zeros divided by their sum are NaN in the reference as in a right result: under the published
 * preset, where NaN is never right, classes that it does not draw decide nothing there. */
static void our_classes_decide_no_passnet_score_where_the_reference_is_not_finite(void **state)
{
	static const char text[] = "g (float[64,2] x) => (float[64,2] y) {\n"
				   "a = Abs(x)\n t = ReduceSum<axes = [1]>(a)\n d = Div(a, t)\n"
				   "s = Sigmoid(d)\n y = Mul(d, s) }";
	static const struct {
		const char *so;
		PmVerdict want;
	} pass[] = { { "passes/silu.so", PM_VERDICT_OK },
		     { "tests/plugin/wrong_silu.so", PM_VERDICT_INCORRECT } };
	PmGraph *g = NULL;

	(void)state;
	g = pm_test_graph(text);
	for (size_t i = 0; i < 2; i++) {
		PmEvalVariant m = { .label = "64x2", .g = g };
		PmEvalOpts o = options();
		PmEvalRecord r;
		PmErr err;

		pm_err_init(&err);
		o.preset = PM_PRESET_PASSNET;
		if (pm_eval_variant(built(pass[i].so), &m, &o, &r, &err))
			fail_msg("%s", err.text);
		if (r.verdict != pass[i].want)
			fail_msg("%s: %s (%s)", pass[i].so, pm_verdict_name(r.verdict), r.why);
		pm_eval_record_release(&r);
	}
	pm_graph_free(g);
}

static void records_survive_storage(void **state)
{
	PmGraph *g = silu_graph(3, 67, "float");
	static const char *const so[] = { "passes/silu.so", "tests/plugin/wrong_silu.so",
					  "tests/plugin/never_matches.so" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		PmEvalReport a = { .n = 1, .opts = options() }, b = { .n = 1, .opts = options() };
		PmEvalRecord ra, rb;
		cJSON *j, *back = NULL;
		PmStr text = PM_STR_INIT, again = PM_STR_INIT;

		eval_one(so[i], g, &ra);
		if (i == 0)
			pretend_measured(&ra);
		j = pm_eval_record_json(&ra);
		pm_json_print(j, 0, &text);
		assert_int_equal(pm_json_parse(text.s, text.len, &back, NULL), PM_OK);
		assert_int_equal(pm_eval_record_from_json(back, &rb, NULL), PM_OK);
		assert_string_equal(pm_verdict_name(ra.verdict), pm_verdict_name(rb.verdict));
		assert_string_equal(ra.why, rb.why);
		a.rec = &ra;
		b.rec = &rb;
		assert_int_equal(pm_eval_score(&a, NULL), PM_OK);
		assert_int_equal(pm_eval_score(&b, NULL), PM_OK);
		assert_true(a.score.as == b.score.as);
		cJSON_Delete(j);
		j = pm_eval_record_json(&rb);
		pm_json_print(j, 0, &again);
		assert_string_equal(again.s, text.s);
		cJSON_Delete(j);
		cJSON_Delete(back);
		pm_str_release(&text);
		pm_str_release(&again);
		pm_eval_record_release(&ra);
		pm_eval_record_release(&rb);
	}
	pm_graph_free(g);
}

/* What the speedup of a stored record meant it goes on to mean. */
static void a_record_says_what_its_speedup_is(void **state)
{
	PmEvalRecord now = { .verdict = PM_VERDICT_OK }, back;
	cJSON *j, *clock;

	(void)state;
	pretend_measured(&now);
	j = pm_eval_record_json(&now);
	clock = cJSON_GetObjectItem(j, "clock");
	assert_string_equal(pm_json_str(clock, "estimator", ""), "signed ranks");
	assert_int_equal(pm_eval_record_from_json(j, &back, NULL), PM_OK);
	assert_false(back.timing.by_median);
	pm_eval_record_release(&back);
	cJSON_DeleteItemFromObject(clock, "estimator"); /* as it was stored before */
	assert_int_equal(pm_eval_record_from_json(j, &back, NULL), PM_OK);
	assert_true(back.timing.by_median);
	cJSON_Delete(j);
	j = pm_eval_record_json(&back);
	assert_string_equal(pm_json_str(cJSON_GetObjectItem(j, "clock"), "estimator", ""), "median");
	cJSON_Delete(j);
	pm_eval_record_release(&back);
}

/* An element that is no number is stored as what it is. */
static void a_record_keeps_elements_that_are_no_numbers(void **state)
{
	static const double v[] = { INFINITY, -INFINITY, NAN, 1.5 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		PmEvalRecord now = { .verdict = PM_VERDICT_INCORRECT }, back;
		PmStr text = PM_STR_INIT;
		cJSON *j;

		now.worst = (PmWorst){ .index = 3, .expected = v[i], .got = v[3 - i], .ulp = NAN };
		j = pm_eval_record_json(&now);
		pm_json_print(j, 0, &text);
		cJSON_Delete(j);
		assert_int_equal(pm_json_parse(text.s, text.len, &j, NULL), PM_OK);
		assert_int_equal(pm_eval_record_from_json(j, &back, NULL), PM_OK);
		assert_true(isnan(v[i]) ? isnan(back.worst.expected) : back.worst.expected == v[i]);
		assert_true(isnan(v[3 - i]) ? isnan(back.worst.got) : back.worst.got == v[3 - i]);
		assert_true(isnan(back.worst.ulp));
		pm_eval_record_release(&back);
		cJSON_Delete(j);
		pm_str_release(&text);
	}
}

/* The columns of verdicts.def, as reports tell them. */
static void a_verdict_has_its_status_and_stage(void **state)
{
	static const struct {
		PmVerdict verdict;
		int n_kernels, measured;
		const char *status, *stage;
		int drawn; /* may come from what was drawn */
	} rows[] = {
		{ PM_VERDICT_OK, 1, 0, "correct", "speed", 0 },
		{ PM_VERDICT_INCORRECT, 1, 0, "correct", "speed", 1 },
		{ PM_VERDICT_PRECISION, 1, 0, "correct", "speed", 1 },
		{ PM_VERDICT_TIMING_UNSTABLE, 1, 1, "correct", "speed", 1 },
		{ PM_VERDICT_TIMING_UNSTABLE, 1, 0, "correct", "correctness", 1 },
		{ PM_VERDICT_HARNESS_FAIL, 1, 0, "HARNESS_FAIL", "inputs", 0 },
		{ PM_VERDICT_NO_MATCH, 0, 0, "no_match", "match", 0 },
		{ PM_VERDICT_NO_CREDIT, 1, 0, "no_match", "correctness", 0 },
		{ PM_VERDICT_COMPILE_LIMIT, 1, 0, "compile_fail", "correctness", 0 },
		{ PM_VERDICT_PASS_CRASH, 0, 0, "crash", "match", 0 },
		{ PM_VERDICT_DEVICE_TIMEOUT, 1, 0, "timeout", "correctness", 1 },
		{ PM_VERDICT_REJECT_ABI, 0, 0, "runtime_fail", "match", 0 },
		{ PM_VERDICT_OOB, 1, 0, "OOB", "correctness", 1 },
		{ PM_N_VERDICTS, 0, 0, "UNKNOWN", "match", 0 },
	};

	(void)state;
	for (int v = 0; v < PM_N_VERDICTS; v++) { /* a sentence that others put their full stop behind */
		const char *advice = pm_verdict_advice((PmVerdict)v);

		assert_true(strlen(advice) > 10 && advice[strlen(advice) - 1] != '.');
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		PmEvalRecord r = { .verdict = rows[i].verdict,
				   .n_kernels = rows[i].n_kernels,
				   .measured = rows[i].measured };

		assert_string_equal(pm_verdict_score_status(rows[i].verdict), rows[i].status);
		assert_string_equal(pm_eval_stage(&r), rows[i].stage);
		assert_int_equal(pm_verdict_may_be_drawn(rows[i].verdict), rows[i].drawn);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_pass_is_incorrect_and_told_where),
		cmocka_unit_test(an_unwritten_output_is_seen),
		cmocka_unit_test(the_worst_element_is_that_of_the_sentence),
		cmocka_unit_test(a_hole_is_told_from_a_race),
		cmocka_unit_test(a_write_past_the_end_is_out_of_bounds),
		cmocka_unit_test(too_much_shared_memory_is_a_launch_that_fails),
		cmocka_unit_test(a_write_to_an_input_is_named),
		cmocka_unit_test(a_write_to_an_intermediate_operand_is_named),
		cmocka_unit_test(a_hanging_kernel_times_out),
		cmocka_unit_test(a_kernel_that_does_not_compile_says_why),
		cmocka_unit_test(a_divergent_barrier_is_a_fault),
		cmocka_unit_test(a_crashing_pass_is_a_crash),
		cmocka_unit_test(a_hanging_pass_times_out),
		cmocka_unit_test(a_pass_that_never_matches_gets_no_credit),
		cmocka_unit_test(a_newer_interface_is_refused),
		cmocka_unit_test(an_honest_pass_scores_over_shapes_and_dtypes),
		cmocka_unit_test(a_failing_variant_never_drops_out),
		cmocka_unit_test(what_the_reference_refuses_is_no_fault_of_the_pass),
		cmocka_unit_test(our_classes_decide_no_passnet_score_where_the_reference_is_not_finite),
		cmocka_unit_test(records_survive_storage),
		cmocka_unit_test(a_record_says_what_its_speedup_is),
		cmocka_unit_test(a_record_keeps_elements_that_are_no_numbers),
		cmocka_unit_test(a_verdict_has_its_status_and_stage),
	};

	return cmocka_run_group_tests_name("runner", tests, NULL, NULL);
}
