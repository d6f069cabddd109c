/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c - making tasks and reading them back. */
#include "dataset/store/tasks.h"

#include "base/core/str.h"
#include "base/core/vec.h"
#include "dataset/store/checks.h"
#include "dataset/store/db_priv.h"
#include "dataset/store/subgraphs.h"

#include <stdlib.h>
#include <string.h>

typedef struct Member {
	PmGraph *g;
	PmGraphKey key;
	char *label;
	int shape, dtype;
	int64_t base;
	char *ref, *ref_why; /* NULL: not run */
} Member;

enum { SPLIT, POLICY, STRATUM, GATE, GATE_JSON, N_ABOUT };

struct PmTaskBuilder {
	char *name, *kind, *about[N_ABOUT];
	int64_t base;
	char *ref, *ref_why; /* of the next variant */
	PM_VEC(Member) variants;
};

/* ---- making ---- */

PmTaskBuilder *pm_task_begin(const char *name, const char *kind)
{
	PmTaskBuilder *b = pm_xcalloc(1, sizeof *b);

	b->name = pm_xstrdup(name);
	b->kind = pm_xstrdup(kind);
	return b;
}

void pm_task_set_name(PmTaskBuilder *b, const char *name)
{
	char *was = b->name;

	b->name = pm_xstrdup(name);
	free(was);
}

void pm_task_drop(PmTaskBuilder *b)
{
	size_t i;

	if (!b)
		return;
	for (i = 0; i < b->variants.n; i++) {
		pm_graph_free(b->variants.v[i].g);
		free(b->variants.v[i].label);
		free(b->variants.v[i].ref);
		free(b->variants.v[i].ref_why);
	}
	pm_task_set_ref(b, NULL, NULL);
	PM_VEC_RELEASE(&b->variants);
	for (i = 0; i < N_ABOUT; i++)
		free(b->about[i]);
	free(b->name);
	free(b->kind);
	free(b);
}

void pm_task_set_base(PmTaskBuilder *b, int64_t subgraph)
{
	b->base = subgraph;
}

void pm_task_set_ref(PmTaskBuilder *b, const char *how, const char *why)
{
	free(b->ref);
	free(b->ref_why);
	b->ref = how && *how ? pm_xstrdup(how) : NULL;
	b->ref_why = b->ref ? pm_xstrdup(why) : NULL;
}

void pm_task_set_about(PmTaskBuilder *b, const char *split, const char *policy, const char *stratum,
		       const char *gate, const char *gate_json)
{
	const char *const about[N_ABOUT] = { split, policy, stratum, gate, gate_json };

	for (int i = 0; i < N_ABOUT; i++) {
		free(b->about[i]);
		b->about[i] = about[i] ? pm_xstrdup(about[i]) : NULL;
	}
}

