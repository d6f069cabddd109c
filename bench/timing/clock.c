/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - measured times of a candidate against its baseline, in the candidate's own device worker. */
#include "bench/timing/clock.h"

#include "base/core/rng.h"
#include "base/sys/proc.h"
#include "bench/inputs/inputs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SETS = 4,        /* of inputs in the input pool, */
	FEW_SETS = 2,    /* or so many when they are large, one for a rehearsal */
	LARGE = 8 << 20, /* bytes of one set; */
	LARGE_REHEARSAL = 1 << 18,
	LOOK_EVERY = 64 /* samples: what the GPU is doing */
};
static const int64_t keep_most = 128 << 20;
/* A time may be this share of what the memory's peak rate allows before it is disbelieved. */
static const double floor_share = 0.7;
/* Seconds that other processes get to leave the GPU before the first call. Who stays voids the times. */
static const double others_leave = 2;

typedef struct Clock {
	PmWorker *w;
	const PmWork *candidate; /* n_alts of them: all compute the same */
	int n_alts;
	PmClockResult *out;
	const PmSecret *secret;
	PmGpuWatch *watch; /* NULL = none */
	int alone;         /* the candidate is the only side */
	int keep, samples, beside;
	double begun;
	size_t room, seen;   /* calls whose outputs are kept at most; calls of the candidate so far */
	PM_VEC(size_t) kept; /* which calls have outputs */
} Clock;

/* --- what was timed is what is checked -------------------------------------------------------------------
 */

static void drop_outputs(PmTimedCall *c, size_t n_out)
{
	pm_tensors_release(c->out, n_out);
	free(c->out);
	c->out = NULL;
}

void pm_clock_release(PmClockResult *r)
{
	for (size_t i = 0; i < r->calls.n; i++)
		drop_outputs(&r->calls.v[i], r->n_out);
	PM_VEC_RELEASE(&r->calls);
	if (r->pool.t)
		pm_tensors_release(pm_unconst(r->pool.t), r->pool.n_in * (size_t)r->pool.n_sets);
	if (r->pool.table)
		pm_tensors_release(pm_unconst(r->pool.table), r->pool.n_in);
	free(pm_unconst(r->pool.t));
	free(pm_unconst(r->pool.table));
	memset(&r->pool, 0, sizeof r->pool);
}

/* Keeps each call with the same chance, whatever their number (reservoir sampling): decided when it is over.
 */
static PmStatus maybe_keep(Clock *c, size_t call, int of_sample, PmErr *err)
{
	PmClockResult *r = c->out;
	PmTimedCall *t = &r->calls.v[call];
	size_t at = c->kept.n;
	PmDigest again;
	PmStatus st;
	PmRng rng;

	c->seen++;
	if (at == c->room) {
		pm_rng_init(&rng, pm_secret_u64(c->secret, "kept calls", c->seen));
		at = (size_t)pm_rng_range(&rng, 0, (int64_t)c->seen - 1);
		if (at >= c->room)
			return PM_OK;
		drop_outputs(&r->calls.v[c->kept.v[at]], r->n_out);
		c->kept.v[at] = call;
	} else {
		PM_VEC_PUSH(&c->kept, call);
	}
	t->out = pm_xcalloc(r->n_out + 1, sizeof *t->out);
	st = pm_worker_clock_outputs(c->w, c->candidate->g, of_sample, t->out, err);
	if (!st) {
		again = pm_input_pool_digest(&r->pool, t->out, r->n_out);
		t->altered = !pm_digest_equal(&again, &t->made.out);
	}
	return st;
}

/* Whose calls the worker's side are: after the baseline the alternatives, after those the control. A process
 * that holds the candidate alone has no other side. */
static void name_side(const Clock *c, int asked, PmTimedCall *t)
{
	t->side = c->alone     ? PM_SIDE_CANDIDATE
		  : asked == 0 ? PM_SIDE_BASELINE
			       : (asked > c->n_alts ? PM_SIDE_CONTROL : PM_SIDE_CANDIDATE);
	t->alt = t->side == PM_SIDE_CANDIDATE && !c->alone ? asked - 1 : 0;
}

/* Takes a sample and writes down its calls. */
static PmStatus take(Clock *c, const PmSampleAsk *ask, PmSample *out, PmErr *err)
{
	PmMade made[PM_SAMPLER_DEPTH];
	double t0 = pm_now();
	PmStatus st = pm_worker_clock_take(c->w, ask, out, c->keep ? made : NULL, err);

	c->out->slowest = fmax(c->out->slowest, (pm_now() - t0) / ask->batch);
	if (c->watch && c->samples++ % LOOK_EVERY == 0)
		pm_gpu_watch_look(c->watch, c->beside + pm_worker_processes(c->w));
	for (int i = 0; i < ask->batch && !st && c->keep; i++) {
		PmTimedCall t = { .kind = ask->kind, .index = ask->index + (uint64_t)i, .made = made[i] };

		name_side(c, ask->side, &t);
		PM_VEC_PUSH(&c->out->calls, t);
		if (t.side == PM_SIDE_CANDIDATE)
			st = maybe_keep(c, c->out->calls.n - 1, i, err);
	}
	return st;
}

