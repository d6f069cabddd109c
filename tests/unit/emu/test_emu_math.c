/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu_math.c - functions, vector types and the prelude on the emulated device. */
#include "base/core/half.h"
#include "base/core/rng.h"
#include "ir/core/element.h"
#include "tests/lib/device/emu.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 500, N_UNARY = 40 };

static PmDevice *dev;

static int open_device(void **state)
{
	(void)state;
	dev = emu_open();
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	dev->ops->close(dev);
	return 0;
}

/* At most `ulps` units of float apart, or equal in being NaN or infinite. */
static void near(float got, double want, double ulps, const char *what, int at, double x)
{
	double unit = fmax(fabs(want) * FLT_EPSILON, FLT_MIN * FLT_EPSILON);

	if (isnan(want)          ? isnan(got)
	    : isinf((float)want) ? got == (float)want
				 : fabs(got - want) <= ulps * unit)
		return;
	fail_msg("%s %d of %.9g: got %.9g, want %.17g", what, at, x, got, want);
}

static void functions_of_one_argument(void **state)
{
	PmModule m = emu_load(dev, "math.cu", PM_F32);
	static float x[N], y[N * N_UNARY];
	const double pi = acos(-1);
	PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmRng r;
	int i, k;

	(void)state;
	pm_rng_init(&r, 1);
	for (i = 0; i < N; i++)
		x[i] = (float)(pm_rng_normal(&r) * (i % 2 ? 1 : 8));
	x[0] = 0;
	x[1] = INFINITY;
	x[2] = -INFINITY;
	x[3] = NAN;
	x[4] = 0.5f;
	x[5] = 2.5f;
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	EMU_CALL(dev, m, "unary", (N + 63) / 64, 64, 0, emu_arg(in), emu_arg(out), emu_i32(N));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < N; i++) {
		double v = x[i];
		double want[N_UNARY] = { exp(v),
					 exp(v),
					 exp2(v),
					 pow(10, v),
					 expm1(v),
					 log(v),
					 log(v),
					 log2(v),
					 log10(v),
					 log1p(v),
					 sin(v),
					 cos(v),
					 tan(v),
					 asin(v),
					 acos(v),
					 atan(v),
					 sinh(v),
					 cosh(v),
					 tanh(v),
					 erf(v),
					 erfc(v),
					 sqrt(v),
					 1 / sqrt(v),
					 1 / sqrt(v),
					 cbrt(v),
					 floor(v),
					 ceil(v),
					 trunc(v),
					 round(v),
					 rint(v),
					 fabs(v),
					 v > 0 ? (v < 1 ? v : 1) : 0,
					 0,
					 0,
					 erfc(-v / sqrt(2)) / 2,
					 sin(v),
					 cos(v),
					 exp(v),
					 1 / v,
					 fabs(v) };

		want[32] = sin(pi * remainder(v, 2));
		want[33] = cos(pi * remainder(v, 2));
		for (k = 0; k < N_UNARY; k++)
			near(y[N_UNARY * i + k], want[k], 4, "unary", k, v);
	}
}

static void functions_of_two_arguments(void **state)
{
	PmModule m = emu_load(dev, "math.cu", PM_F32);
	static float x[N], z[N], y[N * 16];
	PmBuf in, in2, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmRng r;
	int i, k;

	(void)state;
	pm_rng_init(&r, 2);
	for (i = 0; i < N; i++) {
		x[i] = (float)pm_rng_normal(&r) * 3;
		z[i] = i % 10 ? (float)pm_rng_normal(&r) * 2 : x[i];
	}
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	in2 = emu_buf(dev, PM_BUF_INPUT, z, sizeof z);
	EMU_CALL(dev, m, "binary", (N + 63) / 64, 64, 0, emu_arg(in), emu_arg(in2), emu_arg(out), emu_i32(N));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < N; i++) {
		float a = x[i], b = z[i];
		volatile float product = a * b, sum = a + b, rest = a - b;
		double da = a, db = b;
		double want[16] = { pow(da, db),           fmodf(a, b),
				    atan2(da, db),         fmin(da, db),
				    fmax(da, db),          fmin(da, db),
				    fmax(da, db),          hypot(da, db),
				    copysign(da, db),      da / db,
				    (double)fmaf(a, b, 1), (double)fmaf(a, b, -1),
				    fdim(da, db),          0,
				    product + 1.f,         remainderf(a, b) };
		volatile float both = sum + product;

		want[13] = both - rest;
		for (k = 0; k < 16; k++)
			near(y[16 * i + k], want[k],
			     k == 0                         ? 4
			     : k == 10 || k == 11 || k > 12 ? 0
							    : 1,
			     "binary", k, a);
	}
}

