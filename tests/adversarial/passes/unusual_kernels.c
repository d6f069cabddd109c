/* SPDX-License-Identifier: Apache-2.0 */
/* unusual_kernels.c - honest kernels that are built in unusual but legal ways: none may be refused. */
#include "passmith/dsl.h"

enum { X, B, C };

/* clang-format off */

/* ---- element by element ---- */

/* Vectors of 16 bytes in a grid of three blocks, from the end to the beginning; what is left over one by one. */
static const char src_silu_vectors[] = PM_CUDA(
extern "C" __global__ void k(const T *x, T *y, long long n)
{
	constexpr int W = 16 / sizeof(T);
	long long step = (long long)gridDim.x * blockDim.x;
	long long whole = pm_aligned(x, 16) && pm_aligned(y, 16) ? n / W : 0;
	long long me = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	for (long long i = whole - 1 - me; i >= 0; i -= step) {
		pm_vec<T, W> v = pm_load<W>(x + i * W);
		for (int j = 0; j < W; j++) {
			float f = ld(v[j]);
			v[j] = st(f * __frcp_rn(1.f + __expf(-f)));
		}
		pm_store(y + i * W, v);
	}
	for (long long i = n - 1 - me; i >= whole * W; i -= step) {
		float f = ld(x[i]);
		y[i] = st(__fdividef(f, 1.f + __expf(-f)));
	}
});
/* The exponential of the negative magnitude alone, which never overflows. */
static const char src_silu_no_overflow[] = PM_CUDA(
extern "C" __global__ void k(const T *x, T *y, long long n)
{
	for (long long i = threadIdx.y * 32 + threadIdx.x + 256ll * blockIdx.x; i < n; i += 256ll * gridDim.x) {
		float v = ld(x[i]);
		float e = expf(-fabsf(v));
		y[i] = st(v * ((v < 0.f ? e : 1.f) / (1.f + e)));
	}
});
/* tanh by expm1, which keeps the digits of small arguments. */
static const char src_tanh_by_expm1[] = PM_CUDA(
extern "C" __global__ void k(const T *x, T *y, long long n)
{
	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	if (i >= n) return;
	float v = ld(x[i]);
	float m = expm1f(-2.f * fabsf(v));
	y[i] = st(copysignf(-m / (m + 2.f), v));
});
/* The complement of erf, and a block that handles its elements in an order of its own. */
static const char src_gelu_erfc[] = PM_CUDA(
extern "C" __global__ void k(const T *x, T *y, long long n)
{
	long long i = blockIdx.x * 128ll + (threadIdx.x * 37 + 11) % 128;
	if (i >= n) return;
	float v = ld(x[i]);
	y[i] = st(0.5f * v * erfcf(-0.70710678f * v));
});
/* Both operands through shared memory, read back by another thread than the one that brought them. */
static const char src_multiply_add_shared[] = PM_CUDA(
extern "C" __global__ void k(const T *x, const T *a, const T *b, T *y, long long n)
{
	__shared__ float p[128];
	__shared__ float q[128];
	long long at = blockIdx.x * 128ll;
	long long i = at + threadIdx.x;
	int other = 127 - threadIdx.x;
	if (i < n) {
		p[threadIdx.x] = ld(x[i]) * ld(a[i]);
		q[threadIdx.x] = ld(b[i]);
	}
	__syncthreads();
	if (at + other < n) y[at + other] = st(p[other] + q[other]);
});
/* In double, with the larger terms first. */
static const char src_three_sum_double[] = PM_CUDA(
extern "C" __global__ void k(const T *x, const T *a, const T *b, T *y, long long n)
{
	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	if (i < n) y[i] = st((float)(((double)ld(b[i]) + (double)ld(a[i])) + (double)ld(x[i])));
});
/* Two elements a thread, half a grid apart; the sign bit instead of a comparison. */
static const char src_residual_relu_pairs[] = PM_CUDA(
extern "C" __global__ void k(const T *x, const T *a, const T *b, T *y, long long n)
{
	long long half = (n + 1) / 2;
	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
	if (i >= half) return;
	for (long long j = i; j < n; j += half) {
		float v = fmaf(ld(x[j]), ld(a[j]), ld(b[j]));
		y[j] = st(v != v ? v : __float_as_int(v) < 0 ? 0.f : v);
	}
});

/* ---- rows ---- */

