/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_threads.c - one thread and many give the same bits: operators on awkward shapes, in the reference,
 * in the inputs and in what is seen on the way. */
#include "base/core/rng.h"
#include "base/sys/threads.h"
#include "bench/compare/bound/bound.h"
#include "bench/inputs/inputs.h"
#include "bench/inputs/reach.h"
#include "runtime/ref/ref.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 8 };

/* Shapes that no number of threads divides, more than a thread is started for. */
static const char *const graphs[] = {
	"g (float[7,13,1009] x, float[13,1] b) => (float[7,13,1009] y) { a = Add (x, b)\n y = Exp (a) }",
	"g (float[100003] x, float[1] b) => (float[100003] y) { a = Mul (x, b)\n y = Sub (a, x) }",
	"g (float[331,1] x, float[1,307] b) => (float[331,307] y) { y = Max (x, b) }",
	"g (int32[307,331] x, int32[331] b) => (int32[307,331] y) { a = Add (x, b)\n y = Mul (a, x) }",
	"g (float16[99,1013] x) => (float[99,1013] y) { a = Cast <to = 1> (x)\n y = Neg (a) }",
	"g (float[99,1013] x) => (int32[99,1013] y) { y = Cast <to = 6> (x) }",
	"g (float[307,331] x, float[331] z) => (bool[307,331] y) { y = Less (x, z) }",
	"g (bool[307,331] c, float[307,331] x, float[1] z) => (float[307,331] y) { y = Where (c, x, z) }",
	"g (float[99,1013] x) => (float[99,1013] y) { y = Softmax <axis = 1> (x) }",
	"g (float[5,1013,19] x) => (float[5,1013,19] y) { y = LogSoftmax <axis = 1> (x) }",
	"g (float[99,1013] x) => (float[99] y) { y = ReduceSum <axes = [1], keepdims = 0> (x) }",
	"g (float[1013,99] x) => (float[99] y) { y = ReduceMean <axes = [0], keepdims = 0> (x) }",
	"g (float[17,31,13,17] x) => (float[1,31,1,17] y) { y = ReduceL2 <axes = [0, 2]> (x) }",
	"g (float[17,31,13,17] x) => (float[17,1,13,1] y) { y = ReduceMax <axes = [1, 3]> (x) }",
	"g (float[331,307] x) => (float y) { y = ReduceSum <axes = [0, 1], keepdims = 0> (x) }",
	"g (int32[17,31,201] x) => (int32[17,201] y) { y = ReduceSum <axes = [1], keepdims = 0> (x) }",
	"g (float[97,1,1013] x) => (float[97,1,1013] y) { y = ReduceProd <axes = [1]> (x) }",
	"g (float[99,1013] x, float[1013] s, float[1013] b) => (float[99,1013] y) { y = LayerNormalization "
	"<axis = 1> (x, s, b) }",
	"g (float[31,17,203] x, float[17,203] s) => (float[31,17,203] y) { y = LayerNormalization <axis = 1> "
	"(x, s) }",
	"g (float[31,17,203] x, float[203] s) => (float[31,17,203] y) { y = RMSNormalization <axis = 2> (x, "
	"s) }",
	"g (float[3,31,1009] x, float[31] s, float[31] b, float[31] m, float[31] v) => (float[3,31,1009] y) "
	"{ y = BatchNormalization (x, s, b, m, v) }",
	"g (float[3,30,33,31] x, float[30] s, float[30] b) => (float[3,30,33,31] y) { y = GroupNormalization "
	"<num_groups = 5> (x, s, b) }",
	"g (float[101,67] x, float[67,43] w) => (float[101,43] y) { y = MatMul (x, w) }",
	"g (float[1,203] x, float[203,1009] w) => (float[1,1009] y) { y = MatMul (x, w) }",
	"g (float[5,7,29,31] x, float[7,31,23] w) => (float[5,7,29,23] y) { y = MatMul (x, w) }",
	"g (float[67,101] x, float[43,67] w, float[43] b) => (float[101,43] y) { y = Gemm <transA = 1, "
	"transB = 1> (x, w, b) }",
	"g (float[2,6,29,31] x, float[8,3,3,3] w, float[8] b) => (float[2,8,27,29] y) "
	"{ y = Conv <strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 2> (x, w, b) }",
	"g (float[1,131,601] x, float[37,131,1] w) => (float[1,37,601] y) "
	"{ y = Conv <strides = [1], pads = [0, 0], dilations = [1]> (x, w) }",
	"g (float[3,11,61,59] x) => (float[3,11,30,29] y) "
	"{ y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]> "
	"(x) }",
	"g (float[3,11,61,59] x) => (float[3,11,61,59] y) { y = AveragePool <kernel_shape = [3, 3], strides "
	"= [1, 1], "
	"pads = [1, 1, 1, 1], dilations = [1, 1], count_include_pad = 1> (x) }",
	"g (bfloat16[3001,64] t, int64[1777] i) => (bfloat16[1777,64] y) { y = Gather <axis = 0> (t, i) }",
};

