/* SPDX-License-Identifier: Apache-2.0 */
/* runner_model.c - what the model of time says of a candidate: its alternatives, its speedup, what it
 * replaced. */
#include "bench/eval/runner_priv.h"
#include "runtime/worker/count.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNTING_SECONDS = 600 }; /* as long as any run of what was judged may take, with the compiler */

static PmStatus stats_of(const Eval *e, int alt, PmPlanStats *out, PmErr *err)
{
	size_t n;
	int *alts = pm__choose_alternatives(e->cand.g, alt, &n);
	PmStatus st = pm_graph_plan_stats(e->cand.g, alts, n, pm_profile(e->o->profile), out, err);

	free(alts);
	return st;
}

PmStatus pm__model(Eval *e, PmPlanStats *base, PmPlanStats *best, int *alt, PmErr *err)
{
	PmStatus st = pm_graph_plan_stats(e->m->g, NULL, 0, pm_profile(e->o->profile), base, err);

	for (int k = 0; k < e->n_alts && !st; k++) {
		PmPlanStats s;

		st = stats_of(e, k, &s, err);
		if (!st && (k == 0 || s.modelled_seconds < best->modelled_seconds)) {
			*best = s;
			*alt = k;
		}
	}
	return st;
}

/* ---- counting ---- */

/* On inputs that are the same for everybody, since a modelled time is. */
static PmStatus count(Eval *e, int alt, PmErr *err)
{
	size_t n_in = pm_graph_n_inputs(e->cand.g), n;
	int *alts = pm__choose_alternatives(e->cand.g, alt, &n);
	PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in);
	const PmProfile *prof = pm_profile(e->o->profile);
	PmPlan *plan = NULL;
	PmStatus st = pm_plan_new(e->cand.g, alts, n, &plan, err);

	if (!st)
		st = pm_inputs_make(e->cand.g, 0, PM_INPUTS_NORMAL, in, err);
	if (!st) {
		pm_plan_stats(plan, prof, &e->counted[alt].stats);
		st = pm_count_stats(plan, pm_graph_n_outputs(e->cand.g), in, n_in, prof, COUNTING_SECONDS,
				    &e->counted[alt].stats, &e->counted[alt].launches, err);
	}
	pm_tensors_release(in, n_in);
	pm_plan_free(plan);
	free(in);
	free(alts);
	return st;
}

/* 1 when the counts of this alternative are there. Why they are not is in the record: nothing of the
 * judgement hangs on it. */
static int is_counted(Eval *e, int alt)
{
	PmStage was;
	PmErr why;

	if (e->counted[alt].done || pm_device_kind(e->o->device) != PM_DEVICE_EMU || e->o->print)
		return e->counted[alt].done > 0;
	pm_err_init(&why);
	was = pm_stage_enter(&e->stages, PM_STAGE_MODEL);
	e->counted[alt].done = count(e, alt, &why) ? -1 : 1;
	pm_stage_enter(&e->stages, was);
	if (e->counted[alt].done < 0)
		snprintf(e->rec->not_counted, sizeof e->rec->not_counted, "%s", why.text);
	return e->counted[alt].done > 0;
}

/* The tuning step: the alternative with the least modelled time, reported, not scored. Times of counts and
 * others are not held against each other. */
PmStatus pm__model_counted(Eval *e, PmPlanStats *base, PmPlanStats *best, int *alt, PmErr *err)
{
	int from = e->o->first_answer ? e->first_alt : 0, end = e->o->first_answer ? from + 1 : e->n_alts;
	PmStatus st = pm__model(e, base, best, alt, err);
	int all = !st;

	for (int k = from; k < end && all; k++)
		all = is_counted(e, k);
	if (!all)
		return st;
	*alt = from;
	for (int k = from + 1; k < end; k++)
		if (e->counted[k].stats.modelled_seconds < e->counted[*alt].stats.modelled_seconds)
			*alt = k;
	*best = e->counted[*alt].stats;
	e->rec->counted_launches = e->counted[*alt].launches;
	return PM_OK;
}

/* 1 when all that was replaced are views and other operators that a baseline gets for nothing. */
static int only_views(const PmGraph *g)
{
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		const PmAttr *body = pm_node_attr(g, pm_graph_node_at(g, i), "body");

		for (size_t k = 0; body && body->graph && k < pm_graph_n_nodes(body->graph); k++) {
			PmNode n = pm_graph_node_at(body->graph, k);

			if (!(pm_op_desc(pm_node_op(body->graph, n))->flags & (PM_OPF_VIEW | PM_OPF_SHAPE)))
				return 0;
		}
	}
	return 1;
}

/* What was replaced: the launches' time of the baseline, less what the candidate still takes outside of its
 * kernels. */
double pm__modelled_coverage(const PmPlanStats *base, const PmPlanStats *cand)
{
	double outside = cand->modelled_seconds - cand->start_seconds - cand->fused_seconds,
	       all = base->modelled_seconds - base->start_seconds;

	return all > 0 ? fmin(1, fmax(0, 1 - outside / all)) : 0;
}

/* Under the sound preset: nothing that costs time was replaced. */
int pm__has_no_credit(const Eval *e, double share)
{
	return share < 0.01 && only_views(e->cand.g) && e->o->preset == PM_PRESET_SOUND;
}

double pm__modelled_speedup(Eval *e, int alt)
{
	PmPlanStats base, cand;
	PmStatus st = pm_graph_plan_stats(e->m->g, NULL, 0, pm_profile(e->o->profile), &base, NULL);

	if (!st && is_counted(e, alt))
		cand = e->counted[alt].stats;
	else if (!st)
		st = stats_of(e, alt, &cand, NULL);
	if (st || !(base.modelled_seconds > 0) || !(cand.modelled_seconds > 0) ||
	    pm__has_no_credit(e, pm__modelled_coverage(&base, &cand)))
		return NAN;
	return base.modelled_seconds / cand.modelled_seconds;
}
