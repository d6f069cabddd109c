/* SPDX-License-Identifier: Apache-2.0 */
/* weights.h - constants whose data file is missing get elements made up by role and statistics.
 *
 * Nothing is allocated or written here: a constant without data is given a maker (PmBlob.make), and whoever
 * needs its bytes asks for them piece by piece (pm_blob_read). The elements depend on the constant's name and
 * on the model's statistics (without any: on the names and types of all such constants), so that they survive
 * printing, exporting and simplifying a model.
 */
#ifndef IR_WEIGHTS_H
#define IR_WEIGHTS_H

#include "ir/core/graph.h"
#include "ir/data/stats.h"

typedef struct PmWeightsReport {
	size_t n;      /* constants that got a maker */
	int64_t bytes; /* of their elements */
	size_t from[PM_N_LAW_FROM], role[PM_N_ROLES];
} PmWeightsReport;

/* Gives every constant of g without data a maker and adds them up in *report (zeroed first; may be NULL). */
void pm_weights_attach(PmGraph *g, PmWeightsReport *report);

/* The same for one tensor that no graph has (an initializer that nothing uses). */
void pm_weights_attach_unused(const PmGraph *g, const char *name, const PmType *t, PmBlob *blob,
			      PmWeightsReport *report);

/* Appends "from statistics 90, by role, without statistics 12; as weight 40, bias 62". */
void pm_weights_describe(const PmWeightsReport *r, PmStr *out);

/* How a made-up constant is made, appended as bytes for another process of this program; 0 where it is none.
 */
int pm_weights_recipe(const PmBlob *b, PmStr *out);
/* The constant of `bytes` bytes that a recipe of n bytes makes, owned; NULL where it is no recipe of such. */
PmBlob *pm_weights_from_recipe(const void *recipe, size_t n, size_t bytes);

#endif
