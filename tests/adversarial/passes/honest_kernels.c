/* SPDX-License-Identifier: Apache-2.0 */
/* honest_kernels.c - kernels as honest authors write them, in several styles: none may be refused. */
#include "passmith/dsl.h"

enum { X, B, C };

/* k(operands, y, n): a thread an element. */
static PmStatus flat(PmRewriter *rw, PmMatch *m, const char *source, int operands)
{
	int64_t n = pm_numel(m->v[X]);

	if (operands == 3)
		return PM_REPLACE_WITH_KERNEL(
			rw, m, .entry = "k", .source = source, .grid = { pm_blocks(n, 128) },
			.block = { 128 }, .in = PM_VALS(m->v[X], m->v[B], m->v[C]), .arg = PM_ARGS(I64(n)));
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { pm_blocks(n, 128) },
				      .block = { 128 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)));
}

/* k(operands, y, rows, cols): a block of `threads` a row. */
static PmStatus rows(PmRewriter *rw, PmMatch *m, const char *source, uint32_t threads, int operands)
{
	int64_t cols = pm_dim(m->v[X], 1), n = pm_dim(m->v[X], 0);

	if (operands == 3)
		return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { n },
					      .block = { threads }, .in = PM_VALS(m->v[X], m->v[B], m->v[C]),
					      .arg = PM_ARGS(I64(n), I64(cols)));
	if (operands == 2)
		return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { n },
					      .block = { threads }, .in = PM_VALS(m->v[X], m->v[B]),
					      .arg = PM_ARGS(I64(n), I64(cols)));
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source, .grid = { n },
				      .block = { threads }, .in = PM_VALS(m->v[X]),
				      .arg = PM_ARGS(I64(n), I64(cols)));
}

/* k(a, b, y, m, n, depth): tiles of 16 x 16. */
static PmStatus product(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t r = pm_dim(m->v[X], 0), k = pm_dim(m->v[X], 1), c = pm_dim(m->v[B], 1);

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "k", .source = source, .grid = { pm_blocks(c, 16), pm_blocks(r, 16) },
		.block = { 16, 16 }, .in = PM_VALS(m->v[X], m->v[B]), .arg = PM_ARGS(I64(r), I64(c), I64(k)));
}

