/* SPDX-License-Identifier: Apache-2.0 */
/* subgraphs.c - rows of stored graphs and of their occurrences. */
#include "dataset/store/subgraphs.h"

#include "dataset/store/bucket.h"
#include "dataset/store/db_priv.h"
#include "ir/canon/canon.h"
#include "ir/category/category.h"
#include "ir/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

PmStatus pm_graph_key(const PmGraph *g, PmGraphKey *out, PmErr *err)
{
	PmStatus st = pm_canon_hash(g, PM_CANON_FULL, out->full, err);

	if (st == PM_OK)
		st = pm_canon_hash(g, PM_CANON_SHAPES, out->shapes, err);
	if (st == PM_OK)
		st = pm_canon_hash(g, PM_CANON_STRUCTURE, out->structure, err);
	return st;
}

void pm_graph_ops(const PmGraph *g, PmStr *out)
{
	size_t i;

	for (i = 0; i < pm_graph_n_nodes(g); i++) {
		if (i)
			pm_str_addc(out, ',');
		pm_str_add(out, pm_node_op_name(g, pm_graph_node_at(g, i)));
	}
}

/* ---- storing ---- */

/* A graph as its row holds it. */
typedef struct Row {
	const PmGraphKey *key;
	const char *category;
	int64_t n_nodes;
	PmStr text, ops, shapes, dtypes;
} Row;

static PmStatus row_init(Row *r, const PmGraph *g, const PmGraphKey *key, PmErr *err)
{
	static const PmPrintOpts opts = { .renumber = 1 };

	r->key = key;
	r->n_nodes = (int64_t)pm_graph_n_nodes(g);
	r->category = pm_category_name(pm_category_of(g, NULL));
	pm_str_init(&r->text);
	pm_str_init(&r->ops);
	pm_str_init(&r->shapes);
	pm_str_init(&r->dtypes);
	pm_graph_ops(g, &r->ops);
	pm_graph_shape_bucket(g, &r->shapes);
	pm_graph_dtypes(g, &r->dtypes);
	return pm_graph_print(g, &opts, &r->text, err);
}

static void row_release(Row *r)
{
	pm_str_release(&r->text);
	pm_str_release(&r->ops);
	pm_str_release(&r->shapes);
	pm_str_release(&r->dtypes);
}

/* The texts that rows share. */
static PmStatus intern(PmDb *db, const Row *r, int64_t *op_seq, int64_t *bucket, PmErr *err)
{
	PmStatus st = pm__db_run(db, "store a list of operators", NULL, err,
				 "INSERT OR IGNORE INTO op_seqs (text) VALUES (?)", "s", r->ops.s);

	if (st == PM_OK)
		st = pm__db_i64(db, "look a list of operators up", op_seq, err,
				"SELECT id FROM op_seqs WHERE text = ?", "s", r->ops.s);
	if (st == PM_OK)
		st = pm__db_run(db, "store a bucket", NULL, err,
				"INSERT OR IGNORE INTO buckets (op_seq, shapes, dtypes) VALUES (?, ?, ?)",
				"iss", *op_seq, r->shapes.s, r->dtypes.s);
	if (st == PM_OK)
		st = pm__db_i64(db, "look a bucket up", bucket, err,
				"SELECT id FROM buckets WHERE op_seq = ? AND shapes = ? AND dtypes = ?",
				"iss", *op_seq, r->shapes.s, r->dtypes.s);
	return st;
}

static PmStatus insert(PmDb *db, const Row *r, int64_t *changes, PmErr *err)
{
	int64_t op_seq = 0, bucket = 0;
	PmStatus st = intern(db, r, &op_seq, &bucket, err);

	if (st)
		return st;
	return pm__db_run(
		db, "store a subgraph", changes, err,
		"INSERT INTO subgraphs (hash, structure, shapes, n_nodes, op_seq, bucket, text, category) "
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING",
		"sssiiiss", r->key->full, r->key->structure, r->key->shapes, r->n_nodes, op_seq, bucket,
		r->text.s, r->category);
}

