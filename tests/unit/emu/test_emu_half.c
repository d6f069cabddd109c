/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu_half.c - __half and __nv_bfloat16 of the emulated device against base/core/half, all patterns. */
#include "base/core/half.h"
#include "base/core/rng.h"
#include "tests/lib/device/emu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ALL = 65536, N = 20000 };

typedef struct Kind {
	PmDType type;
	double (*wide)(uint16_t);
	uint16_t (*narrow)(double);
} Kind;

static const Kind kinds[] = { { PM_F16, pm_f16_to_f64, pm_f16_from_f64 },
			      { PM_BF16, pm_bf16_to_f64, pm_bf16_from_f64 } };

static PmDevice *dev;
static PmModule module[2];

static int open_device(void **state)
{
	int k;

	(void)state;
	dev = emu_open();
	for (k = 0; k < 2; k++)
		module[k] = emu_load(dev, "half.cu", kinds[k].type);
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	dev->ops->close(dev);
	return 0;
}

static int is_nan(const Kind *k, uint16_t h)
{
	return isnan(k->wide(h));
}

/* The same bits; NaNs need only both be NaN. */
static void same(const Kind *k, uint16_t got, uint16_t want, const char *what, int at)
{
	if (got != want && !(is_nan(k, got) && is_nan(k, want)))
		fail_msg("%s %d: got 0x%04x, want 0x%04x", what, at, got, want);
}

static void every_pattern_widens_exactly(void **state)
{
	static uint16_t x[ALL];
	static float y[ALL];
	static double z[ALL];
	PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y),
		  outd = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof z);
	int k, i;

	(void)state;
	for (i = 0; i < ALL; i++)
		x[i] = (uint16_t)i;
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	for (k = 0; k < 2; k++) {
		EMU_CALL(dev, module[k], "widen", ALL / 256, 256, 0, emu_arg(in), emu_arg(out), emu_arg(outd),
			 emu_i32(ALL));
		emu_get(dev, out, y, sizeof y);
		emu_get(dev, outd, z, sizeof z);
		for (i = 0; i < ALL; i++) {
			double want = kinds[k].wide(x[i]);

			if (isnan(want))
				assert_true(isnan(y[i]) && isnan(z[i]));
			else
				assert_true((double)y[i] == want && z[i] == want &&
					    !signbit(y[i]) == !signbit(want));
		}
	}
}

/* Each pattern, the midpoint to the next one, and the floats beside the midpoint; then random floats. */
static int narrowing_cases(const Kind *k, float *x)
{
	PmRng r;
	int n = 0, i;

	for (i = 0; i < ALL; i++) {
		double a = k->wide((uint16_t)i), b = k->wide((uint16_t)(i + 1));
		float mid = (float)((a + b) / 2);

		x[n++] = (float)a;
		x[n++] = mid;
		x[n++] = nextafterf(mid, INFINITY);
		x[n++] = nextafterf(mid, -INFINITY);
	}
	pm_rng_init(&r, 3);
	for (i = 0; i < ALL; i++) {
		uint32_t bits = (uint32_t)pm_rng_u64(&r);

		memcpy(&x[n++], &bits, 4);
	}
	return n;
}

static void floats_round_to_nearest_even(void **state)
{
	static float x[5 * ALL];
	static uint16_t y[5 * ALL], z[5 * ALL];
	int k, i, n;

	(void)state;
	for (k = 0; k < 2; k++) {
		PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y),
			  again = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof z);

		n = narrowing_cases(&kinds[k], x);
		in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
		EMU_CALL(dev, module[k], "narrow", (uint32_t)n / 256, 256, 0, emu_arg(in), emu_arg(out),
			 emu_arg(again), emu_i32(n));
		emu_get(dev, out, y, sizeof y);
		emu_get(dev, again, z, sizeof z);
		for (i = 0; i < n; i++) {
			same(&kinds[k], y[i], kinds[k].narrow(x[i]), "float", i);
			same(&kinds[k], z[i], y[i], "T(float)", i);
		}
	}
}

static void doubles_round_once(void **state)
{
	static double x[4 * ALL];
	static uint16_t y[4 * ALL];
	int k, i;

	(void)state;
	for (k = 0; k < 2; k++) {
		PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);

		/* Beside the midpoint by less than a float can tell: rounding twice would go wrong. */
		for (i = 0; i < ALL; i++) {
			double mid = (kinds[k].wide((uint16_t)i) + kinds[k].wide((uint16_t)(i + 1))) / 2;

			x[4 * i] = mid;
			x[4 * i + 1] = nextafter(mid, INFINITY);
			x[4 * i + 2] = nextafter(mid, -INFINITY);
			x[4 * i + 3] = mid * (1 + 0x1p-40);
		}
		x[0] = 1e300;
		x[1] = -1e300;
		x[2] = 1e-300;
		x[3] = -1e-300;
		in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
		EMU_CALL(dev, module[k], "narrow_double", ALL / 64, 256, 0, emu_arg(in), emu_arg(out),
			 emu_i32(4 * ALL));
		emu_get(dev, out, y, sizeof y);
		for (i = 0; i < 4 * ALL; i++)
			same(&kinds[k], y[i], kinds[k].narrow(x[i]), "double", i);
	}
}

