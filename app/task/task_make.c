/* SPDX-License-Identifier: Apache-2.0 */
/* task_make.c - one task for each subgraph that covers most, or that is named. */
#include "app/task/task_make.h"

#include "app/task/task_one.h"
#include "app/task/task_proxy.h"
#include "bench/score/stratum.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tasks.h"
#include "matcher/host/pass_host.h"

#include <stdlib.h>
#include <string.h>

typedef struct Pick {
	int64_t id, weight;
	const char *class; /* of --even: what dominates */
	int turn;          /* how many of its class weigh more */
} Pick;

typedef struct Picks {
	PM_VEC(Pick) list;
} Picks;

static PmStatus pick(void *arg, const PmSubgraphRow *row, PmErr *err)
{
	Picks *p = arg;

	(void)err;
	PM_VEC_PUSH(&p->list, ((Pick){ .id = row->id, .weight = row->n_found * row->n_nodes }));
	return PM_OK;
}

/* The most nodes in all models first; then the order in which they were stored. */
static int by_weight(const void *a, const void *b)
{
	const Pick *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* The first of every class, then the second of every class, and so on. */
static int by_turn(const void *a, const void *b)
{
	const Pick *x = a, *y = b;

	return x->turn != y->turn ? (x->turn > y->turn) - (x->turn < y->turn) : by_weight(a, b);
}

/* Orders picks, which are ordered by weight, so that those of all classes come in turn. */
static PmStatus take_turns(PmDb *db, Picks *p, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t n = 0;

	for (size_t i = 0; i < p->list.n; i++) /* what is of both kinds stands there twice */
		if (!i || p->list.v[i].id != p->list.v[i - 1].id)
			p->list.v[n++] = p->list.v[i];
	p->list.n = n;
	for (size_t i = 0; i < p->list.n && !st; i++) {
		Pick *k = &p->list.v[i];
		PmGraph *g = NULL;

		st = pm_subgraph_get(db, k->id, &g, err);
		if (st)
			break;
		k->class = pm_graph_class(g);
		for (size_t j = i; j-- > 0 && !k->turn;)
			if (strcmp(p->list.v[j].class, k->class) == 0)
				k->turn = p->list.v[j].turn + 1;
		pm_graph_free(g);
	}
	if (!st && p->list.n)
		qsort(p->list.v, p->list.n, sizeof *p->list.v, by_turn);
	return st;
}

/* What is no pass applies nowhere, but that says nothing of the database. */
static int is_no_pass(PmVerdict v)
{
	return v == PM_VERDICT_REJECT_ELF || v == PM_VERDICT_REJECT_ABI || v == PM_VERDICT_REJECT_LINT;
}

/* 1 when the stored subgraph is small enough and the pass, if one is asked for, applies to it. */
static PmStatus qualifies(const PmTaskMakeOpts *o, int64_t id, int *yes, PmErr *err)
{
	PmPassOutcome got = { 0 };
	PmPassOpts po = { 0 };
	PmGraph *g = NULL;
	PmStatus st = pm_subgraph_get(o->db, id, &g, err);

	*yes = !st && (!o->max_mflop || pm_graph_flops(g) <= o->max_mflop * 1000000);
	if (*yes && o->for_pass) {
		st = pm_pass_apply(o->for_pass, g, &po, &got, err);
		if (!st && is_no_pass(got.verdict))
			st = pm_err(err, PM_E_INVALID, "No subgraph can be chosen for the pass %s: %s",
				    o->for_pass, got.message);
		*yes = !st && got.verdict == PM_VERDICT_OK;
	}
	pm_pass_outcome_release(&got);
	pm_graph_free(g);
	return st;
}

static PmStatus choose(const PmTaskMakeOpts *o, PmTaskChosen *out, PmErr *err)
{
	Picks p = { 0 };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < o->n_hashes && !st; i++) {
		int64_t id;

		st = pm_subgraph_find(o->db, o->hashes[i], &id, err);
		if (!st)
			PM_VEC_PUSH(&out->id, id);
	}
	if (st || o->n_hashes)
		return st;
	st = pm_subgraphs_each(o->db, "fusible", 0, pick, &p, err);
	if (!st && o->even)
		st = pm_subgraphs_each(o->db, "classical", 0, pick, &p, err);
	if (!st && p.list.n)
		qsort(p.list.v, p.list.n, sizeof *p.list.v, by_weight);
	if (!st && o->even)
		st = take_turns(o->db, &p, err);
	for (size_t i = 0; i < p.list.n && !st && (int64_t)out->id.n < o->top; i++) {
		int yes;

		st = qualifies(o, p.list.v[i].id, &yes, err);
		if (!st && yes)
			PM_VEC_PUSH(&out->id, p.list.v[i].id);
	}
	PM_VEC_RELEASE(&p.list);
	return st;
}

PmStatus pm_task_choose(const PmTaskMakeOpts *o, PmTaskChosen *out, PmErr *err)
{
	PmStatus st = choose(o, out, err);

	if (!st && !out->id.n)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "%s holds no subgraph %s; run passmith extract on more models.",
			    pm_db_path(o->db), o->for_pass ? "to which the pass applies" : "yet");
	return st;
}

void pm_task_chosen_release(PmTaskChosen *c)
{
	PM_VEC_RELEASE(&c->id);
}

typedef struct Named {
	int64_t id;
	PmStr *name;
} Named;

static PmStatus take_name(void *arg, const PmTaskRow *row, PmErr *err)
{
	Named *n = arg;

	(void)err;
	if (row->id == n->id) {
		pm_str_clear(n->name);
		pm_str_add(n->name, row->name);
	}
	return PM_OK;
}

PmStatus pm_task_make(const PmTaskMakeOpts *o, int64_t subgraph, PmTaskNew *out, PmErr *err)
{
	PmVariantOpts vo = { .n_shapes = (int)o->shapes, .max_elements = o->max_elements };
	PmTaskBuilder *b;
	PmGraph *g = NULL;
	PmGraphKey key;
	PmStatus st = pm_subgraph_get(o->db, subgraph, &g, err);

	*out = (PmTaskNew){ .name = PM_STR_INIT };
	if (!st)
		st = pm_graph_key(g, &key, err);
	if (!st) {
		if (o->name)
			pm_str_add(&out->name, o->name);
		else
			pm_task_default_name(g, key.full, &out->name);
		b = pm_task_begin(out->name.s, "fusible");
		st = pm_variants_make(g, &vo, pm_task_add, b, &out->variants, err);
		if (st)
			pm_task_drop(b);
		else
			st = pm_task_end(b, o->db, &out->id, &out->is_new, err);
	}
	/* The same variants may be there under another name, which is then the task's. */
	if (!st && !out->is_new)
		st = pm_tasks_each(o->db, take_name, &(Named){ out->id, &out->name }, err);
	pm_graph_free(g);
	return st;
}
