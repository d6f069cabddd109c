/* SPDX-License-Identifier: Apache-2.0 */
/* db.c - the dataset's database: statements, batches, errors, closing. */
#include "dataset/store/db.h"

#include "dataset/store/db_priv.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- errors ---- */

PmStatus pm__db_fail(PmDb *db, int rc, const char *what, PmErr *err)
{
	const char *why = db->sq ? sqlite3_errmsg(db->sq) : sqlite3_errstr(rc), *todo;
	PmStatus st = PM_E_IO;

	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		st = PM_E_TIMEOUT;
		todo = "another process is writing to it; wait for it to end and run the command again";
		break;
	case SQLITE_FULL:
		todo = "free some disk space and run the command again";
		break;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
	case SQLITE_AUTH:
		todo = "check that the path is right and that the file and its folder may be written";
		break;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		st = PM_E_INVALID;
		todo = "restore it from a copy, or remove it and extract again";
		break;
	case SQLITE_TOOBIG:
		st = PM_E_LIMIT;
		todo = "one graph or report is too large to be stored";
		break;
	case SQLITE_CONSTRAINT:
		st = PM_E_CONFLICT;
		todo = "store the rows that this one refers to first, with values in their allowed ranges";
		break;
	default:
		todo = "check the disk and the file's permissions and run the command again";
		break;
	}
	return pm_err(err, st, "Database '%s': cannot %s: %s; %s.", db->path, what, why, todo);
}

/* ---- statements ---- */

/* *slot is the place in the cache, PM_DB_CACHE when the statement is not cached. */
static int take(PmDb *db, const char *sql, sqlite3_stmt **st, size_t *slot)
{
	size_t i;
	int rc;

	for (i = 0; i < db->n_cache && db->cache[i].sql != sql; i++)
		continue;
	*slot = i;
	if (i < db->n_cache && !db->cache[i].busy) {
		db->cache[i].busy = 1;
		*st = db->cache[i].st;
		return SQLITE_OK;
	}
	rc = sqlite3_prepare_v2(db->sq, sql, -1, st, NULL);
	if (rc != SQLITE_OK)
		return rc;
	if (i == db->n_cache && i < PM_DB_CACHE) {
		db->cache[i].sql = sql;
		db->cache[i].st = *st;
		db->cache[i].busy = 1;
		db->n_cache++;
	} else {
		*slot = PM_DB_CACHE;
	}
	return SQLITE_OK;
}

static void give(PmDb *db, sqlite3_stmt *st, size_t slot)
{
	if (slot == PM_DB_CACHE) {
		sqlite3_finalize(st);
		return;
	}
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	db->cache[slot].busy = 0;
}

static int bind(sqlite3_stmt *st, const char *letters, va_list ap)
{
	int k, rc = SQLITE_OK;

	for (k = 1; letters[k - 1] && rc == SQLITE_OK; k++) {
		if (letters[k - 1] == 's') {
			const char *s = va_arg(ap, const char *);

			rc = s ? sqlite3_bind_text64(st, k, s, strlen(s), SQLITE_TRANSIENT, SQLITE_UTF8)
			       : sqlite3_bind_null(st, k);
		} else if (letters[k - 1] == 'i') {
			rc = sqlite3_bind_int64(st, k, va_arg(ap, int64_t));
		} else if (letters[k - 1] == 'f') {
			double f = va_arg(ap, double);

			rc = isnan(f) ? sqlite3_bind_null(st, k) : sqlite3_bind_double(st, k, f);
		} else {
			PM_BUG("unknown letter '%c' for a statement", letters[k - 1]);
		}
	}
	return rc;
}

const char *pm__col_text(sqlite3_stmt *row, int col)
{
	const unsigned char *s = sqlite3_column_text(row, col);

	return s ? (const char *)s : "";
}

/* Runs a statement for its rows; fn may be NULL. */
static PmStatus run(PmDb *db, const char *what, PmDbRowFn fn, void *arg, size_t *n, PmErr *err,
		    const char *sql, const char *letters, va_list ap)
{
	sqlite3_stmt *stmt = NULL;
	PmStatus st = PM_OK;
	size_t slot = PM_DB_CACHE, rows = 0;
	int rc = take(db, sql, &stmt, &slot);

	if (rc == SQLITE_OK)
		rc = bind(stmt, letters, ap);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(stmt);
		if (rc != SQLITE_ROW)
			break;
		rows++;
		st = fn ? fn(arg, stmt, err) : PM_OK;
		if (st) {
			rc = SQLITE_DONE;
			break;
		}
	}
	if (rc != SQLITE_DONE)
		st = pm__db_fail(db, rc, what, err);
	if (stmt)
		give(db, stmt, slot);
	if (n)
		*n = rows;
	return st;
}

PmStatus pm__take_id(void *arg, sqlite3_stmt *row, PmErr *err)
{
	(void)err;
	*(int64_t *)arg = sqlite3_column_int64(row, 0);
	return PM_OK;
}

