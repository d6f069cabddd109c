/* SPDX-License-Identifier: Apache-2.0 */
/* test_synth.c - made-up elements: the same everywhere and in any pieces, with the moments they are asked
 * for. The expected numbers come from an implementation of the definition in Python. */
#include "base/core/half.h"
#include "ir/data/synth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static PmSynth law(PmSynthLaw l, double a, double b)
{
	PmSynth s = { .law = l, .dtype = PM_F64, .seed = 42, .lo = -INFINITY, .hi = INFINITY, .row = 8 };

	if (l == PM_SYNTH_NORMAL || l == PM_SYNTH_POSITIVE) {
		s.mean = a;
		s.std = b;
	} else {
		s.lo = a;
		s.hi = b;
	}
	pm_synth_ready(&s);
	return s;
}

static void elements_are_the_same_on_every_machine(void **state)
{
	static const double normal[] = { -1.0358947851986033, 2.8754911911625576, -1.6508975668273247,
					 1.0951281751919013 };
	static const double uniform[] = { 1.22469463631547, -0.5202688213692397, -0.164196609234584 };
	static const int ints[] = { 11, 6, 7, 8, 5, 12 };
	PmSynth s = law(PM_SYNTH_NORMAL, 0.5, 2);

	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		assert_true(pm_synth_element(&s, i) == normal[i]);
	s = law(PM_SYNTH_UNIFORM, -1, 2);
	for (uint64_t i = 0; i < 3; i++)
		assert_true(pm_synth_element(&s, i) == uniform[i]);
	s = law(PM_SYNTH_INTS, 5, 13);
	for (uint64_t i = 0; i < 6; i++)
		assert_true(pm_synth_element(&s, i) == ints[i]);
}

static void moments(const PmSynth *s, double *mean, double *sd, double *least)
{
	enum { N = 200000 };
	double sum = 0, sq = 0;

	*least = INFINITY;
	for (uint64_t i = 0; i < N; i++) {
		double x = pm_synth_element(s, i);

		sum += x;
		sq += x * x;
		*least = x < *least ? x : *least;
	}
	*mean = sum / N;
	*sd = sqrt(sq / N - *mean * *mean);
}

static void moments_are_as_asked(void **state)
{
	static const double cv[] = { 0.01, 0.3, 0.7, 1.0, 1.25 };
	PmSynth s = law(PM_SYNTH_NORMAL, -3, 0.5);
	double mean, sd, least;

	(void)state;
	moments(&s, &mean, &sd, &least);
	assert_true(fabs(mean + 3) < 0.01 && fabs(sd - 0.5) < 0.01);
	for (size_t k = 0; k < sizeof cv / sizeof *cv; k++) {
		s = law(PM_SYNTH_POSITIVE, 40, 40 * cv[k]);
		moments(&s, &mean, &sd, &least);
		if (fabs(mean / 40 - 1) > 0.02 || fabs(sd / 40 - cv[k]) > 0.02 || least < 40.0 / 64)
			fail_msg("cv %g: mean %g, deviation %g, least %g", cv[k], mean, sd, least);
	}
	s = law(PM_SYNTH_POSITIVE, 1, 100); /* held at 1.3 */
	moments(&s, &mean, &sd, &least);
	assert_true(fabs(mean - 1) < 0.03 && fabs(sd - 1.3) < 0.05 && least > 0);
}

static void ranges_are_kept(void **state)
{
	PmSynth s = law(PM_SYNTH_INTS, -2, 2), n = law(PM_SYNTH_NORMAL, 0, 1);
	double lit[] = { 7, 8, 9 };
	int seen[5] = { 0 }, ones = 0;

	(void)state;
	n.lo = -0.5;
	n.hi = 0.25;
	for (uint64_t i = 0; i < 2000; i++) {
		double x = pm_synth_element(&s, i), y = pm_synth_element(&n, i);

		assert_true(x >= -2 && x <= 2 && x == floor(x) && y >= -0.5 && y <= 0.25);
		seen[(int)x + 2]++;
	}
	for (int k = 0; k < 5; k++)
		assert_true(seen[k] > 300);
	s = law(PM_SYNTH_MASK, 0, 1);
	for (uint64_t i = 0; i < 800; i++) {
		ones += pm_synth_element(&s, i) == 1;
		assert_true(i % 8 || pm_synth_element(&s, i) == 1);
	}
	assert_true(ones > 500 && ones < 700);
	s = (PmSynth){ .law = PM_SYNTH_LITERAL, .dtype = PM_F32, .literal = lit, .n_literal = 3 };
	assert_true(pm_synth_element(&s, 0) == 7 && pm_synth_element(&s, 2) == 9);
	/* What a type cannot hold is not made an infinity. */
	s = law(PM_SYNTH_NORMAL, 1e9, 1);
	s.dtype = PM_F16;
	pm_synth_ready(&s);
	assert_true(pm_synth_element(&s, 0) == 65504);
}

static void any_piece_is_the_same_bytes(void **state)
{
	unsigned char whole[8 * 100], piece[8 * 100];

	(void)state;
	for (int dtype = 0; dtype < PM_N_DTYPES; dtype++) {
		PmSynth s = dtype == PM_BOOL           ? law(PM_SYNTH_MASK, 0, 1)
			    : pm_dtype_is_float(dtype) ? law(PM_SYNTH_NORMAL, 0, 1)
						       : law(PM_SYNTH_INTS, 0, 99);
		size_t size = pm_dtype_size(dtype), at, n;

		s.dtype = dtype;
		pm_synth_fill(&s, 0, 100, whole);
		for (at = 0; at < 100; at += n) {
			n = 100 - at < 7 ? 100 - at : 7;
			pm_synth_fill(&s, at, n, piece + at * size);
		}
		assert_memory_equal(whole, piece, 100 * size);
	}
}

static void elements_are_rounded_once(void **state)
{
	PmSynth s = law(PM_SYNTH_NORMAL, 0.1, 1);
	uint16_t h[16];
	float f[16];

	(void)state;
	s.dtype = PM_F16;
	pm_synth_fill(&s, 0, 16, h);
	s.dtype = PM_F32;
	pm_synth_fill(&s, 0, 16, f);
	for (uint64_t i = 0; i < 16; i++) {
		assert_int_equal(h[i], pm_f16_from_f64(pm_synth_element(&s, i)));
		assert_true(f[i] == (float)pm_synth_element(&s, i));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_are_the_same_on_every_machine),
		cmocka_unit_test(moments_are_as_asked),
		cmocka_unit_test(ranges_are_kept),
		cmocka_unit_test(any_piece_is_the_same_bytes),
		cmocka_unit_test(elements_are_rounded_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
