/* SPDX-License-Identifier: Apache-2.0 */
/* defined.h - for which operands an operator's result is defined.
 *
 * Honest kernels of one operator may differ where its definition leaves the result open: where a row's
 * largest element is infinite, what a NaN is as an integer, a shift by more bits than there are. Inputs that
 * lead a graph there are no test of a kernel. The table is in defined.c and, in words, in
 * docs/reference/scoring.md.
 */
#ifndef BENCH_DEFINED_H
#define BENCH_DEFINED_H

#include "runtime/ref/ref.h"

/* Kinds of values, and of what happened to them; bits of a mask. */
enum {
	PM_KIND_NAN = 1,
	PM_KIND_PLUS_INF = 2,
	PM_KIND_MINUS_INF = 4,
	PM_KIND_DENORMAL = 8,
	PM_KIND_MINUS_ZERO = 16,
	PM_KIND_WRAP = 32, /* an integer result is not the one of unbounded arithmetic */
	PM_KIND_TIE = 64,  /* the largest of what is compared stands there twice */
	PM_N_VALUE_KINDS = 7
};
/* "nan", "+inf", ...; k is the number of the bit. */
const char *pm_kind_name(int k);
/* Kinds among a tensor's elements (the first five), and *largest: the greatest magnitude of a finite one. */
unsigned pm_kinds_of(const PmRefTensor *t, double *largest);

/* What stands in the way when the operands of a node that has run lead where its result is not defined, as a
 * part of a sentence ("+inf in a row"), or NULL. */
const char *pm_undefined(const PmRefCall *c);
/* Greatest magnitude of operands for which results of honest kernels may be compared: where the operator's
 * usual formula squares its operand or reduces it by a period. */
double pm_defined_up_to(PmOp op);

#endif
