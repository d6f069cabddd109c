/* SPDX-License-Identifier: Apache-2.0 */
/* fold_dag.h - motifs: connected, convex pieces that occur again and again in graphs, found by folding.
 *
 * Every node begins as a group of its own. In each round, pairs of groups with an edge between them are
 * counted over all graphs by what they are (both groups' symbols and the edges between them), and the pairs
 * of the most frequent kinds become one group with a new symbol. A pair U -> V may be joined only when V is
 * the only group that reads U, or U is the only group that V reads: then no other path leads from U to V, so
 * that joining makes no cycle, and since joining never adds neighbours, all joins of a round are safe
 * together. Groups are therefore connected and convex by construction. Graphs of one structure are folded
 * once, so that clones do not decide what is frequent; equal symbols mean equal structure.
 *
 * Pairs whose reader is a contraction count a quarter, so that motifs begin at contractions and do not end
 * behind the next one.
 */
#ifndef EXTRACT_FOLD_DAG_H
#define EXTRACT_FOLD_DAG_H

#include "extract/fusible.h"
#include "extract/skeleton.h"

typedef struct PmFoldDagOpts {
	size_t min_nodes, max_nodes; /* of a motif; 0 = 4 and 62 */
	size_t min_support;          /* occurrences of a pair that is joined; 0 = 2 */
} PmFoldDagOpts;

/* A motif at one place. */
typedef struct PmMotif {
	uint32_t first, size; /* its nodes: PmFoldDag.node[first] and on, in the order of the symbol */
	uint64_t symbol;      /* equal symbols, equal structure */
} PmMotif;

/* The motifs of one structure; several graphs may share it. */
typedef struct PmFoldDag {
	size_t n_graphs, n_structures, rounds;
	uint32_t *structure; /* by graph: its structure */
	size_t *start;       /* by structure: motif[start[i]] to motif[start[i + 1] - 1], by first node */
	PmMotif *motif;
	uint32_t *node;   /* numbers in the skeleton */
	size_t n_symbols; /* different symbols among the motifs */
} PmFoldDag;

/* Folds n graphs. The result does not depend on their order. `opts` may be NULL. */
void pm_fold_dag(const PmSkeleton *const *s, size_t n, const PmFoldDagOpts *opts, PmFoldDag *out);
void pm_fold_dag_release(PmFoldDag *f);

/* The motifs of graph i as sets of its nodes, in execution order of neither kind (pm_cutter_cut sorts). `s`
 * is that graph's own skeleton. Returns owned. */
void pm_fold_dag_sets(const PmFoldDag *f, size_t i, const PmSkeleton *s, PmNodeSets *out);

#endif
