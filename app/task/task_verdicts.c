/* SPDX-License-Identifier: Apache-2.0 */
/* task_verdicts.c - what the gate says of structures, found by several processes ahead of being asked for. */
#include "app/task/task_verdicts.h"

#include "base/sys/pool.h"
#include "dataset/store/subgraphs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 8 }; /* structures that each process judges at a time */

/* A verdict of fixed size, as a process hands it back. */
typedef struct Judged {
	int ok;
	char rule[32], why[PM_ERR_MAX], json[2048];
} Judged;

static PmStatus open_own(void *arg, int worker, PmErr *err)
{
	PmVerdicts *b = arg;

	(void)worker;
	return pm_db_open(pm_db_path(b->p->o->db), PM_DB_READ_ONLY, &b->own, err);
}

static void close_own(void *arg)
{
	PmVerdicts *b = arg;

	pm_db_close(b->own);
	b->own = NULL;
}

static PmStatus judge_ahead(void *arg, size_t item, void *result, PmErr *err)
{
	PmVerdicts *b = arg;
	Judged *j = result;
	PmTaskVerdict v = { 0 };
	PmGraph *g = NULL;
	PmDb *db = b->own ? b->own : b->p->o->db; /* what was killed from outside is the caller's */
	PmStatus st = pm_subgraph_get(db, b->p->id.v[b->p->least.v[b->todo.v[item]]], &g, err);

	if (!st)
		st = pm_task_judge(g, b->p->o->seed, 0, &v, err);
	pm_graph_free(g);
	j->ok = v.ok;
	memcpy(j->rule, v.rule, sizeof j->rule);
	snprintf(j->why, sizeof j->why, "%s", v.why ? v.why : "");
	snprintf(j->json, sizeof j->json, "%s", v.json ? v.json : "");
	pm_task_verdict_release(&v);
	return st;
}

static PmStatus took_verdict(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	PmVerdicts *b = arg;
	const Judged *j = result;
	PmTaskVerdict *v = &b->v[b->todo.v[item]];

	if (end == PM_POOL_DIED)
		return pm_err(err, PM_E_CRASH, "Judging subgraph %lld ended the process; report it, please.",
			      (long long)b->p->id.v[b->p->least.v[b->todo.v[item]]]);
	v->ok = j->ok;
	memcpy(v->rule, j->rule, sizeof v->rule);
	v->why = pm_xstrdup(j->why);
	v->json = pm_xstrdup(j->json);
	return PM_OK;
}

/* Notes a group's structure when nobody has judged it. */
static void want(PmVerdicts *b, const PmGroup *g, char *noted)
{
	size_t s = b->p->item.v[b->p->groups.member[g->first]].structure;

	if (b->v[s].json || noted[s])
		return;
	noted[s] = 1;
	PM_VEC_PUSH(&b->todo, s);
}

/* Judges structures that are asked for next, from the list of operators at hand on. */
static PmStatus judge_next(PmVerdicts *b, PmErr *err)
{
	int jobs = pm_pool_jobs(b->p->o->jobs);
	PmPool pool = { .result_size = sizeof(Judged),
			.jobs = jobs,
			.start = open_own,
			.stop = close_own,
			.work = judge_ahead,
			.done = took_verdict,
			.arg = b,
			.again = 1 };
	char *noted = pm_xcalloc(b->p->colors.n + 1, 1);
	PmStatus st;

	b->todo.n = 0;
	for (size_t k = 0; k < b->p->seq.n && b->todo.n < (size_t)(jobs > 1 ? BATCH * jobs : 1); k++) {
		size_t i = (b->at + k) % b->p->seq.n, round = b->round + (b->at + k) / b->p->seq.n;
		const PmTaskSeq *q = &b->p->seq.v[i];

		if (!b->taken[q->part] && round < q->n_groups)
			want(b, &b->p->groups.group[q->first_group + round], noted);
	}
	pool.n_items = b->todo.n;
	st = pm_pool_run(&pool, err);
	free(noted);
	return st;
}

PmStatus pm_verdicts_get(PmVerdicts *b, size_t structure, const PmTaskVerdict **out, PmErr *err)
{
	PmStatus st = b->v[structure].json ? PM_OK : judge_next(b, err);

	*out = &b->v[structure];
	return st;
}

void pm_verdicts_init(PmVerdicts *b, const PmTaskPlan *p, const char *taken)
{
	memset(b, 0, sizeof *b);
	b->p = p;
	b->taken = taken;
	b->v = pm_xcalloc(p->colors.n + 1, sizeof *b->v);
}

void pm_verdicts_release(PmVerdicts *b)
{
	for (size_t i = 0; b->v && i < b->p->colors.n; i++)
		pm_task_verdict_release(&b->v[i]);
	free(b->v);
	PM_VEC_RELEASE(&b->todo);
}
