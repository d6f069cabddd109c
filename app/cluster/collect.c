/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c - results into collected.db. */
#include "app/cluster/collect.h"

#include "app/cluster/folder.h"
#include "app/cluster/items.h"
#include "base/sys/io.h"
#include "dataset/store/jsonl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_A_BATCH = 500 };

typedef struct Collect {
	const PmClusterPlan *p;
	PmClusterCollected *out;
	PmDb *db;
	PmIntern *had; /* task and pass of finished runs, as key() writes them */
	PmErr damage;  /* the first */
} Collect;

static void key(const char *task, const char *pass, PmStr *out)
{
	pm_str_clear(out);
	pm_str_addf(out, "%s %s", task, pass);
}

static PmStatus take_run(void *arg, size_t n, const char *const *names, const char *const *values, PmErr *err)
{
	Collect *c = arg;
	PmStr text = PM_STR_INIT;

	(void)n;
	(void)names;
	(void)err;
	key(values[0], values[1], &text);
	pm_intern(c->had, text.s, text.len);
	pm_str_release(&text);
	return PM_OK;
}

/* A file of the plan, or of this machine, as another one. */
static PmStatus copy(const char *from, const char *to, int publish, PmErr *err)
{
	PmMap map;
	PmStatus st = pm_map_file(from, &map, err);

	if (st)
		return st;
	st = publish ? pm_cluster_publish(to, map.p, map.n, 0644, err) : pm_write_file(to, map.p, map.n, err);
	pm_unmap(&map);
	return st;
}

static PmStatus import(Collect *c, const PmStr *rows, const char *path, PmErr *err)
{
	FILE *f = rows->len ? fmemopen(rows->s, rows->len, "r") : NULL;
	PmStatus st;

	if (!f)
		return rows->len ? pm_err(err, PM_E_ENV, "%s cannot be read: %s.", path, strerror(errno))
				 : PM_OK;
	st = pm_db_import(c->db, f, path, NULL, err);
	fclose(f);
	return st;
}

/* A result that is damaged is noted, and the others go on. */
static PmStatus add_item(Collect *c, size_t item, PmErr *err)
{
	PmClusterHead head = { .secret = c->p->secret, .item = (int64_t)item };
	PmStr path = PM_STR_INIT, rows = PM_STR_INIT;
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	pm_item_result_path(c->p, item, &path);
	st = pm_cluster_findings_read(path.s, &head, &rows, &why);
	if (st == PM_E_INVALID) {
		if (!c->out->damaged++)
			c->damage = why;
	} else if (st) {
		pm_err(err, st, "%s", why.text);
	} else {
		st = import(c, &rows, path.s, err);
		c->out->added += !st;
	}
	pm_str_release(&path);
	pm_str_release(&rows);
	return st == PM_E_INVALID && c->out->damaged ? PM_OK : st;
}

/* Many in one batch: each costs less. */
static PmStatus add_items(Collect *c, const PmItemState *state, PmErr *err)
{
	const PmClusterPlan *p = c->p;
	PmStr text = PM_STR_INIT;
	PmStatus st = pm_db_begin(c->db, err);
	size_t n = 0;

	for (size_t i = 0; i < p->item.n && !st; i++) {
		key(p->task.v[p->item.v[i].task].hash, p->pass.v[p->item.v[i].pass].sha256, &text);
		if (pm_intern_find(c->had, text.s, text.len) != UINT32_MAX) {
			c->out->had++;
			continue;
		}
		if (!state[i].done) {
			c->out->missing++;
			continue;
		}
		st = add_item(c, i, err);
		if (!st && ++n % ITEMS_A_BATCH == 0 && !(st = pm_db_commit(c->db, err)))
			st = pm_db_begin(c->db, err);
	}
	pm_str_release(&text);
	if (!st)
		return pm_db_commit(c->db, err);
	pm_db_rollback(c->db);
	return st;
}

static PmStatus fill(Collect *c, const char *path, PmErr *err)
{
	PmItemState *state = pm_xcalloc(c->p->item.n + 1, sizeof *state);
	PmStatus st = pm_db_open(path, PM_DB_MUST_EXIST, &c->db, err);

	if (!st)
		st = pm_items_read(c->p, state, err);
	if (!st)
		st = pm_db_query(c->db,
				 "SELECT t.hash, r.pass_sha256 FROM runs r JOIN tasks t ON t.id = r.task "
				 "WHERE r.finished IS NOT NULL",
				 take_run, c, err);
	if (!st)
		st = add_items(c, state, err);
	if (!st)
		st = pm_db_settle(c->db, err);
	pm_db_close(c->db);
	free(state);
	return st;
}

PmStatus pm_cluster_collect(const PmClusterPlan *p, PmClusterCollected *out, PmErr *err)
{
	Collect c = { .p = p, .out = out, .had = pm_intern_new() };
	PmStr local = PM_STR_INIT, db = PM_STR_INIT, to = PM_STR_INIT, from = PM_STR_INIT;
	PmStatus st;

	memset(out, 0, sizeof *out);
	pm_err_init(&c.damage);
	pm_cluster_path(p->dir, NULL, "collected.db", &to);
	pm_cluster_path(p->dir, NULL, pm_path_exists(to.s) ? "collected.db" : "tasks.db", &from);
	st = pm_temp_dir("collect", &local, err);
	pm_cluster_path(local.s, NULL, "collected.db", &db);
	if (!st)
		st = copy(from.s, db.s, 0, err);
	if (!st)
		st = fill(&c, db.s, err);
	if (!st && (out->added || !pm_path_exists(to.s)))
		st = copy(db.s, to.s, 1, err);
	if (local.len)
		(void)pm_remove_tree(local.s, NULL);
	if (!st && out->damaged)
		st = pm_err(err, c.damage.code, "%s", c.damage.text);
	pm_str_release(&local);
	pm_str_release(&db);
	pm_str_release(&to);
	pm_str_release(&from);
	pm_intern_free(c.had);
	return st;
}
