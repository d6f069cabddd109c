/* SPDX-License-Identifier: Apache-2.0 */
/* test_metrics.c - fast_p, pass@k, mean speedups, order statistics and bootstrap intervals. */
#include "bench/score/metrics.h"
#include "tests/lib/clock/median_interval.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdint.h>

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 * fabs(want)))
		fail_msg("%.17g is not %.17g", got, want);
}

static void fast_p_is_strict_and_needs_a_match(void **state)
{
	PmItem it[5] = { { 1, 1, 2 }, { 1, 1, 1 }, { 1, 0, 5 }, { 0, 1, 9 }, { 1, 1, NAN } };

	(void)state;
	near(pm_fast_p(it, 5, 0), 4.0 / 5);
	near(pm_fast_p(it, 5, 0.5), 2.0 / 5);
	near(pm_fast_p(it, 5, 1), 1.0 / 5); /* exactly 1 is not fast, nor is an unmatched 5 */
	assert_true(pm_fast_p(it, 5, 2) == 0);
	assert_true(isnan(pm_fast_p(it, 0, 1)));
}

/* Counts by brute force the k-subsets of n samples that hold a good one (the first c are good). */
static double at_k_by_counting(int n, int c, int k)
{
	int hits = 0, all = 0;

	for (uint32_t set = 0; set < 1u << n; set++) {
		int size = 0;

		for (int i = 0; i < n; i++)
			size += set >> i & 1;
		all += size == k;
		hits += size == k && (set & ((1u << c) - 1));
	}
	return (double)hits / all;
}

static void at_k_is_the_share_of_subsets_with_a_good_sample(void **state)
{
	(void)state;
	for (int n = 1; n <= 9; n++) {
		for (int c = 0; c <= n; c++) {
			for (int k = 1; k <= n; k++) {
				double want = at_k_by_counting(n, c, k), got = pm_at_k(n, c, k);

				if (fabs(got - want) > 1e-12)
					fail_msg("n=%d c=%d k=%d: %.17g is not %.17g", n, c, k, got, want);
			}
		}
	}
	near(pm_at_k(1000000, 3, 1), 3e-6);
	assert_true(isnan(pm_at_k(5, 6, 1)) && isnan(pm_at_k(5, 1, 6)) && isnan(pm_at_k(5, -1, 1)));
	assert_true(isnan(pm_at_k(5, 1, 0)));
}

static void mean_at_k_needs_k_samples_everywhere(void **state)
{
	PmSampleCount p[2] = { { 4, 1 }, { 4, 4 } };

	(void)state;
	near(pm_mean_at_k(p, 2, 1), (0.25 + 1) / 2);
	p[1].n = p[1].c = 1;
	assert_true(isnan(pm_mean_at_k(p, 2, 2)));
	assert_true(isnan(pm_mean_at_k(p, 0, 1)));
}

static void means_follow_their_formulas(void **state)
{
	PmItem it[4] = { { 1, 1, 4 }, { 1, 1, 0.5 }, { 0, 1, 100 }, { 1, 1, INFINITY } };
	PmMeans m;

	(void)state;
	pm_means(it, 4, &m);
	assert_int_equal(m.n_correct, 3);
	near(m.am_correct, 5.5 / 3);
	near(m.am, 5.5 / 4);
	near(m.am_lazy, (4.0 + 1 + 1 + 1) / 4);
	near(m.gm_correct, cbrt(2));
	near(m.gm, pow(2, 0.25));
	near(m.gm_lazy, pow(4, 0.25));
	near(m.sgm, 0.75 * cbrt(2));
	pm_means(&it[2], 1, &m);
	assert_true(isnan(m.gm_correct) && m.sgm == 0 && m.gm == 1);
	pm_means(it, 0, &m);
	assert_true(isnan(m.gm) && m.n == 0);
}

