/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - making the folder of a plan: tasks, passes, items, shards. */
#include "app/cluster/plan.h"

#include "app/cluster/cost.h"
#include "app/cluster/folder.h"
#include "app/cluster/plan_priv.h"
#include "base/sys/io.h"
#include "dataset/store/tasks.h"
#include "ir/text/text.h"
#include "runtime/device/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHARDS = 1000, PASS_MAX = 1 << 28 };

static void release_options(PmClusterOptions *o)
{
	free(o->device);
	free(o->profile);
	free(o->preset);
	free(o->precision);
	free(o->reference);
	memset(o, 0, sizeof *o);
}

void pm_cluster_plan_release(PmClusterPlan *p)
{
	for (size_t i = 0; i < p->task.n; i++)
		free(p->task.v[i].name);
	for (size_t i = 0; i < p->pass.n; i++)
		free(p->pass.v[i].path);
	for (size_t i = 0; i < p->shard.n; i++)
		PM_VEC_RELEASE(&p->shard.v[i].item);
	PM_VEC_RELEASE(&p->task);
	PM_VEC_RELEASE(&p->pass);
	PM_VEC_RELEASE(&p->item);
	PM_VEC_RELEASE(&p->shard);
	release_options(&p->opts);
	pm_secret_free(p->secret);
	free(p->dir);
	memset(p, 0, sizeof *p);
}

PmSecret *pm_cluster_item_secret(const PmClusterPlan *p, size_t item)
{
	const PmClusterItem *it = &p->item.v[item];
	char subject[2 * PM_SHA256_HEX];

	snprintf(subject, sizeof subject, "%s %s", p->task.v[it->task].hash, p->pass.v[it->pass].sha256);
	return pm_secret_derive(p->secret, "cluster item", subject, 0);
}

/* ---- tasks ---- */

typedef struct Cost {
	double seconds;
	int timed;
} Cost;

static PmStatus add_cost(void *arg, const PmVariantRow *row, PmErr *err)
{
	Cost *c = arg;
	PmGraph *g = NULL;
	PmStatus st = pm_graph_parse(row->text, strlen(row->text), &g, err);

	if (st)
		return pm_err_ctx(err, "variant %lld of the task", (long long)row->ordinal);
	c->seconds += pm_cluster_cost(g, c->timed);
	pm_graph_free(g);
	return PM_OK;
}

static PmStatus add_task(void *arg, const PmTaskRow *row, PmErr *err)
{
	PmClusterPlan *p = arg;
	PmClusterTask t = { .name = pm_xstrdup(row->name), .n_variants = row->n_variants };

	(void)err;
	snprintf(t.hash, sizeof t.hash, "%s", row->hash);
	PM_VEC_PUSH(&p->task, t);
	return PM_OK;
}

/* The tasks that are wanted, each once, and what a pass takes on each. */
static PmStatus add_tasks(const PmClusterWanted *w, PmClusterPlan *p, double *seconds, PmErr *err)
{
	Cost c = { .timed = pm_device_kind(w->opts->device) == PM_DEVICE_CUDA };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < w->n_tasks && !st; i++) {
		c.seconds = 0;
		st = pm_task_get(w->db, w->tasks[i], add_task, p, err);
		if (!st)
			st = pm_task_variants_each(w->db, w->tasks[i], add_cost, &c, err);
		seconds[i] = c.seconds;
	}
	return st;
}

static PmStatus copy_tasks(const PmClusterWanted *w, PmClusterPlan *p, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmMap map;
	PmStatus st;

	pm_cluster_path(p->dir, NULL, "tasks.db", &path);
	st = pm_tasks_copy(w->db, w->tasks, w->n_tasks, path.s, err);
	if (!st)
		st = pm_map_file(path.s, &map, err);
	if (!st) {
		pm_sha256_hex(map.p, map.n, p->tasks_sha256);
		pm_unmap(&map);
		/* Who opens it to look is not to change it. */
		if (chmod(path.s, 0444))
			st = pm_path_error("write", path.s, 1, err);
	}
	pm_str_release(&path);
	return st;
}

/* ---- passes ---- */

static int has_pass(const PmClusterPlan *p, const char *sha256)
{
	for (size_t i = 0; i < p->pass.n; i++)
		if (!strcmp(p->pass.v[i].sha256, sha256))
			return 1;
	return 0;
}

static PmStatus add_pass(const char *path, PmClusterPlan *p, PmErr *err)
{
	PmStr bytes = PM_STR_INIT, to = PM_STR_INIT;
	char name[PM_SHA256_HEX + 8];
	PmClusterPass pass;
	PmStatus st = pm_read_file(path, PASS_MAX, &bytes, err);

	if (!st) {
		pm_sha256_hex(bytes.s, bytes.len, pass.sha256);
		snprintf(name, sizeof name, "%s.so", pass.sha256);
		pm_cluster_path(p->dir, "passes", name, &to);
	}
	if (!st && !has_pass(p, pass.sha256)) {
		st = pm_cluster_publish(to.s, bytes.s, bytes.len, 0755, err);
		if (!st) {
			pass.path = pm_xstrdup(path);
			PM_VEC_PUSH(&p->pass, pass);
		}
	}
	pm_str_release(&bytes);
	pm_str_release(&to);
	return st;
}

