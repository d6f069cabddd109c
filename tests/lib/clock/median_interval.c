/* SPDX-License-Identifier: Apache-2.0 */
/* median_interval.c - an interval for a median, by order statistics. */
#include "tests/lib/clock/median_interval.h"

#include "base/core/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest k for which at most k - 1 of n fair coins show heads with a chance of `tail` at most; 0 = none.
 * Chances are summed as shares of 2^n, in logarithms: 2^-800 is no double. */
static size_t binomial_rank(size_t n, double tail)
{
	double log_share = -(double)n * log(2), sum = 0;
	size_t k = 0;

	for (; k < n / 2; k++) {
		sum += exp(log_share);
		if (sum > tail)
			break;
		log_share += log((double)(n - k)) - log((double)k + 1);
	}
	return k;
}

PmInterval test_median_interval(const double *x, size_t n, double confidence)
{
	PmInterval out = { NAN, NAN, NAN };
	double *sorted;
	size_t k;

	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return out;
	if (n == 0 || !(confidence > 0 && confidence < 1))
		return out;
	sorted = pm_xcalloc(n, sizeof *sorted);
	memcpy(sorted, x, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, pm_ascending);
	k = binomial_rank(n, (1 - confidence) / 2);
	out.point = pm_median(x, n);
	out.lo = k ? sorted[k - 1] : -INFINITY;
	out.hi = k ? sorted[n - k] : INFINITY;
	free(sorted);
	return out;
}