static void best_of_k_has_a_floor_of_one(void **state)
{
	PmItem it[4] = { { 1, 1, 2 }, { 0, 1, 50 }, { 1, 1, 0.1 }, { 0, 1, 3 } }, best[2];

	(void)state;
	best[0] = pm_best_item(it, 2);
	best[1] = pm_best_item(it + 2, 2);
	near(pm_average_speedup(best, 2).point, sqrt(2));
	assert_true(pm_average_speedup(best, 2).lo >= 1 && pm_average_speedup(best, 2).hi <= 2);
	assert_true(isnan(pm_average_speedup(best, 0).point));
}

static void odd_samples_have_no_statistics(void **state)
{
	double x[3] = { 1, NAN, 2 };
	PmStats s;

	(void)state;
	pm_stats(x, 3, &s);
	assert_true(isnan(s.median) && isnan(s.max) && !pm_stats_unstable(&s, 0.2));
	pm_stats(x, 0, &s);
	assert_true(isnan(s.median) && isnan(pm_median(x, 0)) && isnan(pm_quantile_sorted(x, 3, 1.5)));
	assert_true(isnan(pm_speedup_printed(0, 0)) && isinf(pm_speedup_printed(1, 0)));
	assert_true(pm_round_sig(1234567, 3) == 1230000 && pm_round_sig(-0.00012345, 2) == -0.00012);
	assert_true(isinf(pm_round_sig(INFINITY, 3)));
}

static void the_interval_holds_the_ratio_and_is_repeatable(void **state)
{
	double a[40], b[40];
	PmRng rng;
	PmInterval one, two, flat;
	int covered = 0;

	(void)state;
	/* the 95 % interval of a true ratio of 2 misses it about once in twenty */
	for (uint64_t seed = 1; seed <= 60; seed++) {
		PmInterval iv;

		pm_rng_init(&rng, seed);
		for (int i = 0; i < 40; i++) {
			a[i] = 2 * exp(0.05 * pm_rng_normal(&rng));
			b[i] = exp(0.05 * pm_rng_normal(&rng));
		}
		iv = pm_bootstrap_ratio(a, 40, b, 40, 300, 0.95, &rng);
		assert_true(iv.lo <= iv.point && iv.point <= iv.hi && iv.hi / iv.lo < 1.2);
		covered += iv.lo <= 2 && 2 <= iv.hi;
	}
	assert_in_range(covered, 50, 60);
	pm_rng_init(&rng, 3);
	one = pm_bootstrap_ratio(a, 40, b, 40, 200, 0.9, &rng);
	pm_rng_init(&rng, 3);
	two = pm_bootstrap_ratio(a, 40, b, 40, 200, 0.9, &rng);
	assert_true(one.lo == two.lo && one.hi == two.hi);
	flat = pm_bootstrap_ratio((double[]){ 6, 6 }, 2, (double[]){ 3 }, 1, 50, 0.95, &rng);
	assert_true(flat.lo == 2 && flat.hi == 2);
	a[0] = -1;
	assert_true(isnan(pm_bootstrap_ratio(a, 40, b, 40, 10, 0.95, &rng).lo));
	assert_true(isnan(pm_bootstrap_ratio(b, 0, b, 40, 10, 0.95, &rng).point));
	assert_true(isnan(pm_bootstrap_ratio(b, 40, b, 40, 0, 0.95, &rng).point));
}

static void the_interval_of_a_geometric_mean(void **state)
{
	double v[3] = { 1, 2, 4 }, bad[2] = { 1, 0 };
	PmRng rng;
	PmInterval iv;

	(void)state;
	pm_rng_init(&rng, 1);
	iv = pm_bootstrap_gmean(v, 3, 500, 0.95, &rng);
	near(iv.point, 2);
	assert_true(iv.lo >= 1 && iv.lo < 2 && iv.hi > 2 && iv.hi <= 4 + 1e-12);
	assert_true(isnan(pm_bootstrap_gmean(bad, 2, 500, 0.95, &rng).point));
}

