/* SPDX-License-Identifier: Apache-2.0 */
/* bound.h - how far a right kernel may be from the reference, element by element.
 *
 * Two references are run in double precision on a graph (the body of a kernel, on the very operands the
 * kernel got): y rounds no intermediate value, a Cast to fewer digits included; `eager` rounds each that is
 * of a half type, as an eager run does. A right kernel may round any of them. Beside them runs the standard
 * deviation s of what rounding does to each element, in two parts: what each element has for itself, and what
 * elements have in common. With u = 2^-24 (2^-53 for double), ud the unit roundoff of a value's element type
 * (f32 2^-24, f16 2^-11, bf16 2^-8), K the terms of a sum:
 *
 * Storing v adds u_v / sqrt(3), the standard deviation of a rounding error that is uniform in half a digit;
 * u_v = ud 2^e for 2^e <= |v| < 2^(e+1). Of numbers of no particular size that is r ud |v|, r = 0.4247. A v
 * that its type holds stays v when it is stored, as long as 6.1 s is below u_v / 2: that adds nothing.
 *
 * Sums and products have, for themselves, sqrt(sum w^2 s^2); in common sum |w| s; their own arithmetic is r u
 * sqrt(S (K + 2) + y^2 K / 3), S the sum of the terms' squares: partial sums of K terms in any order that
 * knows nothing of their values (bound_sum.c); and sqrt(p) u K (0.15 |y| + 0.43 sqrt(S)), p the chance of
 * equal neighbours. One term has none. A sum of terms of one sign (reductions, of sizes and squares too,
 * means of all places, softmax) drifts by sum t_e d_e, d_e^2 = (sum rho)^2 - sum rho^2, if that is more: t_e
 * is the share of the steps in which the partial sum has one last digit, rho the terms' errors of being
 * rounded to it. Equal terms are rounded alike, and so are terms as small as that digit (pm__bound_drift).
 * Drift and steps are variances.
 *
 * Element by element it is the change when an operand moves by 6.1 s, over 6.1 (a step: half its height, and
 * where it chooses another operand, that one's error); functions: u sqrt(y^2 + c^2), c what their usual
 * formula cancels, and u |x| as a move. exp(0) is 1: of x - m = 0 what a fused operation leaves, 0.4247 u
 * |m|.
 *
 * (x - mean) k + bias, k = scale / sqrt(var + epsilon), has for itself r u max(sqrt(3) |x - mean| |k|, |x k|)
 * and in common with its channel u sqrt((1 + 1.5 r^2) (x - mean)^2 k^2 + r^2 ((mean k)^2 + (bias - mean
 * k)^2)): the orders that subtract first, and those that fold the shift (bound_affine.c).
 *
 * A norm of rows or groups has what group() in bound_norm.c says, where numbers are denormal also half the
 * least one for the mean, for the difference and for what the scale multiplies.
 *
 * Resize between elements has the errors of positions in float, of weights and of a sum (bound_resize.c).
 *
 * Parts add as variances; linearly where both hold the same earlier rounding (`source`). In common is what is
 * broadcast or copied, what equal elements have (but not of values that their type holds), the error of a
 * line's sum (softmax, normalisations), and of a product's factor its share by the cosine between the columns
 * (rows) of the other factor.
 *
 * What only moves elements (Reshape, Transpose, Slice, Gather, Concat ..) rounds nothing: each element keeps
 * its s, and a sum its terms. Truth values and positions that may be other ones, s > 0, stay so through a
 * view. Where positions are certain the results behind them have a bound; where they are not, none.
 *
 * Softmax with K terms x has the error of its arguments: p_i times what x_i and the sum move by, u sqrt(x_i^2
 * + 1) (1 - p_i) included; beyond the first order, where 6.1 s is over a half, what exp(x +- 6.1 s) makes of
 * p (bound_norm.c). Scores of some hundreds so leave only those elements room that are neither 0 nor 1.
 *
 * The rest has twice the largest change over four random moves of all operands.
 *
 * An element may be off the interval of the two references by c s + ud |y| + least subnormal. Beyond c = 6.1
 * a normal error is once in 10^9; of n > 100 elements c is 6.1 (1 + ln(n / 100) / (6.16 pi)), so that the
 * worst of n is beyond it once in 10^7 (pm__bound_reach). With z the distance over sqrt(s^2 + u_y^2 / 3), n
 * elements and m effective ones (the variance-weighted harmonic mean of how many independent roundings stand
 * behind the parts), also mean of z^2 <= the value that chi^2_m / m exceeds once in 10^7 (Wilson and
 * Hilferty) |mean of z|, |sum z w| / sqrt(n sum w^2) with w = y / sqrt(s^2 + ..) <= 1 / sqrt(3) + 5.2 /
 * sqrt(m) (5.2 standard deviations: once in 10^7; 1 / sqrt(3): a rounded constant is common to all elements,
 * one rounding of three; the drift's share of s where that is more). NaN and infinities stand where they
 * stand in both references; where those differ, or an intermediate value is beyond the range of its type, an
 * element is open: not judged.
 *
 * A comparison `tells` something when the root of the mean square that is admitted is at most a quarter of
 * the standard deviation of the reference's values: then a constant and another element's value are refused.
 * Where no comparison of a result tells anything, the bound does not decide (bench/eval/runner.h).
 *
 * Sources: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2.8 (statistical estimates), 3.3
 * (running error analysis), 4.2 (sums); Higham and Mary, SIAM J. Sci. Comput. 41 (2019): roundings that are
 * independent and of mean zero grow as sqrt(K); Connolly, Higham and Mary, SIAM J. Sci. Comput. 43 (2021):
 * stagnation, where they are not; Wilson and Hilferty, PNAS 17 (1931).
 *
 * Lanes: STRICT is the above. TF32 lets products read operands with 11 bits, rounded or cut off, and
 * functions be as good: s grows by 2^-11 (0.634 sqrt(sum (x w)^2) + 1.443 |y|), of functions by 2^-11 |y|.
 * BF16 lets them be rounded to 8 bits: 2^-8 (0.601 sqrt(sum (x w)^2) + 0.216 |y|). The factors follow from
 * mantissas whose logarithms are uniform, as r does: sqrt(2 (4 r^2 - 1 / (2 ln 2)^2)) and 2 / (2 ln 2) of
 * what is cut off, sqrt(2) r and sqrt(2/3) - sqrt(2) r of what is rounded (add_lane(), bound_sum.c). Where a
 * tier adds something the two means are not limited: what is cut off leans to one side. Sums have to be
 * float32 in each tier: half-precision sums are off by 2^-11 sqrt(K) / 3 of that root, beyond both from about
 * K = 1000.
 */
