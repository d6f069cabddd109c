/* runner_clock.c - the stage that measures a candidate, and looks at what was timed. */
#include "bench/deferred.h"
#include "bench/outside.h"
#include "bench/runner_priv.h"
#include "runtime/ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	REHEARSED = 24, /* calls where nothing is timed */
	LARGE_REFERENCE =
		30000000, /* operations: then the reference is not asked about ordinary rehearsals */
	CLOCK_TRIES = 3,  /* of calls whose process something outside killed */
	OUTSIDE_BLOCKS = 8
};

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

/* Every call that was timed, looked at now that the candidate's process has ended. */
static PmStatus check_calls(Eval *e, const PmWork *cand, const PmClockResult *c, int baseline, PmErr *err)
{
	PmWork base = { .g = e->m->g };
	PmDeferredOpts o = { .deadline = e->o->device_deadline,
			     .lane = e->o->lane,
			     .reference_seconds = baseline ? 3 : 0.3,
			     .special_only = !baseline && is_large(e->m->g),
			     .seed = e->o->seed,
			     .baseline = baseline ? &base : NULL };
	PmEvalTiming *t = &e->rec->timing;
	PmDeferred d;
	PmErr why;
	PmStatus st;
	int tries = 0;

	pm_err_init(&why);
	do
		st = pm_deferred_check(e->worker, e->m->g, cand, c, &o, &d, &why);
	while (st && pm_worker_killed(e->worker) && ++tries < CLOCK_TRIES);
	if (st)
		return pm__device_said(e, st, &why, err);
	t->calls = d.calls;
	t->replayed = d.replayed;
	t->compared = d.compared;
	t->projected = d.projected;
	t->checked = d.referenced;
	if (d.state == PM_DEFERRED_WRONG)
		pm__say(e, PM_VERDICT_INCORRECT, d.why);
	else if (d.state == PM_DEFERRED_SPECIAL)
		pm__say(e, PM_VERDICT_NONDET, d.why);
	else if (d.state == PM_DEFERRED_DISTURBED)
		pm__say(e, PM_VERDICT_TIMING_QUARANTINE, d.why);
	return PM_OK;
}

static PmStatus check_alternative(Eval *e, int alt, const PmClockResult *c, int baseline, PmErr *err)
{
	PmWork cand = { .g = e->cand.g };
	int *alts = pm__choose_alternatives(e->cand.g, alt, &cand.n_alts);
	PmStatus st;

	cand.alts = alts;
	st = check_calls(e, &cand, c, baseline, err);
	free(alts);
	return st;
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
		r->timing.replay[i] = replay->side[i].median;
		r->timing.wall[i] = wall->side[i].median;
	}
	r->timing.gpu = c->gpu;
	r->timing.runs = 1;
	r->timing.found[0] = r->speedup;
	memcpy(r->timing.host_bound, t->host_bound, sizeof t->host_bound);
	r->timing.replay_speedup = replay->ratio[PM_SIDE_CANDIDATE].point;
	r->timing.wall_speedup = wall->ratio[PM_SIDE_CANDIDATE].point;
}

/* One comparison with alternative `alt`; *c is filled when the verdict stays OK. */
static PmStatus time_one(Eval *e, int alt, const PmClockOpts *opts, PmClockResult *c, PmErr *err)
{
	PmWork base = { .g = e->m->g }, cand = { .g = e->cand.g };
	int *alts = pm__choose_alternatives(e->cand.g, alt, &cand.n_alts);
	PmErr run_err;
	PmStatus st;
	int tries = 0;

	pm_err_init(&run_err);
	cand.alts = alts;
	do
		st = pm_clock_compare(e->worker, &base, &cand, opts, c, &run_err);
	while (st && pm_worker_killed(e->worker) && ++tries < CLOCK_TRIES);
	free(alts);
	return pm__device_said(e, st, &run_err, err);
}

