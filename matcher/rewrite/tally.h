/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - counting what a rule does at each root, over all sweeps (private to matcher/).
 *
 * A root that nothing took is tried again in the next sweep, and counts once, as it ended last. One that
 * another rule has taken meanwhile is not tried again: what was said about it stays.
 */
#ifndef MATCHER_TALLY_H
#define MATCHER_TALLY_H

#include "base/core/vec.h"
#include "matcher/pattern/match.h"
#include "matcher/rewrite/rule_stats.h"

typedef struct PmDecline {
	PmNode root;
	uint32_t reason; /* number in PmRuleStats.reason */
	int matched;     /* the pattern had matched, or a region was proposed */
} PmDecline;

/* Of one rule. */
typedef struct PmTally {
	PmRuleStats *st; /* where it counts; borrowed */
	PM_VEC(PmDecline) decline;
	PM_VEC(uint8_t) seen;            /* by node id: how it was tried */
	PmNode miss_root[PM_MAX_MISSES]; /* of st->miss */
} PmTally;

/* A sweep begins: what is going to be tried again is forgotten, and what the rule took itself. taken[id] is 1
 * more than the number of the rule that took this node, 0 for none; `rule` is the tally's own number. */
void pm__tally_sweep(PmTally *t, const PmGraph *g, const uint32_t *taken, size_t n_taken, uint32_t rule);
/* This root is tried; `rejected`: by the operators of its operands alone. */
void pm__tally_tried(PmTally *t, PmNode root, int rejected);
void pm__tally_declined(PmTally *t, const PmGraph *g, PmNode root, int matched, const char *why);
/* Keeps the deepest misses, in order of depth; of equals, the first seen. */
void pm__tally_missed(PmTally *t, const PmGraph *g, const PmPattern *p, PmNode root, const PmMiss *miss);
void pm__tally_release(PmTally *t);

#endif
