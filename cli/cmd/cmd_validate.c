/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_validate.c - passmith validate: may a model serve in a dataset, and if not, why not. */
#include "app/validate/validate.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "cli/cmds.h"
#include "dataset/store/checks.h"

#include <stdio.h>
#include <string.h>

enum { MOST_MFLOP = 999999, MOST_SEEDS = 999 };

static void put_text(const char *path, const PmConstraints *c)
{
	int k;

	printf("%s: %s\n", pm_path_base(path), pm_constraints_hold(c) ? "valid" : "NOT VALID");
	for (k = 0; k < PM_N_CONSTRAINTS; k++)
		printf("  %-28s %-9s  %s\n", pm_constraint_name((PmConstraintKind)k),
		       pm_constraint_verdict(c->of[k].verdict), c->of[k].why);
}

/* One model that was checked: into the list when there is one, else as text. */
static void put_one(void *list, const char *path, const PmConstraints *c)
{
	cJSON *o;

	if (!list) {
		put_text(path, c);
		return;
	}
	o = pm_constraints_json(c);
	cJSON_AddStringToObject(o, "model", path);
	cJSON_AddItemToArray(list, o);
}

/* ---- what is stored ---- */

typedef struct Shown {
	cJSON *list, *model; /* as JSON */
	char sha[65];
	size_t n;
	PmConstraintCounts count;
} Shown;

static PmStatus show_row(void *arg, const PmConstraintRow *row, PmErr *err)
{
	Shown *s = arg;
	int first = strcmp(s->sha, row->sha256) != 0;

	(void)err;
	s->n += (size_t)first;
	snprintf(s->sha, sizeof s->sha, "%s", row->sha256);
	pm_constraint_count(&s->count, row->name, row->verdict);
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

static void put_counts(const PmConstraintCounts *c)
{
	for (int k = 0; k < PM_N_CONSTRAINTS; k++)
		printf("  %-28s holds %zu, broken %zu, undecided %zu\n",
		       pm_constraint_name((PmConstraintKind)k), c->of[k][PM_HOLDS], c->of[k][PM_BROKEN],
		       c->of[k][PM_UNDECIDED]);
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
		put_counts(&s.count);
	}
	return st ? pm_cli_fail(err) : 0;
}

static void put_sum(const PmValidated *v)
{
	printf("\n%zu models, %zu valid, %zu not, %zu could not be read", v->n,
	       v->n - v->n_broken - v->n_unread, v->n_broken, v->n_unread);
	if (v->n_before)
		printf("; %zu done before, %zu of them not valid", v->n_before, v->n_broken_before);
	printf("\n");
	put_counts(&v->count);
}

static int check_all(PmValidateOpts *o, PmErr *err)
{
	PmProgress bar = { 0 };
	const PmWatch watch = pm_cli_watch(&bar);
	cJSON *list = pm_cli_json ? cJSON_CreateArray() : NULL;
	PmValidated v;
	PmStatus st;

	o->watch = &watch;
	st = pm_validate(o, put_one, list, &v, err);
	if (list)
		pm_cli_put_json(list); /* as far as it got */
	else if (o->n_files > 1)
		put_sum(&v);
	return st ? pm_cli_fail(err) : v.n_unread ? 4 : v.n_broken || v.n_broken_before ? 1 : 0;
}

int pm_cmd_validate(const PmCmd *cmd, int argc, char **argv)
{
	int64_t mflop = 0, jobs = 0, seeds = 0;
	const char *db = NULL;
	const PmOpt opts[] = {
		{ "--max-mflop", PM_OPT_COUNT, &mflop,
		  "N  run the largest part of a model within N Mflop (20)" },
		{ "--seeds", PM_OPT_COUNT, &seeds, "N  inputs to run on (3)" },
		{ "-j", PM_OPT_COUNT, &jobs,
		  "N  processes (all processors, at least 2; 1: no process of its own)" },
		{ "--db", PM_OPT_STR, &db,
		  "store what is found, and check only what is not stored; without models: show it" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmValidateOpts o = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (!pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		PM_VEC_RELEASE(&files.list);
		return code;
	}
	o.jobs = pm_pool_jobs(jobs);
	o.files = files.list.v;
	o.n_files = files.list.n;
	if (!files.list.n && !db)
		code = pm_cli_usage(cmd, "No model was given.");
	else if (mflop > MOST_MFLOP || seeds > MOST_SEEDS)
		code = pm_cli_usage(cmd, "--max-mflop takes a number up to %d, and --seeds one up to %d.",
				    MOST_MFLOP, MOST_SEEDS);
	else if (db && pm_db_open(db, files.list.n ? 0 : PM_DB_READ_ONLY, &o.db, &err))
		code = pm_cli_fail(&err);
	else if (!files.list.n)
		code = show_stored(o.db, &err);
	else {
		o.check.max_flops = mflop * 1000000;
		o.check.seeds = (int)seeds;
		code = check_all(&o, &err);
	}
	pm_db_close(o.db);
	PM_VEC_RELEASE(&files.list);
	return code;
}
