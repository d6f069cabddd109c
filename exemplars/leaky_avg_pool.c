/* SPDX-License-Identifier: Apache-2.0 */
/* leaky_avg_pool.c - a leaky ReLU and the mean of 2 x 2 windows as one kernel. */
#include "passmith/dsl.h"

enum { X, R };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	__device__ __forceinline__ float leaky(T x, float alpha)
	{
		const float v = ld(x);
		return v >= 0.f ? v : alpha * v;
	}
	extern "C" __global__ void leaky_avg_pool(const T *x, T *y, int n, int w, int plane, int ow, int ow_m, int ow_s, int oh, int oh_m,
						  int oh_s, float alpha)
	{
		const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
		if (i >= (unsigned)n)
			return;
		const pm_divisor by_ow = { (unsigned)ow, (unsigned)ow_m, (unsigned)ow_s };
		const pm_divisor by_oh = { (unsigned)oh, (unsigned)oh_m, (unsigned)oh_s };
		const unsigned row = by_ow.quotient(i);
		const unsigned image = by_oh.quotient(row);
		const T *p = x + image * (long long)plane + (row - image * oh) * 2ll * w + (i - row * ow) * 2;
		y[i] = st((leaky(p[0], alpha) + leaky(p[1], alpha) + leaky(p[w], alpha) + leaky(p[w + 1], alpha)) * 0.25f);
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	if (pm_numel(m->v[X]) <= 0 || pm_numel(m->v[X]) > INT32_MAX || pm_numel(m->root) <= 0)
		return pm_decline(
			m, "x is empty, or its size is not known or too large for the kernel's indices");
	if (m->out.n > 1)
		return pm_decline(m, "the activation is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal x = m->v[X], y = m->root;
	int64_t n = pm_numel(y), w = pm_dim(x, 3), plane = pm_span(x, 2, 4);
	double alpha = pm_attr_f(m->v[R], "alpha", 0.01);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "leaky_avg_pool", .source = SRC,
				      .grid = { pm_blocks(n, 256) }, .block = { 256 }, .in = PM_VALS(x),
				      .arg = PM_ARGS(I32(n), I32(w), I32(plane), DIVISOR(pm_dim(y, 3)),
						     DIVISOR(pm_dim(y, 2)), F32(alpha)),
				      .like = y);
}

#define POOL_2X2(p)                                                                                          \
	WITH(OP(AveragePool, p), INTS(kernel_shape, 2, 2), INTS(strides, 2, 2), INTS(pads, 0, 0, 0, 0),      \
	     INTS(dilations, 1, 1))

PM_RULE(leaky_avg_pool, .doc = "AveragePool 2 x 2 of LeakyRelu(x) -> one kernel",
	.pattern = POOL_2X2(AS(R, ANYATTR(OP(LeakyRelu, TYPED(V(X), FLOATS, 4))))), .check = check,
	.rewrite = rewrite);

PM_PLUGIN("leaky_avg_pool", "1", &leaky_avg_pool)
