/* SPDX-License-Identifier: Apache-2.0 */
/* models.c - rows of models. */
#include "dataset/store/models.h"

#include "base/core/hash.h"
#include "base/sys/io.h"
#include "dataset/store/db_priv.h"

PmStatus pm_model_hash(const char *path, char hex[65], PmErr *err)
{
	PmMap map;
	PmStatus st = pm_map_file(path, &map, err);

	if (st)
		return st;
	pm_sha256_hex(map.p, map.n, hex);
	pm_unmap(&map);
	return PM_OK;
}

PmStatus pm_model_put(PmDb *db, const PmModelRow *row, int64_t *id, PmErr *err)
{
	PmStatus st = pm__db_enter(db, err);

	if (st)
		return st;
	st = pm__db_run(db, "store a model", NULL, err,
			"INSERT INTO models (sha256, path, name, opset, n_nodes, n_opaque, status, error, "
			"category) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (sha256) DO UPDATE SET "
			"name = CASE WHEN excluded.path < path THEN excluded.name ELSE name END, "
			"path = min(path, excluded.path), "
			"opset = excluded.opset, n_nodes = excluded.n_nodes, n_opaque = excluded.n_opaque, "
			"status = excluded.status, error = excluded.error, "
			"category = CASE WHEN excluded.category = '' THEN category ELSE excluded.category "
			"END",
			"sssiiisss", row->sha256, row->path, row->name, row->opset, row->n_nodes,
			row->n_opaque, row->ok ? "done" : "failed", row->ok || !row->error ? "" : row->error,
			row->category ? row->category : "");
	if (st == PM_OK)
		st = pm__db_i64(db, "read a model", id, err, "SELECT id FROM models WHERE sha256 = ?", "s",
				row->sha256);
	return pm__db_leave(db, st, err);
}

PmStatus pm_model_is_done(PmDb *db, const char *sha256, int *done, PmErr *err)
{
	int64_t one;
	PmStatus st = pm__db_i64(db, "look a model up", &one, err,
				 "SELECT 1 FROM models WHERE sha256 = ? AND status = 'done'", "s", sha256);

	*done = st == PM_OK;
	return st == PM_E_NOT_FOUND ? PM_OK : st;
}

typedef struct Walk {
	PmModelFn fn;
	void *arg;
} Walk;

static PmStatus one_model(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmModelRow m = { sqlite3_column_int64(row, 0), pm__col_text(row, 1),
			 pm__col_text(row, 2),         pm__col_text(row, 3),
			 sqlite3_column_int64(row, 4), sqlite3_column_int64(row, 5),
			 sqlite3_column_int64(row, 6), sqlite3_column_int(row, 7),
			 pm__col_text(row, 8),         pm__col_text(row, 9) };

	return w->fn(w->arg, &m, err);
}

PmStatus pm_models_each(PmDb *db, PmModelFn fn, void *arg, PmErr *err)
{
	Walk w = { fn, arg };

	return pm__db_each(db, "list its models", one_model, &w, NULL, err,
			   "SELECT id, sha256, path, name, opset, n_nodes, n_opaque, status = 'done', error, "
			   "category FROM models ORDER BY id",
			   "");
}
