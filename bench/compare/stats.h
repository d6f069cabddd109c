/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - order statistics of timing samples, decimal rounding, and an interval for a ratio of medians.
 *
 * All functions are total: an empty sample, or one that holds a NaN, gives NaN results, never a crash.
 * Sources: quartiles, rounding and the stability rule reproduce section 8 of the PassNet / GraphNet
 * scoring semantics (see docs/reference/scoring.md); the bootstrap interval is ours.
 */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include "base/core/rng.h"

#include <stddef.h>

typedef struct PmStats {
	size_t n;
	double median, q1, q3, iqr, mean, std, min, max; /* std divides by n (population) */
} PmStats;

/* Orders doubles for qsort; a NaN is equal to everything. */
int pm_ascending(const void *a, const void *b);
/* Quantile q in [0, 1] of n ascending values, interpolated linearly at position (n - 1) q. */
double pm_quantile_sorted(const double *sorted, size_t n, double q);
/* Median of n values in any order. */
double pm_median(const double *x, size_t n);
/* All of PmStats, unrounded. */
void pm_stats(const double *x, size_t n, PmStats *out);

/* x rounded to `digits` significant decimal digits (1..17), ties by the exact binary value as printf does. */
double pm_round_sig(double x, int digits);
/* `in` with every figure rounded to 6 significant digits, as the reference prints them. */
void pm_stats_round6(const PmStats *in, PmStats *out);
/* 1 when the reference calls the sample unstable: median > 0 and iqr / median > threshold, on unrounded
 * figures and in plain double arithmetic. The reference's default threshold is PM_UNSTABLE_IQR. */
#define PM_UNSTABLE_IQR 0.2
int pm_stats_unstable(const PmStats *s, double threshold);

/* Speedup exactly as the reference records it: the quotient of two (already rounded) medians printed with
 * 5 decimals and read back. 0 for anything below 0.000005. */
double pm_speedup_printed(double baseline_median, double candidate_median);

typedef struct PmInterval {
	double point, lo, hi;
} PmInterval;

/* Percentile bootstrap interval of median(num) / median(den) at `confidence` (0.95): both samples are
 * resampled with replacement `reps` times from `rng`. NaN everywhere when a sample is empty, holds a
 * non-finite or non-positive value, or reps is 0. Treats elements as independent: pass one figure per
 * process or block, not every trial, when trials share a process. */
PmInterval pm_bootstrap_ratio(const double *num, size_t n_num, const double *den, size_t n_den, size_t reps,
			      double confidence, PmRng *rng);

/* The mean, and Student's interval for that of the distribution. Unbounded where n is below 8; NaN everywhere
 * when x is empty or holds a value that is not finite. */
PmInterval pm_mean_interval(const double *x, size_t n, double confidence);
/* How many deviations from its mean a normal distribution leaves `tail` (0 to 0.5, not 0) above. */
double pm_normal_quantile(double tail);

#endif
