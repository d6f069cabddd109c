/* SPDX-License-Identifier: Apache-2.0 */
/* bound_priv.h - what the files of the error bound share. */
#ifndef BENCH_BOUND_PRIV_H
#define BENCH_BOUND_PRIV_H

#include "base/sys/threads.h"
#include "bench/compare/bound/bound.h"

/* Elements from which on a thread is worth its start. */
enum { PM_BOUND_LEAST = 1 << 14 };

/* How far operands are moved to see what their errors do, in standard deviations: a normal error is further
 * off once in 10^9. One of few elements may be off by as much. */
#define PM_BOUND_REACH 6.1

/* How many standard deviations an element may be off where n are looked at, so that a right result is refused
 * about once in 10^7, as by the statistics over all: up to 100 elements PM_BOUND_REACH. The longest tail is
 * that of a sum's own arithmetic (pm__bound_steps), whose sqrt(t / sinh t) has its poles at pi: exp(-pi x) of
 * x = 6.16 there. n / 100 times as many elements are allowed for by ln(n / 100) / pi more of them: 9.0 for
 * 10^6. */
double pm__bound_reach(double n);

/* A rounding error over u |v|, in root mean square, where logarithms of mantissas are uniform (numbers of no
 * particular size): sqrt((1 - 1/4) / (2 ln 2) / 3). */
#define PM_BOUND_ROUNDING 0.4247

/* One operator with its operands' and results' errors. */
typedef struct PmBoundCall {
	PmRefCall call; /* run: results are there */
	PmBound *in;    /* borrowed storage, in step with call.in */
	PmBound *out;   /* unit: allocated by the rule, NULL = 0; y is in step with call.out */
	double *weight; /* by result: the variance that was added up, and that times each part's `inv` */
	double *spread;
	uint64_t used; /* roundings whose effect is in the results already */
	PmPrecisionTier tier;
	double parts; /* this is one of so many parts of the elements: PmBoundRows */
	int widened;  /* the tier admits more here than strict arithmetic */
} PmBoundCall;

/* What an operand's errors do to a result: one standard deviation an element (owned by who adds it). */
typedef struct PmBoundPart {
	double *all, *shared; /* shared: what elements have in common, at most `all`; NULL = 0 */
	double inv;           /* 1 / independent roundings in it */
	uint64_t source;      /* the roundings, by node */
} PmBoundPart;

/* Adds a part to result k and frees its arrays: as variances, or linearly where a rounding is in it that is
 * there already. */
void pm__bound_add(PmBoundCall *c, size_t k, PmBoundPart *p);
/* What the operator adds by its own arithmetic stands in the unit: counts it as such. To be called once,
 * before any part is added. `groups` of elements have it in common; 0 = each has its own. */
void pm__bound_own(PmBoundCall *c, size_t k, int64_t groups);

/* Unit roundoff and least positive value of an element type; 0 for types that are not floating point. */
double pm__bound_ud(int dtype);
double pm__bound_tiny(int dtype);
/* What admits a 0 for any denormal result of a function: 1 / (1 + exp x) is 0 where exp x is infinite, and
 * fast divisions give 0 from a divisor of 2^126 on (CUDA C++ Programming Guide, __fdividef). */
double pm__bound_flushed(int dtype);
double pm__bound_largest(int dtype); /* finite value; infinity where that is no limit */
/* u 2^e for 2^e <= |v| < 2^(e+1): half the distance of the values around v in a type of unit roundoff u, the
 * most that rounding v to it is off. 0 for 0. */
double pm__bound_half_digit(double u, double v);
/* 1 when the type holds v as it is: a correctly rounded operation whose exact result is v makes v. Of double
 * that cannot be seen here. */
int pm__bound_holds(int dtype, double v);
/* The type that sums of elements of that type are kept in; float for types that are not floating point. */
const PmFloatType *pm__bound_sums(int dtype);
/* Its unit roundoff. */
double pm__bound_u(int dtype);
/* The standard deviation of operand k once it is stored, or NULL when it is exact. Owned by the caller. */
double *pm__bound_full(const PmBoundCall *c, size_t k);
/* What of f = pm__bound_full() elements have in common; NULL = nothing. Owned by the caller. */
double *pm__bound_common(const PmBoundCall *c, size_t k, const double *f);
/* 1 / independent roundings among n elements of a result that come of operand k. */
double pm__bound_inv(const PmBoundCall *c, size_t k, int64_t n);
/* The chance that two elements, weighted by the squares of e (NULL: all but zeros alike), are equal once
 * rounded to a type: such have the same errors. From a sample; to about 0.1 %. */
