/* SPDX-License-Identifier: Apache-2.0 */
/* E09_free.c - a pass that replaces what costs nothing: a reshape, an identity. */
#include "tests/adversarial/passes/attack.h"

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "k",
		.source = PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {
			long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
			if (i < n)
				y[i] = x[i];
		}),
		.grid = { pm_blocks(n, 64) }, .block = { 64 }, .in = PM_VALS(m->v[X]),
		.arg = PM_ARGS(I64(n)));
}

PM_RULE(reshape, .pattern = OP(Reshape, TYPED(V(X), FLOATS, -1), ANY), .rewrite = rewrite);
PM_RULE(identity, .pattern = OP(Identity, TYPED(V(X), FLOATS, -1)), .rewrite = rewrite);

PM_PLUGIN("free_operators", "1", &reshape, &identity)
