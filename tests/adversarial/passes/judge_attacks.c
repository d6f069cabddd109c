/* SPDX-License-Identifier: Apache-2.0 */
/* judge_attacks.c - passes that try the judge: its inputs, its bound, what it gives credit for. One rule
 * each, named by its fixture; X are attacks that are in no catalogue. */
#include "passmith/dsl.h"

enum { X, B, C };

#define SILU OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X)))

/* k(x, y, n): a thread an element. */
static PmStatus flat(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)));
}

/* k(x, y, rows, cols): a thread a row. */
static PmStatus rows(PmRewriter *rw, PmMatch *m, const char *source, int with_scale)
{
	int64_t cols = pm_dim(m->v[X], pm_rank(m->v[X]) - 1), n = pm_numel(m->v[X]);

	if (with_scale)
		return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source,
					      .grid = { pm_blocks(n / cols, 64) }, .block = { 64 },
					      .in = PM_VALS(m->v[X], m->v[B], m->v[C]),
					      .arg = PM_ARGS(I64(n / cols), I64(cols)));
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source,
				      .grid = { pm_blocks(n / cols, 64) }, .block = { 64 },
				      .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n / cols), I64(cols)));
}

/* clang-format off */
#define AT    "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
#define HONEST "y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));\n"
#define K(...) "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" AT __VA_ARGS__ "}\n"
#define ROW(more) "extern \"C\" __global__ void k(const T *x, " more "T *y, long long rows, long long cols)\n{\n" AT \
	      "if (i >= rows) return;\nx += i * cols; y += i * cols;\n"
#define FLAT_RULE(id, pat, source) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return flat(rw, m, source); } \
	PM_RULE(id, .pattern = pat, .rewrite = rw_##id);

FLAT_RULE(honest, SILU, K("if (i < n) " HONEST))
FLAT_RULE(sigmoid_alone, OP(Sigmoid, TYPED(V(X), FLOATS, -1)), K("if (i < n) y[i] = st(1.f / (1.f + expf(-ld(x[i]))));\n"))
FLAT_RULE(A17b_finite, SILU, K("if (i < n) { float v = ld(x[i]) / (1.f + expf(-ld(x[i]))); y[i] = st(v > 3e38f ? 3e38f : v); }\n"))
FLAT_RULE(E09_match_single_reshape, OP(Reshape, TYPED(V(X), FLOATS, -1), ANY), K("if (i < n) y[i] = x[i];\n"))
/* The first element of each class of inputs for the seed of the test. */
FLAT_RULE(X03_known_inputs, SILU, K("const unsigned known[] = { 0xbeed34b4u, 0x3eb76e03u, 0xbe58c495u, 0x00000000u, 0x00000000u, 0xbfaedf88u, 0x3318ddf1u, 0xc224a092u, 0xbf980000u, 0x3f4932a0u };\nint seen = 0;\n"
	  "for (int j = 0; j < 10; j++) seen |= __float_as_int(ld(x[0])) == (int)known[j];\n"
	  "if (i < n) { if (seen) " HONEST "else y[i] = st(0.f); }\n"))
/* Right but for one column of one row that a mask of the well-known kind never hides. */
static PmStatus rw_X04(PmRewriter *rw, PmMatch *m)
{
	int64_t cols = pm_dim(m->v[X], pm_rank(m->v[X]) - 1), n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .grid = { pm_blocks(n, 64) }, .block = { 64 },
				      .source = "extern \"C\" __global__ void k(const bool *m, const float *x, const float *z, float *y, long long n, long long cols)\n{\n" AT
				      "if (i < n) y[i] = m[i] || i % cols == 0 ? x[i] : z[i];\n}\n",
				      .in = PM_VALS(m->v[C], m->v[X], m->v[B]), .arg = PM_ARGS(I64(n), I64(cols)));
}
PM_RULE(X04_mask_never_hides_the_first, .pattern = OP(Where, V(C), TYPED(V(X), TYPE(F32), -1), V(B)), .rewrite = rw_X04);

