/* SPDX-License-Identifier: Apache-2.0 */
/* monitor.c - evaluations that go on, and rankings, out of a database. */
#include "app/monitor/monitor.h"

#include "app/eval/heartbeat.h"
#include "base/sys/proc.h"

#include <math.h>
#include <string.h>

typedef PM_VEC(PmMonitorWork) Works;

static void work_release(PmMonitorWork *w)
{
	free(w->host);
	free(w->pass_path);
	free(w->device);
	free(w->stage);
	free(w->task_name);
}

/* ---- work ---- */

static PmStatus take_work(void *arg, const PmRunningRow *r, PmErr *err)
{
	Works *list = arg;
	PmMonitorWork w = { .host = pm_xstrdup(r->host),
			    .pass_path = pm_xstrdup(r->pass_path),
			    .device = pm_xstrdup(r->device),
			    .stage = pm_xstrdup(r->stage),
			    .task_name = pm_xstrdup(r->task_name),
			    .pid = r->pid,
			    .parent = r->parent,
			    .task = r->task,
			    .done = r->done,
			    .total = r->total,
			    .began = r->began,
			    .heartbeat = r->heartbeat };

	(void)err;
	PM_VEC_PUSH(list, w);
	return PM_OK;
}

static int is_same(const PmMonitorWork *a, const PmMonitorWork *b)
{
	return a->pid == b->pid && a->began == b->began && !strcmp(a->host, b->host);
}

/* What was known of it before; a new stage counts anew. */
static void remember(PmMonitorWork *w, const PmMonitor *before, double now)
{
	w->seen = w->heard = now;
	w->done_then = w->done;
	for (size_t i = 0; i < before->work.n; i++) {
		const PmMonitorWork *old = &before->work.v[i];

		if (!is_same(w, old))
			continue;
		w->was_heard = old->was_heard || w->heartbeat != old->heartbeat;
		w->heard = w->heartbeat != old->heartbeat ? now : old->heard;
		if (!strcmp(w->stage, old->stage)) {
			w->seen = old->seen;
			w->done_then = old->done_then;
		}
	}
}

void pm_monitor_age(PmMonitor *b, double now, double wall)
{
	for (size_t i = 0; i < b->work.n; i++) {
		PmMonitorWork *w = &b->work.v[i];

		w->silent = fmax(0, w->was_heard ? now - w->heard : wall - w->heartbeat);
	}
}

int pm_monitor_is_silent(const PmMonitorWork *w)
{
	return w->silent >= PM_HEARTBEAT_SILENT;
}

size_t pm_monitor_n_running(const PmMonitor *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->work.n; i++)
		n += !b->work.v[i].parent && !pm_monitor_is_silent(&b->work.v[i]);
	return n;
}

double pm_monitor_left(const PmMonitorWork *w, double now)
{
	double came = (double)(w->done - w->done_then);

	if (pm_monitor_is_silent(w) || came < 1 || w->done >= w->total)
		return NAN;
	return (double)(w->total - w->done) * (now - w->seen) / came;
}

/* ---- reading ---- */

static PmStatus take_version(void *arg, size_t n, const char *const *names, const char *const *values,
			     PmErr *err)
{
	(void)names;
	(void)err;
	if (n && values[0])
		(void)pm_parse_i64(values[0], arg);
	return PM_OK;
}

static PmStatus read_rankings(PmMonitor *b, PmDb *db, double now, PmErr *err)
{
	enum { SHARE = 10 }; /* of a processor: one in so many seconds */
	int64_t version = 0;
	PmStatus st;

	if (b->is_read && now < b->next)
		return PM_OK;
	st = pm_db_query(db, "PRAGMA data_version", take_version, &version, err);
	if (st || (b->is_read && version == b->version))
		return st;
	st = pm_rankings_read(&b->rankings, db, err);
	if (st)
		return st;
	b->version = version;
	b->is_read = 1;
	b->next = now + SHARE * (pm_now() - now);
	return PM_OK;
}

