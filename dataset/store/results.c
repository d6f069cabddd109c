/* SPDX-License-Identifier: Apache-2.0 */
/* results.c - rows of runs, and results as they count; measurements.c stores them. */
#include "dataset/store/results.h"

#include "base/core/hash.h"
#include "base/core/str.h"
#include "dataset/store/db_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- runs ---- */

static PmStatus add_hash(void *arg, sqlite3_stmt *row, PmErr *err)
{
	(void)err;
	pm_str_add(arg, pm__col_text(row, 0));
	return PM_OK;
}

/* The task takes part with its hash: keys are equal in databases that number their tasks differently. */
static PmStatus run_key(PmDb *db, const PmRunRow *r, char hex[PM_SHA256_HEX], PmErr *err)
{
	PmStr s = PM_STR_INIT;
	size_t n = 0;
	PmStatus st = PM_OK;

	if (r->task)
		st = pm__db_each(db, "look a task up", add_hash, &s, &n, err,
				 "SELECT hash FROM tasks WHERE id = ?", "i", r->task);
	if (st == PM_OK && r->task && n == 0)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "Database '%s' has no task %lld; list its tasks to see their numbers.", db->path,
			    (long long)r->task);
	if (st == PM_OK) {
		pm_str_addf(&s, "\n%s\n%llu\n", r->pass_sha256, (unsigned long long)r->seed);
		pm_str_add_quoted(&s, r->device, strlen(r->device));
		pm_str_add_quoted(&s, r->version, strlen(r->version));
		pm_str_add_quoted(&s, r->options, strlen(r->options));
		if (r->machine && *r->machine) /* times that are imported name none: their keys are older */
			pm_str_add_quoted(&s, r->machine, strlen(r->machine));
		pm_sha256_hex(s.s, s.len, hex);
	}
	pm_str_release(&s);
	return st;
}

static PmStatus find_key(PmDb *db, const char *key, int64_t *id, PmErr *err)
{
	return pm__db_i64(db, "look a run up", id, err, "SELECT id FROM runs WHERE key = ?", "s", key);
}

PmStatus pm_run_find(PmDb *db, const PmRunRow *row, int64_t *id, PmErr *err)
{
	char key[PM_SHA256_HEX];
	PmStatus st = run_key(db, row, key, err);

	*id = 0;
	if (st)
		return st;
	st = find_key(db, key, id, err);
	return st == PM_E_NOT_FOUND ? PM_OK : st;
}

PmStatus pm_run_put(PmDb *db, const PmRunRow *row, int64_t *id, int *is_new, PmErr *err)
{
	char key[PM_SHA256_HEX], seed[32];
	int64_t changes = 0, started = row->started ? row->started : (int64_t)time(NULL);
	PmStatus st = run_key(db, row, key, err);

	if (st == PM_OK)
		st = pm__db_enter(db, err);
	if (st)
		return st;
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)row->seed);
	st = pm__db_run(
		db, "store a run", &changes, err,
		"INSERT INTO runs (key, task, pass_path, pass_sha256, device, seed, version, options, "
		"started, machine) VALUES (?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO "
		"NOTHING",
		"sissssssis", key, row->task, row->pass_path, row->pass_sha256, row->device, seed,
		row->version, row->options, started, row->machine ? row->machine : "");
	if (st == PM_OK)
		st = find_key(db, key, id, err);
	if (is_new)
		*is_new = changes > 0;
	return pm__db_leave(db, st, err);
}

PmStatus pm_run_finish(PmDb *db, int64_t run, PmErr *err)
{
	int64_t changes = 0;
	PmStatus st = pm__db_run(db, "mark a run as complete", &changes, err,
				 "UPDATE runs SET finished = ? WHERE id = ?", "ii", (int64_t)time(NULL), run);

	if (st == PM_OK && changes == 0)
		return pm_err(err, PM_E_NOT_FOUND, "Database '%s' has no run %lld; store the run first.",
			      db->path, (long long)run);
	return st;
}

typedef struct Walk {
	PmRunFn run;
	PmResultFn result;
	PmScoreFn score;
	void *arg;
} Walk;

