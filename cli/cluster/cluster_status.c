/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_status.c - passmith cluster status, collect and resume: what of a plan is there, and what is not.
 */
#include "cli/cluster/cluster.h"

#include "app/cluster/collect.h"
#include "app/cluster/status.h"
#include "base/sys/io.h"
#include "cli/cluster/cluster_slurm.h"

#include <math.h>
#include <stdio.h>

enum { SHOWN = 20 }; /* items that people are shown of a list */

static const char *item_state(const PmItemState *s)
{
	return s->done ? "done" : pm_cluster_is_left(s) ? "left" : s->partial ? "begun" : "waiting";
}

static cJSON *item_json(const PmClusterPlan *p, const PmClusterStatus *s, size_t i)
{
	cJSON *j = cJSON_CreateObject();
	PmStr why = PM_STR_INIT;

	pm_json_add_i64(j, "item", (int64_t)i);
	cJSON_AddStringToObject(j, "task", p->task.v[p->item.v[i].task].name);
	cJSON_AddStringToObject(j, "pass", p->pass.v[p->item.v[i].pass].path);
	cJSON_AddStringToObject(j, "state", item_state(&s->item[i]));
	pm_json_add_i64(j, "tries", s->item[i].tries);
	if (s->item[i].tries)
		(void)pm_item_tries(p, i, NULL, &why);
	cJSON_AddStringToObject(j, "why", why.s);
	pm_str_release(&why);
	return j;
}

/* Items without a result; left_only: those alone that are not tried again. */
static void add_missing(cJSON *j, const char *name, const PmClusterPlan *p, const PmClusterStatus *s,
			int left_only)
{
	cJSON *list = cJSON_AddArrayToObject(j, name);

	for (size_t i = 0; i < p->item.n; i++)
		if (!s->item[i].done && (!left_only || pm_cluster_is_left(&s->item[i])))
			cJSON_AddItemToArray(list, item_json(p, s, i));
}

static void say_missing(const PmClusterPlan *p, const PmClusterStatus *s, int left_only)
{
	size_t n = 0;

	for (size_t i = 0; i < p->item.n; i++) {
		PmStr why = PM_STR_INIT;

		if (s->item[i].done || (left_only && !pm_cluster_is_left(&s->item[i])) || n++ >= SHOWN)
			continue;
		if (s->item[i].tries)
			(void)pm_item_tries(p, i, NULL, &why);
		printf("  item %zu (%s on %s) %s%s%s\n", i, pm_path_base(p->pass.v[p->item.v[i].pass].path),
		       p->task.v[p->item.v[i].task].name, item_state(&s->item[i]), *why.s ? ": " : "", why.s);
		pm_str_release(&why);
	}
	if (n > SHOWN)
		printf("  and %zu more (--json lists them)\n", n - SHOWN);
}

/* ---- status ---- */

static cJSON *worker_json(const PmClusterWorker *w)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "worker", w->name);
	cJSON_AddStringToObject(j, "host", w->says.host);
	pm_json_add_i64(j, "pid", w->says.pid);
	cJSON_AddStringToObject(j, "job", w->says.job);
	pm_json_add_i64(j, "element", w->says.element);
	pm_json_add_i64(j, "shard", (int64_t)w->shard);
	pm_json_add_i64(j, "item", w->says.item);
	pm_json_add_i64(j, "done", w->says.done);
	pm_json_add_i64(j, "variants", w->says.total);
	cJSON_AddNumberToObject(j, "heartbeat_age", w->age);
	cJSON_AddBoolToObject(j, "silent", w->silent);
	return j;
}

/* Takes `slurm`. */
static void put_status(const PmClusterPlan *p, const PmClusterStatus *s, cJSON *slurm)
{
	cJSON *j = cJSON_CreateObject(), *part, *list;

	part = cJSON_AddObjectToObject(j, "shards");
	pm_json_add_i64(part, "pending", (int64_t)s->pending);
	pm_json_add_i64(part, "running", (int64_t)s->running);
	pm_json_add_i64(part, "done", (int64_t)s->done);
	part = cJSON_AddObjectToObject(j, "items");
	pm_json_add_i64(part, "all", (int64_t)p->item.n);
	pm_json_add_i64(part, "done", (int64_t)s->items_done);
	pm_json_add_i64(part, "begun", (int64_t)s->items_begun);
	pm_json_add_i64(part, "left", (int64_t)s->items_failed);
	pm_json_add_num(j, "seconds_left", s->rest);
	list = cJSON_AddArrayToObject(j, "workers");
	for (size_t i = 0; i < s->worker.n; i++)
		cJSON_AddItemToArray(list, worker_json(&s->worker.v[i]));
	add_missing(j, "left", p, s, 1);
	cJSON_AddItemToObject(j, "slurm", slurm ? slurm : cJSON_CreateNull());
	pm_cli_put_json(j);
}

static void say_worker(const PmClusterWorker *w)
{
	printf("  %s: shard %zu", w->name, w->shard);
	if (w->says.item >= 0)
		printf(", item %lld, %lld of %lld variants", (long long)w->says.item, (long long)w->says.done,
		       (long long)w->says.total);
	if (*w->says.job)
		printf(", job %s", w->says.job);
	if (w->says.element >= 0)
		printf("_%lld", (long long)w->says.element);
	printf(", heard of %.0f s ago%s\n", w->age > 0 ? w->age : 0,
	       w->silent ? ": silent; cluster resume or any worker takes its shard" : "");
}

