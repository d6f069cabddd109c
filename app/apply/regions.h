/* SPDX-License-Identifier: Apache-2.0 */
/* regions.h - the regions of a rewritten graph: for each new kernel the nodes of the original that it took,
 * and what both cost.
 *
 * A node of the original belongs to one region at most: one that two kernels compute belongs to the first,
 * and one that stays in the graph as well belongs to none. So costs add up: those of all regions before, with
 * `outside_before`, are the statistics of the original's plan, and those after, with `outside_after`, of the
 * rewritten one's. Launches and bytes agree exactly, seconds up to rounding.
 */
#ifndef APP_APPLY_REGIONS_H
#define APP_APPLY_REGIONS_H

#include "base/core/vec.h"
#include "ir/core/graph.h"
#include "runtime/exec/exec.h"

typedef struct PmApplyRegion {
	int pass;                 /* number of the pass that made it; -1 = not known */
	PmNode kernel;            /* in the rewritten graph */
	uint32_t place;           /* of the kernel in its execution order */
	size_t first, n;          /* its nodes: PmRegions.node[first] and on; none when all of them stay */
	PmNodeCost before, after; /* of these nodes; of the kernel */
} PmApplyRegion;

typedef struct PmRegions {
	PM_VEC(PmApplyRegion) list; /* in execution order of the kernels */
	PM_VEC(uint32_t) node;      /* places in the original's execution order, ascending in a region */
	uint32_t *of;               /* owned; by place in the original: 1 + number of the region; 0 = none */
	size_t n_before, n_after;   /* nodes of both graphs */
	PmNodeCost outside_before;  /* of nodes of no region, and of what belongs to no node */
	PmNodeCost outside_after;   /* of nodes that are no new kernel, and of what belongs to no node */
} PmRegions;

/* Finds the regions of `after`; costs are zero. PM_E_INVALID when the graphs do not belong together. Release
 * *out after success. */
PmStatus pm_regions_find(const PmGraph *before, const PmGraph *after, PmRegions *out, PmErr *err);
/* Fills in costs, given those of the nodes of both graphs by id (pm_plan_node_costs). */
void pm_regions_cost(PmRegions *r, const PmGraph *before, const PmNodeCost *cost_before, const PmGraph *after,
		     const PmNodeCost *cost_after);
void pm_regions_release(PmRegions *r);

#endif
