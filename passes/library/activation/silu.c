/* SPDX-License-Identifier: Apache-2.0 */
/* silu.c - x * sigmoid(x) as one kernel.
 *
 * Run apart, Sigmoid reads x and writes a temporary, and Mul reads both and writes y: five elements moved per
 * output element. The kernel reads x and writes y: two.
 *
 * Mined: 5235 places in 220 of 811 models; in 26 of the 400 structures with most time at stake, the first
 * of rank 6. Measured on an H200: 1x64x80x80 float16 6.1 to 3.4 us (1.81x), PyTorch 6.2.
 */
#include "passmith/dsl.h"

enum { X };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void silu(const T *x, T *y, long long n)
	{
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
		if (i >= n)
			return;
		float v = ld(x[i]);
		y[i] = st(v / (1.f + expf(-v)));
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	if (pm_numel(m->v[X]) <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "silu", .source = SRC, .grid = { pm_blocks(n, 256) },
				      .block = { 256 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)),
				      .like = m->root);
}

PM_RULE(silu, .doc = "Mul(x, Sigmoid(x)) -> one kernel",
	.pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))), .check = check, .rewrite = rewrite);

PM_PLUGIN("silu", "1", &silu)