static void say_status(const PmClusterPlan *p, const PmClusterStatus *s)
{
	printf("shards: %zu pending, %zu running, %zu done\n", s->pending, s->running, s->done);
	printf("items:  %zu of %zu done, %zu begun, %zu left after %d tries\n", s->items_done, p->item.n,
	       s->items_begun, s->items_failed, PM_CLUSTER_TRIES);
	say_missing(p, s, 1);
	printf("workers: %zu, of which %zu %s silent\n", s->worker.n, s->worker.n - s->alive,
	       pm_is_or_are(s->worker.n - s->alive));
	for (size_t i = 0; i < s->worker.n; i++)
		say_worker(&s->worker.v[i]);
	if (isnan(s->rest))
		printf("left: nobody works on it, or no item is finished yet\n");
	else
		printf("left: about %.0f s with these workers\n", s->rest);
}

PmStatus pm_cluster_verb_status(PmClusterCmd *c, PmErr *err)
{
	PmClusterPlan plan = { 0 };
	PmClusterStatus s = { 0 };
	cJSON *slurm = NULL;
	PmStatus st = pm_cluster_plan_read(c->dir, &plan, err);

	if (!st)
		st = pm_cluster_status_read(&plan, &s, err);
	if (!st)
		st = pm_cluster_slurm_status(c->dir, &slurm, err);
	if (!st && pm_cli_json) {
		put_status(&plan, &s, slurm);
		slurm = NULL;
	} else if (!st) {
		say_status(&plan, &s);
		if (slurm)
			pm_cluster_slurm_say(slurm);
	}
	cJSON_Delete(slurm);
	pm_cluster_status_release(&s);
	pm_cluster_plan_release(&plan);
	return st;
}

/* ---- collect ---- */

static void say_collected(const PmClusterPlan *p, const PmClusterStatus *s, const PmClusterCollected *d)
{
	cJSON *j;

	if (!pm_cli_json) {
		printf("%s/collected.db: %zu item%s added, %zu %s there, %zu %s missing%s\n", p->dir,
		       d->added, pm_plural(d->added), d->had, d->had == 1 ? "was" : "were", d->missing,
		       pm_is_or_are(d->missing), d->missing ? ":" : "");
		say_missing(p, s, 0);
		return;
	}
	j = cJSON_CreateObject();
	pm_json_add_i64(j, "added", (int64_t)d->added);
	pm_json_add_i64(j, "had", (int64_t)d->had);
	pm_json_add_i64(j, "damaged", (int64_t)d->damaged);
	add_missing(j, "missing", p, s, 0);
	pm_cli_put_json(j);
}

PmStatus pm_cluster_verb_collect(PmClusterCmd *c, PmErr *err)
{
	PmClusterCollected did = { 0 };
	PmClusterPlan plan = { 0 };
	PmClusterStatus s = { 0 };
	PmStatus st = pm_cluster_plan_read(c->dir, &plan, err);

	pm_cli_stage("working");
	if (!st)
		st = pm_cluster_status_read(&plan, &s, err);
	if (!st)
		st = pm_cluster_collect(&plan, &did, err);
	if (!st || did.added)
		say_collected(&plan, &s, &did);
	c->no = did.missing > 0;
	pm_cluster_status_release(&s);
	pm_cluster_plan_release(&plan);
	return st;
}

/* ---- resume ---- */

PmStatus pm_cluster_verb_resume(PmClusterCmd *c, PmErr *err)
{
	PmClusterResumed did = { 0 };
	PmClusterPlan plan = { 0 };
	PmClusterStatus s = { 0 };
	cJSON *slurm = NULL;
	PmStatus st = pm_cluster_plan_read(c->dir, &plan, err);

	pm_cli_stage("working");
	if (!st)
		st = pm_cluster_resume(&plan, c->retry, &did, err);
	if (!st)
		st = pm_cluster_status_read(&plan, &s, err);
	if (!st)
		st = pm_cluster_slurm_resume(c, &slurm, err);
	if (!st && pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, "taken_back", (int64_t)did.taken_back);
		pm_json_add_i64(j, "reopened", (int64_t)did.reopened);
		pm_json_add_i64(j, "retried", (int64_t)did.retried);
		pm_json_add_i64(j, "settled", (int64_t)did.settled);
		pm_json_add_i64(j, "swept", (int64_t)did.swept);
		pm_json_add_i64(j, "pending", (int64_t)s.pending);
		add_missing(j, "left", &plan, &s, 1);
		cJSON_AddItemToObject(j, "slurm", slurm ? slurm : cJSON_CreateNull());
		slurm = NULL;
		pm_cli_put_json(j);
	} else if (!st) {
		printf("%zu shard%s taken back from workers that ended, %zu opened again, %zu %s pending; "
		       "%zu item%s %s left after %d tries%s\n",
		       did.taken_back, pm_plural(did.taken_back), did.reopened, s.pending,
		       pm_is_or_are(s.pending), s.items_failed, pm_plural(s.items_failed),
		       pm_is_or_are(s.items_failed), PM_CLUSTER_TRIES,
		       s.items_failed ? " (--retry tries them again):" : "");
		say_missing(&plan, &s, 1);
	}
	cJSON_Delete(slurm);
	pm_cluster_status_release(&s);
	pm_cluster_plan_release(&plan);
	return st;
}