/* Sixteen lanes a row, eight rows a block: partial warps. */
static const char src_sum_half_warps[] = PM_CUDA(
extern "C" __global__ void k(const T *x, T *y, long long rows, long long cols)
{
	int lane = threadIdx.x & 15;
	long long r = blockIdx.x * 8ll + threadIdx.x / 16;
	float t = 0.f;
	if (r < rows) for (long long j = lane; j < cols; j += 16) t += ld(x[r * cols + j]);
	for (int d = 8; d; d /= 2) t += __shfl_xor_sync(0xffffffffu, t, d, 16);
	if (r < rows && lane == 15) y[r] = st(t);
});
/* Compensated (Kahan), each thread for itself, then in double. An infinite sum needs no compensation. */
static const char src_sum_compensated[] = PM_CUDA(
extern "C" __global__ void k(const T *x, T *y, long long rows, long long cols)
{
	__shared__ double all[64];
	float t = 0.f;
	float lost = 0.f;
	for (long long j = threadIdx.x; j < cols; j += 64) {
		float v = ld(x[blockIdx.x * cols + j]) - lost;
		float next = t + v;
		lost = isfinite(next) ? (next - t) - v : 0.f;
		t = next;
	}
	all[threadIdx.x] = t;
	__syncthreads();
	if (threadIdx.x) return;
	double sum = 0.;
	for (int i = 0; i < 64; i++) sum += all[i];
	y[blockIdx.x] = st((float)sum);
});
/* The block that comes last adds up what all blocks of a row have left: one launch, a counter in scratch. */
static const char src_mean_last_block[] = PM_CUDA(
extern "C" __global__ void clear(unsigned *count, long long rows)
{
	for (long long r = threadIdx.x; r < rows; r += blockDim.x) count[r] = 0u;
}
extern "C" __global__ void k(const T *x, T *y, float *part, unsigned *count, long long rows, long long cols)
{
	__shared__ bool last;
	long long r = blockIdx.y;
	float t = 0.f;
	for (long long j = blockIdx.x * 64ll + threadIdx.x; j < cols; j += 64ll * gridDim.x) t += ld(x[r * cols + j]);
	t = pm_block_sum(t);
	if (!threadIdx.x) {
		part[r * gridDim.x + blockIdx.x] = t;
		__threadfence();
		last = atomicAdd(count + r, 1u) == gridDim.x - 1;
	}
	__syncthreads();
	if (!last) return;
	t = threadIdx.x < gridDim.x ? __ldcg(part + r * gridDim.x + threadIdx.x) : 0.f;
	t = pm_block_sum(t);
	if (!threadIdx.x) y[r] = st(t / cols);
});
/* Scaled by the largest element, as a careful library does, so that squares stay in range. */
static const char src_root_scaled[] = PM_CUDA(
extern "C" __global__ void k(const T *x, T *y, long long rows, long long cols)
{
	float top = 0.f;
	float t = 0.f;
	x += blockIdx.x * cols;
	for (long long j = threadIdx.x; j < cols; j += 32) top = pm_max(top, fabsf(ld(x[j])));
	top = pm_warp_max(top);
	if (top > 0.f && isfinite(top))
		for (long long j = threadIdx.x; j < cols; j += 32) { float v = ld(x[j]) / top; t = fmaf(v, v, t); }
	t = pm_warp_sum(t);
	if (!threadIdx.x) y[blockIdx.x] = st(top > 0.f && isfinite(top) ? top * sqrtf(t) : top);
});
/* Three launches with maxima and sums in scratch; one block for several rows. */
static const char src_softmax_launches[] = PM_CUDA(
extern "C" __global__ void tops(const T *x, float *top, long long rows, long long cols)
{
	for (long long r = blockIdx.x * 4ll + threadIdx.y; r < rows; r += 4ll * gridDim.x) {
		float m = -INFINITY;
		for (long long j = threadIdx.x; j < cols; j += 32) m = pm_max(m, ld(x[r * cols + j]));
		m = pm_warp_max(m);
		if (!threadIdx.x) top[r] = m;
	}
}
extern "C" __global__ void sums(const T *x, const float *top, float *sum, long long rows, long long cols)
{
	for (long long r = blockIdx.x * 4ll + threadIdx.y; r < rows; r += 4ll * gridDim.x) {
		float t = 0.f;
		for (long long j = threadIdx.x; j < cols; j += 32) t += __expf(ld(x[r * cols + j]) - top[r]);
		t = pm_warp_sum(t);
		if (!threadIdx.x) sum[r] = t;
	}
}
extern "C" __global__ void k(const T *x, const float *top, const float *sum, T *y, long long rows, long long cols)
{
	for (long long i = blockIdx.x * 128ll + threadIdx.y * 32 + threadIdx.x; i < rows * cols; i += 128ll * gridDim.x) {
		long long r = i / cols;
		y[i] = st(__expf(ld(x[i]) - top[r]) / sum[r]);
	}
});
/* A warp a row; lanes keep maximum and sum of their own and merge them by shuffles. */
static const char src_softmax_merged[] = PM_CUDA(
extern "C" __global__ void k(const T *x, T *y, long long rows, long long cols)
{
	long long r = blockIdx.x * 2ll + threadIdx.x / 32;
	int lane = threadIdx.x % 32;
	if (r >= rows) return;
	x += r * cols;
	y += r * cols;
	float top = -INFINITY;
	float sum = 0.f;
	for (long long j = lane; j < cols; j += 32) {
		float v = ld(x[j]);
		if (v > top) { sum = sum * __expf(top - v) + 1.f; top = v; }
		else sum += v == top ? 1.f : __expf(v - top);
	}
	for (int d = 1; d < 32; d *= 2) {
		float t = __shfl_xor_sync(0xffffffffu, top, d);
		float s = __shfl_xor_sync(0xffffffffu, sum, d);
		float m = pm_max(top, t);
		sum = (top == m ? sum : sum * __expf(top - m)) + (t == m ? s : s * __expf(t - m));
		top = m;
	}
	for (long long j = lane; j < cols; j += 32) y[j] = st(__expf(ld(x[j]) - top) / sum);
});
/* Mean and squares by Welford's updates, merged by shuffles (Chan). */
static const char src_norm_welford[] = PM_CUDA(
extern "C" __global__ void k(const T *x, const T *g, const T *b, T *y, long long rows, long long cols)
{
	x += blockIdx.x * cols;
	y += blockIdx.x * cols;
	float n = 0.f;
	float mean = 0.f;
	float q = 0.f;
	for (long long j = threadIdx.x; j < cols; j += 32) {
		float v = ld(x[j]);
		float d = v - mean;
		n += 1.f;
		mean += d / n;
		q = fmaf(d, v - mean, q);
	}
	for (int w = 16; w; w /= 2) {
		float on = __shfl_xor_sync(0xffffffffu, n, w);
		float om = __shfl_xor_sync(0xffffffffu, mean, w);
		float oq = __shfl_xor_sync(0xffffffffu, q, w);
		float d = om - mean;
		float all = n + on;
		if (all > 0.f) {
			q += oq + d * d * (n * on / all);
			mean = (n * mean + on * om) / all;
		}
		n = all;
	}
	mean = __shfl_sync(0xffffffffu, mean, 0);
	float inv = 1.f / sqrtf(__shfl_sync(0xffffffffu, q, 0) / cols + 1e-5f);
	for (long long j = threadIdx.x; j < cols; j += 32) y[j] = st(fmaf((ld(x[j]) - mean) * inv, ld(g[j]), ld(b[j])));
});
/* The row is kept in dynamic shared memory, with a layout of the author's. */
static const char src_norm_dynamic[] = PM_CUDA(
extern __shared__ float room[];
extern "C" __global__ void k(const T *x, const T *g, const T *b, T *y, long long rows, long long cols)
{
	float *sum = room;
	float *row = room + 64;
	x += blockIdx.x * cols;
	y += blockIdx.x * cols;
	float t = 0.f;
	for (long long j = threadIdx.x; j < cols; j += 64) t += row[j] = ld(x[j]);
	for (int pass = 0; pass < 2; pass++) {
		sum[threadIdx.x] = t;
		__syncthreads();
		for (int w = 32; w; w >>= 1) {
			if (threadIdx.x < w) sum[threadIdx.x] += sum[threadIdx.x + w];
			__syncthreads();
		}
		float m = sum[0] / cols;
		__syncthreads();
		if (pass) { t = rsqrtf(m + 1e-5f); break; }
		t = 0.f;
		for (long long j = threadIdx.x; j < cols; j += 64) { row[j] -= m; t += row[j] * row[j]; }
	}
	for (long long j = threadIdx.x; j < cols; j += 64) y[j] = st(row[j] * t * ld(g[j]) + ld(b[j]));
});
/* Squares in double, the root in float. */
static const char src_rms_double[] = PM_CUDA(
extern "C" __global__ void k(const T *x, const T *g, T *y, long long rows, long long cols)
{
	__shared__ double part[2];
	x += blockIdx.x * cols;
	y += blockIdx.x * cols;
	double t = 0.;
	for (long long j = cols - 1 - threadIdx.x; j >= 0; j -= 64) { double v = ld(x[j]); t += v * v; }
	for (int d = 16; d; d /= 2) t += __shfl_down_sync(0xffffffffu, t, d);
	if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = t;
	__syncthreads();
	float inv = 1.f / sqrtf((float)((part[0] + part[1]) / cols + 1e-5));
	for (long long j = threadIdx.x; j < cols; j += 64) y[j] = st(ld(g[j]) * (ld(x[j]) * inv));
});

