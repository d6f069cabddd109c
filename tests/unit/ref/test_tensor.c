/* SPDX-License-Identifier: Apache-2.0 */
/* test_tensor.c - host tensors: sizes, alignment, element access by dtype. */
#include "runtime/device/tensor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static PmTensor make(int dtype, int64_t n)
{
	PmType t = pm_type((PmDType)dtype, 1, &n);
	PmTensor x;

	assert_int_equal(pm_tensor_init(&x, &t, NULL), PM_OK);
	return x;
}

static void storage_is_zeroed_aligned_and_sized_by_dtype(void **state)
{
	double zero;
	int dtype;

	(void)state;
	for (dtype = 0; dtype < PM_N_DTYPES; dtype++) {
		PmTensor x = make(dtype, 7);

		assert_int_equal(x.bytes, 7 * pm_dtype_size(dtype));
		assert_int_equal((uintptr_t)x.data % 64, 0);
		assert_int_equal(pm_tensor_numel(&x), 7);
		/* The pattern 0 is 2^-127 in the type that has no zero. */
		zero = dtype == PM_F8E8M0 ? 0x1p-127 : 0;
		assert_true(pm_tensor_get(&x, 6) == zero);
		pm_tensor_set(&x, 3, 1);
		assert_true(pm_tensor_get(&x, 3) == 1);
		assert_int_equal(pm_tensor_get_i(&x, 3), 1);
		assert_true(pm_tensor_get(&x, 2) == zero && pm_tensor_get(&x, 4) == zero);
		pm_tensor_release(&x);
		assert_null(x.data);
	}
}

static void empty_and_oversized_tensors(void **state)
{
	PmTensor x = make(PM_F32, 0), y;
	int64_t big[] = { (int64_t)1 << 31, (int64_t)1 << 31 }, huge[] = { INT64_MAX, INT64_MAX };
	PmType t = pm_type(PM_F32, 2, big);
	PmErr err;

	(void)state;
	assert_null(x.data);
	assert_int_equal(pm_tensor_numel(&x), 0);
	assert_int_equal(pm_tensor_copy(&y, &x, NULL), PM_OK);
	pm_tensor_release(&x);
	pm_tensor_release(&y);
	pm_err_init(&err);
	assert_int_equal(pm_tensor_init(&x, &t, &err), PM_E_LIMIT);
	assert_int_equal(err.code, PM_E_LIMIT);
	t = pm_type(PM_F32, 2, huge);
	assert_int_equal(pm_tensor_init(&x, &t, NULL), PM_E_LIMIT);
	t.dim[0] = -1;
	assert_int_equal(pm_tensor_init(&x, &t, NULL), PM_E_SHAPE);
	pm_tensor_release(&x); /* a failed init leaves nothing to free, and release allows it */
}

static void stores_round_truncate_and_wrap(void **state)
{
	PmTensor f32 = make(PM_F32, 1), f16 = make(PM_F16, 1), bf16 = make(PM_BF16, 1), i8 = make(PM_I8, 1);
	PmTensor u8 = make(PM_U8, 1), b = make(PM_BOOL, 1), i64 = make(PM_I64, 1), i32 = make(PM_I32, 1);

	(void)state;
	pm_tensor_set(&f32, 0, 0.1);
	assert_true(pm_tensor_get(&f32, 0) == (double)0.1f);
	pm_tensor_set_i(&f32, 0, 16777217);
	assert_true(pm_tensor_get(&f32, 0) == 16777216);
	pm_tensor_set(&f16, 0, 65520);
	assert_true(isinf(pm_tensor_get(&f16, 0)));
	pm_tensor_set(&bf16, 0, -259);
	assert_true(pm_tensor_get(&bf16, 0) == -260);
	pm_tensor_set(&i8, 0, -1.99);
	assert_int_equal(pm_tensor_get_i(&i8, 0), -1);
	pm_tensor_set(&i8, 0, 1e9);
	assert_int_equal(pm_tensor_get_i(&i8, 0), 127);
	pm_tensor_set_i(&i8, 0, 200);
	assert_int_equal(pm_tensor_get_i(&i8, 0), -56);
	pm_tensor_set_i(&u8, 0, -1);
	assert_int_equal(pm_tensor_get_i(&u8, 0), 255);
	pm_tensor_set(&u8, 0, -1);
	assert_int_equal(pm_tensor_get_i(&u8, 0), 0);
	pm_tensor_set(&b, 0, 0.25);
	assert_int_equal(pm_tensor_get_i(&b, 0), 1);
	pm_tensor_set_i(&b, 0, 256);
	assert_int_equal(pm_tensor_get_i(&b, 0), 1);
	pm_tensor_set_i(&i64, 0, ((int64_t)1 << 53) + 1);
	assert_true(pm_tensor_get_i(&i64, 0) == ((int64_t)1 << 53) + 1);
	pm_tensor_set(&i64, 0, INFINITY);
	assert_true(pm_tensor_get_i(&i64, 0) == INT64_MAX);
	pm_tensor_set(&i64, 0, 9223372036854775808.0); /* one past the end */
	assert_true(pm_tensor_get_i(&i64, 0) == INT64_MAX);
	pm_tensor_set(&i64, 0, -9223372036854775808.0);
	assert_true(pm_tensor_get_i(&i64, 0) == INT64_MIN);
	pm_tensor_set(&i64, 0, NAN);
	assert_true(pm_tensor_get_i(&i64, 0) == 0);
	pm_tensor_set_i(&i32, 0, (int64_t)INT32_MAX + 1);
	assert_true(pm_tensor_get_i(&i32, 0) == INT32_MIN);
	pm_tensor_release(&f32);
	pm_tensor_release(&f16);
	pm_tensor_release(&bf16);
	pm_tensor_release(&i8);
	pm_tensor_release(&u8);
	pm_tensor_release(&b);
	pm_tensor_release(&i64);
	pm_tensor_release(&i32);
}

static void constants_are_copied_or_refused(void **state)
{
	PmGraph *g = pm_graph_new(0);
	int64_t n = 2;
	PmType t = pm_type(PM_F32, 1, &n);
	float v[] = { 1.5f, -2 };
	PmValue here, away, input;
	PmTensor x;

	(void)state;
	assert_int_equal(pm_graph_add_const(g, "here", &t, pm_blob_copy(v, sizeof v), &here, NULL), PM_OK);
	assert_int_equal(pm_graph_add_const(g, "away", &t, pm_blob_absent("w", 0, sizeof v), &away, NULL),
			 PM_OK);
	assert_int_equal(pm_graph_add_input(g, "input", &t, &input, NULL), PM_OK);
	assert_int_equal(pm_tensor_from_const(&x, g, here, NULL), PM_OK);
	assert_true(pm_tensor_get(&x, 1) == -2);
	pm_tensor_release(&x);
	assert_int_equal(pm_tensor_from_const(&x, g, away, NULL), PM_E_NOT_FOUND);
	assert_int_equal(pm_tensor_from_const(&x, g, input, NULL), PM_E_NOT_FOUND);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(storage_is_zeroed_aligned_and_sized_by_dtype),
		cmocka_unit_test(empty_and_oversized_tensors),
		cmocka_unit_test(stores_round_truncate_and_wrap),
		cmocka_unit_test(constants_are_copied_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
