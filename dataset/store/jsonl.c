/* SPDX-License-Identifier: Apache-2.0 */
/* jsonl.c - writing a database as JSON Lines; jsonl_import.c reads them. */
#include "dataset/store/jsonl.h"

#include "base/core/json.h"
#include "base/core/renamed.h"
#include "dataset/store/db_priv.h"

#include <errno.h>
#include <string.h>

typedef struct Out {
	PmDb *db;
	FILE *f;
	PmStr line;
} Out;

/* Writes one object as a line and frees it. */
static PmStatus put(Out *o, cJSON *j, PmErr *err)
{
	pm_str_clear(&o->line);
	pm_json_print(j, 0, &o->line);
	cJSON_Delete(j);
	if (o->line.len > PM_JSONL_MAX_LINE)
		return pm_err(
			err, PM_E_LIMIT,
			"A row of database '%s' takes a line of %zu bytes, more than the %d MiB that can "
			"be read again; copy the database's file instead.",
			o->db->path, o->line.len, PM_JSONL_MAX_LINE >> 20);
	if (fwrite(o->line.s, 1, o->line.len, o->f) != o->line.len)
		return pm_err(err, PM_E_IO, "The export of database '%s' cannot be written: %s.", o->db->path,
			      strerror(errno));
	return PM_OK;
}

static cJSON *row_of(const char *name)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "row", name);
	return j;
}

static void add_text(cJSON *j, const char *key, sqlite3_stmt *row, int col)
{
	if (sqlite3_column_type(row, col) != SQLITE_NULL)
		cJSON_AddStringToObject(j, key, pm__col_text(row, col));
}

static void add_i64(cJSON *j, const char *key, sqlite3_stmt *row, int col)
{
	if (sqlite3_column_type(row, col) != SQLITE_NULL)
		pm_json_add_i64(j, key, sqlite3_column_int64(row, col));
}

static void add_num(cJSON *j, const char *key, sqlite3_stmt *row, int col)
{
	if (sqlite3_column_type(row, col) != SQLITE_NULL)
		cJSON_AddNumberToObject(j, key, sqlite3_column_double(row, col));
}

static PmStatus put_model(void *arg, sqlite3_stmt *row, PmErr *err)
{
	cJSON *j = row_of("model");

	add_text(j, "sha256", row, 0);
	add_text(j, "path", row, 1);
	add_text(j, "name", row, 2);
	add_i64(j, "opset", row, 3);
	add_i64(j, "nodes", row, 4);
	add_i64(j, "opaque", row, 5);
	cJSON_AddBoolToObject(j, "ok", sqlite3_column_int(row, 6));
	add_text(j, "error", row, 7);
	add_text(j, "category", row, 8);
	return put(arg, j, err);
}

static PmStatus put_constraint(void *arg, sqlite3_stmt *row, PmErr *err)
{
	static const char *const keys[] = { "model", "name", "verdict", "why", "options" };
	cJSON *j = row_of("constraint");

	for (int k = 0; k < 5; k++)
		add_text(j, keys[k], row, k);
	return put(arg, j, err);
}

static PmStatus add_name(void *arg, sqlite3_stmt *row, PmErr *err)
{
	(void)err;
	cJSON_AddItemToArray(arg, cJSON_CreateString(pm__col_text(row, 0)));
	return PM_OK;
}

static PmStatus put_subgraph(void *arg, sqlite3_stmt *row, PmErr *err)
{
	Out *o = arg;
	cJSON *j = row_of("subgraph");
	PmStatus st;

	add_text(j, "hash", row, 1);
	st = pm__db_each(o->db, "export its subgraphs", add_name, cJSON_AddArrayToObject(j, "kinds"), NULL,
			 err, "SELECT kind FROM kinds WHERE subgraph = ? ORDER BY kind", "i",
			 sqlite3_column_int64(row, 0));
	add_text(j, "text", row, 2);
	add_text(j, "ref", row, 3);
	add_text(j, "ref_why", row, 4);
	if (st) {
		cJSON_Delete(j);
		return st;
	}
	return put(o, j, err);
}

static PmStatus put_occurrence(void *arg, sqlite3_stmt *row, PmErr *err)
{
	cJSON *j = row_of("occurrence");

	add_text(j, "model", row, 0);
	add_text(j, "subgraph", row, 1);
	add_text(j, "nodes", row, 2);
	return put(arg, j, err);
}

