/* SPDX-License-Identifier: Apache-2.0 */
/* task_pack.c - tasks of a database as folders, and folders as tasks. */
#include "app/task/task_pack.h"

#include "base/core/json.h"
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "bench/compare/tolerance.h"
#include "dataset/pack/pack.h"
#include "dataset/store/tasks.h"
#include "ir/core/kernel.h"
#include "matcher/pattern/pattern.h"

/* How every task is judged today: what an author cannot see in the graphs. */
static cJSON *rules(void)
{
	cJSON *j = cJSON_CreateObject(), *t, *l;

	cJSON_AddStringToObject(j, "preset", "sound");
	cJSON_AddNumberToObject(j, "seed", 1);
	cJSON_AddNumberToObject(j, "level", -5);
	t = cJSON_AddObjectToObject(j, "tolerances");
	for (int k = 0; k < PM_N_DTYPES; k++) {
		cJSON *pair;
		PmTol tol;

		if (!pm_tol(k, -5, &tol))
			continue;
		pair = cJSON_AddObjectToObject(t, pm_dtype_name(k));
		cJSON_AddNumberToObject(pair, "atol", tol.atol);
		cJSON_AddNumberToObject(pair, "rtol", tol.rtol);
	}
	l = cJSON_AddObjectToObject(j, "limits"); /* over a limit is an error, never a choice among rules */
	cJSON_AddNumberToObject(l, "pattern_nodes", PM_MAX_PATTERN_NODES);
	cJSON_AddNumberToObject(l, "alternatives", PM_MAX_ALTS);
	cJSON_AddNumberToObject(l, "launches", PM_MAX_LAUNCHES);
	cJSON_AddNumberToObject(l, "source_bytes", PM_MAX_SOURCE);
	return j;
}

/* ---- pack ---- */

typedef struct Ids {
	PM_VEC(int64_t) id;
} Ids;

static PmStatus take_id(void *arg, const PmTaskRow *row, PmErr *err)
{
	Ids *ids = arg;

	(void)err;
	PM_VEC_PUSH(&ids->id, row->id);
	return PM_OK;
}

static PmStatus find_tasks(const PmTaskPackOpts *o, Ids *ids, PmErr *err)
{
	int64_t id;
	PmStatus st;

	if (o->task) {
		st = pm_task_find(o->db, o->task, &id, err);
		if (!st)
			PM_VEC_PUSH(&ids->id, id);
		return st;
	}
	st = o->split ? pm_tasks_of_split(o->db, o->split, take_id, ids, err)
		      : pm_tasks_each(o->db, take_id, ids, err);
	return st || ids->id.n
		       ? st
		       : pm_err(err, PM_E_NOT_FOUND, "%s holds no task%s%s; make some with task build.",
				pm_db_path(o->db), o->split ? " of split " : "", o->split ? o->split : "");
}

PmStatus pm_task_pack(const PmTaskPackOpts *o, PmTaskPacked *out, PmErr *err)
{
	const PmWatch *watch;
	cJSON *r = rules();
	Ids ids = { 0 };
	PmStatus st;

	*out = (PmTaskPacked){ .dir = PM_STR_INIT };
	st = find_tasks(o, &ids, err);
	out->n = ids.id.n;
	watch = ids.id.n > 1 ? o->watch : NULL;
	if (!st)
		pm_watch_begin(watch, "packing", (int64_t)ids.id.n);
	for (size_t i = 0; i < ids.id.n && !st; i++) {
		int is_new;

		pm_str_clear(&out->dir);
		st = pm_pack_write(o->db, ids.id.v[i], o->out, r, &out->dir, &is_new, err);
		out->n_new += !st && is_new;
		pm_watch_step(watch, NULL);
	}
	pm_watch_end(watch);
	cJSON_Delete(r);
	PM_VEC_RELEASE(&ids.id);
	return st;
}

/* ---- unpack and verify: one pack, or every pack below a folder ---- */

enum { MAX_FOLDERS = 3 }; /* between the folder that is named and a pack */

static PmStatus take_pack(PmDb *db, const char *dir, PmErr *err)
{
	int64_t id;

	return db ? pm_pack_unpack(dir, db, &id, NULL, err) : pm_pack_read(dir, NULL, NULL, NULL, err);
}

static PmStatus each_pack(PmDb *db, const char *dir, int depth, int64_t *n, PmErr *err)
{
	PmNames names = { 0 };
	PmStatus st;

	if (pm_pack_is(dir)) {
		++*n;
		return take_pack(db, dir, err);
	}
	st = depth ? pm_list_dir(dir, &names, err) : PM_OK;
	for (size_t i = 0; i < names.n && !st; i++) {
		PmStr sub = PM_STR_INIT;

		pm_path_join(dir, names.v[i], &sub);
		if (names.v[i][0] != '.' && pm_path_is_dir(sub.s))
			st = each_pack(db, sub.s, depth - 1, n, err);
		pm_str_release(&sub);
	}
	pm_names_release(&names);
	return st;
}

PmStatus pm_task_unpack(PmDb *db, const char *dir, int64_t *n, PmErr *err)
{
	PmStatus st;

	*n = 0;
	st = each_pack(db, dir, MAX_FOLDERS, n, err);
	if (!st && !*n)
		st = pm_err(err, PM_E_NOT_FOUND, "There is no pack in %s: no folder there holds a task.json.",
			    dir);
	return st;
}