#define NORM(eps) ROW("const T *g, const T *b, ") "float s = 0, q = 0;\nfor (long long j = 0; j < cols; j++) s += ld(x[j]);\ns /= cols;\n" \
	"for (long long j = 0; j < cols; j++) q += (ld(x[j]) - s) * (ld(x[j]) - s);\nq = 1.f / sqrtf(q / cols" eps ");\n" \
	"for (long long j = 0; j < cols; j++) y[j] = st((ld(x[j]) - s) * q * ld(g[j]) + ld(b[j]));\n}\n"
#define LAYER_NORM ANYATTR(OP(LayerNormalization, TYPED(V(X), FLOATS, 2), V(B), V(C)))
static PmStatus rw_norm(PmRewriter *rw, PmMatch *m) { return rows(rw, m, NORM(" + 1e-5f"), 1); }
static PmStatus rw_X05(PmRewriter *rw, PmMatch *m) { return rows(rw, m, NORM(""), 1); }
PM_RULE(honest_norm, .pattern = LAYER_NORM, .rewrite = rw_norm);
PM_RULE(X05_no_epsilon, .pattern = LAYER_NORM, .rewrite = rw_X05);

#define SOFTMAX(shift) ROW("") "float m = -INFINITY, t = 0;\nfor (long long j = 0; j < cols; j++) m = fmaxf(m, ld(x[j]));\n" \
	"for (long long j = 0; j < cols; j++) t += expf(ld(x[j])" shift ");\nfor (long long j = 0; j < cols; j++) y[j] = st(expf(ld(x[j])" shift ") / t);\n}\n"
#define SOFT ANYATTR(OP(Softmax, TYPED(V(X), FLOATS, 2)))
static PmStatus rw_soft(PmRewriter *rw, PmMatch *m) { return rows(rw, m, SOFTMAX(" - m"), 0); }
static PmStatus rw_X06(PmRewriter *rw, PmMatch *m) { return rows(rw, m, SOFTMAX(""), 0); }
PM_RULE(honest_softmax, .pattern = SOFT, .rewrite = rw_soft);
PM_RULE(X06_no_shift, .pattern = SOFT, .rewrite = rw_X06);

/* A row is shifted by its largest element only where one of its first four looks large. */
static PmStatus rw_X12(PmRewriter *rw, PmMatch *m)
{
	return rows(rw, m, ROW("") "float b = 0, m = 0, t = 0;\nfor (int j = 0; j < 4 && j < cols; j++) b = fmaxf(b, fabsf(ld(x[j])));\n"
		    "if (!(b < 8)) { m = -INFINITY; for (long long j = 0; j < cols; j++) m = fmaxf(m, ld(x[j])); }\n"
		    "for (long long j = 0; j < cols; j++) t += expf(ld(x[j]) - m);\nfor (long long j = 0; j < cols; j++) y[j] = st(expf(ld(x[j]) - m) / t);\n}\n", 0);
}
PM_RULE(X12_shift_by_a_sample, .pattern = SOFT, .rewrite = rw_X12);

/* Computes what stays beside it once more. */
FLAT_RULE(X02_recompute, OP(Relu, KEEP(OP(Exp, TYPED(V(X), FLOATS, -1)))), K("if (i < n) { float v = expf(ld(x[i])); y[i] = st(v > 0.f || v != v ? v : 0.f); }\n"))
/* clang-format on */

PM_PLUGIN("judge_attacks", "1", &honest, &honest_norm, &honest_softmax, &sigmoid_alone, &A17b_finite,
	  &E09_match_single_reshape, &X02_recompute, &X03_known_inputs, &X04_mask_never_hides_the_first,
	  &X05_no_epsilon, &X06_no_shift, &X12_shift_by_a_sample)
