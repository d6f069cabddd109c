/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h - what was found out about models and graphs by running them.
 *
 * Models: the five constraints of `passmith validate`, each with a verdict ("holds", "broken", "undecided")
 * and a reason, under the SHA-256 of the model's bytes (the model need not be extracted). Graphs: how the
 * reference ran them, as they are or scaled down.
 */
#ifndef DATASET_CHECKS_H
#define DATASET_CHECKS_H

#include "dataset/store/db.h"

/* One constraint of one model. Strings are borrowed: from the caller when storing, until the callback returns
 * when reading. */
typedef struct PmConstraintRow {
	const char *sha256, *name, *verdict, *why;
	const char *options; /* what it was checked with, as text */
	const char *model;   /* file name of the model when it is extracted, else ""; ignored when storing */
} PmConstraintRow;

/* Stores a verdict; what was stored under another verdict, reason or options is replaced. */
PmStatus pm_constraint_put(PmDb *db, const PmConstraintRow *row, PmErr *err);
/* How many constraints of a model are stored that were checked with these options, and how many are broken.
 */
PmStatus pm_constraints_stored(PmDb *db, const char *sha256, const char *options, int64_t *n,
			       int64_t *n_broken, PmErr *err);
/* All of them, by model and name; a status other than PM_OK stops the walk and is returned. */
typedef PmStatus (*PmConstraintFn)(void *arg, const PmConstraintRow *row, PmErr *err);
PmStatus pm_constraints_each(PmDb *db, PmConstraintFn fn, void *arg, PmErr *err);

/* How the reference ran a stored graph: `how` is "whole", "proxy" (at smaller sizes, `why` says which;
 * "twin", as rows and packs of version 0.2 have it, is stored as that) or "failed" (`why` is the reason).
 * Storing it again changes nothing. */
PmStatus pm_ref_run_put(PmDb *db, int64_t subgraph, const char *how, const char *why, PmErr *err);

#endif
