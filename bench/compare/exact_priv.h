/* SPDX-License-Identifier: Apache-2.0 */
/* exact_priv.h - |x - y| <= atol + rtol * |y| decided without rounding, for doubles and 64-bit integers. */
#ifndef BENCH_EXACT_PRIV_H
#define BENCH_EXACT_PRIV_H

#include "bench/compare/tolerance.h"

/* 0 when x or y is not finite and they differ, or when the pair is negative or not finite. */
int pm__exact_close_f64(double x, double y, const PmTol *tol);
int pm__exact_close_i64(int64_t x, int64_t y, const PmTol *tol);

#endif
