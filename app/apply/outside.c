/* SPDX-License-Identifier: Apache-2.0 */
/* outside.c - what passes left as it was, and why. */
#include "app/apply/outside.h"

#include <stdlib.h>
#include <string.h>

/* ---- operators ---- */

static int costliest_first(const void *x, const void *y)
{
	const PmOutsideOp *a = x, *b = y;

	if (a->cost.seconds != b->cost.seconds)
		return a->cost.seconds > b->cost.seconds ? -1 : 1;
	if (a->nodes != b->nodes)
		return a->nodes > b->nodes ? -1 : 1;
	return strcmp(a->op, b->op);
}

void pm_outside_ops(PmOutside *o, const PmGraph *after, const PmRegions *r, const PmNodeCost *cost)
{
	PmOutsideOp *of = pm_xcalloc(PM_N_OPS, sizeof *of);
	size_t next = 0; /* region */

	for (size_t i = 0; i < pm_graph_n_nodes(after); i++) {
		PmNode n = pm_graph_node_at(after, i);
		PmOp op = pm_node_op(after, n);

		if (next < r->list.n && r->list.v[next].place == i) {
			next++;
			continue;
		}
		of[op].op = pm_op_desc(op)->flags & PM_OPF_OPAQUE ? "other domains" : pm_op_desc(op)->name;
		of[op].nodes++;
		if (cost)
			pm_node_cost_add(&of[op].cost, &cost[n.id]);
	}
	for (size_t k = 0; k < PM_N_OPS; k++)
		if (of[k].nodes)
			PM_VEC_PUSH(&o->op, of[k]);
	if (o->op.n)
		qsort(o->op.v, o->op.n, sizeof *o->op.v, costliest_first);
	free(of);
}

/* ---- reasons ---- */

/* 1 when `a` goes before `b`: reasons by count, then near misses by depth. */
static int goes_before(const PmOutsideWhy *a, const PmOutsideWhy *b)
{
	if (a->count != b->count)
		return a->count > b->count;
	return a->depth > b->depth;
}

/* Puts one among those that begin at `from` and are of its kind; of equals the first that came stays first.
 */
static void put(PmOutside *o, size_t from, PmOutsideWhy w, const char *rule, const char *node,
		const char *why)
{
	size_t kind = 0, at;

	for (size_t i = from; i < o->why.n; i++)
		kind += !o->why.v[i].count == !w.count;
	w.rule = pm_xstrdup(rule);
	w.node = pm_xstrdup(node);
	w.why = pm_xstrdup(why);
	PM_VEC_PUSH(&o->why, w);
	for (at = o->why.n - 1; at > from && goes_before(&w, &o->why.v[at - 1]); at--)
		o->why.v[at] = o->why.v[at - 1];
	o->why.v[at] = w;
	if (kind < PM_OUTSIDE_WHY)
		return;
	o->left_out++;
	for (at = o->why.n - 1; !o->why.v[at].count != !w.count; at--) /* the last of its kind goes */
		;
	free(o->why.v[at].rule);
	free(o->why.v[at].node);
	free(o->why.v[at].why);
	memmove(&o->why.v[at], &o->why.v[at + 1], (o->why.n - at - 1) * sizeof *o->why.v);
	o->why.n--;
}

void pm_outside_add_why(PmOutside *o, int pass, const PmPassOutcome *outcome)
{
	size_t from = o->why.n;

	for (size_t i = 0; i < outcome->n_rules; i++) {
		const PmRuleStats *st = &outcome->rule[i].stats;

		for (size_t k = 0; k < st->n_reasons; k++) {
			PmOutsideWhy w = { .pass = pass, .count = st->reason[k].count };

			if (w.count > 0)
				put(o, from, w, st->name, st->reason[k].node, st->reason[k].text);
		}
		for (size_t k = 0; k < st->n_misses; k++) {
			PmOutsideWhy w = { .pass = pass, .depth = st->miss[k].depth, .of = st->miss[k].of };

			put(o, from, w, st->name, st->miss[k].node, st->miss[k].text);
		}
	}
}

void pm_outside_release(PmOutside *o)
{
	for (size_t i = 0; i < o->why.n; i++) {
		free(o->why.v[i].rule);
		free(o->why.v[i].node);
		free(o->why.v[i].why);
	}
	PM_VEC_RELEASE(&o->op);
	PM_VEC_RELEASE(&o->why);
	*o = (PmOutside){ 0 };
}
