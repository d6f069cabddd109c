/* runner_clock.c - the stage that measures a candidate, and looks at what was timed. */
#include "bench/agree.h"
#include "bench/runner_priv.h"
#include "runtime/ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_FLOPS = 1000000000 }; /* operations that the reference may take over timed calls */

/* Bytes that have to reach memory: the outputs, less what the L2 cache may hold back. */
static int64_t compulsory(const PmGraph *g, const PmDeviceInfo *info)
{
	int64_t sum = 0, b = 0;

	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		if (!pm_type_bytes(pm_value_type(g, pm_graph_output(g, i)), &b, NULL))
			sum += b;
	return sum > info->l2 ? sum - info->l2 : 0;
}

/* How many timed calls the reference can be asked about in a few seconds: at least one. */
static size_t affordable(const PmGraph *g, size_t n)
{
	int64_t flops = 1;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		flops += pm_op_flops(g, pm_graph_node_at(g, i));
	while (n > 1 && (int64_t)n * flops > CHECK_FLOPS)
		n--;
	return n;
}

/* What the candidate made in timed calls, against the reference, which is computed only now. */
static PmStatus check_timed(Eval *e, const PmClockResult *c, PmErr *err)
{
	size_t n = affordable(e->m->g, c->n_checked);
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n && !st && e->rec->verdict == PM_VERDICT_OK; i++) {
		PmTensor *want = pm_xcalloc(c->n_out + 1, sizeof *want);
		PmAgreement a = { 0 };

		st = pm_ref_run(e->m->g, c->checked[i].in, c->n_in, want, c->n_out, err);
		if (!st)
			st = pm_agree(e->m->g, c->checked[i].in, c->checked[i].out, want, c->n_out,
				      e->o->seed, &a, err);
		if (!st && !a.agrees && !a.ill_conditioned) {
			char text[256];

			snprintf(text, sizeof text,
				 "Wrong in a timed call: element %lld is %.9g where the reference has %.9g; "
				 "untimed calls were right.",
				 (long long)a.c.worst.index, a.c.worst.got, a.c.worst.expected);
			pm__say(e, PM_VERDICT_INCORRECT, text);
		}
		e->rec->timing.checked++;
		pm_tensors_release(want, c->n_out);
		free(want);
	}
	return st;
}

static void keep_times(PmEvalRecord *r, const PmTiming *t)
{
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
	for (int i = 0; i < 2; i++) {
		r->timing.replay[i] = replay->side[i].median;
		r->timing.wall[i] = wall->side[i].median;
	}
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

	pm_err_init(&run_err);
	cand.alts = alts;
	st = pm_clock_compare(e->worker, &base, &cand, opts, c, &run_err);
	free(alts);
	if (!st)
		return PM_OK;
	if (pm__is_our_fault(st))
		return pm_err(err, st, "%s", run_err.text);
	return pm__say(e, pm__device_verdict(st), run_err.text);
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

static PmStatus time_and_judge(Eval *e, int alt, const PmClockOpts *opts, PmErr *err)
{
	PmClockResult c;
	PmStatus st = time_one(e, alt, opts, &c, err);

	if (st || e->rec->verdict != PM_VERDICT_OK)
		return st;
	keep_times(e->rec, &c.t);
	pm_worker_renew(e->worker); /* the candidate's process ends before there are references */
	st = check_timed(e, &c, err);
	if (!st && e->rec->verdict == PM_VERDICT_OK && c.t.state != PM_TIMING_OK)
		pm__say(e,
			c.t.state == PM_TIMING_UNSTABLE ? PM_VERDICT_TIMING_UNSTABLE
							: PM_VERDICT_TIMING_QUARANTINE,
			c.t.why);
	pm_clock_release(&c);
	return st;
}

static PmStatus measure(Eval *e, int alt, const PmPlanStats *base, const PmPlanStats *cand,
			const PmDeviceInfo *info, PmErr *err)
{
	PmClockOpts o = { .seed = e->o->seed,
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

/* Measures where the device can. A candidate that is wrong at the level asked for is measured as well, since
 * it may be right at a coarser one: measured and modelled times must not meet in one score. It stays
 * INCORRECT, unless it fails on the device. */
PmStatus pm__stage_clock(Eval *e, int alt, const PmPlanStats *base, const PmPlanStats *cand, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	int wrong = r->verdict == PM_VERDICT_INCORRECT;
	char why[PM_ERR_MAX];
	PmDeviceInfo info;
	PmStatus st = pm_worker_info(e->worker, &info, err);

	if (st || !info.measured)
		return st;
	memcpy(why, r->why, sizeof why);
	pm__say(e, PM_VERDICT_OK, "");
	st = measure(e, alt, base, cand, &info, err);
	if (wrong && r->measured)
		pm__say(e, PM_VERDICT_INCORRECT, why);
	return st;
}
