/* SPDX-License-Identifier: Apache-2.0 */
/* test_sample.c - large kernels on the emulated device are judged on some blocks: nothing wrong in them is
 * missed, nothing is said of what they leave out, and the record says so. */
#include "bench/eval/runner.h"
#include "bench/report/report.h"
#include "bench/rows/rows.h"
#include "runtime/device/sampled.h"
#include "runtime/ref/ref.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- rows ---- */

static void fill(PmTensor *t, int k)
{
	for (int64_t i = 0; i < pm_tensor_numel(t); i++)
		pm_tensor_set(t, i, (double)((i * 37 + k * 11) % 101) / 16 - 3);
}

/* The graph over rows 1, 4 and 5 of six computes what those rows of all of it are. */
static void same_rows(const char *text, int axes)
{
	static const int64_t row[] = { 1, 4, 5 };
	PmGraph *g = pm_test_graph(text), *some = NULL;
	size_t n_in = pm_graph_n_inputs(g);
	size_t n_out = pm_graph_n_outputs(g);
	PmTensor in[4], of[4], want[2], got[2], rows;
	PmRows r;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_rows_find_spread(g, &r), 1);
	assert_int_equal(r.axes, axes);
	assert_int_equal(r.n, 6);
	assert_int_equal(pm_rows_graph(g, &r, 3, &some, &err), PM_OK);
	for (size_t i = 0; i < n_in; i++) {
		assert_int_equal(pm_tensor_init(&in[i], pm_value_type(g, pm_graph_input(g, i)), &err), PM_OK);
		fill(&in[i], (int)i);
		assert_int_equal(pm_rows_take(&r, pm_graph_input(g, i), &in[i], row, 3, &of[i], &err), PM_OK);
		assert_true(pm_type_equal(&of[i].type, pm_value_type(some, pm_graph_input(some, i))));
	}
	if (pm_ref_run(g, in, n_in, want, n_out, &err) || pm_ref_run(some, of, n_in, got, n_out, &err))
		fail_msg("%s: %s", text, err.text);
	for (size_t i = 0; i < n_out; i++) {
		int64_t n = pm_tensor_numel(&got[i]), all = pm_tensor_numel(&want[i]);

		assert_int_equal(pm_rows_take(&r, pm_graph_output(g, i), &want[i], row, 3, &rows, &err),
				 PM_OK);
		assert_int_equal(rows.bytes, got[i].bytes);
		assert_memory_equal(rows.data, got[i].data, got[i].bytes);
		for (int64_t k = 0; k < n; k++)
			assert_true(pm_tensor_get(&got[i], k) ==
				    pm_tensor_get(&want[i], pm_rows_element(&r, all, row, k)));
		pm_tensor_release(&rows);
		pm_tensor_release(&want[i]);
		pm_tensor_release(&got[i]);
	}
	for (size_t i = 0; i < n_in; i++) {
		pm_tensor_release(&in[i]);
		pm_tensor_release(&of[i]);
	}
	pm_rows_release(&r);
	pm_graph_free(some);
	pm_graph_free(g);
}

static void rows_are_computed_by_themselves(void **state)
{
	(void)state;
	same_rows("g (float[2,3] x, float[3] b, float[2,1] c) => (float[2,3] y) { a = Add(x, b)\n y = Mul(a, "
		  "c) }",
		  2);
	same_rows("g (float[2,3,5] x, float[5] b, float[1,3,1] c) => (float[2,3,5] y) { a = Add(x, b)\n "
		  "d = Mul(a, c)\n y = Softmax<axis = 2>(d) }",
		  2);
	same_rows("g (float[6,2,4] x, float[2,4] m) => (float[6,2,4] y) { a = Mul(x, m)\n "
		  "y = Softmax<axis = 1>(a) }",
		  1);
	same_rows("g (float[2,3,4] x, float[4] s, float[4] b) => (float[2,3,4] y) { a = "
		  "LayerNormalization<axis = 2>(x, s, b)\n y = Sigmoid(a) }",
		  2);
	same_rows("g (float16[2,3] x) => (float[2,3] y) { c = Cast<to = 1>(x)\n y = Exp(c) }", 2);
	/* Results whose rows differ in length; what follows a reduction is of a lower rank. */
	same_rows("g (float[2,3,4] x, float[3] b) => (float[2,3,4] y, float[2,3] s) { y = Sigmoid(x)\n "
		  "r = ReduceSum<axes = [2], keepdims = 0>(y)\n s = Add(r, b) }",
		  2);
	/* What each row reads. */
	same_rows("g (float[2,3,4] x, float[4,5] w) => (float[2,3,5] y) { y = MatMul(x, w) }", 2);
}

static void not_rows(const char *text)
{
	PmGraph *g = pm_test_graph(text);
	PmRows r;

	if (pm_rows_find_spread(g, &r))
		fail_msg("rows of %s", text);
	pm_graph_free(g);
}

