/* task_make.c - passmith task make: one task for each subgraph that covers most, or that is named. */
#include "cli/task/task.h"

#include "app/task/task_one.h"
#include "app/task/task_ref.h"
#include "bench/score/stratum.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tasks.h"
#include "extract/variants/variants.h"
#include "matcher/host/pass_host.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Make {
	PmTaskCmd *c;
	PM_VEC(int64_t) chosen; /* subgraph ids */
	cJSON *list;            /* NULL: print lines */
} Make;

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

/* 1 when the stored subgraph is small enough and the pass, if one is asked for, applies to it. */
static PmStatus qualifies(Make *m, int64_t id, int *yes, PmErr *err)
{
	PmPassOutcome o = { 0 };
	PmPassOpts po = { 0 };
	PmGraph *g = NULL;
	PmStatus st = pm_subgraph_get(m->c->db, id, &g, err);

	*yes = !st && (!m->c->max_mflop || pm_graph_flops(g) <= m->c->max_mflop * 1000000);
	if (*yes && m->c->for_pass) {
		st = pm_pass_apply(m->c->for_pass, g, &po, &o, err);
		*yes = !st && o.verdict == PM_VERDICT_OK;
	}
	pm_pass_outcome_release(&o);
	pm_graph_free(g);
	return st;
}

static PmStatus choose(Make *m, PmErr *err)
{
	Picks p = { 0 };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < m->c->hashes.list.n && !st; i++) {
		int64_t id;

		st = pm_subgraph_find(m->c->db, m->c->hashes.list.v[i], &id, err);
		if (!st)
			PM_VEC_PUSH(&m->chosen, id);
	}
	if (st || m->c->hashes.list.n)
		return st;
	st = pm_subgraphs_each(m->c->db, "fusible", 0, pick, &p, err);
	if (!st && m->c->even)
		st = pm_subgraphs_each(m->c->db, "classical", 0, pick, &p, err);
	if (!st && p.list.n)
		qsort(p.list.v, p.list.n, sizeof *p.list.v, by_weight);
	if (!st && m->c->even)
		st = take_turns(m->c->db, &p, err);
	for (size_t i = 0; i < p.list.n && !st && (int64_t)m->chosen.n < m->c->top; i++) {
		int yes;

		st = qualifies(m, p.list.v[i].id, &yes, err);
		if (!st && yes)
			PM_VEC_PUSH(&m->chosen, p.list.v[i].id);
	}
	PM_VEC_RELEASE(&p.list);
	return st;
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

static PmStatus make_one(Make *m, int64_t subgraph, PmErr *err)
{
	PmVariantOpts vo = { .n_shapes = (int)m->c->shapes, .max_elements = m->c->max_elements };
	PmVariantReport vr = { 0 };
	PmStr name = PM_STR_INIT;
	PmTaskBuilder *b;
	PmGraph *g = NULL;
	PmGraphKey key;
	int64_t id = 0;
	int is_new = 0;
	PmStatus st = pm_subgraph_get(m->c->db, subgraph, &g, err);

	if (!st)
		st = pm_graph_key(g, &key, err);
	if (!st) {
		if (m->c->name && m->chosen.n == 1)
			pm_str_add(&name, m->c->name);
		else
			pm_task_default_name(g, key.full, &name);
		b = pm_task_begin(name.s, "fusible");
		st = pm_variants_make(g, &vo, pm_task_add, b, &vr, err);
		if (st)
			pm_task_drop(b);
		else
			st = pm_task_end(b, m->c->db, &id, &is_new, err);
	}
	/* The same members may be there under another name, which is then the task's. */
	if (!st && !is_new)
		st = pm_tasks_each(m->c->db, take_name, &(Named){ id, &name }, err);
	if (!st && m->list) {
		cJSON *j = cJSON_CreateObject(), *dropped;

		pm_json_add_i64(j, "id", id);
		cJSON_AddStringToObject(j, "name", name.s);
		cJSON_AddBoolToObject(j, "new", is_new);
		pm_json_add_i64(j, "shapes", (int64_t)vr.n_shapes);
		pm_json_add_i64(j, "members", (int64_t)vr.n_made);
		dropped = cJSON_AddObjectToObject(j, "dropped");
		for (int r = 0; r < PM_VARIANT_N_REASONS; r++)
			if (vr.rejected[r])
				cJSON_AddNumberToObject(dropped, pm_variant_reason((PmVariantReason)r),
							(double)vr.rejected[r]);
		cJSON_AddItemToArray(m->list, j);
	} else if (!st) {
		printf("task %lld %s: %zu members of %zu shapes%s\n", (long long)id, name.s, vr.n_made,
		       vr.n_shapes, is_new ? "" : " (was there, by this name)");
	}
	pm_graph_free(g);
	pm_str_release(&name);
	return st;
}

PmStatus pm_task_verb_make(PmTaskCmd *c, PmErr *err)
{
	Make m = { .c = c };
	PmStatus st = choose(&m, err);

	if (!st && !m.chosen.n)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "%s holds no subgraph %s; run passmith extract on more models.",
			    pm_db_path(c->db), c->for_pass ? "to which the pass applies" : "yet");
	m.list = pm_cli_json ? cJSON_CreateArray() : NULL;
	for (size_t i = 0; i < m.chosen.n && !st; i++)
		st = make_one(&m, m.chosen.v[i], err);
	pm_cli_put_json(m.list); /* as far as it got */
	PM_VEC_RELEASE(&m.chosen);
	return st;
}
