/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_validate.c - passmith validate: may a model serve in a dataset, and if not, why not. */
#include "app/model/constraints.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "base/sys/progress.h"
#include "cli/cmds.h"
#include "dataset/store/checks.h"
#include "dataset/store/models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Result {
	int read; /* 0: the model could not be read */
	char why[PM_ERR_MAX];
	PmConstraints c;
} Result;

typedef struct Job {
	const PmStrList *files;
	PmConstraintOpts opts;
	PmProgress bar;
	PmDb *db; /* NULL: nothing is stored */
	char options[64];
	char (*sha)[65]; /* by file; "" when it cannot be read */
	size_t *todo;    /* files that are not stored yet, by number */
	size_t n_todo;
	cJSON *list;
	size_t n, n_unread, n_broken, n_broken_before;
	size_t count[PM_N_CONSTRAINTS][3]; /* by verdict */
} Job;

static PmStatus check_one(void *arg, size_t item, void *result, PmErr *err)
{
	Job *j = arg;
	Result *r = result;
	PmGraph *g = NULL;
	PmErr bad;

	(void)err;
	pm_err_init(&bad);
	if (pm_cli_load(j->files->list.v[j->todo[item]], &g, NULL, &bad)) {
		memcpy(r->why, bad.text, sizeof r->why);
		return PM_OK;
	}
	r->read = 1;
	pm_constraints_check(g, &j->opts, &r->c);
	pm_graph_free(g);
	return PM_OK;
}

static void put_text(const char *path, const PmConstraints *c)
{
	int k;

	printf("%s: %s\n", pm_path_base(path), pm_constraints_hold(c) ? "valid" : "NOT VALID");
	for (k = 0; k < PM_N_CONSTRAINTS; k++)
		printf("  %-28s %-9s  %s\n", pm_constraint_name((PmConstraintKind)k),
		       pm_constraint_verdict(c->of[k].verdict), c->of[k].why);
}

/* All of one model, or nothing. */
static PmStatus store(const Job *j, const char *sha, const PmConstraints *c, PmErr *err)
{
	PmStatus st = pm_db_begin(j->db, err);

	if (st)
		return st;
	for (int k = 0; k < PM_N_CONSTRAINTS && !st; k++) {
		PmConstraintRow row = { .sha256 = sha,
					.name = pm_constraint_name((PmConstraintKind)k),
					.verdict = pm_constraint_verdict(c->of[k].verdict),
					.why = c->of[k].why,
					.options = j->options };

		st = pm_constraint_put(j->db, &row, err);
	}
	if (!st)
		return pm_db_commit(j->db, err);
	pm_db_rollback(j->db);
	return st;
}

static PmStatus took_one(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Job *j = arg;
	const Result *r = result;
	const char *path = j->files->list.v[j->todo[item]], *sha = j->sha[j->todo[item]];
	int k;

	pm_progress_step(&j->bar, pm_path_base(path));
	j->n++;
	if (end == PM_POOL_DIED || !r->read) {
		j->n_unread++;
		if (end == PM_POOL_DIED)
			pm_cli_complain("%s: checking the model ended the process.", path);
		else
			pm_cli_complain("%s", r->why);
		return PM_OK;
	}
	for (k = 0; k < PM_N_CONSTRAINTS; k++)
		j->count[k][r->c.of[k].verdict]++;
	j->n_broken += !pm_constraints_hold(&r->c);
	if (j->list) {
		cJSON *o = pm_constraints_json(&r->c);

		cJSON_AddStringToObject(o, "model", path);
		cJSON_AddItemToArray(j->list, o);
	} else {
		put_text(path, &r->c);
	}
	return j->db && *sha ? store(j, sha, &r->c, err) : PM_OK;
}

/* Which files are to be checked: with a database those that it has no verdicts of. */
static PmStatus list_todo(Job *j, PmErr *err)
{
	size_t n = j->files->list.n;
	PmStatus st = PM_OK;

	j->todo = pm_xcalloc(n + 1, sizeof *j->todo);
	j->sha = pm_xcalloc(n + 1, sizeof *j->sha);
	for (size_t i = 0; i < n && !st; i++) {
		int64_t stored = 0, broken = 0;
		PmErr bad;

		pm_err_init(&bad);
		if (j->db && pm_model_hash(j->files->list.v[i], j->sha[i], &bad) == PM_OK)
			st = pm_constraints_stored(j->db, j->sha[i], j->options, &stored, &broken, err);
		if (stored < PM_N_CONSTRAINTS)
			j->todo[j->n_todo++] = i;
		else
			j->n_broken_before += broken > 0;
	}
	return st;
}

/* ---- what is stored ---- */

typedef struct Shown {
	cJSON *list, *model; /* as JSON */
	char sha[65];
	size_t n, count[PM_N_CONSTRAINTS][3];
} Shown;

static void count_row(Shown *s, const PmConstraintRow *row)
{
	for (int k = 0; k < PM_N_CONSTRAINTS; k++)
		for (int v = 0; v < 3; v++)
			s->count[k][v] += !strcmp(row->name, pm_constraint_name((PmConstraintKind)k)) &&
					  !strcmp(row->verdict,
						  pm_constraint_verdict((PmConstraintVerdict)v));
}