/* ---- shards ---- */

static void make_shards(PmClusterPlan *p, int64_t wanted)
{
	size_t n = p->item.n, n_shards = wanted ? (size_t)wanted : SHARDS;
	double *seconds = pm_xcalloc(n + 1, sizeof *seconds);
	size_t *shard = pm_xcalloc(n + 1, sizeof *shard);

	n_shards = n_shards < n ? n_shards : n;
	for (size_t i = 0; i < n; i++)
		seconds[i] = p->item.v[i].seconds;
	pm_cluster_deal(seconds, n, n_shards, shard);
	for (size_t i = 0; i < n_shards; i++)
		PM_VEC_PUSH(&p->shard, ((PmClusterShard){ 0 }));
	for (size_t i = 0; i < n; i++) {
		PM_VEC_PUSH(&p->shard.v[shard[i]].item, i);
		p->shard.v[shard[i]].seconds += seconds[i];
	}
	free(seconds);
	free(shard);
}

/* All passes on all tasks. */
static PmStatus add_items(const PmClusterWanted *w, const double *seconds, PmClusterPlan *p, PmErr *err)
{
	if (p->task.n * p->pass.n > PM_CLUSTER_MAX_ITEMS)
		return pm_err(
			err, PM_E_LIMIT,
			"%zu passes on %zu tasks are more than the %d items that a plan may have; make a "
			"plan for a part of the tasks.",
			p->pass.n, p->task.n, PM_CLUSTER_MAX_ITEMS);
	for (size_t t = 0; t < p->task.n; t++)
		for (size_t k = 0; k < p->pass.n; k++)
			PM_VEC_PUSH(&p->item, ((PmClusterItem){ t, k, seconds[t] }));
	make_shards(p, w->shards);
	return PM_OK;
}

static PmStatus make_claims(const PmClusterPlan *p, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	char name[24];
	PmStatus st = PM_OK;

	for (size_t i = 0; i < p->shard.n && !st; i++) {
		snprintf(name, sizeof name, "%zu", i);
		pm_str_clear(&path);
		pm_cluster_path(p->dir, "pending", name, &path);
		st = pm_write_file(path.s, "", 0, err);
	}
	pm_str_release(&path);
	return st;
}

/* ---- all of it ---- */

static void copy_options(const PmClusterOptions *o, PmClusterOptions *out)
{
	*out = *o;
	out->device = pm_xstrdup(o->device);
	out->profile = o->profile ? pm_xstrdup(o->profile) : NULL;
	out->preset = pm_xstrdup(o->preset);
	out->precision = pm_xstrdup(o->precision);
	out->reference = pm_xstrdup(o->reference);
}

static PmStatus make_folders(const char *dir, PmErr *err)
{
	static const char *const folders[] = { "passes",  "pending", "running", "done",
					       "workers", "partial", "results", "tries" };
	PmStr path = PM_STR_INIT;
	PmNames names = { 0 };
	PmStatus st = pm_mkdirs(dir, err);

	if (!st)
		st = pm_list_dir(dir, &names, err);
	if (!st && names.n)
		st = pm_err(err, PM_E_CONFLICT,
			    "The folder %s is not empty; name another one with -o, or remove it.", dir);
	pm_names_release(&names);
	for (size_t i = 0; i < sizeof folders / sizeof *folders && !st; i++) {
		pm_str_clear(&path);
		pm_cluster_path(dir, NULL, folders[i], &path);
		st = pm_mkdirs(path.s, err);
	}
	pm_str_release(&path);
	return st;
}

PmStatus pm_cluster_plan_make(const PmClusterWanted *w, PmClusterPlan *out, PmErr *err)
{
	double *seconds = pm_xcalloc(w->n_tasks + 1, sizeof *seconds);
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->dir = pm_xstrdup(w->dir);
	out->secret = pm_secret_draw();
	copy_options(w->opts, &out->opts);
	st = add_tasks(w, out, seconds, err);
	if (!st)
		st = make_folders(w->dir, err);
	for (size_t i = 0; i < w->n_passes && !st; i++)
		st = add_pass(w->passes[i], out, err);
	if (!st)
		st = add_items(w, seconds, out, err);
	if (!st)
		st = copy_tasks(w, out, err);
	if (!st)
		st = make_claims(out, err);
	if (!st)
		st = pm__cluster_plan_write(out, err);
	free(seconds);
	return st;
}
