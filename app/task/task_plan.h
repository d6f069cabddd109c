/* SPDX-License-Identifier: Apache-2.0 */
/* task_plan.h - what a benchmark is built of: graphs, their groups, components and lists of operators. */
#ifndef APP_TASK_PLAN_H
#define APP_TASK_PLAN_H

#include "base/core/hash.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "dataset/select/group.h"
#include "dataset/select/split.h"

/* What a benchmark is built of, and how. */
typedef struct PmTaskBuildOpts {
	PmDb *db;                     /* borrowed: whose fusible subgraphs, and where the tasks are stored */
	int64_t n_eval, ratio;        /* tasks to evaluate on; to train on for each of them */
	int64_t stride;               /* every n-th graph of a bucket is a group of its own */
	int64_t shapes, max_elements; /* of each task; of one value, 0 = as PmVariantOpts has it */
	int64_t seed, honest;         /* of variants and inputs; runs of plain kernels, of eval tasks */
	int64_t jobs;                 /* processes that judge structures; 0 = all processors */
	int rebuild;                  /* remove the tasks of an earlier build first */
} PmTaskBuildOpts;

/* All groups with one list of operators. */
typedef struct PmTaskSeq {
	size_t first_group, n_groups, part;
} PmTaskSeq;

typedef struct PmTaskPlan {
	const PmTaskBuildOpts *o;
	PmIntern *texts;
	PM_VEC(PmSample) sample;
	PM_VEC(int64_t) id;         /* by sample */
	PM_VEC(PmSplitItem) item;   /* by sample */
	PM_VEC(PmColors) colors;    /* by structure */
	PM_VEC(uint32_t) structure; /* interned text to number + 1 */
	PM_VEC(size_t) least;       /* by structure: the sample with the least hash */
	size_t *part, n_parts;      /* by sample: its component */
	PmGroups groups;
	PM_VEC(PmTaskSeq) seq;
	PM_VEC(unsigned) ops; /* of all sequences, as pm_select takes them */
	PM_VEC(size_t) start;
	unsigned n_ops;
	char hash[PM_SHA256_HEX]; /* of graphs and options: what decides the outcome */
} PmTaskPlan;

/* Plans for the fusible subgraphs of o->db with the options of o, which must outlive the plan. PM_E_NOT_FOUND
 * when there are none. Release in every case. */
PmStatus pm_task_plan(PmTaskPlan *p, const PmTaskBuildOpts *o, PmErr *err);
void pm_task_plan_release(PmTaskPlan *p);

#endif
