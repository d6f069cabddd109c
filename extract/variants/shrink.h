/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.h - the same computation at sizes that a slow device can run.
 *
 * Classes of dimensions (extract/variants/variants.h) are made smaller, the largest first, until nothing is
 * over the limits. A class goes below two only when nothing else is left.
 */
#ifndef EXTRACT_SHRINK_H
#define EXTRACT_SHRINK_H

#include "ir/core/graph.h"

typedef struct PmShrinkOpts {
	int64_t max_elements;             /* of one value; 0 = any number */
	int64_t max_cost;                 /* of the graph, in units of `cost`; 0 = any */
	int64_t (*cost)(const PmGraph *); /* needed with max_cost */
} PmShrinkOpts;

typedef struct PmShrinkReport {
	int64_t elements_before, elements; /* of the largest value */
	int64_t cost_before, cost;         /* 0 without `cost` */
	int is_cut;                        /* 1: sizes were changed */
	int is_over;                       /* 1: what is left is over a limit and cannot be cut */
} PmShrinkReport;

/* Returns an owned static graph in *out: a copy without unused nodes, its symbols numbered, its sizes cut
 * until it is within the limits, or as far as they can be (weights of a deep network depend on each other).
 * The same graph and options give the same sizes. PM_E_SHAPE when no sizes for its symbols work. */
PmStatus pm_shrink(const PmGraph *g, const PmShrinkOpts *opts, PmGraph **out, PmShrinkReport *report,
		   PmErr *err);

#endif
