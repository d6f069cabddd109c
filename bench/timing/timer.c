/* SPDX-License-Identifier: Apache-2.0 */
/* timer.c - the clock's protocol: what is timed, and in which order. */
#include "bench/timing/timer_priv.h"

#include "base/core/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	N_EMPTY = 200,
	EMPTY_TRIES = 3, /* rounds of these, while they vary */
	N_ESTIMATE = 5,
	TICKS = 20,  /* a sample lasts at least so many */
	FEWEST = 8,  /* blocks that have an interval */
	BLOCKS = 16, /* at first, */
	MOST = 25,   /* and times as many at last */
	ROUNDS = 4,  /* at most, in which alternatives are compared, */
	ROUND = 4,   /* of so many blocks */
	REPLAY_BLOCKS = 8,
	WALL_BLOCKS = 5,
	WALL_TRAIN = 16,
	IDLE_CALLS = 3, /* at most, before a block */
	REPEAT_SHARE = 10
};
static const double min_warm = 0.1, max_warm = 5, steady_for = 0.1, steady_within = 0.02, errors_apart = 3,
		    far_share = 20, far_most = 0.025;

const char *pm_time_kind_name(PmTimeKind kind)
{
	static const char *const names[PM_N_TIME_KINDS] = { "cold", "replay", "wall", "latency" };

	return names[kind];
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

/* What a pair of marks costs, and the smallest step that its times make. Pairs that vary are taken anew: what
 * ran before may not have let go of the device. */
static PmStatus study_marks(Run *r, PmErr *err)
{
	double t[N_EMPTY];
	PmStats s = { 0 };
	PmStatus st = PM_OK;

	for (int k = 0; k < EMPTY_TRIES && !st && (k == 0 || s.iqr > PM_TIMER_MARKS); k++) {
		for (int i = 0; i < N_EMPTY && !st; i++)
			st = r->clock->empty(r->clock->arg, &t[i], err);
		if (!st)
			pm_stats(t, N_EMPTY, &s);
	}
	if (st)
		return st;
	r->out->overhead = s.median;
	r->spread = s.iqr;
	qsort(t, N_EMPTY, sizeof *t, pm_ascending);
	for (int i = 1; i < N_EMPTY; i++) {
		double step = t[i] - t[i - 1];

		if (step > 1e-12 && (r->out->tick == 0 || step < r->out->tick))
			r->out->tick = step;
	}
	return PM_OK;
}

static PmStatus one(Run *r, int side, PmTimeKind kind, uint64_t index, int batch, PmSample *s, PmErr *err)
{
	PmSampleAsk ask = { r->side[side], kind, index, batch, r->o->graphs };
	PmStatus st;

	memset(s, 0, sizeof *s);
	st = r->clock->sample(r->clock->arg, &ask, s, err);
	if (!st && kind < PM_TIME_WALL)
		s->seconds -= r->out->overhead;
	s->seconds /= batch;
	return st;
}

/* What one sample cannot tell from nothing. Marks without a visible step are as coarse as the pair costs, for
 * all that is known. */
static double resolution(const Run *r)
{
	double finest = r->out->tick > 0 ? r->out->tick : r->out->overhead;

	return fmax(finest, r->spread);
}

/* Calls per sample of a kind, so that the shortest side lasts 20 ticks; *shortest = one call of it, roughly.
 * The first calls of each side happen here. */
static PmStatus choose_batch(Run *r, PmTimeKind kind, int *batch, double *shortest, PmErr *err)
{
	int limit = r->o->max_train > 0 && r->o->max_train < PM_MAX_BATCH ? r->o->max_train : PM_MAX_BATCH;
	double need = TICKS * r->out->tick;
	PmStatus st = PM_OK;

	*shortest = INFINITY;
	for (int side = 0; side < r->n_sides && !st; side++) {
		double t[N_ESTIMATE];
		PmSample s;

		for (int i = 0; i < N_ESTIMATE && !st; i++) {
			st = one(r, side, kind, r->next_index++, 1, &s, err);
			t[i] = s.seconds;
		}
		if (!st)
			*shortest = fmin(*shortest, pm_median(t, N_ESTIMATE));
	}
	*batch = 1;
	if (!st && (*shortest < need || *shortest <= resolution(r)))
		*batch = need > 0 && *shortest > need / limit ? (int)ceil(need / *shortest) : limit;
	return st;
}

/* --- blocks ----------------------------------------------------------------------------------------------
 */

static void blocks_grow(Blocks *b, int n_sides, int cap)
{
	for (int s = 0; s < n_sides; s++) {
		b->value[s] = pm_xrealloc(b->value[s], (size_t)cap, sizeof(double));
		b->sample[s] = pm_xrealloc(b->sample[s], QUARTERS * (size_t)cap, sizeof(double));
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
	for (int i = 0; i < r->n_sides; i++)
		order[i] = i;
	for (int i = r->n_sides - 1; i > 0; i--) {
		int j = (int)pm_rng_range(&r->rng, 0, i), t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
}

/* A device's times may change with the number of the call, every other one or two by two, and sides that have
 * other numbers of launches may always meet the same of them. So before a block none to three calls are made
 * that nobody looks at, of any side: where it begins is by chance. */
static PmStatus make_idle_calls(Run *r, const Blocks *b, PmErr *err)
{
	PmStatus st = PM_OK;
	PmSample s;

	for (int64_t n = pm_rng_range(&r->rng, 0, IDLE_CALLS); n > 0 && !st; n--) {
		int side = (int)pm_rng_range(&r->rng, 0, r->n_sides - 1);

		st = one(r, side, b->kind, r->next_index, b->batch, &s, err);
		r->next_index += (uint64_t)b->batch;
	}
	return st;
}

/* Takes one block into the place after the last; *disturbed = it must not count. */
static PmStatus take_block(Run *r, Blocks *b, int *disturbed, PmErr *err)
{
	int order[PM_MAX_SIDES], n = r->n_sides;
	PmStatus st = b->kind == PM_TIME_COLD ? make_idle_calls(r, b, err) : PM_OK;
	uint64_t index = r->next_index;

	r->next_index += QUARTERS * (uint64_t)b->batch;
	*disturbed = 0;
	shuffle(r, order);
	for (int i = 0; i < QUARTERS * n && !st; i++) {
		int quarter = i / n, at = i % n, side = order[quarter % 2 ? n - 1 - at : at];
		PmSample s;

		st = one(r, side, b->kind, index + (uint64_t)(quarter * b->batch), b->batch, &s, err);
		b->sample[side][QUARTERS * b->n + quarter] = s.seconds;
		*disturbed |= s.disturbed;
	}
	for (int s = 0; s < n && !st; s++) {
		const double *x = &b->sample[s][QUARTERS * b->n];

		b->value[s][b->n] = (x[0] + x[1] + x[2] + x[3]) / QUARTERS;
	}
	return st;
}

/* Without the fewest blocks that have an interval nothing is known: these have twice the time. */
static int out_of_time(const Run *r, int blocks)
{
	double limit = r->o->seconds > 0 ? r->o->seconds : PM_CLOCK_SECONDS;

	return r->clock->now(r->clock->arg) - r->began > (blocks < FEWEST ? 2 * limit : limit);
}

static PmStatus take_blocks(Run *r, Blocks *b, int upto, PmErr *err)
{
	PmStatus st = PM_OK;

	blocks_grow(b, r->n_sides, upto);
	while (b->n < upto && !st &&
	       (b->n == 0 || !out_of_time(r, b->kind == PM_TIME_COLD ? b->n : FEWEST))) {
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

	t->blocks = b->n;
	t->batch = b->batch;
	t->resolution = b->kind < PM_TIME_WALL ? resolution(r) / b->batch : 0;
	for (int s = 0; s < r->n_sides; s++) {
		pm_stats(b->sample[s], QUARTERS * (size_t)b->n, &t->side[s]);
		t->ratio[s] = s ? pm__timer_speedup(r, b, s) : (PmInterval){ 1, 1, 1 };
	}
	for (int s = 1; s < r->n_sides && b->kind == PM_TIME_REPLAY; s++)
		if (isnan(pm_timer_seconds(t, 0)) || isnan(pm_timer_seconds(t, s)))
			t->ratio[s] = (PmInterval){ NAN, NAN, NAN };
}

/* --- which alternative -----------------------------------------------------------------------------------
 */

/* What the samples of an alternative took so far, by the side that is asked for. */
typedef struct Tried {
	double *t;
	int n;
	PmStats s;
} Tried;

/* Standard error of a median, as for a normal distribution: 1.253 deviations, each 1 / 1.349 of what lies
 * between the quartiles, over the root of the number. */
static double standard_error(const PmStats *s)
{
	return s->n ? 1.253 / 1.349 * s->iqr / sqrt((double)s->n) : INFINITY;
}

/* One round of those that are compared now; the slower ones are left out from then on. *best: the side. */
static PmStatus try_round(Run *r, int batch, Tried *tried, int *best, PmErr *err)
{
	Blocks b = { .kind = PM_TIME_COLD, .batch = batch };
	PmStatus st = take_blocks(r, &b, ROUND, err);
	int n = 0;

	for (int s = 0; s < r->n_sides && !st; s++) {
		Tried *x = &tried[r->side[s]];

		memcpy(x->t + x->n, b.sample[s], QUARTERS * (size_t)b.n * sizeof *x->t);
		x->n += QUARTERS * b.n;
		pm_stats(x->t, (size_t)x->n, &x->s);
		if (s == 0 || x->s.median < tried[*best].s.median)
			*best = r->side[s];
	}
	for (int s = 0; s < r->n_sides && !st; s++) {
		const PmStats *x = &tried[r->side[s]].s, *y = &tried[*best].s;

		if (x->median - y->median <= errors_apart * hypot(standard_error(x), standard_error(y)))
			r->side[n++] = r->side[s];
	}
	r->n_sides = st ? r->n_sides : n;
	blocks_release(&b);
	return st;
}

/* The alternatives alone, in rounds; then the fastest beside the baseline and the control. */
static PmStatus choose_alternative(Run *r, PmErr *err)
{
	Tried tried[PM_MAX_SIDES] = { 0 };
	int best = 1, batch = 1, n = r->o->alternatives;
	double shortest;
	PmStatus st = PM_OK;

	for (int i = 0; i < n; i++) {
		r->side[i] = i + 1;
		tried[i + 1].t = pm_xcalloc(ROUNDS * ROUND * QUARTERS, sizeof *tried[i + 1].t);
	}
	r->n_sides = n;
	if (n > 1)
		st = choose_batch(r, PM_TIME_COLD, &batch, &shortest, err);
	for (int i = 0; i < ROUNDS && r->n_sides > 1 && !st; i++)
		st = try_round(r, batch, tried, &best, err);
	for (int i = 0; i < n; i++)
		free(tried[i + 1].t);
	r->side[0] = 0;
	r->side[1] = r->out->chosen = best;
	r->side[2] = r->o->control;
	r->control = 2;
	r->n_sides = 3;
	return st;
}

/* --- the kinds ------------------------------------------------------------------------------------------
 */

/* Fine enough for the control to be found within its bound; and where the candidate is far from 1, for that
 * to be said. */
static double wanted_half_width(const Run *r)
{
	const PmTimes *t = &r->out->kind[PM_TIME_COLD];
	double control = pm_timer_control_bound(t->side[0].median);
	double near_one = fmin(PM_TIMER_HALF_WIDTH, 0.8 * PM_TIMER_WIDER * control);
	double far = fmin(far_most, fabs(log(t->ratio[1].point)) / far_share);

	return far > near_one ? far : near_one; /* NaN: near */
}

static PmStatus time_cold(Run *r, PmErr *err)
{
	Blocks b = { .kind = PM_TIME_COLD, .batch = r->out->batch };
	int first = r->o->blocks > 0 ? r->o->blocks : BLOCKS, most = MOST * first;
	PmStatus st = PM_OK;

	for (int n = first; !st; n = n + n / 4 + 1 < most ? n + n / 4 + 1 : most) {
		st = take_blocks(r, &b, n, err);
		if (!st)
			summarise(r, &b);
		if (st || n == most || r->o->exact || out_of_time(r, b.n) ||
		    pm__timer_precise(r, wanted_half_width(r)))
			break;
	}
	if (!st)
		pm__timer_judge(r, &b);
	blocks_release(&b);
	return st;
}

static PmStatus time_other(Run *r, PmTimeKind kind, int blocks, int batch, PmErr *err)
{
	Blocks b = { .kind = kind, .batch = batch };
	PmStatus st = blocks > 0 ? take_blocks(r, &b, blocks, err) : PM_OK;

	if (!st && b.n)
		summarise(r, &b);
	blocks_release(&b);
	return st;
}

/* A replayed call has no launches to wait for, and is often much shorter than one from cold caches. */
static PmStatus time_replay(Run *r, int blocks, PmErr *err)
{
	double shortest;
	int batch = 1;
	PmStatus st = blocks > 0 && !out_of_time(r, FEWEST)
			      ? choose_batch(r, PM_TIME_REPLAY, &batch, &shortest, err)
			      : PM_OK;

	return st ? st : time_other(r, PM_TIME_REPLAY, blocks, batch, err);
}

PmStatus pm_timer_run(const PmClock *clock, const PmTimerOpts *opts, PmTiming *out, PmErr *err)
{
	Run r = { .clock = clock, .o = opts, .out = out, .began = clock->now(clock->arg) };
	int limit = opts->max_train > 0 ? opts->max_train : PM_MAX_BATCH;
	double shortest;
	PmStatus st;

	memset(out, 0, sizeof *out);
	if (opts->n_sides < 2 || opts->n_sides > PM_MAX_SIDES || opts->control < 0 ||
	    opts->control >= opts->n_sides || opts->alternatives < 0 ||
	    (opts->alternatives &&
	     (opts->n_sides != opts->alternatives + 2 || opts->control != opts->n_sides - 1)))
		return pm_err(
			err, PM_E_INVALID,
			"A run of the clock compares 2 to %d sides, one of which may be the control; it "
			"was given %d, control %d, alternatives %d.",
			PM_MAX_SIDES, opts->n_sides, opts->control, opts->alternatives);
	r.n_sides = opts->n_sides;
	r.control = opts->control;
	for (int s = 0; s < r.n_sides; s++)
		r.side[s] = s;
	out->chosen = 1;
	pm_rng_init_named(&r.rng, opts->seed, "timer");
	out->steady = opts->warm;
	st = opts->warm ? PM_OK : warm_up(&r, err);
	if (!st)
		st = study_marks(&r, err);
	if (!st && opts->alternatives)
		st = choose_alternative(&r, err);
	if (!st)
		st = choose_batch(&r, PM_TIME_COLD, &out->batch, &shortest, err);
	if (!st)
		st = time_cold(&r, err);
	if (!st)
		st = time_replay(&r, opts->replay ? opts->replay : REPLAY_BLOCKS, err);
	if (!st)
		st = time_other(&r, PM_TIME_WALL, opts->wall ? opts->wall : WALL_BLOCKS,
				limit < WALL_TRAIN ? limit : WALL_TRAIN, err);
	if (!st)
		st = time_other(&r, PM_TIME_LATENCY, opts->wall ? opts->wall : WALL_BLOCKS, 1, err);
	if (!st)
		pm__timer_judge_host(&r);
	return st;
}
