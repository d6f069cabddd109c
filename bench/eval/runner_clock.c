/* SPDX-License-Identifier: Apache-2.0 */
/* runner_clock.c - the stage that measures a candidate, and looks at what was timed. */
#include "bench/eval/outside.h"
#include "bench/eval/runner_priv.h"
#include "bench/timing/replay_verify.h"
#include "runtime/ref/ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	REHEARSED = 24,      /* calls where nothing is timed, of all alternatives together, */
	REHEARSED_LEAST = 6, /* but so many of each */
	LARGE_REFERENCE =
		30000000, /* operations: then the reference is not asked about ordinary rehearsals */
	CLOCK_TRIES = 3,  /* of calls whose process something outside killed */
	OUTSIDE_BLOCKS = 4,
	FIRST_BLOCKS = 8, /* of a first answer: the fewest that have an interval */
	RUNS = 3          /* of the clock at most */
};
static const double first_seconds = 0.3, /* of its clock */
	rehearsal_seconds = 0.3,         /* the same, and of the reference */
	reference_seconds = 3;           /* of processors, about timed calls */

/* Bytes that have to reach memory: the outputs, less what the L2 cache may hold back. */
static int64_t compulsory(const PmGraph *g, const PmDeviceInfo *info)
{
	int64_t sum = 0, b = 0;

	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		if (!pm_type_bytes(pm_value_type(g, pm_graph_output(g, i)), &b, NULL))
			sum += b;
	return sum > info->l2 ? sum - info->l2 : 0;
}

static int is_large(const PmGraph *g)
{
	int64_t flops = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		flops += pm_op_flops(g, pm_graph_node_at(g, i));
	return flops > LARGE_REFERENCE;
}

static void count_calls(PmEvalTiming *t, const PmReplayResult *d)
{
	t->calls += d->calls;
	t->replayed += d->replayed;
	t->compared += d->compared;
	t->projected += d->projected;
	t->checked += d->referenced;
}

/* The element that the sentence names is the worst one of the record. */
static void keep_wrong_call(PmEvalRecord *r, const PmFailure *f, int alt)
{
	r->failure = *f;
	r->failure.alternative = alt;
	pm_failure_worst(f->dtype, &f->worst, &r->worst);
	snprintf(r->worst_where, sizeof r->worst_where, "output '%.60s', timed call %lld", f->output,
		 (long long)f->call);
}

/* Alternatives of the candidate that are called: all of them, or one. */
typedef struct Called {
	int first, n;
	PmWork work[PM_MAX_ALTS];
	int *alts[PM_MAX_ALTS]; /* owned */
} Called;

static void call_alternatives(const Eval *e, int first, int n, Called *c)
{
	*c = (Called){ .first = first, .n = n };
	for (int k = 0; k < n; k++) {
		c->alts[k] = pm__choose_alternatives(e->cand.g, first + k, &c->work[k].n_alts);
		c->work[k].g = e->cand.g;
		c->work[k].alts = c->alts[k];
	}
}

static void called_release(Called *c)
{
	for (int k = 0; k < c->n; k++)
		free(c->alts[k]);
}

static PmStatus same_plans(Eval *e, const Called *called, const PmClockResult *c, PmErr *err)
{
	PmStatus st = PM_OK;

	for (int k = 0; k < called->n && !st; k++)
		st = pm__same_plan(e, called->first + k, c->plan[k], err);
	return st;
}

/* Every call that was timed, looked at now that the candidate's process has ended. `seconds`: for the
 * reference. */
