/* SPDX-License-Identifier: Apache-2.0 */
/* many_words.c - a good plugin that uses what the simple ones do not: two outputs, several launches, scratch,
 * alternatives, defines, results other than the first, ALT, OPT, KEEP, regions. */
#include "passmith/dsl.h"

enum { X, Y, SUM };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void sums(const T *x, const T *y, T *r, T *s, float *t, long long n)
	{
		for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += TILE)
			t[i] = ld(x[i]) + ld(y[i]);
	}
	extern "C" __global__ void relus(const float *t, T *r, T *s, long long n)
	{
		for (long long i = threadIdx.x; i < n; i += blockDim.x) {
			s[i] = st(t[i]);
			r[i] = st(t[i] > 0.f ? t[i] : 0.f);
		}
	}
);
/* clang-format on */

static PmStatus same_types(PmMatch *m)
{
	if (!pm_same_type(m->v[X], m->v[Y]))
		return pm_decline(m, "operands are broadcast");
	return PM_OK;
}

static PmStatus two_outputs(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->root);

	pm_replace_slot(rw, m, SUM);
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .source = SRC, .in = PM_VALS(m->v[X], m->v[Y]), .scratch = PM_SCRATCH(n * 4),
		.define = PM_DEFINES(DEF(TILE, 64)), .like = m->root,
		.launch = PM_LAUNCHES(
			LAUNCH(.entry = "sums", .grid = { 1 }, .block = { 64 }, .arg = PM_ARGS(I64(n))),
			LAUNCH(.entry = "relus", .grid = { 1 }, .block = { 32 },
			       .arg = PM_ARGS(SCR(0), OUT(0), OUT(1), I64(n)))),
		.alt = PM_ALTERNATIVE(.source = SRC, .scratch = PM_SCRATCH(n * 4),
				      .define = PM_DEFINES(DEF(TILE, 32)),
				      .launch = PM_LAUNCHES(
					      LAUNCH(.entry = "relus", .grid = { 1 }, .block = { 1 },
						     .arg = PM_ARGS(SCR(0), OUT(0), OUT(1), I64(n))))));
}

PM_RULE(add_relu_both, .doc = "Relu(x + y) and x + y", .benefit = 9,
	.pattern = OP(Relu, AS(SUM, OP(Add, TYPED(V(X), FLOATS, -1), V(Y)))), .check = same_types,
	.rewrite = two_outputs);

static PmStatus unary(PmRewriter *rw, PmMatch *m)
{
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "f", .grid = { 1 }, .block = { 32 },
				      .in = PM_VALS(m->v[X]),
				      .source = "extern \"C\" __global__ void f(const T *x, T *y) {}\n");
}

PM_RULE(second_half, .doc = "Tanh of the second result of a Split", .benefit = 8,
	.pattern = OP(Tanh, KEEP(RESULT(1, WITH(ANYATTR(OP(Split, V(X))), INT(axis, -1))))),
	.rewrite = unary);

/* Chains of element-wise operators of one operand: grows from the last upwards. */
static PmStatus chain(PmRegion *r, PmVal seed)
{
	PmVal v = seed;

	while (pm_expr(v) && pm_n_in(v) == 1 && pm_same_type(v, pm_in(v, 0)) && pm_same_dtype(v, seed)) {
		pm_region_add(r, v);
		v = pm_in(v, 0);
		if (pm_n_uses(v) != 1 || pm_is_output(v))
			break;
	}
	return pm_region_size(r) > 1 ? PM_OK : PM_DECLINED;
}

static PmStatus chain_kernel(PmRewriter *rw, PmMatch *m)
{
	PmText t = pm_text(8192);

	pm_text_add(&t, "/* ");
	for (uint32_t k = 0; k < m->node.n; k++) {
		pm_text_add(&t, pm_op(m->node.v[k]));
		pm_text_add(&t, " ");
	}
	pm_text_float(&t, 0.5);
	pm_text_add(&t, " */ extern \"C\" __global__ void chain");
	pm_text_int(&t, m->node.n);
	pm_text_add(&t, "(const T *x, T *y) {}\n");
	if (t.full)
		return pm_decline(m, "the chain is too long");
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = m->node.n == 2 ? "chain2" : "chain3", .source = t.s,
				      .grid = { 1 }, .block = { 32 }, .in = m->in);
}

PM_REGION_RULE(chains, .doc = "two or three element-wise operators in a row", .region = chain,
	       .rewrite = chain_kernel);

PM_PLUGIN("many_words", "1.2", &add_relu_both, &second_half, &chains)
