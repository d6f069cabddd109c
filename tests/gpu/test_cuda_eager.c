/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_eager.c - the eager executor on a GPU against the reference device.
 *
 * test_cuda_eager [CASE]: all cases, or those of a pattern.
 */
#include "tests/lib/device/eager_bench.h"
#include "tests/lib/device/eager_shapes.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Every row on every pair of awkward values. */
static void rows_in_double(void **state)
{
	(void)state;
	eager_check("cuda", PM_F64, EAGER_ROWS);
}

static void rows_in_float(void **state)
{
	(void)state;
	eager_check("cuda", PM_F32, EAGER_ROWS);
}

static void rows_in_float16(void **state)
{
	(void)state;
	eager_check("cuda", PM_F16, EAGER_ROWS);
}

static void rows_in_bfloat16(void **state)
{
	(void)state;
	eager_check("cuda", PM_BF16, EAGER_ROWS);
}

static void rows_in_int64(void **state)
{
	(void)state;
	eager_check("cuda", PM_I64, EAGER_ROWS);
}

static void rows_in_uint8(void **state)
{
	(void)state;
	eager_check("cuda", PM_U8, EAGER_ROWS);
}

static void rows_in_bool(void **state)
{
	(void)state;
	eager_check("cuda", PM_BOOL, EAGER_ROWS);
}

static void casts_agree(void **state)
{
	(void)state;
	eager_check("cuda", PM_F32, EAGER_CASTS);
}

static void mixed_powers_agree(void **state)
{
	(void)state;
	eager_check("cuda", PM_F32, EAGER_POWERS);
}

static void operators_agree_in_float(void **state)
{
	(void)state;
	eager_check("cuda", PM_F32, EAGER_NUMBERS | EAGER_FLOATS | EAGER_MOVES);
}

static void operators_agree_in_double(void **state)
{
	(void)state;
	eager_check("cuda", PM_F64, EAGER_NUMBERS | EAGER_FLOATS);
}

static void operators_agree_in_float16(void **state)
{
	(void)state;
	eager_check("cuda", PM_F16, EAGER_NUMBERS | EAGER_FLOATS | EAGER_MOVES);
}

static void operators_agree_in_bfloat16(void **state)
{
	(void)state;
	eager_check("cuda", PM_BF16, EAGER_NUMBERS | EAGER_FLOATS | EAGER_MOVES);
}

static void operators_agree_on_integers(void **state)
{
	static const int types[] = { PM_I32, PM_U8 };

	(void)state;
	eager_check_integers("cuda", types, sizeof types / sizeof *types);
}

/* Rows of infinities and NaN go through softmax and the extremes alike. */
static void reductions_meet_infinity(void **state)
{
	(void)state;
	eager_check("cuda", PM_F32, EAGER_INFINITY);
}

/* Each way of the kernels, in the element types that make a difference. */
static void shapes_agree(void **state)
{
	(void)state;
	pm_test_need_device("cuda");
	eager_shapes_run("cuda", PM_F32);
	eager_shapes_run("cuda", PM_F16);
	eager_shapes_run("cuda", PM_BF16);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_in_double),
		cmocka_unit_test(rows_in_float),
		cmocka_unit_test(rows_in_float16),
		cmocka_unit_test(rows_in_bfloat16),
		cmocka_unit_test(rows_in_int64),
		cmocka_unit_test(rows_in_uint8),
		cmocka_unit_test(rows_in_bool),
		cmocka_unit_test(casts_agree),
		cmocka_unit_test(mixed_powers_agree),
		cmocka_unit_test(operators_agree_in_float),
		cmocka_unit_test(operators_agree_in_double),
		cmocka_unit_test(operators_agree_in_float16),
		cmocka_unit_test(operators_agree_in_bfloat16),
		cmocka_unit_test(operators_agree_on_integers),
		cmocka_unit_test(reductions_meet_infinity),
		cmocka_unit_test(shapes_agree),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("cuda_eager", tests, NULL, NULL);
}
