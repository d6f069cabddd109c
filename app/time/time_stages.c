/* SPDX-License-Identifier: Apache-2.0 */
/* time_stages.c - where the time of passmith time goes. */
#include "app/time/time_stages.h"

#include "base/sys/proc.h"
#include "bench/report/stages_report.h"

#include <string.h>

static const struct {
	const char *key, *what;
} stages[PM_N_TIME_STAGES] = {
#define XX(name, key, what) { key, what },
#include "app/time/time_stages.def"
#undef XX
};

void pm_time_stages_begin(PmTimeStages *s)
{
	memset(s, 0, sizeof *s);
	s->at = PM_TIME_STAGE_OTHER;
	s->since = pm_now();
}

PmTimeStage pm_time_stage_enter(PmTimeStages *s, PmTimeStage next)
{
	PmTimeStage was = s->at;
	double now = pm_now();

	s->seconds[was] += now - s->since;
	s->since = now;
	s->at = next;
	return was;
}

void pm_time_stage_move(PmTimeStages *s, PmTimeStage of, double seconds)
{
	s->seconds[s->at] -= seconds;
	s->seconds[of] += seconds;
}

static double total(PmTimeStages *s)
{
	double sum = 0;

	pm_time_stage_enter(s, s->at);
	for (int i = 0; i < PM_N_TIME_STAGES; i++)
		sum += s->seconds[i];
	return sum;
}

cJSON *pm_time_stages_json(PmTimeStages *s)
{
	cJSON *j = cJSON_CreateObject(), *of;

	cJSON_AddNumberToObject(j, "seconds", total(s));
	of = cJSON_AddObjectToObject(j, "stages");
	for (int i = 0; i < PM_N_TIME_STAGES; i++)
		cJSON_AddNumberToObject(of, stages[i].key, s->seconds[i]);
	return j;
}

void pm_time_stages_table(PmTimeStages *s, PmStr *out)
{
	PmStageLine line[PM_N_TIME_STAGES];
	double all = total(s);

	for (int i = 0; i < PM_N_TIME_STAGES; i++)
		line[i] = (PmStageLine){ stages[i].key, stages[i].what, s->seconds[i] };
	pm_str_addf(out, "time: %.3f s\n", all);
	pm_stage_lines(line, PM_N_TIME_STAGES, all, "stage", out);
}
