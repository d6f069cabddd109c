/* SPDX-License-Identifier: Apache-2.0 */
/* db.h - the dataset's database: opening, batches, counts.
 *
 * One SQLite file in WAL mode. Any number of processes may use it at once: writers wait for each other,
 * readers never wait. Storing something that is already stored changes nothing. A PmDb belongs to one thread
 * and must not cross a fork: open again in the child.
 *
 * Every call that stores is atomic on its own; between pm_db_begin and pm_db_commit many become one
 * transaction, which is much faster. Keep batches short (one model, one task): other writers wait.
 */
#ifndef DATASET_DB_H
#define DATASET_DB_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmDb PmDb;

enum {
	PM_DB_READ_ONLY = 1 << 0,  /* the file must exist; nothing is migrated */
	PM_DB_MUST_EXIST = 1 << 1, /* do not make a new database; one that may not be written is read */
	PM_DB_IMPATIENT = 1 << 2,  /* PM_E_TIMEOUT after a quarter of a second in which another has it locked:
				    * for who asks again by itself */
};
enum { PM_DB_WAIT_SECONDS = 60 }; /* how long a writer waits for another before it gives up */

/* Opens or makes the database, whose folder must exist (PM_E_NOT_FOUND), and brings its tables up to date. A
 * database made by a newer version of the program, or by another program, is refused. Returns owned in *out.
 */
PmStatus pm_db_open(const char *path, unsigned flags, PmDb **out, PmErr *err);
/* Closes; an open batch is rolled back. NULL is allowed. */
void pm_db_close(PmDb *db);
/* The path it was opened with (borrowed). */
const char *pm_db_path(const PmDb *db);
/* Version of the tables that this program makes and understands. */
int pm_db_schema_version(void);

/* A batch. Batches nest: only the outermost commit writes; rollback undoes and ends the outermost batch, and
 * the commits that remain are refused. */
PmStatus pm_db_begin(PmDb *db, PmErr *err);
PmStatus pm_db_commit(PmDb *db, PmErr *err);
void pm_db_rollback(PmDb *db);

/* What is read until pm_db_end_reading is of one moment. Inside a batch it is anyway, and nothing happens.
 * These calls do not nest. */
PmStatus pm_db_begin_reading(PmDb *db, PmErr *err);
void pm_db_end_reading(PmDb *db);

/* Drops texts that nothing uses and gives free space back to the file system. Not inside a batch. */
PmStatus pm_db_vacuum(PmDb *db, PmErr *err);

/* Makes one file of a database that no other process has open: a log beside it could not be copied with it at
 * one moment, and does not work on a file server. The last call before pm_db_close. */
PmStatus pm_db_settle(PmDb *db, PmErr *err);

/* Runs one SQL statement that only reads, and calls fn for each row with the columns' names and values as
 * text (NULL for SQL's NULL), borrowed until it returns. PM_E_INVALID when it is not SQL or would write. */
typedef PmStatus (*PmQueryFn)(void *arg, size_t n, const char *const *names, const char *const *values,
			      PmErr *err);
/* A status of fn other than PM_OK stops the statement and is returned. */
PmStatus pm_db_query(PmDb *db, const char *sql, PmQueryFn fn, void *arg, PmErr *err);

typedef struct PmDbStats {
	int64_t models, models_failed;
	int64_t subgraphs, structures, op_seqs, buckets, occurrences;
	int64_t tasks, tasks_eval, tasks_train, members, rejected, runs, results, trajectories, steps,
		applications;
	int64_t bytes; /* of the database, free pages included */
	int version;   /* of its tables */
} PmDbStats;
/* Counts what is stored. */
PmStatus pm_db_stats(PmDb *db, PmDbStats *out, PmErr *err);

#endif