/* The alternative with the least measured time, found by short comparisons that are not scored. */
static PmStatus tune(Eval *e, const PmClockOpts *opts, int *alt, PmErr *err)
{
	PmClockOpts quick = *opts;
	double least = INFINITY;
	PmStatus st = PM_OK;

	quick.blocks = 8;
	quick.seconds = 2;
	for (int k = 0; k < e->n_alts && e->n_alts > 1 && !st && e->rec->verdict == PM_VERDICT_OK; k++) {
		PmClockResult c;

		st = time_one(e, k, &quick, &c, err);
		if (st || e->rec->verdict != PM_VERDICT_OK)
			break;
		if (c.t.kind[PM_TIME_COLD].side[PM_SIDE_CANDIDATE].median < least) {
			least = c.t.kind[PM_TIME_COLD].side[PM_SIDE_CANDIDATE].median;
			*alt = k;
		}
		pm_clock_release(&c);
	}
	return st;
}

/* One run of the clock and the check of its calls; the worker's process is a new one. *t is filled when the
 * verdict stays OK. */
static PmStatus time_and_check(Eval *e, int alt, const PmClockOpts *opts, PmTiming *t, PmErr *err)
{
	PmClockOpts o = *opts;
	PmClockResult c;
	PmStatus st;

	o.keep = 1;
	st = time_one(e, alt, &o, &c, err);
	if (st || e->rec->verdict != PM_VERDICT_OK)
		return st;
	keep_times(e->rec, &c);
	st = check_alternative(e, alt, &c, 1, err);
	*t = c.t;
	pm_clock_release(&c);
	return st;
}

static int wants_confirmation(const Eval *e, const PmTiming *t)
{
	return t->doubts == PM_DOUBT_SPEEDUP ||
	       (t->state == PM_TIMING_OK && e->o->confirm_above > 0 && e->rec->speedup > e->o->confirm_above);
}

/* Runs again with other inputs until two runs agree or three have not. The record has the timing of the run
 * to be published; *agreed says whether there is one. */
