/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_norm.c - reductions, normalisation and pools against compositions of simpler operators. */
#include "tests/lib/graphs/eval.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static PmTensor scalar(double v)
{
	PmTensor t = eval_tensor(PM_F64, 0, NULL);

	pm_tensor_set(&t, 0, v);
	return t;
}

/* Takes its operands, so that formulas nest. */
static PmTensor take1(const char *op, const char *attrs, PmTensor a)
{
	PmTensor y = eval1(op, attrs, a);

	pm_tensor_release(&a);
	return y;
}

static PmTensor take2(const char *op, PmTensor a, PmTensor b)
{
	PmTensor y = eval2(op, "", a, b);

	pm_tensor_release(&a);
	pm_tensor_release(&b);
	return y;
}

static PmTensor same(const PmTensor *t)
{
	return eval1("Identity", "", *t);
}

static void reducing_two_axes_is_reducing_twice(void **state)
{
	static const char *const ops[] = { "ReduceSum", "ReduceMean", "ReduceMax",
					   "ReduceMin", "ReduceProd", "ReduceL1" };
	PmTensor x;
	PmRng r;
	size_t k;

	(void)state;
	pm_rng_init(&r, 31);
	x = eval_normal(&r, 4, (int64_t[]){ 3, 4, 5, 2 });
	for (k = 0; k < sizeof ops / sizeof ops[0]; k++) {
		PmTensor once = eval1(ops[k], "axes=[3] keepdims=1", x);

		eval_same(eval1(ops[k], "axes=[1,3] keepdims=1", x),
			  take1(ops[k], "axes=[1] keepdims=1", once), 1e-14, ops[k]);
		eval_same(eval1(ops[k], "axes=[0,2] keepdims=0", x),
			  take1("Squeeze", "axes=[0,2]", eval1(ops[k], "axes=[0,2] keepdims=1", x)), 0,
			  ops[k]);
	}
	eval_same(eval1("ReduceL2", "axes=[0,1,2,3] keepdims=0", x),
		  take1("Sqrt", "", eval1("ReduceSumSquare", "axes=[0,1,2,3] keepdims=0", x)), 0, "L2");
	eval_same(eval1("ReduceMin", "axes=[2]", x),
		  take1("Neg", "", take1("ReduceMax", "axes=[2]", eval1("Neg", "", x))), 0,
		  "Min is -Max(-x)");
	eval_same(take1("ReduceSum", "axes=[1]", take2("Mul", same(&x), same(&x))),
		  eval1("ReduceSumSquare", "axes=[1]", x), 0, "squares");
	pm_tensor_release(&x);
}

static void reductions_of_nothing_and_of_nan(void **state)
{
	PmTensor none = eval_tensor(PM_F64, 2, (int64_t[]){ 2, 0 }), few;
	double v[] = { 1, NAN, 3 }, nan = NAN, zeros[] = { 0, 0 }, ones[] = { 1, 1 }, i8[] = { 100, 100 },
	       wrapped = -56;

	(void)state;
	eval_same(eval1("ReduceSum", "axes=[1] keepdims=0", none), eval_vector(PM_F64, zeros, 2), 0,
		  "empty sum");
	eval_same(eval1("ReduceProd", "axes=[1] keepdims=0", none), eval_vector(PM_F64, ones, 2), 0,
		  "empty product");
	few = eval_vector(PM_F64, v, 3);
	eval_same(eval1("ReduceMax", "axes=[0]", few), eval_vector(PM_F64, &nan, 1), 0, "NaN wins");
	eval_same(eval1("ReduceMin", "axes=[0]", few), eval_vector(PM_F64, &nan, 1), 0, "NaN wins");
	pm_tensor_release(&few);
	few = eval_vector(PM_I8, i8, 2);
	eval_same(eval1("ReduceSum", "axes=[0]", few), eval_vector(PM_I8, &wrapped, 1), 0, "wraps");
	pm_tensor_release(&few);
	pm_tensor_release(&none);
}

