/* SPDX-License-Identifier: Apache-2.0 */
/* task_build.h - a benchmark of all fusible subgraphs of a database: tasks to evaluate on and to train on. */
#ifndef APP_TASK_BUILD_H
#define APP_TASK_BUILD_H

#include "app/task/task_plan.h"
#include "app/watch/watch.h"

/* A rule that groups were rejected by in this run (PmTaskMade.rule). */
typedef struct PmTaskReason {
	char rule[32];
	size_t n; /* groups */
} PmTaskReason;

/* What there is now, of this run and of earlier ones; pairs are of eval and train. */
typedef struct PmTaskBuilt {
	size_t subgraphs, op_sequences, components, groups; /* of the plan */
	size_t edges, edges_covered;                        /* pairs of operators; those of eval tasks */
	size_t held_out;                                    /* subgraphs in the components of eval tasks */
	size_t leaks;                /* pairs of tasks, as pm_leakage_check finds them */
	int64_t n[2], variants[2];   /* tasks and their variants */
	int64_t rejected, before;    /* groups; groups decided by an earlier run */
	int64_t shapes_dropped;      /* in this run */
	int64_t whole[2], proxy[2];  /* variants that the reference ran */
	PM_VEC(PmTaskReason) reason; /* in the order in which they came first */
	int short_of_tasks;          /* there are fewer than were asked for */
} PmTaskBuilt;

/* Builds it, or goes on with one that was interrupted. PM_E_CONFLICT when the database holds one that was
 * built of other graphs or with other options (unless o->rebuild), PM_E_NOT_FOUND when it has no fusible
 * subgraph. `watch` (may be NULL) hears of "tasks to evaluate on" and of "tasks to train on". Release *out in
 * every case. */
PmStatus pm_task_build(const PmTaskBuildOpts *o, const PmWatch *watch, PmTaskBuilt *out, PmErr *err);
void pm_task_built_release(PmTaskBuilt *b);

#endif