static PmStatus check_calls(Eval *e, const Called *called, const PmClockResult *c, const PmClockOpts *opts,
			    int baseline, double seconds, PmErr *err)
{
	PmWork base = { .g = e->m->g };
	PmReplayOpts o = { .deadline = e->deadline,
			   .tier = e->o->tier,
			   .reference_seconds = seconds,
			   .special_only = !baseline && is_large(e->m->g),
			   .secret = opts->secret,
			   .baseline = baseline ? &base : NULL };
	PmReplayResult d;
	PmStage was = pm_stage_enter(&e->stages, PM_STAGE_REPLAY_VERIFY);
	PmErr why;
	PmStatus st;
	int tries = 0;

	pm_err_init(&why);
	do
		st = pm_replay_verify(e->worker, e->m->g, called->work, called->n, c, &o, &d, &why);
	while (st && pm_worker_killed(e->worker) && ++tries < CLOCK_TRIES);
	pm_stage_enter(&e->stages, was);
	if (st)
		return pm__device_said(e, st, &why, err);
	count_calls(&e->rec->timing, &d);
	if (d.state == PM_REPLAY_WRONG) {
		pm__say(e, PM_VERDICT_INCORRECT, d.why);
		keep_wrong_call(e->rec, &d.failure, called->first + d.failure.alternative);
	} else if (d.state == PM_REPLAY_SPECIAL) {
		pm__say(e, PM_VERDICT_NONDET, d.why);
	} else if (d.state == PM_REPLAY_DISTURBED) {
		pm__say(e, PM_VERDICT_TIMING_QUARANTINE, d.why);
	}
	return PM_OK;
}

static void keep_times(PmEvalRecord *r, const PmClockResult *c)
{
	const PmTiming *t = &c->t;
	const PmTimes *cold = &t->kind[PM_TIME_COLD], *replay = &t->kind[PM_TIME_REPLAY],
		      *wall = &t->kind[PM_TIME_WALL];

	r->measured = 1;
	r->baseline_seconds = cold->side[PM_SIDE_BASELINE].median;
	r->candidate_seconds = cold->side[PM_SIDE_CANDIDATE].median;
	r->speedup = cold->ratio[PM_SIDE_CANDIDATE].point;
	r->timing.blocks = cold->blocks;
	r->timing.lo = cold->ratio[PM_SIDE_CANDIDATE].lo;
	r->timing.hi = cold->ratio[PM_SIDE_CANDIDATE].hi;
	r->timing.control = cold->ratio[PM_SIDE_CONTROL].point;
	r->timing.control_lo = cold->ratio[PM_SIDE_CONTROL].lo;
	r->timing.control_hi = cold->ratio[PM_SIDE_CONTROL].hi;
	for (int i = 0; i < 2; i++) {
		r->timing.replay[i] = pm_timer_seconds(replay, i);
		r->timing.wall[i] = wall->side[i].median;
	}
	r->timing.gpu = c->gpu;
	r->timing.runs = 1;
	r->timing.found[0] = r->speedup;
	memcpy(r->timing.host_bound, t->host_bound, sizeof t->host_bound);
	r->timing.replay_speedup = replay->ratio[PM_SIDE_CANDIDATE].point;
	r->timing.wall_speedup = wall->ratio[PM_SIDE_CANDIDATE].point;
}

/* What the clock found is known before its calls have been looked at. */
static void tell(Eval *e, const Called *called, const PmClockResult *c)
{
	const PmInterval *x = &c->t.kind[PM_TIME_COLD].ratio[PM_SIDE_CANDIDATE];

	if (c->t.state == PM_TIMING_OK)
		pm__first_tell_measured(e, called->first + c->alt, x->point, x->lo, x->hi);
}

static int wants_confirmation(const Eval *e, const PmTiming *t)
{
	double speedup = t->kind[PM_TIME_COLD].ratio[PM_SIDE_CANDIDATE].point;

	return t->doubts == PM_DOUBT_SPEEDUP ||
	       (t->state == PM_TIMING_OK && e->o->confirm_above > 0 && speedup > e->o->confirm_above);
}

static int launches(const PmGraph *g)
{
	PmPlanStats s;

	pm_graph_plan_stats(g, NULL, 0, NULL, &s, NULL);
	return s.n_launches;
}

/* What is left beside the kernels; owned by the caller, NULL where that launches nothing. */
static PmStatus outside(const Eval *e, PmGraph **g, PmErr *err)
{
	PmStatus st = pm_outside(e->cand.g, g, err);

	if (!st && *g && !launches(*g)) {
		pm_graph_free(*g);
		*g = NULL;
	}
	return st;
}

/* Before the calls of a clock are made again: a clock that comes after them does not wait for its process. */
static PmStatus prepare_next(Eval *e, const PmTiming *t, int run, PmErr *err)
{
	int confirms = !run && wants_confirmation(e, t);
	PmGraph *g = NULL;
	PmStatus st;

	if (e->exclusive)
		return PM_OK;
	st = outside(e, &g, err);
	pm_worker_prepare(e->worker, PM_REPLAY_PROCESSES + (confirms ? 1 + PM_REPLAY_PROCESSES : g != NULL));
	pm_graph_free(g);
	return st;
}