static void softmax_is_exp_over_its_sum(void **state)
{
	int axis;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 32);
	for (axis = 0; axis < 3; axis++) {
		PmTensor x = eval_normal(&r, 3, (int64_t[]){ 4, 5, 6 }), e = eval1("Exp", "", x), y;
		char attrs[32], axes[32];

		snprintf(attrs, sizeof attrs, "axis=%d", axis);
		snprintf(axes, sizeof axes, "axes=[%d]", axis);
		y = eval1("Softmax", attrs, x);
		eval_same(same(&y), take2("Div", same(&e), eval1("ReduceSum", axes, e)), 1e-15, "Softmax");
		eval_same(eval1("LogSoftmax", attrs, x), take1("Log", "", same(&y)), 1e-14, "LogSoftmax");
		/* Adding a constant changes nothing, however large. */
		eval_same(take1("Softmax", attrs, take2("Add", same(&x), scalar(4096))), y, 1e-11, "shifted");
		pm_tensor_release(&x);
		pm_tensor_release(&e);
	}
}

/* (x - mean) / sqrt(mean((x - mean)^2) + eps) over `axes`; the mean and the root in *m and *s. */
static PmTensor standardised(const PmTensor *x, const char *axes, double eps, PmTensor *m, PmTensor *s)
{
	PmTensor off;

	*m = eval1("ReduceMean", axes, *x);
	off = eval2("Sub", "", *x, *m);
	*s = take1(
		"Sqrt", "",
		take2("Add", take1("ReduceMean", axes, take2("Mul", same(&off), same(&off))), scalar(eps)));
	return take2("Div", off, same(s));
}

static void layer_norm_is_its_formula(void **state)
{
	PmTensor x, in[3], out[3], m, s, z;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 33);
	x = eval_normal(&r, 3, (int64_t[]){ 3, 4, 5 });
	in[0] = x;
	in[1] = eval_normal(&r, 2, (int64_t[]){ 4, 5 });
	in[2] = eval_normal(&r, 2, (int64_t[]){ 4, 5 });
	eval_all("LayerNormalization", "axis=1 epsilon=0.125", in, 3, NULL, out, 3);
	z = standardised(&x, "axes=[1,2]", 0.125, &m, &s);
	/* Mean and inverse deviation are float32 results by stash_type: compared as such. */
	eval_same(out[0], take2("Add", take2("Mul", z, same(&in[1])), same(&in[2])), 1e-14, "y");
	eval_same(take1("Cast", "to=1", out[1]), take1("Cast", "to=1", m), 1e-6, "mean");
	eval_same(take1("Cast", "to=1", out[2]), take1("Cast", "to=1", take1("Reciprocal", "", s)), 1e-6,
		  "inverse");
	pm_tensor_release(&x);
	pm_tensor_release(&in[1]);
	pm_tensor_release(&in[2]);
}

static PmTensor column(const PmTensor *v)
{
	return eval1("Unsqueeze", "axes=[1,2]", *v);
}

static void batch_norm_is_its_formula(void **state)
{
	PmTensor in[5], out[3], y, want, m, s;
	double momentum = (double)0.9f;
	int64_t c = 4;
	PmRng r;
	int k;

	(void)state;
	pm_rng_init(&r, 34);
	in[0] = eval_normal(&r, 4, (int64_t[]){ 3, c, 5, 2 });
	for (k = 1; k < 5; k++)
		in[k] = eval_normal(&r, 1, &c);
	in[4] = take2("Mul", same(&in[4]), in[4]); /* a variance */
	eval_all("BatchNormalization", "epsilon=0.125", in, 5, NULL, &y, 1);
	want = take2("Sub", same(&in[0]), column(&in[3]));
	want = take2("Div", want, take1("Sqrt", "", take2("Add", column(&in[4]), scalar(0.125))));
	want = take2("Add", take2("Mul", want, column(&in[1])), column(&in[2]));
	eval_same(y, want, 1e-14, "inference");
	eval_all("BatchNormalization", "epsilon=0.125 training_mode=1", in, 5, NULL, out, 3);
	want = standardised(&in[0], "axes=[0,2,3]", 0.125, &m, &s);
	want = take2("Add", take2("Mul", want, column(&in[1])), column(&in[2]));
	eval_same(out[0], want, 1e-14, "training");
	m = take1("Squeeze", "axes=[0,2,3]", m);
	want = take2("Add", take2("Mul", same(&in[3]), scalar(momentum)),
		     take2("Mul", m, scalar(1 - momentum)));
	eval_same(out[1], want, 1e-14, "running mean");
	s = take2("Sub", take1("Squeeze", "axes=[0,2,3]", take2("Mul", same(&s), s)), scalar(0.125));
	want = take2("Add", take2("Mul", same(&in[4]), scalar(momentum)),
		     take2("Mul", s, scalar(1 - momentum)));
	eval_same(out[2], want, 1e-14, "running variance");
	for (k = 0; k < 5; k++)
		pm_tensor_release(&in[k]);
}

