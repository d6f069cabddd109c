/* SPDX-License-Identifier: Apache-2.0 */
/* test_half.c - all 65,536 patterns of both 16-bit formats, and every midpoint between neighbours. */
#include "base/core/half.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

typedef struct Format {
	int mant, bias;
	double (*to_f64)(uint16_t);
	float (*to_f32)(uint16_t);
	uint16_t (*from_f64)(double);
	uint16_t (*from_f32)(float);
} Format;

static const Format formats[] = {
	{ 10, 15, pm_f16_to_f64, pm_f16_to_f32, pm_f16_from_f64, pm_f16_from_f32 },
	{ 7, 127, pm_bf16_to_f64, pm_bf16_to_f32, pm_bf16_from_f64, pm_bf16_from_f32 },
};

/* The value by its definition: (-1)^s 2^(e-bias) (1 + m/2^mant). */
static double defined(const Format *f, uint32_t h)
{
	int all = 2 * f->bias + 1, e = (int)(h >> f->mant) & all;
	double m = (double)(h & ((1u << f->mant) - 1)), v;

	if (e == all)
		v = m != 0 ? (double)NAN : (double)INFINITY;
	else if (e == 0)
		v = ldexp(m, 1 - f->bias - f->mant);
	else
		v = ldexp(m + (1 << f->mant), e - f->bias - f->mant);
	return h & 0x8000 ? -v : v;
}

static void every_pattern_widens_and_returns(void **state)
{
	(void)state;
	for (size_t k = 0; k < 2; k++) {
		const Format *f = &formats[k];
		for (uint32_t h = 0; h < 65536; h++) {
			double want = defined(f, h), got = f->to_f64((uint16_t)h);
			float narrow = f->to_f32((uint16_t)h);
			uint32_t quiet = h | 1u << (f->mant - 1);

			if (isnan(want)) {
				assert_true(isnan(got) && isnan(narrow));
				assert_int_equal(!!signbit(got), h >> 15);
				assert_int_equal(f->from_f64(got), quiet);
				assert_int_equal(f->from_f32(narrow), quiet);
				continue;
			}
			assert_memory_equal(&want, &got, sizeof got);
			assert_true((double)narrow == got);
			assert_int_equal(f->from_f64(got), h);
			assert_int_equal(f->from_f32(narrow), h);
		}
	}
}

static void midpoints_round_to_even_and_neighbours_to_nearest(void **state)
{
	(void)state;
	for (size_t k = 0; k < 2; k++) {
		const Format *f = &formats[k];
		uint32_t inf = (uint32_t)(2 * f->bias + 1) << f->mant;

		for (uint32_t h = 0; h < inf; h++) {
			double lo = defined(f, h);
			/* beyond the largest finite value the next step would be one more unit */
			double hi = h + 1 < inf ? defined(f, h + 1) : ldexp(1, f->bias + 1);
			double mid = lo + (hi - lo) / 2;
			uint32_t even = h & 1 ? h + 1 : h;

			for (uint32_t s = 0; s <= 0x8000; s += 0x8000) {
				double sg = s ? -1 : 1;

				assert_int_equal(f->from_f64(sg * mid), s | even);
				assert_int_equal(f->from_f64(sg * nextafter(mid, 0)), s | h);
				assert_int_equal(f->from_f64(sg * nextafter(mid, INFINITY)), s | (h + 1));
				assert_int_equal(f->from_f32((float)(sg * mid)), s | even);
			}
		}
		assert_int_equal(f->from_f64(1e300), inf);
		assert_int_equal(f->from_f64(-INFINITY), inf | 0x8000);
		assert_int_equal(f->from_f64(-5e-324), 0x8000);
	}
}

static void no_double_rounding_through_float(void **state)
{
	double just_over = 1 + ldexp(1, -11) + ldexp(1, -40);

	(void)state;
	/* through float this becomes the tie 1 + 2^-11 and then 1 */
	assert_int_equal(pm_f16_from_f32((float)just_over), 0x3c00);
	assert_int_equal(pm_f16_from_f64(just_over), 0x3c01);
	just_over = 1 + ldexp(1, -8) + ldexp(1, -40);
	assert_int_equal(pm_bf16_from_f32((float)just_over), 0x3f80);
	assert_int_equal(pm_bf16_from_f64(just_over), 0x3f81);
}

/* bfloat16 is the upper half of a float, which gives a second way to round. */
static void bf16_agrees_with_the_upper_half_of_a_float(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < 1u << 22; n++) {
		uint32_t u = (uint32_t)(n * 0x9e3779b97f4a7c15ull >> 32), want;
		float x;

		memcpy(&x, &u, sizeof x);
		if (isnan(x))
			continue;
		want = (u + 0x7fff + (u >> 16 & 1)) >> 16;
		if (pm_bf16_from_f32(x) != want)
			fail_msg("float pattern %08x gives %04x, not %04x", u, pm_bf16_from_f32(x), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pattern_widens_and_returns),
		cmocka_unit_test(midpoints_round_to_even_and_neighbours_to_nearest),
		cmocka_unit_test(no_double_rounding_through_float),
		cmocka_unit_test(bf16_agrees_with_the_upper_half_of_a_float),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
