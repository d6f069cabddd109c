/* SPDX-License-Identifier: Apache-2.0 */
/* rewrites.c - rows of rewritten graphs, of the sources of their kernels, and of profiles. */
#include "dataset/store/rewrites.h"

#include "dataset/store/db_priv.h"
#include "ir/text/text.h"

#include <string.h>

static PmStatus source_put(PmDb *db, const char *sha256, const char *text, PmErr *err)
{
	return pm__db_run(
		db, "store a kernel's source", NULL, err,
		"INSERT INTO kernel_sources (sha256, text) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING",
		"ss", sha256, text);
}

static PmStatus insert(PmDb *db, const char *hash, const char *code, const char *text, int64_t *id,
		       int *is_new, PmErr *err)
{
	int64_t changes = 0;
	PmStatus st = pm__db_run(
		db, "store a rewritten graph", &changes, err,
		"INSERT INTO rewrites (hash, code, text) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING",
		"sss", hash, code, text);

	*is_new = changes > 0;
	return st ? st
		  : pm__db_i64(db, "look a rewritten graph up", id, err,
			       "SELECT id FROM rewrites WHERE hash = ?", "s", hash);
}

static PmStatus add_source(PmDb *db, int64_t rewrite, int64_t ordinal, const char *sha256, PmErr *err)
{
	return pm__db_run(db, "store a kernel's source", NULL, err,
			  "INSERT INTO rewrite_sources (rewrite, ordinal, source) "
			  "SELECT ?, ?, id FROM kernel_sources WHERE sha256 = ?",
			  "iis", rewrite, ordinal, sha256);
}

static PmStatus put(PmDb *db, const PmRewriteRow *row, const char *const *sources, size_t n, int64_t *id,
		    PmErr *err)
{
	char hash[PM_SHA256_HEX], sum[PM_SHA256_HEX];
	int is_new = 0;
	PmStatus st;

	pm_sha256_hex(row->text, strlen(row->text), hash);
	st = insert(db, hash, row->code, row->text, id, &is_new, err);
	for (size_t i = 0; i < n && is_new && !st; i++) {
		pm_sha256_hex(sources[i], strlen(sources[i]), sum);
		st = source_put(db, sum, sources[i], err);
		if (!st)
			st = add_source(db, *id, (int64_t)i, sum, err);
	}
	return st;
}

PmStatus pm_rewrite_put(PmDb *db, int64_t run, const PmRewriteRow *row, const char *const *sources, size_t n,
			int64_t *id, PmErr *err)
{
	PmStatus st = pm__db_enter(db, err);

	if (st)
		return st;
	st = pm__db_i64(db, "look a rewritten graph up", id, err,
			"SELECT w.id FROM results x JOIN rewrites w ON w.id = x.rewrite "
			"WHERE x.run = ? AND w.code = ? ORDER BY x.task, x.ordinal LIMIT 1",
			"is", run, row->code);
	if (st == PM_E_NOT_FOUND)
		st = put(db, row, sources, n, id, err);
	return pm__db_leave(db, st, err);
}

typedef struct Walk {
	PmRewriteFn rewrite;
	PmKernelSourceFn source;
	PmProfileFn profile;
	void *arg;
} Walk;

static PmStatus one_rewrite(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmRewriteRow r = { sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), pm__col_text(row, 2),
			   pm__col_text(row, 3) };

	return w->rewrite(w->arg, &r, err);
}

PmStatus pm_rewrites_each(PmDb *db, int64_t run, PmRewriteFn fn, void *arg, PmErr *err)
{
	Walk w = { .rewrite = fn, .arg = arg };

	return pm__db_each(db, "list rewritten graphs", one_rewrite, &w, NULL, err,
			   "SELECT w.id, x.first, w.code, w.text FROM (SELECT rewrite, min(ordinal) AS first "
			   "FROM results WHERE run = ? AND rewrite IS NOT NULL GROUP BY rewrite) x "
			   "JOIN rewrites w ON w.id = x.rewrite ORDER BY x.first, w.hash",
			   "i", run);
}

static PmStatus one_source(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;

	return w->source(w->arg, pm__col_text(row, 0), pm__col_text(row, 1), err);
}

PmStatus pm_rewrite_sources_each(PmDb *db, int64_t rewrite, PmKernelSourceFn fn, void *arg, PmErr *err)
{
	Walk w = { .source = fn, .arg = arg };

	return pm__db_each(
		db, "list sources of kernels", one_source, &w, NULL, err,
		"SELECT s.sha256, s.text FROM rewrite_sources x JOIN kernel_sources s ON s.id = x.source "
		"WHERE x.rewrite = ? ORDER BY x.ordinal",
		"i", rewrite);
}

/* ---- profiles ---- */

