/* SPDX-License-Identifier: Apache-2.0 */
/* runner_speed.c - the stage that says how fast a candidate is: modelled times, and what was replaced. */
#include "bench/eval/runner_priv.h"

#include <math.h>
#include <stdlib.h>

/* The tuning step: the alternative with the least modelled time, reported, not scored. */
static PmStatus model(Eval *e, PmPlanStats *base, PmPlanStats *best, int *alt, PmErr *err)
{
	const PmProfile *prof = pm_profile(e->o->profile);
	PmStatus st = pm_graph_plan_stats(e->m->g, NULL, 0, prof, base, err);

	for (int k = 0; k < e->n_alts && !st; k++) {
		size_t n;
		int *alts = pm__choose_alternatives(e->cand.g, k, &n);
		PmPlanStats s;

		st = pm_graph_plan_stats(e->cand.g, alts, n, prof, &s, err);
		if (!st && (k == 0 || s.modelled_seconds < best->modelled_seconds)) {
			*best = s;
			*alt = k;
		}
		free(alts);
	}
	return st;
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

/* What was replaced: the baseline's time, less what the candidate still takes outside of its kernels. */
static double coverage(const PmPlanStats *base, const PmPlanStats *cand)
{
	double outside = cand->modelled_seconds - cand->fused_seconds;

	if (base->modelled_seconds <= 0)
		return 0;
	return fmin(1, fmax(0, 1 - outside / base->modelled_seconds));
}

PmStatus pm__stage_speed(Eval *e, PmErr *err)
{
	PmEvalRecord *r = e->rec;
	PmPlanStats base, best = { 0 };
	int alt = 0;
	PmStatus st = model(e, &base, &best, &alt, err);

	if (st)
		return st;
	r->baseline_seconds = base.modelled_seconds;
	r->candidate_seconds = best.modelled_seconds;
	r->baseline_launches = base.n_launches;
	r->candidate_launches = best.n_launches;
	r->baseline_bytes = base.bytes;
	r->candidate_bytes = best.bytes;
	if (best.modelled_seconds > 0 && base.modelled_seconds > 0)
		r->speedup = base.modelled_seconds / best.modelled_seconds;
	r->coverage = coverage(&base, &best);
	if (r->coverage < 0.01 && only_views(e->cand.g) && r->verdict == PM_VERDICT_OK &&
	    e->o->preset == PM_PRESET_SOUND) {
		r->speedup = 1;
		return pm__say(
			e, PM_VERDICT_NO_CREDIT,
			"What the pass replaced costs the baseline no time: views and other free operators.");
	}
	return pm__stage_clock(e, alt, &base, &best, err);
}
