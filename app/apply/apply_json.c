/* SPDX-License-Identifier: Apache-2.0 */
/* apply_json.c - what apply found, as JSON. */
#include "app/apply/apply.h"

#include <stdlib.h>
#include <string.h>

void pm_apply_entry(const PmGraph *g, PmNode kernel, PmStr *out)
{
	const PmAttr *a = pm_node_attr(g, kernel, "launch_0");

	if (a && a->kind == PM_ATTR_STRINGS && a->n)
		pm_str_addn(out, a->strings[0], strcspn(a->strings[0], " "));
}

typedef struct Saved {
	double seconds;
	size_t region;
} Saved;

static int most_first(const void *x, const void *y)
{
	const Saved *a = x, *b = y;

	if (a->seconds != b->seconds)
		return a->seconds > b->seconds ? -1 : 1;
	return (a->region > b->region) - (a->region < b->region);
}

size_t *pm_apply_by_saved(const PmApply *a)
{
	size_t n = a->regions.list.n;
	Saved *s = pm_xcalloc(n + 1, sizeof *s);
	size_t *out = pm_xcalloc(n + 1, sizeof *out);

	for (size_t i = 0; i < n; i++) {
		const PmApplyRegion *r = &a->regions.list.v[i];

		s[i] = (Saved){ r->before.seconds - r->after.seconds, i };
	}
	qsort(s, n, sizeof *s, most_first);
	for (size_t i = 0; i < n; i++)
		out[i] = s[i].region;
	free(s);
	return out;
}

static void add_pass(const PmApplied *d, cJSON *list)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "pass", d->path);
	cJSON_AddStringToObject(j, "sha256", d->sha256);
	cJSON_AddStringToObject(j, "verdict", pm_verdict_name(d->verdict));
	pm_json_add_i64(j, "applied", d->verdict == PM_VERDICT_OK ? d->n : 0);
	cJSON_AddStringToObject(j, "why", d->why);
	cJSON_AddItemToArray(list, j);
}

static void add_costs(const PmNodeCost *before, const PmNodeCost *after, cJSON *j)
{
	pm_json_add_i64(j, "launches_before", before->launches);
	pm_json_add_i64(j, "launches_after", after->launches);
	pm_json_add_i64(j, "bytes_before", before->bytes);
	pm_json_add_i64(j, "bytes_after", after->bytes);
	cJSON_AddNumberToObject(j, "modelled_seconds_before", before->seconds);
	cJSON_AddNumberToObject(j, "modelled_seconds_after", after->seconds);
}

static void add_totals(const PmApply *a, cJSON *o)
{
	const PmPlanStats *before = &a->cost_before.plan, *after = &a->cost_after.plan;
	PmNodeCost was = { before->n_launches, before->bytes, before->modelled_seconds };
	PmNodeCost is = { after->n_launches, after->bytes, after->modelled_seconds };

	pm_json_add_i64(o, "applied", a->applied);
	pm_json_add_i64(o, "nodes_before", (int64_t)a->regions.n_before);
	pm_json_add_i64(o, "nodes_after", (int64_t)a->regions.n_after);
	if (!a->planned) {
		cJSON_AddStringToObject(o, "not_planned", a->why_not);
		return;
	}
	add_costs(&was, &is, o);
	pm_json_add_i64(o, "memory_before", a->cost_before.memory.taken);
	pm_json_add_i64(o, "memory_after", a->cost_after.memory.taken);
	pm_json_add_i64(o, "memory_live_before", a->cost_before.memory.live);
	pm_json_add_i64(o, "memory_live_after", a->cost_after.memory.live);
}

/* A node without a name is known by its first result. */
static const char *name_of(const PmGraph *g, uint32_t place)
{
	PmNode n = pm_graph_node_at(g, place);

	return *pm_node_name(g, n) ? pm_node_name(g, n) : pm_value_name(g, pm_node_out(g, n, 0));
}

static void add_region(const PmApply *a, const PmApplyRegion *r, cJSON *list)
{
	cJSON *j = cJSON_CreateObject(), *nodes, *names;
	PmStr entry = PM_STR_INIT;

	pm_apply_entry(a->after, r->kernel, &entry);
	pm_json_add_i64(j, "pass", r->pass);
	cJSON_AddStringToObject(j, "rule", pm_node_s(a->after, r->kernel, "name", ""));
	cJSON_AddStringToObject(j, "kernel", entry.len ? entry.s : "");
	pm_json_add_i64(j, "place", r->place);
	nodes = cJSON_AddArrayToObject(j, "nodes");
	names = cJSON_AddArrayToObject(j, "names");
	for (size_t k = 0; k < r->n; k++) {
		uint32_t place = a->regions.node.v[r->first + k];

		cJSON_AddItemToArray(nodes, cJSON_CreateNumber(place));
		if (k < PM_APPLY_NAMES)
			cJSON_AddItemToArray(names, cJSON_CreateString(name_of(a->before, place)));
	}
	if (a->planned)
		add_costs(&r->before, &r->after, j);
	cJSON_AddItemToArray(list, j);
	pm_str_release(&entry);
}

static void add_op(const PmApply *a, const PmOutsideOp *p, cJSON *list)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "operator", p->op);
	pm_json_add_i64(j, "nodes", (int64_t)p->nodes);
	if (a->planned) {
		pm_json_add_i64(j, "launches", p->cost.launches);
		pm_json_add_i64(j, "bytes", p->cost.bytes);
		cJSON_AddNumberToObject(j, "modelled_seconds", p->cost.seconds);
	}
	cJSON_AddItemToArray(list, j);
}

static void add_why(const PmOutsideWhy *w, cJSON *list)
{
	cJSON *j = cJSON_CreateObject();

	pm_json_add_i64(j, "pass", w->pass);
	cJSON_AddStringToObject(j, "rule", w->rule);
	cJSON_AddStringToObject(j, "node", w->node);
	cJSON_AddStringToObject(j, "why", w->why);
	pm_json_add_i64(j, "declined", w->count);
	pm_json_add_i64(j, "depth", w->depth);
	pm_json_add_i64(j, "of", w->of);
	cJSON_AddItemToArray(list, j);
}

static void add_outside(const PmApply *a, cJSON *o)
{
	cJSON *j = cJSON_AddObjectToObject(o, "outside"), *list;

	if (a->planned)
		add_costs(&a->regions.outside_before, &a->regions.outside_after, j);
	list = cJSON_AddArrayToObject(j, "operators");
	for (size_t i = 0; i < a->outside.op.n; i++)
		add_op(a, &a->outside.op.v[i], list);
	list = cJSON_AddArrayToObject(j, "why");
	for (size_t i = 0; i < a->outside.why.n; i++)
		add_why(&a->outside.why.v[i], list);
	pm_json_add_i64(j, "left_out", (int64_t)a->outside.left_out);
}

cJSON *pm_apply_json(const PmApply *a, const char *model)
{
	cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "passes");

	for (size_t i = 0; i < a->pass.n; i++)
		add_pass(&a->pass.v[i], list);
	cJSON_AddStringToObject(o, "model", model);
	cJSON_AddStringToObject(o, "target", pm_profile(NULL)->name);
	add_totals(a, o);
	list = cJSON_AddArrayToObject(o, "regions");
	for (size_t i = 0; i < a->regions.list.n; i++)
		add_region(a, &a->regions.list.v[i], list);
	add_outside(a, o);
	return o;
}
