/* SPDX-License-Identifier: Apache-2.0 */
/* one_node.h - graphs of one node from a line of text, for tables of shape rule cases.
 *
 * Operands, separated by spaces: "float[2,N]" is a graph input (a letter names a symbol, "float" alone is a
 * scalar), "int64{1,-1}" a constant vector, "int64=3" a constant scalar, "-" an omitted operand.
 * Attributes, separated by spaces: axis=1, axes=[0,2], mode='edge', alpha=0.5 and value=int64{7}.
 */
#ifndef TESTS_LIB_ONE_NODE_H
#define TESTS_LIB_ONE_NODE_H

#include "ir/core/graph.h"

/* Parses "float[2,N]"; symbols are made in g. Returns the end of what was read, NULL when malformed. */
const char *one_node_type(PmGraph *g, const char *text, PmType *out);
/* A graph with one node, whose results are its outputs; fails the running test on malformed text. */
PmGraph *one_node(const char *op, const char *operands, const char *attrs, size_t n_out, PmNode *node);
/* Adds one node to a graph, operands given as above, or as %name for a value the graph has. */
PmNode one_node_add(PmGraph *g, const char *op, const char *operands, const char *attrs, size_t n_out);
/* "float[2,N]", a made-up symbol (see pm_graph_fresh_symbol) as "?". */
void one_node_print_type(const PmGraph *g, const PmType *t, PmStr *out);

#endif