static PmStatus add_variant(void *arg, sqlite3_stmt *row, PmErr *err)
{
	cJSON *j = cJSON_CreateObject();

	(void)err;
	add_text(j, "subgraph", row, 0);
	add_text(j, "label", row, 1);
	add_i64(j, "shape", row, 2);
	add_text(j, "dtype", row, 3);
	add_text(j, "base", row, 4);
	cJSON_AddItemToArray(arg, j);
	return PM_OK;
}

static PmStatus add_tag(void *arg, sqlite3_stmt *row, PmErr *err)
{
	(void)err;
	cJSON_AddStringToObject(arg, pm__col_text(row, 0), pm__col_text(row, 1));
	return PM_OK;
}

static PmStatus put_task(void *arg, sqlite3_stmt *row, PmErr *err)
{
	static const char *const keys[] = { "hash",   "name",    "kind", "split",
					    "policy", "stratum", "gate", "gate_json" };
	Out *o = arg;
	cJSON *j = row_of("task");
	PmStatus st;

	for (int k = 0; k < 8; k++)
		add_text(j, keys[k], row, k + 1);
	st = pm__db_each(o->db, "export its tasks", add_variant, cJSON_AddArrayToObject(j, "variants"), NULL,
			 err,
			 "SELECT s.hash, m.label, m.shape, m.dtype, b.hash FROM variants m "
			 "JOIN subgraphs s ON s.id = m.subgraph LEFT JOIN subgraphs b ON b.id = m.base "
			 "WHERE m.task = ? ORDER BY m.ordinal",
			 "i", sqlite3_column_int64(row, 0));
	pm_json_add_old(j, "variants");
	if (!st)
		st = pm__db_each(o->db, "export its tags", add_tag, cJSON_AddObjectToObject(j, "tags"), NULL,
				 err, "SELECT key, value FROM task_tags WHERE task = ? ORDER BY key", "i",
				 sqlite3_column_int64(row, 0));
	if (st) {
		cJSON_Delete(j);
		return st;
	}
	return put(o, j, err);
}

static PmStatus put_rejected(void *arg, sqlite3_stmt *row, PmErr *err)
{
	cJSON *j = row_of("rejected");

	add_text(j, "key", row, 0);
	add_text(j, "subgraph", row, 1);
	add_text(j, "rule", row, 2);
	add_text(j, "why", row, 3);
	return put(arg, j, err);
}

static PmStatus put_run(void *arg, sqlite3_stmt *row, PmErr *err)
{
	static const char *const keys[] = { "key",  "task",    "pass_path", "pass_sha256", "device",
					    "seed", "version", "options",   "machine" };
	cJSON *j = row_of("run");

	for (int k = 0; k < 9; k++)
		add_text(j, keys[k], row, k);
	add_i64(j, "started", row, 9);
	add_i64(j, "finished", row, 10);
	return put(arg, j, err);
}

/* The origin stands in the columns from `col` on; absent where nothing is known. */
static void add_origin(cJSON *j, sqlite3_stmt *row, int col)
{
	PmOrigin from = pm__origin_read(row, col);
	const struct {
		const char *key, *text;
	} texts[] = { { "node", from.node },     { "job", from.job },       { "gpu", from.gpu },
		      { "gpu_id", from.gpu_id }, { "driver", from.driver }, { "clocks", from.clocks } };
	cJSON *o;

	if (!pm__origin_is_known(&from))
		return;
	o = cJSON_AddObjectToObject(j, "origin");
	for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
		if (*texts[k].text)
			cJSON_AddStringToObject(o, texts[k].key, texts[k].text);
	if (from.element >= 0)
		pm_json_add_i64(o, "element", from.element);
	if (from.restarts)
		pm_json_add_i64(o, "restarts", from.restarts);
}

static PmStatus put_result(void *arg, sqlite3_stmt *row, PmErr *err)
{
	cJSON *j = row_of("result");

	add_text(j, "run", row, 0);
	add_text(j, "task", row, 1);
	add_i64(j, "ordinal", row, 2);
	add_text(j, "graph", row, 8);
	add_text(j, "verdict", row, 3);
	add_text(j, "stage", row, 4);
	add_num(j, "speedup", row, 5);
	add_text(j, "json", row, 6);
	add_text(j, "rewrite", row, 7);
	add_i64(j, "at", row, 9);
	add_origin(j, row, 10);
	return put(arg, j, err);
}