/* a * b + c without any rounding but the last: in long double where that is wide enough to be exact or
 * sticky; the cases below keep to exponents for which 64 bits hold product and sum. */
static uint16_t fused(const Kind *k, double a, double b, double c)
{
	long double exact = (long double)(a * b) + c;
	double d = (double)exact;

	/* Rounded to odd, so that the last rounding sees what was lost. */
	if ((long double)d != exact && isfinite(d)) {
		uint64_t bits;

		if (fabsl((long double)d) > fabsl(exact))
			d = nextafter(d, 0);
		memcpy(&bits, &d, 8);
		bits |= 1;
		memcpy(&d, &bits, 8);
	}
	return k->narrow(d);
}

static double smaller(double x, double y)
{
	return isnan(x) ? y : isnan(y) ? x : x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}

static double larger(double x, double y)
{
	return isnan(x) ? y : isnan(y) ? x : x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

static void check_arithmetic(const Kind *k, const uint16_t *a, const uint16_t *b, const uint16_t *c,
			     const uint16_t *y, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		double x = k->wide(a[i]), v = k->wide(b[i]), w = k->wide(c[i]);
		const uint16_t *o = y + 16 * i;

		same(k, o[0], k->narrow(x + v), "add", i);
		same(k, o[1], k->narrow(x - v), "subtract", i);
		same(k, o[2], k->narrow(x * v), "multiply", i);
		same(k, o[3], k->narrow(x / v), "divide", i);
		if (fabs(w) < 0x1p20 && (w == 0 || fabs(w) > 0x1p-20) && fabs(x * v) < 0x1p20 &&
		    (x * v == 0 || fabs(x * v) > 0x1p-20))
			same(k, o[4], fused(k, x, v, w), "fma", i);
		same(k, o[5], k->narrow(smaller(x, v)), "min", i);
		same(k, o[6], k->narrow(larger(x, v)), "max", i);
		assert_int_equal(o[7], a[i] ^ 0x8000);
		assert_int_equal(o[8], a[i] & 0x7fff);
		same(k, o[9], k->narrow(sqrt(fabs(x))), "sqrt", i);
		same(k, o[10], o[0], "+=", i);
		same(k, o[11], o[2], "*=", i);
		same(k, o[12], k->narrow(exp(x)), "exp", i);
		same(k, o[13], k->narrow(rint(x)), "rint", i);
		same(k, o[14], k->narrow(larger(x, 0)), "relu", i);
		same(k, o[15], k->narrow(1 / k->wide(k->narrow(1 + k->wide(k->narrow(exp(-x)))))), "sigmoid",
		     i);
	}
}

static void arithmetic_rounds_once(void **state)
{
	static uint16_t a[N], b[N], c[N], y[16 * N];
	PmRng r;
	int k, i;

	(void)state;
	pm_rng_init(&r, 5);
	for (k = 0; k < 2; k++) {
		PmBuf ba, bb, bc, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);

		for (i = 0; i < N; i++) {
			/* Half of them anything, half of them near one another. */
			uint64_t bits = pm_rng_u64(&r);
			double x = pm_rng_normal(&r);

			a[i] = i % 2 ? (uint16_t)bits : kinds[k].narrow(x);
			b[i] = i % 2 ? (uint16_t)(bits >> 16) : kinds[k].narrow(pm_rng_normal(&r));
			c[i] = i % 2 ? (uint16_t)(bits >> 32) : kinds[k].narrow(x * 0.01);
		}
		ba = emu_buf(dev, PM_BUF_INPUT, a, sizeof a);
		bb = emu_buf(dev, PM_BUF_INPUT, b, sizeof b);
		bc = emu_buf(dev, PM_BUF_INPUT, c, sizeof c);
		EMU_CALL(dev, module[k], "arithmetic", (N + 127) / 128, 128, 0, emu_arg(ba), emu_arg(bb),
			 emu_arg(bc), emu_arg(out), emu_i32(N));
		emu_get(dev, out, y, sizeof y);
		check_arithmetic(&kinds[k], a, b, c, y, N);
	}
}

