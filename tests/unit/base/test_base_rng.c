/* SPDX-License-Identifier: Apache-2.0 */
/* test_base_rng.c - random streams: published vectors, stability, ranges and moments. */
#include "base/core/rng.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include <cmocka.h>

static void xoshiro_gives_the_published_outputs(void **state)
{
	static const uint64_t want[] = { 11520, 0, 1509978240, 1215971899390074240ull,
					 1216172134540287360ull };
	PmRng r = { { 1, 2, 3, 4 }, 0, 0 };
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++)
		assert_true(pm_rng_u64(&r) == want[i]);
}

/* Stored tasks name seeds: a changed stream would silently change every input made from them. */
static void seeded_streams_never_change(void **state)
{
	PmRng r;

	(void)state;
	pm_rng_init(&r, 42);
	assert_true(pm_rng_u64(&r) == 0x15780b2e0c2ec716ull);
	assert_true(pm_rng_u64(&r) == 0x6104d9866d113a7eull);
	assert_true(pm_rng_u64(&r) == 0xae17533239e499a1ull);
	assert_true(pm_rng_u64(&r) == 0xecb8ad4703b360a1ull);
	pm_rng_init_named(&r, 42, "inputs");
	assert_true(pm_rng_u64(&r) == 0x801f19d5bde4786full);
	assert_true(pm_rng_u64(&r) == 0xf5280164973ceeddull);
}

static void named_streams_differ_by_name_and_by_seed(void **state)
{
	PmRng a, b, c;
	uint64_t x, y, z;

	(void)state;
	pm_rng_init_named(&a, 1, "x");
	pm_rng_init_named(&b, 1, "y");
	pm_rng_init_named(&c, 2, "x");
	x = pm_rng_u64(&a);
	y = pm_rng_u64(&b);
	z = pm_rng_u64(&c);
	assert_true(x != y && y != z && x != z);
}

static void uniform_stays_below_one_with_the_right_mean(void **state)
{
	double sum = 0;
	PmRng r;
	int i;

	(void)state;
	pm_rng_init(&r, 7);
	for (i = 0; i < 100000; i++) {
		double u = pm_rng_uniform(&r);

		assert_true(u >= 0 && u < 1);
		sum += u;
	}
	assert_true(fabs(sum / 100000 - .5) < .005);
}

static void normal_has_mean_zero_and_variance_one(void **state)
{
	double sum = 0, squares = 0;
	PmRng r;
	int i;

	(void)state;
	pm_rng_init(&r, 7);
	for (i = 0; i < 100000; i++) {
		double x = pm_rng_normal(&r);

		assert_true(isfinite(x));
		sum += x;
		squares += x * x;
	}
	assert_true(fabs(sum / 100000) < .02);
	assert_true(fabs(squares / 100000 - 1) < .02);
}

static void ranges_are_inclusive_and_even(void **state)
{
	int count[7] = { 0 };
	PmRng r;
	int i;

	(void)state;
	pm_rng_init(&r, 3);
	for (i = 0; i < 70000; i++) {
		int64_t v = pm_rng_range(&r, -3, 3);

		assert_true(v >= -3 && v <= 3);
		count[v + 3]++;
	}
	for (i = 0; i < 7; i++)
		assert_true(abs(count[i] - 10000) < 500);
	assert_true(pm_rng_range(&r, 5, 5) == 5);
	assert_true(pm_rng_range(&r, INT64_MAX, INT64_MAX) == INT64_MAX);
	/* The full range must not divide by zero, and must reach both halves. */
	for (i = 0, count[0] = 0; i < 100; i++)
		count[0] += pm_rng_range(&r, INT64_MIN, INT64_MAX) < 0;
	assert_true(count[0] > 20 && count[0] < 80);
}

static void secure_seeds_differ(void **state)
{
	(void)state;
	assert_true(pm_rng_secure_seed() != pm_rng_secure_seed());
}

/* What a part draws follows from where the stream is and from the number, and is no other part's. */
static void parts_of_a_stream_are_streams_of_their_own(void **state)
{
	enum { PARTS = 1000 };
	uint64_t first[PARTS + 1];
	double sum = 0, square = 0;
	PmRng a, b, was, part;

	(void)state;
	pm_rng_init(&a, 6);
	was = a;
	for (uint64_t k = 0; k < PARTS; k++) {
		pm_rng_part(&a, k, &part);
		b = part;
		first[k] = pm_rng_u64(&b);
		for (int i = 0; i < 100; i++) {
			double u = pm_rng_uniform(&part) - 0.5;

			sum += u;
			square += u * u;
		}
		for (uint64_t j = 0; j < k; j++)
			assert_true(first[j] != first[k]);
	}
	assert_memory_equal(&a, &was, sizeof a);
	/* Six standard deviations of the mean and of the mean square of 100,000. */
	assert_true(fabs(sum) < 6 * sqrt(1e5 / 12));
	assert_true(fabs(square - 1e5 / 12) < 6 * sqrt(1e5 / 180));
	pm_rng_u64(&a);
	pm_rng_part(&a, 0, &part);
	assert_true(pm_rng_u64(&part) != first[0]);
}

/* What an evaluation draws hangs on these numbers: they change with PM_VERSION alone. */
static void parts_of_a_stream_never_change(void **state)
{
	PmRng a, part;

	(void)state;
	pm_rng_init(&a, 1);
	pm_rng_part(&a, 2, &part);
	assert_true(pm_rng_u64(&part) == 0xa57d83d261e60bb5ull);
}

/* Spans for which many words are drawn again: the number of words taken and the rest are those of the
 * textbook. */
static void ranges_are_what_they_were(void **state)
{
	static const uint64_t spans[] = {
		1, 2, 3, 10, 1ull << 32, (1ull << 63) - 1, (1ull << 63) + 1, 3ull << 62, UINT64_MAX
	};
	PmRng a, b;

	(void)state;
	pm_rng_init(&a, 77);
	b = a;
	for (int k = 0; k < 9000; k++) {
		uint64_t span = spans[k % 9], last = UINT64_MAX - (UINT64_MAX % span + 1) % span, x;

		do
			x = pm_rng_u64(&a);
		while (x > last);
		assert_true(pm_rng_range(&b, INT64_MIN, (int64_t)((uint64_t)INT64_MIN + span - 1)) ==
			    (int64_t)((uint64_t)INT64_MIN + x % span));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_a_stream_are_streams_of_their_own),
		cmocka_unit_test(parts_of_a_stream_never_change),
		cmocka_unit_test(ranges_are_what_they_were),
		cmocka_unit_test(xoshiro_gives_the_published_outputs),
		cmocka_unit_test(seeded_streams_never_change),
		cmocka_unit_test(named_streams_differ_by_name_and_by_seed),
		cmocka_unit_test(uniform_stays_below_one_with_the_right_mean),
		cmocka_unit_test(normal_has_mean_zero_and_variance_one),
		cmocka_unit_test(ranges_are_inclusive_and_even),
		cmocka_unit_test(secure_seeds_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
