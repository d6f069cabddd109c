/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - order statistics of timing samples, decimal rounding, and an interval for a ratio of medians. */
#include "bench/compare/stats.h"

#include "base/core/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STUDENT_LEAST = 8 }; /* values of which a mean has an interval */

int pm_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int has_nan(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (isnan(x[i]))
			return 1;
	}
	return 0;
}

/* Returns an owned ascending copy, or NULL when there is nothing that can be ordered. */
static double *sorted_copy(const double *x, size_t n)
{
	double *s;

	if (n == 0 || has_nan(x, n))
		return NULL;
	s = pm_xcalloc(n, sizeof *s);
	memcpy(s, x, n * sizeof *s);
	qsort(s, n, sizeof *s, pm_ascending);
	return s;
}

double pm_quantile_sorted(const double *sorted, size_t n, double q)
{
	double pos, part, lo, hi, step;
	size_t i;

	if (n == 0 || !(q >= 0 && q <= 1))
		return NAN;
	pos = q * (double)(n - 1);
	i = (size_t)pos;
	if (i + 1 >= n)
		return sorted[n - 1];
	part = pos - (double)i;
	lo = sorted[i];
	hi = sorted[i + 1];
	if (part <= 0 || lo == hi)
		return lo;
	/* Interpolate from the nearer end: the published figures depend on this rounding. */
	step = (hi - lo) * (part < 0.5 ? part : 1 - part);
	return part < 0.5 ? lo + step : hi - step;
}

static double median_sorted(const double *s, size_t n)
{
	return n % 2 ? s[n / 2] : s[n / 2 - 1] / 2 + s[n / 2] / 2;
}

double pm_median(const double *x, size_t n)
{
	double *s = sorted_copy(x, n), m = s ? median_sorted(s, n) : NAN;

	free(s);
	return m;
}

void pm_stats(const double *x, size_t n, PmStats *out)
{
	double *s = sorted_copy(x, n), sum = 0, lost = 0, var = 0;

	*out = (PmStats){ n, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	if (!s)
		return;
	out->median = median_sorted(s, n);
	out->q1 = pm_quantile_sorted(s, n, 0.25);
	out->q3 = pm_quantile_sorted(s, n, 0.75);
	out->iqr = out->q3 - out->q1;
	out->min = s[0];
	out->max = s[n - 1];
	for (size_t i = 0; i < n; i++) {
		/* compensated: the mean must not depend on the order of a long sample */
		double y = s[i] - lost, t = sum + y;

		lost = (t - sum) - y;
		sum = t;
	}
	out->mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		var += (s[i] - out->mean) * (s[i] - out->mean);
	out->std = sqrt(var / (double)n);
	free(s);
}

double pm_round_sig(double x, int digits)
{
	char text[48];

	if (!isfinite(x) || digits < 1 || digits > 17)
		return x;
	snprintf(text, sizeof text, "%.*e", digits - 1, x);
	return strtod(text, NULL);
}

void pm_stats_round6(const PmStats *in, PmStats *out)
{
	*out = (PmStats){
		in->n,
		pm_round_sig(in->median, 6),
		pm_round_sig(in->q1, 6),
		pm_round_sig(in->q3, 6),
		pm_round_sig(in->iqr, 6),
		pm_round_sig(in->mean, 6),
		pm_round_sig(in->std, 6),
		pm_round_sig(in->min, 6),
		pm_round_sig(in->max, 6),
	};
}

int pm_stats_unstable(const PmStats *s, double threshold)
{
	return s->median > 0 && s->iqr / s->median > threshold;
}

double pm_speedup_printed(double baseline_median, double candidate_median)
{
	double s = baseline_median / candidate_median;
	char text[400];

	if (!isfinite(s))
		return s;
	snprintf(text, sizeof text, "%.5f", s);
	return strtod(text, NULL);
}

static int all_positive(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!(x[i] > 0) || !isfinite(x[i]))
			return 0;
	}
	return n > 0;
}

/* Median of n draws with replacement from x; `work` has room for n. */
static double resampled_median(const double *x, size_t n, double *work, PmRng *rng)
{
	for (size_t i = 0; i < n; i++)
		work[i] = x[pm_rng_range(rng, 0, (int64_t)n - 1)];
	qsort(work, n, sizeof *work, pm_ascending);
	return median_sorted(work, n);
}

PmInterval pm_bootstrap_ratio(const double *num, size_t n_num, const double *den, size_t n_den, size_t reps,
			      double confidence, PmRng *rng)
{
	PmInterval out = { NAN, NAN, NAN };
	double *ratio = NULL, *work = NULL, tail = (1 - confidence) / 2;

	if (!all_positive(num, n_num) || !all_positive(den, n_den) || reps == 0 ||
	    !(tail >= 0 && tail <= 0.5))
		return out;
	ratio = pm_xcalloc(reps, sizeof *ratio);
	work = pm_xcalloc(n_num > n_den ? n_num : n_den, sizeof *work);
	for (size_t r = 0; r < reps; r++) {
		double top = resampled_median(num, n_num, work, rng);

		ratio[r] = top / resampled_median(den, n_den, work, rng);
	}
	qsort(ratio, reps, sizeof *ratio, pm_ascending);
	out.point = pm_median(num, n_num) / pm_median(den, n_den);
	out.lo = pm_quantile_sorted(ratio, reps, tail);
	out.hi = pm_quantile_sorted(ratio, reps, 1 - tail);
	free(ratio);
	free(work);
	return out;
}

double pm_normal_quantile(double tail)
{
	double lo = 0, hi = 40;

	for (int i = 0; i < 100; i++) {
		double mid = (lo + hi) / 2;

		*(erfc(mid / sqrt(2)) / 2 > tail ? &lo : &hi) = mid;
	}
	return hi;
}

/* Of Student's t with f degrees of freedom, from the normal distribution's by the expansion of Cornish and
 * Fisher (Abramowitz and Stegun, 26.7.5): within 1 % from 7 degrees on at 0.995. */
static double student_quantile(double tail, double f)
{
	double z = pm_normal_quantile(tail), z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

	return z + (z3 + z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * f * f * f);
}

PmInterval pm_mean_interval(const double *x, size_t n, double confidence)
{
	PmInterval out = { NAN, NAN, NAN };
	PmStats s;
	double half = INFINITY;

	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return out;
	if (n == 0 || !(confidence > 0 && confidence < 1))
		return out;
	pm_stats(x, n, &s);
	if (n >= STUDENT_LEAST)
		half = student_quantile((1 - confidence) / 2, (double)n - 1) * s.std / sqrt((double)n - 1);
	return (PmInterval){ s.mean, s.mean - half, s.mean + half };
}