static void comparisons_know_nan_and_zero(void **state)
{
	static uint16_t a[N], b[N];
	static int y[N];
	PmRng r;
	int k, i;

	(void)state;
	pm_rng_init(&r, 6);
	for (k = 0; k < 2; k++) {
		static const uint16_t special[] = {
			0, 0x8000, 0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7fff, 0xffff
		};
		PmBuf ba, bb, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);

		for (i = 0; i < N; i++) {
			a[i] = i % 3 ? (uint16_t)pm_rng_u64(&r) : special[i / 3 % 8];
			b[i] = i % 5 == 0 ? a[i] : i % 5 == 1 ? special[i / 5 % 8] : (uint16_t)pm_rng_u64(&r);
		}
		ba = emu_buf(dev, PM_BUF_INPUT, a, sizeof a);
		bb = emu_buf(dev, PM_BUF_INPUT, b, sizeof b);
		EMU_CALL(dev, module[k], "comparisons", (N + 127) / 128, 128, 0, emu_arg(ba), emu_arg(bb),
			 emu_arg(out), emu_i32(N));
		emu_get(dev, out, y, sizeof y);
		for (i = 0; i < N; i++) {
			double x = kinds[k].wide(a[i]), v = kinds[k].wide(b[i]);
			int want = (x == v) | (x != v) << 1 | (x < v) << 2 | (x <= v) << 3 | (x > v) << 4 |
				   (x >= v) << 5 | (x == v) << 6 | (x < v || x > v) << 7 | (x < v) << 8 |
				   !(x <= v) << 9 | (isnan(x) != 0) << 10 | (isinf(v) != 0) << 11 |
				   (x != 0) << 12;

			assert_int_equal(y[i], want);
		}
	}
}

/* Truncated, with the ends of the type for what lies outside and 0 for NaN. */
static double to_int(double x, double lo, double hi)
{
	return isnan(x) ? 0 : x < lo ? lo : x > hi ? hi : trunc(x);
}

static void integers_convert_both_ways(void **state)
{
	static uint16_t x[ALL], back[2 * ALL];
	static int y[4 * ALL];
	static long long z[ALL];
	PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y), outl, outb;
	int k, i;

	(void)state;
	outl = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof z);
	outb = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof back);
	for (i = 0; i < ALL; i++)
		x[i] = (uint16_t)i;
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	for (k = 0; k < 2; k++) {
		EMU_CALL(dev, module[k], "integers", ALL / 256, 256, 0, emu_arg(in), emu_arg(out),
			 emu_arg(outl), emu_arg(outb), emu_i32(ALL));
		emu_get(dev, out, y, sizeof y);
		emu_get(dev, outl, z, sizeof z);
		emu_get(dev, outb, back, sizeof back);
		for (i = 0; i < ALL; i++) {
			double v = kinds[k].wide(x[i]);
			long long wide = (long long)i * i * 1000003;

			assert_true(y[4 * i] == to_int(v, -2147483648., 2147483647.));
			assert_true(y[4 * i + 1] == to_int(v, 0, 255));
			assert_true(y[4 * i + 2] == to_int(v, -32768, 32767));
			assert_true((uint32_t)y[4 * i + 3] == to_int(v, 0, 4294967295.));
			if (fabs(v) < 0x1p62)
				assert_true(z[i] == (long long)v);
			same(&kinds[k], back[2 * i], kinds[k].narrow(i * 77 - 5000), "from int", i);
			same(&kinds[k], back[2 * i + 1], kinds[k].narrow((double)wide), "from long long", i);
		}
	}
}

static void pairs_work_like_their_parts(void **state)
{
	static const char *const names[] = { "halves", "brains" };
	PmModule m = emu_load(dev, "pairs.cu", PM_F32);
	double a[2] = { 1.5, -2 }, b[2] = { 0.25, 3 };
	double want[15][2] = { { 1.75, 1 },  { .375, -6 }, { 1.875, -8 }, { 1.5, 3 },   { 1.25, -5 },
			       { 1.5, 1.5 }, { 1, 2 },     { -2, .25 },   { 1.5, 1.5 }, { 3, 4 },
			       { 5, 6 },     { -2, 1.5 },  { 1, 1 },      { 1.5, 1.5 }, { -1.5, 2 } };
	int k, i;

	(void)state;
	for (k = 0; k < 2; k++) {
		uint16_t x[2], v[2], o[30];
		float f[8];
		float want_f[8] = { 1.5f, -2, 3.25f, 1, 0, 2 - 20, 3, 24 };
		PmBuf bx, bv, bo = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof o),
			      bf = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof f);

		for (i = 0; i < 2; i++) {
			x[i] = kinds[k].narrow(a[i]);
			v[i] = kinds[k].narrow(b[i]);
		}
		want_f[4] = kinds[k].narrow(-2);
		bx = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
		bv = emu_buf(dev, PM_BUF_INPUT, v, sizeof v);
		EMU_CALL(dev, m, names[k], 1, 1, 0, emu_arg(bx), emu_arg(bv), emu_arg(bo), emu_arg(bf));
		emu_get(dev, bo, o, sizeof o);
		emu_get(dev, bf, f, sizeof f);
		for (i = 0; i < 30; i++)
			same(&kinds[k], o[i], kinds[k].narrow(want[i / 2][i % 2]), names[k], i);
		assert_memory_equal(f, want_f, sizeof f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pattern_widens_exactly),
		cmocka_unit_test(floats_round_to_nearest_even),
		cmocka_unit_test(doubles_round_once),
		cmocka_unit_test(arithmetic_rounds_once),
		cmocka_unit_test(comparisons_know_nan_and_zero),
		cmocka_unit_test(integers_convert_both_ways),
		cmocka_unit_test(pairs_work_like_their_parts),
	};

	return cmocka_run_group_tests_name("emu_half", tests, open_device, close_device);
}