/* The interval holds the true median as often as it says, of a skewed distribution too, and of few values. */
static void intervals_of_medians_hold_the_true_one(void **state)
{
	static const size_t size[] = { 8, 15, 40, 333 };
	double x[333];
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 7);
	for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
		int misses = 0;

		for (int i = 0; i < 2000; i++) {
			PmInterval v;

			for (size_t j = 0; j < size[k]; j++)
				x[j] = exp(pm_rng_normal(&rng));
			v = test_median_interval(x, size[k], 0.99);
			misses += v.lo > 1 || v.hi < 1;
			assert_true(v.lo <= v.point && v.point <= v.hi);
		}
		if (misses > 31) /* of 20 expected at most: 1 in 100 */
			fail_msg("%zu values: %d of 2000 intervals miss", size[k], misses);
	}
	/* By tables of the binomial distribution: the 3rd of 15, the 1st of 8. */
	for (int j = 0; j < 15; j++)
		x[j] = 14 - j;
	assert_true(test_median_interval(x, 15, 0.99).lo == 2 && test_median_interval(x, 15, 0.99).hi == 12);
	assert_true(test_median_interval(x, 8, 0.99).lo == 7 && test_median_interval(x, 8, 0.99).hi == 14);
	assert_true(isinf(test_median_interval(x, 7, 0.99).lo) && isinf(test_median_interval(x, 7, 0.99).hi));
	assert_true(isnan(test_median_interval(x, 0, 0.99).point));
	x[3] = NAN;
	assert_true(isnan(test_median_interval(x, 15, 0.99).lo));
}

static void best_item_needs_a_right_answer_and_a_match(void **state)
{
	PmItem it[4] = { { 0, 1, 9 }, { 1, 0, 5 }, { 1, 1, 2 }, { 1, 1, NAN } };

	(void)state;
	near(pm_best_item(it, 4).speedup, 2); /* neither the wrong 9 nor the unmatched 5 */
	assert_true(!pm_best_item(it, 1).correct && !pm_best_item(it, 0).correct);
	near(pm_best_item(it, 2).speedup, 1);
	assert_true(!pm_best_item(it, 2).matched && pm_best_item(it, 4).matched);
	near(pm_best_item(it + 3, 1).speedup, 1);
}

/* The ends are the roots of (c - n p)^2 = z^2 n p (1 - p), by another way than the function's. */
static void wilson_ends_are_z_deviations_off(void **state)
{
	const double zz = 3.8414588206941245;

	(void)state;
	for (size_t n = 1; n < 40; n++)
		for (size_t c = 0; c <= n; c++) {
			PmInterval w = pm_wilson(c, n);
			const double ends[2] = { w.lo, w.hi };

			near(w.point, (double)c / (double)n);
			assert_true(w.lo >= 0 && w.lo <= w.point && w.point <= w.hi && w.hi <= 1 &&
				    w.lo < w.hi);
			for (int k = 0; k < 2; k++) {
				double d = (double)c - (double)n * ends[k];

				if (ends[k] > 0 && ends[k] < 1)
					assert_true(fabs(d * d / (zz * (double)n * ends[k] * (1 - ends[k])) -
							 1) < 1e-9);
			}
		}
	assert_true(pm_wilson(0, 9).lo == 0 && pm_wilson(9, 9).hi == 1);
	assert_true(fabs(pm_wilson(1, 2).lo - 0.09453120573423) < 1e-13); /* (1 - sqrt(zz / (zz + 2))) / 2 */
	assert_true(isnan(pm_wilson(0, 0).point) && isnan(pm_wilson(2, 1).lo));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_of_medians_hold_the_true_one),
		cmocka_unit_test(fast_p_is_strict_and_needs_a_match),
		cmocka_unit_test(at_k_is_the_share_of_subsets_with_a_good_sample),
		cmocka_unit_test(mean_at_k_needs_k_samples_everywhere),
		cmocka_unit_test(means_follow_their_formulas),
		cmocka_unit_test(best_of_k_has_a_floor_of_one),
		cmocka_unit_test(best_item_needs_a_right_answer_and_a_match),
		cmocka_unit_test(wilson_ends_are_z_deviations_off),
		cmocka_unit_test(odd_samples_have_no_statistics),
		cmocka_unit_test(the_interval_holds_the_ratio_and_is_repeatable),
		cmocka_unit_test(the_interval_of_a_geometric_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
