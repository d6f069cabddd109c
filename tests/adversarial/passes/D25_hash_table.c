/* SPDX-License-Identifier: Apache-2.0 */
/* D25_hash_table.c - a pass whose kernel knows one size. */
#include "tests/adversarial/passes/attack.h"

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "k",
		.source = PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {
			long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
			if (i < n)
				y[i] = st(n == 335 ? ld(x[i]) / (1.f + expf(-ld(x[i]))) : 0.f);
		}),
		.grid = { pm_blocks(n, 64) }, .block = { 64 }, .in = PM_VALS(m->v[X]),
		.arg = PM_ARGS(I64(n)));
}

PM_RULE(hash_table, .pattern = SILU, .rewrite = rewrite);

PM_PLUGIN("hash_table", "1", &hash_table)