static void functions_of_doubles(void **state)
{
	PmModule m = emu_load(dev, "math.cu", PM_F32);
	double x[4] = { 0.3, 2.75, 1e-8, 40 }, y[32];
	PmBuf in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x), out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	int i, k;

	(void)state;
	EMU_CALL(dev, m, "doubles", 1, 4, 0, emu_arg(in), emu_arg(out), emu_i32(4));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 4; i++) {
		double v = x[i];
		double want[8] = { exp(v), log(v),     sqrt(v),   1 / sqrt(v),
				   erf(v), fmax(v, 1), pow(v, 3), fma(v, v, 1) };

		for (k = 0; k < 8; k++)
			assert_true(fabs(y[8 * i + k] - want[k]) <= 4 * DBL_EPSILON * fabs(want[k]));
	}
}

static void constants_and_special_values(void **state)
{
	PmModule m = emu_load(dev, "math.cu", PM_F32);
	float x = 3, y[12];
	PmBuf in = emu_buf(dev, PM_BUF_INPUT, &x, 4), out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);

	(void)state;
	EMU_CALL(dev, m, "limits", 1, 1, 0, emu_arg(out), emu_arg(in));
	emu_get(dev, out, y, sizeof y);
	assert_true(y[0] == INFINITY && y[1] == INFINITY && isnan(y[2]) && y[3] == FLT_MAX &&
		    y[4] == FLT_MIN);
	assert_true(y[5] == 15 && y[6] == 3 && y[7] == 4 && y[8] == -INFINITY);
	assert_true(y[9] == 2 + 5 + 7 + 2.5 && y[10] == 0 && y[11] == FLT_EPSILON);
}

static void conversions_saturate(void **state)
{
	PmModule m = emu_load(dev, "math.cu", PM_F32);
	float x[10] = { 2.5f, 3.5f, -2.5f, -0.7f, 3e9f, -3e9f, 5e9f, INFINITY, -INFINITY, 7 };
	int y[80], i;
	long long z[10];
	PmBuf in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x), out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmBuf outl = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof z);

	(void)state;
	EMU_CALL(dev, m, "casts", 1, 10, 0, emu_arg(in), emu_arg(out), emu_arg(outl), emu_i32(10));
	emu_get(dev, out, y, sizeof y);
	emu_get(dev, outl, z, sizeof z);
	for (i = 0; i < 10; i++) {
		double v = x[i], parts[4] = { rint(v), trunc(v), floor(v), ceil(v) };
		int k, bits;

		for (k = 0; k < 4; k++)
			assert_true(y[8 * i + k] == fmin(fmax(parts[k], -2147483648.), 2147483647.));
		assert_true((uint32_t)y[8 * i + 4] == fmin(fmax(rint(v), 0), 4294967295.));
		memcpy(&bits, &x[i], 4);
		for (k = 5; k < 8; k++)
			assert_int_equal(y[8 * i + k], bits);
		if (fabs(v) < 1e18)
			assert_true(z[i] == (long long)rint(v));
	}
	assert_true(z[7] == INT64_MAX && z[8] == INT64_MIN);
}

static int slow_dp4a(uint32_t a, uint32_t b, int c)
{
	int k;

	for (k = 0; k < 4; k++)
		c += (int8_t)(a >> 8 * k) * (int8_t)(b >> 8 * k);
	return c;
}

