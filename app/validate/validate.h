/* SPDX-License-Identifier: Apache-2.0 */
/* validate.h - checks whether models may serve in a dataset, by several processes, and stores what is found.
 */
#ifndef APP_VALIDATE_H
#define APP_VALIDATE_H

#include "app/model/constraints.h"
#include "app/watch/watch.h"
#include "base/core/err.h"
#include "dataset/store/db.h"

typedef struct PmValidateOpts {
	const char *const *files; /* names of n_files models; borrowed */
	size_t n_files;
	PmConstraintOpts check;
	int jobs; /* processes */
	PmDb *db; /* borrowed: verdicts are stored, and models that have them are left out; may be NULL */
	const PmWatch *watch; /* borrowed; may be NULL. Models that cannot be read are complaints */
} PmValidateOpts;

/* How many constraints got which verdict. */
typedef struct PmConstraintCounts {
	size_t of[PM_N_CONSTRAINTS][3]; /* by PmConstraintVerdict */
} PmConstraintCounts;

typedef struct PmValidated {
	size_t n;                  /* models looked at by this call */
	size_t n_unread, n_broken; /* of these: could not be read, have a broken constraint */
	size_t n_before,
		n_broken_before;  /* models that had their verdicts, and those of them that are not valid */
	PmConstraintCounts count; /* of those that were read */
} PmValidated;

/* What was found of one model that was read; called in the order of the files, in the caller's process. */
typedef void PmValidateFn(void *arg, const char *path, const PmConstraints *c);

/* Checks the models. One that cannot be read, or that ends its process, is counted and complained about, and
 * the others go on. All verdicts of a model are stored, or none. `fn` may be NULL. *out holds what was
 * finished, whatever is returned; errors are of the database or of this machine. */
PmStatus pm_validate(const PmValidateOpts *o, PmValidateFn *fn, void *arg, PmValidated *out, PmErr *err);

/* Counts a stored verdict; a name or a verdict that is none of ours is passed over. */
void pm_constraint_count(PmConstraintCounts *c, const char *name, const char *verdict);

#endif
