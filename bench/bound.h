/* bound.h - how far a right kernel may be from the reference, element by element.
 *
 * The reference is run in double precision on a graph (the body of a kernel, on the very operands the kernel
 * got), and beside every value runs a unit e >= 0: the error that rounding alone explains, to first order.
 * Operands have e = 0. With u = 2^-24 (2^-53 for double), ud the unit roundoff of a value's element type
 * (f32 2^-24, f16 2^-11, bf16 2^-8), K the terms of a sum, and  f  for a value's error once it is stored,
 * f = e + ud |y| (e alone where the operator does not round):
 *
 *   moves, Relu, Max, ...        e = the operator applied to e
 *   Add, Sub, Mul: e = sum |df/dx| f, and ud |df/dx| |x| of operands that are rounded themselves (the order
 *     of operations is free); sums of such sums: ud/4 of all their terms' absolute values besides
 *   Div, Sqrt, Reciprocal: the same and u/4 |y|
 *   exp, tanh, erf, pow, ...: the same and u (|y|/2 + |df/dx| |x| + what their usual formulas cancel)
 *   sums, products, convolutions: e = sum |w| f_x + sum |x| f_w + u (sum |x w| + sqrt(K)/4 |y|);
 *     scatters that add are sums of what is there and the updates
 *   softmax, normalisations: the same analysis of their textbook formulas (bound_norm.c)
 *   the rest: the largest change over four random moves of all operands by their f
 *
 * |df/dx| f is found by evaluating the operator at x +- 16 f and dividing by 16, so that a step inside that
 * range counts with its height. This is running error analysis (Higham, Accuracy and Stability of Numerical
 * Algorithms, 2nd ed., section 3.3); sum |x w| is the condition of a sum (section 4.2), and the term in
 * sqrt(K) the random walk of a plain sequential sum of values of one sign (section 2.8).
 *
 * A result y of element type d with oracle y* is within the bound when for all elements
 *     |y - y*| <= 16 e + c ud |y*| + least subnormal,   and over the tensor
 *     RMS of |y - y*| / (4 e + c ud |y*| + least subnormal) <= 1,
 * and NaN, +infinity and -infinity stand where they stand in y*. c = 1. Honest float32 sums of centred values
 * have RMS at most 0.55 e and maximum 3.5 e in every order of summation; TF32 operands 58 e and more up to
 * K = 16384. An intermediate value beyond the range of its type makes what depends on it open: not judged.
 *
 * Lanes: STRICT is the above. TF32 lets products read operands with 11 bits, rounded or cut off, and
 * functions be as good: it adds 2^-11 (sqrt(sum (x w)^2) + |y|) / 2. BF16 lets them be rounded to 8 bits: it
 * adds 2^-8 (sqrt(sum (x w)^2) / 5 + |y| / 16). Sums have to be float32 in each lane: half-precision sums are
 * off by 2^-11 sqrt(K) / 3 of that root, beyond both from about K = 1000.
 */
#ifndef BENCH_BOUND_H
#define BENCH_BOUND_H

#include "runtime/ref.h"

/* In order: what holds in one holds in the next. NONE: in none of them. */
typedef enum PmLane { PM_LANE_STRICT, PM_LANE_TF32, PM_LANE_BF16, PM_LANE_NONE } PmLane;
const char *pm_lane_name(PmLane lane); /* "strict", "tf32", "bf16", "none" */
/* 1 and *lane when `name` is one of the first three. */
int pm_lane_from_name(const char *name, PmLane *lane);

/* One output: the oracle's values, unrounded, and e. */
typedef struct PmBound {
	PmRefTensor y;
	double *unit; /* owned; one per element, infinite where open; NULL when all are 0 */
	double *mass; /* owned; of a sum, its terms' absolute values added up; NULL = |y| */
	int rounds;   /* the last operator rounds to the output's type */
	int known;    /* 0: no rule for some operator on the way; `unit` says nothing */
} PmBound;

/* Runs a sorted graph whose types are static. PM_E_UNSUPPORTED when they are not; otherwise as pm_ref_run. */
PmStatus pm_bound_run(const PmGraph *g, const PmTensor *in, size_t n_in, PmLane lane, PmBound *out,
		      size_t n_out, PmErr *err);
void pm_bounds_release(PmBound *b, size_t n); /* each; the array stays the caller's */

/* What a comparison found. Both are 1 at the limit. */
typedef struct PmBoundFit {
	double rms, max;
	int64_t index;         /* of max, or of the first element of another class; -1 when all are equal */
	double expected, got;  /* there */
	int64_t n_class, open; /* elements of another class; elements not judged */
	int within;
} PmBoundFit;

/* Judges a result of the output's type and shape. */
void pm_bound_fit(const PmBound *b, const PmTensor *got, PmBoundFit *out);

#endif
