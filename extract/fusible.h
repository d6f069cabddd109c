/* SPDX-License-Identifier: Apache-2.0 */
/* fusible.h - which nodes of a graph could become one kernel.
 *
 * A fusible set is connected and convex, holds 2 to 35 nodes that launch two kernels or more when run one by
 * one, at most one contraction, which reads nothing of the set, and no node of unknown meaning. Sets do not
 * overlap. Nodes at either end that only relabel floating point elements (Reshape, Transpose, Identity, ...
 * of as many elements) are left out: they cost nothing where they are. A Reshape that must copy what the set
 * makes does cost, and stays.
 */
#ifndef EXTRACT_FUSIBLE_H
#define EXTRACT_FUSIBLE_H

#include "ir/core/graph.h"

typedef struct PmFusibleOpts {
	size_t min_nodes, max_nodes; /* 0 = 2 and 35 */
	int keep_ends;               /* 1: nodes that only relabel stay */
	size_t min_launches;         /* 0 = 2 */
	/* Kernels that each node launches when run by itself, by node id (pm_plan_count of
	 * runtime/exec/exec.h); NULL: none for what can be a view, one for everything else. Borrowed. */
	const uint32_t *launches;
} PmFusibleOpts;

/* Sets of nodes, each in execution order: set i is nodes[start[i]] to nodes[start[i + 1] - 1]. */
typedef struct PmNodeSets {
	PmNode *nodes;
	size_t *start; /* n + 1 entries */
	size_t n;
	/* Of pm_fusible_sets: views at the ends of these sets that launch nothing: of what a set makes, and
	 * those that nothing but one set reads. */
	size_t n_ends;
} PmNodeSets;
/* Frees both arrays. */
void pm_node_sets_release(PmNodeSets *s);

/* The fusible sets of a sorted graph, by the place of their first node. The same graph gives the same sets.
 * Time is near-linear in nodes and edges. `opts` may be NULL. */
PmStatus pm_fusible_sets(const PmGraph *g, const PmFusibleOpts *opts, PmNodeSets *out, PmErr *err);

/* The kernels that a node launches, as above. */
uint32_t pm_fusible_launches(const PmGraph *g, const uint32_t *launches, PmNode n);

/* 1 when the program knows what the node computes and its result types follow from its operand types and from
 * constants. */
int pm_fusible_node(const PmGraph *g, PmNode n);

#endif
