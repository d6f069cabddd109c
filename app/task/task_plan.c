/* SPDX-License-Identifier: Apache-2.0 */
/* task_plan.c - reads the subgraphs of a database and plans a benchmark of them. */
#include "app/task/task_plan.h"

#include "dataset/store/subgraphs.h"
#include "ir/text/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- what there is ---- */

static uint32_t intern(PmTaskPlan *p, const char *s)
{
	return pm_intern(p->texts, s, strlen(s));
}

static PmStatus take_sample(void *arg, const PmSubgraphRow *row, PmErr *err)
{
	PmTaskPlan *p = arg;
	uint32_t structure = intern(p, row->structure);
	PmSample s = { pm_intern_text(p->texts, intern(p, row->hash)), row->n_nodes, row->op_seq,
		       intern(p, row->shape_bucket), intern(p, row->dtypes) };
	PmStatus st = PM_OK;
	size_t *least;

	while (p->structure.n <= structure)
		PM_VEC_PUSH(&p->structure, 0);
	if (!p->structure.v[structure]) {
		PmGraph *g = NULL;
		PmColors colors;

		st = pm_graph_parse(row->text, strlen(row->text), &g, err);
		if (st)
			return pm_err_ctx(err, "subgraph %lld", (long long)row->id);
		pm_colors_of(g, &colors);
		PM_VEC_PUSH(&p->colors, colors);
		p->structure.v[structure] = (uint32_t)p->colors.n;
		PM_VEC_PUSH(&p->least, p->sample.n);
		pm_graph_free(g);
	}
	least = &p->least.v[p->structure.v[structure] - 1];
	if (*least < p->sample.n && strcmp(s.hash, p->sample.v[*least].hash) < 0)
		*least = p->sample.n;
	PM_VEC_PUSH(&p->sample, s);
	PM_VEC_PUSH(&p->id, row->id);
	PM_VEC_PUSH(&p->item, ((PmSplitItem){ p->structure.v[structure] - 1, row->op_seq }));
	return st;
}

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* What decides the outcome: the graphs, in any order, and the options. */
static void hash_plan(PmTaskPlan *p)
{
	const char **hash = pm_xcalloc(p->sample.n + 1, sizeof *hash);
	PmStr s = PM_STR_INIT;

	for (size_t i = 0; i < p->sample.n; i++)
		hash[i] = p->sample.v[i].hash;
	qsort(hash, p->sample.n, sizeof *hash, by_text);
	pm_str_addf(&s, "build 3 eval=%lld stride=%lld shapes=%lld elements=%lld seed=%lld honest=%lld\n",
		    (long long)p->o->n_eval, (long long)p->o->stride, (long long)p->o->shapes,
		    (long long)p->o->max_elements, (long long)p->o->seed, (long long)p->o->honest);
	for (size_t i = 0; i < p->sample.n; i++)
		pm_str_addf(&s, "%s\n", hash[i]);
	pm_sha256_hex(s.s, s.len, p->hash);
	free(hash);
	pm_str_release(&s);
}

/* ---- plan ---- */

static void add_ops(PmTaskPlan *p, PmIntern *names, const char *ops)
{
	while (*ops) {
		size_t n = strcspn(ops, ",");
		unsigned op = pm_intern(names, ops, n) - 1;

		PM_VEC_PUSH(&p->ops, op);
		p->n_ops = op + 1 > p->n_ops ? op + 1 : p->n_ops;
		ops += n + (ops[n] == ',');
	}
	PM_VEC_PUSH(&p->start, p->ops.n);
}

static void plan_groups(PmTaskPlan *p)
{
	pm_group(p->sample.v, p->sample.n, (size_t)p->o->stride, &p->groups);
	for (size_t g = 0; g < p->groups.n; g++) {
		size_t first = p->groups.member[p->groups.group[g].first];
		size_t last =
			p->seq.n ? p->groups.member[p->groups.group[p->seq.v[p->seq.n - 1].first_group].first]
				 : 0;

		if (!p->seq.n || p->sample.v[first].op_seq != p->sample.v[last].op_seq)
			PM_VEC_PUSH(&p->seq, ((PmTaskSeq){ g, 0, p->part[first] }));
		p->seq.v[p->seq.n - 1].n_groups++;
	}
}

/* The lists of operators, in the order of p->seq. */
static PmStatus plan_ops(PmTaskPlan *p, PmErr *err)
{
	PmIntern *names = pm_intern_new();
	PmStatus st = PM_OK;

	PM_VEC_PUSH(&p->start, 0);
	for (size_t i = 0; i < p->seq.n && !st; i++) {
		PmStr ops = PM_STR_INIT;
		PmGraph *g = NULL;

		st = pm_subgraph_get(
			p->o->db, p->id.v[p->groups.member[p->groups.group[p->seq.v[i].first_group].first]],
			&g, err);
		if (!st) {
			pm_graph_ops(g, &ops);
			add_ops(p, names, ops.s);
		}
		pm_graph_free(g);
		pm_str_release(&ops);
	}
	pm_intern_free(names);
	return st;
}

PmStatus pm_task_plan(PmTaskPlan *p, const PmTaskBuildOpts *o, PmErr *err)
{
	PmStatus st;

	memset(p, 0, sizeof *p);
	p->o = o;
	p->texts = pm_intern_new();
	st = pm_subgraphs_each(o->db, "fusible", 0, take_sample, p, err);
	if (!st && !p->sample.n)
		st = pm_err(err, PM_E_NOT_FOUND, "%s holds no fusible subgraph; run passmith extract first.",
			    pm_db_path(o->db));
	if (st)
		return st;
	p->part = pm_xcalloc(p->sample.n, sizeof *p->part);
	p->n_parts = pm_components(p->item.v, p->sample.n, p->colors.v, p->colors.n, p->part);
	hash_plan(p);
	plan_groups(p);
	return plan_ops(p, err);
}

void pm_task_plan_release(PmTaskPlan *p)
{
	for (size_t i = 0; i < p->colors.n; i++)
		pm_colors_release(&p->colors.v[i]);
	PM_VEC_RELEASE(&p->sample);
	PM_VEC_RELEASE(&p->id);
	PM_VEC_RELEASE(&p->item);
	PM_VEC_RELEASE(&p->colors);
	PM_VEC_RELEASE(&p->structure);
	PM_VEC_RELEASE(&p->least);
	PM_VEC_RELEASE(&p->seq);
	PM_VEC_RELEASE(&p->ops);
	PM_VEC_RELEASE(&p->start);
	pm_groups_release(&p->groups);
	pm_intern_free(p->texts);
	free(p->part);
}