#ifndef BENCH_BOUND_H
#define BENCH_BOUND_H

#include "runtime/ref/ref.h"

/* In order: what holds in one holds in the next. NONE: in none of them. */
typedef enum PmPrecisionTier { PM_TIER_STRICT, PM_TIER_TF32, PM_TIER_BF16, PM_TIER_NONE } PmPrecisionTier;
const char *pm_tier_name(PmPrecisionTier tier); /* "strict", "tf32", "bf16", "none" */
/* 1 and *tier when `name` is one of the first three. */
int pm_tier_from_name(const char *name, PmPrecisionTier *tier);

/* One output: the two references and what may lie around them. Owns its storage. */
typedef struct PmBound {
	PmRefTensor y;     /* no intermediate value rounded */
	PmRefTensor eager; /* those of half types rounded, as an eager run does; no elements: the same as y */
	double *unit;      /* standard deviation of each element; infinite where open; NULL when all are 0 */
	double *shared;    /* what of it elements have in common; NULL = nothing */
	double *scale;     /* what of that is one factor for a line of elements, all alike; NULL = nothing */
	double inv;        /* 1 / independent roundings behind the elements' errors; 0 where there are none */
	double lean;     /* what of the standard deviation is a drift, of which all may have the same sign */
	double alike;    /* the chance that two neighbours are equal, and rounded alike */
	double equal;    /* the chance that two elements are */
	double *mass;    /* of a sum, its terms' absolute values added up; NULL = |y| */
	uint64_t source; /* the nodes whose roundings are in it */
	int widened;     /* the tier admits more than strict arithmetic */
	int repeats;     /* elements are copies of each other, and so is their rounding */
	int rounds;      /* the last operator rounds to the output's type */
	int known;       /* 0: no rule for some operator on the way; `unit` says nothing */
	PmRefTensor stored; /* of a run: `eager` rounded to its type, once something asked for it */
	double weight;      /* the variance that `inv` is of, over all elements */
	int split;          /* of a part: it has the part's rows alone */
	int lent;           /* of a run: y is another's */
} PmBound;

