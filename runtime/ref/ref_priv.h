/* SPDX-License-Identifier: Apache-2.0 */
/* ref_priv.h - what the files of the reference device share.
 *
 * Every operator function gets operands and results whose types inference has checked; it reads attributes
 * from the node and fills the results. Elements are row-major and contiguous; results start zeroed.
 */
#ifndef RUNTIME_REF_PRIV_H
#define RUNTIME_REF_PRIV_H

#include "runtime/ref/ref.h"

#include <math.h>

enum { PM__REF_MAX_AXES = 2 * PM_MAX_RANK };
/* Elements (or operations of about a nanosecond) from which on a thread is worth its start. */
enum { PM__REF_LEAST = 1 << 15 };

typedef PmStatus PmRefFn(const PmRefCall *c, PmErr *err);

/* One declaration per ref token of ops.def (rows may share one); a missing function is a link error. */
#define OP(name, in_min, in_max, out_min, out_max, flags, types, attrs, shape, ref, expr, iexpr)             \
	PmRefFn pm__ref_##ref;
#include "ir/core/ops.def"
#undef OP

/* Fails with "node 3 (Gather 'x'): <text>". */
PmStatus pm__ref_fail(const PmRefCall *c, PmErr *err, PmStatus code, const char *fmt, ...) PM_PRINTF(4, 5);
/* Operand k, or NULL when it was omitted. */
const PmRefTensor *pm__ref_in(const PmRefCall *c, size_t k);

/* Result k of a DATA row turns out to be of type `t`: allocates it, or checks it against what the graph says.
 */
PmStatus pm__ref_sized(const PmRefCall *c, size_t k, const PmType *t, PmErr *err);

/* Row-major strides of a type, in elements. */
void pm__ref_strides(const PmType *t, int64_t *stride);
/* Strides of `t` seen through the dimensions of `to` (aligned right; 0 where it is broadcast). */
void pm__ref_broadcast_strides(const PmType *t, const PmType *to, int64_t *stride);
/* Product of dimensions [from, to). */
int64_t pm__ref_extent(const PmType *t, int from, int to);
/* Rounds once to the precision of a floating-point dtype. */
double pm__ref_round(int dtype, double v);
/* exp(v): what is 0 in double precision is so at once, where the library's function goes a long way round. */
static inline double pm__ref_exp(double v)
{
	return v < -746 ? 0 : exp(v);
}

/* A walk over an index space: `at` are the coordinates. */
typedef struct PmRefWalk {
	int rank;
	int64_t dim[PM__REF_MAX_AXES], at[PM__REF_MAX_AXES];
} PmRefWalk;
/* Advances the last coordinate below `rank`; 0 at the end. */
int pm__ref_walk_next(PmRefWalk *w);

/* Copies a box of elements between strided places. */
typedef struct PmRefCopy {
	int rank;
	int64_t dim[PM__REF_MAX_AXES];
	int64_t to_offset, to_stride[PM__REF_MAX_AXES];
	int64_t from_offset, from_stride[PM__REF_MAX_AXES];
} PmRefCopy;
void pm__ref_copy(PmRefTensor *to, const PmRefTensor *from, const PmRefCopy *box);

/* c[m x n] += a[m x k] * b[k x n], row-major with row lengths lda, ldb, ldc. Every element is summed in the
 * order of k, whatever the blocking. */
void pm__ref_gemm_f(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b,
		    int64_t ldb, double *c, int64_t ldc);
/* For tests: vectors of at most so many elements; 2, 4 or 8, which is the start. No bit depends on it. */
void pm__ref_vectors(int lanes);
/* The same in 64-bit integers that wrap. */
void pm__ref_gemm_i(int64_t m, int64_t n, int64_t k, const int64_t *a, int64_t lda, const int64_t *b,
		    int64_t ldb, int64_t *c, int64_t ldc);

#endif