/* Graphs of one hash may list independent nodes and inputs in different orders. The least text stays, so that
 * what is stored does not depend on which was found first. */
static PmStatus keep_least(PmDb *db, int64_t id, const Row *r, PmErr *err)
{
	int64_t greater, op_seq = 0, bucket = 0;
	PmStatus st = pm__db_i64(db, "look a subgraph up", &greater, err,
				 "SELECT 1 FROM subgraphs WHERE id = ? AND text > ?", "is", id, r->text.s);

	if (st)
		return st == PM_E_NOT_FOUND ? PM_OK : st;
	st = intern(db, r, &op_seq, &bucket, err);
	return st ? st
		  : pm__db_run(db, "store a subgraph", NULL, err,
			       "UPDATE subgraphs SET text = ?, op_seq = ?, bucket = ?, category = ? WHERE id "
			       "= ?",
			       "siisi", r->text.s, op_seq, bucket, r->category, id);
}

static PmStatus put(PmDb *db, const Row *r, const char *kind, int64_t *id, int64_t *changes, PmErr *err)
{
	static const char find[] = "SELECT id FROM subgraphs WHERE hash = ?";
	PmStatus st = pm__db_i64(db, "look a subgraph up", id, err, find, "s", r->key->full);

	if (st == PM_OK) {
		st = keep_least(db, *id, r, err);
	} else if (st == PM_E_NOT_FOUND) {
		st = insert(db, r, changes, err);
		if (st == PM_OK)
			st = pm__db_i64(db, "look a subgraph up", id, err, find, "s", r->key->full);
	}
	if (st == PM_OK)
		st = pm__db_run(db, "store a subgraph's kind", NULL, err,
				"INSERT OR IGNORE INTO kinds (kind, subgraph) VALUES (?, ?)", "si", kind,
				*id);
	return st;
}

/* In a batch of its own where none is open. */
static PmStatus put_alone(PmDb *db, const Row *r, const char *kind, int64_t *id, int *is_new, PmErr *err)
{
	int64_t changes = 0;
	PmStatus st = pm__db_enter(db, err);

	if (st == PM_OK) {
		st = put(db, r, kind, id, &changes, err);
		st = pm__db_leave(db, st, err);
	}
	if (is_new)
		*is_new = changes > 0;
	return st;
}

PmStatus pm_subgraph_put(PmDb *db, const PmGraph *g, const PmGraphKey *key, const char *kind, int64_t *id,
			 int *is_new, PmErr *err)
{
	PmGraphKey own;
	Row row;
	PmStatus st = PM_OK;

	if (is_new)
		*is_new = 0;

	if (!key) {
		st = pm_graph_key(g, &own, err);
		key = &own;
	}
	if (st)
		return st;
	st = row_init(&row, g, key, err);
	if (st == PM_OK)
		st = put_alone(db, &row, kind, id, is_new, err);
	row_release(&row);
	return st;
}

/* ---- rows made ready ---- */

enum { N_FIELDS = 9 }; /* texts of a row, behind its number of nodes */

PmStatus pm_subgraph_row_make(const PmGraph *g, const PmGraphKey *key, const char *kind, PmStr *out,
			      PmErr *err)
{
	Row r;
	PmStatus st = row_init(&r, g, key, err);
	const char *field[N_FIELDS] = { key->full, key->structure, key->shapes, r.category, kind,
					r.ops.s,   r.shapes.s,     r.dtypes.s,  r.text.s };

	if (st == PM_OK)
		pm_str_addn(out, (const char *)&r.n_nodes, sizeof r.n_nodes);
	for (size_t i = 0; i < N_FIELDS && st == PM_OK; i++)
		pm_str_addn(out, field[i] ? field[i] : "", strlen(field[i] ? field[i] : "") + 1);
	row_release(&r);
	return st;
}

