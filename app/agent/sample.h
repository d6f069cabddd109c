/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - one attempt of a model at one task, from its journal on to its end. */
#ifndef AGENT_SAMPLE_H
#define AGENT_SAMPLE_H

#include "app/agent/budget.h"
#include "app/agent/opts.h"
#include "base/core/str.h"

typedef struct PmSampleSetup {
	const PmAgentOpts *opts;
	PmBudget *budget;
	const char *experiment; /* its name in trajectories */
	const char *task, *name;
	int64_t task_id;
	int number; /* of the sample, from 0 */
} PmSampleSetup;

/* Appends the path of a sample's journal, and of its workspace. */
void pm_sample_journal(const char *folder, const char *task, int number, PmStr *out);
void pm_sample_workspace(const char *folder, const char *task, int number, PmStr *out);

/* Goes on with a sample to its end, or until the budget is spent (*ended = 0). Errors as pm_agent_run. */
PmStatus pm_sample_run(const PmSampleSetup *setup, int *ended, PmErr *err);

#endif
