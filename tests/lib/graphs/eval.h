/* SPDX-License-Identifier: Apache-2.0 */
/* eval.h - one operator at a time on the reference device, for tests that compare two ways of computing.
 *
 * Everything fails the running test when it cannot be done. Tensors are double or int64 unless said
 * otherwise, so that results chain without rounding.
 */
#ifndef TESTS_LIB_EVAL_H
#define TESTS_LIB_EVAL_H

#include "base/core/rng.h"
#include "runtime/device/tensor.h"

#include <stddef.h>

enum { EVAL_MAX_OPERANDS = 16 };

/* A tensor of the given dtype and dimensions, all elements 0 / normal / integers in [lo, hi]. */
PmTensor eval_tensor(int dtype, int rank, const int64_t *dim);
PmTensor eval_normal(PmRng *r, int rank, const int64_t *dim);
PmTensor eval_ints(PmRng *r, int64_t lo, int64_t hi, int rank, const int64_t *dim);
/* A vector of n elements converted to dtype. */
PmTensor eval_vector(int dtype, const double *v, int64_t n);

/* Runs op on the operands (a type of dtype -1 = omitted); `extra` adds constant operands in the words of
 * one_node.h and may be NULL. The first form returns the status instead of failing. */
PmStatus eval_try(const char *op, const char *attrs, const PmTensor *in, size_t n_in, const char *extra,
		  PmTensor *out, size_t n_out, PmErr *err);
void eval_all(const char *op, const char *attrs, const PmTensor *in, size_t n_in, const char *extra,
	      PmTensor *out, size_t n_out);
PmTensor eval1(const char *op, const char *attrs, PmTensor a);
PmTensor eval2(const char *op, const char *attrs, PmTensor a, PmTensor b);
PmTensor eval3(const char *op, const char *attrs, PmTensor a, PmTensor b, PmTensor c);
/* eval1 with constant operands. */
PmTensor eval_with(const char *op, const char *attrs, PmTensor a, const char *extra);

/* The same, and the operands are released: for calls inside calls. */
PmTensor eval_take1(const char *op, const char *attrs, PmTensor a);
PmTensor eval_take2(const char *op, const char *attrs, PmTensor a, PmTensor b);
PmTensor eval_take3(const char *op, const char *attrs, PmTensor a, PmTensor b, PmTensor c);
PmTensor eval_take_with(const char *op, const char *attrs, PmTensor a, const char *extra);

/* Equal types, and elements within rel of the larger magnitude (or abs below 1); 0 = exactly equal. Both are
 * released. */
void eval_same(PmTensor got, PmTensor want, double rel, const char *what);

/* "name=[1,2]" into a buffer of its own (8 of them take turns). */
const char *eval_list(const char *name, const int64_t *v, size_t n);

#endif
