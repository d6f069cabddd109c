/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - figures over many problems: fast_p, pass@k and its relatives, mean speedups.
 *
 * n problems; c_i = 1 when problem i is solved correctly; s_i = baseline time / candidate time. All
 * functions are total. A speedup that is not finite and positive, on a correct item, counts as 1 in the
 * means and is never fast: correct but not measured. No items give NaN: a share of nothing has no value.
 */
#ifndef BENCH_METRICS_H
#define BENCH_METRICS_H

#include "base/core/rng.h"
#include "bench/compare/stats.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmItem {
	int correct;
	int matched; /* the pass changed the graph; without it a speedup is noise and never counts as fast */
	double speedup;
} PmItem;

/* Share of items that are correct, matched and have s > p, strictly (KernelBench). p <= 0 gives the share
 * of correct items. The usual list is pm_fast_p_levels. */
double pm_fast_p(const PmItem *item, size_t n, double p);
enum { PM_N_FAST_P = 6 };
extern const double pm_fast_p_levels[PM_N_FAST_P]; /* 0, 0.5, 0.8, 1, 1.5, 2 */

/* Probability that at least one of k samples, drawn without replacement from n of which c are good, is
 * good: 1 - C(n - c, k) / C(n, k) (the unbiased pass@k estimator). "good" = correct gives pass@k, = it
 * compiles gives compile@k, = correct and s > p gives fast_p@k. NaN unless 0 <= c <= n and 1 <= k <= n. */
double pm_at_k(int64_t n, int64_t c, int64_t k);

/* Samples of one problem, counted. */
typedef struct PmSampleCount {
	int64_t n, c;
} PmSampleCount;
/* Mean of pm_at_k over problems; a problem with fewer than k samples makes it NaN. */
double pm_mean_at_k(const PmSampleCount *problem, size_t n_problems, int64_t k);

/* Means of speedups. Arithmetic means of ratios follow the outliers: print them only beside the geometric
 * ones. "lazy" means that the user keeps the baseline where the candidate is wrong or slower. */
typedef struct PmMeans {
	size_t n, n_correct;
	double am_correct; /* sum c s / n_c; NaN when nothing is correct */
	double am;         /* sum c s / n */
	double am_lazy;    /* sum max(c s, 1) / n */
	double gm_correct; /* (prod over correct of s)^(1 / n_c); NaN when nothing is correct */
	double gm;         /* the same product ^(1 / n): a wrong answer counts as 1 */
	double gm_lazy;    /* (prod max(c s, 1))^(1 / n) */
	double sgm;        /* (n_c / n) gm_correct; 0 when nothing is correct */
} PmMeans;
/* All means of n items, each of weight 1 (c = 1 where the item is correct, else 0). */
void pm_means(const PmItem *item, size_t n, PmMeans *out);

/* The best of one problem's samples: of the correct ones that with the greatest speedup, where one that did
 * not match or was not measured counts as 1. It is given back with that speedup. Not correct when none is, or
 * n is 0. */
PmItem pm_best_item(const PmItem *samples, size_t n);

/* A share c / n with its 95 % interval by Wilson (1927): the shares p for which c is within 1.96 deviations
 * of n p. It stays within 0 and 1, and has a width where c is 0 or n, as a bootstrap over problems has not.
 * NaN for no problems.
 */
PmInterval pm_wilson(size_t c, size_t n);

/* Percentile bootstrap interval of exp(mean(log v)) over n positive values, resampling problems. */
PmInterval pm_bootstrap_gmean(const double *v, size_t n, size_t reps, double confidence, PmRng *rng);

/* METR's average speedup over n problems, of the best item of each (pm_best_item): (prod max(1, c s))^(1/n),
 * with the bootstrap's 95 % interval by 1000 draws from a seed that is n. NaN for no problems. */
PmInterval pm_average_speedup(const PmItem *best, size_t n);

#endif
