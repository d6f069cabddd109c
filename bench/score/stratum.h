/* SPDX-License-Identifier: Apache-2.0 */
/* stratum.h - how hard a task looks, before anybody tries it.
 *
 * One point each for: more than 4 operators; more than 10; a contraction or pooling; a reduction or
 * normalisation; an operator that moves elements at a cost; more than one result. 0 or 1 point is "easy", 2
 * or 3 "medium", more "hard". A graph whose eager run takes less than 20 microseconds of modelled time is
 * also "launch-bound": what can be won there are launches.
 */
#ifndef BENCH_STRATUM_H
#define BENCH_STRATUM_H

#include "ir/core/graph.h"

typedef struct PmStratum {
	int points;
	int launch_bound;
	int algebraic;  /* said by whoever knows: clean-up alone makes it faster (app/algebra.h) */
	double seconds; /* eager, modelled by the default profile */
	int64_t launches, bytes, memory; /* memory: of inputs, outputs and intermediates together */
} PmStratum;

/* Looks at a sorted, static graph. PM_E_UNSUPPORTED when it cannot be planned. */
PmStatus pm_stratum(const PmGraph *g, PmStratum *out, PmErr *err);
/* The class of a graph: the operator on which most of its modelled time goes, launches not counted;
 * "depthwise Conv" is one of its own. "none" for a graph of views. Borrowed, constant. */
const char *pm_graph_class(const PmGraph *g);
/* "easy", "medium launch-bound", "hard algebraic", ...; borrowed, constant. */
const char *pm_stratum_name(const PmStratum *s);

#endif