PmStatus pm_monitor_read(PmMonitor *b, PmDb *db, double now, double wall, PmErr *err)
{
	Works fresh = { 0 };
	PmStatus st = pm_running_each(db, take_work, &fresh, err);

	if (!st)
		st = read_rankings(b, db, now, err);
	for (size_t i = 0; i < fresh.n && !st; i++)
		remember(&fresh.v[i], b, now);
	for (size_t i = 0; i < (st ? fresh.n : b->work.n); i++)
		work_release(st ? &fresh.v[i] : &b->work.v[i]);
	if (st) {
		PM_VEC_RELEASE(&fresh);
		return st;
	}
	PM_VEC_RELEASE(&b->work);
	memcpy(&b->work, &fresh, sizeof b->work);
	pm_monitor_age(b, now, wall);
	return PM_OK;
}

void pm_monitor_release(PmMonitor *b)
{
	for (size_t i = 0; i < b->work.n; i++)
		work_release(&b->work.v[i]);
	PM_VEC_RELEASE(&b->work);
	pm_rankings_release(&b->rankings);
}

/* ---- JSON ---- */

static cJSON *work_json(const PmMonitorWork *w)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "host", w->host);
	pm_json_add_i64(j, "pid", w->pid);
	pm_json_add_i64(j, "parent", w->parent);
	pm_json_add_i64(j, "task", w->task);
	cJSON_AddStringToObject(j, "task_name", w->task_name);
	cJSON_AddStringToObject(j, "pass", w->pass_path);
	cJSON_AddStringToObject(j, "device", w->device);
	cJSON_AddStringToObject(j, "stage", w->stage);
	pm_json_add_i64(j, "done", w->done);
	pm_json_add_i64(j, "total", w->total);
	cJSON_AddNumberToObject(j, "began", w->began);
	cJSON_AddNumberToObject(j, "heartbeat", w->heartbeat);
	cJSON_AddNumberToObject(j, "silent", w->silent);
	cJSON_AddStringToObject(j, "state", pm_monitor_is_silent(w) ? "silent" : "running");
	return j;
}

static void add_num(cJSON *j, const char *key, double v)
{
	if (isfinite(v))
		cJSON_AddNumberToObject(j, key, v);
	else
		cJSON_AddNullToObject(j, key);
}

static cJSON *ranked_json(const PmRanked *s, size_t place)
{
	cJSON *j = cJSON_CreateObject();

	pm_json_add_i64(j, "place", (int64_t)place);
	cJSON_AddStringToObject(j, "system", s->name);
	cJSON_AddStringToObject(j, "sha256", s->sha256);
	pm_json_add_i64(j, "results", (int64_t)s->n_results);
	pm_json_add_i64(j, "unfinished", (int64_t)s->n_unfinished);
	pm_json_add_i64(j, "right", (int64_t)s->fig.n_right);
	pm_json_add_i64(j, "applied", (int64_t)s->fig.n_matched);
	pm_json_add_i64(j, "faster", (int64_t)s->fig.n_faster);
	add_num(j, "speedup", s->fig.gmean.point);
	add_num(j, "as", s->fig.score.as);
	add_num(j, "as_strict", s->fig.strict.as);
	return j;
}

static cJSON *ranking_json(const PmRanking *g)
{
	cJSON *j = cJSON_CreateObject(), *list;
	PmStr seed = PM_STR_INIT;

	pm_str_addf(&seed, "%llu", (unsigned long long)g->seed);
	cJSON_AddStringToObject(j, "device", g->device);
	cJSON_AddStringToObject(j, "machine", g->machine);
	cJSON_AddStringToObject(j, "version", g->version);
	cJSON_AddStringToObject(j, "options", g->options);
	cJSON_AddStringToObject(j, "seed", seed.s);
	cJSON_AddStringToObject(j, "clock", pm_sys_clock_name(g->clock));
	pm_json_add_i64(j, "tasks", (int64_t)g->n_tasks);
	pm_json_add_i64(j, "variants", (int64_t)g->n_variants);
	list = cJSON_AddArrayToObject(j, "systems");
	for (size_t i = 0; i < g->list.n; i++)
		cJSON_AddItemToArray(list, ranked_json(&g->list.v[i], i + 1));
	pm_str_release(&seed);
	return j;
}

cJSON *pm_monitor_json(const PmMonitor *b)
{
	cJSON *j = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(j, "running");

	for (size_t i = 0; i < b->work.n; i++)
		cJSON_AddItemToArray(list, work_json(&b->work.v[i]));
	list = cJSON_AddArrayToObject(j, "rankings");
	for (size_t i = 0; i < b->rankings.list.n; i++)
		cJSON_AddItemToArray(list, ranking_json(&b->rankings.list.v[i]));
	return j;
}
