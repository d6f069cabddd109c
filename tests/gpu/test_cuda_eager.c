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
static void every_row(int dtype)
{
	EagerBench *b;

	pm_test_need_device("cuda");
	b = eager_open();
	eager_add_rows(b, dtype);
	if (dtype == PM_BOOL)
		eager_add(b, dtype, "Where", "bool[15,1] bool[15] bool[15]", "", 1);
	assert_true(b->n > 0);
	eager_run(b, "cuda", 1);
}

static void rows_in_double(void **state)
{
	(void)state;
	every_row(PM_F64);
}

static void rows_in_float(void **state)
{
	(void)state;
	every_row(PM_F32);
}

static void rows_in_float16(void **state)
{
	(void)state;
	every_row(PM_F16);
}

static void rows_in_bfloat16(void **state)
{
	(void)state;
	every_row(PM_BF16);
}

static void rows_in_int64(void **state)
{
	(void)state;
	every_row(PM_I64);
}

static void rows_in_uint8(void **state)
{
	(void)state;
	every_row(PM_U8);
}

static void rows_in_bool(void **state)
{
	(void)state;
	every_row(PM_BOOL);
}

static void casts_agree(void **state)
{
	EagerBench *b;

	(void)state;
	pm_test_need_device("cuda");
	b = eager_open();
	eager_add_casts(b);
	eager_run(b, "cuda", 1);
}

static void mixed_powers_agree(void **state)
{
	EagerBench *b;

	(void)state;
	pm_test_need_device("cuda");
	b = eager_open();
	eager_add_powers(b);
	eager_run(b, "cuda", 0);
}

static void operators_agree_in_float(void **state)
{
	EagerBench *b;

	(void)state;
	pm_test_need_device("cuda");
	b = eager_open();
	eager_add_numbers(b, PM_F32);
	eager_add_floats(b, PM_F32);
	eager_add_moves(b, PM_F32);
	eager_run(b, "cuda", 0);
}

static void operators_agree_in_double(void **state)
{
	EagerBench *b;

	(void)state;
	pm_test_need_device("cuda");
	b = eager_open();
	eager_add_numbers(b, PM_F64);
	eager_add_floats(b, PM_F64);
	eager_run(b, "cuda", 0);
}

static void operators_agree_in_float16(void **state)
{
	EagerBench *b;

	(void)state;
	pm_test_need_device("cuda");
	b = eager_open();
	eager_add_numbers(b, PM_F16);
	eager_add_floats(b, PM_F16);
	eager_add_moves(b, PM_F16);
	eager_run(b, "cuda", 0);
}

static void operators_agree_in_bfloat16(void **state)
{
	EagerBench *b;

	(void)state;
	pm_test_need_device("cuda");
	b = eager_open();
	eager_add_numbers(b, PM_BF16);
	eager_add_floats(b, PM_BF16);
	eager_add_moves(b, PM_BF16);
	eager_run(b, "cuda", 0);
}

static void operators_agree_on_integers(void **state)
{
	EagerBench *b;

	(void)state;
	pm_test_need_device("cuda");
	b = eager_open();
	eager_add_numbers(b, PM_I32);
	eager_add_numbers(b, PM_U8);
	eager_add_moves(b, PM_BOOL);
	eager_add(b, PM_I32, "ReduceMean", "#[2,0,3]", "axes=[1]", 1);
	eager_run(b, "cuda", 0);
}

/* Rows of infinities and NaN go through softmax and the extremes alike. */
static void reductions_meet_infinity(void **state)
{
	EagerBench *b;

	(void)state;
	pm_test_need_device("cuda");
	b = eager_open();
	eager_add_infinity(b, PM_F32);
	eager_run(b, "cuda", 1);
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