/* A comparison with the fastest of the alternatives that are called, and the check of all their calls. `run`
 * tells it from others, which have other inputs. *c has the times, and no calls; zeros when the clock failed.
 */
static PmStatus time_and_check(Eval *e, const Called *called, int run, const PmClockOpts *opts,
			       PmClockResult *c, PmErr *err)
{
	PmSecret *secret = pm_secret_derive(e->secret, "clock", "run", (uint64_t)run);
	PmWork base = { .g = e->m->g };
	PmClockOpts o = *opts;
	PmErr why;
	PmStatus st = pm__have_device_alone(e, err);
	int tries = 0;

	pm_err_init(&why);
	o.keep = 1;
	o.secret = secret;
	o.beside = pm_rwlock_left_behind(e->o->lock);
	if (st) {
		pm_secret_free(secret);
		return st;
	}
	do
		st = pm_clock_compare(e->worker, &base, called->work, called->n, &o, c, &why);
	while (st && pm_worker_killed(e->worker) && ++tries < CLOCK_TRIES);
	if (st) {
		memset(c, 0, sizeof *c);
		st = pm__device_said(e, st, &why, err);
	} else {
		st = same_plans(e, called, c, err);
		if (!st && !run)
			tell(e, called, c); /* before others begin */
		if (!st)
			st = pm__let_others(e, err);
		if (!st)
			st = prepare_next(e, &c->t, run, err);
		if (!st)
			st = check_calls(e, called, c, &o, 1, reference_seconds, err);
		pm_clock_release(c);
	}
	pm_secret_free(secret);
	return st;
}

/* Run number `run` of the clock that counts, with the fastest of `n` alternatives from *alt on, which becomes
 * that one; the worker's process is a new one but in the first. *t and the record's times are filled when the
 * clock came to its end. */
static PmStatus time_run(Eval *e, int *alt, int n, int run, const PmClockOpts *opts, PmTiming *t, PmErr *err)
{
	PmClockResult c = { 0 };
	Called called;
	PmStatus st;

	call_alternatives(e, *alt, n, &called);
	st = time_and_check(e, &called, run, opts, &c, err);
	if (!st && c.n_out) {
		*alt += c.alt;
		pm__choose(e, *alt);
		keep_times(e->rec, &c);
		*t = c.t;
	}
	called_release(&called);
	return st;
}

/* Counts are of all runs. */
static void keep_calls(PmEvalTiming *t, const PmEvalTiming *last)
{
	t->calls = last->calls;
	t->replayed = last->replayed;
	t->compared = last->compared;
	t->projected = last->projected;
	t->checked = last->checked;
}

/* Runs again with other inputs until two runs agree or three have not. The record has the timing of the run
 * to be published; *agreed says whether there is one. */
static PmStatus confirm(Eval *e, int alt, const PmClockOpts *opts, PmTiming *t, int *agreed, PmErr *err)
{
	PmEvalRecord *r = e->rec, run[RUNS];
	PmTiming time[RUNS];
	double found[RUNS];
	PmStatus st = PM_OK;
	int n = 1, best = -1;

	run[0] = *r;
	time[0] = *t;
	found[0] = r->speedup;
	while (!st && r->verdict == PM_VERDICT_OK && best < 0 && n < RUNS) {
		st = time_run(e, &alt, 1, n, opts, &time[n], err);
		if (st || r->verdict != PM_VERDICT_OK)
			return st;
		run[n] = *r;
		found[n++] = r->speedup;
		best = pm_timer_confirm(found, n);
	}
	*agreed = best >= 0;
	*r = run[best >= 0 ? best : 0];
	keep_calls(&r->timing, &run[n - 1].timing);
	*t = time[best >= 0 ? best : 0];
	r->timing.runs = n;
	memcpy(r->timing.found, found, (size_t)n * sizeof *found);
	return st;
}