static void bits_are_counted(void **state)
{
	PmModule m = emu_load(dev, "math.cu", PM_F32);
	static uint32_t x[N];
	static int y[14 * N];
	PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmRng r;
	int i, k;

	(void)state;
	pm_rng_init(&r, 3);
	for (i = 0; i < N; i++)
		x[i] = (uint32_t)(pm_rng_u64(&r) >> (32 + i % 32));
	x[0] = 0;
	x[1] = 0xffffffffu;
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	EMU_CALL(dev, m, "bits", (N + 63) / 64, 64, 0, emu_arg(in), emu_arg(out), emu_i32(N));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < N; i++) {
		uint32_t v = x[i], reversed = 0, permuted, bytes[8];
		uint64_t w = (uint64_t)v << 20;
		const int *o = y + 14 * i;
		int ones = 0, first = 0, last = 0;

		for (k = 0; k < 32; k++) {
			ones += v >> k & 1;
			reversed |= (v >> k & 1) << (31 - k);
			if (v >> k & 1) {
				last = k + 1;
				first = first ? first : k + 1;
			}
		}
		for (k = 0; k < 4; k++) {
			bytes[k] = v >> 8 * k & 255;
			bytes[k + 4] = ~v >> 8 * k & 255;
		}
		permuted = bytes[1] | bytes[5] << 8 | bytes[3] << 16 | bytes[7] << 24;
		assert_int_equal(o[0], ones);
		assert_int_equal(o[1], ones);
		assert_int_equal(o[2], 32 - last);
		assert_int_equal(o[3], w ? 64 - 20 - last : 64);
		assert_int_equal(o[4], first);
		assert_int_equal(o[5], w ? first + 20 : 0);
		assert_int_equal((uint32_t)o[6], reversed);
		assert_int_equal((uint32_t)o[7], permuted);
		assert_int_equal((uint32_t)o[8], (uint32_t)((uint64_t)v * 0x80000001u >> 32));
		assert_int_equal(o[9], (int32_t)((int64_t)(int32_t)v * -3 >> 32));
		assert_int_equal(o[10], slow_dp4a(v, 0x01020304u, 5));
		assert_int_equal((uint32_t)o[11], 1u << 4 | v >> 28);
		assert_int_equal((uint32_t)o[12], v >> 4 | 1u << 28);
		assert_int_equal((uint32_t)o[13], (uint32_t)((int32_t)(v << 8) >> 8) * 3u);
	}
}

static void vector_types_have_cudas_layout(void **state)
{
	PmModule m = emu_load(dev, "vector.cu", PM_F32);
	int want[20] = { 202,  404,  404,  404, 808,  808,  808,  1204, 1616, 808,
			 1616, 1616, 1616, 808, 1204, 1616, 1616, 404,  404,  1204 };
	int y[20], i;
	float x[17], z[17];
	unsigned char bytes[4] = { 1, 2, 3, 4 };
	PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmBuf out2 = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof x);

	(void)state;
	EMU_CALL(dev, m, "sizes", 1, 1, 0, emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	assert_memory_equal(y, want, sizeof want);
	for (i = 0; i < 17; i++)
		x[i] = (float)i;
	in = emu_buf(dev, PM_BUF_INPUT, x, 16 * 4);
	EMU_CALL(dev, m, "sum4", 1, 32, 0, emu_arg(in), emu_arg(out), emu_arg(out2), emu_i32(4));
	emu_get(dev, out, z, 16 * 4);
	for (i = 0; i < 16; i++)
		assert_true(z[i] == (float)(i + i / 4 * 4 + (i + 1) % 4));
	emu_get(dev, out2, z, 8 * 4);
	assert_true(z[0] == 0 && z[1] == 3 && z[6] == 12 && z[7] == 15);
	in = emu_buf(dev, PM_BUF_INPUT, (int[]){ 1, 2, 3, 4 }, 16);
	EMU_CALL(dev, m, "integers", 1, 1, 0, emu_arg(in), emu_arg(out),
		 emu_arg(emu_buf(dev, PM_BUF_INPUT, bytes, 4)), emu_arg(out2));
	emu_get(dev, out, y, 8);
	emu_get(dev, out2, bytes, 4);
	assert_true(y[0] == 3 && y[1] == 12 && bytes[0] == 4 && bytes[3] == 1);
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	EMU_CALL(dev, m, "scale", 1, 32, 0, emu_arg(in), emu_arg(out2), emu_f32(1.5), emu_i32(17));
	emu_get(dev, out2, z, sizeof z);
	for (i = 0; i < 17; i++)
		assert_true(z[i] == 1.5f * (float)i);
}

