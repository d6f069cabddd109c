/* SPDX-License-Identifier: Apache-2.0 */
/* task_verdicts.h - what the gate says of structures, for tasks to train on.
 *
 * One graph stands for each structure, the one with the least hash: what the rules look for are properties of
 * structures. A verdict that is asked for is found together with those that will be asked for next, by
 * several processes; it depends on the graph and the seed alone.
 */
#ifndef APP_TASK_VERDICTS_H
#define APP_TASK_VERDICTS_H

#include "app/task/task_one.h"
#include "app/task/task_plan.h"

typedef struct PmVerdicts {
	const PmTaskPlan *p;
	const char *taken;   /* by part: makes no tasks to train on */
	size_t round, at;    /* set by the caller: the group of each list of operators that is tried, and the
				list at hand */
	PmTaskVerdict *v;    /* by structure; json NULL: not found yet */
	PmDb *own;           /* of a process that judges */
	PM_VEC(size_t) todo; /* structures being judged */
} PmVerdicts;

/* Borrows the plan and `taken`. */
void pm_verdicts_init(PmVerdicts *b, const PmTaskPlan *p, const char *taken);
void pm_verdicts_release(PmVerdicts *b);

/* The verdict on a structure (borrowed). The plan's options say how many processes may work. */
PmStatus pm_verdicts_get(PmVerdicts *b, size_t structure, const PmTaskVerdict **out, PmErr *err);

#endif