/* ---- products ---- */

/* Two tiles in turn: one is filled while the other is used. */
static const char src_product_double_buffer[] = PM_CUDA(
extern "C" __global__ void k(const T *a, const T *b, T *y, long long m, long long n, long long depth)
{
	__shared__ float p[2][16][17];
	__shared__ float q[2][16][17];
	int i = threadIdx.y;
	int j = threadIdx.x;
	long long r = blockIdx.y * 16 + i;
	long long c = blockIdx.x * 16 + j;
	int now = 0;
	float s = 0.f;
	for (long long at = 0; at <= depth + 15; at += 16, now ^= 1) {
		if (at < depth) {
			p[now][i][j] = r < m && at + j < depth ? ld(a[r * depth + at + j]) : 0.f;
			q[now][i][j] = c < n && at + i < depth ? ld(b[(at + i) * n + c]) : 0.f;
		}
		if (at) for (int t = 0; t < 16 && at - 16 + t < depth; t++) s = fmaf(p[now ^ 1][i][t], q[now ^ 1][t][j], s);
		__syncthreads();
	}
	if (r < m && c < n) y[r * n + c] = st(s);
});
/* The depth is split over blocks, partial sums wait in scratch (split-K). */
static const char src_product_split_k[] = PM_CUDA(
extern "C" __global__ void part(const T *a, const T *b, float *s, long long m, long long n, long long depth)
{
	long long c = blockIdx.x * 16 + threadIdx.x;
	long long r = blockIdx.y * 16 + threadIdx.y;
	if (r >= m || c >= n) return;
	float t = 0.f;
	for (long long j = blockIdx.z; j < depth; j += gridDim.z) t = fmaf(ld(a[r * depth + j]), ld(b[j * n + c]), t);
	s[(blockIdx.z * m + r) * n + c] = t;
}
extern "C" __global__ void k(const float *s, T *y, long long parts, long long numel)
{
	for (long long i = blockIdx.x * 64ll + threadIdx.x; i < numel; i += 64ll * gridDim.x) {
		float t = s[i];
		for (long long p = 1; p < parts; p++) t += s[p * numel + i];
		y[i] = st(t);
	}
});
/* A warp for each element of the result, four running sums a lane. */
static const char src_product_warp[] = PM_CUDA(
extern "C" __global__ void k(const T *a, const T *b, T *y, long long m, long long n, long long depth)
{
	long long at = blockIdx.x * 4ll + threadIdx.y;
	if (at >= m * n) return;
	const T *row = a + at / n * depth;
	const T *col = b + at % n;
	float s[4] = { 0.f };
	long long j = threadIdx.x;
	for (; j + 96 < depth; j += 128)
		for (int u = 0; u < 4; u++) s[u] += ld(row[j + 32 * u]) * ld(col[(j + 32 * u) * n]);
	for (; j < depth; j += 32) s[0] += ld(row[j]) * ld(col[j * n]);
	float t = (s[0] + s[1]) + (s[2] + s[3]);
	for (int d = 1; d < 32; d <<= 1) t += __shfl_xor_sync(0xffffffffu, t, d);
	if (!threadIdx.x) y[at] = st(t);
});
/* Transposed in registers: a warp exchanges 32 x 32 elements by shuffles, no shared memory. */
static const char src_relu_transposed[] = PM_CUDA(
extern "C" __global__ void k(const T *x, T *y, long long rows, long long cols)
{
	long long r = blockIdx.y * 32;
	long long c = blockIdx.x * 32;
	int lane = threadIdx.x;
	float v[32];
	_Pragma("unroll") for (int i = 0; i < 32; i++)
		v[i] = r + i < rows && c + lane < cols ? ld(x[(r + i) * cols + c + lane]) : 0.f;
	_Pragma("unroll") for (int d = 1; d < 32; d *= 2)
		_Pragma("unroll") for (int i = 0; i < 32; i++) {
			if (i & d) continue;
			float mine = lane & d ? v[i] : v[i + d];
			float theirs = __shfl_xor_sync(0xffffffffu, mine, d);
			if (lane & d) v[i] = theirs;
			else v[i + d] = theirs;
		}
	_Pragma("unroll") for (int i = 0; i < 32; i++)
		if (c + i < cols && r + lane < rows) y[(c + i) * rows + r + lane] = st(pm_max(v[i], 0.f));
});

