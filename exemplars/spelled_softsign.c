/* SPDX-License-Identifier: Apache-2.0 */
/* spelled_softsign.c - x / (1 + |x|), written as three operators, as one kernel. */
#include "passmith/dsl.h"

enum { X };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	__device__ __forceinline__ float softsign(float v)
	{
		return v / (1.f + fabsf(v));
	}
	extern "C" __global__ void softsign_vec(const T *x, T *y, long long n)
	{
		const int V = 16 / (int)sizeof(T);
		const long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * V;
		if (i + V <= n && pm_aligned(x, 16) && pm_aligned(y, 16)) {
			pm_vec<T, V> a = pm_load<V>(x + i);
			for (int k = 0; k < V; k++)
				a[k] = st(softsign(ld(a[k])));
			pm_store<V>(y + i, a);
		} else {
			for (long long k = i; k < n && k < i + V; k++)
				y[k] = st(softsign(ld(x[k])));
		}
	}
	extern "C" __global__ void softsign_one(const T *x, T *y, long long n)
	{
		const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
		if (i < n)
			y[i] = st(softsign(ld(x[i])));
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	if (pm_numel(m->v[X]) <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	if (!pm_same_type(m->v[X], m->root))
		return pm_decline(m, "the constant 1 has more dimensions than x");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]), each = 16 / pm_dtype_bytes(pm_dtype(m->v[X]));
	PmArgs arg = PM_ARGS(I64(n));

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "softsign_vec", .source = SRC, .grid = { pm_blocks(n, 256 * each) },
		.block = { 256 }, .in = PM_VALS(m->v[X]), .arg = arg, .like = m->root,
		.alt = PM_ALTERNATIVE(.entry = "softsign_one", .source = SRC, .grid = { pm_blocks(n, 256) },
				      .block = { 256 }, .arg = arg));
}

PM_RULE(spelled_softsign, .doc = "x / (1 + |x|) -> one kernel",
	.pattern = OP(Div, TYPED(V(X), FLOATS, -1), OP(Add, OP(Abs, V(X)), NUM(1))), .check = check,
	.rewrite = rewrite);

PM_PLUGIN("spelled_softsign", "1", &spelled_softsign)
