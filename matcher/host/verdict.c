/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c - names and meanings of verdicts. */
#include "matcher/host/verdict.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name, *meaning, *advice;
	PmVerdictScore score;
	PmVerdictStage stage;
} verdicts[] = {
#define XX(name, score, stage, meaning, advice)                                                              \
	{ #name, meaning, advice, PM_VERDICT_SCORE_##score, PM_VERDICT_STAGE_##stage },
#include "matcher/host/verdicts.def"
#undef XX
};

/* The words of bench/score/score.h; a broken rule has its own name. */
static const char *const statuses[] = {
	[PM_VERDICT_SCORE_CORRECT] = "correct",
	[PM_VERDICT_SCORE_NO_MATCH] = "no_match",
	[PM_VERDICT_SCORE_COMPILE_FAIL] = "compile_fail",
	[PM_VERDICT_SCORE_CRASH] = "crash",
	[PM_VERDICT_SCORE_TIMEOUT] = "timeout",
	[PM_VERDICT_SCORE_RUNTIME_FAIL] = "runtime_fail",
	[PM_VERDICT_SCORE_BROKEN] = NULL,
};

const char *pm_verdict_name(PmVerdict v)
{
	return (unsigned)v < PM_N_VERDICTS ? verdicts[v].name : "UNKNOWN";
}

const char *pm_verdict_meaning(PmVerdict v)
{
	return (unsigned)v < PM_N_VERDICTS ? verdicts[v].meaning : "not a verdict";
}

const char *pm_verdict_advice(PmVerdict v)
{
	return (unsigned)v < PM_N_VERDICTS ? verdicts[v].advice : "there is no such verdict";
}

PmVerdict pm_verdict_from_name(const char *name)
{
	for (int v = 0; v < PM_N_VERDICTS; v++)
		if (!strcmp(verdicts[v].name, name))
			return (PmVerdict)v;
	return PM_N_VERDICTS;
}

const char *pm_verdict_score_status(PmVerdict v)
{
	const char *status = (unsigned)v < PM_N_VERDICTS ? statuses[verdicts[v].score] : NULL;

	return status ? status : pm_verdict_name(v);
}

PmVerdictStage pm_verdict_stage(PmVerdict v)
{
	return (unsigned)v < PM_N_VERDICTS ? verdicts[v].stage : PM_VERDICT_STAGE_REACHED;
}

int pm_verdict_may_be_drawn(PmVerdict v)
{
	PmVerdictStage stage = pm_verdict_stage(v);

	return v != PM_VERDICT_OK && (stage == PM_VERDICT_STAGE_RUNNING || stage == PM_VERDICT_STAGE_SPEED);
}