/* clang-format off */
#define P(v) TYPED(V(v), FLOATS, -1)
#define P2(v) TYPED(V(v), FLOATS, 2)
#define RULE(id, pat, call) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return call; } \
	PM_RULE(id, .pattern = pat, .rewrite = rw_##id);

#define EW(body) "extern \"C\" __global__ void k(const T *x, T *y, long long n)\n{\n" \
	"long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\nif (i >= n) return;\nfloat v = ld(x[i]);\n" body "}\n"
#define EW3(body) "extern \"C\" __global__ void k(const T *x, const T *a, const T *b, T *y, long long n)\n{\n" \
	"for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)\n" body "}\n"

RULE(silu, OP(Mul, P(X), OP(Sigmoid, V(X))), flat(rw, m, EW("y[i] = st(v / (1.f + expf(-v)));\n"), 1))
RULE(silu_exp2, OP(Mul, P(X), OP(Sigmoid, V(X))), flat(rw, m, EW("y[i] = st(v * (1.f / (1.f + exp2f(-1.44269504f * v))));\n"), 1))
RULE(silu_fast, OP(Mul, P(X), OP(Sigmoid, V(X))), flat(rw, m, EW("y[i] = st(v / (1.f + __expf(-v)));\n"), 1))
RULE(tanh_library, OP(Tanh, P(X)), flat(rw, m, EW("y[i] = st(tanhf(v));\n"), 1))
RULE(tanh_by_exp, OP(Tanh, P(X)), flat(rw, m, EW("float e = expf(-2.f * fabsf(v)), t = (1.f - e) / (1.f + e);\ny[i] = st(v < 0.f ? -t : t);\n"), 1))
RULE(gelu_erf, ANYATTR(OP(Gelu, P(X))), flat(rw, m, EW("y[i] = st(0.5f * v * (1.f + erff(v * 0.70710678f)));\n"), 1))
RULE(multiply_add, OP(Add, OP(Mul, P(X), P(B)), P(C)), flat(rw, m, EW3("y[i] = st(fmaf(ld(x[i]), ld(a[i]), ld(b[i])));\n"), 3))
RULE(three_sum, OP(Add, OP(Add, P(X), P(B)), P(C)), flat(rw, m, EW3("y[i] = st(ld(x[i]) + (ld(a[i]) + ld(b[i])));\n"), 3))
RULE(residual_relu, OP(Relu, OP(Add, OP(Mul, P(X), P(B)), P(C))),
     flat(rw, m, EW3("{ float v = ld(x[i]) * ld(a[i]) + ld(b[i]);\ny[i] = st(pm_max(v, 0.f)); }\n"), 3))

#define ROW(operands, body) "extern \"C\" __global__ void k(const T *x, " operands "T *y, long long rows, long long cols)\n{\n" \
	"long long r = blockIdx.x;\nx += r * cols;\n" body "}\n"
#define SERIAL(body) "if (threadIdx.x) return;\n" body
/* A sum over the block of `v`, to all of its threads. */
#define TREE(v) "__syncthreads();\ns[threadIdx.x] = " v ";\n__syncthreads();\n" \
	"for (int w = 64; w; w /= 2) { if (threadIdx.x < w) s[threadIdx.x] += s[threadIdx.x + w]; __syncthreads(); }\n"
#define LOOP "for (long long j = threadIdx.x; j < cols; j += blockDim.x) "

#define SUM WITH(OP(ReduceSum, P2(X)), INTS(axes, 1), INT(keepdims, 0))
RULE(sum_serial, SUM, rows(rw, m, ROW("", SERIAL("float t = 0;\nfor (long long j = 0; j < cols; j++) t += ld(x[j]);\ny[r] = st(t);\n")), 32, 1))
RULE(sum_tree, SUM, rows(rw, m, ROW("", "__shared__ float s[128];\nfloat t = 0;\n" LOOP "t += ld(x[j]);\n" TREE("t") "if (!threadIdx.x) y[r] = st(s[0]);\n"), 128, 1))
RULE(mean_tree, WITH(OP(ReduceMean, P2(X)), INTS(axes, 1), INT(keepdims, 0)),
     rows(rw, m, ROW("", "__shared__ float s[128];\nfloat t = 0;\n" LOOP "t += ld(x[j]) / cols;\n" TREE("t") "if (!threadIdx.x) y[r] = st(s[0]);\n"), 128, 1))
RULE(root_of_squares, WITH(OP(ReduceL2, P2(X)), INTS(axes, 1), INT(keepdims, 0)),
     rows(rw, m, ROW("", SERIAL("float t = 0;\nfor (long long j = 0; j < cols; j++) t = fmaf(ld(x[j]), ld(x[j]), t);\ny[r] = st(sqrtf(t));\n")), 32, 1))

#define SOFT WITH(OP(Softmax, P2(X)), INT(axis, -1))
RULE(softmax_serial, SOFT, rows(rw, m, ROW("", SERIAL("y += r * cols;\nfloat top = -INFINITY, t = 0;\nfor (long long j = 0; j < cols; j++) top = fmaxf(top, ld(x[j]));\n"
     "for (long long j = 0; j < cols; j++) t += expf(ld(x[j]) - top);\nfor (long long j = 0; j < cols; j++) y[j] = st(expf(ld(x[j]) - top) / t);\n")), 32, 1))
RULE(softmax_online, SOFT, rows(rw, m, ROW("", SERIAL("y += r * cols;\nfloat top = -INFINITY, t = 0;\nfor (long long j = 0; j < cols; j++) {\n"
     "float v = ld(x[j]), up = fmaxf(top, v);\nt = t * (up == top ? 1.f : expf(top - up)) + (up == -INFINITY ? 0.f : expf(v - up));\ntop = up;\n}\nt = 1.f / t;\n"
     "for (long long j = 0; j < cols; j++) y[j] = st(expf(ld(x[j]) - top) * t);\n")), 32, 1))

#define MOMENTS "y += r * cols;\nfloat t = 0, q = 0;\n"
#define APPLY LOOP "y[j] = st((ld(x[j]) - mean) * inv * ld(g[j]) + ld(b[j]));\n"
#define NORM ANYATTR(OP(LayerNormalization, P2(X), V(B), V(C)))
RULE(norm_two_passes, NORM, rows(rw, m, ROW("const T *g, const T *b, ", "__shared__ float s[128];\n" MOMENTS LOOP "t += ld(x[j]);\n" TREE("t") "float mean = s[0] / cols;\n"
     LOOP "q += (ld(x[j]) - mean) * (ld(x[j]) - mean);\n" TREE("q") "float inv = rsqrtf(s[0] / cols + 1e-5f);\n" APPLY), 128, 3))
RULE(norm_one_pass, NORM, rows(rw, m, ROW("const T *g, const T *b, ", "__shared__ float s[128];\n" MOMENTS LOOP "{ t += ld(x[j]); q += ld(x[j]) * ld(x[j]); }\n" TREE("t")
     "float mean = s[0] / cols;\n" TREE("q") "float inv = rsqrtf(fmaxf(s[0] / cols - mean * mean, 0.f) + 1e-5f);\n" APPLY), 128, 3))
RULE(rms_norm, ANYATTR(OP(RMSNormalization, P2(X), V(B))), rows(rw, m, ROW("const T *g, ", "__shared__ float s[128];\n" MOMENTS LOOP "q += ld(x[j]) * ld(x[j]);\n" TREE("q")
     "float inv = rsqrtf(s[0] / cols + 1e-5f);\n" LOOP "y[j] = st(ld(x[j]) * inv * ld(g[j]) + t);\n"), 128, 2))

#define PRODUCT "extern \"C\" __global__ void k(const T *a, const T *b, T *y, long long m, long long n, long long depth)\n{\n" \
	"long long r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;\nfloat s = 0;\n"
RULE(product_plain, OP(MatMul, P2(X), P2(B)), product(rw, m, PRODUCT "if (r >= m || c >= n) return;\n"
     "for (long long j = 0; j < depth; j++) s += ld(a[r * depth + j]) * ld(b[j * n + c]);\ny[r * n + c] = st(s);\n}\n"))
RULE(product_tiled, OP(MatMul, P2(X), P2(B)), product(rw, m, PRODUCT "__shared__ float p[16][16], q[16][17];\nfor (long long at = 0; at < depth; at += 16) {\n"
     "long long u = at + threadIdx.x, v = at + threadIdx.y;\np[threadIdx.y][threadIdx.x] = r < m && u < depth ? ld(a[r * depth + u]) : 0.f;\n"
     "q[threadIdx.y][threadIdx.x] = v < depth && c < n ? ld(b[v * n + c]) : 0.f;\n__syncthreads();\n"
     "for (int j = 0; j < 16; j++) s = fmaf(p[threadIdx.y][j], q[j][threadIdx.x], s);\n__syncthreads();\n}\nif (r < m && c < n) y[r * n + c] = st(s);\n}\n"))
/* clang-format on */

PM_PLUGIN("honest_kernels", "1", &silu, &silu_exp2, &silu_fast, &tanh_library, &tanh_by_exp, &gelu_erf,
	  &multiply_add, &three_sum, &residual_relu, &sum_serial, &sum_tree, &mean_tree, &root_of_squares,
	  &softmax_serial, &softmax_online, &norm_two_passes, &norm_one_pass, &rms_norm, &product_plain,
	  &product_tiled)
