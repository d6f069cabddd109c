/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - graphs whose results can be had row by row, so that a large one is judged in parts.
 *
 * The first `axes` axes of every value that a node makes are the same, and no operator mixes what lies at
 * different places of them: a softmax over the last axis, normalisations, what is element-wise, products with
 * a matrix. A row is what such a place holds. Operands without rows (a weight, a bias) are inputs or
 * constants, and each part reads them whole.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "ir/core/graph.h"

enum { PM_ROWS_SPLIT = 1, PM_ROWS_WHOLE = 2 };

typedef struct PmRows {
	int axes;             /* leading axes that number rows */
	int64_t n;            /* rows */
	unsigned char *split; /* owned; by value id: it has rows, or is read whole; 0: not used */
	int64_t row;          /* most elements of one value in a row */
	int64_t whole;        /* elements of all values that are read whole */
} PmRows;

/* 1 and *out, which is released by pm_rows_release, when the results of a sorted graph whose types are static
 * can be had so; with as many axes as possible. 0, and nothing to release, otherwise. */
int pm_rows_find(const PmGraph *g, PmRows *out);
void pm_rows_release(PmRows *r);
/* The same graph for n rows: the first axis has them all, the others that number rows are 1. Owned. */
PmStatus pm_rows_graph(const PmGraph *g, const PmRows *r, int64_t n, PmGraph **out, PmErr *err);

#endif