/* --- the prelude for every element type -------------------------------------------------------------- */

static double element(int type, const void *p, int i)
{
	switch (type) {
	case PM_F32:
		return ((const float *)p)[i];
	case PM_F16:
		return pm_f16_to_f64(((const uint16_t *)p)[i]);
	case PM_BF16:
		return pm_bf16_to_f64(((const uint16_t *)p)[i]);
	case PM_F64:
		return ((const double *)p)[i];
	default:
		return pm_int_to_f64(type,
				     pm_int_load(type, (const char *)p + (size_t)i * pm_dtype_size(type)));
	}
}

static void set_element(int type, void *p, int i, int v)
{
	switch (type) {
	case PM_F32:
		((float *)p)[i] = (float)v;
		break;
	case PM_F16:
		((uint16_t *)p)[i] = pm_f16_from_f64(v);
		break;
	case PM_BF16:
		((uint16_t *)p)[i] = pm_bf16_from_f64(v);
		break;
	case PM_F64:
		((double *)p)[i] = v;
		break;
	default:
		pm_int_store(type, (char *)p + (size_t)i * pm_dtype_size(type), v);
	}
}

static void ld_and_st_work_for_every_type(void **state)
{
	enum { COUNT = 60 };
	double x[COUNT], y[COUNT], wider[COUNT];
	float wide[COUNT];
	int type, i;

	(void)state;
	for (type = 0; type < PM_N_DTYPES && !pm_dtype_is_narrow(type); type++) {
		PmModule m = emu_load(dev, "prelude.cu", (PmDType)type);
		int64_t bytes = (int64_t)pm_dtype_size(type) * COUNT;
		PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, bytes);
		PmBuf outw = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof wide);
		PmBuf outd = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof wider);

		for (i = 0; i < COUNT; i++)
			set_element(type, x, i, i);
		in = emu_buf(dev, PM_BUF_INPUT, x, bytes);
		EMU_CALL(dev, m, "round_trip", 2, 32, 0, emu_arg(in), emu_arg(out), emu_arg(outw),
			 emu_arg(outd), emu_i32(COUNT));
		emu_get(dev, out, y, bytes);
		emu_get(dev, outw, wide, sizeof wide);
		emu_get(dev, outd, wider, sizeof wider);
		for (i = 0; i < COUNT; i++) {
			double v = element(type, x, i);

			assert_true(element(type, y, i) == (type == PM_BOOL ? v : 2 * v));
			/* Not rounded to T, but computed in float for the types that ld gives as float. */
			near(wide[i], v / 3, .5, "wide", type, v);
			assert_true(fabs(wider[i] - v / 3) <= 1e-7 * v);
		}
		EMU_CALL(dev, m, "vectors", 1, 32, 0, emu_arg(in), emu_arg(out), emu_i32(COUNT - 3));
		emu_get(dev, out, y, bytes);
		for (i = 0; i < COUNT - 3; i++)
			assert_true(element(type, y, i) == (type == PM_BOOL ? 1 : element(type, x, i) + 1));
	}
}

static void st_does_not_round_for_other_buffers(void **state)
{
	int type, i[4];
	float f[2];
	double d;
	uint16_t h;

	(void)state;
	for (type = PM_F32; type <= PM_BF16; type++) {
		PmModule m = emu_load(dev, "prelude.cu", (PmDType)type);
		PmBuf bf = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof f),
		      bd = emu_buf(dev, PM_BUF_OUTPUT, NULL, 8);
		PmBuf bh = emu_buf(dev, PM_BUF_OUTPUT, NULL, 2),
		      bi = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof i);

		EMU_CALL(dev, m, "other_types", 1, 1, 0, emu_arg(bf), emu_arg(bd), emu_arg(bh), emu_arg(bi));
		emu_get(dev, bf, f, sizeof f);
		emu_get(dev, bd, &d, 8);
		emu_get(dev, bh, &h, 2);
		emu_get(dev, bi, i, sizeof i);
		assert_true(f[0] == 1.f / 3.f && f[1] == 1.f / 3.f && d == 1. / 3.);
		assert_int_equal(h, pm_f16_from_f32(1.f / 3.f));
		assert_true(i[0] == 3 && i[1] == 200 && i[2] == 1 && i[3] == 1000000000);
	}
}

