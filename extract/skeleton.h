/* SPDX-License-Identifier: Apache-2.0 */
/* skeleton.h - operators and edges of a graph, and nothing else: what folding works on.
 *
 * Nodes are numbered in canonical order: a depth-first walk from the ordered outputs through ordered operands
 * (of commuting operands, the one with the smaller hash of what it is computed from first), operands before
 * what reads them. Neither names nor the order in which nodes are stored matter. Nodes that no output depends
 * on are left out. Skeletons are small (about 40 bytes a node), so that those of a whole corpus fit in
 * memory.
 */
#ifndef EXTRACT_SKELETON_H
#define EXTRACT_SKELETON_H

#include "base/core/str.h"
#include "ir/core/graph.h"

enum {
	PM_SKEL_ANCHOR = 1, /* a contraction: where motifs begin */
	PM_SKEL_BARRIER = 2 /* of unknown meaning, or sizes that depend on data: in no motif */
};

/* An operand that a node of the skeleton computes. */
typedef struct PmSkelEdge {
	uint32_t from;          /* that node */
	uint16_t operand, slot; /* which operand of the reader, which result of `from`; commuting operands are
				   all number 0, and what exceeds 65535 is 65535 */
} PmSkelEdge;

typedef struct PmSkeleton {
	size_t n, n_edges;
	uint64_t *label; /* hash of operator, counts of operands and results, and kind of attributes */
	uint8_t *flags;
	uint32_t *first;  /* n + 1: edges into node i are edge[first[i]] to edge[first[i + 1] - 1] */
	PmSkelEdge *edge; /* by operand */
	PmNode *node;     /* in the graph */
} PmSkeleton;

/* The skeleton of a graph without cycles. Time is linear. */
PmStatus pm_skeleton_make(const PmGraph *g, PmSkeleton *out, PmErr *err);
void pm_skeleton_release(PmSkeleton *s);

/* 1 when two graphs differ in nothing that a skeleton shows (nodes' ids aside). */
int pm_skeleton_same(const PmSkeleton *a, const PmSkeleton *b);
uint64_t pm_skeleton_hash(const PmSkeleton *s);

/* As bytes, for another process on the same machine; unpack takes what pack appended and moves *at behind it.
 */
void pm_skeleton_pack(const PmSkeleton *s, PmStr *out);
PmStatus pm_skeleton_unpack(const char *bytes, size_t n, size_t *at, PmSkeleton *out, PmErr *err);

#endif
