/* SPDX-License-Identifier: Apache-2.0 */
/* test_narrow.c - the floating-point types of at most 8 bits: all patterns, and some thousand floats made
 * into them, against tests/golden/narrow, which tools/gen/narrow_golden.py made with ml_dtypes and onnx. */
#include "ir/core/element.h"
#include "ir/core/narrow.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static FILE *golden(const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f)
		fail_msg("%s is missing; tools/gen/narrow_golden.py makes it", path);
	return f;
}

static int same(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void every_pattern_is_its_number(void **state)
{
	FILE *f = golden("tests/golden/narrow/decode.txt");
	char name[32], number[64];
	unsigned bits;
	int lines = 0;

	(void)state;
	for (; fscanf(f, "%31s %x %63s", name, &bits, number) == 3; lines++) {
		int dtype = pm_dtype_from_name(name);
		double want = strtod(number, NULL);
		unsigned char byte = (unsigned char)bits;

		if (!same(pm_narrow_to_f64(dtype, byte), want) || !same(pm_float_load(dtype, &byte), want))
			fail_msg("%s %02x is %a instead of %s", name, bits, pm_narrow_to_f64(dtype, byte),
				 number);
		/* And back, where the number has one pattern. */
		if (!isnan(want) &&
		    pm_narrow_from_f64(dtype, want, (PmNarrowCast){ 0, PM_ROUND_NEAREST }) != bits)
			fail_msg("%s: %s does not come back as %02x", name, number, bits);
	}
	fclose(f);
	assert_int_equal(lines, 5 * 256 + 2 * 64 + 16);
}

static PmNarrowRound round_of(const char *mode)
{
	return *mode == 'u' ? PM_ROUND_UP : *mode == 'd' ? PM_ROUND_DOWN : PM_ROUND_NEAREST;
}

static void floats_become_what_they_do_elsewhere(void **state)
{
	FILE *f = golden("tests/golden/narrow/encode.txt");
	char name[32], mode[32];
	unsigned from, want[2];
	int lines = 0;

	(void)state;
	for (; fscanf(f, "%31s %31s %x %x %x", name, mode, &from, &want[0], &want[1]) == 5; lines++) {
		int dtype = pm_dtype_from_name(name);
		float v;

		memcpy(&v, &from, sizeof v);
		for (int saturate = 0; saturate < 2; saturate++) {
			PmNarrowCast how = { saturate, round_of(mode) };
			uint8_t got = pm_narrow_from_f64(dtype, (double)v, how);

			if (got != want[saturate])
				fail_msg("%s, %s, saturate %d: %a is %02x instead of %02x", name, mode,
					 saturate, (double)v, got, want[saturate]);
		}
	}
	fclose(f);
	assert_true(lines > 3000);
}

/* ONNX's table of what becomes float8e8m0 (Cast, opset 28), and what lies between its rows. */
static void powers_follow_the_table(void **state)
{
	static const struct {
		double v;
		PmNarrowCast how;
		unsigned want;
	} rows[] = { { 0, { 1, PM_ROUND_UP }, 0 },
		     { 0, { 0, PM_ROUND_NEAREST }, 0xff },
		     { NAN, { 1, PM_ROUND_UP }, 0xff },
		     { NAN, { 0, PM_ROUND_NEAREST }, 0xff },
		     { INFINITY, { 1, PM_ROUND_UP }, 0xfe },
		     { INFINITY, { 0, PM_ROUND_NEAREST }, 0xff },
		     { 1e300, { 1, PM_ROUND_UP }, 0xfe },
		     { 1e300, { 0, PM_ROUND_NEAREST }, 0xff },
		     { 1e-300, { 1, PM_ROUND_UP }, 0 },
		     { 1e-300, { 0, PM_ROUND_NEAREST }, 0xff },
		     { 0x1p-127, { 0, PM_ROUND_UP }, 0 },
		     { 0x1.8p-128, { 0, PM_ROUND_NEAREST }, 0 }, /* a tie goes up */
		     { 0x1.7p-128, { 0, PM_ROUND_NEAREST }, 0xff },
		     { 0x1.8p-127, { 1, PM_ROUND_UP }, 1 },
		     { 0x1.8p-127, { 1, PM_ROUND_DOWN }, 0 },
		     { -3, { 1, PM_ROUND_UP }, 129 },
		     { -INFINITY, { 0, PM_ROUND_UP }, 0xff } };

	(void)state;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		assert_int_equal(pm_narrow_from_f64(PM_F8E8M0, rows[k].v, rows[k].how), rows[k].want);
}

/* Straight from the double: through float, the first of these would become a tie and go to the even
 * neighbour. */
static void doubles_are_rounded_once(void **state)
{
	PmNarrowCast how = { 1, PM_ROUND_NEAREST };

	(void)state;
	assert_int_equal(pm_narrow_from_f64(PM_F8E4M3, 1.0625 + 0x1p-40, how), 0x39);
	assert_int_equal(pm_narrow_from_f64(PM_F8E4M3, 1.0625, how), 0x38);
	assert_int_equal(pm_narrow_from_f64(PM_F8E4M3, 0x1p-1074, how), 0);
	assert_int_equal(pm_narrow_from_f64(PM_F8E4M3, -0x1.fffffffffffffp1023, how), 0xfe);
}

/* What a type without attributes stores: infinities where there are any, and the least power for zero. */
static void stored_elements_do_not_saturate(void **state)
{
	(void)state;
	assert_true(pm_float_round(PM_F8E5M2, 1e9) == INFINITY &&
		    pm_float_round(PM_F8E5M2, -1e9) == -INFINITY);
	assert_true(isnan(pm_float_round(PM_F8E4M3, 1e9)) && isnan(pm_float_round(PM_F8E5M2Z, INFINITY)));
	assert_true(pm_float_round(PM_F4E2M1, 1e9) == 6 && pm_float_round(PM_F6E2M3, -1e9) == -7.5);
	assert_true(pm_float_round(PM_F8E8M0, 0) == 0x1p-127 && isnan(pm_float_round(PM_F8E8M0, NAN)));
}

static void the_numbers_of_floats_def_are_those_of_the_patterns(void **state)
{
	(void)state;
	for (int d = 0; d < PM_N_DTYPES; d++) {
		double least = INFINITY, most = 0, after_one = INFINITY;
		const PmFloatType *f = pm_float_type(d);

		if (!f || !pm_dtype_is_narrow(d))
			continue;
		for (int bits = 0; bits < 1 << pm_dtype_bits(d); bits++) {
			double v = pm_narrow_to_f64(d, (uint8_t)bits);

			if (!isfinite(v))
				continue;
			least = v > 0 && v < least ? v : least;
			most = v > most ? v : most;
			after_one = v > 1 && v < after_one ? v : after_one;
		}
		assert_true(f->subnormal == least && f->largest == most);
		assert_true(f->roundoff == (after_one - 1) / 2);
		/* From here on numbers have all their digits: the distance doubles with the number. */
		assert_true(pm_float_round(d, f->normal) == f->normal);
		assert_true(f->normal == least || f->normal * 2 * f->roundoff == least);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_pattern_is_its_number),
		cmocka_unit_test(floats_become_what_they_do_elsewhere),
		cmocka_unit_test(powers_follow_the_table),
		cmocka_unit_test(doubles_are_rounded_once),
		cmocka_unit_test(stored_elements_do_not_saturate),
		cmocka_unit_test(the_numbers_of_floats_def_are_those_of_the_patterns),
	};

	return cmocka_run_group_tests_name("narrow", tests, NULL, NULL);
}
