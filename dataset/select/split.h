/* SPDX-License-Identifier: Apache-2.0 */
/* split.h - keeping what is trained on apart from what is asked.
 *
 * Graphs belong together when they have the same structure, the same list of operators, or are near
 * duplicates (dataset/select/alike.h), directly or through others. Whole components go to one side.
 */
#ifndef DATASET_SPLIT_H
#define DATASET_SPLIT_H

#include "dataset/select/alike.h"
#include "dataset/store/db.h"

/* One graph; equal numbers stand for equal structures and operators. A graph's hash needs no mention: equal
 * graphs have equal structures. */
typedef struct PmSplitItem {
	size_t structure; /* place of its colours in `colors` */
	int64_t op_seq;
} PmSplitItem;

/* part[i] receives the number of item i's component, from 0 in order of first items; returns their number. */
size_t pm_components(const PmSplitItem *item, size_t n, const PmColors *colors, size_t n_colors,
		     size_t *part);

typedef enum { PM_LEAK_HASH, PM_LEAK_STRUCTURE, PM_LEAK_OPERATORS, PM_LEAK_NEAR } PmLeakKind;
/* Name in reports. Static. */
const char *
pm_leak_name(PmLeakKind k); /* "same graph", "same structure", "same operators", "near duplicate" */

typedef struct PmLeak {
	PmLeakKind kind; /* the first that holds */
	int64_t eval_task, train_task;
	double likeness;
} PmLeak;
typedef PmStatus (*PmLeakFn)(void *arg, const PmLeak *leak, PmErr *err);

/* Compares every task of split 'eval' with every task of split 'train' of a database, members and their
 * bases, and calls fn once for each pair of tasks that share something. It looks at all pairs one by one and
 * knows nothing of how the split was made. *n (may be NULL) counts the pairs. */
PmStatus pm_leakage_check(PmDb *db, PmLeakFn fn, void *arg, size_t *n, PmErr *err);

#endif
