/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h - the verbs of passmith cluster: what they share, and where each is. */
#ifndef CLI_CLUSTER_H
#define CLI_CLUSTER_H

#include "app/cluster/plan.h"
#include "base/core/str.h"
#include "cli/cmds.h"

typedef struct PmClusterCmd {
	const char *dir; /* the plan's folder */
	/* plan */
	const char *db, *tasks, *split, *device, *profile, *preset, *precision, *reference;
	PmStrList passes;
	int64_t shards, seed, hidden;
	double deadline, lease;
	int tf32, graphs, confirm, weak;
	/* work */
	int64_t shard, jobs;
	int once;
	int retry; /* resume */
	/* plan: for Slurm (app/cluster/slurm_text.h) */
	const char *gres, *constraint, *sbatch, *setup, *launch, *program;
	int64_t at_once;
	int no; /* the answer is no: exit code 1 */
} PmClusterCmd;

typedef PmStatus (*PmClusterVerb)(PmClusterCmd *c, PmErr *err);
PmStatus pm_cluster_verb_plan(PmClusterCmd *c, PmErr *err);    /* cluster_plan.c */
PmStatus pm_cluster_verb_work(PmClusterCmd *c, PmErr *err);    /* cluster_work.c */
PmStatus pm_cluster_verb_status(PmClusterCmd *c, PmErr *err);  /* cluster_status.c */
PmStatus pm_cluster_verb_collect(PmClusterCmd *c, PmErr *err); /* cluster_status.c */
PmStatus pm_cluster_verb_resume(PmClusterCmd *c, PmErr *err);  /* cluster_status.c */
PmStatus pm_cluster_verb_submit(PmClusterCmd *c, PmErr *err);  /* cluster_slurm.c */
PmStatus pm_cluster_verb_cancel(PmClusterCmd *c, PmErr *err);  /* cluster_slurm.c */

#endif