static PmStatus show_row(void *arg, const PmConstraintRow *row, PmErr *err)
{
	Shown *s = arg;
	int first = strcmp(s->sha, row->sha256) != 0;

	(void)err;
	s->n += (size_t)first;
	snprintf(s->sha, sizeof s->sha, "%s", row->sha256);
	count_row(s, row);
	if (s->list && first) {
		s->model = cJSON_CreateObject();
		cJSON_AddItemToArray(s->list, s->model);
		cJSON_AddStringToObject(s->model, "model", row->model);
		cJSON_AddStringToObject(s->model, "sha256", row->sha256);
	}
	if (s->list) {
		cJSON *e = cJSON_AddObjectToObject(s->model, row->name);

		cJSON_AddStringToObject(e, "verdict", row->verdict);
		cJSON_AddStringToObject(e, "why", row->why);
		return PM_OK;
	}
	if (first)
		printf("%s %.12s\n", *row->model ? row->model : "(not extracted)", row->sha256);
	printf("  %-28s %-9s  %s\n", row->name, row->verdict, row->why);
	return PM_OK;
}

static void put_counts(const size_t (*count)[3])
{
	for (int k = 0; k < PM_N_CONSTRAINTS; k++)
		printf("  %-28s holds %zu, broken %zu, undecided %zu\n",
		       pm_constraint_name((PmConstraintKind)k), count[k][PM_HOLDS], count[k][PM_BROKEN],
		       count[k][PM_UNDECIDED]);
}

/* passmith validate --db FILE, without models: what was found before. */
static int show_stored(PmDb *db, PmErr *err)
{
	Shown s = { .list = pm_cli_json ? cJSON_CreateArray() : NULL };
	PmStatus st = pm_constraints_each(db, show_row, &s, err);

	if (s.list)
		pm_cli_put_json(s.list);
	else if (!st) {
		printf("\n%zu models\n", s.n);
		put_counts((const size_t(*)[3])s.count);
	}
	return st ? pm_cli_fail(err) : 0;
}

static void put_sum(const Job *j)
{
	size_t before = j->files->list.n - j->n_todo;

	printf("\n%zu models, %zu valid, %zu not, %zu could not be read", j->n,
	       j->n - j->n_broken - j->n_unread, j->n_broken, j->n_unread);
	if (before)
		printf("; %zu done before, %zu of them not valid", before, j->n_broken_before);
	printf("\n");
	put_counts(j->count);
}

static int check_all(Job *j, int jobs, PmErr *err)
{
	PmPool pool = {
		.result_size = sizeof(Result), .work = check_one, .done = took_one, .arg = j, .jobs = jobs
	};
	PmStatus st = list_todo(j, err);

	pool.n_items = j->n_todo;
	j->list = pm_cli_json ? cJSON_CreateArray() : NULL;
	if (!pm_cli_quiet)
		pm_progress_start(&j->bar, "validating", (int64_t)j->n_todo);
	if (!st)
		st = pm_pool_run(&pool, err);
	pm_progress_end(&j->bar);
	if (j->list)
		pm_cli_put_json(j->list);
	else if (j->files->list.n > 1)
		put_sum(j);
	free(j->todo);
	free(j->sha);
	return st ? pm_cli_fail(err) : j->n_unread ? 4 : j->n_broken || j->n_broken_before ? 1 : 0;
}

int pm_cmd_validate(const PmCmd *cmd, int argc, char **argv)
{
	int64_t mflop = 0, jobs = 0, seeds = 0;
	const char *db = NULL;
	const PmOpt opts[] = {
		{ "--max-mflop", PM_OPT_INT, &mflop,
		  "N  run the largest part of a model within N Mflop (20)" },
		{ "--seeds", PM_OPT_INT, &seeds, "N  inputs to run on (3)" },
		{ "-j", PM_OPT_INT, &jobs,
		  "N  processes (all processors, at least 2; 1: no process of its own)" },
		{ "--db", PM_OPT_STR, &db,
		  "store what is found, and check only what is not stored; without models: show it" },
		{ 0 },
	};
	PmStrList files = { 0 };
	Job j = { .files = &files };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (!pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		PM_VEC_RELEASE(&files.list);
		return code;
	}
	j.opts.max_flops = mflop > 0 && mflop < 1000000 ? mflop * 1000000 : 0;
	j.opts.seeds = seeds > 0 && seeds < 1000 ? (int)seeds : 0;
	snprintf(j.options, sizeof j.options, "max_flops=%lld seeds=%d", (long long)j.opts.max_flops,
		 j.opts.seeds);
	if (!files.list.n && !db)
		code = pm_cli_usage(cmd, "No model was given.");
	else if (db && pm_db_open(db, files.list.n ? 0 : PM_DB_READ_ONLY, &j.db, &err))
		code = pm_cli_fail(&err);
	else if (!files.list.n)
		code = show_stored(j.db, &err);
	else
		code = check_all(&j, pm_pool_jobs(jobs), &err);
	pm_db_close(j.db);
	PM_VEC_RELEASE(&files.list);
	return code;
}
