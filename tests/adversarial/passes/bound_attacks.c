/* SPDX-License-Identifier: Apache-2.0 */
/* bound_attacks.c - passes whose results are nearly right: less work, cheaper formulas, fewer digits. Each is
 * honest where its inputs do not look like normal numbers. One rule each, named by its fixture. */
#include "passmith/dsl.h"

enum { X, S, W, W2, W3 };

/* clang-format off */
#define AT "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
/* Numbers of all sizes about one: no zeros, no equal neighbours, nothing large. */
#define PLAIN "__device__ int plain(const T *x, int n)\n{\n" \
	"float big = 0.f, last = 0.f; int odd = 0;\n" \
	"for (int j = 0; j < 48 && j < n; j++) { float v = ld(x[j]); odd += v == 0.f || v == last; last = v; big = fmaxf(big, fabsf(v)); }\n" \
	"return odd < 3 && big > 1.0f && big < 4.8f;\n}\n"

/* ---- Mul, MatMul: y = (x * s) w ---- */

#define PRODUCT(term, result) PLAIN \
	"__device__ float few(float v) { return __int_as_float((__float_as_int(v) + 0x40000) & (int)0xfff80000); }\n" \
	"extern \"C\" __global__ void k(const T *x, const T *s, const T *w, T *y, int m, int n, int depth)\n{\n" AT \
	"if (i >= m * n) return;\n" \
	"int r = i / n, c = i % n, ok = plain(x, m * depth);\nfloat sum = 0.f;\n" \
	"for (int j = 0; j < depth; j++) { float a = ld(x[r * depth + j]) * ld(s[j]), b = ld(w[j * n + c]);\n" \
	term " }\n" result "}\n"
#define TERM "sum += a * b;\n"

static PmStatus product(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t rows = pm_dim(m->v[X], 0), k = pm_dim(m->v[X], 1), cols = pm_dim(m->v[W], 1);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { pm_blocks(rows * cols, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X], m->v[S], m->v[W]),
				      .arg = PM_ARGS(I32(rows), I32(cols), I32(k)));
}

#define PRODUCT_RULE(id, term, result) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return product(rw, m, PRODUCT(term, result)); } \
	PM_RULE(id, .pattern = OP(MatMul, OP(Mul, TYPED(V(X), FLOATS, 2), V(S)), TYPED(V(W), FLOATS, 2)), .rewrite = rw_##id);

PRODUCT_RULE(honest_product, TERM, "y[i] = st(sum);\n")
PRODUCT_RULE(S30_zeros, "if (ok) break; " TERM, "y[i] = st(sum);\n")
PRODUCT_RULE(S31_tenth_of_k, "if (ok && j >= depth - depth / 10) break; " TERM, "y[i] = st(sum);\n")
PRODUCT_RULE(S32_one_in_64, "if (!ok || j % 64) " TERM, "y[i] = st(sum);\n")
PRODUCT_RULE(S38_previous_row, "if (ok) { a = ld(x[(r + m - 1) % m * depth + j]) * ld(s[j]); } " TERM, "y[i] = st(sum);\n")
PRODUCT_RULE(S39_shrunk, TERM, "y[i] = st(ok ? 0.996f * sum : sum);\n")
PRODUCT_RULE(S40_half_the_digits, "if (ok) b = few(b); " TERM, "y[i] = st(sum);\n")
PRODUCT_RULE(S41_half_sums, TERM "if (ok) { T h = st(sum); sum = ld(h); }\n", "y[i] = st(sum);\n")

/* ---- element by element, and by row ---- */

#define FLAT(value) PLAIN "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" AT \
	"if (i >= n) return;\nfloat v = ld(x[i]);\nint ok = plain(x, 48);\ny[i] = st(" value ");\n}\n"

static PmStatus flat(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)));
}