/* What a graph gives with so many threads, in one buffer: inputs of a class, results, bounds, what was
 * reached. */
typedef struct Bytes {
	unsigned char *p;
	size_t n;
} Bytes;

static void add(Bytes *b, const void *p, size_t n)
{
	if (!p || !n)
		return;
	b->p = realloc(b->p, b->n + n);
	assert_non_null(b->p);
	memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void add_wide(Bytes *b, const PmRefTensor *t)
{
	add(b, t->f ? (const void *)t->f : (const void *)t->i, (size_t)t->numel * 8);
}

static void add_bounds(Bytes *b, const PmGraph *g, const PmTensor *in)
{
	size_t n_in = pm_graph_n_inputs(g);
	PmTensor got[MOST];
	PmBound bound[MOST];
	PmBoundFit fit;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_ref_run(g, in, n_in, got, 1, &err), PM_OK);
	assert_int_equal(pm_bound_run(g, in, n_in, PM_TIER_STRICT, bound, 1, &err), PM_OK);
	add_wide(b, &bound[0].y);
	add(b, bound[0].unit, bound[0].unit ? (size_t)bound[0].y.numel * sizeof(double) : 0);
	add(b, bound[0].shared, bound[0].shared ? (size_t)bound[0].y.numel * sizeof(double) : 0);
	add(b, &bound[0].inv, sizeof bound[0].inv);
	memset(&fit, 0, sizeof fit);
	pm_bound_fit(&bound[0], &got[0], &fit);
	add(b, &fit.rms, sizeof fit.rms);
	add(b, &fit.max, sizeof fit.max);
	add(b, got[0].data, got[0].bytes);
	pm_bounds_release(bound, 1);
	pm_tensor_release(&got[0]);
}

static Bytes run(const PmGraph *g, PmInputClass cls, int threads)
{
	size_t n_in = pm_graph_n_inputs(g);
	Bytes b = { NULL, 0 };
	PmReached reached;
	PmTensor in[MOST];
	PmBranches branches;
	PmRefTensor out;
	PmErr err;

	pm_threads_limit(threads);
	pm_err_init(&err);
	assert_int_equal(pm_inputs_make(g, 11, cls, in, &err), PM_OK);
	for (size_t k = 0; k < n_in; k++)
		add(&b, in[k].data, in[k].bytes);
	assert_int_equal(pm_ref_run_exact(g, in, n_in, &out, 1, &err), PM_OK);
	add_wide(&b, &out);
	pm_ref_tensor_release(&out);
	memset(&reached, 0, sizeof reached);
	pm_branches_init(&branches, g);
	pm_reach(g, in, PM_REACH_DEFINED | PM_REACH_FINITE, &reached, &branches, &err);
	add(&b, &reached, sizeof reached);
	add(&b, branches.seen, branches.n);
	pm_branches_release(&branches);
	if (cls == PM_INPUTS_NORMAL)
		add_bounds(&b, g, in);
	pm_tensors_release(in, n_in);
	pm_threads_limit(0);
	return b;
}

static void the_bits_are_the_same(void **state)
{
	static const int threads[] = { 2, 3, 8 };

	(void)state;
	for (size_t k = 0; k < sizeof graphs / sizeof *graphs; k++) {
		PmGraph *g = pm_test_graph(graphs[k]);
		Bytes one = run(g, PM_INPUTS_NORMAL, 1);

		for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
			Bytes many = run(g, PM_INPUTS_NORMAL, threads[t]);

			if (many.n != one.n || memcmp(many.p, one.p, one.n))
				fail_msg("%d threads give other bits: %s", threads[t], graphs[k]);
			free(many.p);
		}
		free(one.p);
		pm_graph_free(g);
	}
}

static void inputs_of_every_class_are_the_same(void **state)
{
	static const char *const text[] = {
		"g (float[457,331] x, bool[457,331] m, float[331] w) => (float[457,331] y) { a = Where (m, "
		"x, w)\n y = Tanh (a) }",
		"g (float16[457,331] x, float16[331,7] w) => (float16[457,7] y) { y = MatMul (x, w) }",
		"g (bfloat16[30011,5] t, int64[99991] i) => (bfloat16[99991,5] y) { y = Gather <axis = 0> "
		"(t, i) }",
	};

	(void)state;
	for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
		PmGraph *g = pm_test_graph(text[k]);

		for (int cls = 0; cls < PM_N_ALL_CLASSES; cls++) {
			Bytes one = run(g, (PmInputClass)cls, 1), many = run(g, (PmInputClass)cls, 5);

			if (many.n != one.n || memcmp(many.p, one.p, one.n))
				fail_msg("five threads draw other inputs %s: %s",
					 pm_input_class_name((PmInputClass)cls), text[k]);
			free(one.p);
			free(many.p);
		}
		pm_graph_free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bits_are_the_same),
		cmocka_unit_test(inputs_of_every_class_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
