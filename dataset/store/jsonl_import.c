/* SPDX-License-Identifier: Apache-2.0 */
/* jsonl_import.c - reading JSON Lines into a database. Files are input: every line is checked. */
#include "dataset/store/jsonl.h"

#include "base/core/json.h"
#include "base/core/renamed.h"
#include "base/core/vec.h"
#include "dataset/store/checks.h"
#include "dataset/store/db_priv.h"
#include "dataset/store/measurements.h"
#include "dataset/store/models.h"
#include "dataset/store/subgraphs.h"
#include "ir/category/category.h"
#include "ir/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_A_BATCH = 2000 };

typedef struct In {
	PmDb *db;
	const char *label;
	int64_t line;
} In;

static PmStatus bad(In *in, PmErr *err, const char *what)
{
	return pm_err(err, PM_E_INVALID, "%s, line %lld: %s; export the database again.", in->label,
		      (long long)in->line, what);
}

/* The number of a row by its key, PM_E_INVALID when it is not there. */
static PmStatus find(In *in, const char *sql, const char *key, const char *what, int64_t *id, PmErr *err)
{
	PmStatus st = pm__db_i64(in->db, "look a row up", id, err, sql, "s", key);

	return st == PM_E_NOT_FOUND ? bad(in, err, what) : st;
}

#define FIND_SUBGRAPH "SELECT id FROM subgraphs WHERE hash = ?"
#define FIND_MODEL    "SELECT id FROM models WHERE sha256 = ?"
#define FIND_TASK     "SELECT id FROM tasks WHERE hash = ?"
#define FIND_RUN      "SELECT id FROM runs WHERE key = ?"
#define FIND_REWRITE  "SELECT id FROM rewrites WHERE hash = ?"

static int is_hash(const char *s)
{
	return strlen(s) == PM_SHA256_HEX - 1 && strspn(s, "0123456789abcdef") == PM_SHA256_HEX - 1;
}

static PmStatus take_model(In *in, const cJSON *j, PmErr *err)
{
	PmModelRow m = { .sha256 = pm_json_str(j, "sha256", ""),
			 .path = pm_json_str(j, "path", ""),
			 .name = pm_json_str(j, "name", ""),
			 .opset = pm_json_i64(j, "opset", 0),
			 .n_nodes = pm_json_i64(j, "nodes", 0),
			 .n_opaque = pm_json_i64(j, "opaque", 0),
			 .ok = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j, "ok")),
			 .error = pm_json_str(j, "error", "") };
	const char *category = pm_json_str(j, "category", "");
	PmCategory c = pm_category_from_name(category);
	int64_t id;
	int done = 0;
	PmStatus st;

	if (!is_hash(m.sha256))
		return bad(in, err, "the model has no SHA-256");
	if (*category && c == PM_N_CATEGORIES)
		return bad(in, err, "the model has a category that there is not");
	m.category = *category ? pm_category_name(c) : ""; /* one of before has its name of today */
	st = pm_model_is_done(in->db, m.sha256, &done, err);
	if (st ||
	    (done && !m.ok)) /* failed elsewhere, with another version perhaps: what is done here stays */
		return st;
	return pm_model_put(in->db, &m, &id, err);
}

/* The table refuses verdicts that there are not. */
static PmStatus take_constraint(In *in, const cJSON *j, PmErr *err)
{
	PmConstraintRow c = { .sha256 = pm_json_str(j, "model", ""),
			      .name = pm_json_str(j, "name", ""),
			      .verdict = pm_json_str(j, "verdict", ""),
			      .why = pm_json_str(j, "why", ""),
			      .options = pm_json_str(j, "options", "") };

	if (!is_hash(c.sha256) || !*c.name)
		return bad(in, err, "the constraint names no model, or has no name");
	return pm_constraint_put(in->db, &c, err);
}