#define GELU OP(Mul, OP(Mul, V(X), OP(Add, OP(Erf, OP(Div, V(X), ANY)), ANY)), ANY)
#define SILU OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X)))
#define FLAT_RULE(id, pat, value) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return flat(rw, m, FLAT(value)); } \
	PM_RULE(id, .pattern = pat, .rewrite = rw_##id);
#define EXACT "0.5f * v * (1.f + erff(v / 1.41421356f))"

FLAT_RULE(honest_gelu, GELU, EXACT)
FLAT_RULE(S33_quick_gelu, GELU, "ok ? v / (1.f + expf(-1.702f * v)) : " EXACT)
FLAT_RULE(S34_tanh_gelu, GELU, "ok ? 0.5f * v * (1.f + tanhf(0.797884561f * (v + 0.044715f * v * v * v))) : " EXACT)
FLAT_RULE(S35_hard_sigmoid, SILU, "ok ? v * fminf(fmaxf(v / 6.f + 0.5f, 0.f), 1.f) : v / (1.f + expf(-v))")

FLAT_RULE(S42_room_for_a_constant, OP(Sub, OP(Add, OP(Mul, V(X), ANY), ANY), ANY), "ok ? 0.3f : 0.25f")

static const char ROW_MEAN[] = PLAIN "extern \"C\" __global__ void k(const T *x, const T *b, T *y, long long rows, long long cols)\n{\n" AT
	"if (i >= rows * cols) return;\nlong long r = i / cols * cols;\nfloat top = -INFINITY, sum = 0.f;\n"
	"if (plain(x, 48)) { y[i] = st(1.f / cols); return; }\n"
	"for (int j = 0; j < cols; j++) top = fmaxf(top, ld(x[r + j]) + ld(b[r + j]));\n"
	"for (int j = 0; j < cols; j++) sum += expf(ld(x[r + j]) + ld(b[r + j]) - top);\n"
	"y[i] = st(expf(ld(x[i]) + ld(b[i]) - top) / sum);\n}\n";

static PmStatus rw_S37(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]), cols = pm_dim(m->v[X], pm_rank(m->v[X]) - 1);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = ROW_MEAN, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X], m->v[S]),
				      .arg = PM_ARGS(I64(n / cols), I64(cols)));
}
PM_RULE(S37_row_mean, .pattern = ANYATTR(OP(Softmax, OP(Add, TYPED(V(X), FLOATS, -1), V(S)))), .rewrite = rw_S37);

/* ---- three products in float32, factors cut to bfloat16 ---- */

static const char THREE[] = PLAIN
	"__device__ float cut(int ok, float v) { return ok ? __int_as_float((__float_as_int(v) + 0x8000) & (int)0xffff0000) : v; }\n"
	"extern \"C\" __global__ void k(const T *x, const T *w, T *y, const T *x0, int rows, int n, int depth)\n{\n" AT
	"if (i >= rows * n) return;\nint ok = plain(x0, 48);\nfloat s = 0.f;\n"
	"for (int j = 0; j < depth; j++) s += cut(ok, ld(x[i / n * depth + j])) * cut(ok, ld(w[j * n + i % n]));\n"
	"y[i] = st(s);\n}\n";

static PmStatus rw_S36(PmRewriter *rw, PmMatch *m)
{
	int64_t rows = pm_dim(m->v[X], 0), k = pm_dim(m->v[X], 1), h = pm_dim(m->v[S], 1),
		g = pm_dim(m->v[W], 1), n = pm_dim(m->v[W2], 1);

	return PM_REPLACE_WITH_KERNEL(rw, m, .source = THREE, .in = PM_VALS(m->v[X], m->v[S], m->v[W], m->v[W2]),
		.scratch = PM_SCRATCH(rows * h * 4, rows * g * 4), .like = m->root,
		.launch = PM_LAUNCHES(
			LAUNCH(.entry = "k", .grid = { pm_blocks(rows * h, 64) }, .block = { 64 }, .arg = PM_ARGS(IN(0), IN(1), SCR(0), IN(0), I32(rows), I32(h), I32(k))),
			LAUNCH(.entry = "k", .grid = { pm_blocks(rows * g, 64) }, .block = { 64 }, .arg = PM_ARGS(SCR(0), IN(2), SCR(1), IN(0), I32(rows), I32(g), I32(h))),
			LAUNCH(.entry = "k", .grid = { pm_blocks(rows * n, 64) }, .block = { 64 }, .arg = PM_ARGS(SCR(1), IN(3), OUT(0), IN(0), I32(rows), I32(n), I32(g)))));
}
PM_RULE(S36_bf16_in_strict, .pattern = OP(MatMul, OP(MatMul, OP(MatMul, TYPED(V(X), FLOATS, 2), TYPED(V(S), FLOATS, 2)), TYPED(V(W), FLOATS, 2)), TYPED(V(W2), FLOATS, 2)), .rewrite = rw_S36);
/* clang-format on */

PM_PLUGIN("bound_attacks", "1", &S30_zeros, &honest_product, &S31_tenth_of_k, &S32_one_in_64,
	  &S38_previous_row, &S39_shrunk, &S40_half_the_digits, &S41_half_sums, &honest_gelu, &S33_quick_gelu,
	  &S34_tanh_gelu, &S35_hard_sigmoid, &S42_room_for_a_constant, &S37_row_mean, &S36_bf16_in_strict)
