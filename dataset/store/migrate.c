/* SPDX-License-Identifier: Apache-2.0 */
/* migrate.c - brings the tables of a database up to date, from the migrations in schema.sql. */
#include "dataset/store/db_priv.h"

#include "base/core/str.h"
#include "dataset/store/schema.sql.h" /* generated */

#include <stdlib.h>
#include <string.h>

static const char mark[] = "\n-- migration ";
/* "PmDS": tells our files from other programs' databases (PRAGMA application_id). */
enum { APP_ID = 0x506d4453 };

/* The text of migration k (from 1), or NULL; *n is its length. */
static const char *migration(int k, size_t *n)
{
	const char *p = schema_sql, *end;
	int i;

	for (i = 0; i < k; i++) {
		p = strstr(p, mark);
		if (!p)
			return NULL;
		p += sizeof mark - 1;
	}
	p = strchr(p, '\n');
	if (!p)
		return NULL;
	end = strstr(p, mark);
	*n = end ? (size_t)(end - p) : strlen(p);
	return p;
}

int pm_db_schema_version(void)
{
	size_t n;
	int k = 0;

	while (migration(k + 1, &n))
		k++;
	return k;
}

static PmStatus read_version(PmDb *db, int64_t *version, PmErr *err)
{
	int64_t app = 0, tables = 0;
	PmStatus st = pm__db_i64(db, "read it", version, err, "PRAGMA user_version", "");

	if (st == PM_OK)
		st = pm__db_i64(db, "read it", &app, err, "PRAGMA application_id", "");
	if (st == PM_OK)
		st = pm__db_i64(db, "read it", &tables, err, "SELECT count(*) FROM sqlite_master", "");
	if (st)
		return st;
	if (app != APP_ID && (app != 0 || tables != 0 || *version != 0))
		return pm_err(err, PM_E_INVALID,
			      "Database '%s' was made by another program; choose another file name.",
			      db->path);
	if (*version > pm_db_schema_version())
		return pm_err(
			err, PM_E_UNSUPPORTED,
			"Database '%s' has tables of version %lld, but this program knows versions up to "
			"%d; use a newer passmith, or another database.",
			db->path, (long long)*version, pm_db_schema_version());
	return PM_OK;
}

/* All of it as of one moment: another process may be making the tables just now. */
static PmStatus read_version_at_once(PmDb *db, int64_t *version, PmErr *err)
{
	int rc = sqlite3_exec(db->sq, "BEGIN", NULL, NULL, NULL);
	PmStatus st;

	if (rc != SQLITE_OK)
		return pm__db_fail(db, rc, "read it", err);
	st = read_version(db, version, err);
	sqlite3_exec(db->sq, "COMMIT", NULL, NULL, NULL);
	return st;
}

static PmStatus apply(PmDb *db, int from, int to, PmErr *err)
{
	PmStr sql = PM_STR_INIT;
	PmStatus st = PM_OK;
	size_t n = 0;
	int k, rc;

	for (k = from + 1; k <= to; k++) {
		const char *p = migration(k, &n);

		pm_str_addn(&sql, p, n);
	}
	pm_str_addf(&sql, "\nPRAGMA user_version = %d;\nPRAGMA application_id = %d;", to, APP_ID);
	rc = sqlite3_exec(db->sq, sql.s, NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		st = pm__db_fail(db, rc, "bring its tables up to date", err);
	pm_str_release(&sql);
	return st;
}

PmStatus pm__db_migrate(PmDb *db, PmErr *err)
{
	int to = pm_db_schema_version();
	int64_t version = 0;
	PmStatus st = read_version_at_once(db, &version, err);

	if (st || version == to)
		return st;
	if (db->read_only)
		return pm_err(
			err, PM_E_UNSUPPORTED,
			"Database '%s' has tables of version %lld and is opened for reading only; bring them "
			"to version %d once, by passmith db vacuum --db FILE.",
			db->path, (long long)version, to);
	st = pm__db_enter(db, err);
	if (st)
		return st;
	st = read_version(db, &version, err); /* another process may have been faster */
	if (st == PM_OK && version < to)
		st = apply(db, (int)version, to, err);
	if (st == PM_OK && version == 1)
		st = pm__subgraphs_fill_buckets(db, err);
	if (st == PM_OK && version < 9)
		st = pm__subgraphs_fill_categories(db, err);
	if (st == PM_OK && version < 14)
		st = pm__measurements_fill_keys(db, err);
	return pm__db_leave(db, st, err);
}