PmStatus pm_subgraph_row_put(PmDb *db, const char *row, int64_t *id, int *is_new, PmErr *err)
{
	const char *p = row + sizeof(int64_t), *field[N_FIELDS];
	PmGraphKey key;
	Row r = { .key = &key };

	memcpy(&r.n_nodes, row, sizeof r.n_nodes);
	for (size_t i = 0; i < N_FIELDS; i++, p += strlen(p) + 1)
		field[i] = p;
	snprintf(key.full, sizeof key.full, "%s", field[0]);
	snprintf(key.structure, sizeof key.structure, "%s", field[1]);
	snprintf(key.shapes, sizeof key.shapes, "%s", field[2]);
	r.category = field[3];
	r.ops.s = (char *)(uintptr_t)field[5]; /* read only: nothing of it is released */
	r.shapes.s = (char *)(uintptr_t)field[6];
	r.dtypes.s = (char *)(uintptr_t)field[7];
	r.text.s = (char *)(uintptr_t)field[8];
	return put_alone(db, &r, field[4], id, is_new, err);
}

/* ---- rows made before there were buckets, or categories ---- */

static PmStatus fill_bucket(void *arg, sqlite3_stmt *row, PmErr *err)
{
	PmDb *db = arg;
	PmGraphKey none = { "", "", "" };
	int64_t id = sqlite3_column_int64(row, 0), op_seq = 0, bucket = 0;
	const char *text = pm__col_text(row, 1);
	PmGraph *g = NULL;
	PmStatus st = pm_graph_parse(text, strlen(text), &g, err);
	Row r;

	if (st)
		return pm_err_ctx(err, "Database '%s', subgraph %lld", db->path, (long long)id);
	st = row_init(&r, g, &none, err);
	if (st == PM_OK)
		st = intern(db, &r, &op_seq, &bucket, err);
	if (st == PM_OK)
		st = pm__db_run(db, "store a bucket", NULL, err,
				"UPDATE subgraphs SET bucket = ? WHERE id = ?", "ii", bucket, id);
	row_release(&r);
	pm_graph_free(g);
	return st;
}

PmStatus pm__subgraphs_fill_buckets(PmDb *db, PmErr *err)
{
	return pm__db_each(db, "bring its subgraphs up to date", fill_bucket, db, NULL, err,
			   "SELECT id, text FROM subgraphs WHERE bucket IS NULL", "");
}

static PmStatus fill_category(void *arg, sqlite3_stmt *row, PmErr *err)
{
	PmDb *db = arg;
	int64_t id = sqlite3_column_int64(row, 0);
	const char *text = pm__col_text(row, 1);
	PmGraph *g = NULL;
	PmStatus st = pm_graph_parse(text, strlen(text), &g, err);

	if (st)
		return pm_err_ctx(err, "Database '%s', subgraph %lld", db->path, (long long)id);
	st = pm__db_run(db, "store a category", NULL, err, "UPDATE subgraphs SET category = ? WHERE id = ?",
			"si", pm_category_name(pm_category_of(g, NULL)), id);
	pm_graph_free(g);
	return st;
}

PmStatus pm__subgraphs_fill_categories(PmDb *db, PmErr *err)
{
	return pm__db_each(db, "bring its subgraphs up to date", fill_category, db, NULL, err,
			   "SELECT id, text FROM subgraphs WHERE category = ''", "");
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const PmNode *)a)->id, y = ((const PmNode *)b)->id;

	return (x > y) - (x < y);
}

