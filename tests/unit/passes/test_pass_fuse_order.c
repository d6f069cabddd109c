/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_fuse_order.c - automatic fusion: a sum that a kernel asks for at several places is the same
 * number at all of them.
 */
#include "bench/inputs/inputs.h"
#include "ir/core/kernel.h"
#include "matcher/host/pass_host.h"
#include "runtime/worker/run.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PASS "fuse"

/* Scores are sums of 16 terms in front of a softmax, a norm, and a sum that is reduced by itself. The first
 * factor is computed, so that no tile of a product reads it. */
#define SCORES                                                                                               \
	"p = Mul(q, s) t = Transpose<perm = [0, 2, 1]>(k)"                                                   \
	" z = MatMul(p, t) "
static const char softmax[] =
	"g ($T[$a,$b,$c] q, $T[$a,$d,$c] k) => ($T[$a,$b,$d] y) <$T s = {0.25}> { " SCORES
	"y = Softmax<axis = 2>(z) }";
static const char masked[] = "g ($T[$a,$b,$c] q, $T[$a,$d,$c] k, bool[$a,1,$d] m) => ($T[$a,$b,$d] y) "
			     "<$T s = {0.25}, $T low = {-inf}> { " SCORES
			     "w = Where(m, z, low) y = Softmax<axis = 2>(w) }";
static const char norm[] = "g ($T[$a,$b,$c] q, $T[$a,$d,$c] k, $T[$d] w, $T[$d] b) => ($T[$a,$b,$d] y) "
			   "<$T s = {0.25}> { " SCORES "y = LayerNormalization<axis = 2>(z, w, b) }";
static const char columns[] =
	"g ($T[$a,$b,$c] q, $T[$a,$d,$c] k) => ($T[$a,$b,$d] y) <$T s = {0.25}> { " SCORES
	"y = Softmax<axis = 1>(z) }";
static const char plane[] = "g ($T[$a,$b,$c] x, $T[$c] w) => ($T[$a,$b] y) { p = Mul(x, w) "
			    "z = ReduceSum<axes = [2], keepdims = 0>(p) "
			    "m = ReduceMax<axes = [0, 1], keepdims = 1>(z) d = Sub(z, m) y = Exp(d) }";
static const PassDims dims[] = { { { 2, 16, 16, 16 } }, { { 3, 5, 12, 7 } } };

