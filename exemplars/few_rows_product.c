/* SPDX-License-Identifier: Apache-2.0 */
/* few_rows_product.c - x @ w + bias for few rows of x: one kernel that reads w once for every four rows. */
#include "passmith/dsl.h"

enum { X, W, BIAS };

enum { ROWS = 4, MOST_ROWS = 64 };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void few_rows_product(const T *x, const T *w, const T *bias, T *y, int m, int k, int n)
	{
		__shared__ float part[8][ROWS][32];
		const int column = blockIdx.x * 32 + threadIdx.x;
		const int at = column < n ? column : 0;
		const int first = blockIdx.y * ROWS;
		float sum[ROWS] = { 0.f };
		for (int i = threadIdx.y; i < k; i += 8) {
			const float b = ld(w[i * (long long)n + at]);
			for (int r = 0; r < ROWS; r++)
				if (first + r < m)
					sum[r] += ld(x[(first + r) * (long long)k + i]) * b;
		}
		for (int r = 0; r < ROWS; r++)
			part[threadIdx.y][r][threadIdx.x] = sum[r];
		__syncthreads();
		if (threadIdx.y < ROWS && first + threadIdx.y < m && column < n) {
			float v = 0.f;
			for (int s = 0; s < 8; s++)
				v += part[s][threadIdx.y][threadIdx.x];
			y[(first + threadIdx.y) * (long long)n + column] = st(v + ld(bias[column]));
		}
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	PmVal x = m->v[X], w = m->v[W], bias = m->v[BIAS];

	if (!pm_same_dtype(x, w) || !pm_same_dtype(x, bias))
		return pm_decline(m, "the operands differ in type");
	if (pm_numel(x) <= 0 || pm_numel(w) <= 0 || pm_dim(x, 1) > INT32_MAX || pm_dim(w, 1) > INT32_MAX)
		return pm_decline(m, "an operand is empty, or its size is not known or too large");
	if (pm_rank(bias) != 1 || !pm_same_dim(bias, 0, w, 1))
		return pm_decline(m, "the bias does not have one element per column");
	if (pm_dim(x, 0) > MOST_ROWS)
		return pm_decline(
			m, "x has more than 64 rows: there the library's product is faster than this kernel");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t rows = pm_dim(m->v[X], 0), k = pm_dim(m->v[X], 1), n = pm_dim(m->v[W], 1);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "few_rows_product", .source = SRC,
				      .grid = { pm_blocks(n, 32), pm_blocks(rows, ROWS) }, .block = { 32, 8 },
				      .define = PM_DEFINES(DEF(ROWS, ROWS)),
				      .in = PM_VALS(m->v[X], m->v[W], m->v[BIAS]),
				      .arg = PM_ARGS(I32(rows), I32(k), I32(n)), .like = m->root);
}

PM_RULE(few_rows_product, .doc = "MatMul(x, w) + bias for at most 64 rows -> one kernel",
	.pattern = OP(Add, OP(MatMul, TYPED(V(X), FLOATS, 2), TYPED(V(W), FLOATS, 2)), V(BIAS)),
	.check = check, .rewrite = rewrite);

PM_PLUGIN("few_rows_product", "1", &few_rows_product)