/* ---- rules ---- */

#define P(v) TYPED(V(v), FLOATS, -1)
#define P2(v) TYPED(V(v), FLOATS, 2)
#define ROWS pm_dim(m->v[X], 0)
#define COLS pm_dim(m->v[X], 1)
#define RULE(id, pat, ...) \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m) { return PM_REPLACE_WITH_KERNEL(rw, m, __VA_ARGS__); } \
	PM_RULE(id, .pattern = pat, .rewrite = rw_##id);
#define FLAT(id, pat, grid_, ...) RULE(id, pat, .entry = "k", .source = src_##id, .grid = { grid_ }, .block = { __VA_ARGS__ }, \
	.in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(pm_numel(m->v[X]))))
#define FLAT3(id, pat, grid_) RULE(id, pat, .entry = "k", .source = src_##id, .grid = { grid_ }, .block = { 128 }, \
	.in = PM_VALS(m->v[X], m->v[B], m->v[C]), .arg = PM_ARGS(I64(pm_numel(m->v[X]))))
#define ROW(id, pat, grid_, block_, ...) RULE(id, pat, .entry = "k", .source = src_##id, .grid = { (uint32_t)(grid_) }, .block = { block_ }, \
	.in = PM_VALS(__VA_ARGS__), .arg = PM_ARGS(I64(ROWS), I64(COLS)))

