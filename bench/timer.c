/* timer.c - the clock's protocol: what is timed, in which order, and what the times say. */
#include "bench/timer.h"

#include "base/arena.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	N_EMPTY = 200,
	N_ESTIMATE = 5,
	TICKS = 20, /* a sample lasts at least so many */
	BLOCKS = 50,
	DOUBLINGS = 3,
	REPLAY_BLOCKS = 15,
	WALL_BLOCKS = 10,
	WALL_TRAIN = 16,
	RESAMPLES = 2000,
	REPEAT_SHARE = 10
};
static const double min_warm = 0.3, max_warm = 5, steady_for = 0.2, steady_within = 0.02,
		    most_half_width = 0.01, max_mark_noise = 0.5e-6, launch_noise = 1.5e-6,
		    short_call = 20e-6;

typedef struct Run {
	const PmClock *clock;
	const PmTimerOpts *o;
	PmTiming *out;
	PmRng rng;
	double shortest;     /* call of any side, roughly */
	uint64_t next_index; /* of the inputs: each is used once */
	double began;
} Run;

/* Blocks of one kind: value[side][block], seconds per call, mean of the two samples. */
typedef struct Blocks {
	PmTimeKind kind;
	int train, n, cap;
	double *value[PM_MAX_SIDES];
	double *sample[PM_MAX_SIDES]; /* 2 n single samples */
} Blocks;

const char *pm_time_kind_name(PmTimeKind kind)
{
	static const char *const names[PM_N_TIME_KINDS] = { "cold", "replay", "wall", "latency" };

	return names[kind];
}

const char *pm_timing_state_name(PmTimingState s)
{
	static const char *const names[] = { "ok", "unstable", "implausible" };

	return names[s];
}

