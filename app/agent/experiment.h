/* SPDX-License-Identifier: Apache-2.0 */
/* experiment.h - the folder of an experiment: what is asked, and who works in it. */
#ifndef AGENT_EXPERIMENT_H
#define AGENT_EXPERIMENT_H

#include "app/agent/opts.h"
#include "base/core/json.h"

typedef struct PmExperimentTask {
	int64_t id;
	char *hash, *name;
} PmExperimentTask;

typedef struct PmExperiment {
	cJSON *json; /* experiment.json */
	const char *name;
	PmExperimentTask *task;
	size_t n_tasks;
	int lock;
} PmExperiment;

/* Makes the folder with its experiment.json, or reads it; PM_E_CONFLICT when it asks something else than
 * opts. Waits a few seconds for another process that works in it, then PM_E_CONFLICT. */
PmStatus pm_experiment_open(const PmAgentOpts *opts, PmExperiment *out, PmErr *err);
void pm_experiment_close(PmExperiment *x);

/* experiment.json alone, for reports. Owned by *out. */
PmStatus pm_experiment_read(const char *folder, cJSON **out, PmErr *err);

#endif
