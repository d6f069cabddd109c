/* SPDX-License-Identifier: Apache-2.0 */
/* runner_model.c - what the model of time says of a candidate: its alternatives, its speedup, what it
 * replaced. */
#include "bench/eval/runner_priv.h"

#include <math.h>
#include <stdlib.h>

/* The tuning step: the alternative with the least modelled time, reported, not scored. */
PmStatus pm__model(Eval *e, PmPlanStats *base, PmPlanStats *best, int *alt, PmErr *err)
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
double pm__modelled_coverage(const PmPlanStats *base, const PmPlanStats *cand)
{
	double outside = cand->modelled_seconds - cand->fused_seconds;

	if (base->modelled_seconds <= 0)
		return 0;
	return fmin(1, fmax(0, 1 - outside / base->modelled_seconds));
}

/* Under the sound preset: nothing that costs time was replaced. */
int pm__has_no_credit(const Eval *e, double share)
{
	return share < 0.01 && only_views(e->cand.g) && e->o->preset == PM_PRESET_SOUND;
}

double pm__modelled_speedup(const Eval *e, int alt)
{
	const PmProfile *prof = pm_profile(e->o->profile);
	PmPlanStats base, cand;
	size_t n;
	int *alts = pm__choose_alternatives(e->cand.g, alt, &n);
	PmStatus st = pm_graph_plan_stats(e->m->g, NULL, 0, prof, &base, NULL);

	if (!st)
		st = pm_graph_plan_stats(e->cand.g, alts, n, prof, &cand, NULL);
	free(alts);
	if (st || !(base.modelled_seconds > 0) || !(cand.modelled_seconds > 0) ||
	    pm__has_no_credit(e, pm__modelled_coverage(&base, &cand)))
		return NAN;
	return base.modelled_seconds / cand.modelled_seconds;
}