double pm_timer_control_bound(double seconds)
{
	return seconds > 200e-6 ? 0.003 : (seconds > 20e-6 ? 0.01 : 0.02);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double *sorted_copy(const double *x, size_t n)
{
	double *s = pm_xcalloc(n + 1, sizeof *s);

	memcpy(s, x, n * sizeof *s);
	qsort(s, n, sizeof *s, ascending);
	return s;
}

int pm_timer_bimodal(const double *x, size_t n)
{
	double *s = sorted_copy(x, n);
	size_t edge = (n + 9) / 10;
	int found = 0;

	for (size_t i = edge; n >= 10 && i + edge <= n && !found; i++)
		found = s[i - 1] > 0 && s[i] > 1.25 * s[i - 1];
	free(s);
	return found;
}

/* --- before the first block ------------------------------------------------------------------------------
 */

/* Works until equal pieces of work have taken the same time for a while. */
static PmStatus warm_up(Run *r, PmErr *err)
{
	double piece, typical = 0, since = 0, t = 0;
	PmStatus st = PM_OK;

	while (!st && !r->out->steady && t <= max_warm) {
		st = r->clock->warm(r->clock->arg, &piece, err);
		t = r->clock->now(r->clock->arg) - r->began;
		if (st)
			break;
		if (!(fabs(piece - typical) <= steady_within * typical)) {
			typical = piece;
			since = t;
		}
		r->out->steady = t >= min_warm && t - since >= steady_for;
	}
	r->out->warm_seconds = t;
	return st;
}

static void judge(PmTiming *t, PmTimingState s, const char *fmt, ...) PM_PRINTF(3, 4);
static void judge(PmTiming *t, PmTimingState s, const char *fmt, ...)
{
	va_list ap;

	if (t->state >= s) /* the worst finding stays, of equals the first */
		return;
	t->state = s;
	va_start(ap, fmt);
	vsnprintf(t->why, sizeof t->why, fmt, ap);
	va_end(ap);
}

/* What a pair of marks costs, and the smallest step that its times make. */
static PmStatus study_marks(Run *r, PmErr *err)
{
	double t[N_EMPTY];
	PmStats s;
	PmStatus st = PM_OK;

	for (int i = 0; i < N_EMPTY && !st; i++)
		st = r->clock->empty(r->clock->arg, &t[i], err);
	if (st)
		return st;
	pm_stats(t, N_EMPTY, &s);
	r->out->overhead = s.median;
	qsort(t, N_EMPTY, sizeof *t, ascending);
	for (int i = 1; i < N_EMPTY; i++) {
		double step = t[i] - t[i - 1];

		if (step > 1e-12 && (r->out->tick == 0 || step < r->out->tick))
			r->out->tick = step;
	}
	if (s.iqr > max_mark_noise)
		judge(r->out, PM_TIMING_UNSTABLE,
		      "The marks themselves vary by %.2g us (half of %d empty pairs); is the GPU used by "
		      "others?",
		      s.iqr * 1e6, N_EMPTY);
	return PM_OK;
}

static PmStatus one(Run *r, int side, PmTimeKind kind, uint64_t index, int train, PmSample *s, PmErr *err)
{
	PmSampleAsk ask = { side, kind, index, train, r->o->graphs };
	PmStatus st;

	memset(s, 0, sizeof *s);
	st = r->clock->sample(r->clock->arg, &ask, s, err);
	if (!st && kind < PM_TIME_WALL)
		s->seconds -= r->out->overhead;
	s->seconds /= train;
	return st;
}

/* Calls per sample, so that the shortest side lasts 20 ticks. The first calls of each side happen here. */
static PmStatus choose_train(Run *r, PmErr *err)
{
	int limit = r->o->max_train > 0 && r->o->max_train < PM_MAX_TRAIN ? r->o->max_train : PM_MAX_TRAIN;
	double shortest = INFINITY, need;
	PmStatus st = PM_OK;

	for (int side = 0; side < r->o->n_sides && !st; side++) {
		double t[N_ESTIMATE];
		PmSample s;

		for (int i = 0; i < N_ESTIMATE && !st; i++) {
			st = one(r, side, PM_TIME_COLD, r->next_index++, 1, &s, err);
			t[i] = s.seconds;
		}
		if (!st)
			shortest = fmin(shortest, pm_median(t, N_ESTIMATE));
	}
	r->shortest = shortest;
	need = TICKS * r->out->tick;
	r->out->train = 1;
	if (!st && shortest < need)
		r->out->train = shortest > need / limit ? (int)ceil(need / shortest) : limit;
	return st;
}

/* --- blocks ----------------------------------------------------------------------------------------------
 */

static void blocks_grow(Blocks *b, int n_sides, int cap)
{
	for (int s = 0; s < n_sides; s++) {
		b->value[s] = pm_xrealloc(b->value[s], (size_t)cap, sizeof(double));
		b->sample[s] = pm_xrealloc(b->sample[s], 2 * (size_t)cap, sizeof(double));
	}
	b->cap = cap;
}

static void blocks_release(Blocks *b)
{
	for (int s = 0; s < PM_MAX_SIDES; s++) {
		free(b->value[s]);
		free(b->sample[s]);
	}
}

static void shuffle(Run *r, int *order)
{
	for (int i = 0; i < r->o->n_sides; i++)
		order[i] = i;
	for (int i = r->o->n_sides - 1; i > 0; i--) {
		int j = (int)pm_rng_range(&r->rng, 0, i), t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
}

/* Takes one block into the place after the last; *disturbed = it must not count. */
static PmStatus take_block(Run *r, Blocks *b, int *disturbed, PmErr *err)
{
	int order[PM_MAX_SIDES], n = r->o->n_sides;
	uint64_t index = r->next_index;
	PmStatus st = PM_OK;

	r->next_index += 2 * (uint64_t)b->train;
	*disturbed = 0;
	shuffle(r, order);
	for (int i = 0; i < 2 * n && !st; i++) {
		int side = order[i < n ? i : 2 * n - 1 - i], half = i >= n;
		PmSample s;

		st = one(r, side, b->kind, index + (uint64_t)(half * b->train), b->train, &s, err);
		b->sample[side][2 * b->n + half] = s.seconds;
		*disturbed |= s.disturbed;
	}
	for (int s = 0; s < n && !st; s++)
		b->value[s][b->n] = (b->sample[s][2 * b->n] + b->sample[s][2 * b->n + 1]) / 2;
	return st;
}

static int out_of_time(const Run *r)
{
	return r->clock->now(r->clock->arg) - r->began > (r->o->seconds > 0 ? r->o->seconds : 20);
}

static PmStatus take_blocks(Run *r, Blocks *b, int upto, PmErr *err)
{
	PmStatus st = PM_OK;

	blocks_grow(b, r->o->n_sides, upto);
	while (b->n < upto && !st && (b->n == 0 || !out_of_time(r))) {
		int disturbed;

		st = take_block(r, b, &disturbed, err);
		if (st)
			break;
		if (disturbed && r->out->repeated * REPEAT_SHARE < upto)
			r->out->repeated++;
		else
			b->n++;
	}
	return st;
}

/* Figures of what has been taken so far. */
static void summarise(Run *r, const Blocks *b)
{
	PmTimes *t = &r->out->kind[b->kind];
	double *ratio = pm_xcalloc((size_t)b->n + 1, sizeof *ratio);

	t->blocks = b->n;
	for (int s = 0; s < r->o->n_sides; s++) {
		for (int i = 0; i < b->n; i++)
			ratio[i] = b->value[s][i] > 0 ? b->value[0][i] / b->value[s][i] : NAN;
		pm_stats(b->sample[s], 2 * (size_t)b->n, &t->side[s]);
		t->ratio[s] = s ? pm_bootstrap_median(ratio, (size_t)b->n, RESAMPLES, 0.95, &r->rng)
				: (PmInterval){ 1, 1, 1 };
	}
	free(ratio);
}

/* Half of each interval is at most this share of its ratio. */
static int precise(const Run *r, PmTimeKind kind, double half_width)
{
	for (int s = 1; s < r->o->n_sides; s++) {
		const PmInterval *v = &r->out->kind[kind].ratio[s];

		if (!((v->hi - v->lo) / 2 <= half_width * v->point))
			return 0;
	}
	return 1;
}

/* --- what the times say ----------------------------------------------------------------------------------
 */

static const char *side_name(const Run *r, int side)
{
	return side == 0 ? "baseline" : (side == r->o->control ? "control" : "candidate");
}

static void judge_side(Run *r, const Blocks *b, int side)
{
	const PmTimes *t = &r->out->kind[b->kind];
	const PmStats *s = &t->side[side];
	double most = r->o->max_speedup > 0 ? r->o->max_speedup : 10;
	const char *name = side_name(r, side);

	if (!(s->min > 0))
		judge(r->out, PM_TIMING_IMPLAUSIBLE, "A sample of the %s took no time at all.", name);
	if (s->median < r->o->floor[side])
		judge(r->out, PM_TIMING_IMPLAUSIBLE,
		      "The %s takes %.3g us; reading its inputs and writing its outputs once takes %.3g us "
		      "at "
		      "the memory's peak rate.",
		      name, s->median * 1e6, r->o->floor[side] * 1e6);
	if (side && t->ratio[side].point > most)
		judge(r->out, PM_TIMING_IMPLAUSIBLE,
		      "The candidate is %.3g times as fast as the baseline; more than %.3g needs a second "
		      "look.",
		      t->ratio[side].point, most);
	if (pm_timer_bimodal(b->sample[side], 2 * (size_t)b->n))
		judge(r->out, PM_TIMING_UNSTABLE, "The times of the %s fall into two groups.", name);
	else if (pm_stats_unstable(s, PM_UNSTABLE_IQR) && s->iqr > launch_noise)
		judge(r->out, PM_TIMING_UNSTABLE,
		      "The middle half of the %s's times spreads over %.0f %% of their median.", name,
		      100 * s->iqr / s->median);
}

static void judge_all(Run *r, const Blocks *b)
{
	const PmTimes *t = &r->out->kind[b->kind];
	int c = r->o->control;

	for (int s = 0; s < r->o->n_sides; s++)
		judge_side(r, b, s);
	if (c > 0 && (t->ratio[c].lo > 1 || t->ratio[c].hi < 1) &&
	    fabs(t->ratio[c].point - 1) > pm_timer_control_bound(t->side[0].median))
		judge(r->out, PM_TIMING_UNSTABLE,
		      "The control, the baseline against itself, came out as %.4f (%.4f to %.4f).",
		      t->ratio[c].point, t->ratio[c].lo, t->ratio[c].hi);
	if (!precise(r, b->kind, fmax(most_half_width, pm_timer_control_bound(t->side[0].median)))) {
		int w = 1;

		for (int s = 2; s < r->o->n_sides; s++)
			if (t->ratio[s].hi - t->ratio[s].lo > t->ratio[w].hi - t->ratio[w].lo)
				w = s;
		judge(r->out, PM_TIMING_UNSTABLE,
		      "After %d blocks the speedup of the %s is still between %.4g and %.4g.", b->n,
		      side_name(r, w), t->ratio[w].lo, t->ratio[w].hi);
	}
}

/* Fine enough for the control to be found within its bound. */
static double wanted_half_width(const Run *r)
{
	return fmin(most_half_width, 0.8 * pm_timer_control_bound(r->out->kind[PM_TIME_COLD].side[0].median));
}

static PmStatus time_cold(Run *r, PmErr *err)
{
	Blocks b = { .kind = PM_TIME_COLD, .train = r->out->train };
	int n = r->o->blocks > 0 ? r->o->blocks : (r->shortest < short_call ? 2 * BLOCKS : BLOCKS);
	PmStatus st = PM_OK;

	for (int i = 0; i <= DOUBLINGS && !st; i++, n *= 2) {
		st = take_blocks(r, &b, n, err);
		if (!st)
			summarise(r, &b);
		if (st || r->o->exact || out_of_time(r) || precise(r, b.kind, wanted_half_width(r)))
			break;
	}
	if (!st)
		judge_all(r, &b);
	blocks_release(&b);
	return st;
}

static PmStatus time_other(Run *r, PmTimeKind kind, int blocks, int train, PmErr *err)
{
	Blocks b = { .kind = kind, .train = train };
	PmStatus st = blocks > 0 ? take_blocks(r, &b, blocks, err) : PM_OK;

	if (!st && b.n)
		summarise(r, &b);
	blocks_release(&b);
	return st;
}

PmStatus pm_timer_run(const PmClock *clock, const PmTimerOpts *opts, PmTiming *out, PmErr *err)
{
	Run r = { .clock = clock, .o = opts, .out = out, .began = clock->now(clock->arg) };
	int limit = opts->max_train > 0 ? opts->max_train : PM_MAX_TRAIN;
	PmStatus st;

	memset(out, 0, sizeof *out);
	if (opts->n_sides < 2 || opts->n_sides > PM_MAX_SIDES || opts->control < 0 ||
	    opts->control >= opts->n_sides)
		return pm_err(
			err, PM_E_INVALID,
			"A run of the clock compares 2 to %d sides, one of which may be the control; it "
			"was given %d, control %d.",
			PM_MAX_SIDES, opts->n_sides, opts->control);
	pm_rng_init_named(&r.rng, opts->seed, "timer");
	out->steady = opts->warm;
	st = opts->warm ? PM_OK : warm_up(&r, err);
	if (!st)
		st = study_marks(&r, err);
	if (!st)
		st = choose_train(&r, err);
	if (!st)
		st = time_cold(&r, err);
	if (!st)
		st = time_other(&r, PM_TIME_REPLAY, opts->replay ? opts->replay : REPLAY_BLOCKS, out->train,
				err);
	if (!st)
		st = time_other(&r, PM_TIME_WALL, opts->wall ? opts->wall : WALL_BLOCKS,
				limit < WALL_TRAIN ? limit : WALL_TRAIN, err);
	if (!st)
		st = time_other(&r, PM_TIME_LATENCY, opts->wall ? opts->wall : WALL_BLOCKS, 1, err);
	return st;
}