static PmStatus one_run(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmRunRow r = { sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
		       pm__col_text(row, 2),         pm__col_text(row, 3),
		       pm__col_text(row, 4),         strtoull(pm__col_text(row, 5), NULL, 10),
		       pm__col_text(row, 6),         pm__col_text(row, 7),
		       sqlite3_column_int64(row, 8), sqlite3_column_int64(row, 9),
		       pm__col_text(row, 10),        pm__col_text(row, 11),
		       pm__col_text(row, 12) };

	return w->run(w->arg, &r, err);
}

#define RUN_COLUMNS                                                                                          \
	"SELECT id, task, pass_path, pass_sha256, device, seed, version, options, started, finished, "       \
	"machine, hidden, hidden_json "

int pm_run_row_is_like(const PmRunRow *a, const PmRunRow *b)
{
	return pm_str_eq(a->pass_sha256, b->pass_sha256) && pm_str_eq(a->device, b->device) &&
	       a->seed == b->seed && pm_str_eq(a->version, b->version) && pm_str_eq(a->options, b->options);
}

PmStatus pm_runs_each(PmDb *db, int64_t task, PmRunFn fn, void *arg, PmErr *err)
{
	Walk w = { .run = fn, .arg = arg };

	if (task)
		return pm__db_each(db, "list its runs", one_run, &w, NULL, err,
				   RUN_COLUMNS "FROM runs WHERE task = ? ORDER BY id", "i", task);
	return pm__db_each(db, "list its runs", one_run, &w, NULL, err, RUN_COLUMNS "FROM runs ORDER BY id",
			   "");
}

/* ---- results ---- */

PmStatus pm_result_is_done(PmDb *db, int64_t run, int64_t task, int64_t ordinal, int *done, PmErr *err)
{
	int64_t one;
	PmStatus st = pm__db_i64(db, "look a result up", &one, err,
				 "SELECT 1 FROM results WHERE run = ? AND task = ? AND ordinal = ?", "iii",
				 run, task, ordinal);

	*done = st == PM_OK;
	return st == PM_E_NOT_FOUND ? PM_OK : st;
}

static PmStatus one_result(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmResultRow r = { sqlite3_column_int64(row, 0),
			  sqlite3_column_int64(row, 1),
			  sqlite3_column_int64(row, 2),
			  pm__col_text(row, 3),
			  pm__col_text(row, 4),
			  sqlite3_column_type(row, 5) == SQLITE_NULL ? NAN : sqlite3_column_double(row, 5),
			  pm__col_text(row, 6),
			  sqlite3_column_int64(row, 7) };

	return w->result(w->arg, &r, err);
}

PmStatus pm_results_each(PmDb *db, int64_t run, PmResultFn fn, void *arg, PmErr *err)
{
	Walk w = { .result = fn, .arg = arg };

	return pm__db_each(db, "list results", one_result, &w, NULL, err,
			   "SELECT run, task, ordinal, verdict, stage, speedup, json, rewrite FROM results "
			   "WHERE run = ? "
			   "ORDER BY task, ordinal",
			   "i", run);
}

static PmStatus one_score(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmScoreRow r = { pm__col_text(row, 0), pm__col_text(row, 1), pm__col_text(row, 2),
			 sqlite3_column_int64(row, 3),
			 sqlite3_column_type(row, 4) == SQLITE_NULL ? NAN : sqlite3_column_double(row, 4) };

	return w->score(w->arg, &r, err);
}

/* Whole tables: every result may be the best one of its structure. */
PmStatus pm_scores_each(PmDb *db, const char *verdict, PmScoreFn fn, void *arg, PmErr *err)
{
	Walk w = { .score = fn, .arg = arg };

	return pm__db_each(db, "list results", one_score, &w, NULL, err,
			   "SELECT s.structure, r.pass_path, x.json, m.subgraph, x.speedup FROM runs r "
			   "JOIN results x ON x.run = r.id AND x.verdict = ? AND r.hidden IN ('', 'OK') "
			   "JOIN variants m ON m.task = x.task AND m.ordinal = x.ordinal "
			   "JOIN subgraphs s ON s.id = m.subgraph ORDER BY r.id, x.task, x.ordinal",
			   "s", verdict);
}
