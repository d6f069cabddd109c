/* SPDX-License-Identifier: Apache-2.0 */
/* signed_rank.c - the centre of paired differences, and an interval for it, by Wilcoxon's signed ranks. */
#include "bench/compare/signed_rank.h"

#include "base/core/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT = 64 }; /* values up to which the chances of sums of ranks are summed one by one */

static double average(double a, double b)
{
	return a / 2 + b / 2;
}

/* How many averages of two of the n ascending values are at most t; *largest (may be NULL) = the largest of
 * these. */
static size_t at_most(const double *x, size_t n, double t, double *largest)
{
	size_t found = 0, end = n; /* x[i] with x[end - 1] and all before it */

	for (size_t i = 0; i < n; i++) {
		while (end > i && average(x[i], x[end - 1]) > t)
			end--;
		if (end <= i)
			break;
		found += end - i;
		if (largest && (i == 0 || average(x[i], x[end - 1]) > *largest))
			*largest = average(x[i], x[end - 1]);
	}
	return found;
}

/* Average number k from below, counted from 1. */
static double nth_average(const double *x, size_t n, size_t k)
{
	double lo = x[0], hi = x[n - 1], found = x[0];

	while (at_most(x, n, lo, NULL) < k) {
		double mid = average(lo, hi);

		if (mid <= lo || mid >= hi || hi - lo < 1e-16 * (x[n - 1] - x[0]))
			break;
		if (at_most(x, n, mid, NULL) < k)
			lo = mid;
		else
			hi = mid;
	}
	if (at_most(x, n, lo, &found) < k)
		at_most(x, n, hi, &found);
	return found;
}

/* Ways to choose some of the numbers 1 to n: chance[t] = that a coin for each makes the sum t. */
static size_t exact_rank(size_t n, double tail)
{
	size_t most = n * (n + 1) / 2, rank = 0;
	double *chance = pm_xcalloc(most + 1, sizeof *chance), sum = 0;

	chance[0] = 1;
	for (size_t i = 1, top = 0; i <= n; i++) {
		top += i;
		for (size_t t = top + 1; t-- > 0;)
			chance[t] = chance[t] / 2 + (t >= i ? chance[t - i] / 2 : 0);
	}
	while (rank <= most && (sum += chance[rank]) <= tail)
		rank++;
	free(chance);
	return rank;
}

/* The largest r for which the sum of the ranks of the values above the centre is below r with a chance of
 * `tail` at most; 0 = none. The sum varies `wider` times as much as that of independent values. */
static size_t rank_of(size_t n, double tail, double wider)
{
	double m = (double)n, edge;

	if (n <= EXACT && wider <= 1)
		return exact_rank(n, tail);
	edge = m * (m + 1) / 4 - pm_normal_quantile(tail) * sqrt(wider * m * (m + 1) * (2 * m + 1) / 24) +
	       0.5;
	return edge > 0 ? (size_t)edge : 0;
}

/* --- values that hang together --------------------------------------------------------------------------
 */

typedef struct Far {
	double x; /* from the centre */
	size_t at;
} Far;

static int nearest_first(const void *a, const void *b)
{
	double x = fabs(((const Far *)a)->x), y = fabs(((const Far *)b)->x);

	return (x > y) - (x < y);
}

/* score[i] = the rank of value i by how far it is from the centre, with the sign of the side; equal ones
 * share. */
static void rank_scores(const double *x, size_t n, double centre, double *score)
{
	Far *f = pm_xcalloc(n, sizeof *f);

	for (size_t i = 0; i < n; i++)
		f[i] = (Far){ x[i] - centre, i };
	qsort(f, n, sizeof *f, nearest_first);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && fabs(f[end].x) == fabs(f[i].x);)
			end++;
		for (size_t k = i; k < end; k++)
			score[f[k].at] = ((double)(f[k].x > 0) - (double)(f[k].x < 0)) *
					 ((double)(i + end + 1) / 2);
	}
	free(f);
}

static double products(const double *score, size_t n, size_t lag)
{
	double sum = 0;

	for (size_t i = lag; i < n; i++)
		sum += score[i] * score[i - lag];
	return sum;
}

/* How many times as much a sum of the scores varies as one of independent values: 1 and twice the
 * correlations of neighbours, from the nearest on as long as they are positive; when that of the nearest is
 * not above what chance makes of independent ones (two deviations), 1. */
static double dependence(const double *x, size_t n, double centre)
{
	double *score = pm_xcalloc(n, sizeof *score), all, sum = 1, r;

	rank_scores(x, n, centre, score);
	all = products(score, n, 0);
	for (size_t lag = 1; lag <= n / 4 && all > 0; lag++) {
		r = products(score, n, lag) / all;
		if (!(r > (lag == 1 ? 2 / sqrt((double)n) : 0)))
			break;
		sum += 2 * r;
	}
	free(score);
	return sum;
}

PmInterval pm_signed_rank_interval(const double *x, size_t n, double confidence)
{
	PmInterval out = { NAN, NAN, NAN };
	size_t all = n * (n + 1) / 2, r;
	double *s;

	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return out;
	if (n == 0 || !(confidence > 0 && confidence < 1))
		return out;
	s = pm_xcalloc(n, sizeof *s);
	memcpy(s, x, n * sizeof *s);
	qsort(s, n, sizeof *s, pm_ascending);
	out.point = average(nth_average(s, n, (all + 1) / 2), nth_average(s, n, all / 2 + 1));
	r = rank_of(n, (1 - confidence) / 2, dependence(x, n, out.point));
	out.lo = r ? nth_average(s, n, r) : -INFINITY;
	out.hi = r ? nth_average(s, n, all + 1 - r) : INFINITY;
	free(s);
	return out;
}
