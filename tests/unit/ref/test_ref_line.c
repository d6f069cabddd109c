/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_line.c - operators along one axis: known values, inverses, and other operators. */
#include "tests/lib/graphs/eval.h"

#include <math.h>
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

static void transforms_undo_each_other(void **state)
{
	int64_t d[3] = { 3, 7, 2 }, real[3] = { 2, 8, 1 };
	PmTensor x;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 51);
	x = eval_normal(&r, 3, d);
	eval_same(eval_take1("DFT", "axis=1 inverse=1", eval_take1("DFT", "axis=1", copy(&x))), copy(&x),
		  1e-12, "axis 1");
	eval_same(eval_take1("DFT", "axis=0", eval_take1("DFT", "axis=0 inverse=1", copy(&x))), copy(&x),
		  1e-12, "axis 0");
	pm_tensor_release(&x);
	/* One side is the first half of both. */
	x = eval_normal(&r, 3, real);
	eval_same(eval_take1("DFT", "axis=1 onesided=1", copy(&x)),
		  eval_take1("Slice", "starts=[0] ends=[5] axes=[1] steps=[1]",
			     eval_take1("DFT", "axis=1", copy(&x))),
		  0, "one side");
	/* Padding with zeros is a longer transform. */
	eval_same(eval_take_with("DFT", "axis=1", copy(&x), "int64=11"),
		  eval_take1("DFT", "axis=1", eval_take1("Pad", "pads=[0,0,0,0,3,0]", copy(&x))), 1e-12,
		  "length");
	pm_tensor_release(&x);
}

/* Frequency 1 of four samples: the sum of x[j] * (-i)^j. */
static void a_transform_by_hand(void **state)
{
	static const double x[] = { 1, 2, 4, 8 }, want[] = { 15, 0, -3, 6, -5, 0, -3, -6 };

	(void)state;
	eval_same(eval_take1("DFT", "axis=0",
			     eval_take_with("Reshape", "", eval_vector(PM_F64, x, 4), "int64{4,1}")),
		  eval_take_with("Reshape", "", eval_vector(PM_F64, want, 8), "int64{4,2}"), 1e-12,
		  "four samples");
}

static void the_first_or_last_extreme_is_chosen(void **state)
{
	static const double x[] = { 3, 9, 1, 9, 1 }, nan_x[] = { 3, NAN, 9, NAN };
	static const struct {
		const char *op, *attrs;
		double want, want_nan;
	} cases[] = {
		{ "ArgMax", "axis=0", 1, 1 },
		{ "ArgMax", "axis=0 select_last_index=1", 3, 3 },
		{ "ArgMin", "axis=0", 2, 1 },
		{ "ArgMin", "axis=0 select_last_index=1", 4, 3 },
	};
	size_t k;

	(void)state;
	for (k = 0; k < 4; k++) {
		eval_same(eval_take1(cases[k].op, cases[k].attrs, eval_vector(PM_F64, x, 5)),
			  eval_vector(PM_I64, &cases[k].want, 1), 0, cases[k].attrs);
		eval_same(eval_take1(cases[k].op, cases[k].attrs, eval_vector(PM_I32, x, 5)),
			  eval_vector(PM_I64, &cases[k].want, 1), 0, cases[k].attrs);
		eval_same(eval_take1(cases[k].op, cases[k].attrs, eval_vector(PM_F64, nan_x, 4)),
			  eval_vector(PM_I64, &cases[k].want_nan, 1), 0, "NaN");
	}
}

static void norms_become_one(void **state)
{
	int64_t d[2] = { 4, 6 };
	PmTensor x;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 52);
	x = eval_normal(&r, 2, d);
	eval_same(eval_take1("LpNormalization", "axis=1", copy(&x)),
		  eval_take2("Div", "", copy(&x), eval_take1("ReduceL2", "axes=[1]", copy(&x))), 1e-12, "2");
	eval_same(eval_take1("LpNormalization", "axis=0 p=1", copy(&x)),
		  eval_take2("Div", "", copy(&x), eval_take1("ReduceL1", "axes=[0]", copy(&x))), 1e-12, "1");
	pm_tensor_release(&x);
	eval_same(eval_take1("LpNormalization", "axis=1", eval_tensor(PM_F64, 2, d)),
		  eval_tensor(PM_F64, 2, d), 0, "zeros");
}

/* Upper and lower parts with the diagonal between them add up to the whole. */
static void triangles_add_up(void **state)
{
	int64_t d[3] = { 2, 4, 3 };
	PmTensor x;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 53);
	x = eval_normal(&r, 3, d);
	eval_same(eval_take2("Add", "", eval_take_with("Trilu", "", copy(&x), "int64=1"),
			     eval_take1("Trilu", "upper=0", copy(&x))),
		  copy(&x), 0, "sum");
	eval_same(eval_take_with("Trilu", "", copy(&x), "int64=-9"), copy(&x), 0, "all");
	eval_same(eval_take_with("Trilu", "upper=0", x, "int64=-9"), eval_tensor(PM_F64, 3, d), 0, "nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transforms_undo_each_other),
		cmocka_unit_test(a_transform_by_hand),
		cmocka_unit_test(the_first_or_last_extreme_is_chosen),
		cmocka_unit_test(norms_become_one),
		cmocka_unit_test(triangles_add_up),
	};

	return cmocka_run_group_tests_name("ref_line", tests, NULL, NULL);
}
