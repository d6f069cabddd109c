/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_resize.c - Resize by hand, transposed convolution as the adjoint of Conv, depth and space. */
#include "tests/lib/graphs/eval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static PmTensor copy(const PmTensor *t)
{
	PmTensor c;

	assert_int_equal(pm_tensor_copy(&c, t, NULL), PM_OK);
	return c;
}

/* Four elements 1 2 3 4 made into other sizes; the wanted values follow from the formulas of the standard. */
static void one_axis_follows_the_formulas(void **state)
{
	static const struct {
		const char *attrs, *operands;
		int64_t n;
		double want[8];
	} cases[] = {
		{ "mode='linear'", "- - int64{8}", 8, { 1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4 } },
		{ "mode='linear' coordinate_transformation_mode='align_corners'",
		  "- - int64{7}",
		  7,
		  { 1, 1.5, 2, 2.5, 3, 3.5, 4 } },
		{ "mode='linear' coordinate_transformation_mode='asymmetric'",
		  "- float{2}",
		  8,
		  { 1, 1.5, 2, 2.5, 3, 3.5, 4, 4 } },
		{ "mode='linear' coordinate_transformation_mode='pytorch_half_pixel'",
		  "- - int64{1}",
		  1,
		  { 1 } },
		{ "mode='linear'", "- - int64{2}", 2, { 1.5, 3.5 } },
		/* Weights 1/8 3/8 3/8 1/8 of the window, the outer half replaced by the edge. */
		{ "mode='linear' antialias=1", "- - int64{2}", 2, { 1.625, 3.375 } },
		{ "mode='linear' antialias=1 exclude_outside=1",
		  "- - int64{2}",
		  2,
		  { (3 * 1 + 3 * 2 + 3) / 7.0, (2 + 3 * 3 + 3 * 4) / 7.0 } },
		{ "", "- - int64{8}", 8, { 1, 1, 2, 2, 3, 3, 4, 4 } },
		{ "nearest_mode='round_prefer_ceil' coordinate_transformation_mode='asymmetric'",
		  "- - int64{8}",
		  8,
		  { 1, 2, 2, 3, 3, 4, 4, 4 } },
		{ "nearest_mode='round_prefer_floor' coordinate_transformation_mode='asymmetric'",
		  "- - int64{8}",
		  8,
		  { 1, 1, 2, 2, 3, 3, 4, 4 } },
		{ "nearest_mode='ceil' coordinate_transformation_mode='asymmetric'",
		  "- - int64{8}",
		  8,
		  { 1, 2, 2, 3, 3, 4, 4, 4 } },
		/* The box from -1 to 2 of the axis: positions -3, 0, 3 and 6, of which the first and last are
		   outside. */
		{ "mode='linear' coordinate_transformation_mode='tf_crop_and_resize' extrapolation_value=9.0",
		  "float{-1,2} - int64{4}",
		  4,
		  { 9, 1, 4, 9 } },
		/* Cubic at 0.5: (-3/32, 19/32, 19/32, -3/32) for a = -0.75 over 1 2 3 4 at the middle. */
		{ "mode='cubic'",
		  "- - int64{2}",
		  2,
		  { (-3 * 1 + 19 * 1 + 19 * 2 - 3 * 3) / 32.0, (-3 * 2 + 19 * 3 + 19 * 4 - 3 * 4) / 32.0 } },
	};
	static const double x[] = { 1, 2, 3, 4 };
	size_t k;

	(void)state;
	for (k = 0; k < sizeof cases / sizeof *cases; k++)
		eval_same(eval_take_with("Resize", cases[k].attrs, eval_vector(PM_F64, x, 4),
					 cases[k].operands),
			  eval_vector(PM_F64, cases[k].want, cases[k].n), 1e-12, cases[k].attrs);
}

static double dot(const PmTensor *a, const PmTensor *b)
{
	double sum = 0;
	int64_t k;

	assert_int_equal(pm_tensor_numel(a), pm_tensor_numel(b));
	for (k = 0; k < pm_tensor_numel(a); k++)
		sum += pm_tensor_get(a, k) * pm_tensor_get(b, k);
	return sum;
}

/* (Conv(x), y) = (x, ConvTranspose(y)) with the same weights, whatever the window. */
static void transposed_convolution_is_the_adjoint(void **state)
{
	PmRng r;
	int round;

	(void)state;
	pm_rng_init(&r, 41);
	for (round = 0; round < 30; round++) {
		int64_t groups = pm_rng_range(&r, 1, 2), k = pm_rng_range(&r, 1, 3),
			s = pm_rng_range(&r, 1, 3);
		int64_t dil = pm_rng_range(&r, 1, 2), p0 = pm_rng_range(&r, 0, 2),
			p1 = pm_rng_range(&r, 0, 2);
		int64_t xd[4] = { 2, 2 * groups, 9, 8 }, wd[4] = { 3 * groups, 2, k, 2 }, more[2];
		char conv[200], back[300];
		PmTensor x = eval_normal(&r, 4, xd), w = eval_normal(&r, 4, wd), cx, y, ty;
		double want, got;

		snprintf(conv, sizeof conv, "group=%d strides=[%d,2] pads=[%d,1,%d,0] dilations=[%d,1]",
			 (int)groups, (int)s, (int)p0, (int)p1, (int)dil);
		cx = eval_take2("Conv", conv, copy(&x), copy(&w));
		more[0] = (9 + p0 + p1 - (k - 1) * dil - 1) % s;
		more[1] = (8 + 1 - 1 - 1) % 2;
		snprintf(back, sizeof back, "%s output_padding=[%d,%d]", conv, (int)more[0], (int)more[1]);
		y = eval_normal(&r, 4, cx.type.dim);
		ty = eval_take2("ConvTranspose", back, copy(&y), w);
		want = dot(&cx, &y);
		got = dot(&x, &ty);
		assert_true(got - want < 1e-9 && want - got < 1e-9);
		pm_tensor_release(&x);
		pm_tensor_release(&cx);
		pm_tensor_release(&y);
		pm_tensor_release(&ty);
	}
}

static void depth_and_space_undo_each_other(void **state)
{
	int64_t d[4] = { 2, 12, 3, 2 };
	PmTensor x;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 42);
	x = eval_normal(&r, 4, d);
	eval_same(eval_take1("SpaceToDepth", "blocksize=2",
			     eval_take1("DepthToSpace", "blocksize=2", copy(&x))),
		  copy(&x), 0, "back");
	eval_same(eval_take_with("Reshape", "",
				 eval_take1("Transpose", "perm=[0,3,4,1,5,2]",
					    eval_take_with("Reshape", "", copy(&x), "int64{2,2,2,3,3,2}")),
				 "int64{2,3,6,4}"),
		  eval_take1("DepthToSpace", "blocksize=2", copy(&x)), 0, "DCR");
	eval_same(eval_take_with("Reshape", "",
				 eval_take1("Transpose", "perm=[0,1,4,2,5,3]",
					    eval_take_with("Reshape", "", copy(&x), "int64{2,3,2,2,3,2}")),
				 "int64{2,3,6,4}"),
		  eval_take1("DepthToSpace", "blocksize=2 mode='CRD'", copy(&x)), 0, "CRD");
	pm_tensor_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_axis_follows_the_formulas),
		cmocka_unit_test(transposed_convolution_is_the_adjoint),
		cmocka_unit_test(depth_and_space_undo_each_other),
	};

	return cmocka_run_group_tests_name("ref_resize", tests, NULL, NULL);
}
