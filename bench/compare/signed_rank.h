/* SPDX-License-Identifier: Apache-2.0 */
/* signed_rank.h - the centre of paired differences, and an interval for it, by Wilcoxon's signed ranks.
 *
 * The centre is the median of the averages of two values, each value with itself included (Hodges and
 * Lehmann, 1963). It needs 29 % of wild values to be moved far, and 5 % more values than the mean does where
 * all are normal (the median: 50 % and 57 %). Two groups of values do not make it jump from one to the other:
 * half of the averages lie between them.
 */
#ifndef BENCH_SIGNED_RANK_H
#define BENCH_SIGNED_RANK_H

#include "bench/compare/stats.h"

/* The centre of n values, and the interval between two of the averages that holds the true one with at least
 * `confidence`, where values are as likely to lie so far above it as below it. That needs no other assumption
 * on their distribution; up to 64 values it is exact, beyond it is so to a hundredth of the chance left out.
 * Where n values cannot say that much (fewer than 8 for 0.99) it is unbounded. NaN everywhere when x is empty
 * or holds a value that is not finite, or the confidence is not between 0 and 1. */
PmInterval pm_signed_rank_interval(const double *x, size_t n, double confidence);

#endif