static PmStatus say_timing(Eval *e, const PmTiming *t, int agreed)
{
	const double *x = e->rec->timing.found;
	int refused = t->state == PM_TIMING_IMPLAUSIBLE && (t->doubts != PM_DOUBT_SPEEDUP || !agreed);
	char text[PM_ERR_MAX];

	if (t->state == PM_TIMING_UNSTABLE)
		return pm__say(e, PM_VERDICT_TIMING_UNSTABLE, t->why);
	if (e->rec->timing.runs == 1 || agreed)
		return refused ? pm__say(e, PM_VERDICT_TIMING_QUARANTINE, t->why) : PM_OK;
	snprintf(text, sizeof text, "Three runs do not agree on the speedup: %.4g, %.4g and %.4g.", x[0],
		 x[1], x[2]);
	return pm__say(e, refused ? PM_VERDICT_TIMING_QUARANTINE : PM_VERDICT_TIMING_UNSTABLE, text);
}

static PmStatus time_and_judge(Eval *e, const PmClockOpts *opts, PmErr *err)
{
	int agreed = 0, alt = 0;
	PmTiming t;
	PmStatus st = time_run(e, &alt, e->n_alts, 0, opts, &t, err);

	if (!st && e->rec->verdict == PM_VERDICT_OK && wants_confirmation(e, &t))
		st = confirm(e, alt, opts, &t, &agreed, err);
	if (st || e->rec->verdict != PM_VERDICT_OK)
		return st;
	return say_timing(e, &t, agreed);
}

static PmStatus rehearse_one(Eval *e, int alt, PmErr *err)
{
	PmSecret *secret = pm_secret_derive(e->secret, "clock", "rehearsal", (uint64_t)alt);
	PmClockOpts o = {
		.secret = secret, .deadline = e->deadline, .seconds = rehearsal_seconds / e->n_alts, .keep = 1
	};
	int calls = REHEARSED / e->n_alts, tries = 0;
	PmClockResult c;
	Called called;
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	call_alternatives(e, alt, 1, &called);
	do
		st = pm_clock_rehearse(e->worker, e->m->g, called.work,
				       calls > REHEARSED_LEAST ? calls : REHEARSED_LEAST, &o, &c, &why);
	while (st && pm_worker_killed(e->worker) && ++tries < CLOCK_TRIES);
	if (!st) {
		st = same_plans(e, &called, &c, err);
		if (!st)
			st = check_calls(e, &called, &c, &o, 0, rehearsal_seconds / e->n_alts, err);
		pm_clock_release(&c);
	} else {
		st = pm__device_said(e, st, &why, err);
	}
	called_release(&called);
	pm_secret_free(secret);
	return st;
}

/* Where nothing can be timed the candidate is called as if it were, so that what depends on the call is found
 * there too: each alternative, since any may be what is timed elsewhere. */
static PmStatus rehearse(Eval *e, PmErr *err)
{
	PmStage was = pm_stage_enter(&e->stages, PM_STAGE_REHEARSE);
	PmStatus st = PM_OK;

	for (int alt = 0; alt < e->n_alts && !st && e->rec->verdict == PM_VERDICT_OK; alt++)
		st = rehearse_one(e, alt, err);
	pm_stage_enter(&e->stages, was);
	return st;
}

static PmStatus measure(Eval *e, const PmPlanStats *base, const PmPlanStats *cand, const PmDeviceInfo *info,
			PmErr *err)
{
	PmClockOpts o = { .graphs = e->o->graphs, .deadline = e->deadline, .seconds = e->o->clock_seconds };

	o.bytes[0] = o.bytes[1] = compulsory(e->m->g, info);
	o.bytes_per_second = pm_profile(e->o->profile)->bytes_per_second;
	if (cand->n_launches > 0)
		o.max_speedup = fmax(10, 3.0 * base->n_launches / cand->n_launches);
	return time_and_judge(e, &o, err);
}

/* What g takes, timed alone in a process that has run no kernel of the pass; NaN where it cannot be. */
static PmStatus time_outside(Eval *e, const PmGraph *g, double *seconds, PmErr *err)
{
	PmClockOpts o = { .deadline = e->deadline, .seconds = 2, .blocks = OUTSIDE_BLOCKS, .quick = 1 };
	PmWork work = { .g = g };
	PmSecret *secret;
	PmTiming t;
	PmStatus st = pm__have_device_alone(e, err);
	PmErr why;

	*seconds = NAN;
	if (st)
		return st;
	pm_err_init(&why);
	o.secret = secret = pm_secret_derive(e->secret, "clock", "outside", 0);
	pm_worker_renew(e->worker);
	if (!pm_clock_time(e->worker, &work, &o, &t, &why))
		*seconds = t.kind[PM_TIME_COLD].side[0].median;
	pm_secret_free(secret);
	return PM_OK;
}