/* The sum over neighbouring channels is an average pool along that axis, times its size. */
static void lrn_is_a_pool_over_channels(void **state)
{
	int size;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 35);
	for (size = 1; size < 6; size++) {
		PmTensor x = eval_normal(&r, 3, (int64_t[]){ 2, 7, 3 }), sum;
		char pool[128], lrn[64];

		snprintf(pool, sizeof pool,
			 "kernel_shape=[%d,1] strides=[1,1] dilations=[1,1] pads=[%d,0,%d,0] "
			 "count_include_pad=1",
			 size, (size - 1) / 2, size / 2);
		snprintf(lrn, sizeof lrn, "size=%d alpha=0.5 beta=0.75 bias=2.0", size);
		sum = take1("Unsqueeze", "axes=[1]", take2("Mul", same(&x), same(&x)));
		sum = take1("Squeeze", "axes=[1]", take1("AveragePool", pool, sum));
		sum = take2("Add", take2("Mul", sum, scalar(0.5)), scalar(2));
		eval_same(eval1("LRN", lrn, x), take2("Div", same(&x), take2("Pow", sum, scalar(0.75))),
			  1e-14, "LRN");
		pm_tensor_release(&x);
	}
}

static void average_pool_is_a_conv_with_equal_weights(void **state)
{
	static const char common[] = "strides=[2,1] dilations=[2,1] pads=[1,1,2,0]";
	PmTensor x, w, y, ones, count;
	char attrs[128];
	PmRng r;
	int k;

	(void)state;
	pm_rng_init(&r, 36);
	x = eval_normal(&r, 4, (int64_t[]){ 2, 3, 9, 8 });
	w = eval_tensor(PM_F64, 4, (int64_t[]){ 3, 1, 3, 2 });
	for (k = 0; k < 18; k++)
		pm_tensor_set(&w, k, 1);
	snprintf(attrs, sizeof attrs, "group=3 %s", common);
	y = eval2("Conv", attrs, x, w);
	ones = eval_tensor(PM_F64, 4, (int64_t[]){ 2, 3, 9, 8 });
	for (k = 0; k < 2 * 3 * 72; k++)
		pm_tensor_set(&ones, k, 1);
	count = eval2("Conv", attrs, ones, w); /* how many elements each window holds */
	snprintf(attrs, sizeof attrs, "kernel_shape=[3,2] %s", common);
	eval_same(eval1("AveragePool", attrs, x), take2("Div", same(&y), count), 1e-14, "valid elements");
	snprintf(attrs, sizeof attrs, "kernel_shape=[3,2] count_include_pad=1 %s", common);
	eval_same(eval1("AveragePool", attrs, x), take2("Div", y, scalar(6)), 1e-14, "all elements");
	pm_tensor_release(&x);
	pm_tensor_release(&w);
	pm_tensor_release(&ones);
}

/* In ceil mode the last window may hang over; what lies beyond the padding counts for nothing. */
static void ceil_mode_keeps_the_window_that_hangs_over(void **state)
{
	static const char attrs[] = "kernel_shape=[3] strides=[3] dilations=[1] pads=[0,1] ceil_mode=1";
	static const char include[] =
		"kernel_shape=[3] strides=[3] dilations=[1] pads=[0,1] ceil_mode=1 count_include_pad=1";
	double v[] = { 1, 2, 3, 4 }, mean[] = { 2, 4 }, half[] = { 2, 2 }, max[] = { 3, 4 };
	PmTensor x = take1("Unsqueeze", "axes=[0,1]", eval_vector(PM_F64, v, 4));

	(void)state;
	eval_same(take1("Squeeze", "axes=[0,1]", eval1("AveragePool", attrs, x)),
		  eval_vector(PM_F64, mean, 2), 0, "mean");
	eval_same(take1("Squeeze", "axes=[0,1]", eval1("AveragePool", include, x)),
		  eval_vector(PM_F64, half, 2), 0, "with padding: one element of it lies inside");
	eval_same(take1("Squeeze", "axes=[0,1]", eval1("MaxPool", attrs, x)), eval_vector(PM_F64, max, 2), 0,
		  "max");
	pm_tensor_release(&x);
}