static PmStatus take_subgraph(In *in, const cJSON *j, PmErr *err)
{
	const char *text = pm_json_str(j, "text", ""), *hash = pm_json_str(j, "hash", "");
	const cJSON *kinds = cJSON_GetObjectItemCaseSensitive(j, "kinds"), *k;
	PmGraph *g = NULL;
	PmGraphKey key;
	int64_t id = 0;
	PmStatus st = pm_graph_parse(text, strlen(text), &g, err);

	if (st)
		return pm_err_ctx(err, "%s, line %lld", in->label, (long long)in->line);
	st = pm_graph_key(g, &key, err);
	if (!st && strcmp(key.full, hash))
		st = bad(in, err, "the graph's hash is not that of its text");
	if (!st && !cJSON_GetArraySize(kinds))
		st = bad(in, err, "the graph has no kind");
	cJSON_ArrayForEach(k, kinds)
	{
		if (!st && !cJSON_IsString(k))
			st = bad(in, err, "a kind is no text");
		if (!st)
			st = pm_subgraph_put(in->db, g, &key, k->valuestring, &id, NULL, err);
	}
	if (!st && *pm_json_str(j, "ref", ""))
		st = pm_ref_run_put(in->db, id, pm_json_str(j, "ref", ""), pm_json_str(j, "ref_why", ""),
				    err);
	pm_graph_free(g);
	return st;
}

static PmStatus take_occurrence(In *in, const cJSON *j, PmErr *err)
{
	PM_VEC(PmNode) nodes = { NULL, 0, 0 };
	const char *p = pm_json_str(j, "nodes", "");
	int64_t model = 0, subgraph = 0;
	PmStatus st = find(in, FIND_MODEL, pm_json_str(j, "model", ""), "its model is missing", &model, err);

	if (!st)
		st = find(in, FIND_SUBGRAPH, pm_json_str(j, "subgraph", ""), "its subgraph is missing",
			  &subgraph, err);
	while (*p && !st) {
		char *end;
		unsigned long id = strtoul(p, &end, 10);

		if (end == p || *p == '-' || id == 0 || id > UINT32_MAX || (*end && *end != ','))
			st = bad(in, err, "the list of nodes is no list of numbers");
		PM_VEC_PUSH(&nodes, ((PmNode){ (uint32_t)id }));
		p = *end ? end + 1 : end;
	}
	if (!st)
		st = nodes.n ? pm_occurrence_put(in->db, model, subgraph, nodes.v, nodes.n, err)
			     : bad(in, err, "the list of nodes is empty");
	PM_VEC_RELEASE(&nodes);
	return st;
}

static PmStatus take_variants(In *in, const cJSON *variants, int64_t task, PmErr *err)
{
	const cJSON *m;
	PmStatus st = PM_OK;
	int64_t k = 0;

	cJSON_ArrayForEach(m, variants)
	{
		const char *base = pm_json_str(m, "base", "");
		int64_t sub = 0, base_id = 0;

		st = find(in, FIND_SUBGRAPH, pm_json_str(m, "subgraph", ""), "a variant's graph is missing",
			  &sub, err);
		if (!st && *base)
			st = find(in, FIND_SUBGRAPH, base, "a variant's base is missing", &base_id, err);
		if (!st && pm_dtype_from_name(pm_json_str(m, "dtype", "")) < 0)
			st = bad(in, err, "a variant has no element type");
		if (!st)
			st = pm__db_run(
				in->db, "store a variant of a task", NULL, err,
				"INSERT INTO variants (task, ordinal, subgraph, label, shape, dtype, base) "
				"VALUES (?, ?, ?, ?, ?, ?, nullif(?, 0)) ON CONFLICT DO NOTHING",
				"iiisisi", task, k, sub, pm_json_str(m, "label", ""),
				pm_json_i64(m, "shape", 0), pm_json_str(m, "dtype", ""), base_id);
		if (st)
			break;
		k++;
	}
	return st;
}

/* A tag that the task has already stays: what is stored is not changed by an import. */
static PmStatus take_tags(In *in, const cJSON *tags, int64_t task, PmErr *err)
{
	const cJSON *t;
	PmStatus st = PM_OK;

	cJSON_ArrayForEach(t, tags)
	{
		st = !cJSON_IsString(t) || !t->string[0]
			     ? bad(in, err, "a tag is no string under a key")
			     : pm__db_run(in->db, "store a tag", NULL, err,
					  "INSERT INTO task_tags (task, key, value) VALUES (?, ?, ?) "
					  "ON CONFLICT DO NOTHING",
					  "iss", task, t->string, t->valuestring);
		if (st)
			break;
	}
	return st;
}