double pm__bound_equal(const PmRefTensor *t, int dtype, const double *e);
/* The chance that two elements are equal once rounded to float, and have the same error for that: one that
 * the tensor's type holds is rounded only for the error it has already. */
double pm__bound_rounded_alike(const PmRefTensor *t);
/* The chance that two neighbours along some axis are equal and no zeros: the terms of a sum may be, although
 * its results are all different. */
double pm__bound_neighbours(const PmRefTensor *t);
double pm__bound_round(int dtype, double v); /* to the nearest value of a floating-point type */
/* Runs the operator on other operands; `out` are n_out results, released by the caller also on failure. */
PmStatus pm__bound_again(const PmBoundCall *c, const PmRefTensor *in, PmRefTensor *out, PmErr *err);
/* Unit of result k, made at need. */
double *pm__bound_unit(PmBoundCall *c, size_t k);
/* Terms of the sums in the operator, about. */
double pm__bound_terms(const PmBoundCall *c);

/* Variance of a sum's own arithmetic over (PM_BOUND_ROUNDING u)^2, from the number of its terms, the sum of
 * their squares and its result; 0 for one term. */
double pm__bound_steps(double terms, double squares, double y);

/* How far a plain loop's sum of n terms of one sign drifts; 0 where signs differ (partial sums have no known
 * size then, and roundings no common sign), and of two terms. A sum is a multiple of its last digit 2 h, so
 * that a term v changes it by v rounded to such a multiple: not at all where |v| < h. While the partial sum
 * has the last digit 2 h_e = 2 h / 2^e, a share t_e of the steps, the errors rho = round(v, 2 h_e) - v add up
 * to t_e D_e, D_e = sum rho of all terms. In D_e^2 the squares rho^2 are what independent steps make, which
 * are counted as such (pm__bound_steps); the products of two, D_e^2 - sum rho^2, come to nothing on average
 * unless terms are equal, or so small that they are rounded the same way.
 *
 * A drift D and steps of standard deviation s make an error of D + c s only where independent ones make c s.
 * That is at most sqrt(1 + c^2) sqrt(D^2 + s^2), so that D may be added as a variance. What then is the mean
 * of many such errors over their standard deviation is up to D / sqrt(D^2 + s^2): PmBound.lean.
 *
 * Where terms are of one size t_0 = 1 - r, t_e = r / 2^e, r = 2^k / sum, 2^k the power of two below it. A
 * term that is all of the sum may come first, and then t_0 = 1; between the two stands the root of the terms'
 * squares over their sum, as in of_equal() (bound_sum.c). */
double pm__bound_drift(const double *term, int64_t n, double u);
/* Of result 0's own variance, added up over its elements to `all`, so much is that of drifts. */
void pm__bound_leans(PmBoundCall *c, double drifts, double all);

/* The node's bit in PmBound.source; nodes 64 apart have the same, which only widens. */
uint64_t pm__bound_bit(const PmBoundCall *c);
/* It is a Cast to a floating-point type of fewer digits. */
int pm__bound_narrows(const PmBoundCall *c);
/* It is a Cast of a floating-point type to itself. */
int pm__bound_same_type(const PmBoundCall *c);

void pm__bound_release_all(PmRefTensor *t, size_t n);
/* Whatever the units would be, they are not known. */
void pm__bound_lose(PmBoundCall *c);
/* Floating-point results have been rounded to their type. */
void pm__bound_rounded(PmBoundCall *c);

typedef PmStatus PmBoundRule(PmBoundCall *c, PmErr *err);
/* bound_move.c */
PmBoundRule pm__bound_exact, pm__bound_stepped, pm__bound_cast, pm__bound_arithmetic, pm__bound_function,
	pm__bound_move, pm__bound_view, pm__bound_sampled;
PmBoundRule pm__bound_product, pm__bound_sum, pm__bound_scatter, pm__bound_squares,
	pm__bound_extreme;                          /* bound_sum.c */
PmBoundRule pm__bound_softmax, pm__bound_normalise; /* bound_norm.c */
PmBoundRule pm__bound_batch_norm;                   /* bound_affine.c */
PmBoundRule pm__bound_resize;                       /* bound_resize.c */
/* What operands' errors do, and with `u` > 0 errors of u |x| in each floating-point operand as well. */
PmStatus pm__bound_move_operands(PmBoundCall *c, double u, PmErr *err);
/* How large the terms are that cancel in a function of x (bound_rules.c). */
double pm__bound_cancels(const PmBoundCall *c, double x);
/* The rule of an operator; one that loses the units where there is none. */
PmBoundRule *pm__bound_rule(const PmBoundCall *c);
int pm__bound_has_rule(PmOp op);
/* Why an operator has no rule; NULL where it has one. */
const char *pm__bound_no_rule(PmOp op);

#endif
