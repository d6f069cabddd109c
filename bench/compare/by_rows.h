/* SPDX-License-Identifier: Apache-2.0 */
/* by_rows.h - judges the results of a large graph part by part, so that neither reference is held whole.
 *
 * What is held beside the operands and the results is what a few parts need (pm_by_rows_bytes). Elements are
 * judged as pm_bound_run and pm_bound_fit judge them; bound_fit.c says how the parts' statistics become the
 * whole's.
 */
#ifndef BENCH_BY_ROWS_H
#define BENCH_BY_ROWS_H

#include "bench/compare/allclose.h"
#include "bench/compare/bound/bound.h"
#include "bench/compare/constant.h"
#include "bench/rows/rows.h"

/* A graph of which no value has so many elements is judged whole. */
enum { PM_BY_ROWS_LEAST = 1 << 22 };

/* What was found of one output. */
typedef struct PmByRows {
	int known; /* there is a bound */
	PmBoundFit fit;
	PmComparison c;  /* with the reference, rounded to the output's type */
	PmSpread spread; /* the same */
} PmByRows;

/* 1 and the rows, which the caller releases, where a graph is judged by rows: it is large, has rows, and its
 * results are floating-point numbers. */
int pm_is_by_rows(const PmGraph *g, PmRows *out);

/* 1 when what was found by rows is all that there is to know of a result. Other ways of rounding, which only
 * the whole graph tells, are asked about where there is no bound (`bounded` = 0) or it leaves room for
 * another answer, and what the reference gives is not near enough by itself: by the ladder at a level, where
 * the ladder counts, and nearer than a constant is. */
int pm_by_rows_suffices(const PmByRows *r, int bounded, int ladder, int level);

/* Bytes that judging by rows takes beside operands and results, at most about: for each element of the parts
 * that are in work at once PM_BY_ROWS_ARRAYS numbers, and the operands without rows twice. */
enum { PM_BY_ROWS_ARRAYS = 12 };
int64_t pm_by_rows_bytes(const PmRows *r);

/* Runs the bound on parts of the rows and compares got[i], which is of output i's type, with each. Parts are
 * cut by the graph alone, so that results do not depend on how many processors there are. out: n_out.
 */
PmStatus pm_by_rows(const PmGraph *g, const PmRows *r, const PmTensor *in, size_t n_in,
		    const PmTensor *const *got, size_t n_out, PmPrecisionTier tier, const PmCloseRule *rule,
		    PmByRows *out, PmErr *err);

#endif
