/* SPDX-License-Identifier: Apache-2.0 */
/* two_kernels.c - one source with two kernels, each launched by a rule of its own. Ends as OK wherever one of
 * them applies. */
#include "passmith/dsl.h"

enum { X };

static const char SRC[] = PM_CUDA(
	extern "C" __global__ void silu(const T *x, T *y, long long n) {
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
		if (i < n) {
			float v = ld(x[i]);
			y[i] = st(v / (1.f + expf(-v)));
		}
	}

	extern "C" __global__ void __launch_bounds__(64) square(const T *x, T *y, long long n) {
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
		if (i < n) {
			float v = ld(x[i]);
			v = v < 0.f ? 0.f : v;
			y[i] = st(v * v);
		}
	});

static PmStatus launch(PmRewriter *rw, PmMatch *m, const char *entry)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = entry, .source = SRC, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)),
				      .like = m->root);
}

static PmStatus launch_silu(PmRewriter *rw, PmMatch *m)
{
	return launch(rw, m, "silu");
}

static PmStatus launch_square(PmRewriter *rw, PmMatch *m)
{
	return launch(rw, m, "square");
}

PM_RULE(silu, .doc = "Mul(x, Sigmoid(x))", .pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))),
	.rewrite = launch_silu);
PM_RULE(square, .doc = "Mul(Relu(x), Relu(x))",
	.pattern = OP(Mul, AS(1, OP(Relu, TYPED(V(X), FLOATS, -1))), V(1)), .rewrite = launch_square);

PM_PLUGIN("two_kernels", "1", &silu, &square)