static void what_joins_rows_has_none(void **state)
{
	(void)state;
	not_rows("g (float[6,4] x) => (float[6,4] y) { y = Softmax<axis = 0>(x) }");
	not_rows("g (float[6,4] x) => (float[4] y) { y = ReduceSum<axes = [0], keepdims = 0>(x) }");
	not_rows("g (float[6,6] x) => (float[6,6] y) { a = Transpose<perm = [1, 0]>(x)\n y = Add(a, x) }");
	not_rows("g (float[6,6] x, float[6,6] z) => (float[6,6] y) { a = MatMul(x, z)\n y = Add(a, z) }");
	/* What all rows have in common would be rounded for each by itself. */
	not_rows("g (float[6,4] x, float[4] b) => (float[6,4] y) { e = Exp(b)\n y = Add(x, e) }");
}

/* ---- evaluations ---- */

enum { ROWS = 1500, COLS = 100, OF_256 = 586 }; /* the last: blocks of 256 threads */

static PmEvalOpts options(void)
{
	return (PmEvalOpts){ .device = "emu",
			     .preset = PM_PRESET_SOUND,
			     .secret = test_secret(7),
			     .sample_above = 50000,
			     .deadline = 10000,
			     .pass_deadline = 60,
			     .device_deadline = 100 };
}

static void eval_graph(const char *so, PmGraph *g, const PmEvalOpts *o, PmEvalRecord *r)
{
	PmEvalVariant m = { .label = "large", .g = g };
	PmErr err;

	pm_err_init(&err);
	if (pm_eval_variant(built(so), &m, o, r, &err))
		fail_msg("%s", err.text);
	pm_graph_free(g);
}

static void eval_on(const char *so, int rows, int cols, const PmEvalOpts *o, PmEvalRecord *r)
{
	eval_graph(so,
		   pm_test_graphf("g (float[%d,%d] x) => (float[%d,%d] y) { s = Sigmoid(x)\n y = Mul(x, s) }",
				  rows, cols, rows, cols),
		   o, r);
}

static void eval(const char *so, const PmEvalOpts *o, PmEvalRecord *r)
{
	eval_on(so, ROWS, COLS, o, r);
}

static void expect(const char *so, PmVerdict want, const char *says)
{
	PmEvalOpts o = options();
	PmEvalRecord r;

	eval(so, &o, &r);
	if (r.verdict != want || !strstr(r.why, says))
		fail_msg("%s: %s (%s), expected %s ... %s", so, pm_verdict_name(r.verdict), r.why,
			 pm_verdict_name(want), says);
	pm_eval_record_release(&r);
}

static void a_right_kernel_is_right_on_some_blocks(void **state)
{
	PmEvalOpts o = options();
	PmEvalReport rep = { 0 };
	PmStr text = PM_STR_INIT;
	PmEvalRecord r, back;
	cJSON *j;

	(void)state;
	eval("passes/silu.so", &o, &r);
	if (r.verdict != PM_VERDICT_OK)
		fail_msg("%s: %s", pm_verdict_name(r.verdict), r.why);
	assert_int_equal(r.sampled.blocks, PM_SAMPLED_MOST);
	assert_int_equal(r.sampled.of, OF_256);
	assert_int_equal(r.sampled.of_elements, ROWS * COLS);
	assert_true(r.sampled.elements >= 5 * 250 * 256); /* five classes and the edited one */
	assert_true(r.sampled.elements <= 6 * 256 * 256);
	assert_int_equal(r.timing.calls, 0); /* no rehearsals, and that is said: */
	rep.n = 1;
	rep.rec = &r;
	rep.opts = o;
	pm_eval_report_table(&rep, &text);
	assert_non_null(strstr(text.s, "Sampled (large): 256 of 586 blocks"));
	assert_non_null(strstr(text.s, "not rehearsed"));
	pm_str_release(&text);
	j = pm_eval_record_json(&r);
	assert_non_null(cJSON_GetObjectItem(j, "sampled"));
	memset(&back, 0, sizeof back);
	assert_int_equal(pm_eval_record_from_json(j, &back, NULL), PM_OK);
	assert_memory_equal(&back.sampled, &r.sampled, sizeof r.sampled);
	pm_eval_record_release(&back);
	cJSON_Delete(j);
	pm_eval_record_release(&r);
}

static void a_first_answer_is_of_some_blocks(void **state)
{
	PmEvalOpts o = options();
	PmEvalRecord r;

	(void)state;
	o.first_answer = 1;
	eval("passes/silu.so", &o, &r);
	if (r.verdict != PM_VERDICT_OK)
		fail_msg("%s: %s", pm_verdict_name(r.verdict), r.why);
	assert_int_equal(r.n_first, PM_FIRST_LARGE_CLASSES);
	assert_int_equal(r.sampled.blocks, PM_SAMPLED_MOST);
	assert_true(r.sampled.elements >= PM_FIRST_LARGE_CLASSES * 250 * 256);
	assert_true(r.sampled.elements <= PM_FIRST_LARGE_CLASSES * 256 * 256);
	pm_eval_record_release(&r);
	eval("tests/plugin/wrong_silu.so", &o, &r);
	assert_int_equal(r.verdict, PM_VERDICT_INCORRECT);
	assert_int_equal(r.sampled.blocks, PM_SAMPLED_MOST);
	pm_eval_record_release(&r);
}

