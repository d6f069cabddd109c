/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c - all samples of an experiment, by several processes. */
#include "app/agent/agent.h"

#include "app/agent/best.h"
#include "app/agent/experiment.h"
#include "app/agent/sample.h"
#include "app/agent/tally.h"
#include "app/chat/http.h"
#include "base/sys/pool.h"

#include <stdio.h>

typedef struct Work {
	const PmAgentOpts *o;
	PmExperiment x;
	PmBudget *budget;
} Work;

/* Sample 0 of each task first, then sample 1: what there is early is of all tasks. */
static const PmExperimentTask *task_of(const Work *w, size_t item, int *number)
{
	*number = (int)(item / w->x.n_tasks);
	return &w->x.task[item % w->x.n_tasks];
}

static PmStatus work(void *arg, size_t item, void *result, PmErr *err)
{
	Work *w = arg;
	PmSampleSetup setup = { .opts = w->o, .budget = w->budget, .experiment = w->x.name };
	const PmExperimentTask *t = task_of(w, item, &setup.number);

	setup.task = t->hash;
	setup.name = t->name;
	setup.task_id = t->id;
	return pm_sample_run(&setup, result, err);
}

static PmStatus done(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Work *w = arg;
	int number;
	const PmExperimentTask *t = task_of(w, item, &number);
	char text[256];

	(void)err;
	(void)result;
	snprintf(text, sizeof text, "%.200s, sample %d", t->name, number);
	pm_watch_step(w->o->watch, text);
	if (end == PM_POOL_DIED) {
		snprintf(text, sizeof text, "The process of %.150s, sample %d, died; run again to go on.",
			 t->name, number);
		pm_watch_complain(w->o->watch, text);
	}
	return PM_OK;
}

/* What earlier runs have used. */
static PmStatus count_used(Work *w, size_t n, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n && !st; i++) {
		PmStr path = PM_STR_INIT;
		PmTally t;
		int number;
		const PmExperimentTask *task = task_of(w, i, &number);

		pm_sample_journal(w->o->out, task->hash, number, &path);
		st = pm_tally_read(path.s, NULL, NULL, &t, err);
		if (!st)
			pm_budget_use(w->budget, t.tokens_in + t.tokens_out, t.money);
		pm_str_release(&path);
	}
	return st;
}

PmStatus pm_agent_run(const PmAgentOpts *o, PmErr *err)
{
	Work w = { .o = o };
	PmPool pool = {
		.result_size = sizeof(int), .jobs = o->parallel, .work = work, .done = done, .arg = &w
	};
	PmStatus st = pm_http_there(err) ? PM_OK : PM_E_ENV;

	st = st ? st : pm_experiment_open(o, &w.x, err);
	if (st)
		return st;
	pool.n_items = w.x.n_tasks * (size_t)o->samples;
	st = pm_budget_new(o->budget_tokens, o->budget_usd, &w.budget, err);
	st = st ? st : count_used(&w, pool.n_items, err);
	pm_watch_begin(o->watch, "sampling", (int64_t)pool.n_items);
	st = st ? st : pm_pool_run(&pool, err);
	pm_watch_end(o->watch);
	if (!st && o->mode == PM_AGENT_BEST_OF)
		st = pm_best_submit(o, &w.x, err);
	pm_budget_free(w.budget);
	pm_experiment_close(&w.x);
	return st;
}
