/* SPDX-License-Identifier: Apache-2.0 */
/* sum_attacks.c - bodies of several operators of which a part is left out, and the same done honestly. The
 * judge knows the bodies' roundings and sums; what is wrong here is more than those explain. */
#include "passmith/dsl.h"

enum { X, B, C, D };

/* clang-format off */
#define AT "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"

/* y = (x * s) w: a thread an element. */
#define PRODUCT OP(MatMul, OP(Mul, TYPED(V(X), FLOATS, 2), V(B)), V(C))
#define PRODUCT_RULE(id, term) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return product(rw, m, \
		"extern \"C\" __global__ void k(const T *x, const T *s, const T *w, T *y, long long rows, long long cols, long long depth)\n{\n" AT \
		"if (i >= rows * cols) return;\nfloat t = 0;\nfor (long long j = 0; j < depth; j++) {\n" \
		"float a = ld(x[i / cols * depth + j]) * ld(s[j]), b = ld(w[j * cols + i % cols]);\n" term "}\ny[i] = st(t);\n}\n"); } \
	PM_RULE(id, .pattern = PRODUCT, .rewrite = rw_##id);

static PmStatus product(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t rows = pm_dim(m->v[X], 0), depth = pm_dim(m->v[X], 1), cols = pm_dim(m->v[C], 1);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { pm_blocks(rows * cols, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X], m->v[B], m->v[C]),
				      .arg = PM_ARGS(I64(rows), I64(cols), I64(depth)));
}

PRODUCT_RULE(honest_product, "t += a * b;\n")
PRODUCT_RULE(honest_rounded, "T r = st(a);\nt += ld(r) * b;\n")
/* Four digits of eight. */
PRODUCT_RULE(S46_half_a_factor, "t += a * __int_as_float((__float_as_int(b) + 0x80000) & ~0xfffff);\n")
PRODUCT_RULE(S47_half_sums, "T r = st(t + a * b);\nt = ld(r);\n")

/* y = softmax(q k c) v, 16 and 32 columns: a thread a row. */
#define ATTENTION OP(MatMul, ANYATTR(OP(Softmax, OP(Mul, OP(MatMul, TYPED(V(X), FLOATS, 2), V(B)), V(C)))), V(D))
#define ATTENTION_RULE(id, row, skip) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return attention(rw, m, \
		"extern \"C\" __global__ void k(const T *q, const T *key, const T *c, const T *v, T *y, long long rows, long long keys)\n{\n" AT \
		"if (i >= rows) return;\nfloat top = -INFINITY, sum = 0, acc[32];\nq += (" row ") * 16;\n" \
		"for (int e = 0; e < 32; e++) acc[e] = 0;\n" \
		"for (int twice = 0; twice < 2; twice++)\nfor (long long j = 0; j < keys; j++) {\n" \
		"if (" skip ") continue;\nfloat d = 0;\nfor (int e = 0; e < 16; e++) d += ld(q[e]) * ld(key[e * keys + j]);\n" \
		"d *= ld(c[0]);\nif (!twice) { top = fmaxf(top, d); continue; }\n" \
		"d = expf(d - top);\nsum += d;\nfor (int e = 0; e < 32; e++) acc[e] += d * ld(v[j * 32 + e]);\n}\n" \
		"for (int e = 0; e < 32; e++) y[i * 32 + e] = st(acc[e] / sum);\n}\n"); } \
	PM_RULE(id, .pattern = ATTENTION, .rewrite = rw_##id);

static PmStatus attention(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t rows = pm_dim(m->v[X], 0), keys = pm_dim(m->v[B], 1);

	if (pm_dim(m->v[X], 1) != 16 || pm_dim(m->v[D], 1) != 32)
		return pm_decline(m, "16 and 32 columns alone");
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { pm_blocks(rows, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X], m->v[B], m->v[C], m->v[D]),
				      .arg = PM_ARGS(I64(rows), I64(keys)));
}

ATTENTION_RULE(honest_attention, "i", "0")
ATTENTION_RULE(S45_every_hundredth_key, "i", "j % 100 == 50")
ATTENTION_RULE(S48_the_row_before, "(i + rows - 1) % rows", "0")

/* x (1 + erf(x / sqrt(2))) / 2 */
#define GELU OP(Mul, OP(Mul, TYPED(V(X), FLOATS, -1), V(B)), OP(Add, OP(Erf, OP(Mul, V(X), V(C))), V(D)))
#define GELU_RULE(id, f) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { \
		return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .grid = { pm_blocks(pm_numel(m->v[X]), 64) }, .block = { 64 }, \
			.source = "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" AT \
			"if (i < n) { float v = ld(x[i]); y[i] = st(0.5f * v * (1.f + " f ")); }\n}\n", \
			.in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(pm_numel(m->v[X])))); } \
	PM_RULE(id, .pattern = GELU, .rewrite = rw_##id);

GELU_RULE(honest_gelu, "erff(v * 0.70710678f)")
GELU_RULE(S49_tanh_for_erf, "tanhf(0.79788456f * (v + 0.044715f * v * v * v))")
/* clang-format on */

PM_PLUGIN("sum_attacks", "1", &honest_product, &honest_rounded, &honest_attention, &honest_gelu,
	  &S45_every_hundredth_key, &S46_half_a_factor, &S47_half_sums, &S48_the_row_before,
	  &S49_tanh_for_erf)
