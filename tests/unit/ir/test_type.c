/* SPDX-License-Identifier: Apache-2.0 */
/* test_type.c - rules of element types and tensor types. */
#include "base/core/half.h"
#include "ir/core/type.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void names_and_numbers_agree(void **state)
{
	static const struct {
		int dtype;
		const char *name;
		size_t size;
		int is_float, is_int;
	} want[] = { { PM_F32, "float", 4, 1, 0 },
		     { PM_F16, "float16", 2, 1, 0 },
		     { PM_BF16, "bfloat16", 2, 1, 0 },
		     { PM_F64, "double", 8, 1, 0 },
		     { PM_I64, "int64", 8, 0, 1 },
		     { PM_I32, "int32", 4, 0, 1 },
		     { PM_I8, "int8", 1, 0, 1 },
		     { PM_U8, "uint8", 1, 0, 1 },
		     { PM_BOOL, "bool", 1, 0, 0 },
		     { PM_I16, "int16", 2, 0, 1 },
		     { PM_U16, "uint16", 2, 0, 1 },
		     { PM_U32, "uint32", 4, 0, 1 },
		     { PM_U64, "uint64", 8, 0, 1 },
		     { PM_F8E4M3, "float8e4m3fn", 1, 1, 0 },
		     { PM_F8E4M3Z, "float8e4m3fnuz", 1, 1, 0 },
		     { PM_F8E5M2, "float8e5m2", 1, 1, 0 },
		     { PM_F8E5M2Z, "float8e5m2fnuz", 1, 1, 0 },
		     { PM_F8E8M0, "float8e8m0", 1, 1, 0 },
		     { PM_F6E2M3, "float6e2m3", 1, 1, 0 },
		     { PM_F6E3M2, "float6e3m2", 1, 1, 0 },
		     { PM_F4E2M1, "float4e2m1", 1, 1, 0 },
		     { PM_I4, "int4", 1, 0, 1 },
		     { PM_U4, "uint4", 1, 0, 1 },
		     { PM_I2, "int2", 1, 0, 1 },
		     { PM_U2, "uint2", 1, 0, 1 } };
	size_t i;

	(void)state;
	assert_int_equal(sizeof want / sizeof want[0], PM_N_DTYPES);
	for (i = 0; i < PM_N_DTYPES; i++) {
		assert_string_equal(pm_dtype_name(want[i].dtype), want[i].name);
		assert_int_equal(pm_dtype_from_name(want[i].name), want[i].dtype);
		assert_int_equal(pm_dtype_size(want[i].dtype), want[i].size);
		assert_int_equal(pm_dtype_is_float(want[i].dtype), want[i].is_float);
		assert_int_equal(pm_dtype_is_int(want[i].dtype), want[i].is_int);
		assert_int_equal(pm_dtype_is_unsigned(want[i].dtype), want[i].name[0] == 'u');
		assert_int_equal(pm_dtype_is_narrow(want[i].dtype), want[i].dtype >= PM_F8E4M3);
	}
}

/* Against the compiler's own numbers, and against the bits of the narrow types. */
static void floats_have_the_numbers_of_their_format(void **state)
{
	static const struct {
		int dtype;
		uint16_t after_one, least, normal, largest; /* bits */
	} narrow[] = { { PM_F16, 0x3c01, 1, 0x0400, 0x7bff }, { PM_BF16, 0x3f81, 1, 0x0080, 0x7f7f } };
	const PmFloatType *f = pm_float_type(PM_F32);

	(void)state;
	assert_true(f->roundoff == FLT_EPSILON / 2 && f->normal == FLT_MIN && f->largest == FLT_MAX);
	assert_true(f->subnormal == (double)FLT_MIN * FLT_EPSILON);
	f = pm_float_type(PM_F64);
	assert_true(f->roundoff == DBL_EPSILON / 2 && f->normal == DBL_MIN && f->largest == DBL_MAX);
	assert_true(f->subnormal == DBL_MIN * DBL_EPSILON);
	for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
		double (*number)(uint16_t) = narrow[i].dtype == PM_F16 ? pm_f16_to_f64 : pm_bf16_to_f64;

		f = pm_float_type(narrow[i].dtype);
		assert_true(f->roundoff == (number(narrow[i].after_one) - 1) / 2);
		assert_true(f->subnormal == number(narrow[i].least));
		assert_true(f->normal == number(narrow[i].normal));
		assert_true(f->largest == number(narrow[i].largest));
	}
	for (int d = -1; d <= PM_N_DTYPES; d++)
		assert_int_equal(pm_float_type(d) != NULL, pm_dtype_is_float(d));
}