/* --- the clock as the protocol wants it ------------------------------------------------------------------
 */

static PmStatus sample(void *arg, const PmSampleAsk *ask, PmSample *out, PmErr *err)
{
	return take(arg, ask, out, err);
}

static PmStatus empty(void *arg, double *seconds, PmErr *err)
{
	return pm_worker_clock_empty(((Clock *)arg)->w, seconds, err);
}

static PmStatus warm(void *arg, double *seconds, PmErr *err)
{
	return pm_worker_clock_warm(((Clock *)arg)->w, seconds, err);
}

static double now(void *arg)
{
	(void)arg;
	return pm_now();
}

/* --- one comparison --------------------------------------------------------------------------------------
 */

/* Inputs whose elements are free get a table to be drawn from, and a type alone; the others whole sets. */
static PmStatus make_tables(const PmGraph *g, uint64_t seed, PmInputPool *pool, PmErr *err)
{
	PmTensor *table = pm_xcalloc(pool->n_in + 1, sizeof *table);
	PmStatus st = PM_OK;

	pool->table = table;
	for (size_t i = 0; i < pool->n_in && !st; i++)
		if (pm_inputs_are_free(g, i))
			st = pm_inputs_draw(g, i, seed, PM_INPUTS_NORMAL, PM_BANK_TABLE, &table[i], err);
	return st;
}

static PmStatus make_input_pool(const PmGraph *g, const PmSecret *secret, int rehearsal, PmInputPool *pool,
				PmErr *err)
{
	size_t n = pm_graph_n_inputs(g), whole = 0;
	char *wanted = pm_xcalloc(n + 1, 1);
	int64_t bytes = 0, b = 0;
	PmTensor *t;
	PmStatus st;

	*pool = (PmInputPool){ .n_sets = SETS,
			       .n_in = n,
			       .seed = pm_secret_u64(secret, "bank", 0),
			       .digest = pm_secret_u64(secret, "digest", 0),
			       .inner = pm_secret_u64(secret, "inner digest", 0),
			       .sketch = pm_secret_u64(secret, "sketch", 0),
			       .salt = pm_secret_u64(secret, "salt", 0),
			       .poison = pm_secret_u64(secret, "poison", 0) };
	pool->t = t = pm_xcalloc(n * SETS + 1, sizeof *t);
	st = make_tables(g, pm_secret_u64(secret, "inputs", SETS), pool, err);
	for (size_t i = 0; i < n && !st; i++) {
		t[i].type = *pm_value_type(g, pm_graph_input(g, i));
		if (pm_input_pool_is_drawn(pool, i))
			continue;
		wanted[i] = 1;
		whole++;
		if (!pm_type_bytes(&t[i].type, &b, NULL))
			bytes += b;
	}
	if (!whole || bytes > (rehearsal ? LARGE_REHEARSAL : LARGE))
		pool->n_sets = rehearsal || !whole ? 1 : FEW_SETS;
	for (int s = 0; s < pool->n_sets && whole && !st; s++)
		st = pm_inputs_make_some(g, pm_secret_u64(secret, "inputs", (uint64_t)s), PM_INPUTS_NORMAL,
					 wanted, t + (size_t)s * n, err);
	free(wanted);
	return st;
}

/* Calls whose outputs fit. */
static size_t choose_room(const PmGraph *g, const PmClockOpts *opts)
{
	int64_t limit = opts->keep_bytes > 0 ? opts->keep_bytes : keep_most, bytes = 1, b = 0;

	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		if (!pm_type_bytes(pm_value_type(g, pm_graph_output(g, i)), &b, NULL))
			bytes += b;
	return limit / bytes > PM_CLOCK_KEPT ? (size_t)(limit / bytes) : PM_CLOCK_KEPT;
}

/* Everything before the first call. */
static PmStatus begin(Clock *c, PmWorker *w, const PmGraph *original, const PmWork *candidate, int n_alts,
		      const PmClockOpts *opts, int rehearsal, PmClockResult *out, PmErr *err)
{
	memset(out, 0, sizeof *out);
	memset(c, 0, sizeof *c);
	out->n_out = pm_graph_n_outputs(candidate->g);
	c->w = w;
	c->candidate = candidate;
	c->n_alts = n_alts;
	c->alone = rehearsal;
	c->out = out;
	c->keep = opts->keep;
	c->beside = opts->beside;
	c->room = choose_room(candidate->g, opts);
	c->secret = opts->secret;
	c->begun = pm_now();
	return make_input_pool(original, opts->secret, rehearsal, &out->pool, err);
}

void pm_clock_judge_gpu(const PmGpuSeen *seen, PmTiming *t)
{
	if (seen->others <= 0 || t->state != PM_TIMING_OK)
		return;
	t->state = PM_TIMING_UNSTABLE;
	snprintf(t->why, sizeof t->why,
		 "%d other processes used the GPU during the run; end them, or wait for them.", seen->others);
}

