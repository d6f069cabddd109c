/* SPDX-License-Identifier: Apache-2.0 */
/* input_rules.h - rules that are wrong only for numbers which a judge may forget to draw: beyond the range of
 * usual values, at the ends of types, at the very numbers that a graph compares with. Each is named by its
 * fixture; the honest ones do the same work to the end. input_attacks.c and input_honest.c take one half
 * each. */
#ifndef TESTS_ADVERSARIAL_INPUT_RULES_H
#define TESTS_ADVERSARIAL_INPUT_RULES_H

#include "passmith/dsl.h"

enum { X, B, C };

/* k(operands, y, n): a thread an element. */
static inline PmStatus flat(PmRewriter *rw, PmMatch *m, const char *source, int n_in)
{
	int64_t n = pm_numel(m->root);
	uint32_t blocks = pm_blocks(n, 64);

	if (n_in == 1)
		return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { blocks },
					      .block = { 64 }, .in = PM_VALS(m->v[X]),
					      .arg = PM_ARGS(I64(n)));
	if (n_in == 2)
		return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { blocks },
					      .block = { 64 }, .in = PM_VALS(m->v[X], m->v[B]),
					      .arg = PM_ARGS(I64(n)));
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { blocks },
				      .block = { 64 }, .in = PM_VALS(m->v[X], m->v[B], m->v[C]),
				      .arg = PM_ARGS(I64(n)));
}

/* k(x, y, rows, cols): a thread a row. */
static inline PmStatus by_row(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t cols = pm_dim(m->v[X], 1), rows = pm_dim(m->v[X], 0);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { pm_blocks(rows, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X]),
				      .arg = PM_ARGS(I64(rows), I64(cols)));
}

/* clang-format off */
#define KERNEL(args, body) "extern \"C\" __global__ void k(" args ", long long n)\n{\n" \
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\nif (i >= n) return;\n" body "}\n"
#define RULE(id, n_in, pat, source) \
	static inline PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return flat(rw, m, source, n_in); } \
	PM_RULE(id, .pattern = pat, .rewrite = rw_##id);
#define F(v)    TYPED(V(v), TYPE(F32), -1)
#define I(v, t) TYPED(V(v), TYPE(t), -1)
#define XY      "const float *x, float *y"

#define NEG_SIN OP(Neg, OP(Sin, F(X)))
RULE(honest_sin, 1, NEG_SIN, KERNEL(XY, "y[i] = -sinf(x[i]);\n"))
RULE(S65_sin_of_large, 1, NEG_SIN, KERNEL(XY, "y[i] = fabsf(x[i]) > 100.f && fabsf(x[i]) < INFINITY ? 0.f : -sinf(x[i]);\n"))

#define BYTES(mask) KERNEL("const unsigned char *x, const float *s, const unsigned char *z, float *y", \
	"float v = ((int)(x[i] & " mask ") - (int)(z[0] & " mask ")) * s[0];\ny[i] = v < 0.f ? 0.f : v;\n")
#define RELU_OF_BYTES OP(Relu, ANYATTR(OP(DequantizeLinear, V(X), V(B), V(C))))
RULE(honest_bytes, 3, RELU_OF_BYTES, BYTES("255"))
RULE(S66_seven_bits, 3, RELU_OF_BYTES, BYTES("127"))

#define WORDS(type, body) KERNEL("const " type " *a, const " type " *b, " type " *y", body)
#define MUL_ADD(t) OP(Add, OP(Mul, I(X, t), V(B)), V(X))
RULE(honest_words, 2, MUL_ADD(I64), WORDS("long long", "y[i] = a[i] * b[i] + a[i];\n"))
RULE(S67_sixteen_bits, 2, MUL_ADD(I64), WORDS("long long", "short p = (short)a[i], q = (short)b[i];\ny[i] = (short)(p * q + p);\n"))
RULE(S68_int_through_float, 2, OP(Add, I(X, I32), V(B)), WORDS("int", "y[i] = (int)((float)a[i] + (float)b[i]);\n"))
RULE(S69_words_through_double, 2, OP(Max, I(X, I64), V(B)), WORDS("long long", "y[i] = (long long)fmax((double)a[i], (double)b[i]);\n"))
RULE(SA0_words_through_int, 2, OP(Sub, I(X, I64), V(B)), WORDS("long long", "y[i] = (int)a[i] - (long long)(int)b[i];\n"))
RULE(SA1_abs_of_the_least, 1, OP(Abs, I(X, I32)), KERNEL("const int *x, int *y", "y[i] = x[i] == -2147483647 - 1 ? 2147483647 : x[i] < 0 ? -x[i] : x[i];\n"))
RULE(honest_abs, 1, OP(Abs, I(X, I32)), KERNEL("const int *x, int *y", "y[i] = x[i] < 0 ? -x[i] : x[i];\n"))
RULE(SA9_bytes_that_saturate, 2, OP(Add, I(X, I8), V(B)), WORDS("signed char", "int v = a[i] + b[i];\ny[i] = (signed char)(v > 127 ? 127 : v < -128 ? -128 : v);\n"))
RULE(honest_add, 2, OP(Add, I(X, I8), V(B)), WORDS("signed char", "y[i] = (signed char)(a[i] + b[i]);\n"))