/* Operands that are broadcast along rows, or read whole by each. */
static void judged_with_what_all_rows_read(void **state)
{
	static const char *const text[] = {
		"g (float[6000,100] x, float[100] b, float[6000,1] c) => (float[6000,100] y) { s = Add(x, "
		"b)\n "
		"t = Mul(s, c)\n y = Sigmoid(t) }",
		"g (float[6000,100] x, float[100] b) => (float[6000,100] y) { s = Add(x, b)\n "
		"y = Softmax<axis = 1>(s) }",
	};
	PmEvalOpts o = options();
	PmEvalRecord r;

	(void)state;
	o.check_only = 1;
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		eval_graph("passes/fuse.so", pm_test_graph(text[i]), &o, &r);
		if (r.verdict != PM_VERDICT_OK || r.sampled.blocks != PM_SAMPLED_MOST)
			fail_msg("%s: %s: %s (%lld blocks)", text[i], pm_verdict_name(r.verdict), r.why,
				 (long long)r.sampled.blocks);
		assert_int_equal(r.sampled.of_elements, 6000 * COLS);
		assert_true(r.sampled.elements > 0);
		pm_eval_record_release(&r);
	}
}

static void all_blocks_run_unless_there_is_a_reason(void **state)
{
	PmEvalOpts o = options();
	PmEvalRecord r;

	(void)state;
	o.check_only = 1;
	o.deadline = 0; /* there is time */
	eval("passes/silu.so", &o, &r);
	assert_int_equal(r.verdict, PM_VERDICT_OK);
	assert_int_equal(r.sampled.blocks, 0);
	pm_eval_record_release(&r);
	o = options();
	o.check_only = 1;
	o.sample_above = 0; /* it is not large */
	eval("passes/silu.so", &o, &r);
	assert_int_equal(r.sampled.blocks, 0);
	pm_eval_record_release(&r);
	o = options();
	o.check_only = 1;
	o.preset = PM_PRESET_PASSNET; /* compares what the graph gives */
	eval("passes/silu.so", &o, &r);
	assert_int_equal(r.sampled.blocks, 0);
	pm_eval_record_release(&r);
}

static void what_is_wrong_is_found_on_some_blocks(void **state)
{
	(void)state;
	expect("tests/plugin/wrong_silu.so", PM_VERDICT_INCORRECT, "output 'y'");
	expect("tests/plugin/mutating_silu.so", PM_VERDICT_INPUT_MUTATED, "");
	expect("tests/plugin/oob_silu.so", PM_VERDICT_OOB, ""); /* by the last block */
	expect("tests/plugin/unsynced_silu.so", PM_VERDICT_NONDET, "__syncthreads()");
	expect("tests/plugin/divergent_silu.so", PM_VERDICT_DEVICE_FAULT, "");
}

/* The last block always runs, and the element is named by its place in the whole result. */
static void the_last_element_is_looked_at(void **state)
{
	PmEvalOpts o = options();
	PmEvalRecord r;

	(void)state;
	eval("tests/plugin/odd_silu.so", &o, &r);
	if (r.verdict != PM_VERDICT_INCORRECT || !strstr(r.why, "element 149999 is 7 "))
		fail_msg("%s: %s", pm_verdict_name(r.verdict), r.why);
	assert_int_equal(r.sampled.blocks, PM_SAMPLED_MOST);
	assert_int_equal(r.worst.index, ROWS * COLS - 1);
	assert_int_equal(r.failure.worst.index, ROWS * COLS - 1);
	assert_int_equal(r.failure.first.index, ROWS * COLS - 1);
	assert_int_equal(r.failure.numel, ROWS * COLS);
	assert_int_equal(r.failure.dim[0], ROWS);
	pm_eval_record_release(&r);
}

/* Half of the blocks write nothing; each block leaves one element out. Neither counts as right. */
static void what_is_not_written_is_not_right(void **state)
{
	PmEvalOpts o = options();
	PmEvalRecord r;

	(void)state;
	expect("tests/plugin/half_silu.so", PM_VERDICT_NOT_CHECKED, "their share");
	eval_on("tests/plugin/odd_silu.so", ROWS + 1, COLS + 1, &o, &r);
	if (r.verdict != PM_VERDICT_NOT_CHECKED || !strstr(r.why, "their share"))
		fail_msg("%s: %s", pm_verdict_name(r.verdict), r.why);
	pm_eval_record_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_computed_by_themselves),
		cmocka_unit_test(what_joins_rows_has_none),
		cmocka_unit_test(a_right_kernel_is_right_on_some_blocks),
		cmocka_unit_test(a_first_answer_is_of_some_blocks),
		cmocka_unit_test(judged_with_what_all_rows_read),
		cmocka_unit_test(all_blocks_run_unless_there_is_a_reason),
		cmocka_unit_test(what_is_wrong_is_found_on_some_blocks),
		cmocka_unit_test(the_last_element_is_looked_at),
		cmocka_unit_test(what_is_not_written_is_not_right),
	};

	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
