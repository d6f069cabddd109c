/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - graphs whose results can be had row by row, so that a large one is judged in parts, or some of it.
 *
 * The first `axes` axes of every value that a node makes are the same, and no operator mixes what lies at
 * different places of them: a softmax over the last axis, normalisations, what is element-wise, products with
 * a matrix. A row is what such a place holds. Operands without rows (a weight, a bias) are inputs or
 * constants, and each part reads them whole. Inputs of element-wise operators may also have some of the axes
 * and be broadcast along the others: they are spread. Their elements for rows that follow each other do not,
 * so that they are taken one by one.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "runtime/device/tensor.h"

/* Plus the rank of what a spread input is broadcast to. */
enum { PM_ROWS_SPLIT = 1, PM_ROWS_WHOLE = 2, PM_ROWS_SPREAD = 3 };

typedef struct PmRows {
	int axes;                 /* leading axes that number rows, */
	int64_t dim[PM_MAX_RANK]; /* and their extents */
	int64_t n;                /* rows */
	unsigned char *split;     /* owned; by value id: it has rows, is read whole, or spread; 0: not used */
	int64_t row;              /* most elements of one value in a row */
	int64_t whole;            /* elements of all values that are read whole */
} PmRows;

/* 1 and *out, which is released by pm_rows_release, when the results of a sorted graph whose types are static
 * can be had so; with as many axes as possible. 0, and nothing to release, otherwise. No input is spread. */
int pm_rows_find(const PmGraph *g, PmRows *out);
/* The same, where inputs may be spread: there are more and smaller rows, for who takes them one by one. */
int pm_rows_find_spread(const PmGraph *g, PmRows *out);
void pm_rows_release(PmRows *r);
/* The same graph for n rows: the first axis has them all, the others that number rows are 1. Owned. */
PmStatus pm_rows_graph(const PmGraph *g, const PmRows *r, int64_t n, PmGraph **out, PmErr *err);
/* The rows `row[0..n)`, n >= 1, of what input or output v of g held, as that graph has them; a copy of all
 * where v is read whole. Initialises `to`, which is the caller's, also on failure. */
PmStatus pm_rows_take(const PmRows *r, PmValue v, const PmTensor *from, const int64_t *row, int64_t n,
		      PmTensor *to, PmErr *err);
/* Element i of the rows `row` of a result, as one of all of the result, which has `numel` elements. */
int64_t pm_rows_element(const PmRows *r, int64_t numel, const int64_t *row, int64_t i);

#endif
