/* SPDX-License-Identifier: Apache-2.0 */
/* test_signed_rank.c - the centre of paired differences and its interval. */
#include "bench/compare/signed_rank.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 400 };

/* All averages of two, sorted. */
static size_t averages(const double *x, size_t n, double *out)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			out[k++] = x[i] / 2 + x[j] / 2;
	qsort(out, k, sizeof *out, pm_ascending);
	return k;
}

static void points_and_ends_are_averages_of_two(void **state)
{
	/* Critical values of Wilcoxon's signed ranks, two-sided 1 %, by tables: 8: 0, 10: 3, 16: 19, 20: 37.
	 */
	static const size_t n[] = { 8, 10, 16, 20 }, critical[] = { 0, 3, 19, 37 };
	double x[20], all[210];
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 3);
	for (int round = 0; round < 50; round++)
		for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
			PmInterval v;
			size_t m;

			for (size_t i = 0; i < n[k]; i++) /* coarse: many are equal */
				x[i] = floor(4 * pm_rng_normal(&rng)) * (i % 2 ? 1 : -1);
			m = averages(x, n[k], all);
			v = pm_signed_rank_interval(x, n[k], 0.99);
			assert_true(v.point == all[(m - 1) / 2] / 2 + all[m / 2] / 2);
			if (v.lo != all[critical[k]]) { /* wider where neighbours hang together */
				assert_true(v.lo <= all[critical[k]] && v.hi >= all[m - 1 - critical[k]]);
				continue;
			}
			assert_true(v.hi == all[m - 1 - critical[k]]);
		}
}

static void what_cannot_be_said_is_not(void **state)
{
	double x[8] = { 1, 2, 3, 4, 5, 6, 7, NAN };
	PmInterval v = pm_signed_rank_interval(x, 7, 0.99);

	(void)state;
	assert_true(v.point == 4 && v.lo == -INFINITY && v.hi == INFINITY);
	assert_true(isnan(pm_signed_rank_interval(x, 8, 0.99).point));
	assert_true(isnan(pm_signed_rank_interval(x, 0, 0.99).point));
	assert_true(isnan(pm_signed_rank_interval(x, 7, 1).lo));
	x[7] = 8;
	assert_true(pm_signed_rank_interval(x, 8, 0.99).hi == 8);
	for (int i = 0; i < 8; i++)
		x[i] = 0;
	v = pm_signed_rank_interval(x, 8, 0.99);
	assert_true(v.point == 0 && v.lo == 0 && v.hi == 0);
}

/* 20 of 2,000 miss where it is 1 in 100; above 36 is a chance of 1 in 1,000. */
static void the_centre_is_held(void **state)
{
	static const size_t size[] = { 16, 64, 65, MOST };
	double x[MOST];
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 9);
	for (size_t k = 0; k < 4; k++)
		for (int kind = 0; kind < 3; kind++) {
			int misses = 0;

			for (int i = 0; i < 2000; i++) {
				PmInterval v;

				for (size_t j = 0; j < size[k]; j++) {
					x[j] = pm_rng_normal(&rng);
					if (kind == 1) /* no mean at all */
						x[j] /= pm_rng_normal(&rng);
					if (kind == 2) /* two groups, nothing between */
						x[j] = 0.01 * x[j] + (pm_rng_uniform(&rng) < 0.5 ? 1 : -1);
				}
				v = pm_signed_rank_interval(x, size[k], 0.99);
				misses += v.lo > 0 || v.hi < 0;
				assert_true(v.lo <= v.point && v.point <= v.hi);
			}
			if (misses > 36)
				fail_msg("%zu values of kind %d: %d of 2000 miss", size[k], kind, misses);
		}
}

/* Neighbours that hang together say less: as many misses as of values that do not, or little more. */
static void neighbours_that_hang_together_widen_it(void **state)
{
	double x[MOST];
	int misses = 0;
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 10);
	for (int i = 0; i < 1000; i++) {
		PmInterval v;
		double level = pm_rng_normal(&rng);

		for (int j = 0; j < MOST; j++)
			x[j] = level = 0.8 * level + 0.6 * pm_rng_normal(&rng);
		v = pm_signed_rank_interval(x, MOST, 0.99);
		misses += v.lo > 0 || v.hi < 0;
	}
	if (misses > 40) /* by theory 390, were they taken for independent: three times the deviation */
		fail_msg("%d of 1000 miss", misses);
}

/* Half of the averages of two groups lie between them: it does not jump to either. */
static void two_groups_do_not_make_it_jump(void **state)
{
	double x[MOST], median = 0, centre = 0;
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 11);
	for (int i = 0; i < 100; i++) {
		for (int j = 0; j < MOST; j++)
			x[j] = 0.01 * pm_rng_normal(&rng) + (pm_rng_uniform(&rng) < 0.5 ? 0.08 : -0.08);
		median = fmax(median, fabs(pm_median(x, MOST)));
		centre = fmax(centre, fabs(pm_signed_rank_interval(x, MOST, 0.99).point));
	}
	assert_true(median > 0.05);
	assert_true(centre < 0.006);
}

static void means_have_students_interval(void **state)
{
	double x[20];
	PmInterval v;

	(void)state;
	for (int i = 0; i < 20; i++)
		x[i] = i;
	v = pm_mean_interval(x, 20, 0.99);
	/* 9.5, deviation 5.9161, quantile of 19 degrees 2.8609 */
	assert_true(v.point == 9.5 && fabs(v.hi - (9.5 + 2.8609 * 5.9161 / sqrt(20))) < 0.01);
	assert_true(fabs(v.lo + v.hi - 19) < 1e-12);
	assert_true(pm_mean_interval(x, 7, 0.99).hi == INFINITY);
	assert_true(isnan(pm_mean_interval(x, 0, 0.99).point));
	assert_true(fabs(pm_normal_quantile(0.025) - 1.959964) < 1e-6);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_and_ends_are_averages_of_two),
		cmocka_unit_test(what_cannot_be_said_is_not),
		cmocka_unit_test(the_centre_is_held),
		cmocka_unit_test(neighbours_that_hang_together_widen_it),
		cmocka_unit_test(two_groups_do_not_make_it_jump),
		cmocka_unit_test(means_have_students_interval),
	};

	return cmocka_run_group_tests_name("signed_rank", tests, NULL, NULL);
}
