/* SPDX-License-Identifier: Apache-2.0 */
/* A09_double_relu.c - a pass whose whole gain is algebra: two Relu in a row are one. */
#include "passmith/dsl.h"

enum { X };

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "k",
		.source = "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n"
			  "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
			  "if (i < n) y[i] = st(fmaxf(ld(x[i]), 0.f));\n}\n",
		.grid = { pm_blocks(n, 64) }, .block = { 64 }, .in = PM_VALS(m->v[X]),
		.arg = PM_ARGS(I64(n)));
}

PM_RULE(double_relu, .pattern = OP(Relu, OP(Relu, TYPED(V(X), FLOATS, -1))), .rewrite = rewrite);
PM_PLUGIN("A09_double_relu", "1", &double_relu)