static void reductions_of_the_prelude(void **state)
{
	PmModule m = emu_load(dev, "prelude.cu", PM_F32);
	static float x[3000], y[4 * 1024];
	const uint32_t shapes[][3] = {
		{ 32, 1, 1 }, { 256, 1, 1 }, { 1024, 1, 1 }, { 8, 4, 3 }, { 16, 16, 2 }
	};
	PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmErr err;
	size_t k;
	int i;

	(void)state;
	pm_err_init(&err);
	for (i = 0; i < 3000; i++)
		x[i] = (float)((i * 7919) % 1000 - 400);
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	EMU_CALL(dev, m, "warp_words", 1, 32, 0, emu_arg(in), emu_arg(out));
	emu_get(dev, out, y, 3 * 32 * 4);
	{
		float sum = 0, most = x[0], least = x[0];

		for (i = 0; i < 32; i++) {
			sum += x[i];
			most = fmaxf(most, x[i]);
			least = fminf(least, x[i]);
		}
		for (i = 0; i < 32; i++)
			assert_true(y[3 * i] == sum && y[3 * i + 1] == most && y[3 * i + 2] == least);
	}
	for (k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
		PmDevArg args[] = { emu_arg(in), emu_arg(out), emu_i32(3000) };
		PmDevLaunch l = {
			m, "block_words", { 1, 1, 1 }, { shapes[k][0], shapes[k][1], shapes[k][2] }, 0, args,
			3
		};
		float sum = 0, most = -1000, least = 1000;
		int n = (int)(shapes[k][0] * shapes[k][1] * shapes[k][2]);

		for (i = 0; i < 3000; i++) {
			sum += x[i];
			most = fmaxf(most, x[i]);
			least = fminf(least, x[i]);
		}
		if (dev->ops->launch(dev, &l, &err))
			fail_msg("%s", err.text);
		emu_get(dev, out, y, sizeof y);
		for (i = 0; i < n; i++)
			assert_true(y[4 * i] == sum && y[4 * i + 1] == most && y[4 * i + 2] == least &&
				    y[4 * i + 3] == n);
	}
}

static void sized_integers_are_there(void **state)
{
	PmModule m = emu_load(dev, "prelude.cu", PM_F32);
	PmDevArg args[8];
	PmBuf b[8];
	int64_t v[8];
	int i;

	(void)state;
	for (i = 0; i < 8; i++) {
		b[i] = emu_buf(dev, PM_BUF_OUTPUT, NULL, 1 << i / 2);
		args[i] = emu_arg(b[i]);
	}
	emu_call(dev, m, "sized", 1, 1, 0, args, 8);
	memset(v, 0, sizeof v);
	for (i = 0; i < 8; i++)
		emu_get(dev, b[i], &v[i], 1 << i / 2);
	assert_true((int8_t)v[0] == -1 && v[1] == 255 && (int16_t)v[2] == -2 && v[3] == 65535);
	assert_true((int32_t)v[4] == -3 && v[5] == 4294967295 && v[6] == -4 && v[7] == 8);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_device, close_device)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(functions_of_one_argument),
		CASE(functions_of_two_arguments),
		CASE(functions_of_doubles),
		CASE(constants_and_special_values),
		CASE(conversions_saturate),
		CASE(bits_are_counted),
		CASE(vector_types_have_cudas_layout),
		CASE(ld_and_st_work_for_every_type),
		CASE(st_does_not_round_for_other_buffers),
		CASE(reductions_of_the_prelude),
		CASE(sized_integers_are_there),
	};

	return cmocka_run_group_tests_name("emu_math", tests, NULL, NULL);
}
