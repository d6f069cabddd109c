/* SPDX-License-Identifier: Apache-2.0 */
/* fused.h - which nodes of a graph became which kernel of the graph that a pass made of it. */
#ifndef APP_REPORT_FUSED_H
#define APP_REPORT_FUSED_H

#include "base/core/vec.h"
#include "ir/core/graph.h"

typedef struct PmFusedKernel {
	PmNode node;    /* of the rewritten graph */
	size_t n_nodes; /* of the original that it stands for */
} PmFusedKernel;

typedef struct PmFused {
	size_t n_nodes; /* of the original */
	uint32_t *of;   /* owned; by place in the original: 1 + the number of its kernel, 0 = none */
	PM_VEC(PmFusedKernel) kernel; /* in execution order of the rewritten graph */
} PmFused;

/* Walks both graphs from their outputs, through the bodies of kernels. Where they differ otherwise the walk
 * ends, and what is behind it belongs to no kernel. Both graphs are sorted. Release *out. */
void pm_fused_find(const PmGraph *original, const PmGraph *rewritten, PmFused *out);
void pm_fused_release(PmFused *f);

#endif
