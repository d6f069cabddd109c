/* SPDX-License-Identifier: Apache-2.0 */
/* lift.h - what a tool's answer says of an evaluation: task, verdict, score, report. */
#ifndef TRAJECTORY_LIFT_H
#define TRAJECTORY_LIFT_H

#include "base/core/json.h"
#include "base/core/vec.h"

/* The tasks of the handles that calls gave ("r3"): get_run names a handle only. */
typedef struct PmRunTask {
	char *handle, *task;
} PmRunTask;
typedef struct PmRuns {
	PM_VEC(PmRunTask) list;
} PmRuns;
/* Frees all; empty afterwards. */
void pm_runs_release(PmRuns *r);
/* Notes which task the handle of an answer is of, when it has one and the task is not "". */
void pm_runs_note(PmRuns *r, const cJSON *answer, const char *task);

/* Borrowed from arguments, answer and runs; "" and NaN for what they do not say. */
typedef struct PmLifted {
	const char *task;    /* as it was named */
	const char *verdict; /* of an evaluation that is over */
	const char *report;  /* SHA-256 of its report */
	double score;        /* AS of the whole task */
} PmLifted;
/* What a call says (app/tools/tools.h). */
PmLifted pm_lift(const PmRuns *runs, const char *tool, const cJSON *args, const cJSON *answer, int is_error);

#endif