PmStatus pm__db_each(PmDb *db, const char *what, PmDbRowFn fn, void *arg, size_t *n, PmErr *err,
		     const char *sql, const char *letters, ...)
{
	PmStatus st;
	va_list ap;

	va_start(ap, letters);
	st = run(db, what, fn, arg, n, err, sql, letters, ap);
	va_end(ap);
	return st;
}

PmStatus pm__db_run(PmDb *db, const char *what, int64_t *changes, PmErr *err, const char *sql,
		    const char *letters, ...)
{
	PmStatus st;
	va_list ap;
	int64_t before = sqlite3_total_changes(db->sq);

	va_start(ap, letters);
	st = run(db, what, NULL, NULL, NULL, err, sql, letters, ap);
	va_end(ap);
	if (changes)
		*changes = st ? 0 : sqlite3_total_changes(db->sq) - before;
	return st;
}

static PmStatus read_i64(void *arg, sqlite3_stmt *row, PmErr *err)
{
	(void)err;
	*(int64_t *)arg = sqlite3_column_int64(row, 0);
	return PM_OK;
}

PmStatus pm__db_i64(PmDb *db, const char *what, int64_t *out, PmErr *err, const char *sql,
		    const char *letters, ...)
{
	size_t n = 0;
	PmStatus st;
	va_list ap;

	va_start(ap, letters);
	st = run(db, what, read_i64, out, &n, err, sql, letters, ap);
	va_end(ap);
	return st == PM_OK && n == 0 ? PM_E_NOT_FOUND : st;
}

/* ---- batches ---- */

int pm__db_exec(PmDb *db, const char *sql)
{
	return sqlite3_exec(db->sq, sql, NULL, NULL, NULL);
}

PmStatus pm_db_begin(PmDb *db, PmErr *err)
{
	int rc = db->depth ? SQLITE_OK : pm__db_exec(db, "BEGIN IMMEDIATE");

	if (rc != SQLITE_OK)
		return pm__db_fail(db, rc, "begin to write", err);
	db->depth++;
	return PM_OK;
}

PmStatus pm_db_commit(PmDb *db, PmErr *err)
{
	PmStatus st;
	int rc;

	if (!db->depth)
		return pm_err(err, PM_E_INVALID,
			      "Database '%s': no batch is open, because it was rolled back or never begun; "
			      "begin one and store its rows again.",
			      db->path);
	if (--db->depth)
		return PM_OK;
	rc = pm__db_exec(db, "COMMIT");
	if (rc == SQLITE_OK)
		return PM_OK;
	st = pm__db_fail(db, rc, "write", err);
	pm__db_exec(db, "ROLLBACK");
	return st;
}

void pm_db_rollback(PmDb *db)
{
	if (db->depth)
		pm__db_exec(db, "ROLLBACK");
	db->depth = 0;
}

PmStatus pm_db_begin_reading(PmDb *db, PmErr *err)
{
	int rc = db->depth ? SQLITE_OK : pm__db_exec(db, "BEGIN");

	db->reading = !db->depth && rc == SQLITE_OK;
	return rc == SQLITE_OK ? PM_OK : pm__db_fail(db, rc, "read it", err);
}

void pm_db_end_reading(PmDb *db)
{
	if (db->reading)
		pm__db_exec(db, "COMMIT");
	db->reading = 0;
}

PmStatus pm__db_enter(PmDb *db, PmErr *err)
{
	int rc;

	if (!db->depth)
		return pm_db_begin(db, err);
	rc = pm__db_exec(db, "SAVEPOINT pm_call");
	if (rc != SQLITE_OK)
		return pm__db_fail(db, rc, "begin to write", err);
	db->depth++;
	return PM_OK;
}

PmStatus pm__db_leave(PmDb *db, PmStatus st, PmErr *err)
{
	if (db->depth == 1) {
		if (st == PM_OK)
			return pm_db_commit(db, err);
		pm_db_rollback(db);
	} else if (db->depth) {
		int rc = st ? pm__db_exec(db, "ROLLBACK TO pm_call") : SQLITE_OK;

		if (rc == SQLITE_OK)
			rc = pm__db_exec(db, "RELEASE pm_call");
		db->depth--;
		if (rc != SQLITE_OK) { /* what of the batch is stored is not known: none of it shall be */
			PmStatus bad = pm__db_fail(db, rc, "end a step of a batch", st ? NULL : err);

			pm_db_rollback(db);
			return st ? st : bad;
		}
	}
	return st;
}

/* ---- closing ---- */

void pm_db_close(PmDb *db)
{
	size_t i;

	if (!db)
		return;
	pm_db_rollback(db);
	for (i = 0; i < db->n_cache; i++)
		sqlite3_finalize(db->cache[i].st);
	sqlite3_close(db->sq);
	if (db->origin)
		db->drop_origin(db->origin);
	free(db->path);
	free(db);
}

const char *pm_db_path(const PmDb *db)
{
	return db->path;
}
