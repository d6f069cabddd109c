/* SPDX-License-Identifier: Apache-2.0 */
/* db_open.c - opening the dataset's database: where it may lie, who may write it, which schema it has. */
#include "base/core/arena.h"
#include "base/sys/io.h"
#include "dataset/store/db_priv.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Turning WAL on needs a moment without readers, and SQLite's own waiting does not cover it. */
static int set_wal(PmDb *db)
{
	int tries, rc = SQLITE_BUSY;

	for (tries = 0; tries * 10 < db->wait_ms && (rc & 0xff) == SQLITE_BUSY; tries++) {
		if (tries)
			sqlite3_sleep(10);
		rc = pm__db_exec(db, "PRAGMA journal_mode = WAL");
	}
	return rc;
}

static PmStatus set_up(PmDb *db, PmErr *err)
{
	int rc;

	sqlite3_extended_result_codes(db->sq, 1);
	sqlite3_busy_timeout(db->sq, db->wait_ms);
	rc = pm__db_exec(db, "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL");
	if (rc == SQLITE_OK)
		rc = pm__db_add_functions(db);
	if (rc == SQLITE_OK && !db->read_only)
		rc = set_wal(db);
	if (rc != SQLITE_OK)
		return pm__db_fail(db, rc, "open it", err);
	return pm__db_migrate(db, err);
}

/* A misspelt path is not to become folders. */
static PmStatus want_folder(const char *path, PmErr *err)
{
	PmStr dir = PM_STR_INIT;
	PmStatus st = PM_OK;

	pm_path_dir(path, &dir);
	if (!pm_path_exists(dir.s))
		st = pm_err(err, PM_E_NOT_FOUND, "The folder of database '%s' does not exist; make it first.",
			    path);
	pm_str_release(&dir);
	return st;
}

/* 1 when nobody is to write a file: for root, too, who may all the same. */
static int is_sealed(const char *path)
{
	struct stat sb;

	return !stat(path, &sb) && !(sb.st_mode & 0222);
}

/* A log, or the old pages of a transaction that was not finished: what stands in the file is not all. */
static int has_log(const char *path)
{
	static const char *const ends[] = { "-wal", "-journal" };
	PmStr name = PM_STR_INIT;
	int has = 0;

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		pm_str_clear(&name);
		pm_str_addf(&name, "%s%s", path, ends[i]);
		has |= pm_path_exists(name.s);
	}
	pm_str_release(&name);
	return has;
}

/* Where the folder may not be written either, SQLite cannot keep its own files beside the database, and reads
 * it only when told that nobody writes. Nobody does while there is no log. The same goes for a file that
 * nobody is to write, so that reading it leaves its bytes and its folder as they are. */
static int open_to_read(const char *path, sqlite3 **out)
{
	PmStr dir = PM_STR_INIT, name = PM_STR_INIT;
	int rc;

	pm_path_dir(path, &dir);
	if ((access(dir.s, W_OK) == 0 && !is_sealed(path)) || has_log(path)) {
		rc = sqlite3_open_v2(path, out, SQLITE_OPEN_READONLY, NULL);
	} else {
		pm_str_add(&name, "file:");
		for (const unsigned char *p = (const unsigned char *)path; *p; p++)
			pm_str_addf(&name, strchr("%?#", *p) ? "%%%02X" : "%c", *p);
		pm_str_add(&name, "?immutable=1");
		rc = sqlite3_open_v2(name.s, out, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	}
	pm_str_release(&dir);
	pm_str_release(&name);
	return rc;
}

PmStatus pm_db_open(const char *path, unsigned flags, PmDb **out, PmErr *err)
{
	int ro = (flags & PM_DB_READ_ONLY) != 0, must = ro || (flags & PM_DB_MUST_EXIST) != 0, rc;
	PmStatus st;
	PmDb *db;

	*out = NULL;
	if (must && !pm_path_exists(path))
		return pm_err(err, PM_E_NOT_FOUND,
			      "Database '%s' does not exist; make it with 'passmith extract'.", path);
	if (!must && (st = want_folder(path, err)) != PM_OK)
		return st;
	ro = ro || (must && (access(path, W_OK) != 0 || is_sealed(path)));
	db = pm_xcalloc(1, sizeof *db);
	db->path = pm_xstrdup(path);
	db->read_only = ro;
	db->wait_ms = flags & PM_DB_IMPATIENT ? 250 : PM_DB_WAIT_SECONDS * 1000;
	if (ro)
		rc = open_to_read(path, &db->sq);
	else
		rc = sqlite3_open_v2(path, &db->sq, SQLITE_OPEN_READWRITE | (must ? 0 : SQLITE_OPEN_CREATE),
				     NULL);
	st = rc == SQLITE_OK ? set_up(db, err) : pm__db_fail(db, rc, "open it", err);
	if (st) {
		pm_db_close(db);
		return st;
	}
	*out = db;
	return PM_OK;
}

PmStatus pm_db_settle(PmDb *db, PmErr *err)
{
	int rc = pm__db_exec(db, "PRAGMA journal_mode = DELETE");

	return rc == SQLITE_OK ? PM_OK : pm__db_fail(db, rc, "make one file of it", err);
}
