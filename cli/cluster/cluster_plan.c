/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_plan.c - passmith cluster plan: finds the tasks and makes the plan's folder. */
#include "cli/cluster/cluster.h"

#include "app/cluster/slurm.h"
#include "base/core/arena.h"
#include "bench/compare/bound/bound.h"
#include "dataset/store/tasks.h"

#include <stdio.h>
#include <string.h>

typedef struct Found {
	PM_VEC(int64_t) task;
} Found;

static PmStatus add_task(void *arg, const PmTaskRow *row, PmErr *err)
{
	Found *f = arg;

	(void)err;
	for (size_t i = 0; i < f->task.n; i++)
		if (f->task.v[i] == row->id) /* named twice */
			return PM_OK;
	PM_VEC_PUSH(&f->task, row->id);
	return PM_OK;
}

static PmStatus find_tasks(const PmClusterCmd *c, PmDb *db, Found *f, PmErr *err)
{
	PmStr name = PM_STR_INIT;
	PmStatus st = PM_OK;
	int64_t id;

	if (c->split)
		st = pm_tasks_of_split(db, c->split, add_task, f, err);
	for (const char *p = c->split ? "" : c->tasks; *p && !st; p += strcspn(p, ","), p += *p == ',') {
		pm_str_clear(&name);
		pm_str_addn(&name, p, strcspn(p, ","));
		st = pm_task_find(db, name.s, &id, err);
		if (!st)
			st = pm_task_get(db, id, add_task, f, err);
	}
	if (!st && !f->task.n)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "Database %s has none of these tasks; `passmith task list --db %s` shows what it "
			    "has.",
			    c->db, c->db);
	pm_str_release(&name);
	return st;
}

static void say_plan(const PmClusterPlan *p)
{
	double most = 0, sum = 0;
	cJSON *j;

	for (size_t i = 0; i < p->shard.n; i++) {
		sum += p->shard.v[i].seconds;
		most = p->shard.v[i].seconds > most ? p->shard.v[i].seconds : most;
	}
	if (!pm_cli_json) {
		printf("%s: %zu item%s (%zu pass%s on %zu task%s) in %zu shard%s; by the model %.3g s of one "
		       "processor, the longest shard %.3g s\n",
		       p->dir, p->item.n, pm_plural(p->item.n), p->pass.n, p->pass.n == 1 ? "" : "es",
		       p->task.n, pm_plural(p->task.n), p->shard.n, pm_plural(p->shard.n), sum, most);
		return;
	}
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "plan", p->dir);
	pm_json_add_i64(j, "tasks", (int64_t)p->task.n);
	pm_json_add_i64(j, "passes", (int64_t)p->pass.n);
	pm_json_add_i64(j, "items", (int64_t)p->item.n);
	pm_json_add_i64(j, "shards", (int64_t)p->shard.n);
	cJSON_AddNumberToObject(j, "modelled_seconds", sum);
	cJSON_AddNumberToObject(j, "modelled_seconds_of_longest_shard", most);
	pm_cli_put_json(j);
}

/* The scripts for Slurm: a plan always has them, since where it is worked on is not known yet. */
static PmSlurmOpts slurm_opts(const PmClusterCmd *c)
{
	PmSlurmOpts o = { .program = c->program,
			  .gres = c->gres                    ? c->gres
				  : strcmp(c->device, "emu") ? "gpu:1"
							     : NULL,
			  .constraint = c->constraint,
			  .site = c->sbatch,
			  .setup = c->setup,
			  .launch = c->launch,
			  .at_once = c->at_once };

	return o;
}

/* Before the folder is made: could there be scripts? */
static PmStatus try_slurm(const PmClusterCmd *c, PmErr *err)
{
	PmSlurmOpts o = slurm_opts(c);
	PmStr text = PM_STR_INIT;
	PmStatus st;

	o.name = "";
	o.dir = c->dir;
	o.program = c->program ? c->program : "";
	o.shards = 1;
	st = pm_slurm_element_script(&o, &text, err);
	pm_str_release(&text);
	return st;
}

static PmStatus make_slurm(const PmClusterCmd *c, const PmClusterPlan *plan, PmErr *err)
{
	PmSlurmOpts o = slurm_opts(c);

	o.shards = (int64_t)plan->shard.n;
	return pm_slurm_make(plan->dir, &o, err);
}

PmStatus pm_cluster_verb_plan(PmClusterCmd *c, PmErr *err)
{
	PmPrecisionTier tier = PM_TIER_STRICT;
	PmClusterOptions o = { .device = pm_unconst(c->device),
			       .profile = pm_unconst(c->profile),
			       .preset = pm_unconst(c->preset),
			       .precision = pm_unconst(c->precision),
			       .reference = pm_unconst(c->reference),
			       .seed = c->seed,
			       .hidden = c->hidden,
			       .deadline = c->deadline,
			       .lease = c->lease,
			       .graphs = c->graphs,
			       .confirm = c->confirm,
			       .weak = c->weak };
	PmClusterWanted w = { .dir = c->dir, .shards = c->shards, .opts = &o };
	PmClusterPlan plan = { 0 };
	Found found = { 0 };
	PmStatus st = PM_OK;

	(void)pm_tier_from_name(c->precision, &tier);
	o.tf32 = c->tf32 || tier > PM_TIER_STRICT; /* as in eval */
	st = try_slurm(c, err);
	for (size_t i = 0; i < c->passes.list.n && !st; i++)
		st = pm_cli_pass_is_there(c->passes.list.v[i], err);
	if (!st)
		st = pm_db_open(c->db, PM_DB_MUST_EXIST, &w.db, err);
	if (!st)
		st = find_tasks(c, w.db, &found, err);
	pm_cli_stage("working");
	w.tasks = found.task.v;
	w.n_tasks = found.task.n;
	w.passes = c->passes.list.v;
	w.n_passes = c->passes.list.n;
	if (!st)
		st = pm_cluster_plan_make(&w, &plan, err);
	if (!st)
		st = make_slurm(c, &plan, err);
	if (!st)
		say_plan(&plan);
	pm_cluster_plan_release(&plan);
	pm_db_close(w.db);
	PM_VEC_RELEASE(&found.task);
	return st;
}
