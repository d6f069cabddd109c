/* SPDX-License-Identifier: Apache-2.0 */
/* two_tables.c - rows of two tables, looked up and added, as one kernel. */
#include "passmith/dsl.h"

enum { A, I, B, J };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void two_tables(const T *a, const long long *i, const T *b, const long long *j, T *y, int width,
					      long long rows_a, long long rows_b)
	{
		const long long p = i[blockIdx.x];
		const long long q = j[blockIdx.x];
		const T *from_a = a + (p < 0 ? p + rows_a : p) * width;
		const T *from_b = b + (q < 0 ? q + rows_b : q) * width;
		T *to = y + blockIdx.x * (long long)width;
		for (int k = threadIdx.x; k < width; k += blockDim.x)
			to[k] = st(ld(from_a[k]) + ld(from_b[k]));
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	if (!pm_same_dtype(m->v[A], m->v[B]) || !pm_same_dim(m->v[A], 1, m->v[B], 1))
		return pm_decline(m, "the tables differ in type or in the width of a row");
	if (!pm_same_shape(m->v[I], m->v[J]))
		return pm_decline(m, "the indices differ in shape");
	if (pm_numel(m->root) <= 0 || pm_dim(m->v[A], 1) > INT32_MAX || pm_numel(m->v[I]) > INT32_MAX)
		return pm_decline(m, "the result is empty, or a size is not known or too large");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t width = pm_dim(m->v[A], 1);

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "two_tables", .source = SRC, .grid = { (uint32_t)pm_numel(m->v[I]) },
		.block = { width > 64 ? 128 : 32 }, .in = PM_VALS(m->v[A], m->v[I], m->v[B], m->v[J]),
		.arg = PM_ARGS(I32(width), I64(pm_dim(m->v[A], 0)), I64(pm_dim(m->v[B], 0))),
		.like = m->root);
}

#define ROWS_OF(table, index)                                                                                \
	WITH(OP(Gather, TYPED(V(table), FLOATS, 2), TYPED(V(index), TYPE(I64), -1)), INT(axis, 0))

PM_RULE(two_tables, .doc = "Gather(a, i) + Gather(b, j) by rows -> one kernel",
	.pattern = OP(Add, ROWS_OF(A, I), ROWS_OF(B, J)), .check = check, .rewrite = rewrite);

PM_PLUGIN("two_tables", "1", &two_tables)
