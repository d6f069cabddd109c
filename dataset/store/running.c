/* SPDX-License-Identifier: Apache-2.0 */
/* running.c - rows of work that goes on now. */
#include "dataset/store/running.h"

#include "dataset/store/db_priv.h"

PmStatus pm_running_put(PmDb *db, const PmRunningRow *r, PmErr *err)
{
	PmStatus st;

	sqlite3_busy_timeout(db->sq, 0);
	st = pm__db_run(db, "say that work goes on", NULL, err,
			"INSERT INTO running (host, pid, began, parent, task, pass_path, device, stage, "
			"done, total, heartbeat) VALUES (?, ?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?) ON "
			"CONFLICT (host, pid, began) DO UPDATE SET stage = excluded.stage, done = "
			"excluded.done, total = excluded.total, heartbeat = excluded.heartbeat",
			"sifiisssiif", r->host, r->pid, r->began, r->parent, r->task, r->pass_path, r->device,
			r->stage, r->done, r->total, r->heartbeat);
	sqlite3_busy_timeout(db->sq, db->wait_ms);
	return st;
}

PmStatus pm_running_drop(PmDb *db, const PmRunningRow *r, PmErr *err)
{
	return pm__db_run(db, "say that work is done", NULL, err,
			  "DELETE FROM running WHERE host = ? AND pid = ? AND began = ?", "sif", r->host,
			  r->pid, r->began);
}

PmStatus pm_running_forget(PmDb *db, double before, PmErr *err)
{
	PmStatus st;

	sqlite3_busy_timeout(db->sq, 0);
	st = pm__db_run(db, "forget work of which nothing was heard", NULL, err,
			"DELETE FROM running WHERE heartbeat < ?", "f", before);
	sqlite3_busy_timeout(db->sq, db->wait_ms);
	return st;
}

typedef struct Walk {
	PmRunningFn fn;
	void *arg;
} Walk;

static PmStatus one(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmRunningRow r = { .host = pm__col_text(row, 0),
			   .pid = sqlite3_column_int64(row, 1),
			   .began = sqlite3_column_double(row, 2),
			   .parent = sqlite3_column_int64(row, 3),
			   .task = sqlite3_column_int64(row, 4),
			   .pass_path = pm__col_text(row, 5),
			   .device = pm__col_text(row, 6),
			   .stage = pm__col_text(row, 7),
			   .done = sqlite3_column_int64(row, 8),
			   .total = sqlite3_column_int64(row, 9),
			   .heartbeat = sqlite3_column_double(row, 10),
			   .task_name = pm__col_text(row, 11) };

	return w->fn(w->arg, &r, err);
}

PmStatus pm_running_each(PmDb *db, PmRunningFn fn, void *arg, PmErr *err)
{
	Walk w = { fn, arg };

	return pm__db_each(db, "list what goes on", one, &w, NULL, err,
			   "SELECT r.host, r.pid, r.began, r.parent, r.task, r.pass_path, r.device, r.stage, "
			   "r.done, r.total, r.heartbeat, t.name FROM running r LEFT JOIN tasks t ON t.id = "
			   "r.task ORDER BY r.host, CASE r.parent WHEN 0 THEN r.pid ELSE r.parent END, "
			   "r.parent <> 0, r.began, r.pid",
			   "");
}