static int count(const char *text, const char *word)
{
	int n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

/* How often a text stands in the one kernel of the graph in float. */
static int in_kernel(const char *tmpl, PassDims row, const char *text)
{
	PmGraph *g = pass_fused(PASS, tmpl, "float", row);
	PmArena *arena = pm_arena_new(0);
	PmKernelDesc d;
	size_t at = 0;
	PmErr err;
	int n;

	pm_err_init(&err);
	while (pm_node_op(g, pm_graph_node_at(g, at)) != PM_OP_Kernel)
		assert_true(++at < pm_graph_n_nodes(g));
	if (pm_kernel_decode(g, pm_graph_node_at(g, at), arena, &d, &err))
		fail_msg("%s", err.text);
	n = count(d.alts[0].source, text);
	pm_arena_free(arena);
	pm_graph_free(g);
	return n;
}

/* Every score is summed by one thread, once; its own one each row takes from there. */
static void scores_are_summed_at_one_place(void **state)
{
	(void)state;
	assert_int_equal(in_kernel(softmax, dims[0], " = share<Sum, "), 1);
	assert_int_equal(in_kernel(softmax, dims[0], " = share<Max, "), 2);
	assert_int_equal(in_kernel(norm, dims[0], " = share<Sum, "), 2);
	assert_int_equal(in_kernel(norm, dims[0], " = share<Max, "), 1);
}

/* Rows too long to keep their scores sum them in three loops, of which a compiler may contract one and not
 * another. Where they are kept nothing forbids it. */
static void sums_of_several_loops_are_not_contracted(void **state)
{
	static const PassDims large = { { 1, 3, 4, 20000 } }, kept = { { 1, 2, 16, 400 } };

	(void)state;
	assert_int_equal(in_kernel(softmax, large, " = plus(v"), 3);
	assert_int_equal(in_kernel(softmax, kept, " = plus(v"), 0);
	assert_int_equal(in_kernel(softmax, dims[0], " = plus(v"), 0);
}

/* No element of a softmax is above 1 by more than rounding, and its rows' sums are 1. eps: half the distance
 * from 1 to the next number of the type. */
static void rows_sum_to_one(const PmTensor *y, int axis, double eps, uint64_t seed)
{
	int64_t inner = axis == 2 ? 1 : y->type.dim[2], n = y->type.dim[axis];

	for (int64_t i = 0; i < pm_tensor_numel(y); i++) {
		double sum = 0;

		if (pm_tensor_get(y, i) > 1 + 8 * eps)
			fail_msg("seed %d: element %d is %.9g", (int)seed, (int)i, pm_tensor_get(y, i));
		if (i / inner % n)
			continue;
		for (int64_t k = 0; k < n; k++)
			sum += pm_tensor_get(y, i + k * inner);
		if (!(sum > 1 - 8 * eps * (double)n && sum < 1 + 8 * eps * (double)n))
			fail_msg("seed %d: the row of element %d sums up to %.9g", (int)seed, (int)i, sum);
	}
}

static void softmax_of_large_scores(const char *tmpl, int axis, PassDims row)
{
	static const struct {
		const char *name;
		double eps;
	} types[] = { { "float", 0x1p-24 }, { "float16", 0x1p-11 }, { "bfloat16", 0x1p-8 } };
	PmRunOpts emu = { .device = "emu", .deadline = 100, .poison = 0x7fc1d00d };

	for (size_t t = 0; t < PASS_COUNT(types); t++) {
		PmGraph *g = pass_fused(PASS, tmpl, types[t].name, row);

		for (uint64_t seed = 1; seed <= 4; seed++) {
			PmTensor in[2];
			PmRunResult got;
			PmErr err;

			pm_err_init(&err);
			assert_int_equal(pm_graph_n_inputs(g), PASS_COUNT(in));
			if (pm_inputs_make(g, seed, PM_INPUTS_LARGE, in, &err))
				fail_msg("%s", err.text);
			if (pm_run_graph(g, in, PASS_COUNT(in), &emu, &got, &err))
				fail_msg("%s: %s", types[t].name, err.text);
			rows_sum_to_one(&got.out[0], axis, types[t].eps, seed);
			pm_run_result_release(&got);
			pm_tensors_release(in, PASS_COUNT(in));
		}
		pm_graph_free(g);
	}
}

/* Of scores of some thousands, sums in two orders differ by so much that elements were 1.002. */
static void no_element_of_a_softmax_is_above_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < PASS_COUNT(dims); i++) {
		softmax_of_large_scores(softmax, 2, dims[i]);
		softmax_of_large_scores(columns, 1, dims[i]);
	}
}

/* A row whose scores are all masked is NaN in both; reductions over several axes; a part of a warp. */
static void results_are_right(void **state)
{
	(void)state;
	pass_fuses(PASS, softmax, 1, dims, PASS_COUNT(dims));
	pass_fuses(PASS, masked, 1, dims, PASS_COUNT(dims));
	pass_fuses(PASS, norm, 1, dims, PASS_COUNT(dims));
	pass_fuses(PASS, columns, 1, dims, PASS_COUNT(dims));
	pass_fuses_float(PASS, plane, 1, dims, PASS_COUNT(dims));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scores_are_summed_at_one_place),
		cmocka_unit_test(sums_of_several_loops_are_not_contracted),
		cmocka_unit_test(no_element_of_a_softmax_is_above_one),
		cmocka_unit_test(results_are_right),
	};

	pm_test_need_device("emu");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
