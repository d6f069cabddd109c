/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - one worker: takes shards of a plan, and evaluates their items, until none is left. */
#ifndef APP_CLUSTER_WORK_H
#define APP_CLUSTER_WORK_H

#include "app/cluster/plan.h"
#include "bench/eval/runner.h"

#include <signal.h>

typedef struct PmClusterWork {
	const PmClusterPlan *plan;
	/* How items are evaluated, as pm_cluster_eval_opts says, with what is known of the device; no secret.
	 */
	PmEvalOpts opts;
	int64_t shard; /* this one alone; -1 = any */
	int once;      /* one shard, and no more */
	int jobs;      /* processes that evaluate an item at once */
	/* Not 0 once a signal has asked to stop. What is finished is published by then. */
	volatile sig_atomic_t *stop;
	/* One sentence about what goes on; may be NULL. */
	void (*said)(void *arg, const char *text);
	void *arg;
} PmClusterWork;

typedef struct PmClusterWorked {
	int64_t shards, items, variants; /* that this worker brought to an end; variants: that it evaluated */
	int64_t failed;                  /* items of its shards that came to nothing three times */
	int stopped;                     /* by a signal, before the end */
	int64_t lost;                    /* shards that another worker took, since this one had been silent */
} PmClusterWorked;

/* The options of an evaluation as the plan has them. `o` borrows from the plan. */
void pm_cluster_eval_opts(const PmClusterPlan *p, PmEvalOpts *o);

/* PM_OK when nothing was left to take. An error is of this machine or of the plan's folder; the shard at hand
 * is pending again. *out says what was done, also after an error. */
PmStatus pm_cluster_work(const PmClusterWork *w, PmClusterWorked *out, PmErr *err);

#endif