static PmStatus put_hidden(void *arg, sqlite3_stmt *row, PmErr *err)
{
	cJSON *j = row_of("hidden");

	add_text(j, "run", row, 0);
	add_text(j, "verdict", row, 1);
	add_text(j, "json", row, 2);
	add_i64(j, "at", row, 3);
	add_origin(j, row, 4);
	return put(arg, j, err);
}

static PmStatus put_source(void *arg, sqlite3_stmt *row, PmErr *err)
{
	cJSON *j = row_of("source");

	add_text(j, "sha256", row, 0);
	add_text(j, "text", row, 1);
	return put(arg, j, err);
}

static PmStatus put_rewrite(void *arg, sqlite3_stmt *row, PmErr *err)
{
	Out *o = arg;
	cJSON *j = row_of("rewrite");
	PmStatus st;

	add_text(j, "hash", row, 1);
	add_text(j, "code", row, 2);
	add_text(j, "text", row, 3);
	st = pm__db_each(o->db, "export sources of kernels", add_name, cJSON_AddArrayToObject(j, "sources"),
			 NULL, err,
			 "SELECT s.sha256 FROM rewrite_sources x JOIN kernel_sources s ON s.id = x.source "
			 "WHERE x.rewrite = ? ORDER BY x.ordinal",
			 "i", sqlite3_column_int64(row, 0));
	if (st) {
		cJSON_Delete(j);
		return st;
	}
	return put(o, j, err);
}

static PmStatus put_profile(void *arg, sqlite3_stmt *row, PmErr *err)
{
	static const char *const keys[] = {
		"task", "pass_sha256", "options", "pass_path", "version", "json"
	};
	cJSON *j = row_of("profile");

	for (int k = 0; k < 6; k++)
		add_text(j, keys[k], row, k);
	add_i64(j, "ordinal", row, 6);
	return put(arg, j, err);
}

static PmStatus put_trajectory(void *arg, sqlite3_stmt *row, PmErr *err)
{
	static const char *const keys[] = { "key",      "kind",    "task",    "model",
					    "seed",     "version", "machine", "experiment",
					    "instance", "options", "outcome" };
	cJSON *j = row_of("trajectory");

	for (int k = 0; k < 11; k++)
		add_text(j, keys[k], row, k);
	add_num(j, "started", row, 11);
	add_num(j, "ended", row, 12);
	return put(arg, j, err);
}

static PmStatus put_step(void *arg, sqlite3_stmt *row, PmErr *err)
{
	static const char *const keys[] = { "trajectory", "hash",    "role", "name", "task",
					    "report",     "verdict", "json", "files" };
	cJSON *j = row_of("step");

	for (int k = 0; k < 9; k++)
		add_text(j, keys[k], row, k);
	add_i64(j, "ordinal", row, 9);
	add_num(j, "score", row, 10);
	add_num(j, "at", row, 11);
	add_num(j, "seconds", row, 12);
	add_i64(j, "tokens_in", row, 13);
	add_i64(j, "tokens_out", row, 14);
	add_num(j, "money", row, 15);
	return put(arg, j, err);
}

static PmStatus put_application(void *arg, sqlite3_stmt *row, PmErr *err)
{
	static const char *const keys[] = { "key",     "model",  "name",        "path",
					    "version", "record", "before_text", "after_text" };
	cJSON *j = row_of("application");

	for (int k = 0; k < 8; k++)
		add_text(j, keys[k], row, k);
	return put(arg, j, err);
}

