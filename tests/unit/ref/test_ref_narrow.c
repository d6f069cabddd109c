/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_narrow.c - operators on element types of 8, 6, 4 and 2 bits: quantisation by numbers computed by
 * hand, moves against the same moves of the numbers in double. */
#include "ir/core/element.h"
#include "ir/core/onnx_dtype.h"
#include "ir/core/op.h"
#include "tests/lib/graphs/eval.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static PmTensor shaped(PmTensor t, int64_t rows)
{
	int64_t dim[2] = { rows, t.type.dim[0] / rows };

	t.type = pm_type((PmDType)t.type.dtype, 2, dim);
	return t;
}

static void is(PmTensor got, int dtype, const double *want)
{
	assert_int_equal(got.type.dtype, dtype);
	for (int64_t i = 0; i < pm_tensor_numel(&got); i++) {
		double v = pm_tensor_get(&got, i);

		if (isnan(want[i]) ? !isnan(v) : v != want[i])
			fail_msg("element %lld is %.17g instead of %.17g", (long long)i, v, want[i]);
	}
	pm_tensor_release(&got);
}

static void quantised_to_floats(void **state)
{
	static const double x[] = { 1, -3, 1000, 0.01 }, half[] = { 0.5 };
	PmTensor scale = eval_vector(PM_F32, half, 1);

	(void)state;
	is(eval_take2("QuantizeLinear", "output_dtype=17", eval_vector(PM_F32, x, 4),
		      eval_vector(PM_F32, half, 1)),
	   PM_F8E4M3, (double[]){ 2, -6, 448, 0.01953125 });
	is(eval_take2("QuantizeLinear", "output_dtype=17 saturate=0", eval_vector(PM_F32, x, 4),
		      eval_vector(PM_F32, half, 1)),
	   PM_F8E4M3, (double[]){ 2, -6, NAN, 0.01953125 });
	is(eval_take2("QuantizeLinear", "output_dtype=23", eval_vector(PM_F16, x, 4), scale), PM_F4E2M1,
	   (double[]){ 2, -6, 6, 0 });
	/* The type of the zero point is that of the result. */
	is(eval_take3("QuantizeLinear", "", eval_vector(PM_F32, x, 4), eval_vector(PM_F32, half, 1),
		      eval_vector(PM_F8E5M2, (double[]){ 0 }, 1)),
	   PM_F8E5M2, (double[]){ 2, -6, 2048, 0.01953125 });
}

static void quantised_to_integers(void **state)
{
	static const double x[] = { 100, -100, 2.5, 3.5 }, one[] = { 1 };

	(void)state;
	is(eval_take2("QuantizeLinear", "output_dtype=22", eval_vector(PM_F32, x, 4),
		      eval_vector(PM_F32, one, 1)),
	   PM_I4, (double[]){ 7, -8, 2, 4 });
	is(eval_take2("QuantizeLinear", "output_dtype=25", eval_vector(PM_F32, x, 4),
		      eval_vector(PM_F32, one, 1)),
	   PM_U2, (double[]){ 3, 0, 2, 3 });
}

static void blocks_have_scales_and_zero_points(void **state)
{
	PmTensor x = shaped(eval_vector(PM_I4, (double[]){ -8, -1, 0, 7, 1, 2, 3, 4 }, 8), 2);
	PmTensor scale = shaped(eval_vector(PM_F32, (double[]){ 0.5, 2, 1, 10 }, 4), 2);
	PmTensor zero = shaped(eval_vector(PM_I4, (double[]){ 1, 0, -1, 2 }, 4), 2);

	(void)state;
	is(eval_take3("DequantizeLinear", "axis=1 block_size=2", x, scale, zero), PM_F32,
	   (double[]){ -4.5, -1, 0, 14, 2, 3, 10, 20 });
}

