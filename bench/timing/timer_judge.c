/* SPDX-License-Identifier: Apache-2.0 */
/* timer_judge.c - what the times of a run say: can they be ranked, and can they be at all? */
#include "base/core/arena.h"
#include "bench/timing/timer_priv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double host_bound = 10e-6;

const char *pm_timing_state_name(PmTimingState s)
{
	static const char *const names[] = { "ok", "unstable", "implausible" };

	return names[s];
}

const char *pm_claim_name(PmClaim c)
{
	static const char *const names[] = { "not distinguishable", "faster", "slower" };

	return names[c];
}

PmClaim pm_timer_claim(double lo, double hi)
{
	return lo > 1 ? PM_CLAIM_FASTER : (hi < 1 ? PM_CLAIM_SLOWER : PM_CLAIM_SAME);
}

double pm_timer_seconds(const PmTimes *t, int side)
{
	double s = t->side[side].median;

	return s > t->resolution ? s : NAN;
}

double pm_timer_control_bound(double seconds)
{
	return seconds > 200e-6 ? 0.003 : (seconds > 20e-6 ? 0.01 : 0.02);
}

void pm__timer_say(PmTiming *t, PmTimingState s, const char *fmt, ...)
{
	va_list ap;

	if (t->state >= s) /* the worst finding stays, of equals the first */
		return;
	t->state = s;
	va_start(ap, fmt);
	vsnprintf(t->why, sizeof t->why, fmt, ap);
	va_end(ap);
}

int pm__timer_precise(const Run *r, double half_width)
{
	for (int s = 1; s < r->n_sides; s++)
		if (!(r->half[s] <= half_width))
			return 0;
	return 1;
}

static const char *side_name(const Run *r, int side)
{
	return side == 0 ? "baseline" : (side == r->control ? "control" : "candidate");
}

static void judge_side(Run *r, const Blocks *b, int side)
{
	const PmTimes *t = &r->out->kind[b->kind];
	const PmStats *s = &t->side[side];
	double most = r->o->max_speedup > 0 ? r->o->max_speedup : 10;
	const char *name = side_name(r, side);

	r->out->doubts |= !(s->min > 0) ? PM_DOUBT_ZERO : 0u;
	r->out->doubts |= s->median < r->o->floor[side] ? PM_DOUBT_FLOOR : 0u;
	r->out->doubts |= side && t->ratio[side].point > most ? PM_DOUBT_SPEEDUP : 0u;
	if (!(s->min > 0))
		pm__timer_say(r->out, PM_TIMING_IMPLAUSIBLE, "A sample of the %s took no time at all.", name);
	if (s->median < r->o->floor[side])
		pm__timer_say(
			r->out, PM_TIMING_IMPLAUSIBLE,
			"The %s takes %.3g us; reading its inputs and writing its outputs once takes %.3g us "
			"at "
			"the memory's peak rate.",
			name, s->median * 1e6, r->o->floor[side] * 1e6);
	if (side && t->ratio[side].point > most)
		pm__timer_say(
			r->out, PM_TIMING_IMPLAUSIBLE,
			"The candidate is %.3g times as fast as the baseline; more than %.3g needs a second "
			"look.",
			t->ratio[side].point, most);
}

/* What all times are shortened by is known to half of what empty pairs vary by. That moves a ratio the more,
 * the further apart the sides are. */
static void judge_marks(Run *r, const Blocks *b)
{
	const PmStats *side = r->out->kind[b->kind].side;
	double off = r->spread / 2 / b->batch, moved = off * fabs(1 / side[1].median - 1 / side[0].median);

	if (r->spread > PM_TIMER_MARKS && moved > PM_TIMER_UNCERTAIN)
		pm__timer_say(r->out, PM_TIMING_UNSTABLE,
			      "The marks themselves vary by %.2g us (half of the empty pairs), which moves "
			      "the speedup by up to %.2g %%; is the GPU used by others?",
			      r->spread * 1e6, 100 * moved);
}

void pm__timer_judge(Run *r, const Blocks *b)
{
	const PmTimes *t = &r->out->kind[b->kind];
	int c = r->control;

	for (int s = 0; s < r->n_sides; s++)
		judge_side(r, b, s);
	judge_marks(r, b);
	if (c > 0 && (t->ratio[c].lo > 1 || t->ratio[c].hi < 1) &&
	    fabs(t->ratio[c].point - 1) > pm_timer_control_bound(t->side[0].median))
		pm__timer_say(r->out, PM_TIMING_UNSTABLE,
			      "The control, the baseline against itself, came out as %.4f (%.4f to %.4f).",
			      t->ratio[c].point, t->ratio[c].lo, t->ratio[c].hi);
	if (!pm__timer_precise(r, PM_TIMER_WIDEST)) {
		int w = 1;

		for (int s = 2; s < r->n_sides; s++)
			if (t->ratio[s].hi - t->ratio[s].lo > t->ratio[w].hi - t->ratio[w].lo)
				w = s;
		pm__timer_say(r->out, PM_TIMING_UNSTABLE,
			      "After %d blocks the speedup of the %s is still between %.4g and %.4g.", b->n,
			      side_name(r, w), t->ratio[w].lo, t->ratio[w].hi);
	}
}

void pm__timer_judge_host(Run *r)
{
	const PmTimes *cold = &r->out->kind[PM_TIME_COLD], *wall = &r->out->kind[PM_TIME_WALL];
	double most = r->o->host_bound > 0 ? r->o->host_bound : host_bound;

	for (int side = 0; side < 2 && wall->blocks; side++)
		r->out->host_bound[side] = wall->side[side].median > 1.1 * cold->side[side].median + most;
}

static int near(double a, double b)
{
	return fabs(a / b - 1) <= PM_CONFIRM_WITHIN;
}

int pm_timer_confirm(const double *x, int n)
{
	if (n == 2)
		return near(x[0], x[1]) ? 1 : -1;
	for (int i = 0; i < n; i++) {
		double a = x[(i + 1) % 3], b = x[(i + 2) % 3];

		if ((a <= x[i] && x[i] <= b) || (b <= x[i] && x[i] <= a))
			return near(a, x[i]) || near(b, x[i]) ? i : -1;
	}
	return -1;
}
