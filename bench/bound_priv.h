/* bound_priv.h - what the files of the error bound share. */
#ifndef BENCH_BOUND_PRIV_H
#define BENCH_BOUND_PRIV_H

#include "bench/bound.h"

/* One operator with its operands' and results' units. */
typedef struct PmBoundCall {
	PmRefCall call; /* run: results are there */
	PmBound *in;    /* borrowed storage, in step with call.in */
	PmBound *out;   /* unit: allocated by the rule, NULL = 0; y is in step with call.out */
	PmLane lane;
} PmBoundCall;

/* Unit roundoff and least positive value of an element type; 0 for types that are not floating point. */
double pm__bound_ud(int dtype);
double pm__bound_tiny(int dtype);
double pm__bound_largest(int dtype); /* finite value; infinity where that is no limit */
/* Unit roundoff of sums in that type: float for all but double. */
double pm__bound_u(int dtype);
/* f of operand k, or NULL when it is exact. Owned by the caller. */
double *pm__bound_full(const PmBoundCall *c, size_t k);
/* Runs the operator on other operands; `out` are n_out results, released by the caller also on failure. */
PmStatus pm__bound_again(const PmBoundCall *c, const PmRefTensor *in, PmRefTensor *out, PmErr *err);
/* Unit of result k, made at need. */
double *pm__bound_unit(PmBoundCall *c, size_t k);
/* Terms of the sums in the operator, about. */
double pm__bound_terms(const PmBoundCall *c);

void pm__bound_release_all(PmRefTensor *t, size_t n);
/* Whatever the units would be, they are not known. */
void pm__bound_lose(PmBoundCall *c);
/* Floating-point results have been rounded to their type. */
void pm__bound_rounded(PmBoundCall *c);

typedef PmStatus PmBoundRule(PmBoundCall *c, PmErr *err);
/* bound_move.c */
PmBoundRule pm__bound_exact, pm__bound_stepped, pm__bound_cast, pm__bound_arithmetic, pm__bound_function,
	pm__bound_move, pm__bound_sampled;
PmBoundRule pm__bound_product, pm__bound_sum, pm__bound_scatter, pm__bound_squares,
	pm__bound_extreme;                          /* bound_sum.c */
PmBoundRule pm__bound_softmax, pm__bound_normalise; /* bound_norm.c */
/* What operands' errors do, and with `u` > 0 errors of u |x| in each floating-point operand as well. */
PmStatus pm__bound_move_operands(PmBoundCall *c, double u, PmErr *err);
/* How large the terms are that cancel in a function of x (bound_rules.c). */
double pm__bound_cancels(const PmBoundCall *c, double x);
/* The rule of an operator. */
PmBoundRule *pm__bound_rule(const PmBoundCall *c);

#endif
