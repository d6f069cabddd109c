/* SPDX-License-Identifier: Apache-2.0 */
/* time_stages.h - where the time of passmith time goes: a stop-watch that is always in exactly one stage. */
#ifndef APP_TIME_STAGES_H
#define APP_TIME_STAGES_H

#include "base/core/json.h"
#include "base/core/str.h"

typedef enum PmTimeStage {
#define XX(name, key, what) PM_TIME_STAGE_##name,
#include "app/time/time_stages.def"
#undef XX
	PM_N_TIME_STAGES
} PmTimeStage;

typedef struct PmTimeStages {
	PmTimeStage at; /* the stage that runs */
	double since;   /* when it began or went on, on pm_now()'s clock */
	double seconds[PM_N_TIME_STAGES];
} PmTimeStages;

/* All at zero, in PM_TIME_STAGE_OTHER from now on. */
void pm_time_stages_begin(PmTimeStages *s);
/* Goes on in stage `next`; returns the one that ran. */
PmTimeStage pm_time_stage_enter(PmTimeStages *s, PmTimeStage next);
/* Of what has been counted for the stage that runs, or since it began, `seconds` were `of` instead. */
void pm_time_stage_move(PmTimeStages *s, PmTimeStage of, double seconds);
/* {"seconds": total, "stages": {key: seconds, ...}}, up to now; owned. */
cJSON *pm_time_stages_json(PmTimeStages *s);
/* Appends a table of seconds and share, the longest first, up to now. */
void pm_time_stages_table(PmTimeStages *s, PmStr *out);

#endif
