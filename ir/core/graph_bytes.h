/* SPDX-License-Identifier: Apache-2.0 */
/* graph_bytes.h - a graph as bytes for another process of this program on the same machine.
 *
 * Unlike text (ir/text/text.h) it keeps the graph as it is: the numbers of nodes and values, gaps included,
 * names that were made up, symbols. Nothing is parsed, inferred or verified again. The bytes are believed:
 * who reads them has to know that they are what was written (base/sys/spool.h).
 */
#ifndef IR_GRAPH_BYTES_H
#define IR_GRAPH_BYTES_H

#include "ir/core/graph.h"

/* Appends the graph. Constants of more than `max_const` bytes lose their data, and so do those that are made
 * up: in the copy they are absent (pm_blob_readable is 0). Tensors in attributes, and graphs in attributes
 * with all their constants, keep what they have. */
void pm_graph_to_bytes(const PmGraph *g, size_t max_const, PmStr *out);

/* The graph again. PM_E_INVALID when there are fewer bytes, or more. Returns owned. */
PmStatus pm_graph_from_bytes(const void *p, size_t n, PmGraph **out, PmErr *err);

#endif