FLAT(silu_vectors, OP(Mul, P(X), OP(Sigmoid, V(X))), 3, 96)
FLAT(silu_no_overflow, OP(Mul, P(X), OP(Sigmoid, V(X))), 2, 32, 8)
FLAT(tanh_by_expm1, OP(Tanh, P(X)), pm_blocks(pm_numel(m->v[X]), 256), 256)
FLAT(gelu_erfc, ANYATTR(OP(Gelu, P(X))), pm_blocks(pm_numel(m->v[X]), 128), 128)
FLAT3(multiply_add_shared, OP(Add, OP(Mul, P(X), P(B)), P(C)), pm_blocks(pm_numel(m->v[X]), 128))
FLAT3(three_sum_double, OP(Add, OP(Add, P(X), P(B)), P(C)), pm_blocks(pm_numel(m->v[X]), 128))
FLAT3(residual_relu_pairs, OP(Relu, OP(Add, OP(Mul, P(X), P(B)), P(C))), pm_blocks(pm_numel(m->v[X]), 128))

#define REDUCE(name) WITH(OP(name, P2(X)), INTS(axes, 1), INT(keepdims, 0))
ROW(sum_half_warps, REDUCE(ReduceSum), pm_blocks(ROWS, 8), 128, m->v[X])
ROW(sum_compensated, REDUCE(ReduceSum), ROWS, 64, m->v[X])
RULE(mean_last_block, REDUCE(ReduceMean), .source = src_mean_last_block, .in = PM_VALS(m->v[X]), .like = m->root,
	.scratch = PM_SCRATCH(ROWS * 5 * 4, ROWS * 4), .launch = PM_LAUNCHES(
	LAUNCH(.entry = "clear", .grid = { 1 }, .block = { 64 }, .arg = PM_ARGS(SCR(1), I64(ROWS))),
	LAUNCH(.entry = "k", .grid = { 5, (uint32_t)ROWS }, .block = { 64 }, .arg = PM_ARGS(IN(0), OUT(0), SCR(0), SCR(1), I64(ROWS), I64(COLS)))))
