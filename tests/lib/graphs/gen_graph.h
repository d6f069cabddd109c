/* SPDX-License-Identifier: Apache-2.0 */
/* gen_graph.h - random well-typed graphs made from the operator table, for property tests and fuzzing. */
#ifndef TESTS_LIB_GEN_GRAPH_H
#define TESTS_LIB_GEN_GRAPH_H

#include "base/core/rng.h"
#include "ir/core/graph.h"

typedef struct GenOpts {
	uint64_t seed;
	int n_nodes;       /* aimed at; some attempts are dropped */
	int max_dim;       /* sizes are 1..max_dim; 0 = 5 */
	int zero_dims;     /* sizes of 0 may occur */
	int symbols;       /* inputs may have symbolic dimensions */
	int float_only;    /* float32 data only, besides indices, shapes and conditions */
	int64_t max_numel; /* of any value; 0 = 4096 */
} GenOpts;

/* A sorted, inferred graph whose outputs are all results without uses. The same options give the same graph.
 * Returns owned. */
PmGraph *gen_graph(const GenOpts *o);

/* A graph that means the same: other names, other order of inputs and nodes, operands of commuting operators
 * swapped at random, nodes added that nothing depends on. Returns owned. */
PmGraph *gen_disguise(const PmGraph *g, uint64_t seed);

#endif