PmStatus pm_profile_put(PmDb *db, const PmProfileRow *r, PmErr *err)
{
	return pm__db_run(db, "store a profile", NULL, err,
			  "INSERT OR REPLACE INTO profiles (task, ordinal, pass_sha256, options, pass_path, "
			  "version, json) "
			  "VALUES (?, ?, ?, ?, ?, ?, ?)",
			  "iisssss", r->task, r->ordinal, r->pass_sha256, r->options, r->pass_path,
			  r->version, r->json);
}

static PmStatus one_profile(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmProfileRow r = { sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), pm__col_text(row, 2),
			   pm__col_text(row, 3),         pm__col_text(row, 4),         pm__col_text(row, 5),
			   pm__col_text(row, 6) };

	return w->profile(w->arg, &r, err);
}

PmStatus pm_profiles_each(PmDb *db, int64_t task, PmProfileFn fn, void *arg, PmErr *err)
{
	Walk w = { .profile = fn, .arg = arg };

	return pm__db_each(
		db, "list profiles", one_profile, &w, NULL, err,
		"SELECT task, ordinal, pass_sha256, options, pass_path, version, json FROM profiles "
		"WHERE task = ? ORDER BY pass_path, pass_sha256, ordinal, options",
		"i", task);
}

/* ---- rows of JSON Lines ---- */

static int is_digest(const char *s)
{
	return strlen(s) == PM_SHA256_HEX - 1 && strspn(s, "0123456789abcdef") == PM_SHA256_HEX - 1;
}

static int has_digest(const char *text, const char *digest)
{
	char sum[PM_SHA256_HEX];

	pm_sha256_hex(text, strlen(text), sum);
	return !strcmp(sum, digest);
}

PmStatus pm__source_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err)
{
	const char *text = pm_json_str(j, "text", ""), *sum = pm_json_str(j, "sha256", "");

	if (has_digest(text, sum))
		return source_put(db, sum, text, err);
	*wrong = "the source's digest is not that of its text";
	return PM_OK;
}

/* A digest is of a source that is there. */
static PmStatus check_source(PmDb *db, const cJSON *s, const char **wrong, PmErr *err)
{
	int64_t id;
	PmStatus st = PM_E_NOT_FOUND;

	if (cJSON_IsString(s))
		st = pm__db_i64(db, "look a source up", &id, err,
				"SELECT id FROM kernel_sources WHERE sha256 = ?", "s", s->valuestring);
	if (st != PM_E_NOT_FOUND)
		return st;
	*wrong = "a source of the rewritten graph is missing";
	return PM_OK;
}

PmStatus pm__rewrite_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err)
{
	const char *text = pm_json_str(j, "text", ""), *hash = pm_json_str(j, "hash", "");
	const char *code = pm_json_str(j, "code", "");
	const cJSON *sources = cJSON_GetObjectItemCaseSensitive(j, "sources"), *s;
	int64_t id = 0, ordinal = 0;
	int is_new = 0;
	PmGraph *g = NULL;
	PmStatus st = PM_OK;

	if (!has_digest(text, hash) || !is_digest(code))
		*wrong = "the rewritten graph's hash is not that of its text, or it has no code";
	else if (pm_graph_parse(text, strlen(text), &g, NULL))
		*wrong = "the rewritten graph is no graph";
	pm_graph_free(g);
	cJSON_ArrayForEach(s, sources)
	{
		if (!st && !*wrong)
			st = check_source(db, s, wrong, err);
	}
	if (st || *wrong)
		return st;
	st = insert(db, hash, code, text, &id, &is_new, err);
	cJSON_ArrayForEach(s, sources)
	{
		if (!st && is_new)
			st = add_source(db, id, ordinal++, s->valuestring, err);
	}
	return st;
}

/* A profile that is stored stays. */
PmStatus pm__profile_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err)
{
	const char *sum = pm_json_str(j, "pass_sha256", "");
	int64_t task = 0;
	PmStatus st = pm__db_i64(db, "look a task up", &task, err,
				 "SELECT v.task FROM variants v JOIN tasks t ON t.id = v.task "
				 "WHERE t.hash = ? AND v.ordinal = ?",
				 "si", pm_json_str(j, "task", ""), pm_json_i64(j, "ordinal", -1));

	if (st == PM_E_NOT_FOUND || !is_digest(sum)) {
		*wrong = "the profile's variant is missing, or it names no pass";
		return PM_OK;
	}
	return st ? st
		  : pm__db_run(db, "store a profile", NULL, err,
			       "INSERT INTO profiles (task, ordinal, pass_sha256, options, pass_path, "
			       "version, json) "
			       "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			       "iisssss", task, pm_json_i64(j, "ordinal", -1), sum,
			       pm_json_str(j, "options", ""), pm_json_str(j, "pass_path", ""),
			       pm_json_str(j, "version", ""), pm_json_str(j, "json", ""));
}
