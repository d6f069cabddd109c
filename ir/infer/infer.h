/* SPDX-License-Identifier: Apache-2.0 */
/* infer.h - shape and type rules, and the verifier.
 *
 * The rule of a row is infer_<shape token>; a missing one is a link error.
 */
#ifndef IR_INFER_H
#define IR_INFER_H

#include "ir/core/graph.h"
#include "ir/infer/dim_expr.h"

/* Computes the result types of one node from its operand types and attributes and stores them. Symbols are
 * kept; a dimension that cannot be known stays what the result already says, else becomes a fresh symbol (so
 * inferring twice changes nothing). Fails with PM_E_TYPE or PM_E_SHAPE and a sentence that names node,
 * operand and both types. Opaque nodes, and nodes with an operand of unknown type, keep the result types they
 * have. */
PmStatus pm_infer_node(PmGraph *g, PmNode n, PmErr *err);
/* All nodes in execution order (the graph must be sorted). When `fold` is not 0, small integer values
 * that depend on constants and shapes only (Shape, Gather, Concat, Cast, arithmetic, ...; at most 4096
 * elements) are replaced by constants on the way, so that Reshape and Expand see their shapes. */
PmStatus pm_infer_graph(PmGraph *g, int fold, PmErr *err);

/* pm_infer_graph with folding, and then the nodes and constants that folding left without a use go; what had
 * no use before stays. */
PmStatus pm_fold_shapes(PmGraph *g, PmErr *err);
/* Removes a constant or the node that defines a value, when nothing uses it, then whatever only that used. */
void pm_graph_drop_unused(PmGraph *g, PmValue v);

/* Gives symbols of a graph sizes, wherever they stand in types (bodies of kernels too), then infers and folds
 * again. A name that is no symbol of the graph is passed over. PM_E_SHAPE when a node cannot have that size:
 * the graph is then half bound and only good to be freed. A negative size is PM_E_INVALID. `dims` is borrowed
 * for the call. */
PmStatus pm_graph_bind_dims(PmGraph *g, const PmDimSize *dims, size_t n, PmErr *err);

/* The verifier: order and acyclicity, every use defined, operand and result counts, attribute names,
 * kinds and presence, types equal to what inference gives, constants' sizes, unique names, kernels decode
 * and their bodies verify with matching types. Reports the first violation as a sentence. */
PmStatus pm_verify(const PmGraph *g, PmErr *err);

/* ---- inference while a graph runs ---- */

/* Integer values known so far: what a run computes (or, inside ir/, what shape arithmetic follows). */
typedef struct PmFold PmFold;
PmFold *pm_known_new(void);
void pm_known_free(PmFold *k);
/* Notes the n elements of a value (ir/core/element.h); more than a shape or an index list can have are
 * ignored. */
void pm_known_set(PmFold *k, PmValue v, const int64_t *elem, size_t n);
/* pm_infer_node that sees these values: with the operands' values known, only a DATA row leaves dimensions
 * open. */
PmStatus pm_infer_node_known(PmGraph *g, PmNode n, PmFold *known, PmErr *err);

/* Number of entries of a Range from v (floating point) or w (integers): start, limit, step; -1 when it has no
 * end. */
int64_t pm_range_length(int dtype, const double v[3], const int64_t w[3]);

#endif