/* Gathering at Indices gives the maxima, for either storage order; no neighbour is larger. */
static void max_pool_indices_point_at_the_maxima(void **state)
{
	static const char attrs[] = "kernel_shape=[3,2] strides=[2,1] dilations=[1,2] pads=[1,0,1,1]";
	PmTensor x, flat, out[2], column_major[2];
	char with_order[128];
	PmRng r;
	int64_t k;

	(void)state;
	pm_rng_init(&r, 37);
	x = eval_normal(&r, 4, (int64_t[]){ 2, 3, 7, 5 });
	eval_all("MaxPool", attrs, &x, 1, NULL, out, 2);
	flat = eval_with("Reshape", "", x, "int64{-1}");
	eval_same(eval2("Gather", "axis=0", flat, out[1]), same(&out[0]), 0, "row-major");
	snprintf(with_order, sizeof with_order, "%s storage_order=1", attrs);
	eval_all("MaxPool", with_order, &x, 1, NULL, column_major, 2);
	pm_tensor_release(&flat);
	/* Column-major planes: the transposed tensor, flattened. */
	flat = eval1("Transpose", "perm=[0,1,3,2]", x);
	{
		PmTensor line = eval_with("Reshape", "", flat, "int64{-1}");

		eval_same(eval2("Gather", "axis=0", line, column_major[1]), same(&out[0]), 0, "column-major");
		pm_tensor_release(&line);
	}
	pm_tensor_release(&flat);
	/* Maxima are the reduction of the windows: one tap shifted at a time. */
	for (k = 0; k < pm_tensor_numel(&out[0]); k++) {
		int64_t w = k % 4, h = k / 4 % 4, plane = k / 16, i, j;
		double best = -INFINITY;

		for (i = 0; i < 3; i++)
			for (j = 0; j < 2; j++) {
				int64_t y = 2 * h + i - 1, z = w + 2 * j;

				if (y >= 0 && y < 7 && z < 5)
					best = fmax(best, pm_tensor_get(&x, (plane * 7 + y) * 5 + z));
			}
		assert_true(best == pm_tensor_get(&out[0], k));
	}
	pm_tensor_release(&x);
	for (k = 0; k < 2; k++) {
		pm_tensor_release(&out[k]);
		pm_tensor_release(&column_major[k]);
	}
}

static void of_equal_maxima_the_first_has_the_index(void **state)
{
	double v[] = { 7, 7, 1, 7, NAN, NAN }, index[] = { 0, 1, 3, 4, 4 };
	PmTensor x = take1("Unsqueeze", "axes=[0,1]", eval_vector(PM_F64, v, 6)), out[2];

	(void)state;
	eval_all("MaxPool", "kernel_shape=[2] strides=[1] dilations=[1] pads=[0,0]", &x, 1, NULL, out, 2);
	eval_same(take1("Squeeze", "axes=[0,1]", out[1]), eval_vector(PM_I64, index, 5), 0, "ties and NaN");
	pm_tensor_release(&out[0]);
	pm_tensor_release(&x);
}

static void global_pools_are_reductions(void **state)
{
	PmTensor x;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 38);
	x = eval_normal(&r, 5, (int64_t[]){ 2, 3, 4, 3, 2 });
	eval_same(eval1("GlobalAveragePool", "", x), eval1("ReduceMean", "axes=[2,3,4]", x), 1e-15,
		  "average");
	eval_same(eval1("GlobalMaxPool", "", x), eval1("ReduceMax", "axes=[2,3,4]", x), 0, "maximum");
	pm_tensor_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reducing_two_axes_is_reducing_twice),
		cmocka_unit_test(reductions_of_nothing_and_of_nan),
		cmocka_unit_test(softmax_is_exp_over_its_sum),
		cmocka_unit_test(layer_norm_is_its_formula),
		cmocka_unit_test(batch_norm_is_its_formula),
		cmocka_unit_test(lrn_is_a_pool_over_channels),
		cmocka_unit_test(average_pool_is_a_conv_with_equal_weights),
		cmocka_unit_test(ceil_mode_keeps_the_window_that_hangs_over),
		cmocka_unit_test(max_pool_indices_point_at_the_maxima),
		cmocka_unit_test(of_equal_maxima_the_first_has_the_index),
		cmocka_unit_test(global_pools_are_reductions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
