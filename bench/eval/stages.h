/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - where the time of an evaluation goes: a stop-watch that is always in exactly one stage.
 *
 * Times are exclusive: a stage that begins inside of another stops the outer one until it ends, so that the
 * sum over stages is the wall time from pm_stages_begin to pm_stages_end.
 */
#ifndef BENCH_STAGES_H
#define BENCH_STAGES_H

#include "bench/inputs/inputs.h"

typedef enum PmStage {
#define XX(name, key, what) PM_STAGE_##name,
#include "bench/eval/stages.def"
#undef XX
	PM_N_STAGES
} PmStage;

typedef struct PmStageTimes {
	double seconds[PM_N_STAGES];            /* wall time, exclusive */
	double class_seconds[PM_N_ALL_CLASSES]; /* of those: on each class of inputs, all stages together */
} PmStageTimes;

typedef struct PmStages {
	PmStage at;          /* the stage that runs */
	double since;        /* seconds of pm_now() at which it began or went on */
	PmStageTimes *times; /* borrowed */
} PmStages;

/* Key in JSON and tables ("replay_verify"), and what is done in the stage: one sentence part. Static. */
const char *pm_stage_key(PmStage s);
const char *pm_stage_what(PmStage s);

/* Sets *times to zero and starts the watch in PM_STAGE_OTHER. */
void pm_stages_begin(PmStages *s, PmStageTimes *times);
/* Goes on in stage `next`; returns the one that ran, for the way back. */
PmStage pm_stage_enter(PmStages *s, PmStage next);
/* The running stage gets its last part; `since` is the end of the whole. The watch must not be used again
 * before pm_stages_begin. */
void pm_stages_end(PmStages *s);

/* Seconds of all stages. */
double pm_stage_times_total(const PmStageTimes *t);
/* *sum += *t, stage by stage and class by class. */
void pm_stage_times_add(PmStageTimes *sum, const PmStageTimes *t);

#endif