/* Runs a sorted graph whose types are static. PM_E_UNSUPPORTED when they are not; otherwise as pm_ref_run. */
PmStatus pm_bound_run(const PmGraph *g, const PmTensor *in, size_t n_in, PmPrecisionTier tier, PmBound *out,
		      size_t n_out, PmErr *err);
/* The same, strict, of a kernel that keeps each intermediate value of a half type in float: narrower. There
 * is no `eager`. */
PmStatus pm_bound_kept(const PmGraph *g, const PmTensor *in, size_t n_in, PmBound *out, size_t n_out,
		       PmErr *err);
/* A part of the rows of a larger run (bench/rows/rows.h). */
typedef struct PmBoundRows {
	double parts;               /* rows of the whole over those of this part */
	const unsigned char *split; /* by input: it has the part's rows; the others are as in the whole */
	const PmRefTensor
		*wide; /* by input: those others in double precision, read alone; `in` has their type */
} PmBoundRows;
/* pm_bound_run of a part of the rows of a larger run: what `inv` counts is counted of all. */
PmStatus pm_bound_part(const PmGraph *g, const PmTensor *in, size_t n_in, const PmBoundRows *rows,
		       PmPrecisionTier tier, PmBound *out, size_t n_out, PmErr *err);
void pm_bounds_release(PmBound *b, size_t n); /* each; the array stays the caller's */

/* What a comparison found. All four numbers are 1 at the limit. */
typedef struct PmBoundFit {
	double rms, max;        /* over the tensor; of the worst element */
	double bias, slope;     /* the mean error; the error's part that goes with the reference's values */
	double noise;           /* error that is admitted / spread of the reference's values */
	int tells;              /* it is small enough for a right answer to be told from another one */
	int64_t index;          /* of max, or of the first element of another class; -1 when all are equal */
	double expected, got;   /* there */
	int64_t n_class, open;  /* elements of another class; elements not judged */
	int64_t n_wrong, first; /* elements beyond the limit or of another class; the first of them, or -1 */
	double first_expected;  /* at `first` */
	int within;
} PmBoundFit;

/* Judges a result of the output's type and shape. */
void pm_bound_fit(const PmBound *b, const PmTensor *got, PmBoundFit *out);

/* Sums over the elements that are judged. z: the distance to the interval of the references over its standard
 * deviation s; w = y / s. */
typedef struct PmFitSums {
	double all, n, z, zz, zw, ww; /* n: of those that may be off; ww: of w^2 */
	double of_errors;             /* share of the variance that is not the last rounding's */
	double y, yy, room;           /* room: squared error that is admitted */
	double impossible;            /* something where no error is explained */
} PmFitSums;

/* What a part of the rows says (pm_bound_part): its elements and sums over them, of `fit` what is counted or
 * is of one element, and what it tells of the whole. */
typedef struct PmBoundFitPart {
	int64_t elements;
	PmFitSums sums;
	PmBoundFit fit;
	double weight, inv, lean, equal; /* of PmBound; the chance that two results are equal */
	int widened;
} PmBoundFitPart;
/* Looks at a part of the rows, of which pm_bound_part made the bound; `parts` as in PmBoundRows. */
void pm_bound_fit_part(const PmBound *b, const PmTensor *got, double parts, PmBoundFitPart *out);
/* The parts together, in the order of their rows, as the whole would be judged: the same for each element;
 * sums are added up part by part, and what is estimated from a sample (equal elements) is the mean over
 * parts. */
void pm_bound_fit_parts(const PmBoundFitPart *part, size_t n, PmBoundFit *out);

#endif
