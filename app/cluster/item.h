/* SPDX-License-Identifier: Apache-2.0 */
/* item.h - one item evaluated: from what is known of it to its result. */
#ifndef APP_CLUSTER_ITEM_H
#define APP_CLUSTER_ITEM_H

#include "app/cluster/plan.h"
#include "bench/eval/runner.h"

#include <stdatomic.h>

/* How far an evaluation is, in memory that its process and the worker share. */
typedef struct PmItemProgress {
	atomic_int done, total; /* variants */
	atomic_int evaluated;   /* of those that are done, and beyond: by this try, and not by one before */
} PmItemProgress;

typedef struct PmItemWork {
	const PmClusterPlan *plan;
	size_t item;
	const char *worker;
	const char *local;      /* the worker's own folder, on a disk of this machine: has tasks.db */
	const PmEvalOpts *opts; /* of all items; the secret is this item's */
	int jobs;               /* PmEvalTask.jobs */
	int last; /* the last try: what the harness could not judge is left out of the result, as `passmith
		   * eval` leaves it out */
	PmItemProgress *progress;
} PmItemWork;

typedef struct PmItemEnd {
	int done;       /* the result is published */
	int not_judged; /* variants that the harness could not judge */
	int folder;     /* the error is of the plan's folder or of this machine: no fault of the item */
	char why[512];  /* why a variant could not be judged */
} PmItemEnd;

/* In a process of its own: reads what is known of the item, evaluates the rest, publishes what is new after
 * each variant, and the result at the end. */
PmStatus pm_item_evaluate(const PmItemWork *w, PmItemEnd *out, PmErr *err);

#endif