ROW(root_scaled, REDUCE(ReduceL2), ROWS, 32, m->v[X])
#define SOFT WITH(OP(Softmax, P2(X)), INT(axis, -1))
RULE(softmax_launches, SOFT, .source = src_softmax_launches, .in = PM_VALS(m->v[X]), .like = m->root,
	.scratch = PM_SCRATCH(ROWS * 4, ROWS * 4), .launch = PM_LAUNCHES(
	LAUNCH(.entry = "tops", .grid = { 2 }, .block = { 32, 4 }, .arg = PM_ARGS(IN(0), SCR(0), I64(ROWS), I64(COLS))),
	LAUNCH(.entry = "sums", .grid = { 3 }, .block = { 32, 4 }, .arg = PM_ARGS(IN(0), SCR(0), SCR(1), I64(ROWS), I64(COLS))),
	LAUNCH(.entry = "k", .grid = { 7 }, .block = { 32, 4 }, .arg = PM_ARGS(IN(0), SCR(0), SCR(1), OUT(0), I64(ROWS), I64(COLS)))))
ROW(softmax_merged, SOFT, pm_blocks(ROWS, 2), 64, m->v[X])
#define NORM ANYATTR(OP(LayerNormalization, P2(X), V(B), V(C)))
ROW(norm_welford, NORM, ROWS, 32, m->v[X], m->v[B], m->v[C])
RULE(norm_dynamic, NORM, .entry = "k", .source = src_norm_dynamic, .grid = { (uint32_t)ROWS }, .block = { 64 }, .smem = (uint32_t)(COLS + 64) * 4,
	.in = PM_VALS(m->v[X], m->v[B], m->v[C]), .arg = PM_ARGS(I64(ROWS), I64(COLS)))
ROW(rms_double, ANYATTR(OP(RMSNormalization, P2(X), V(B))), ROWS, 64, m->v[X], m->v[B])

#define PRODUCT OP(MatMul, P2(X), P2(B))
#define N pm_dim(m->v[B], 1)
RULE(product_double_buffer, PRODUCT, .entry = "k", .source = src_product_double_buffer, .grid = { pm_blocks(N, 16), pm_blocks(ROWS, 16) },
	.block = { 16, 16 }, .in = PM_VALS(m->v[X], m->v[B]), .arg = PM_ARGS(I64(ROWS), I64(N), I64(COLS)))
RULE(product_split_k, PRODUCT, .source = src_product_split_k, .in = PM_VALS(m->v[X], m->v[B]), .like = m->root,
	.scratch = PM_SCRATCH(ROWS * N * 3 * 4), .launch = PM_LAUNCHES(
	LAUNCH(.entry = "part", .grid = { pm_blocks(N, 16), pm_blocks(ROWS, 16), 3 }, .block = { 16, 16 }, .arg = PM_ARGS(IN(0), IN(1), SCR(0), I64(ROWS), I64(N), I64(COLS))),
	LAUNCH(.entry = "k", .grid = { 4 }, .block = { 64 }, .arg = PM_ARGS(SCR(0), OUT(0), I64(3), I64(ROWS * N)))))
RULE(product_warp, PRODUCT, .entry = "k", .source = src_product_warp, .grid = { pm_blocks(ROWS * N, 4) }, .block = { 32, 4 },
	.in = PM_VALS(m->v[X], m->v[B]), .arg = PM_ARGS(I64(ROWS), I64(N), I64(COLS)))
RULE(relu_transposed, OP(Relu, WITH(OP(Transpose, P2(X)), INTS(perm, 1, 0))), .entry = "k", .source = src_relu_transposed,
	.grid = { pm_blocks(COLS, 32), pm_blocks(ROWS, 32) }, .block = { 32 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(ROWS), I64(COLS)))
/* clang-format on */

PM_PLUGIN("unusual_kernels", "1", &silu_vectors, &silu_no_overflow, &tanh_by_expm1, &gelu_erfc,
	  &multiply_add_shared, &three_sum_double, &residual_relu_pairs, &sum_half_warps, &sum_compensated,
	  &mean_last_block, &root_scaled, &softmax_launches, &softmax_merged, &norm_welford, &norm_dynamic,
	  &rms_double, &product_double_buffer, &product_split_k, &product_warp, &relu_transposed)
