/* SPDX-License-Identifier: Apache-2.0 */
/* canon.h - canonical form and hashes of a graph.
 *
 * Values are numbered by a depth-first walk from the outputs over ordered operands (of outputs and of
 * commuting operands, the one with the smaller hash of everything the level shows of its surroundings first;
 * where hashes tie, all orders are tried and the least text counts). Names, the order of inputs, outputs and
 * nodes, unused inputs and dead nodes do not count. canon.c describes the text.
 */
#ifndef IR_CANON_H
#define IR_CANON_H

#include "base/core/hash.h"
#include "ir/core/graph.h"

typedef enum {
	PM_CANON_STRUCTURE, /* operators and wiring only */
	PM_CANON_SHAPES,    /* + dimensions */
	PM_CANON_FULL       /* + dtypes, attributes, values of small constants and laws of inputs */
} PmCanonLevel;

/* Appends the canonical bytes (printable text); equality of graphs is equality of these bytes. */
PmStatus pm_canon_text(const PmGraph *g, PmCanonLevel level, PmStr *out, PmErr *err);
/* SHA-256 of those bytes. */
PmStatus pm_canon_hash(const PmGraph *g, PmCanonLevel level, char hex[PM_SHA256_HEX], PmErr *err);

/* Appends what a level shows of one node: operator, attributes (by name, defaults left out). */
PmStatus pm_canon_node_text(const PmGraph *g, PmNode n, PmCanonLevel level, PmStr *out, PmErr *err);

#endif
