/* SPDX-License-Identifier: Apache-2.0 */
/* test_element.c - elements as numbers: integers as words, stored, wrapped, compared, converted, against C's
 * own types; floating-point elements against base/core/half.h. */
#include "base/core/half.h"
#include "ir/core/element.h"
#include "ir/core/graph.h"
#include "ir/text/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const int64_t words[] = { 0,       1,          -1,        2,         127,          128,
				 -128,    255,        256,       32767,     32768,        -32768,
				 65535,   65536,      INT32_MAX, INT32_MIN, UINT32_MAX,   42,
				 1 << 20, -123456789, INT64_MAX, INT64_MIN, INT64_MIN + 1 };
enum { N = sizeof words / sizeof words[0] };

static int64_t cast(int dtype, int64_t v)
{
	switch (dtype) {
	case PM_I32:
		return (int32_t)(uint32_t)v;
	case PM_I16:
		return (int16_t)(uint16_t)v;
	case PM_I8:
		return (int8_t)(uint8_t)v;
	case PM_U32:
		return (uint32_t)v;
	case PM_U16:
		return (uint16_t)v;
	case PM_U8:
		return (uint8_t)v;
	case PM_BOOL:
		return v != 0;
	case PM_U4:
		return v & 15;
	case PM_I4:
		return (v & 15) - (v & 8 ? 16 : 0);
	case PM_U2:
		return v & 3;
	case PM_I2:
		return (v & 3) - (v & 2 ? 4 : 0);
	default:
		return v;
	}
}

static void words_wrap_as_casts_do(void **state)
{
	unsigned char buf[16];

	(void)state;
	for (int dtype = 0; dtype < PM_N_DTYPES; dtype++)
		for (size_t k = 0; k < N && !pm_dtype_is_float(dtype); k++) {
			assert_true(pm_int_wrap(dtype, words[k]) == cast(dtype, words[k]));
			memset(buf, 0xa5, sizeof buf);
			pm_int_store(dtype, buf + 1, words[k]);
			assert_true(pm_int_load(dtype, buf + 1) == cast(dtype, words[k]));
			assert_int_equal(buf[0], 0xa5);
			assert_int_equal(buf[1 + pm_dtype_size(dtype)], 0xa5);
		}
}

static void uint64_is_compared_and_converted_unsigned(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < N; k++) {
			assert_int_equal(pm_int_less(PM_I64, words[i], words[k]), words[i] < words[k]);
			assert_int_equal(pm_int_less(PM_U64, words[i], words[k]),
					 (uint64_t)words[i] < (uint64_t)words[k]);
		}
	assert_true(pm_int_to_f64(PM_U64, -1) == 0x1p64);
	assert_true(pm_int_to_f64(PM_I64, -1) == -1);
	assert_true(pm_int_to_f32(PM_U64, INT64_MIN) == 0x1p63f);
	assert_true(pm_int_from_f64(PM_U64, 0x1p64) == -1);
	assert_true(pm_int_from_f64(PM_U64, 0x1p63) == INT64_MIN);
	assert_true(pm_int_from_f64(PM_I64, 0x1p63) == INT64_MAX);
	assert_true(pm_int_from_f64(PM_I64, -0x1p70) == INT64_MIN);
	assert_true(pm_int_from_f64(PM_U16, 65536) == 65535);
	assert_true(pm_int_from_f64(PM_I16, -32769) == -32768);
	assert_true(pm_int_from_f64(PM_U32, -0.5) == 0);
	assert_true(pm_int_from_f64(PM_I4, 8) == 7 && pm_int_from_f64(PM_I4, -9) == -8);
	assert_true(pm_int_from_f64(PM_U2, 4) == 3 && pm_int_from_f64(PM_U2, -1) == 0);
}

static PmStatus parse(const char *text, PmGraph **g, PmErr *err)
{
	pm_err_init(err);
	return pm_graph_parse(text, strlen(text), g, err);
}

