/* SPDX-License-Identifier: Apache-2.0 */
/* dim_expr.h - sums and products of open sizes: "seq + 1", "2*batch", "batch*seq".
 *
 * A size that is computed from others is a symbol whose name is the formula, in one canonical spelling: a sum
 * of products, names sorted, the number first in a product and last in the sum. So equal formulas are the
 * same symbol, formulas survive every file format, and no table has to be kept beside the graph. A name that
 * is no formula (and no identifier) is never calculated with.
 *
 * Coefficients of results are never negative, since sizes are not: "seq - 1" would be one for seq = 0.
 */
#ifndef IR_DIM_EXPR_H
#define IR_DIM_EXPR_H

#include "ir/core/graph.h"

#define PM_DIM_UNKNOWN INT64_MIN

/* The size that a name is given. */
typedef struct PmDimSize {
	const char *name;
	int64_t size;
} PmDimSize;

/* Each takes constants and symbols of the graph (or PM_DIM_UNKNOWN) and gives such; PM_DIM_UNKNOWN when the
 * result cannot be written (too long, overflow, a negative coefficient, a name that is no formula). Making a
 * symbol does not change what a graph means, hence the const. */
PmDim pm_dim_add(const PmGraph *g, PmDim a, PmDim b);
PmDim pm_dim_sub(const PmGraph *g, PmDim a, PmDim b);
PmDim pm_dim_mul(const PmGraph *g, PmDim a, PmDim b);
/* a / b when that leaves no remainder whatever the sizes are, and b is a number or one product. */
PmDim pm_dim_div(const PmGraph *g, PmDim a, PmDim b);

/* The dimension called `name`, a formula brought to its canonical spelling. */
PmDim pm_dim_named(PmGraph *g, const char *name);
/* d with sizes put in for names; d itself when it has none of them or the result would be negative or too
 * large. */
PmDim pm_dim_bind(PmGraph *g, PmDim d, const PmDimSize *sizes, size_t n);

#endif
