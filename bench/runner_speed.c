/* runner_speed.c - the stage that says how fast a candidate is: modelled times, and what was replaced. */
#include "bench/runner_priv.h"

#include <math.h>
#include <stdlib.h>

static PmStatus plan_stats(const PmGraph *g, const int *alts, size_t n_alts, const PmProfile *prof,
			   PmPlanStats *out, PmErr *err)
{
	PmPlan *p = NULL;
	PmStatus st = pm_plan_new(g, alts, n_alts, &p, err);

	if (!st)
		pm_plan_stats(p, prof, out);
	pm_plan_free(p);
	return st;
}

/* The tuning step: the alternative with the least modelled time, reported, not scored. */
static PmStatus model(Eval *e, PmPlanStats *base, PmPlanStats *best, int *alt, PmErr *err)
{
	const PmProfile *prof = pm_profile(e->o->profile);
	PmStatus st = plan_stats(e->m->g, NULL, 0, prof, base, err);

	for (int k = 0; k < e->n_alts && !st; k++) {
		size_t n;
		int *alts = pm__choose_alternatives(e->cand.g, k, &n);
		PmPlanStats s;

		st = plan_stats(e->cand.g, alts, n, prof, &s, err);
		if (!st && (k == 0 || s.modelled_seconds < best->modelled_seconds)) {
			*best = s;
			*alt = k;
		}
		free(alts);
	}
	return st;
}

/* What was replaced: the bodies of the kernels, timed as the baseline would run them. */
static PmStatus coverage(Eval *e, const PmPlanStats *base, PmErr *err)
{
	double kernels = 0;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_nodes(e->cand.g) && !st; i++) {
		const PmAttr *body = pm_node_attr(e->cand.g, pm_graph_node_at(e->cand.g, i), "body");
		PmPlanStats s;

		if (!body || body->kind != PM_ATTR_GRAPH)
			continue;
		st = plan_stats(body->graph, NULL, 0, pm_profile(e->o->profile), &s, err);
		if (!st)
			kernels += s.modelled_seconds;
	}
	e->rec->coverage = base->modelled_seconds > 0 ? fmin(1, kernels / base->modelled_seconds) : 0;
	return st;
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
	st = coverage(e, &base, err);
	return st ? st : pm__stage_clock(e, alt, &base, &best, err);
}
