/* SPDX-License-Identifier: Apache-2.0 */
/* product_scale_add_relu.c - max(c * (x @ w) + r, 0) as one kernel: the product stays in registers. */
#include "passmith/dsl.h"

enum { X, W, R, FACTOR };

enum { TILE = 16 };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void product_scale_add_relu(const T *x, const T *w, const T *r, T *y, int m, int k, int n, float factor)
	{
		__shared__ float a[TILE][TILE + 1];
		__shared__ float b[TILE][TILE + 1];
		const int tx = threadIdx.x;
		const int ty = threadIdx.y;
		const int row = blockIdx.y * TILE + ty;
		const int column = blockIdx.x * TILE + tx;
		float v = 0.f;
		for (int first = 0; first < k; first += TILE) {
			a[ty][tx] = row < m && first + tx < k ? ld(x[row * (long long)k + first + tx]) : 0.f;
			b[ty][tx] = first + ty < k && column < n ? ld(w[(first + ty) * (long long)n + column]) : 0.f;
			__syncthreads();
			float part = 0.f;
			for (int i = 0; i < TILE; i++)
				part += a[ty][i] * b[i][tx];
			v += part;
			__syncthreads();
		}
		if (row < m && column < n) {
			const long long at = row * (long long)n + column;
			v = v * factor + ld(r[at]);
			y[at] = st(v < 0.f ? 0.f : v);
		}
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	PmVal x = m->v[X], w = m->v[W];
	double factor;

	if (!pm_same_dtype(x, w) || !pm_same_type(m->v[R], m->root))
		return pm_decline(m, "an operand has another type, or the residual another shape");
	if (pm_numel(x) <= 0 || pm_numel(w) <= 0 || pm_dim(x, 0) > 65535 * (int64_t)TILE ||
	    pm_dim(x, 1) > INT32_MAX || pm_dim(w, 1) > INT32_MAX)
		return pm_decline(m, "an operand is empty, or its size is not known or too large");
	if (!pm_scalar(m->v[FACTOR], &factor))
		return pm_decline(m, "the factor is not one constant number");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t rows = pm_dim(m->v[X], 0), k = pm_dim(m->v[X], 1), n = pm_dim(m->v[W], 1);
	double factor = 1;

	pm_scalar(m->v[FACTOR], &factor);
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "product_scale_add_relu", .source = SRC,
		.grid = { pm_blocks(n, TILE), pm_blocks(rows, TILE) }, .block = { TILE, TILE },
		.define = PM_DEFINES(DEF(TILE, TILE)), .in = PM_VALS(m->v[X], m->v[W], m->v[R]),
		.arg = PM_ARGS(I32(rows), I32(k), I32(n), F32(factor)), .like = m->root);
}

#define PRODUCT OP(MatMul, TYPED(V(X), FLOATS, 2), TYPED(V(W), FLOATS, 2))

PM_RULE(product_scale_add_relu, .doc = "Relu(c * (x @ w) + r) -> one kernel",
	.pattern = OP(Relu, OP(Add, OP(Mul, PRODUCT, V(FACTOR)), V(R))), .check = check, .rewrite = rewrite);

PM_PLUGIN("product_scale_add_relu", "1", &product_scale_add_relu)