/* Whole tables, so there is nothing for an index to find; the orders are those of unique keys. */
static const struct {
	const char *what;
	PmDbRowFn put;
	const char *sql;
} tables[] = {
	{ "export its models", put_model,
	  "SELECT sha256, path, name, opset, n_nodes, n_opaque, status = 'done', error, category "
	  "FROM models ORDER BY sha256" },
	{ "export its constraints", put_constraint,
	  "SELECT sha256, name, verdict, why, options FROM constraints ORDER BY sha256, name" },
	{ "export its subgraphs", put_subgraph,
	  "SELECT s.id, s.hash, s.text, r.how, r.why FROM subgraphs s "
	  "LEFT JOIN ref_runs r ON r.subgraph = s.id ORDER BY s.hash" },
	{ "export its occurrences", put_occurrence,
	  "SELECT m.sha256, s.hash, o.nodes FROM occurrences o "
	  "JOIN models m ON m.id = o.model JOIN subgraphs s ON s.id = o.subgraph "
	  "ORDER BY m.sha256, s.hash, o.nodes" },
	{ "export its tasks", put_task,
	  "SELECT id, hash, name, kind, split, policy, stratum, gate, gate_json FROM tasks ORDER BY hash" },
	{ "export its rejected graphs", put_rejected,
	  "SELECT r.key, s.hash, r.rule, r.why FROM rejected r "
	  "JOIN subgraphs s ON s.id = r.subgraph ORDER BY r.key" },
	{ "export its runs", put_run,
	  "SELECT r.key, t.hash, r.pass_path, r.pass_sha256, r.device, r.seed, r.version, "
	  "r.options, r.machine, r.started, r.finished FROM runs r "
	  "LEFT JOIN tasks t ON t.id = r.task ORDER BY r.key" },
	{ "export sources of kernels", put_source,
	  "SELECT sha256, text FROM kernel_sources ORDER BY sha256" },
	{ "export rewritten graphs", put_rewrite, "SELECT id, hash, code, text FROM rewrites ORDER BY hash" },
	{ "export its results", put_result,
	  "SELECT r.key, t.hash, x.ordinal, x.verdict, x.stage, x.speedup, x.json, w.hash, s.hash, "
	  "x.at, " PM__ORIGIN_COLUMNS
	  " FROM measurements x JOIN runs r ON r.id = x.run JOIN tasks t ON t.id = x.task "
	  "JOIN variants v ON v.task = x.task AND v.ordinal = x.ordinal JOIN subgraphs s ON s.id = "
	  "v.subgraph "
	  "LEFT JOIN rewrites w ON w.id = x.rewrite LEFT JOIN origins o ON o.id = x.origin "
	  "ORDER BY r.key, t.hash, x.ordinal, x.key" },
	{ "export its verdicts on hidden shapes", put_hidden,
	  "SELECT r.key, x.verdict, x.json, x.at, " PM__ORIGIN_COLUMNS " FROM hidden_measurements x "
	  "JOIN runs r ON r.id = x.run LEFT JOIN origins o ON o.id = x.origin ORDER BY r.key, x.key" },
	{ "export its profiles", put_profile,
	  "SELECT t.hash, p.pass_sha256, p.options, p.pass_path, p.version, p.json, p.ordinal "
	  "FROM profiles p JOIN tasks t ON t.id = p.task ORDER BY t.hash, p.ordinal, p.pass_sha256, "
	  "p.options" },
	{ "export its trajectories", put_trajectory,
	  "SELECT key, kind, task, model, seed, version, machine, experiment, instance, options, outcome, "
	  "started, ended FROM trajectories ORDER BY key" },
	{ "export the steps of its trajectories", put_step,
	  "SELECT t.key, s.hash, s.role, s.name, s.task, s.report, s.verdict, s.json, s.files, s.ordinal, "
	  "s.score, s.at, s.seconds, s.tokens_in, s.tokens_out, s.money FROM trajectories t "
	  "JOIN steps s ON s.trajectory = t.id ORDER BY t.key, s.ordinal" },
	{ "export its rewritten models", put_application,
	  "SELECT key, model_sha256, name, path, version, record, before_text, after_text "
	  "FROM applications ORDER BY key" },
};

/* Rows of a run, and of what came out of it. */
static int is_of_runs(PmDbRowFn fn)
{
	return fn == put_run || fn == put_source || fn == put_rewrite || fn == put_result || fn == put_hidden;
}

static PmStatus put_all(Out *o, int runs_only, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < sizeof tables / sizeof *tables && !st; i++)
		if (!runs_only || is_of_runs(tables[i].put))
			st = pm__db_each(o->db, tables[i].what, tables[i].put, o, NULL, err, tables[i].sql,
					 "");
	return st;
}

static PmStatus export_tables(PmDb *db, FILE *f, int runs_only, PmErr *err)
{
	Out o = { db, f, PM_STR_INIT };
	PmStatus st = pm_db_begin_reading(db, err);

	if (!st) {
		st = put_all(&o, runs_only, err);
		pm_db_end_reading(db);
	}
	pm_str_release(&o.line);
	return st;
}

PmStatus pm_db_export(PmDb *db, FILE *f, PmErr *err)
{
	return export_tables(db, f, 0, err);
}

PmStatus pm_db_export_runs(PmDb *db, FILE *f, PmErr *err)
{
	return export_tables(db, f, 1, err);
}
