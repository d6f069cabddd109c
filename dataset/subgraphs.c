/* subgraphs.c - rows of stored graphs and of their occurrences. */
#include "dataset/subgraphs.h"

#include "dataset/db_priv.h"
#include "ir/canon.h"
#include "ir/text.h"

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

static PmStatus insert(PmDb *db, const PmGraph *g, const PmGraphKey *key, const char *kind, int64_t *changes,
		       PmErr *err)
{
	PmPrintOpts opts = { 1, 0, 0 };
	PmStr text = PM_STR_INIT, ops = PM_STR_INIT;
	PmStatus st;

	pm_graph_ops(g, &ops);
	st = pm_graph_print(g, &opts, &text, err);
	if (st == PM_OK)
		st = pm__db_run(db, "store a list of operators", NULL, err,
				"INSERT OR IGNORE INTO op_seqs (text) VALUES (?)", "s", ops.s);
	if (st == PM_OK)
		st = pm__db_run(
			db, "store a subgraph", changes, err,
			"INSERT INTO subgraphs (hash, structure, shapes, kind, n_nodes, op_seq, text) "
			"VALUES (?, ?, ?, ?, ?, (SELECT id FROM op_seqs WHERE text = ?), ?) "
			"ON CONFLICT (hash) DO NOTHING",
			"ssssiss", key->full, key->structure, key->shapes, kind, (int64_t)pm_graph_n_nodes(g),
			ops.s, text.s);
	pm_str_release(&ops);
	pm_str_release(&text);
	return st;
}

PmStatus pm_subgraph_put(PmDb *db, const PmGraph *g, const PmGraphKey *key, const char *kind, int64_t *id,
			 int *is_new, PmErr *err)
{
	static const char find[] = "SELECT id FROM subgraphs WHERE hash = ?";
	PmGraphKey own;
	int64_t changes = 0;
	PmStatus st = PM_OK;

	if (!key) {
		st = pm_graph_key(g, &own, err);
		key = &own;
	}
	if (st == PM_OK)
		st = pm__db_enter(db, err);
	if (st)
		return st;
	st = pm__db_i64(db, "look a subgraph up", id, err, find, "s", key->full);
	if (st == PM_E_NOT_FOUND) {
		st = insert(db, g, key, kind, &changes, err);
		if (st == PM_OK)
			st = pm__db_i64(db, "look a subgraph up", id, err, find, "s", key->full);
	}
	if (is_new)
		*is_new = changes > 0;
	return pm__db_leave(db, st, err);
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

static PmStatus only_id(void *arg, sqlite3_stmt *row, PmErr *err)
{
	(void)err;
	*(int64_t *)arg = sqlite3_column_int64(row, 0);
	return PM_OK;
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
	st = pm__db_each(db, "look a subgraph up", only_id, id, &n, err,
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
	PmSubgraphRow s = {
		sqlite3_column_int64(row, 0), pm__col_text(row, 1), pm__col_text(row, 2),
		pm__col_text(row, 3),         pm__col_text(row, 4), sqlite3_column_int64(row, 5),
		pm__col_text(row, 6),         pm__col_text(row, 7), sqlite3_column_int64(row, 8)
	};

	return w->fn(w->arg, &s, err);
}

PmStatus pm_subgraphs_each(PmDb *db, const char *kind, int64_t model, PmSubgraphFn fn, void *arg, PmErr *err)
{
	Walk w = { fn, NULL, arg };

	return pm__db_each(
		db, "list its subgraphs", one_subgraph, &w, NULL, err,
		"SELECT s.id, s.hash, s.structure, s.shapes, s.kind, s.n_nodes, q.text, s.text, "
		"(SELECT count(*) FROM occurrences o WHERE o.subgraph = s.id) "
		"FROM subgraphs s JOIN op_seqs q ON q.id = s.op_seq "
		"WHERE (?1 IS NULL OR s.kind = ?1) AND (?2 = 0 OR EXISTS (SELECT 1 FROM occurrences o "
		"WHERE o.subgraph = s.id AND o.model = ?2)) ORDER BY s.id",
		"si", kind, model);
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
