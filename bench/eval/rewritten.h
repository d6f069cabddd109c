/* SPDX-License-Identifier: Apache-2.0 */
/* rewritten.h - what is kept of the graph that a pass made of a variant. */
#ifndef BENCH_REWRITTEN_H
#define BENCH_REWRITTEN_H

#include "base/core/json.h"
#include "ir/core/graph.h"

enum { PM_REWRITTEN_INLINE = 16 }; /* elements of a constant whose values are in the text */

/* The graph as JSON on one line, owned by the caller in *out:
 *
 *   {"code": SHA-256, "text": TEXT, "sources": [SOURCE, ...]}
 *
 * TEXT is the graph's text form (ir/text/text.h), in which each kernel has "sha256:" and the digest of a
 * source in place of the source. `sources` has those of alternative `alt` of each kernel, or of its last,
 * each once, in the order in which they first stand: what the others would have been is not kept. `code` is
 * the same for graphs that differ in shapes, element types, grids and what sources say alone: it is of the
 * operators and the wiring, and of the names, the chosen alternatives, the entries and the bodies of kernels.
 */
PmStatus pm_rewritten_json(const PmGraph *g, int alt, char **out, PmErr *err);

#endif
