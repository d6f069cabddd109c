/* SPDX-License-Identifier: Apache-2.0 */
/* task_make.h - one task for each subgraph of a database that covers most, or that is named. */
#ifndef APP_TASK_MAKE_H
#define APP_TASK_MAKE_H

#include "base/core/str.h"
#include "base/core/vec.h"
#include "dataset/store/db.h"
#include "extract/variants/variants.h"

typedef struct PmTaskMakeOpts {
	PmDb *db; /* borrowed, as all here */
	/* These subgraphs, by their hashes or prefixes of them; or with none: */
	const char *const *hashes;
	size_t n_hashes;
	int64_t top;          /* so many of those that have most nodes in all models, */
	int even;             /* as many for each operator that dominates, of the classical kind too, */
	const char *for_pass; /* to which this pass applies; NULL = all, */
	int64_t max_mflop;    /* of at most so many megaflops; 0 = all */
	/* Of the tasks: */
	const char *name;             /* of a single one; NULL = pm_task_default_name (app/task/task_one.h) */
	int64_t shapes, max_elements; /* as PmVariantOpts has them */
} PmTaskMakeOpts;

typedef struct PmTaskChosen {
	PM_VEC(int64_t) id; /* of stored subgraphs, in the order in which tasks are made */
} PmTaskChosen;

/* PM_E_NOT_FOUND when nothing qualifies or a hash is of none. *out begins as zeros; release it in every case.
 */
PmStatus pm_task_choose(const PmTaskMakeOpts *o, PmTaskChosen *out, PmErr *err);
void pm_task_chosen_release(PmTaskChosen *c);

typedef struct PmTaskNew {
	int64_t id;
	int is_new; /* 0: the same variants were there, under the name that is here */
	PmStr name; /* release it in every case */
	PmVariantReport variants;
} PmTaskNew;

/* Makes the task of one stored subgraph: its shapes and types. */
PmStatus pm_task_make(const PmTaskMakeOpts *o, int64_t subgraph, PmTaskNew *out, PmErr *err);

#endif
