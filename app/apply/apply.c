/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - rewriting a whole model with passes. */
#include "app/apply/apply_priv.h"
#include "app/apply/pairs.h"
#include "app/model/model_file.h"
#include "ir/canon/canon.h"
#include "matcher/rewrite/same.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The graph as it is now, and by node id which pass made its kernels (0 = none, k + 1 = pass k). */
typedef struct Now {
	PmGraph *g;
	int *made_by; /* owned; NULL while no pass has applied */
} Now;

/* Kernels that were there have their passes from before; the rest were made by `pass`. */
static PmStatus note_kernels(Now *now, const PmGraph *next, int pass, PmErr *err)
{
	int *made_by = pm_xcalloc(pm_graph_node_limit(next) + 1, sizeof *made_by);
	PmPairs p = { 0 };
	PmStatus st = now->made_by ? pm_pairs_make(now->g, next, &p, err) : PM_OK;

	for (size_t i = 0; i < pm_graph_n_nodes(next) && !st; i++) {
		PmNode n = pm_graph_node_at(next, i);
		uint32_t was = p.before ? p.before[n.id] : 0;

		if (pm_node_op(next, n) == PM_OP_Kernel)
			made_by[n.id] = was ? now->made_by[was] : pass + 1;
	}
	pm_pairs_release(&p);
	free(now->made_by);
	now->made_by = made_by;
	return st;
}

PmStatus pm__apply_run(PmApply *a, const char *path, const PmGraph *g, double seconds, PmGraph **out,
		       PmErr *err)
{
	PmPassOpts po = { .seconds = seconds, .misses = 1 };
	PmObject object = { .bytes = PM_STR_INIT };
	PmPassOutcome o = { 0 };
	int number = (int)a->pass.n;
	PmStatus st;

	*out = NULL;
	if (!pm_object_read(path, &object, NULL))
		po.object = &object; /* else the outcome says why not */
	st = pm_pass_apply(path, g, &po, &o, err);
	if (!st) {
		PmApplied d = {
			pm_xstrdup(path), pm_xstrdup(o.message), "", o.verdict, o.applied, o.seconds
		};

		snprintf(d.sha256, sizeof d.sha256, "%s", object.sha256);
		PM_VEC_PUSH(&a->pass, d);
		pm_outside_add_why(&a->outside, number, &o);
	}
	if (!st && o.verdict == PM_VERDICT_OK) {
		*out = o.graph;
		o.graph = NULL;
	}
	pm_pass_outcome_release(&o);
	pm_object_release(&object);
	return st;
}

static PmStatus apply_one(PmApply *a, Now *now, const char *path, double seconds, PmErr *err)
{
	int number = (int)a->pass.n;
	PmGraph *made = NULL;
	PmStatus st = pm__apply_run(a, path, now->g, seconds, &made, err);

	if (!st && made) {
		st = note_kernels(now, made, number, err);
		a->applied += a->pass.v[number].n;
		pm_graph_free(now->g);
		now->g = made;
	}
	return st;
}

/* One plan for all that is asked of it. Owned in *by_node; NULL and a->why_not when there is no plan. */
static PmNodeCost *cost_of(PmApply *a, const PmGraph *g, PmApplyCost *out)
{
	PmNodeCost *by_node = NULL;
	PmPlan *p = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_plan_new(g, NULL, 0, &p, &err)) {
		snprintf(a->why_not, sizeof a->why_not, "%s", err.text);
		return NULL;
	}
	by_node = pm_xcalloc(pm_graph_node_limit(g), sizeof *by_node);
	pm_plan_stats(p, NULL, &out->plan);
	pm_plan_memory(p, &out->memory);
	pm_plan_node_costs(p, NULL, by_node);
	pm_plan_free(p);
	return by_node;
}

PmStatus pm__apply_account(PmApply *a, const int *made_by, PmErr *err)
{
	PmNodeCost *before = cost_of(a, a->before, &a->cost_before), *after = NULL;
	PmStatus st = pm_regions_find(a->before, a->after, &a->regions, err);

	if (before)
		after = cost_of(a, a->after, &a->cost_after);
	a->planned = after != NULL;
	if (!st && a->planned)
		pm_regions_cost(&a->regions, a->before, before, a->after, after);
	for (size_t i = 0; i < a->regions.list.n && made_by; i++)
		a->regions.list.v[i].pass = made_by[a->regions.list.v[i].kernel.id] - 1;
	if (!st)
		pm_outside_ops(&a->outside, a->after, &a->regions, after);
	free(before);
	free(after);
	return st;
}

PmStatus pm_apply(PmGraph *g, const char *const *pass, size_t n, double seconds, PmApply *out, PmErr *err)
{
	Now now = { 0 };
	PmStatus st;

	*out = (PmApply){ .before = g };
	st = pm_graph_clone(g, &now.g, err);
	for (size_t i = 0; i < n && !st; i++)
		st = apply_one(out, &now, pass[i], seconds, err);
	out->after = now.g;
	if (!st)
		st = pm__apply_account(out, now.made_by, err);
	free(now.made_by);
	return st;
}

void pm_apply_release(PmApply *a)
{
	for (size_t i = 0; i < a->pass.n; i++) {
		free(a->pass.v[i].path);
		free(a->pass.v[i].why);
	}
	PM_VEC_RELEASE(&a->pass);
	pm_regions_release(&a->regions);
	pm_outside_release(&a->outside);
	pm_graph_free(a->before);
	pm_graph_free(a->after);
	*a = (PmApply){ 0 };
}

PmStatus pm_apply_check_written(const PmApply *a, const PmGraph *written, const char *path, PmErr *err)
{
	char want[PM_SHA256_HEX], got[PM_SHA256_HEX];
	PmGraph *back = NULL;
	PmStatus st = pm_canon_hash(written, PM_CANON_FULL, want, err);

	if (!st)
		st = pm_model_load(path, &back, NULL, err);
	if (!st)
		st = pm_canon_hash(back, PM_CANON_FULL, got, err);
	if (!st && strcmp(want, got))
		st = pm_err(err, PM_E_INTERNAL, "%s does not read back as the graph that was written.", path);
	if (!st && (st = pm_rewrite_check(a->before, back, err)))
		pm_err_ctx(err, "%s, with its kernels taken back, is not the model that was read", path);
	pm_graph_free(back);
	return st;
}
