/* SPDX-License-Identifier: Apache-2.0 */
/* db_priv.h - statements, values and errors, shared by the files of dataset/. */
#ifndef DATASET_DB_PRIV_H
#define DATASET_DB_PRIV_H

#include "base/core/hash.h"
#include "base/core/json.h"
#include "dataset/store/db.h"
#include "dataset/store/measurements.h"

#include <sqlite3.h>
#include <stddef.h>

enum { PM_DB_CACHE = 128 }; /* statements kept prepared */

struct PmDb {
	sqlite3 *sq;
	char *path;
	int read_only;
	int wait_ms;  /* for another that has it locked */
	int depth;    /* batches open */
	int reading;  /* pm_db_begin_reading has begun a transaction */
	void *origin; /* owned: where what is stored was measured (measurements.c); NULL = not known */
	void (*drop_origin)(void *origin);
	struct {
		const char *sql; /* a string literal: compared by address */
		sqlite3_stmt *st;
		int busy;
	} cache[PM_DB_CACHE];
	size_t n_cache;
};

/* "database 'x.db': cannot <what>: <reason>; <what to do>." from SQLite's result code. */
PmStatus pm__db_fail(PmDb *db, int rc, const char *what, PmErr *err);
/* Runs statements that give no rows; SQLite's result. */
int pm__db_exec(PmDb *db, const char *sql);

/* Arguments of a statement as one letter each: s text (const char *, NULL is SQL's NULL), i int64_t,
 * f double (NaN is NULL). `sql` is a string literal. `what` completes "cannot ...". */

/* Runs a statement that returns no rows; *changes (may be NULL) is the number of rows changed. */
PmStatus pm__db_run(PmDb *db, const char *what, int64_t *changes, PmErr *err, const char *sql,
		    const char *letters, ...);
/* The first column of the first row as an integer; PM_E_NOT_FOUND without a sentence when there is no row. */
PmStatus pm__db_i64(PmDb *db, const char *what, int64_t *out, PmErr *err, const char *sql,
		    const char *letters, ...);
/* Runs a query and calls fn for each row; a status other than PM_OK stops it and is returned. *n (may be
 * NULL) counts the rows. The statement may be used again from within fn. */
typedef PmStatus (*PmDbRowFn)(void *arg, sqlite3_stmt *row, PmErr *err);
PmStatus pm__db_each(PmDb *db, const char *what, PmDbRowFn fn, void *arg, size_t *n, PmErr *err,
		     const char *sql, const char *letters, ...);
/* For pm__db_each: *(int64_t *)arg becomes the first column. */
PmStatus pm__take_id(void *arg, sqlite3_stmt *row, PmErr *err);
/* Text of a column, "" for NULL; borrowed until the next row. */
const char *pm__col_text(sqlite3_stmt *row, int col);

/* Brackets a call that stores with more than one statement. leave: commits when st is PM_OK, else undoes what
 * the call did; returns st, or the status of the commit. When a
 * step inside a batch cannot be ended, the whole batch is rolled back, and pm_db_commit will say so. */
PmStatus pm__db_enter(PmDb *db, PmErr *err);
PmStatus pm__db_leave(PmDb *db, PmStatus st, PmErr *err);

/* migrate.c: brings the tables up to date, or (read_only) checks that they are. */
PmStatus pm__db_migrate(PmDb *db, PmErr *err);
/* subgraphs.c: the part of a migration that needs graphs: gives a bucket to rows that have none. */
PmStatus pm__subgraphs_fill_buckets(PmDb *db, PmErr *err);
/* Likewise the categories of graphs stored before version 9. */
PmStatus pm__subgraphs_fill_categories(PmDb *db, PmErr *err);
/* measurements.c: functions of our own for statements; SQLite's result. */
int pm__db_add_functions(PmDb *db);
/* The columns of an origin `o` that may be absent (LEFT JOIN), and what a row says of it from column `k` on;
 * its texts are borrowed from the row. 1 when anything of an origin is known. */
#define PM__ORIGIN_COLUMNS                                                                                   \
	"o.node, o.job, coalesce(o.element, -1), coalesce(o.restarts, 0), o.gpu, o.gpu_id, o.driver, "       \
	"o.clocks"
PmOrigin pm__origin_read(sqlite3_stmt *row, int k);
int pm__origin_is_known(const PmOrigin *o);
/* Likewise the keys of results stored before version 14. */
PmStatus pm__measurements_fill_keys(PmDb *db, PmErr *err);
/* tasks.c: the name of a task: a hash over its kind and its members' full hashes, in any order. */
void pm__task_hash(const char *kind, const char *const *hashes, size_t n, char hex[PM_SHA256_HEX]);
/* trajectories.c: stores a row of JSON Lines that is not there. *wrong becomes what is wrong with the row,
 * and then nothing is stored. */
PmStatus pm__trajectory_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err);
PmStatus pm__step_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err);
/* rewrites.c: the same. */
PmStatus pm__source_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err);
PmStatus pm__rewrite_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err);
PmStatus pm__profile_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err);
/* applications.c: likewise. */
PmStatus pm__application_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err);

#endif