/* Coverage by the clock: what is left beside the kernels. Without launches it takes nothing. Where it cannot
 * be timed the modelled share stays. */
static PmStatus measure_coverage(Eval *e, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	PmGraph *g = NULL;
	PmStatus st = outside(e, &g, err);

	if (st)
		return st;
	r->timing.outside = 0;
	if (g)
		st = time_outside(e, g, &r->timing.outside, err);
	pm_graph_free(g);
	if (!st && isfinite(r->timing.outside) && r->baseline_seconds > 0)
		r->coverage = fmin(1, fmax(0, 1 - r->timing.outside / r->baseline_seconds));
	return st;
}

/* A look with few blocks, of which the interval is told: nothing is kept, checked or measured again. What
 * would have needed that is not checked. */
static PmStatus measure_first(Eval *e, int alt, PmErr *err)
{
	PmSecret *secret = pm_secret_derive(e->secret, "clock", "first answer", 0);
	PmClockOpts o = { .secret = secret,
			  .deadline = e->deadline,
			  .seconds = first_seconds,
			  .blocks = FIRST_BLOCKS,
			  .cold_only = 1,
			  .warm = 1,
			  .graphs = e->o->graphs };
	PmWork base = { .g = e->m->g };
	PmClockResult c = { 0 };
	Called called;
	PmErr why;
	PmStatus st = pm__have_device_alone(e, err);
	int tries = 0;

	if (st) {
		pm_secret_free(secret);
		return st;
	}
	pm_err_init(&why);
	o.beside = pm_rwlock_left_behind(e->o->lock);
	call_alternatives(e, alt, 1, &called);
	do
		st = pm_clock_compare(e->worker, &base, called.work, 1, &o, &c, &why);
	while (st && pm_worker_killed(e->worker) && ++tries < CLOCK_TRIES);
	if (st) {
		st = pm__device_said(e, st, &why, err);
	} else {
		st = same_plans(e, &called, &c, err);
		keep_times(e->rec, &c);
		e->rec->timing.replay_speedup = e->rec->timing.wall_speedup = NAN;
		e->rec->timing.wall[0] = e->rec->timing.wall[1] = NAN;
		if (c.t.state != PM_TIMING_OK)
			pm__leave_out(e, "times, of which the short clock is in doubt");
		pm_clock_release(&c);
	}
	called_release(&called);
	pm_secret_free(secret);
	return st;
}

/* Measures where the device can. A candidate that is wrong at the level asked for is measured as well, since
 * it may be right at a coarser one: measured and modelled times must not meet in one score. It stays
 * wrong, unless it fails on the device. */
PmStatus pm__stage_clock(Eval *e, int alt, const PmPlanStats *base, const PmPlanStats *cand, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	PmVerdict was = r->verdict;
	PmStage before;
	char why[PM_ERR_MAX];
	PmFailure failure = r->failure;
	PmDeviceInfo info;
	PmStatus st = pm_worker_info(e->worker, &info, err);

	if (st)
		return st;
	e->exclusive = info.exclusive;
	pm__choose(e, alt);
	/* A call of the clock runs all blocks, for which there is no time where some were judged. */
	if (!info.measured)
		return pm__is_inexact(was) || e->o->first_answer || e->sample.on ? PM_OK : rehearse(e, err);
	memcpy(why, r->why, sizeof why);
	snprintf(r->timing.machine, sizeof r->timing.machine, "%.63s", info.name);
	pm__say(e, PM_VERDICT_OK, "");
	r->failure = (PmFailure){ 0 };
	before = pm_stage_enter(&e->stages, PM_STAGE_TIMING);
	pm_products_rest(e->products);
	st = e->o->first_answer ? measure_first(e, alt, err) : measure(e, base, cand, &info, err);
	if (!st && r->measured && !e->o->first_answer)
		st = measure_coverage(e, err);
	pm_stage_enter(&e->stages, before);
	if (pm__is_inexact(was) && r->measured) {
		pm__say(e, was, why);
		r->failure = failure;
	}
	return st;
}
