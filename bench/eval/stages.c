/* SPDX-License-Identifier: Apache-2.0 */
/* stages.c - where the time of an evaluation goes. */
#include "bench/eval/stages.h"

#include "base/sys/proc.h"

#include <string.h>

static const struct {
	const char *key, *what;
} stages[PM_N_STAGES] = {
#define XX(name, key, what) { key, what },
#include "bench/eval/stages.def"
#undef XX
};

const char *pm_stage_key(PmStage s)
{
	return stages[s].key;
}

const char *pm_stage_what(PmStage s)
{
	return stages[s].what;
}

void pm_stages_begin(PmStages *s, PmStageTimes *times)
{
	memset(times, 0, sizeof *times);
	*s = (PmStages){ .at = PM_STAGE_OTHER, .since = pm_now(), .times = times };
}

PmStage pm_stage_enter(PmStages *s, PmStage next)
{
	PmStage was = s->at;
	double now = pm_now();

	s->times->seconds[was] += now - s->since;
	s->since = now;
	s->at = next;
	return was;
}

void pm_stages_end(PmStages *s)
{
	pm_stage_enter(s, PM_STAGE_OTHER);
}

double pm_stage_times_total(const PmStageTimes *t)
{
	double sum = 0;

	for (int i = 0; i < PM_N_STAGES; i++)
		sum += t->seconds[i];
	return sum;
}

void pm_stage_times_add(PmStageTimes *sum, const PmStageTimes *t)
{
	for (int i = 0; i < PM_N_STAGES; i++)
		sum->seconds[i] += t->seconds[i];
	for (int c = 0; c < PM_N_ALL_CLASSES; c++)
		sum->class_seconds[c] += t->class_seconds[c];
}
