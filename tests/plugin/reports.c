/* SPDX-License-Identifier: Apache-2.0 */
/* reports.c - fuses Tanh into a kernel, and reports about it: one line for a small tensor, more than is kept
 * for a large one. What its check says is no part of a report. */
#include "passmith/dsl.h"

enum { X };

static PmStatus check(PmMatch *m)
{
	pm_report("a check reports nothing\n");
	return pm_rank(m->root) == 2 ? PM_OK : pm_decline(m, "not of rank 2");
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->root), i;

	if (pm_report(NULL)) {
		pm_report("a line,\twith \x1b[31ma colour\n");
		for (i = 0; i < 1024 && n > 64; i++)
			pm_report("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
				  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
				  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
				  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n");
	}
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "k",
		.source = PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {
			long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
			if (i < n)
				y[i] = st(tanhf(ld(x[i])));
		}),
		.grid = { pm_blocks(n, 64) }, .block = { 64 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)),
		.like = m->root);
}

PM_RULE(tanh_alone, .doc = "Tanh", .pattern = OP(Tanh, TYPED(V(X), FLOATS, -1)), .check = check,
	.rewrite = rewrite);

PM_PLUGIN("reports", "1", &tanh_alone)