static PmStatus take_task(In *in, const cJSON *j, PmErr *err)
{
	const cJSON *variants = cJSON_GetObjectItemCaseSensitive(j, pm_json_key(j, "variants")), *m;
	const char *hash = pm_json_str(j, "hash", ""), *kind = pm_json_str(j, "kind", "");
	PM_VEC(const char *) hashes = { NULL, 0, 0 };
	char want[PM_SHA256_HEX];
	int64_t id = 0;
	PmStatus st = PM_OK;

	cJSON_ArrayForEach(m, variants) PM_VEC_PUSH(&hashes, pm_json_str(m, "subgraph", ""));
	pm__task_hash(kind, hashes.v, hashes.n, want);
	if (!hashes.n || strcmp(want, hash))
		st = bad(in, err, "the task's hash is not that of its variants");
	PM_VEC_RELEASE(&hashes);
	if (!st)
		st = pm__db_run(
			in->db, "store a task", NULL, err,
			"INSERT INTO tasks (hash, name, kind, split, policy, stratum, gate, gate_json) "
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
			"ssssssss", hash, pm_json_str(j, "name", ""), kind, pm_json_str(j, "split", ""),
			pm_json_str(j, "policy", ""), pm_json_str(j, "stratum", ""),
			pm_json_str(j, "gate", ""), pm_json_str(j, "gate_json", ""));
	if (!st)
		st = find(in, FIND_TASK, hash, "the task is missing", &id, err);
	if (!st)
		st = take_variants(in, variants, id, err);
	return st ? st : take_tags(in, cJSON_GetObjectItemCaseSensitive(j, "tags"), id, err);
}

static PmStatus take_rejected(In *in, const cJSON *j, PmErr *err)
{
	int64_t sub = 0;
	PmStatus st = find(in, FIND_SUBGRAPH, pm_json_str(j, "subgraph", ""), "its subgraph is missing", &sub,
			   err);

	if (!st && !is_hash(pm_json_str(j, "key", "")))
		st = bad(in, err, "the row has no key");
	return st ? st
		  : pm__db_run(in->db, "store a rejected graph", NULL, err,
			       "INSERT INTO rejected (key, subgraph, rule, why) VALUES (?, ?, ?, ?) "
			       "ON CONFLICT (key) DO NOTHING",
			       "siss", pm_json_str(j, "key", ""), sub, pm_json_str(j, "rule", ""),
			       pm_json_str(j, "why", ""));
}

static PmOrigin origin_of(const cJSON *j)
{
	const cJSON *o = cJSON_GetObjectItemCaseSensitive(j, "origin");

	return (PmOrigin){ pm_json_str(o, "node", ""),    pm_json_str(o, "job", ""),
			   pm_json_i64(o, "element", -1), pm_json_i64(o, "restarts", 0),
			   pm_json_str(o, "gpu", ""),     pm_json_str(o, "gpu_id", ""),
			   pm_json_str(o, "driver", ""),  pm_json_str(o, "clocks", "") };
}

/* Exports of before version 14 have what was found on hidden shapes in the row of the run. */
static PmStatus take_run_hidden(In *in, const cJSON *j, PmErr *err)
{
	PmHiddenMeasurement h = { .verdict = pm_json_str(j, "hidden", ""),
				  .json = pm_json_str(j, "hidden_json", ""),
				  .origin = PM_ORIGIN_UNKNOWN };
	PmStatus st = *h.verdict ? find(in, FIND_RUN, pm_json_str(j, "key", ""), "its run is missing", &h.run,
					err)
				 : PM_OK;

	return st || !h.run ? st : pm_hidden_put(in->db, &h, err);
}

/* Of one run in two databases the least path stays, the earliest beginning and the last end, so that the
 * order of imports does not matter. */
static PmStatus take_run(In *in, const cJSON *j, PmErr *err)
{
	const char *task = pm_json_str(j, "task", "");
	int64_t id = 0;
	PmStatus st = *task ? find(in, FIND_TASK, task, "its task is missing", &id, err) : PM_OK;

	if (!st && !is_hash(pm_json_str(j, "key", "")))
		st = bad(in, err, "the run has no key");
	if (!st)
		st = pm__db_run(in->db, "store a run", NULL, err,
				"INSERT INTO runs (key, task, pass_path, pass_sha256, device, seed, version, "
				"options, started, finished, machine) "
				"VALUES (?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?) "
				"ON CONFLICT (key) DO UPDATE SET pass_path = min(pass_path, "
				"excluded.pass_path), started = min(started, excluded.started), finished = "
				"coalesce(max(finished, excluded.finished), finished, excluded.finished)",
				"sissssssiis", pm_json_str(j, "key", ""), id, pm_json_str(j, "pass_path", ""),
				pm_json_str(j, "pass_sha256", ""), pm_json_str(j, "device", ""),
				pm_json_str(j, "seed", ""), pm_json_str(j, "version", ""),
				pm_json_str(j, "options", ""), pm_json_i64(j, "started", 0),
				pm_json_i64(j, "finished", 0), pm_json_str(j, "machine", ""));
	return st ? st : take_run_hidden(in, j, err);
}

