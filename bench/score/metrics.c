/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - figures over many problems: fast_p, pass@k and its relatives, mean speedups. */
#include "bench/score/metrics.h"

#include "base/core/arena.h"

#include <math.h>
#include <stdlib.h>

const double pm_fast_p_levels[PM_N_FAST_P] = { 0, 0.5, 0.8, 1, 1.5, 2 };

static int measured(const PmItem *i)
{
	return isfinite(i->speedup) && i->speedup > 0;
}

/* The speedup a correct item enters a mean with. */
static double speed(const PmItem *i)
{
	return measured(i) ? i->speedup : 1;
}

double pm_fast_p(const PmItem *item, size_t n, double p)
{
	size_t fast = 0;

	for (size_t i = 0; i < n; i++) {
		if (item[i].correct &&
		    (p <= 0 || (item[i].matched && measured(&item[i]) && item[i].speedup > p)))
			fast++;
	}
	return n ? (double)fast / (double)n : NAN;
}

double pm_at_k(int64_t n, int64_t c, int64_t k)
{
	double log_miss = 0;

	if (c < 0 || c > n || k < 1 || k > n)
		return NAN;
	if (n - c < k)
		return 1;
	/* C(n - c, k) / C(n, k) is symmetric in c and k: take the shorter product. */
	if (k < c) {
		int64_t swap = c;

		c = k;
		k = swap;
	}
	for (int64_t i = 0; i < c; i++)
		log_miss += log1p(-(double)k / (double)(n - i));
	return 0 - expm1(log_miss);
}

double pm_mean_at_k(const PmSampleCount *problem, size_t n_problems, int64_t k)
{
	double sum = 0;

	for (size_t i = 0; i < n_problems; i++)
		sum += pm_at_k(problem[i].n, problem[i].c, k);
	return n_problems ? sum / (double)n_problems : NAN;
}

void pm_means(const PmItem *item, size_t n, PmMeans *out)
{
	double sum = 0, lazy = 0, logs = 0, lazy_logs = 0;

	*out = (PmMeans){ n, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	for (size_t i = 0; i < n; i++) {
		double s = item[i].correct ? speed(&item[i]) : 0, kept = fmax(s, 1);

		lazy += kept;
		lazy_logs += log(kept);
		if (item[i].correct) {
			out->n_correct++;
			sum += s;
			logs += log(s);
		}
	}
	if (n == 0)
		return;
	if (out->n_correct) {
		out->am_correct = sum / (double)out->n_correct;
		out->gm_correct = exp(logs / (double)out->n_correct);
	}
	out->am = sum / (double)n;
	out->am_lazy = lazy / (double)n;
	out->gm = exp(logs / (double)n);
	out->gm_lazy = exp(lazy_logs / (double)n);
	out->sgm = out->n_correct ? (double)out->n_correct / (double)n * out->gm_correct : 0;
}

double pm_best_of_k(const PmItem *samples, size_t n_problems, size_t k)
{
	double logs = 0;

	for (size_t i = 0; i < n_problems; i++) {
		double best = 1;

		for (size_t j = 0; j < k; j++) {
			const PmItem *s = &samples[i * k + j];

			if (s->correct)
				best = fmax(best, speed(s));
		}
		logs += log(best);
	}
	return n_problems ? exp(logs / (double)n_problems) : NAN;
}

PmItem pm_best_item(const PmItem *samples, size_t n)
{
	PmItem best = { 0, 0, 0 };

	for (size_t i = 0; i < n; i++) {
		double s = samples[i].matched ? speed(&samples[i]) : 1;

		if (samples[i].correct && (!best.correct || s > best.speedup))
			best = (PmItem){ 1, samples[i].matched, s };
	}
	return best;
}

PmInterval pm_wilson(size_t c, size_t n)
{
	const double z = 1.959963984540054; /* 97.5 % of a normal deviate are below */
	double share, zz_n, centre, half;

	if (n == 0 || c > n)
		return (PmInterval){ NAN, NAN, NAN };
	share = (double)c / (double)n;
	zz_n = z * z / (double)n;
	centre = (share + zz_n / 2) / (1 + zz_n);
	half = sqrt(share * (1 - share) * zz_n + zz_n * zz_n / 4) / (1 + zz_n);
	/* The ends at no success and at nothing else are exact: not what rounding makes of them. */
	return (PmInterval){ share, c ? centre - half : 0, c < n ? centre + half : 1 };
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

PmInterval pm_bootstrap_gmean(const double *v, size_t n, size_t reps, double confidence, PmRng *rng)
{
	PmInterval out = { NAN, NAN, NAN };
	double *mean, *logs, sum = 0, tail = (1 - confidence) / 2;

	for (size_t i = 0; i < n; i++) {
		if (!(v[i] > 0) || !isfinite(v[i]))
			return out;
		sum += log(v[i]);
	}
	if (n == 0 || reps == 0 || !(tail >= 0 && tail <= 0.5))
		return out;
	out.point = exp(sum / (double)n);
	mean = pm_xcalloc(reps, sizeof *mean);
	logs = pm_xcalloc(n, sizeof *logs);
	for (size_t i = 0; i < n; i++)
		logs[i] = log(v[i]);
	for (size_t r = 0; r < reps; r++) {
		sum = 0;
		for (size_t i = 0; i < n; i++)
			sum += logs[pm_rng_range(rng, 0, (int64_t)n - 1)];
		mean[r] = exp(sum / (double)n);
	}
	qsort(mean, reps, sizeof *mean, ascending);
	out.lo = pm_quantile_sorted(mean, reps, tail);
	out.hi = pm_quantile_sorted(mean, reps, 1 - tail);
	free(logs);
	free(mean);
	return out;
}