/* Through the text form, which has to hold what no int64 can. */
static void text_holds_every_uint64(void **state)
{
	static const char
		*const text = "<ir_version: 10, opset_import: [\"\": 18]>\n"
			      "g (uint64[2] x) => (uint64[2] y)\n"
			      "<uint64[2] c = {18446744073709551615, 0}, int16[2] d = {-32768, 32767}>\n"
			      "{\n  y = Add(x, c)\n}\n";
	PmGraph *g = NULL, *again = NULL;
	PmStr out = PM_STR_INIT;
	int64_t v[2];
	double f[2];
	size_t n;
	PmErr err;

	(void)state;
	if (parse(text, &g, &err))
		fail_msg("%s", err.text);
	assert_int_equal(pm_value_const_ints(g, pm_graph_find_value(g, "c"), v, 2, &n), PM_DECLINED);
	assert_int_equal(pm_value_const_floats(g, pm_graph_find_value(g, "c"), f, 2, &n), PM_OK);
	assert_true(f[0] == 0x1p64 && f[1] == 0);
	assert_int_equal(pm_graph_print(g, NULL, &out, &err), PM_OK);
	assert_non_null(strstr(out.s, "18446744073709551615"));
	assert_int_equal(parse(out.s, &again, &err), PM_OK);
	pm_graph_free(g);
	pm_graph_free(again);
	pm_str_release(&out);
}

static void what_does_not_fit_is_refused(void **state)
{
	static const char *const bad[][2] = { { "uint64[1] c = {-1}", "-1 does not fit in uint64" },
					      { "uint64[1] c = {18446744073709551616}",
						"does not fit in uint64" },
					      { "uint32[1] c = {4294967296}", "does not fit in uint32" },
					      { "int16[1] c = {32768}", "32768 does not fit in int16" },
					      { "uint16[1] c = {-1}", "-1 does not fit in uint16" },
					      { "int4[1] c = {8}", "8 does not fit in int4" },
					      { "uint2[1] c = {4}", "4 does not fit in uint2" } };
	char text[256];
	PmGraph *g = NULL;
	PmErr err;

	(void)state;
	for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
		snprintf(text, sizeof text,
			 "<ir_version: 10, opset_import: [\"\": 18]>\ng (float[1] x) => (float[1] "
			 "y)\n<%s>\n{\n  y = "
			 "Neg(x)\n}\n",
			 bad[k][0]);
		assert_true(parse(text, &g, &err) < 0);
		if (!strstr(err.text, bad[k][1]))
			fail_msg("%s", err.text);
	}
}

/* Each format at an odd address, and nothing beside it is touched. */
static void floats_are_stored_and_rounded_once(void **state)
{
	static const double values[] = { 0,    -0.0,      1,       -1.5,   1.0 / 3, 65519.99, 65520,
					 1e-7, 0x1p-1074, 0x1p-24, 3.4e38, 1e300,   INFINITY, -INFINITY };
	unsigned char buf[16];

	(void)state;
	for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
		double v = values[k], want[] = { [PM_F32] = (double)(float)v,
						 [PM_F16] = pm_f16_to_f64(pm_f16_from_f64(v)),
						 [PM_BF16] = pm_bf16_to_f64(pm_bf16_from_f64(v)),
						 [PM_F64] = v };

		for (int dtype = PM_F32; dtype <= PM_F64; dtype++) {
			memset(buf, 0xa5, sizeof buf);
			pm_float_store(dtype, buf + 1, v);
			assert_int_equal(buf[0], 0xa5);
			assert_int_equal(buf[1 + pm_dtype_size(dtype)], 0xa5);
			assert_true(pm_float_load(dtype, buf + 1) == want[dtype]);
			assert_true(pm_float_round(dtype, v) == want[dtype]);
			assert_int_equal(signbit(pm_float_round(dtype, v)) != 0, signbit(v) != 0);
			pm_float_store(dtype, buf + 1, NAN);
			assert_true(isnan(pm_float_load(dtype, buf + 1)));
		}
	}
	assert_true(pm_float_round(PM_I32, 0.5) == 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_wrap_as_casts_do),
		cmocka_unit_test(floats_are_stored_and_rounded_once),
		cmocka_unit_test(uint64_is_compared_and_converted_unsigned),
		cmocka_unit_test(text_holds_every_uint64),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
