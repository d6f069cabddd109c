/* SPDX-License-Identifier: Apache-2.0 */
/* E01c_overlap.c - rules whose matches share an operator. */
#include "tests/adversarial/passes/attack.h"

/* clang-format off */
#define K(value) "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" \
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n" \
	"if (i < n) { float v = expf(ld(x[i])); y[i] = st(" value "); }\n}\n"
/* clang-format on */

static PmStatus flat(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)));
}

static PmStatus relu(PmRewriter *rw, PmMatch *m)
{
	return flat(rw, m, K("v > 0.f || v != v ? v : 0.f"));
}

static PmStatus neg(PmRewriter *rw, PmMatch *m)
{
	return flat(rw, m, K("-v"));
}

PM_RULE(takes_it, .pattern = OP(Relu, OP(Exp, TYPED(V(X), FLOATS, -1))), .rewrite = relu);
PM_RULE(shares_relu, .pattern = OP(Relu, KEEP(OP(Exp, TYPED(V(X), FLOATS, -1)))), .rewrite = relu);
PM_RULE(shares_neg, .pattern = OP(Neg, KEEP(OP(Exp, TYPED(V(X), FLOATS, -1)))), .rewrite = neg);

PM_PLUGIN("overlap", "1", &takes_it, &shares_relu, &shares_neg)