PmStatus pm_task_add(void *builder, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	PmTaskBuilder *b = builder;
	Member m = { NULL, { "", "", "" }, NULL, shape, dtype, b->base, NULL, NULL };
	PmStatus st = pm_graph_key(g, &m.key, err);
	size_t i;

	if (st)
		return st;
	for (i = 0; i < b->variants.n; i++) {
		if (strcmp(b->variants.v[i].key.full, m.key.full) == 0)
			return PM_OK;
	}
	if (b->variants.n == PM_MAX_TASK_MEMBERS)
		return pm_err(err, PM_E_LIMIT,
			      "Task '%s' would have more than PM_MAX_TASK_MEMBERS (%d) variants; make fewer "
			      "variants.",
			      b->name, PM_MAX_TASK_MEMBERS);
	st = pm_graph_clone(g, &m.g, err);
	if (st)
		return st;
	m.label = pm_xstrdup(label);
	m.ref = b->ref;
	m.ref_why = b->ref_why;
	b->ref = b->ref_why = NULL;
	PM_VEC_PUSH(&b->variants, m);
	return PM_OK;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void pm__task_hash(const char *kind, const char *const *hashes, size_t n, char hex[PM_SHA256_HEX])
{
	const char **sorted = pm_xcalloc(n + 1, sizeof *sorted);
	PmStr s = PM_STR_INIT;
	size_t i;

	if (n)
		memcpy(sorted, hashes, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_text);
	pm_str_addf(&s, "task\n%s\n", kind);
	for (i = 0; i < n; i++)
		pm_str_addf(&s, "%s\n", sorted[i]);
	pm_sha256_hex(s.s, s.len, hex);
	free(sorted);
	pm_str_release(&s);
}

static void task_hash(const PmTaskBuilder *b, char hex[PM_SHA256_HEX])
{
	const char **hashes = pm_xcalloc(b->variants.n + 1, sizeof *hashes);
	size_t i;

	for (i = 0; i < b->variants.n; i++)
		hashes[i] = b->variants.v[i].key.full;
	pm__task_hash(b->kind, hashes, b->variants.n, hex);
	free(hashes);
}

static PmStatus store_members(const PmTaskBuilder *b, PmDb *db, int64_t task, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i;

	for (i = 0; i < b->variants.n && st == PM_OK; i++) {
		const Member *m = &b->variants.v[i];
		int64_t sub = 0;

		st = pm_subgraph_put(db, m->g, &m->key, "variant", &sub, NULL, err);
		if (st == PM_OK)
			st = pm__db_run(
				db, "store a variant of a task", NULL, err,
				"INSERT INTO variants (task, ordinal, subgraph, label, shape, dtype, base) "
				"VALUES (?, ?, ?, ?, ?, ?, nullif(?, 0))",
				"iiisisi", task, (int64_t)i, sub, m->label, (int64_t)m->shape,
				pm_dtype_name(m->dtype), m->base);
		if (st == PM_OK && m->ref)
			st = pm_ref_run_put(db, sub, m->ref, m->ref_why, err);
	}
	return st;
}

static const char *about(const PmTaskBuilder *b, int which)
{
	return b->about[which] ? b->about[which] : "";
}

static PmStatus store(const PmTaskBuilder *b, PmDb *db, int64_t *id, int *is_new, PmErr *err)
{
	static const char find[] = "SELECT id FROM tasks WHERE hash = ?";
	char hash[PM_SHA256_HEX];
	PmStatus st;

	task_hash(b, hash);
	st = pm__db_enter(db, err);
	if (st)
		return st;
	st = pm__db_i64(db, "look a task up", id, err, find, "s", hash);
	*is_new = st == PM_E_NOT_FOUND;
	if (*is_new) {
		st = pm__db_run(
			db, "store a task", NULL, err,
			"INSERT INTO tasks (hash, name, kind, split, policy, stratum, gate, gate_json) "
			"VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			"ssssssss", hash, b->name, b->kind, about(b, SPLIT), about(b, POLICY),
			about(b, STRATUM), about(b, GATE), about(b, GATE_JSON));
		if (st == PM_OK)
			st = pm__db_i64(db, "look a task up", id, err, find, "s", hash);
		if (st == PM_OK)
			st = store_members(b, db, *id, err);
	}
	return pm__db_leave(db, st, err);
}

PmStatus pm_task_end(PmTaskBuilder *b, PmDb *db, int64_t *id, int *is_new, PmErr *err)
{
	int fresh = 0;
	PmStatus st;

	if (b->variants.n == 0)
		st = pm_err(err, PM_E_INVALID,
			    "Task '%s' for database '%s' has no variants; add at least one graph.", b->name,
			    db->path);
	else
		st = store(b, db, id, &fresh, err);
	if (is_new)
		*is_new = st == PM_OK && fresh;
	pm_task_drop(b);
	return st;
}

/* ---- reading ---- */

typedef struct Walk {
	PmTaskFn task;
	PmVariantRowFn variant;
	void *arg;
} Walk;

static PmStatus one_task(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmTaskRow t = { sqlite3_column_int64(row, 0), pm__col_text(row, 1),         pm__col_text(row, 2),
			pm__col_text(row, 3),         sqlite3_column_int64(row, 4), pm__col_text(row, 5),
			pm__col_text(row, 6),         pm__col_text(row, 7),         pm__col_text(row, 8),
			pm__col_text(row, 9),         pm__col_text(row, 10) };

	return w->task(w->arg, &t, err);
}

#define TASK_CATEGORY                                                                                        \
	"coalesce((SELECT s.category FROM variants m JOIN subgraphs s ON s.id = m.subgraph "                 \
	"WHERE m.task = t.id AND m.ordinal = 0), '')"
#define TASK_COLUMNS                                                                                         \
	"SELECT t.id, t.hash, t.name, t.kind, "                                                              \
	"(SELECT count(*) FROM variants m WHERE m.task = t.id), t.split, t.policy, t.stratum, t.gate, "      \
	"t.gate_json, " TASK_CATEGORY " FROM tasks t "

PmStatus pm_tasks_each(PmDb *db, PmTaskFn fn, void *arg, PmErr *err)
{
	Walk w = { fn, NULL, arg };

	return pm__db_each(db, "list its tasks", one_task, &w, NULL, err, TASK_COLUMNS "ORDER BY t.id", "");
}

PmStatus pm_tasks_of_split(PmDb *db, const char *split, PmTaskFn fn, void *arg, PmErr *err)
{
	Walk w = { fn, NULL, arg };

	return pm__db_each(db, "list its tasks", one_task, &w, NULL, err,
			   TASK_COLUMNS "WHERE t.split = ? ORDER BY t.id", "s", split);
}

PmStatus pm_task_get(PmDb *db, int64_t id, PmTaskFn fn, void *arg, PmErr *err)
{
	Walk w = { fn, NULL, arg };
	size_t n = 0;
	PmStatus st = pm__db_each(db, "read a task", one_task, &w, &n, err, TASK_COLUMNS "WHERE t.id = ?",
				  "i", id);

	return st || n ? st
		       : pm_err(err, PM_E_NOT_FOUND,
				"Database '%s' has no task %lld; list its tasks to see them.", db->path,
				(long long)id);
}

PmStatus pm_tasks_drop_splits(PmDb *db, int64_t *n, PmErr *err)
{
	PmStatus st = pm__db_enter(db, err);

	if (st)
		return st;
	if (n)
		st = pm__db_i64(db, "count its tasks", n, err, "SELECT count(*) FROM tasks WHERE split > ''",
				"");
	if (!st)
		st = pm__db_run(db, "remove tasks", NULL, err, "DELETE FROM tasks WHERE split > ''", "");
	return pm__db_leave(db, st, err);
}

PmStatus pm_rejected_put(PmDb *db, const char *key, int64_t subgraph, const char *rule, const char *why,
			 PmErr *err)
{
	return pm__db_run(db, "store a rejected graph", NULL, err,
			  "INSERT INTO rejected (key, subgraph, rule, why) VALUES (?, ?, ?, ?) "
			  "ON CONFLICT (key) DO NOTHING",
			  "siss", key, subgraph, rule, why);
}

PmStatus pm_rejected_has(PmDb *db, const char *key, int *yes, PmErr *err)
{
	int64_t one;
	PmStatus st = pm__db_i64(db, "look a rejected graph up", &one, err,
				 "SELECT 1 FROM rejected WHERE key = ?", "s", key);

	*yes = st == PM_OK;
	return st == PM_E_NOT_FOUND ? PM_OK : st;
}

PmStatus pm_task_find(PmDb *db, const char *what, int64_t *id, PmErr *err)
{
	size_t len = strlen(what), n = 0;
	int hex = len >= 8 && len < PM_SHA256_HEX && strspn(what, "0123456789abcdef") == len;
	int64_t number;
	PmStatus st = PM_OK;

	if (pm_parse_i64(what, &number))
		st = pm__db_each(db, "look a task up", pm__take_id, id, &n, err,
				 "SELECT id FROM tasks WHERE id = ?", "i", number);
	if (st == PM_OK && n == 0)
		st = pm__db_each(db, "look a task up", pm__take_id, id, &n, err,
				 "SELECT id FROM tasks WHERE name = ? ORDER BY id LIMIT 2", "s", what);
	if (st == PM_OK && n == 0 && hex)
		st = pm__db_each(db, "look a task up", pm__take_id, id, &n, err,
				 "SELECT id FROM tasks WHERE hash >= ?1 AND hash < ?1 || 'g' LIMIT 2", "s",
				 what);
	if (st)
		return st;
	if (n == 0)
		return pm_err(err, PM_E_NOT_FOUND,
			      "Database '%s' has no task '%s'; list its tasks to see their names.", db->path,
			      what);
	if (n > 1)
		return pm_err(
			err, PM_E_INVALID,
			"Database '%s' has several tasks that '%s' may mean; give the id or the whole hash.",
			db->path, what);
	return PM_OK;
}

static PmStatus one_member(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmVariantRow m = { sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
			   sqlite3_column_int64(row, 2), pm__col_text(row, 3),
			   pm__col_text(row, 4),         pm__col_text(row, 5),
			   sqlite3_column_int64(row, 6), pm_dtype_from_name(pm__col_text(row, 7)),
			   pm__col_text(row, 8),         pm__col_text(row, 9),
			   pm__col_text(row, 10) };

	return w->variant(w->arg, &m, err);
}

PmStatus pm_task_variants_each(PmDb *db, int64_t task, PmVariantRowFn fn, void *arg, PmErr *err)
{
	Walk w = { NULL, fn, arg };

	return pm__db_each(
		db, "list a task's variants", one_member, &w, NULL, err,
		"SELECT m.task, m.ordinal, m.subgraph, s.hash, m.label, s.text, m.shape, m.dtype, b.hash, "
		"r.how, r.why FROM variants m JOIN subgraphs s ON s.id = m.subgraph "
		"LEFT JOIN ref_runs r ON r.subgraph = m.subgraph "
		"LEFT JOIN subgraphs b ON b.id = m.base WHERE m.task = ? "
		"ORDER BY m.ordinal",
		"i", task);
}
