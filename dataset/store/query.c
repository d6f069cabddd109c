/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - counts, questions in SQL, and giving space back. */
#include "base/core/arena.h"
#include "dataset/store/db_priv.h"

#include <stdlib.h>
#include <string.h>

PmStatus pm_db_vacuum(PmDb *db, PmErr *err)
{
	static const char sql[] =
		"DELETE FROM buckets WHERE id NOT IN (SELECT bucket FROM subgraphs WHERE bucket IS NOT NULL);"
		"DELETE FROM op_seqs WHERE id NOT IN (SELECT op_seq FROM subgraphs) "
		"AND id NOT IN (SELECT op_seq FROM buckets);"
		"DELETE FROM rewrites WHERE id NOT IN (SELECT rewrite FROM measurements WHERE rewrite IS NOT "
		"NULL);"
		"DELETE FROM origins WHERE id NOT IN (SELECT origin FROM measurements WHERE origin IS NOT "
		"NULL) "
		"AND id NOT IN (SELECT origin FROM hidden_measurements WHERE origin IS NOT NULL);"
		"DELETE FROM kernel_sources WHERE id NOT IN (SELECT source FROM rewrite_sources);"
		"VACUUM; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA optimize";
	int rc = sqlite3_exec(db->sq, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? PM_OK : pm__db_fail(db, rc, "shrink it", err);
}

/* ---- questions in SQL ---- */

static PmStatus ask(PmDb *db, sqlite3_stmt *stmt, PmQueryFn fn, void *arg, PmErr *err)
{
	int n = sqlite3_column_count(stmt), rc;
	const char **names = pm_xcalloc((size_t)n + 1, sizeof *names);
	const char **values = pm_xcalloc((size_t)n + 1, sizeof *values);
	PmStatus st = PM_OK;

	for (int k = 0; k < n; k++)
		names[k] = sqlite3_column_name(stmt, k);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && st == PM_OK) {
		for (int k = 0; k < n; k++)
			values[k] = (const char *)sqlite3_column_text(stmt, k);
		st = fn(arg, (size_t)n, names, values, err);
	}
	if (st == PM_OK && rc != SQLITE_DONE)
		st = pm__db_fail(db, rc, "answer the question", err);
	free(names);
	free(values);
	return st;
}

PmStatus pm_db_query(PmDb *db, const char *sql, PmQueryFn fn, void *arg, PmErr *err)
{
	sqlite3_stmt *stmt = NULL;
	const char *rest = NULL;
	PmStatus st;

	if (sqlite3_prepare_v2(db->sq, sql, -1, &stmt, &rest) != SQLITE_OK || !stmt)
		st = pm_err(err, PM_E_INVALID, "Database '%s': the question is not SQL: %s.", db->path,
			    sqlite3_errmsg(db->sq));
	else if (!sqlite3_stmt_readonly(stmt) || rest[strspn(rest, " \t\r\n;")])
		st = pm_err(err, PM_E_INVALID,
			    "Database '%s': a question is one statement that only reads; write one SELECT.",
			    db->path);
	else
		st = ask(db, stmt, fn, arg, err);
	sqlite3_finalize(stmt);
	return st;
}

/* ---- counts ---- */

PmStatus pm_db_stats(PmDb *db, PmDbStats *out, PmErr *err)
{
	int64_t page = 0, pages = 0, version = 0;
	struct {
		const char *sql;
		int64_t *to;
	} const q[] = {
		{ "SELECT count(*) FROM models", &out->models },
		{ "SELECT count(*) FROM models WHERE status = 'failed'", &out->models_failed },
		{ "SELECT count(*) FROM subgraphs", &out->subgraphs },
		{ "SELECT count(DISTINCT structure) FROM subgraphs", &out->structures },
		{ "SELECT count(DISTINCT op_seq) FROM subgraphs", &out->op_seqs },
		{ "SELECT count(DISTINCT bucket) FROM subgraphs", &out->buckets },
		{ "SELECT count(*) FROM occurrences", &out->occurrences },
		{ "SELECT count(*) FROM tasks", &out->tasks },
		{ "SELECT count(*) FROM tasks WHERE split = 'eval'", &out->tasks_eval },
		{ "SELECT count(*) FROM tasks WHERE split = 'train'", &out->tasks_train },
		{ "SELECT count(*) FROM variants", &out->members },
		{ "SELECT count(*) FROM rejected", &out->rejected },
		{ "SELECT count(*) FROM runs", &out->runs },
		{ "SELECT count(*) FROM results", &out->results },
		{ "SELECT count(*) FROM trajectories", &out->trajectories },
		{ "SELECT count(*) FROM applications", &out->applications },
		{ "SELECT count(*) FROM steps", &out->steps },
		{ "PRAGMA page_size", &page },
		{ "PRAGMA page_count", &pages },
		{ "PRAGMA user_version", &version },
	};
	size_t i;
	PmStatus st = PM_OK;

	for (i = 0; i < sizeof q / sizeof q[0] && st == PM_OK; i++)
		st = pm__db_i64(db, "count its rows", q[i].to, err, q[i].sql, "");
	out->bytes = page * pages;
	out->version = (int)version;
	return st;
}