static void scales_may_be_powers_of_two(void **state)
{
	PmTensor x = shaped(eval_vector(PM_F4E2M1, (double[]){ 6, -0.5, 1.5, 3 }, 4), 2);
	PmTensor scale = shaped(eval_vector(PM_F8E8M0, (double[]){ 4, 0.25 }, 2), 2);
	PmErr err;

	(void)state;
	is(eval2("DequantizeLinear", "axis=1 block_size=2 output_dtype=10", x, scale), PM_F16,
	   (double[]){ 24, -2, 0.375, 0.75 });
	/* Without, the result would be a power of two. */
	pm_err_init(&err);
	assert_int_equal(eval_try("DequantizeLinear", "axis=1 block_size=2", (PmTensor[]){ x, scale }, 2,
				  NULL, &(PmTensor){ 0 }, 1, &err),
			 PM_E_TYPE);
	assert_non_null(strstr(err.text, "give 'output_dtype'"));
	pm_tensor_release(&x);
	pm_tensor_release(&scale);
}

/* A number's type changes nothing about where it goes. */
static void moves_are_those_of_the_numbers(void **state)
{
	static const struct {
		const char *op, *attrs, *extra;
	} moves[] = { { "Transpose", "perm=[1,0]", NULL },
		      { "Identity", "", NULL },
		      { "Reshape", "", "int64{3,2}" },
		      { "Flatten", "axis=0", NULL },
		      { "Unsqueeze", "axes=[1]", NULL },
		      { "Pad", "pads=[0,1,1,0]", NULL },
		      { "Pad", "pads=[1,0,0,2] mode='edge'", NULL } };
	static const double numbers[] = {
		1, 2, 0.5, 4, 1, 2
	}; /* the powers of two, and rounded where they are not held */

	(void)state;
	for (int d = 0; d < PM_N_DTYPES; d++) {
		char to[32];

		if (!pm_dtype_is_narrow(d))
			continue;
		snprintf(to, sizeof to, "to=%d", pm_dtype_to_onnx(d));
		for (size_t k = 0; k < sizeof moves / sizeof *moves; k++) {
			PmTensor x = shaped(eval_vector(d, numbers, 6), 2);
			PmTensor wide = eval1("Cast", "to=11", x);
			PmTensor want = eval_take_with(moves[k].op, moves[k].attrs, wide, moves[k].extra);
			PmTensor got = eval_take_with(moves[k].op, moves[k].attrs, x, moves[k].extra);

			assert_int_equal(got.type.dtype, d);
			eval_same(got, eval_take1("Cast", to, want), 0, moves[k].op);
		}
	}
}

/* Only what the table says takes them: every other operator of one operand refuses. */
static void nothing_is_computed_in_them(void **state)
{
	int refused = 0;

	(void)state;
	for (int op = PM_OP_NONE + 1; op < PM_N_OPS; op++) {
		const PmOpDesc *desc = pm_op_desc((PmOp)op);
		PmTensor x = eval_vector(PM_F8E5M2, (double[]){ 1, 2 }, 2), y;
		PmErr err;

		pm_err_init(&err);
		if (desc->in_min <= 1 && desc->flags & PM_OPF_EW && !(desc->flags & PM_OPF_NARROW)) {
			assert_true(eval_try(desc->name, "", &x, 1, NULL, &y, 1, &err) < 0);
			refused += strstr(err.text, "narrow element type") != NULL;
		}
		pm_tensor_release(&x);
	}
	assert_true(refused > 20);
}

static void what_is_no_number_is_seen(void **state)
{
	PmTensor x = eval_vector(PM_F8E5M2, (double[]){ 1, INFINITY, NAN, -INFINITY }, 4);

	(void)state;
	is(eval1("IsNaN", "", x), PM_BOOL, (double[]){ 0, 0, 1, 0 });
	is(eval1("IsInf", "detect_negative=0", x), PM_BOOL, (double[]){ 0, 1, 0, 0 });
	pm_tensor_release(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantised_to_floats),
		cmocka_unit_test(quantised_to_integers),
		cmocka_unit_test(blocks_have_scales_and_zero_points),
		cmocka_unit_test(scales_may_be_powers_of_two),
		cmocka_unit_test(moves_are_those_of_the_numbers),
		cmocka_unit_test(nothing_is_computed_in_them),
		cmocka_unit_test(what_is_no_number_is_seen),
	};

	return cmocka_run_group_tests_name("ref_narrow", tests, NULL, NULL);
}
