/* SPDX-License-Identifier: Apache-2.0 */
/* constant.h - is a result nearer to what is wanted than the best constant is? */
#ifndef BENCH_CONSTANT_H
#define BENCH_CONSTANT_H

#include "runtime/device/tensor.h"

/* Sums over the elements at which both are finite. Those of parts may be added up. */
typedef struct PmSpread {
	double n, sum, square; /* of what is wanted */
	double off;            /* squares of the differences */
} PmSpread;

/* Adds the elements of two tensors of as many elements. */
void pm_spread_add(PmSpread *s, const PmTensor *want, const PmTensor *got);
void pm_spread_join(PmSpread *s, const PmSpread *part);
/* 1 when less than half of the variance is left over; also where all that is wanted is one number. */
int pm_beats_constant(const PmSpread *s);

#endif
