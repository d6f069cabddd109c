/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - which node of a rewritten graph is which node of the original, and which kernel took the others.
 */
#ifndef APP_APPLY_PAIRS_H
#define APP_APPLY_PAIRS_H

#include "ir/core/graph.h"

typedef struct PmPairs {
	uint32_t *before; /* by node id of the rewritten graph: the node of the original that it is, by id; 0
			   * = it is a kernel that is not in the original, or nothing needs it */
	uint32_t *kernel; /* by node id of the original: the kernel that took it, by id: it is in the kernel's
			   * body, and not in the rewritten graph itself. Of several the first in execution
			   * order. 0 = none */
	uint32_t *value; /* by value id of the rewritten graph: the value of the original that it is, by id; 0
			  * = nothing that is walked reads it */
	size_t *base;    /* by node id of the rewritten graph: where the nodes of a kernel's body begin in
			  * `inner` */
	uint32_t
		*inner; /* by base[kernel] + node id of its body: the node of the original, by id; 0 = none */
} PmPairs;

/* Walks both graphs together from their results. Time is linear in nodes and operands, with the bodies.
 * PM_E_INVALID when they do not belong together, as pm_rewrite_check would say. Release *out after success.
 */
PmStatus pm_pairs_make(const PmGraph *before, const PmGraph *after, PmPairs *out, PmErr *err);
/* The body of a fused node of `g`; NULL of other nodes. Borrowed. */
const PmGraph *pm_pairs_body(const PmGraph *g, PmNode n);
void pm_pairs_release(PmPairs *p);

#endif
