/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - how far measurements of the same thing lie apart, within nodes and between nodes.
 *
 * The one-way random effects model, as docs/reference/metrics.md defines it: a measured value is the
 * variant's mean, plus what its node adds, plus what the measurement adds. Variants are pooled.
 */
#ifndef BENCH_SPREAD_H
#define BENCH_SPREAD_H

#include <stddef.h>
#include <stdint.h>

typedef struct PmSpreadItem {
	int64_t variant, node; /* numbers of the caller's */
	double value;          /* ln of a speedup, for example */
} PmSpreadItem;

typedef struct PmSpread {
	size_t n, n_nodes;      /* measurements, different nodes */
	double within, between; /* standard deviations; NaN where there is nothing to tell them by: no node
				 * measured a variant twice, no variant was measured on two nodes */
} PmSpread;

/* n items, all of one variant together, and of those all of one node together. */
PmSpread pm_spread(const PmSpreadItem *x, size_t n);

#endif
