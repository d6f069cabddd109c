/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - some rows of what a graph computes, by themselves.
 *
 * In a graph of element-wise operators, softmax and layer normalisation over last axes, places of the leading
 * dimensions do not depend on each other. A row is one such place: one element where all is element-wise. The
 * same graph over chosen rows, given the operands' rows, computes the results' rows. It takes the time and
 * the memory of these rows.
 */
#ifndef BENCH_EVAL_ROWS_H
#define BENCH_EVAL_ROWS_H

#include "runtime/device/tensor.h"

typedef struct PmRows {
	int rank, lead;           /* of the results; dimensions that rows number */
	int64_t dim[PM_MAX_RANK]; /* of the results */
	int64_t n, inner;         /* rows; elements of one */
} PmRows;

/* 1 when `g` (sorted, static types) is such a graph: each value that it computes has the shape of its first
 * result. */
int pm_rows_of(const PmGraph *g, PmRows *out);
/* The graph over n rows, n >= 1. Owned by the caller. */
PmStatus pm_rows_graph(const PmGraph *g, const PmRows *r, int64_t n, PmGraph **out, PmErr *err);
/* The rows `row[0..n)` of a tensor that broadcasts to the results' shape, as an operand of that graph.
 * Initialises `to`, also on failure. */
PmStatus pm_rows_take(const PmRows *r, const PmTensor *from, const int64_t *row, int64_t n, PmTensor *to,
		      PmErr *err);

#endif