static void end_watch(Clock *c)
{
	PmClockResult *r = c->out;

	pm_gpu_watch_look(c->watch, c->beside + pm_worker_processes(c->w));
	r->gpu = *pm_gpu_watch_seen(c->watch);
	pm_gpu_watch_close(c->watch);
	pm_clock_judge_gpu(&r->gpu, &r->t);
}

/* Now: the process may be another when the clock is closed. `first`: the worker's side of the first one. */
static void keep_plans(Clock *c, int first)
{
	for (int k = 0; k < c->n_alts; k++)
		snprintf(c->out->plan[k], sizeof c->out->plan[k], "%s", pm_worker_digest(c->w, first + k));
}

static PmStatus run(Clock *c, const PmWork *side, int n_sides, const PmClockOpts *opts, PmErr *err)
{
	double loaded;
	PmClock clock = { sample, empty, warm, now, c };
	PmTimerOpts o = { .n_sides = n_sides,
			  .control = n_sides - 1,
			  .alternatives = n_sides - 2,
			  .blocks = opts->blocks,
			  .exact = opts->quick || opts->cold_only,
			  .replay = opts->cold_only ? -1 : (opts->quick ? opts->blocks : 0),
			  .wall = opts->cold_only ? -1 : (opts->quick ? opts->blocks : 0),
			  .graphs = opts->graphs,
			  .warm = opts->warm,
			  .seconds = opts->seconds,
			  .seed = pm_secret_u64(opts->secret, "order", 0),
			  .max_speedup = opts->max_speedup };
	PmStatus st = pm_worker_clock_open(c->w, side, n_sides, &c->out->pool, opts->deadline, &o.max_train,
					   err);

	for (int i = 0; i < 2 && opts->bytes_per_second > 0; i++)
		o.floor[i] = floor_share * (double)opts->bytes[i] / opts->bytes_per_second;
	keep_plans(c, n_sides > 2 ? 1 : 0);
	loaded = pm_now() - c->begun;
	if (!st)
		st = pm_timer_run(&clock, &o, &c->out->t, err);
	c->out->t.loaded = loaded;
	c->out->alt = n_sides > 2 ? c->out->t.chosen - 1 : 0;
	return st ? st : pm_worker_clock_close(c->w, err);
}

PmStatus pm_clock_compare(PmWorker *w, const PmWork *baseline, const PmWork *candidate, int n_alts,
			  const PmClockOpts *opts, PmClockResult *out, PmErr *err)
{
	PmWork side[PM_SAMPLER_SIDES];
	PmDeviceInfo info;
	Clock c;
	PmStatus st;

	if (n_alts < 1 || n_alts > PM_MAX_ALTS) {
		memset(out, 0, sizeof *out);
		return pm_err(err, PM_E_INVALID, "A clock compares 1 to %d alternatives.", (int)PM_MAX_ALTS);
	}
	side[0] = side[n_alts + 1] = *baseline;
	for (int k = 0; k < n_alts; k++)
		side[1 + k] = candidate[k];
	st = begin(&c, w, baseline->g, candidate, n_alts, opts, 0, out, err);
	if (!st)
		st = pm_worker_info(w, &info, err);
	if (!st) {
		pm_worker_settle(w);
		c.watch = pm_gpu_watch_open(NULL, info.pci);
		pm_gpu_watch_wait(c.watch, pm_worker_processes(w), others_leave);
		st = run(&c, side, n_alts + 2, opts, err);
		end_watch(&c);
	}
	PM_VEC_RELEASE(&c.kept);
	if (st)
		pm_clock_release(out);
	return st;
}

PmStatus pm_clock_rehearse(PmWorker *w, const PmGraph *original, const PmWork *candidate, int calls,
			   const PmClockOpts *opts, PmClockResult *out, PmErr *err)
{
	double t0 = pm_now(), limit = opts->seconds > 0 ? opts->seconds : PM_CLOCK_SECONDS;
	PmSample s;
	Clock c;
	int depth;
	PmStatus st = begin(&c, w, original, candidate, 1, opts, 1, out, err);

	if (!st)
		st = pm_worker_clock_open(w, candidate, 1, &out->pool, opts->deadline, &depth, err);
	keep_plans(&c, 0);
	for (int i = 0; i < calls && !st && (i < 2 || pm_now() - t0 < limit); i++) {
		PmSampleAsk ask = { 0, PM_TIME_NONE, (uint64_t)i, 1, 0 };

		st = take(&c, &ask, &s, err);
	}
	if (!st)
		st = pm_worker_clock_close(w, err);
	PM_VEC_RELEASE(&c.kept);
	if (st)
		pm_clock_release(out);
	return st;
}

PmStatus pm_clock_time(PmWorker *w, const PmWork *work, const PmClockOpts *opts, PmTiming *out, PmErr *err)
{
	const PmWork side[2] = { *work, *work };
	PmClockResult r;
	Clock c;
	PmStatus st = begin(&c, w, work->g, work, 1, opts, 0, &r, err);

	if (!st) {
		pm_worker_settle(w);
		st = run(&c, side, 2, opts, err);
	}
	*out = r.t;
	PM_VEC_RELEASE(&c.kept);
	pm_clock_release(&r);
	return st;
}
