/* SPDX-License-Identifier: Apache-2.0 */
/* validate.c - checks whether models may serve in a dataset, by several processes, and stores what is found.
 */
#include "app/validate/validate.h"

#include "app/model/model_file.h"
#include "base/core/arena.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "dataset/store/checks.h"
#include "dataset/store/models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a process answers about one model. */
typedef struct Result {
	int read; /* 0: the model could not be read */
	int died; /* set by the caller: checking it ended the process */
	char why[PM_ERR_MAX];
	PmConstraints c;
} Result;

typedef struct Job {
	const PmValidateOpts *o;
	PmValidateFn *fn;
	void *arg;
	PmValidated *out;
	char options[64]; /* as they are stored */
	char (*sha)[65];  /* by file; "" when it cannot be read */
	size_t *todo;     /* files that are not stored yet, by number */
	size_t n_todo;
	Result **kept; /* by item: what was found before its turn to be told; NULL = nothing, or told */
	size_t next;   /* the item whose turn it is */
} Job;

static PmStatus check_one(void *arg, size_t item, void *result, PmErr *err)
{
	Job *j = arg;
	Result *r = result;
	PmGraph *g = NULL;
	PmErr bad;

	(void)err;
	pm_err_init(&bad);
	if (pm_model_load(j->o->files[j->todo[item]], &g, NULL, &bad)) {
		memcpy(r->why, bad.text, sizeof r->why);
		return PM_OK;
	}
	r->read = 1;
	pm_constraints_check(g, &j->o->check, &r->c);
	pm_graph_free(g);
	return PM_OK;
}

/* All of one model, or nothing. */
static PmStatus store(const Job *j, const char *sha, const PmConstraints *c, PmErr *err)
{
	PmStatus st = pm_db_begin(j->o->db, err);

	if (st)
		return st;
	for (int k = 0; k < PM_N_CONSTRAINTS && !st; k++) {
		PmConstraintRow row = { .sha256 = sha,
					.name = pm_constraint_name((PmConstraintKind)k),
					.verdict = pm_constraint_verdict(c->of[k].verdict),
					.why = c->of[k].why,
					.options = j->options };

		st = pm_constraint_put(j->o->db, &row, err);
	}
	if (!st)
		return pm_db_commit(j->o->db, err);
	pm_db_rollback(j->o->db);
	return st;
}

/* Says what was found of one model. */
static void tell(const Job *j, size_t item, const Result *r)
{
	const char *path = j->o->files[j->todo[item]];
	PmStr why = PM_STR_INIT;

	if (r->read && j->fn)
		j->fn(j->arg, path, &r->c);
	if (r->read)
		return;
	if (r->died)
		pm_str_addf(&why, "%s: checking the model ended the process.", path);
	else
		pm_str_add(&why, r->why);
	pm_watch_complain(j->o->watch, why.s);
	pm_str_release(&why);
}

/* Tells what has its turn, in the order of the files; with `all` also what waits for one that never came. */
static void tell_in_turn(Job *j, int all)
{
	for (; j->next < j->n_todo && (j->kept[j->next] || all); j->next++) {
		if (j->kept[j->next])
			tell(j, j->next, j->kept[j->next]);
		free(j->kept[j->next]);
		j->kept[j->next] = NULL;
	}
}

/* Counts and stores a model when it comes, and tells it in its turn. */
static PmStatus took_one(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Job *j = arg;
	PmValidated *out = j->out;
	const char *sha = j->sha[j->todo[item]];
	Result *r = pm_xmalloc(sizeof *r);
	PmStatus st = PM_OK;

	*r = *(const Result *)result;
	r->died = end == PM_POOL_DIED;
	r->read = r->read && !r->died;
	pm_watch_step(j->o->watch, pm_path_base(j->o->files[j->todo[item]]));
	out->n++;
	out->n_unread += !r->read;
	if (r->read) {
		for (int k = 0; k < PM_N_CONSTRAINTS; k++)
			out->count.of[k][r->c.of[k].verdict]++;
		out->n_broken += !pm_constraints_hold(&r->c);
		if (j->o->db && *sha)
			st = store(j, sha, &r->c, err);
	}
	j->kept[item] = r;
	tell_in_turn(j, 0);
	return st;
}

/* Which files are to be checked: with a database those that it has no verdicts of. */
static PmStatus list_todo(Job *j, PmErr *err)
{
	size_t n = j->o->n_files;
	PmStatus st = PM_OK;

	j->todo = pm_xcalloc(n + 1, sizeof *j->todo);
	j->sha = pm_xcalloc(n + 1, sizeof *j->sha);
	for (size_t i = 0; i < n && !st; i++) {
		int64_t stored = 0, broken = 0;
		PmErr bad;

		pm_err_init(&bad);
		if (j->o->db && pm_model_hash(j->o->files[i], j->sha[i], &bad) == PM_OK)
			st = pm_constraints_stored(j->o->db, j->sha[i], j->options, &stored, &broken, err);
		if (stored < PM_N_CONSTRAINTS)
			j->todo[j->n_todo++] = i;
		else
			j->out->n_broken_before += broken > 0;
	}
	j->out->n_before = n - j->n_todo;
	return st;
}

PmStatus pm_validate(const PmValidateOpts *o, PmValidateFn *fn, void *arg, PmValidated *out, PmErr *err)
{
	Job j = { .o = o, .fn = fn, .arg = arg, .out = out };
	PmPool pool = {
		.result_size = sizeof(Result), .work = check_one, .done = took_one, .arg = &j, .jobs = o->jobs
	};
	PmStatus st;

	memset(out, 0, sizeof *out);
	snprintf(j.options, sizeof j.options, "max_flops=%lld seeds=%d", (long long)o->check.max_flops,
		 o->check.seeds);
	st = list_todo(&j, err);
	pool.n_items = j.n_todo;
	j.kept = pm_xcalloc(j.n_todo + 1, sizeof(Result *));
	pm_watch_begin(o->watch, "validating", (int64_t)j.n_todo);
	if (!st)
		st = pm_pool_run(&pool, err);
	tell_in_turn(&j, 1);
	pm_watch_end(o->watch);
	free(j.kept);
	free(j.todo);
	free(j.sha);
	return st;
}

void pm_constraint_count(PmConstraintCounts *c, const char *name, const char *verdict)
{
	for (int k = 0; k < PM_N_CONSTRAINTS; k++)
		for (int v = 0; v < 3; v++)
			c->of[k][v] += !strcmp(name, pm_constraint_name((PmConstraintKind)k)) &&
				       !strcmp(verdict, pm_constraint_verdict((PmConstraintVerdict)v));
}
