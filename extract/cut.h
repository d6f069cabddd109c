/* SPDX-License-Identifier: Apache-2.0 */
/* cut.h - cutting a set of nodes out of a graph as a graph of its own.
 *
 * Values that cross into the set become inputs, under their names, in the order of first use; results that
 * are used outside the set (or are outputs of the graph) become outputs, in execution order. Small constants
 * are copied; weights, and constants whose data is not at hand, become inputs too, so that what is cut does
 * not depend on the values a model was trained to.
 */
#ifndef EXTRACT_CUT_H
#define EXTRACT_CUT_H

#include "ir/core/graph.h"

typedef struct PmCutOpts {
	int64_t max_const;       /* elements of an integer or bool constant that stays; 0 = 64 */
	int64_t max_float_const; /* elements of a floating point constant that stays; 0 = 1 */
	size_t budget;           /* bytes of one graph made; 0 = 64 MiB */
} PmCutOpts;

/* Cuts sets out of one graph; what it needs to know about the graph is computed once. Borrows the graph,
 * which must be sorted and not change meanwhile. Returns owned in *out. */
typedef struct PmCutter PmCutter;
PmStatus pm_cutter_new(const PmGraph *g, const PmCutOpts *opts, PmCutter **out, PmErr *err);
void pm_cutter_free(PmCutter *c);

/* The graph of a set of nodes, inferred and verified. The set must be connected (by its own edges, directions
 * aside) and convex (no path leaves it and comes back), without duplicates; else PM_E_INVALID. */
PmStatus pm_cutter_cut(PmCutter *c, const PmNode *nodes, size_t n, PmGraph **out, PmErr *err);

/* What the last check of a cutter found. */
typedef enum { PM_CUT_FINE, PM_CUT_NO_SET, PM_CUT_NOT_CONNECTED, PM_CUT_NOT_CONVEX } PmCutFault;
PmCutFault pm_cutter_fault(const PmCutter *c);

/* The two properties by themselves: PM_OK, or PM_E_INVALID with a sentence. */
PmStatus pm_cutter_check(PmCutter *c, const PmNode *nodes, size_t n, PmErr *err);

#endif
