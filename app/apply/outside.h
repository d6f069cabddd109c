/* SPDX-License-Identifier: Apache-2.0 */
/* outside.h - what passes left as it was: operators by what they cost, and where rules came near or declined.
 */
#ifndef APP_APPLY_OUTSIDE_H
#define APP_APPLY_OUTSIDE_H

#include "app/apply/regions.h"
#include "matcher/host/pass_outcome.h"

enum { PM_OUTSIDE_WHY = 5 /* of a pass: near misses, and reasons to decline, that are kept */ };

/* An operator of which nodes are in no region. */
typedef struct PmOutsideOp {
	const char *op; /* constant; "other domains" for opaque nodes */
	size_t nodes;
	PmNodeCost cost; /* in the rewritten graph */
} PmOutsideOp;

/* What `explain` says of a rule, as it was when the turn of its pass came. */
typedef struct PmOutsideWhy {
	int pass;                /* its number */
	char *rule, *node, *why; /* owned; the node is the first, where there are several */
	int64_t count;           /* how often a rule declined for that reason; 0 = a near miss */
	uint32_t depth, of;      /* of a near miss: operators that matched, and how many the pattern has */
} PmOutsideWhy;

typedef struct PmOutside {
	PM_VEC(PmOutsideOp) op;   /* by time, then by number of nodes */
	PM_VEC(PmOutsideWhy) why; /* by pass; of each the reasons by count, then the near misses by depth */
	size_t left_out;          /* reasons and near misses beyond PM_OUTSIDE_WHY */
} PmOutside;

/* Counts the operators of `after` that are no new kernel. `cost` by node id; NULL = not known. */
void pm_outside_ops(PmOutside *o, const PmGraph *after, const PmRegions *r, const PmNodeCost *cost);
/* Adds what a pass said of its rules. */
void pm_outside_add_why(PmOutside *o, int pass, const PmPassOutcome *outcome);
void pm_outside_release(PmOutside *o);

#endif