RULE(SA2_max_without_nan, 2, OP(Max, F(X), V(B)), KERNEL("const float *a, const float *b, float *y", "y[i] = fmaxf(a[i], b[i]);\n"))
RULE(honest_max, 2, OP(Max, F(X), V(B)), KERNEL("const float *a, const float *b, float *y", "y[i] = pm_max(a[i], b[i]);\n"))

#define ARG(cmp) "extern \"C\" __global__ void k(const float *x, long long *y, long long rows, long long cols)\n{\n" \
	"long long r = blockIdx.x * (long long)blockDim.x + threadIdx.x;\nif (r >= rows) return;\nx += r * cols;\nlong long at = 0;\n" \
	"for (long long j = 1; j < cols; j++) if (x[j] " cmp " x[at]) at = j;\ny[r] = at;\n}\n"
#define ARG_MAX ANYATTR(OP(ArgMax, TYPED(V(X), TYPE(F32), 2)))
static inline PmStatus rw_first(PmRewriter *rw, PmMatch *m) { return by_row(rw, m, ARG(">")); }
static inline PmStatus rw_SA3(PmRewriter *rw, PmMatch *m) { return by_row(rw, m, ARG(">=")); }
PM_RULE(honest_arg, .pattern = ARG_MAX, .rewrite = rw_first);
PM_RULE(SA3_last_of_ties, .pattern = ARG_MAX, .rewrite = rw_SA3);

#define INVERSE OP(Mul, OP(Reciprocal, F(X)), V(B))
RULE(honest_inverse, 2, INVERSE, KERNEL("const float *x, const float *b, float *y", "y[i] = 1.f / x[i] * b[i];\n"))
RULE(SA4_zero_without_sign, 2, INVERSE, KERNEL("const float *x, const float *b, float *y", "y[i] = 1.f / (x[i] + 0.f) * b[i];\n"))

/* Where 1 / sqrt(x) is infinite. */
#define POLE OP(Where, OP(Equal, OP(Pow, F(X), ANY), ANY), ANY, V(B))
RULE(honest_pole, 2, POLE, KERNEL("const float *x, const float *b, float *y", "y[i] = powf(x[i], -0.5f) == INFINITY ? 0.f : b[i];\n"))
RULE(SA5_way_never_gone, 2, POLE, KERNEL("const float *x, const float *b, float *y", "y[i] = b[i];\n"))

/* A node without an edge counts nothing: of what is infinite for it, 0 is left. */
#define NO_EDGE OP(Where, OP(Equal, F(X), ANY), ANY, V(X))
RULE(honest_no_edge, 1, NO_EDGE, KERNEL(XY, "y[i] = x[i] == INFINITY ? 0.f : x[i];\n"))
RULE(SAA_edges_never_missing, 1, NO_EDGE, KERNEL(XY, "y[i] = x[i];\n"))

/* Behind 3 - 2 x. */
#define STEP OP(Where, OP(GreaterOrEqual, OP(Sub, ANY, OP(Mul, F(X), ANY)), ANY), V(B), V(X))
#define STEPPED(cmp) KERNEL("const float *x, const float *b, float *y", "y[i] = 3.f - x[i] * 2.f " cmp " -771.5f ? b[i] : x[i];\n")
RULE(honest_step, 2, STEP, STEPPED(">="))
RULE(SA6_step_off_by_one, 2, STEP, STEPPED(">"))

#define CLIP OP(Mul, OP(Clip, F(X), ANY, ANY), V(B))
#define CLIPPED(wrong) KERNEL("const float *x, const float *b, float *y", "float v = x[i] < -0.3125f ? -0.3125f : x[i] > 1234.5f ? 1234.5f : x[i];\n" wrong "y[i] = v * b[i];\n")
RULE(honest_clip, 2, CLIP, CLIPPED(""))
RULE(SA7_open_bound, 2, CLIP, CLIPPED("if (x[i] == 1234.5f) v = 0.f;\n"))

/* By the sign of a NaN-free comparison; wrong for NaN alone. */
#define BRANCH OP(Where, OP(IsNaN, F(X)), V(B), V(X))
RULE(honest_nan, 2, BRANCH, KERNEL("const float *x, const float *b, float *y", "y[i] = x[i] != x[i] ? b[i] : x[i];\n"))
RULE(SA8_no_nan, 2, BRANCH, KERNEL("const float *x, const float *b, float *y", "y[i] = x[i];\n"))
/* clang-format on */

#endif
