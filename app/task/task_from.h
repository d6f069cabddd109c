/* SPDX-License-Identifier: Apache-2.0 */
/* task_from.h - one task of a whole model, its own shapes and others; or of several models, as they are. */
#ifndef APP_TASK_FROM_H
#define APP_TASK_FROM_H

#include "base/core/str.h"
#include "dataset/store/db.h"
#include "extract/variants/shrink.h"
#include "extract/variants/variants.h"

typedef struct PmTaskTag {
	const char *key, *value; /* borrowed */
} PmTaskTag;

typedef struct PmTaskFromOpts {
	const char *name;     /* of the task, borrowed */
	const char *path;     /* of the model, or the name of a group: what it says becomes tags; borrowed */
	int64_t shapes;       /* in all; 0 = 5 */
	int64_t max_elements; /* of a value: sizes are cut to it; 0 = they stay, and shapes beside them
			       * have as many as the model, or 4194304 */
	int64_t max_mflop;    /* megaflops of a variant: sizes are cut to it; 0 = any */
	int64_t seed;
	const PmTaskTag *tag; /* set after those that the file name gives */
	size_t n_tags;
} PmTaskFromOpts;

typedef struct PmTaskFrom {
	int64_t id;
	int is_new; /* 0: a task of the same variants was there */
	PmShrinkReport cut;
	PmVariantReport variants;
	size_t laws;    /* inputs that are drawn from the model's statistics */
	size_t dropped; /* shapes that take more than max_mflop */
} PmTaskFrom;

/* Stores the task of a model. The first shape is the model's own, cut where that is asked for; the element
 * types stay. A model without symbols, not cut, keeps its text. Tags `suite` and `level` follow from file
 * names like level2__9_name, mkb_reduce__name and passbench__name, and `cut` is set where sizes were cut.
 * Tasks that were there get the tags too. The statistics of the model's inputs become laws of the task's
 * (pm_laws_from_stats). Errors of pm_shrink and pm_variants_make. */
PmStatus pm_task_from(PmDb *db, const PmGraph *g, const PmTaskFromOpts *o, PmTaskFrom *out, PmErr *err);

/* What a task of several models has become. */
typedef struct PmTaskGroupMade {
	int64_t id;
	int is_new; /* 0: a task of the same variants was there */
	size_t graphs, equal, shapes,
		op_lists;       /* variants; graphs left out because they equal one; different
				 * shapes of all inputs, and lists of operators, of the variants */
	size_t laws, cut, over; /* inputs with a law; graphs that were cut, that are over a limit */
} PmTaskGroupMade;

/* One task of several models. Its variants are the graphs that are added, with their own shapes and element
 * types, cut where the options ask for it; `shapes` of the options is not looked at. Graphs may differ in
 * their operators: each is judged by itself. Of the same tags as pm_task_from, and `partial` where fewer
 * graphs were added than `listed`. The options have to outlive it. */
typedef struct PmTaskGroup PmTaskGroup;
PmTaskGroup *pm_task_group_begin(const PmTaskFromOpts *o);
PmStatus pm_task_group_add(PmTaskGroup *t, const PmGraph *g, PmErr *err);
/* Stores it; pm_task_group_drop frees it, stored or not (NULL is fine). */
PmStatus pm_task_group_end(PmTaskGroup *t, PmDb *db, int64_t listed, PmTaskGroupMade *out, PmErr *err);
void pm_task_group_drop(PmTaskGroup *t);

/* The name of a task: the file's, without folder and ending. Appended. */
void pm_task_from_name(const char *path, PmStr *out);

#endif
