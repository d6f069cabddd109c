/* SPDX-License-Identifier: Apache-2.0 */
/* allclose.h - is a candidate tensor close to the expected one, at every tolerance level, and where is it
 * worst.
 *
 * Element rule: close = (x == y) or (|x - y| is finite and |x - y| <= atol + rtol * |y|), where rtol
 * multiplies the candidate or the expected value (PmCloseRule). All elements must be close; a tensor
 * without elements is close. Infinities are close only to themselves.
 *
 *                     PM_PRESET_PASSNET                       PM_PRESET_SOUND
 * rtol multiplies     the candidate                           the expected value
 * arithmetic          the element type's own, every step      exact: decided on the real numbers
 *                     rounded (as a CUDA device does)         that the bits stand for
 * shapes              broadcast against each other            must be equal
 * NaN                 never close                             close to NaN: positions must agree
 */
#ifndef BENCH_ALLCLOSE_H
#define BENCH_ALLCLOSE_H

#include "bench/compare/tolerance.h"

/* A contiguous tensor in this machine's byte order; borrows everything. `dim` may be NULL at rank 0. */
typedef struct PmTensorView {
	int dtype; /* PmDType */
	int rank;  /* 0..PM_MAX_RANK */
	const int64_t *dim;
	const void *data;
} PmTensorView;

typedef enum PmCloseArith {
	PM_ARITH_CUDA,         /* atol, rtol as float; product, sum and difference in float, each rounded to
				* the element type; f64 in double; integers compared as float when unequal */
	PM_ARITH_TORCH113_CPU, /* the same, but atol and rtol are rounded to f16 / bf16 first */
	PM_ARITH_EXACT         /* no rounding anywhere */
} PmCloseArith;

typedef struct PmCloseRule {
	PmCloseArith arith;
	int rtol_on_candidate; /* else on the expected value */
	int broadcast;         /* unequal shapes are broadcast instead of refused */
	int nan_matches_nan;
} PmCloseRule;

/* How the preset compares: passnet as its scorer does on a GPU, all others exactly. */
PmCloseRule pm_close_rule(PmPreset preset);

/* Same element type, same shape, all elements equal (-0 equals +0; NaN equals NaN only by the rule). */
int pm_tensors_equal(const PmTensorView *expected, const PmTensorView *got, const PmCloseRule *rule);

/* 1 all close, 0 not, -1 when the shapes cannot be compared under the rule or the element types differ.
 * Works for every element type, also those that the score compares by equality. */
int pm_tensors_close(const PmTensorView *expected, const PmTensorView *got, const PmTol *tol,
		     const PmCloseRule *rule);

/* 1 when the tensors have the same float type and shape and every element is close at level t by a margin of
 * two, so that rounding here cannot matter; 0 says nothing. Much faster than the others, and written for
 * those who ask them next. Infinities and NaN are never surely close. */
int pm_surely_close(const PmTensorView *expected, const PmTensorView *got, int t);

/* The element that is furthest off, in units of the t = -5 tolerance (plain difference for element types
 * without tolerance; an infinity or NaN on one side only comes before all others; the first one wins). */
typedef struct PmWorst {
	int64_t index; /* row-major, in the expected (or broadcast) shape; -1 when nothing differs */
	double expected, got;
	double abs, rel; /* |expected - got|, and that divided by |expected| */
	double ulp;      /* representable values between the two; the difference for integers */
} PmWorst;

typedef struct PmComparison {
	int same_dtype, same_shape;
	int comparable; /* 0: dtype or shape rule broken, nothing was compared, every verdict is 0 */
	int equal;
	signed char close[PM_T_COUNT]; /* with the pair of the expected element type; `equal` for others */
	int smallest_t;                /* lowest level that passes, PM_T_NEVER when none */
	int64_t numel, n_different, n_wrong; /* n_wrong: not close at t = -5 */
	PmWorst worst, first;                /* first: the first that is not close at t = -5 */
} PmComparison;

/* Everything above in one pass over the data. Total: malformed views give comparable = 0. */
void pm_compare(const PmTensorView *expected, const PmTensorView *got, const PmCloseRule *rule,
		PmComparison *out);
/* Adds to *all, which is the comparison of the elements before `at` (zeroed: of none), that of the elements
 * from there on. Both are of tensors of one floating-point type. The result is pm_compare's of all of them.
 */
void pm_comparison_join(PmComparison *all, const PmComparison *part, int64_t at, int dtype);

#endif
