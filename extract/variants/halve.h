/* SPDX-License-Identifier: Apache-2.0 */
/* halve.h - the same computation at sizes that are quick to run, with its sums as long as they were.
 *
 * Classes of input dimensions (extract/variants/variants.h) are halved until the graph costs little: batches
 * first, then the others, largest first, and each only while `keeps` finds in the smaller graph what it has
 * to keep. A graph that is too costly even then has the rest halved too, which is said.
 */
#ifndef EXTRACT_HALVE_H
#define EXTRACT_HALVE_H

#include "ir/core/graph.h"

typedef struct PmHalving {
	int64_t (*cost)(const PmGraph *g);
	int64_t wanted, most; /* costs: halving ends at the first; `keeps` is given up above the second */
	int (*keeps)(const PmGraph *from, const PmGraph *to); /* nodes of both in the same order */
} PmHalving;

/* Returns the smaller graph owned in *out: a copy of `g` when nothing can or has to be halved. *kept is 0
 * when dimensions were halved that `keeps` is against. `g` is static and swept. */
PmStatus pm_variant_halve(const PmGraph *g, const PmHalving *how, PmGraph **out, int *kept, PmErr *err);

#endif
