/* SPDX-License-Identifier: Apache-2.0 */
/* timer_ratio.c - what the blocks of a run say about the ratio of two sides. */
#include "base/core/arena.h"
#include "bench/compare/signed_rank.h"
#include "bench/timing/timer_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double launch_noise = 1.5e-6;

int pm_timer_bimodal(const double *x, size_t n)
{
	double *s = pm_xcalloc(n + 1, sizeof *s);
	size_t edge = (n + 9) / 10;
	int found = 0;

	memcpy(s, x, n * sizeof *s);
	qsort(s, n, sizeof *s, pm_ascending);
	for (size_t i = edge; n >= 10 && i + edge <= n && !found; i++)
		found = s[i - 1] > 0 && s[i] > 1.25 * s[i - 1];
	free(s);
	return found;
}

int pm__timer_scattered(const Blocks *b, int side)
{
	PmStats s;

	pm_stats(b->sample[side], QUARTERS * (size_t)b->n, &s);
	return pm_timer_bimodal(b->sample[side], QUARTERS * (size_t)b->n) ||
	       (pm_stats_unstable(&s, PM_UNSTABLE_IQR) && s.iqr > launch_noise);
}

/* What several estimates of a ratio (in logarithms) say together. */
typedef struct Said {
	PmInterval v;
	double half; /* of the widest interval, as a share */
} Said;

/* The lower ratio, and all that either interval holds. */
static void hold_too(Said *s, PmInterval v)
{
	s->v = (PmInterval){ fmin(s->v.point, v.point), fmin(s->v.lo, v.lo), fmax(s->v.hi, v.hi) };
	s->half = fmax(s->half, (exp(v.hi - v.point) - exp(v.lo - v.point)) / 2);
}

static double shortest(const Blocks *b, int side, int block)
{
	const double *x = &b->sample[side][QUARTERS * block];

	return fmin(fmin(x[0], x[1]), fmin(x[2], x[3]));
}

/* x[i] = the logarithm of base / side in block i; with `least` of the base's shortest call there. */
static void log_ratios(const Blocks *b, int base, int side, int least, double *x)
{
	for (int i = 0; i < b->n; i++) {
		double t = least ? shortest(b, base, i) : b->value[base][i], u = b->value[side][i];

		x[i] = t > 0 && u > 0 ? log(t / u) : NAN;
	}
}

/* The signed ranks leave a share of slow blocks out of account, up to 29 of 100. Where the calls of the side
 * are not of one kind all of them count. Where those of the base are not, a candidate may be why: then only
 * what is left against the shortest calls is a gain. */
static Said against(const Blocks *b, int base, int side)
{
	double *x = pm_xcalloc((size_t)b->n + 1, sizeof *x);
	Said s = { { INFINITY, INFINITY, -INFINITY }, 0 };

	log_ratios(b, base, side, 0, x);
	hold_too(&s, pm_signed_rank_interval(x, (size_t)b->n, PM_TIMER_CONFIDENCE));
	if (b->kind == PM_TIME_COLD && pm__timer_scattered(b, side))
		hold_too(&s, pm_mean_interval(x, (size_t)b->n, PM_TIMER_CONFIDENCE));
	if (b->kind == PM_TIME_COLD && pm__timer_scattered(b, base)) {
		log_ratios(b, base, side, 1, x);
		hold_too(&s, pm_signed_rank_interval(x, (size_t)b->n, PM_TIMER_CONFIDENCE));
	}
	for (int i = 0; i < b->n; i++)
		if (isnan(x[i]))
			s = (Said){ { NAN, NAN, NAN }, NAN };
	free(x);
	return s;
}

/* Buffers and code lie where they lie for a whole run, and of two equal sides one may be a few thousandths
 * faster for that. The control is the baseline elsewhere: what is said of the candidate has to hold against
 * both. */
PmInterval pm__timer_speedup(Run *r, const Blocks *b, int side)
{
	Said s = against(b, 0, side), t = s;

	if (r->control > 0 && side != r->control)
		t = against(b, r->control, side);
	r->half[side] = fmax(s.half, t.half);
	return (PmInterval){ exp(s.v.point / 2 + t.v.point / 2), exp(fmin(s.v.lo, t.v.lo)),
			     exp(fmax(s.v.hi, t.v.hi)) };
}