/* The variant by its graph: databases may number the variants of a task differently. Exports of before
 * version 14 say the number alone. */
static PmStatus find_variant(In *in, const cJSON *j, int64_t task, int64_t *ordinal, PmErr *err)
{
	const char *graph = pm_json_str(j, "graph", "");
	PmStatus st;

	*ordinal = pm_json_i64(j, "ordinal", -1);
	if (!*graph)
		return PM_OK;
	st = pm__db_i64(
		in->db, "look a row up", ordinal, err,
		"SELECT v.ordinal FROM variants v JOIN subgraphs s ON s.id = v.subgraph WHERE v.task = ? "
		"AND s.hash = ?",
		"is", task, graph);
	return st == PM_E_NOT_FOUND ? bad(in, err, "its variant is missing") : st;
}

static PmStatus take_result(In *in, const cJSON *j, PmErr *err)
{
	const char *rewrite = pm_json_str(j, "rewrite", "");
	PmMeasurement m = { .origin = origin_of(j), .at = pm_json_i64(j, "at", 0) };
	PmResultRow *r = &m.result;
	PmStatus st = find(in, FIND_RUN, pm_json_str(j, "run", ""), "its run is missing", &r->run, err);

	if (!st)
		st = find(in, FIND_TASK, pm_json_str(j, "task", ""), "its task is missing", &r->task, err);
	if (!st)
		st = find_variant(in, j, r->task, &r->ordinal, err);
	if (!st && *rewrite)
		st = find(in, FIND_REWRITE, rewrite, "its rewritten graph is missing", &r->rewrite, err);
	r->verdict = pm_json_str(j, "verdict", "");
	r->stage = pm_json_str(j, "stage", "");
	r->speedup = pm_json_num(j, "speedup", NAN);
	r->json = pm_json_str(j, "json", "");
	return st ? st : pm_measurement_put(in->db, &m, NULL, err);
}

static PmStatus take_hidden(In *in, const cJSON *j, PmErr *err)
{
	PmHiddenMeasurement h = { .verdict = pm_json_str(j, "verdict", ""),
				  .json = pm_json_str(j, "json", ""),
				  .origin = origin_of(j),
				  .at = pm_json_i64(j, "at", 0) };
	PmStatus st = find(in, FIND_RUN, pm_json_str(j, "run", ""), "its run is missing", &h.run, err);

	if (!st && !*h.verdict)
		st = bad(in, err, "the row has no verdict");
	return st ? st : pm_hidden_put(in->db, &h, err);
}

static PmStatus take_source(In *in, const cJSON *j, PmErr *err)
{
	const char *wrong = NULL;
	PmStatus st = pm__source_import(in->db, j, &wrong, err);

	return wrong ? bad(in, err, wrong) : st;
}

static PmStatus take_rewrite(In *in, const cJSON *j, PmErr *err)
{
	const char *wrong = NULL;
	PmStatus st = pm__rewrite_import(in->db, j, &wrong, err);

	return wrong ? bad(in, err, wrong) : st;
}

static PmStatus take_profile(In *in, const cJSON *j, PmErr *err)
{
	const char *wrong = NULL;
	PmStatus st = pm__profile_import(in->db, j, &wrong, err);

	return wrong ? bad(in, err, wrong) : st;
}

static PmStatus take_trajectory(In *in, const cJSON *j, PmErr *err)
{
	const char *wrong = NULL;
	PmStatus st = pm__trajectory_import(in->db, j, &wrong, err);

	return wrong ? bad(in, err, wrong) : st;
}

static PmStatus take_step(In *in, const cJSON *j, PmErr *err)
{
	const char *wrong = NULL;
	PmStatus st = pm__step_import(in->db, j, &wrong, err);

	return wrong ? bad(in, err, wrong) : st;
}

static PmStatus take_application(In *in, const cJSON *j, PmErr *err)
{
	const char *wrong = NULL;
	PmStatus st = pm__application_import(in->db, j, &wrong, err);

	return wrong ? bad(in, err, wrong) : st;
}

