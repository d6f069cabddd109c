/* SPDX-License-Identifier: Apache-2.0 */
/* slurm.h - a plan as an array of jobs of Slurm: submitted, looked at, cancelled.
 *
 * Below the plan's folder:
 *   slurm/element.sh, slurm/collect.sh   what Slurm runs; people may edit them before they submit
 *   slurm/jobs.json                      the name that all jobs of this plan have, and those that were
 * submitted slurm/submitting                     is there while a process submits, so that no other one does
 *
 * All is asked of sbatch, squeue, scancel, scontrol and sacct, which are found on PATH. PM_E_ENV when one is
 * missing or its controller refuses: the sentence has what it said.
 */
#ifndef APP_CLUSTER_SLURM_H
#define APP_CLUSTER_SLURM_H

#include "app/cluster/slurm_text.h"

typedef struct PmSlurmJob {
	int64_t id;
	int64_t first; /* the shard of element 0 */
	int collects;  /* it is the one that collects */
} PmSlurmJob;

typedef struct PmSlurm {
	char *dir;       /* as given; owned */
	char name[32];   /* of the jobs */
	int64_t at_once; /* elements that run at once; 0 = any number */
	PM_VEC(PmSlurmJob) job;
} PmSlurm;

/* Makes the scripts and jobs.json in the folder of a plan. o->name, o->dir and o->program are filled in here.
 */
PmStatus pm_slurm_make(const char *dir, const PmSlurmOpts *o, PmErr *err);

/* Reads jobs.json. PM_E_NOT_FOUND when the plan has none; PM_E_INVALID when it is damaged. Release *out also
 * after a failure. */
PmStatus pm_slurm_open(const char *dir, PmSlurm *out, PmErr *err);
/* The same of its text; `path` names it in sentences. */
PmStatus pm_slurm_read(const char *path, const char *text, size_t n, PmSlurm *out, PmErr *err);
void pm_slurm_release(PmSlurm *s);

/* The noted job with this number; NULL = none. */
const PmSlurmJob *pm_slurm_job(const PmSlurm *s, int64_t id);
/* The shard of an element; -1 when it is none, or of a job that is not noted. */
int64_t pm_slurm_shard(const PmSlurm *s, const PmSlurmElement *e);

/* Appends jobs and elements of this plan that wait or run. */
PmStatus pm_slurm_queue(const PmSlurm *s, PmSlurmElements *out, PmErr *err);
/* Appends how the last run of each noted job or element ended or stands, as far as the cluster has
 * accounting; *known is 0 where it has none, or sacct is not there. */
PmStatus pm_slurm_ended(const PmSlurm *s, PmSlurmElements *out, int *known, PmErr *err);

typedef struct PmSlurmSubmitted {
	size_t queued;   /* elements that were queued already */
	size_t elements; /* that were submitted */
	size_t arrays;   /* in so many arrays */
	int64_t collect; /* the job that collects afterwards; 0 = none was submitted */
} PmSlurmSubmitted;

/* Submits arrays for those of n shards (rising) that no queued element has, and a job that collects after all
 * of them. beside: also while elements of the plan are queued; else nothing is done then. What was submitted
 * is noted also after a failure. */
PmStatus pm_slurm_submit(PmSlurm *s, const int64_t *shards, size_t n, int beside, PmSlurmSubmitted *out,
			 PmErr *err);
/* Cancels the jobs of this plan, and no others: *n is how many elements and jobs waited or ran. */
PmStatus pm_slurm_cancel(const PmSlurm *s, size_t *n, PmErr *err);

#endif