/* Bits of an element in a file, against the digits of ONNX's own names: bytes are packed from 6 bits down. */
static void bits_are_those_of_the_names(void **state)
{
	(void)state;
	for (int d = 0; d < PM_N_DTYPES; d++) {
		const char *digits = strpbrk(pm_dtype_name(d), "123468");
		int bits = d == PM_BOOL  ? 8
			   : d == PM_F32 ? 32
			   : d == PM_F64 ? 64
			   : digits      ? atoi(digits)
					 : -1;

		assert_int_equal(pm_dtype_bits(d), bits);
		assert_int_equal(pm_dtype_size(d), bits < 8 ? 1 : bits / 8);
	}
}

static void unknown_dtypes_are_answered(void **state)
{
	static const int bad[] = { -1, PM_N_DTYPES, 1000, -1000 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(pm_dtype_size(bad[i]), 0);
		assert_string_equal(pm_dtype_name(bad[i]), "undefined");
		assert_false(pm_dtype_is_float(bad[i]) || pm_dtype_is_int(bad[i]));
	}
	assert_int_equal(pm_dtype_from_name("Float"), -1);
	assert_int_equal(pm_dtype_from_name(""), -1);
	assert_int_equal(pm_dtype_from_name(NULL), -1);
}

static void equality_looks_at_dtype_rank_and_dimensions(void **state)
{
	PmType a = pm_type(PM_F32, 2, (int64_t[]){ 2, 3 }), b = a;

	(void)state;
	b.dim[5] = 99; /* beyond the rank: does not count */
	assert_true(pm_type_equal(&a, &b));
	b.dim[1] = -1;
	assert_false(pm_type_equal(&a, &b));
	b = a;
	b.dtype = PM_F16;
	assert_false(pm_type_equal(&a, &b));
	b = a;
	b.rank = 1;
	assert_false(pm_type_equal(&a, &b));
}

static void counting_needs_constant_dimensions(void **state)
{
	PmType t = pm_type(PM_F16, 2, (int64_t[]){ 2, 3 }), u = pm_type_unknown();
	int64_t n = -7;
	PmErr err;

	(void)state;
	assert_int_equal(pm_type_numel(&t, &n, NULL), PM_OK);
	assert_int_equal(n, 6);
	assert_int_equal(pm_type_bytes(&t, &n, NULL), PM_OK);
	assert_int_equal(n, 12);
	t.rank = 0;
	assert_int_equal(pm_type_numel(&t, &n, NULL), PM_OK);
	assert_int_equal(n, 1);
	t = pm_type(PM_F32, 2, (int64_t[]){ 2, -3 });
	pm_err_init(&err);
	assert_false(pm_type_is_static(&t));
	assert_int_equal(pm_type_numel(&t, &n, &err), PM_E_SHAPE);
	assert_non_null(strstr(err.text, "float[2,?2]"));
	assert_int_equal(pm_type_bytes(&u, &n, NULL), PM_E_SHAPE);
}

static void counting_checks_overflow_but_not_past_a_zero(void **state)
{
	int64_t big = (int64_t)1 << 40, n = -7;
	PmType t = pm_type(PM_F64, 3, (int64_t[]){ big, big, 1 });

	(void)state;
	assert_int_equal(pm_type_numel(&t, &n, NULL), PM_E_LIMIT);
	assert_int_equal(n, -7);
	t.dim[2] = 0;
	assert_int_equal(pm_type_bytes(&t, &n, NULL), PM_OK);
	assert_int_equal(n, 0);
	t = pm_type(PM_F64, 1, (int64_t[]){ INT64_MAX / 4 });
	assert_int_equal(pm_type_numel(&t, &n, NULL), PM_OK);
	assert_int_equal(pm_type_bytes(&t, &n, NULL), PM_E_LIMIT);
}

static void types_are_described(void **state)
{
	PmType t = pm_type(PM_F16, 3, (int64_t[]){ 2, -1, 0 }), u = pm_type_unknown();
	PmStr b = PM_STR_INIT;

	(void)state;
	pm_type_describe(&t, &b);
	pm_str_addc(&b, ' ');
	t.rank = 0;
	pm_type_describe(&t, &b);
	pm_str_addc(&b, ' ');
	pm_type_describe(&u, &b);
	assert_string_equal(b.s, "float16[2,?0,0] float16 undefined[...]");
	pm_str_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_numbers_agree),
		cmocka_unit_test(floats_have_the_numbers_of_their_format),
		cmocka_unit_test(bits_are_those_of_the_names),
		cmocka_unit_test(unknown_dtypes_are_answered),
		cmocka_unit_test(equality_looks_at_dtype_rank_and_dimensions),
		cmocka_unit_test(counting_needs_constant_dimensions),
		cmocka_unit_test(counting_checks_overflow_but_not_past_a_zero),
		cmocka_unit_test(types_are_described),
	};

	return cmocka_run_group_tests_name("type", tests, NULL, NULL);
}
