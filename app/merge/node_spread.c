/* SPDX-License-Identifier: Apache-2.0 */
/* node_spread.c - runs that several nodes measured. */
#include "app/merge/node_spread.h"

#include "base/core/arena.h"
#include "base/core/str.h"
#include "base/core/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Walk {
	PmNodeSpreadFn fn;
	void *arg;
	char *run, *task, *pass; /* owned: of the run that is read; NULL before the first */
	PM_VEC(PmSpreadItem) items;
} Walk;

static void forget(Walk *w)
{
	free(w->run);
	free(w->task);
	free(w->pass);
	w->run = w->task = w->pass = NULL;
	w->items.n = 0;
}

static PmStatus end_run(Walk *w, PmErr *err)
{
	PmNodeSpread s = { .task = w->task, .pass = w->pass };
	PmStatus st = PM_OK;

	if (w->run)
		pm_parse_i64(w->run, &s.run);
	if (w->run)
		s.spread = pm_spread(w->items.v, w->items.n);
	if (s.spread.n_nodes > 1)
		st = w->fn(w->arg, &s, err);
	forget(w);
	return st;
}

/* Columns: run, task, pass, variant, node, speedup. */
static PmStatus take(void *arg, size_t n, const char *const *names, const char *const *v, PmErr *err)
{
	Walk *w = arg;
	PmSpreadItem x = { 0, 0, log(strtod(v[5], NULL)) };
	PmStatus st = PM_OK;

	(void)n;
	(void)names;
	if (!w->run || strcmp(w->run, v[0]) != 0) {
		st = end_run(w, err);
		w->run = pm_xstrdup(v[0]);
		w->task = pm_xstrdup(v[1]);
		w->pass = pm_xstrdup(v[2]);
	}
	pm_parse_i64(v[3], &x.variant);
	pm_parse_i64(v[4], &x.node);
	PM_VEC_PUSH(&w->items, x);
	return st;
}

PmStatus pm_node_spread_each(PmDb *db, PmNodeSpreadFn fn, void *arg, PmErr *err)
{
	Walk w = { .fn = fn, .arg = arg };
	/* The least row of a host and GPU stands for all its jobs and restarts. */
	PmStatus st = pm_db_query(
		db,
		"SELECT m.run, t.name, r.pass_path, m.ordinal, (SELECT min(p.id) FROM origins p WHERE p.node "
		"= "
		"o.node AND p.gpu_id = o.gpu_id) AS place, printf('%!.17g', m.speedup) FROM measurements m "
		"JOIN origins o ON o.id = m.origin JOIN runs r ON r.id = m.run JOIN tasks t ON t.id = m.task "
		"WHERE m.verdict = 'OK' AND m.speedup > 0 AND o.node <> '' "
		"ORDER BY t.name, t.hash, r.pass_path, m.run, m.ordinal, place, m.key",
		take, &w, err);

	if (!st)
		st = end_run(&w, err);
	forget(&w);
	PM_VEC_RELEASE(&w.items);
	return st;
}

/* ---- as JSON ---- */

typedef struct Listed {
	const int64_t *runs; /* NULL = all */
	size_t n;
	cJSON *list;
} Listed;

static PmStatus add_json(void *arg, const PmNodeSpread *s, PmErr *err)
{
	const Listed *l = arg;
	cJSON *o;
	size_t i = 0;

	(void)err;
	while (l->runs && i < l->n && l->runs[i] != s->run)
		i++;
	if (l->runs && i == l->n)
		return PM_OK;
	o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "task", s->task);
	cJSON_AddStringToObject(o, "pass", s->pass);
	pm_json_add_i64(o, "measurements", (int64_t)s->spread.n);
	pm_json_add_i64(o, "nodes", (int64_t)s->spread.n_nodes);
	cJSON_AddNumberToObject(o, "within", s->spread.within);
	cJSON_AddNumberToObject(o, "between", s->spread.between);
	cJSON_AddItemToArray(l->list, o);
	return PM_OK;
}

PmStatus pm_node_spread_json(PmDb *db, const int64_t *runs, size_t n, cJSON *j, PmErr *err)
{
	Listed l = { .runs = runs, .n = n, .list = cJSON_AddArrayToObject(j, "spread") };

	return pm_node_spread_each(db, add_json, &l, err);
}