PmStatus pm_occurrence_put(PmDb *db, int64_t model, int64_t subgraph, const PmNode *nodes, size_t n,
			   PmErr *err)
{
	PmStr list = PM_STR_INIT;
	PmNode *sorted;
	PmStatus st;
	size_t i;

	if (n == 0)
		return pm_err(err, PM_E_INVALID,
			      "Database '%s': an occurrence without nodes cannot be stored; give its nodes.",
			      db->path);
	sorted = pm_xcalloc(n, sizeof *sorted);
	memcpy(sorted, nodes, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_id);
	for (i = 0; i < n; i++)
		pm_str_addf(&list, "%s%u", i ? "," : "", (unsigned)sorted[i].id);
	st = pm__db_run(db, "store an occurrence", NULL, err,
			"INSERT INTO occurrences (model, subgraph, first_node, last_node, nodes) "
			"VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			"iiiis", model, subgraph, (int64_t)sorted[0].id, (int64_t)sorted[n - 1].id, list.s);
	free(sorted);
	pm_str_release(&list);
	return st;
}

/* ---- reading ---- */

typedef struct Parse {
	PmDb *db;
	int64_t id;
	PmGraph *g;
} Parse;

static PmStatus parse_row(void *arg, sqlite3_stmt *row, PmErr *err)
{
	Parse *p = arg;
	const char *text = pm__col_text(row, 0);
	PmStatus st = pm_graph_parse(text, strlen(text), &p->g, err);

	if (st)
		pm_err_ctx(err, "Database '%s', subgraph %lld", p->db->path, (long long)p->id);
	return st;
}

PmStatus pm_subgraph_get(PmDb *db, int64_t id, PmGraph **out, PmErr *err)
{
	Parse p = { db, id, NULL };
	size_t n = 0;
	PmStatus st = pm__db_each(db, "read a subgraph", parse_row, &p, &n, err,
				  "SELECT text FROM subgraphs WHERE id = ?", "i", id);

	*out = p.g;
	if (st == PM_OK && n == 0)
		return pm_err(err, PM_E_NOT_FOUND,
			      "Database '%s' has no subgraph %lld; look it up by its hash.", db->path,
			      (long long)id);
	return st;
}

PmStatus pm_subgraph_find(PmDb *db, const char *hash_prefix, int64_t *id, PmErr *err)
{
	size_t n = 0, len = strlen(hash_prefix);
	PmStatus st;

	if (len < 8 || len >= PM_SHA256_HEX || strspn(hash_prefix, "0123456789abcdef") != len)
		return pm_err(err, PM_E_INVALID,
			      "Database '%s': '%s' is not a hash; give 8 to 64 hexadecimal digits.", db->path,
			      hash_prefix);
	/* 'g' sorts after every hexadecimal digit. */
	st = pm__db_each(db, "look a subgraph up", pm__take_id, id, &n, err,
			 "SELECT id FROM subgraphs WHERE hash >= ?1 AND hash < ?1 || 'g' LIMIT 2", "s",
			 hash_prefix);
	if (st)
		return st;
	if (n == 0)
		return pm_err(err, PM_E_NOT_FOUND,
			      "Database '%s' has no subgraph with hash %s; check the hash.", db->path,
			      hash_prefix);
	if (n > 1)
		return pm_err(
			err, PM_E_INVALID,
			"Database '%s' has several subgraphs whose hash begins with %s; give more digits.",
			db->path, hash_prefix);
	return PM_OK;
}

typedef struct Walk {
	PmSubgraphFn fn;
	PmOccurrenceFn occurrence;
	void *arg;
} Walk;

static PmStatus one_subgraph(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmSubgraphRow s = { sqlite3_column_int64(row, 0), pm__col_text(row, 1),  pm__col_text(row, 2),
			    pm__col_text(row, 3),         pm__col_text(row, 8),  sqlite3_column_int64(row, 4),
			    pm__col_text(row, 5),         pm__col_text(row, 6),  sqlite3_column_int64(row, 7),
			    sqlite3_column_int64(row, 9), pm__col_text(row, 10), pm__col_text(row, 11) };

	return w->fn(w->arg, &s, err);
}

#define COLUMNS                                                                                              \
	"SELECT s.id, s.hash, s.structure, s.shapes, s.n_nodes, q.text, s.text, "                            \
	"(SELECT count(*) FROM occurrences o WHERE o.subgraph = s.id), "                                     \
	"(SELECT min(k.kind) FROM kinds k WHERE k.subgraph = s.id), s.op_seq, b.shapes, b.dtypes "

/* One query for each combination, so that each finds its rows by an index. */
PmStatus pm_subgraphs_each(PmDb *db, const char *kind, int64_t model, PmSubgraphFn fn, void *arg, PmErr *err)
{
	Walk w = { fn, NULL, arg };
	static const char what[] = "list its subgraphs";

	if (kind && model)
		return pm__db_each(
			db, what, one_subgraph, &w, NULL, err,
			COLUMNS
			"FROM (SELECT DISTINCT subgraph FROM occurrences WHERE model = ?2) o "
			"JOIN kinds k ON k.kind = ?1 AND k.subgraph = o.subgraph "
			"JOIN subgraphs s ON s.id = o.subgraph "
			"JOIN op_seqs q ON q.id = s.op_seq JOIN buckets b ON b.id = s.bucket ORDER BY s.id",
			"si", kind, model);
	if (kind)
		return pm__db_each(db, what, one_subgraph, &w, NULL, err,
				   COLUMNS
				   "FROM kinds k JOIN subgraphs s ON s.id = k.subgraph "
				   "JOIN op_seqs q ON q.id = s.op_seq JOIN buckets b ON b.id = s.bucket "
				   "WHERE k.kind = ? ORDER BY k.subgraph",
				   "s", kind);
	if (model)
		return pm__db_each(
			db, what, one_subgraph, &w, NULL, err,
			COLUMNS
			"FROM (SELECT DISTINCT subgraph FROM occurrences WHERE model = ?) o "
			"JOIN subgraphs s ON s.id = o.subgraph "
			"JOIN op_seqs q ON q.id = s.op_seq JOIN buckets b ON b.id = s.bucket ORDER BY s.id",
			"i", model);
	return pm__db_each(db, what, one_subgraph, &w, NULL, err,
			   COLUMNS "FROM subgraphs s JOIN op_seqs q ON q.id = s.op_seq JOIN buckets b ON "
				   "b.id = s.bucket ORDER BY s.id",
			   "");
}

typedef struct Provenance {
	PmProvenanceFn fn;
	void *arg;
} Provenance;

static PmStatus one_count(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Provenance *p = arg;

	return p->fn(p->arg, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
		     sqlite3_column_int64(row, 2), err);
}

PmStatus pm_provenance_each(PmDb *db, PmProvenanceFn fn, void *arg, PmErr *err)
{
	Provenance p = { fn, arg };

	return pm__db_each(db, "count occurrences", one_count, &p, NULL, err,
			   "SELECT model, subgraph, count(*) FROM occurrences GROUP BY model, subgraph "
			   "ORDER BY model, subgraph",
			   "");
}

static PmStatus one_occurrence(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmOccurrenceRow o = { sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
			      pm__col_text(row, 2),         sqlite3_column_int64(row, 3),
			      sqlite3_column_int64(row, 4), pm__col_text(row, 5) };

	return w->occurrence(w->arg, &o, err);
}

PmStatus pm_occurrences_each(PmDb *db, int64_t subgraph, PmOccurrenceFn fn, void *arg, PmErr *err)
{
	Walk w = { NULL, fn, arg };

	return pm__db_each(db, "list occurrences", one_occurrence, &w, NULL, err,
			   "SELECT o.model, o.subgraph, m.name, o.first_node, o.last_node, o.nodes "
			   "FROM occurrences o JOIN models m ON m.id = o.model WHERE o.subgraph = ? "
			   "ORDER BY o.model, o.first_node, o.nodes",
			   "i", subgraph);
}
