/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_slurm.h - what verbs of passmith cluster say of Slurm beside their own answer. */
#ifndef CLI_CLUSTER_SLURM_H
#define CLI_CLUSTER_SLURM_H

#include "app/cluster/slurm.h"
#include "base/core/json.h"
#include "cli/cluster/cluster.h"

/* Of a plan whose jobs were submitted: what waits, runs and ended badly. *out is NULL for a plan without
 * jobs, and owned by the caller otherwise. Slurm that does not answer is no error: "error" says it. */
PmStatus pm_cluster_slurm_status(const char *dir, cJSON **out, PmErr *err);
void pm_cluster_slurm_say(const cJSON *slurm);

/* For a plan whose jobs were submitted: submits elements for what is not done and not queued, and says so.
 * *out is what was done as JSON, owned by the caller; NULL for a plan that was never submitted. */
PmStatus pm_cluster_slurm_resume(PmClusterCmd *c, cJSON **out, PmErr *err);

#endif