static PmStatus take_line(In *in, const char *text, size_t n, PmErr *err)
{
	static const struct {
		const char *row;
		PmStatus (*take)(In *in, const cJSON *j, PmErr *err);
	} rows[] = { { "model", take_model },
		     { "constraint", take_constraint },
		     { "subgraph", take_subgraph },
		     { "task", take_task },
		     { "occurrence", take_occurrence },
		     { "rejected", take_rejected },
		     { "run", take_run },
		     { "result", take_result },
		     { "hidden", take_hidden },
		     { "trajectory", take_trajectory },
		     { "step", take_step },
		     { "source", take_source },
		     { "rewrite", take_rewrite },
		     { "profile", take_profile },
		     { "application", take_application } };
	cJSON *j = NULL;
	const char *row;
	PmStatus st = pm_json_parse(text, n, &j, err);
	size_t k;

	if (st)
		return pm_err_ctx(err, "%s, line %lld", in->label, (long long)in->line);
	row = pm_json_str(j, "row", "");
	for (k = 0; k < sizeof rows / sizeof *rows && strcmp(rows[k].row, row); k++)
		continue;
	st = k < sizeof rows / sizeof *rows ? rows[k].take(in, j, err)
					    : bad(in, err, "this is no row of a database");
	cJSON_Delete(j);
	return st;
}

/* A file in pieces, and the line at hand. */
typedef struct Lines {
	FILE *f;
	char piece[1 << 16];
	size_t at, n; /* in the piece: read so far, there */
	PmStr text;   /* the line without its end; past the limit, as much as was read */
} Lines;

/* The next line; 0 at the end. Of a line that is too long no more than a piece past the limit is kept. */
static int next_line(Lines *l)
{
	pm_str_clear(&l->text);
	while (l->text.len <= PM_JSONL_MAX_LINE) {
		const char *end;
		size_t n;

		if (l->at == l->n) {
			l->at = 0;
			l->n = fread(l->piece, 1, sizeof l->piece, l->f);
			if (!l->n)
				return l->text.len > 0;
		}
		end = memchr(l->piece + l->at, '\n', l->n - l->at);
		n = end ? (size_t)(end - l->piece) - l->at : l->n - l->at;
		pm_str_addn(&l->text, l->piece + l->at, n);
		l->at += n + (end != NULL);
		if (end)
			break;
	}
	return 1;
}

static PmStatus too_long(const In *in, PmErr *err)
{
	return pm_err(err, PM_E_LIMIT,
		      "%s, line %lld is longer than %d MiB, which no row of a database is; give a file that "
		      "passmith db export wrote.",
		      in->label, (long long)in->line, PM_JSONL_MAX_LINE >> 20);
}

PmStatus pm_db_import(PmDb *db, FILE *f, const char *label, int64_t *n, PmErr *err)
{
	In in = { db, label, 0 };
	Lines *lines = pm_xcalloc(1, sizeof *lines);
	PmStatus st = pm_db_begin(db, err);

	lines->f = f;
	while (!st && next_line(lines)) {
		in.line++;
		st = lines->text.len > PM_JSONL_MAX_LINE
			     ? too_long(&in, err)
			     : take_line(&in, lines->text.s, lines->text.len, err);
		if (!st && in.line % LINES_A_BATCH == 0) {
			st = pm_db_commit(db, err);
			if (!st)
				st = pm_db_begin(db, err);
		}
	}
	if (!st && ferror(f))
		st = pm_err(err, PM_E_IO, "%s cannot be read after line %lld; check the disk.", label,
			    (long long)in.line);
	pm_str_release(&lines->text);
	free(lines);
	if (n)
		*n = in.line;
	if (!st)
		return pm_db_commit(db, err);
	pm_db_rollback(db);
	return st;
}

PmStatus pm_db_merge(PmDb *to, PmDb *from, int64_t *n, PmErr *err)
{
	FILE *f = tmpfile();
	PmStatus st = f ? pm_db_export(from, f, err)
			: pm_err(err, PM_E_IO, "No temporary file can be made; check the space in TMPDIR.");

	if (!st && (fflush(f) || fseek(f, 0, SEEK_SET)))
		st = pm_err(err, PM_E_IO, "The export of '%s' cannot be kept; check the space in TMPDIR.",
			    from->path);
	if (!st)
		st = pm_db_import(to, f, from->path, n, err);
	if (f)
		fclose(f);
	return st;
}
