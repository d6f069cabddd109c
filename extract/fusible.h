/* fusible.h - which nodes of a graph could become one kernel.
 *
 * A fusible set is connected and convex, holds 2 to 35 nodes, at most one contraction, which reads nothing of
 * the set, and no node of unknown meaning. Sets do not overlap. Nodes at either end that only relabel
 * floating point elements (Reshape, Transpose, Identity, ... of as many elements) are left out: they cost
 * nothing where they are.
 */
#ifndef EXTRACT_FUSIBLE_H
#define EXTRACT_FUSIBLE_H

#include "ir/graph.h"

typedef struct PmFusibleOpts {
	size_t min_nodes, max_nodes; /* 0 = 2 and 35 */
	int keep_ends;               /* 1: nodes that only relabel stay */
} PmFusibleOpts;

/* Sets of nodes, each in execution order: set i is nodes[start[i]] to nodes[start[i + 1] - 1]. */
typedef struct PmNodeSets {
	PmNode *nodes;
	size_t *start; /* n + 1 entries */
	size_t n;
} PmNodeSets;
void pm_node_sets_release(PmNodeSets *s);

/* The fusible sets of a sorted graph, by the place of their first node. The same graph gives the same sets.
 * Time is near-linear in nodes and edges. `opts` may be NULL. */
PmStatus pm_fusible_sets(const PmGraph *g, const PmFusibleOpts *opts, PmNodeSets *out, PmErr *err);

/* 1 when the program knows what the node computes and its result types follow from its operand types. */
int pm_fusible_node(const PmGraph *g, PmNode n);

#endif
