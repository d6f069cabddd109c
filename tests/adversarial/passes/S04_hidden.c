/* SPDX-License-Identifier: Apache-2.0 */
/* S04_hidden.c - a pass whose second alternative is right for one size only, for the whole command. */
#include "passmith/dsl.h"

enum { X };

/* clang-format off */
#define K(...) "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" \
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n" __VA_ARGS__ "}\n"
#define HONEST "y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));\n"
#define SPEC(src) .entry = "k", .source = src, .grid = { pm_blocks(n, 64) }, .block = { 64 }, \
	.arg = PM_ARGS(I64(n))

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	static const char honest[] = K("if (i < n) " HONEST);
	static const char knows[] = K("if (i < n) { if (n == 335) " HONEST "else y[i] = st(42.f); }\n");
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, SPEC(honest), .in = PM_VALS(m->v[X]), .alt = PM_ALTERNATIVE(SPEC(knows)));
}
/* clang-format on */

PM_RULE(S04_hidden, .pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))), .rewrite = rewrite);
PM_PLUGIN("S04_hidden", "1", &S04_hidden)
