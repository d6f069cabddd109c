/* SPDX-License-Identifier: Apache-2.0 */
/* task_pack.c - passmith task pack, unpack, verify: tasks as folders. */
#include "cli/task/task.h"

#include "base/sys/io.h"
#include "base/sys/progress.h"
#include "bench/compare/tolerance.h"
#include "dataset/pack/pack.h"
#include "dataset/store/tasks.h"
#include "ir/core/kernel.h"
#include "matcher/pattern/pattern.h"

#include <stdio.h>
#include <string.h>

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

static PmStatus find_tasks(PmTaskCmd *c, Ids *ids, PmErr *err)
{
	int64_t id;
	PmStatus st;

	if (c->arg) {
		st = pm_task_find(c->db, c->arg, &id, err);
		if (!st)
			PM_VEC_PUSH(&ids->id, id);
		return st;
	}
	st = c->split ? pm_tasks_of_split(c->db, c->split, take_id, ids, err)
		      : pm_tasks_each(c->db, take_id, ids, err);
	return st || ids->id.n
		       ? st
		       : pm_err(err, PM_E_NOT_FOUND, "%s holds no task%s%s; make some with task build.",
				pm_db_path(c->db), c->split ? " of split " : "", c->split ? c->split : "");
}

PmStatus pm_task_verb_pack(PmTaskCmd *c, PmErr *err)
{
	cJSON *r = rules();
	PmStr dir = PM_STR_INIT;
	PmProgress bar = { 0 };
	int64_t made = 0;
	Ids ids = { 0 };
	PmStatus st = find_tasks(c, &ids, err);

	if (!st && ids.id.n > 1 && !pm_cli_quiet)
		pm_progress_start(&bar, "packing", (int64_t)ids.id.n);
	for (size_t i = 0; i < ids.id.n && !st; i++) {
		int is_new;

		pm_str_clear(&dir);
		st = pm_pack_write(c->db, ids.id.v[i], c->out, r, &dir, &is_new, err);
		made += !st && is_new;
		pm_progress_step(&bar, NULL);
	}
	pm_progress_end(&bar);
	if (!st && pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, "packs", (int64_t)ids.id.n);
		pm_json_add_i64(j, "new", made);
		cJSON_AddStringToObject(j, "last", dir.s);
		pm_cli_put_json(j);
	} else if (!st && ids.id.n == 1) {
		printf("%s\n", dir.s);
	} else if (!st) {
		printf("%zu packs below %s, %lld of them new\n", ids.id.n, c->out, (long long)made);
	}
	cJSON_Delete(r);
	pm_str_release(&dir);
	PM_VEC_RELEASE(&ids.id);
	return st;
}

/* ---- unpack and verify: one pack, or every pack below a folder ---- */

typedef PmStatus (*PackFn)(PmTaskCmd *c, const char *dir, PmErr *err);

static PmStatus each_pack(PmTaskCmd *c, const char *dir, int depth, PackFn fn, int64_t *n, PmErr *err)
{
	PmNames names = { 0 };
	PmStatus st;

	if (pm_pack_is(dir)) {
		++*n;
		return fn(c, dir, err);
	}
	st = depth ? pm_list_dir(dir, &names, err) : PM_OK;
	for (size_t i = 0; i < names.n && !st; i++) {
		PmStr sub = PM_STR_INIT;

		pm_path_join(dir, names.v[i], &sub);
		if (names.v[i][0] != '.' && pm_path_is_dir(sub.s))
			st = each_pack(c, sub.s, depth - 1, fn, n, err);
		pm_str_release(&sub);
	}
	pm_names_release(&names);
	return st;
}

static PmStatus all_packs(PmTaskCmd *c, PackFn fn, const char *what, PmErr *err)
{
	int64_t n = 0;
	PmStatus st = each_pack(c, c->arg, 3, fn, &n, err);

	if (!st && !n)
		st = pm_err(err, PM_E_NOT_FOUND, "There is no pack in %s: no folder there holds a task.json.",
			    c->arg);
	if (!st && pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, what, n);
		pm_cli_put_json(j);
	} else if (!st) {
		printf("%lld packs %s\n", (long long)n, what);
	}
	return st;
}

static PmStatus unpack(PmTaskCmd *c, const char *dir, PmErr *err)
{
	int64_t id;

	return pm_pack_unpack(dir, c->db, &id, NULL, err);
}

static PmStatus verify(PmTaskCmd *c, const char *dir, PmErr *err)
{
	(void)c;
	return pm_pack_read(dir, NULL, NULL, NULL, err);
}

PmStatus pm_task_verb_unpack(PmTaskCmd *c, PmErr *err)
{
	return all_packs(c, unpack, "unpacked", err);
}

PmStatus pm_task_verb_verify(PmTaskCmd *c, PmErr *err)
{
	return all_packs(c, verify, "verified", err);
}