static PmStatus confirm(Eval *e, int alt, const PmClockOpts *opts, PmTiming *t, int *agreed, PmErr *err)
{
	PmEvalRecord *r = e->rec, run[3];
	PmTiming time[3];
	PmClockOpts o = *opts;
	double found[3];
	PmStatus st = PM_OK;
	int n = 1, best = -1;

	run[0] = *r;
	time[0] = *t;
	found[0] = r->speedup;
	while (!st && r->verdict == PM_VERDICT_OK && best < 0 && n < 3) {
		o.seed = e->o->seed + 1000003 * (uint64_t)n;
		st = time_and_check(e, alt, &o, &time[n], err);
		if (st || r->verdict != PM_VERDICT_OK)
			return st;
		run[n] = *r;
		found[n++] = r->speedup;
		best = pm_timer_confirm(found, n);
	}
	*agreed = best >= 0;
	*r = run[best >= 0 ? best : 0];
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

static PmStatus time_and_judge(Eval *e, int alt, const PmClockOpts *opts, PmErr *err)
{
	int agreed = 0;
	PmTiming t;
	PmStatus st = time_and_check(e, alt, opts, &t, err);

	if (!st && e->rec->verdict == PM_VERDICT_OK && wants_confirmation(e, &t))
		st = confirm(e, alt, opts, &t, &agreed, err);
	if (st || e->rec->verdict != PM_VERDICT_OK)
		return st;
	return say_timing(e, &t, agreed);
}

/* Where nothing can be timed the candidate is called as if it were, so that what depends on the call is found
 * there too. */
static PmStatus rehearse(Eval *e, int alt, PmErr *err)
{
	PmClockOpts o = { .seed = e->o->seed, .deadline = e->o->device_deadline, .seconds = 0.3, .keep = 1 };
	PmWork cand = { .g = e->cand.g };
	int *alts = pm__choose_alternatives(e->cand.g, alt, &cand.n_alts);
	PmClockResult c;
	PmErr why;
	PmStatus st;
	int tries = 0;

	pm_err_init(&why);
	cand.alts = alts;
	do
		st = pm_clock_rehearse(e->worker, e->m->g, &cand, REHEARSED, &o, &c, &why);
	while (st && pm_worker_killed(e->worker) && ++tries < CLOCK_TRIES);
	if (!st) {
		st = check_calls(e, &cand, &c, 0, err);
		pm_clock_release(&c);
	} else {
		st = pm__device_said(e, st, &why, err);
	}
	free(alts);
	return st;
}

static PmStatus measure(Eval *e, int alt, const PmPlanStats *base, const PmPlanStats *cand,
			const PmDeviceInfo *info, PmErr *err)
{
	PmClockOpts o = { .seed = e->o->seed,
			  .graphs = e->o->graphs,
			  .deadline = e->o->device_deadline,
			  .seconds = e->o->clock_seconds };
	PmStatus st;

	o.bytes[0] = o.bytes[1] = compulsory(e->m->g, info);
	o.bytes_per_second = pm_profile(e->o->profile)->bytes_per_second;
	if (cand->n_launches > 0)
		o.max_speedup = fmax(10, 3.0 * base->n_launches / cand->n_launches);
	st = tune(e, &o, &alt, err);
	return st || e->rec->verdict != PM_VERDICT_OK ? st : time_and_judge(e, alt, &o, err);
}

static int launches(const PmGraph *g)
{
	PmPlanStats s;

	pm_graph_plan_stats(g, NULL, 0, NULL, &s, NULL);
	return s.n_launches;
}

/* Coverage by the clock: what is left beside the kernels, timed alone in a process that has run no kernel of
 * the pass. Without launches it takes nothing. Where it cannot be timed the modelled share stays. */
static PmStatus measure_coverage(Eval *e, PmErr *err)
{
	PmClockOpts o = { .seed = e->o->seed,
			  .deadline = e->o->device_deadline,
			  .seconds = 2,
			  .blocks = OUTSIDE_BLOCKS,
			  .quick = 1 };
	PmEvalRecord *r = e->rec;
	PmGraph *g = NULL;
	PmTiming t;
	PmErr why;
	PmStatus st = pm_outside(e->cand.g, &g, err);

	pm_err_init(&why);
	if (st)
		return st;
	r->timing.outside = 0;
	if (g && launches(g) > 0) {
		PmWork work = { .g = g };

		pm_worker_renew(e->worker);
		st = pm_clock_time(e->worker, &work, &o, &t, &why);
		r->timing.outside = st ? NAN : t.kind[PM_TIME_COLD].side[0].median;
	}
	pm_graph_free(g);
	if (isfinite(r->timing.outside) && r->baseline_seconds > 0)
		r->coverage = fmin(1, fmax(0, 1 - r->timing.outside / r->baseline_seconds));
	return PM_OK;
}

/* Measures where the device can. A candidate that is wrong at the level asked for is measured as well, since
 * it may be right at a coarser one: measured and modelled times must not meet in one score. It stays
 * wrong, unless it fails on the device. */
PmStatus pm__stage_clock(Eval *e, int alt, const PmPlanStats *base, const PmPlanStats *cand, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	PmVerdict was = r->verdict;
	char why[PM_ERR_MAX];
	PmDeviceInfo info;
	PmStatus st = pm_worker_info(e->worker, &info, err);

	if (st)
		return st;
	if (!info.measured)
		return pm__is_inexact(was) ? PM_OK : rehearse(e, alt, err);
	memcpy(why, r->why, sizeof why);
	snprintf(r->timing.machine, sizeof r->timing.machine, "%.63s", info.name);
	pm__say(e, PM_VERDICT_OK, "");
	st = measure(e, alt, base, cand, &info, err);
	if (!st && r->measured)
		st = measure_coverage(e, err);
	if (pm__is_inexact(was) && r->measured)
		pm__say(e, was, why);
	return st;
}
