/* SPDX-License-Identifier: Apache-2.0 */
/* select.h - which of many operator sequences make a small, varied benchmark.
 *
 * Greedy coverage of the bigrams ("edges": one operator right after another), weighted with how rare a
 * sequence is under a first-order Markov chain of all sequences:
 *
 *   P(b|a) = (c(a,b) + alpha) / (sum_b c(a,b) + alpha |V|)      c counts over all sequences, V all operators
 *   rarity(s) = mean of -ln P over the edges of s               0 for a single operator
 *   norm(s) = rarity scaled to [0, 1] over all sequences
 *
 * Each step takes the greatest (n (1 + w norm), n, w norm, edges of s), n being the number of edges of s that
 * nothing taken so far has; the first in the list wins ties. The gain of a sequence never grows, so the lazy
 * form (a heap of upper bounds that are renewed when they come up) takes the same sequences in the same
 * order.
 */
#ifndef DATASET_SELECT_H
#define DATASET_SELECT_H

#include "base/core/err.h"

#include <stddef.h>

typedef struct PmSelectOpts {
	double alpha;  /* 0 = 1e-3 */
	double weight; /* w; negative = 1 */
	int naive;     /* 1: look at every sequence in every step (for tests) */
	/* Part that each sequence belongs to; at most one sequence of a part is taken. NULL: each its own. */
	const size_t *part;
	/* Called for a sequence that is about to be taken; 0 passes it over for good. A status other than
	 * PM_OK ends the selection. NULL: all are good. */
	PmStatus (*accept)(void *arg, size_t i, int *yes, PmErr *err);
	void *arg;
} PmSelectOpts;

typedef struct PmSelection {
	size_t *taken; /* owned: numbers of sequences, in order */
	size_t n;
	size_t n_edges, n_covered; /* different edges of all sequences, and of those taken */
	size_t n_passed_over;      /* by accept */
} PmSelection;

/* Takes up to k of n sequences. Sequence i is ops[start[i]] to ops[start[i + 1] - 1], numbers of operators
 * below n_ops. `opts` may be NULL. */
PmStatus pm_select(const unsigned *ops, const size_t *start, size_t n, unsigned n_ops, size_t k,
		   const PmSelectOpts *opts, PmSelection *out, PmErr *err);
void pm_selection_release(PmSelection *s);

#endif
