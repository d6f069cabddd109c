/* SPDX-License-Identifier: Apache-2.0 */
/* either.h - results that are right as one reference has it here and as the other has it there. */
#ifndef BENCH_EITHER_H
#define BENCH_EITHER_H

#include "bench/compare/allclose.h"
#include "bench/compare/bound/bound.h"

/* Where rounding an intermediate value decides much (scores beside a mask of -65504 in float16), a kernel
 * that keeps it in float is off the exact reference by more than a tolerance and still right, and tiles of
 * one kernel may differ in what they keep. *near becomes 1 when each element of `got`
 *
 *  - is close at level t to the one or to the other reference of `b`, or
 *  - is as far off the exact one as arithmetic in float explains (pm_bound_kept), provided that this tells
 *    something (PmBoundFit.tells), and
 *
 * the whole is nearer to what those references have than the best constant is. One that wants the same number
 * everywhere admits nothing here: a constant is never right by this. The body is run again on its operands;
 * `i` is the output that `b` is the bound of. */
PmStatus pm_near_either(const PmGraph *body, const PmTensor *ops, size_t n_in, size_t i, const PmBound *b,
			const PmTensor *got, const PmCloseRule *rule, int t, int *near, PmErr *err);

#endif
