/* SPDX-License-Identifier: Apache-2.0 */
/* index_span.h - does every index of a graph stay on its axis, whatever its inputs are drawn from?
 *
 * Intervals are carried forward from inputs and constants to the operands that Gather and the like read as
 * indices. They are never too small, and may be too large: x - x is [-n, n].
 */
#ifndef IR_INDEX_SPAN_H
#define IR_INDEX_SPAN_H

#include "ir/data/role.h"

/* All elements of a value are in [lo, hi]; infinite where nothing is known. */
typedef struct PmSpan {
	double lo, hi;
} PmSpan;

typedef enum PmIndexFate {
	PM_INDEX_STAYS,   /* every index is on its axis */
	PM_INDEX_UNKNOWN, /* nothing bounds some index, and none is known to leave */
	PM_INDEX_LEAVES   /* the interval of some index is bounded and reaches beyond its axis */
} PmIndexFate;

/* What an input's elements are drawn from by its role (bench/inputs/inputs.h). */
PmSpan pm_span_of_role(const PmGraph *g, PmValue v);
/* `in` has one span for each graph input. Types have to be static. *at (may be NULL): the node that decides.
 */
PmIndexFate pm_index_fate(const PmGraph *g, const PmSpan *in, PmNode *at);
/* The spans from which inputs have to be drawn: their role's, or less of it where an index would leave its
 * axis otherwise. One for each graph input, owned by the caller. */
PmSpan *pm_index_spans(const PmGraph *g);

#endif
