/* SPDX-License-Identifier: Apache-2.0 */
/* plan_gaps.h - the steps at which slots of memory are free, and the search for a slot that is free long
 * enough.
 *
 * A segment tree over the steps: a gap stands in the nodes that it covers, at most two on each level. Each of
 * these has its gaps as a treap by their last step, so that the highest slot among those that last long
 * enough is found on one way down. Adding, taking and finding take log^2 of the steps.
 */
#ifndef RUNTIME_PLAN_GAPS_H
#define RUNTIME_PLAN_GAPS_H

typedef struct PmGaps PmGaps;

/* Steps first to last, both included, at which a slot is free. */
typedef struct PmGap {
	int first, last, slot;
} PmGap;

/* No gaps in steps 0 to n_steps - 1. Owned by the caller. */
PmGaps *pm__gaps_new(int n_steps);
void pm__gaps_free(PmGaps *g);
/* Adds a gap; gaps of one slot do not overlap. One that is empty (last < first) is none. */
void pm__gaps_add(PmGaps *g, PmGap gap);
/* Finds the gap of the highest slot that is free from step `first` to step `last`; 0 when there is none. */
int pm__gaps_find(const PmGaps *g, int first, int last, PmGap *out);
/* Takes a gap that pm__gaps_find gave out again. */
void pm__gaps_take(PmGaps *g, PmGap gap);

#endif
