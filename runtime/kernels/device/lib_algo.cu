/* lib_algo.cu - what moves data around the library calls of a convolution (runtime/cuda/library/lib_algo.c): other orders of
 * dimensions, windows laid out as a matrix, products put in place, and the bias. Extents are below 2^31.
 */

typedef unsigned U;

template<class V> struct wide {
	typedef float type;
};
template<> struct wide<double> {
	typedef double type;
};
typedef wide<T>::type A; /* that sums are made in */

/* One tile of `rows` x `cols`, at most 1024 elements, of a batch of R x C matrices x, transposed into y. `at` counts
 * tiles, columns fastest, then rows. 256 threads, four elements each. */
static __device__ void turn(T *y, const T *x, U at, int R, int C, int rows, int cols, U tiles_r, U tiles_c)
{
	enum { EACH = 4 };
	__shared__ T tile[1536]; /* two columns are the widest with their padding */
	const U rest = at / tiles_c, b = rest / tiles_r;
	const int c0 = (int)(at - rest * tiles_c) * cols, r0 = (int)(rest - b * tiles_r) * rows, pitch = cols | 1;
	const int nr = R - r0 < rows ? R - r0 : rows, nc = C - c0 < cols ? C - c0 : cols;
	T v[EACH];

	x += ((long long)b * R + r0) * C + c0;
	y += ((long long)b * C + c0) * R + r0;
#pragma unroll
	for (int i = 0; i < EACH; i++) {
		const U e = threadIdx.x + i * 256, r = e / (U)cols, c = e - r * (U)cols;

		if (r < (U)nr && c < (U)nc)
			v[i] = x[(long long)r * C + c];
	}
#pragma unroll
	for (int i = 0; i < EACH; i++) {
		const U e = threadIdx.x + i * 256, r = e / (U)cols, c = e - r * (U)cols;

		if (r < (U)nr && c < (U)nc)
			tile[r * pitch + c] = v[i];
	}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < EACH; i++) {
		const U e = threadIdx.x + i * 256, c = e / (U)rows, r = e - c * (U)rows;

		if (c < (U)nc && r < (U)nr)
			y[(long long)c * R + r] = tile[r * pitch + c];
	}
}

/* Two batches of matrices, the first in the first `first` blocks. */
extern "C" __global__ void turn_two(T *y, const T *x, T *z, const T *w, int first, int R, int C, int rows, int cols, int tiles_r,
				    int tiles_c, int R1, int C1, int rows1, int cols1, int tiles_r1, int tiles_c1)
{
	if ((int)blockIdx.x < first)
		turn(y, x, blockIdx.x, R, C, rows, cols, tiles_r, tiles_c);
	else
		turn(z, w, blockIdx.x - first, R1, C1, rows1, cols1, tiles_r1, tiles_c1);
}

extern "C" __global__ void turn_back(T *y, const T *x, int R, int C, int rows, int cols, int tiles_r, int tiles_c)
{
	turn(y, x, blockIdx.x, R, C, rows, cols, tiles_r, tiles_c);
}

/* The bias of each of `channels` planes of P elements, `total` in all; each thread eight of them. */
static __device__ void spread_bias(T *y, const T *bias, U block, int P, int channels, U total)
{
	for (U i = block * 2048 + threadIdx.x, end = block * 2048 + 2048; i < end && i < total; i += 256)
		y[i] = bias[i / (U)P % (U)channels];
}

extern "C" __global__ void fill(T *y, const T *bias, int P, int channels, int total)
{
	spread_bias(y, bias, blockIdx.x, P, channels, (U)total);
}

/* The elements of x [N, C, x0, x1, x2] that the windows at P = (y0, y1, y2) places read, as matrices [K = (C, k0, k1, k2), P] whose
 * rows begin every `ld` elements. `lanes` threads of a block walk along P, the others along K, each of them 8 rows. Blocks from
 * `first` on fill y, [N, channels, P], with the bias. */
extern "C" __global__ void gather(T *m, const T *x, T *y, const T *bias, int first, int blocks_p, int blocks_k, int lanes, int K, int P,
				  int ld, int x0, int x1, int x2, int k0, int k1, int k2, int y1, int y2, int st0, int st1, int st2,
				  int pad0, int pad1, int pad2, int dil0, int dil1, int dil2, int channels, int total)
{
	enum { EACH = 8 };
	const U block = blockIdx.x, taps = (U)(k0 * k1 * k2);

	if ((int)block >= first) {
		spread_bias(y, bias, block - first, P, channels, (U)total);
		return;
	}
	const U rest = block / (U)blocks_p, n = rest / (U)blocks_k, bk = rest - n * (U)blocks_k;
	const U p = (block - rest * (U)blocks_p) * (U)lanes + threadIdx.x % (U)lanes;
	U k = (bk * (256 / (U)lanes) + threadIdx.x / (U)lanes) * EACH;

	if (p >= (U)P || k >= (U)K)
		return;
	const U row = p / (U)y2, q = row / (U)y1;
	const int at0 = (int)q * st0 - pad0, at1 = (int)(row - q * (U)y1) * st1 - pad1, at2 = (int)(p - row * (U)y2) * st2 - pad2;
	U c = k / taps, tap = k - c * taps;
	int t2 = (int)(tap % (U)k2), t1 = (int)(tap / (U)k2 % (U)k1), t0 = (int)(tap / (U)k2 / (U)k1);
	const long long plane = (long long)x0 * x1 * x2;

	x += ((long long)n * (K / (int)taps) + c) * plane;
	m += ((long long)n * K + k) * ld + p;
#pragma unroll
	for (int i = 0; i < EACH; i++) {
		const int i0 = at0 + t0 * dil0, i1 = at1 + t1 * dil1, i2 = at2 + t2 * dil2;

		if (k + i < (U)K)
			m[(long long)i * ld] = (U)i0 < (U)x0 && (U)i1 < (U)x1 && (U)i2 < (U)x2
						       ? x[((long long)i0 * x1 + i1) * x2 + i2]
						       : st(0.0f);
		if (++t2 == k2) {
			t2 = 0;
			if (++t1 == k1) {
				t1 = 0;
				if (++t0 == k0) {
					t0 = 0;
					x += plane;
				}
			}
		}
	}
}

/* The elements j < W of a row, which lie next to each other in y, from planes that lie `step` apart. */
template<int W> static __device__ void put_row(T *y, const T *m, long long step, A bias)
{
	pm_vec<T, W> v;

#pragma unroll
	for (int j = 0; j < W; j++)
		v[j] = st((A)m[j * step] + bias);
	pm_store<W>(y, v);
}

/* From the products m [planes = (N, channels), (k0, k1, k2), (x0, x1, x2)] the result [planes, x0 k0, x1 k1, x2 k2] of a transposed
 * convolution whose windows do not overlap. `lanes` threads walk along a plane of x, the others along planes. */
extern "C" __global__ void interleave(T *y, const T *m, const T *bias, int has_bias, int planes, int channels, int blocks_p, int lanes,
				      int x0, int x1, int x2, int k0, int k1, int k2)
{
	const U P = (U)(x0 * x1 * x2), bp = blockIdx.x / (U)blocks_p;
	const U p = (blockIdx.x - bp * (U)blocks_p) * (U)lanes + threadIdx.x % (U)lanes;
	const U plane = bp * (256 / (U)lanes) + threadIdx.x / (U)lanes;

	if (p >= P || plane >= (U)planes)
		return;
	const U row = p / (U)x2, q = row / (U)x1;
	const int i2 = (int)(p - row * (U)x2), i1 = (int)(row - q * (U)x1), i0 = (int)q;
	const A b = has_bias ? (A)bias[plane % (U)channels] : (A)0;
	const long long taps = (long long)k0 * k1 * k2, line = (long long)x2 * k2;

	m += plane * taps * P + p;
	y += plane * taps * P + (long long)i2 * k2;
	for (int t0 = 0; t0 < k0; t0++)
		for (int t1 = 0; t1 < k1; t1++) {
			T *to = y + ((long long)(i0 * k0 + t0) * (x1 * k1) + i1 * k1 + t1) * line;

			if (k2 == 2)
				put_row<2>(to, m, P, b);
			else if (k2 == 4 && sizeof(T) < 8)
				put_row<4>(to, m, P, b);
			else
				for (int j = 0; j < k2; j++)
					to[j] = st((A)m[j * (long long)P] + b);
			m += (long long)k2 * P;
		}
}

/* The result [planes, y0, y1, y2] of any transposed convolution without dilation from the products m [planes, (k0, k1, k2), (x0, x1,
 * x2)]: the sum of those whose windows reach the place, in their order. `lanes` threads walk along a plane of y. */
extern "C" __global__ void fold(T *y, const T *m, const T *bias, int has_bias, int planes, int channels, int blocks_p, int lanes, int x0,
				int x1, int x2, int k0, int k1, int k2, int y0, int y1, int y2, int st0, int st1, int st2, int pad0,
				int pad1, int pad2)
{
	const U P = (U)(y0 * y1 * y2), bp = blockIdx.x / (U)blocks_p, X = (U)(x0 * x1 * x2);
	const U p = (blockIdx.x - bp * (U)blocks_p) * (U)lanes + threadIdx.x % (U)lanes;
	const U plane = bp * (256 / (U)lanes) + threadIdx.x / (U)lanes;

	if (p >= P || plane >= (U)planes)
		return;
	const U row = p / (U)y2, q = row / (U)y1;
	const int a0 = (int)q + pad0, a1 = (int)(row - q * (U)y1) + pad1, a2 = (int)(p - row * (U)y2) + pad2;
	const int q0 = a0 / st0, q1 = a1 / st1, q2 = a2 / st2;
	A sum = has_bias ? (A)bias[plane % (U)channels] : (A)0;

	m += (long long)plane * k0 * k1 * k2 * X;
	for (int t0 = a0 - q0 * st0, i0 = q0; t0 < k0; t0 += st0, i0--)
		for (int t1 = a1 - q1 * st1, i1 = q1; t1 < k1; t1 += st1, i1--)
			for (int t2 = a2 - q2 * st2, i2 = q2; t2 < k2; t2 += st2, i2--)
				if ((U)i0 < (U)x0 && (U)i1 < (U)x1 && (U)i2 < (U)x2)
					sum += (A)m[(((long long)t0 * k1 + t1) * k2 + t2) * X + ((long long)i0 * x1 + i1) * x2 + i2];
	y[(long long)plane * P + p] = st(sum);
}

/* Products of at most M rows: y [m, n] = a [m, k] b + c, c for each column. Here the columns of b lie together: a warp sums one,
 * V elements at a time. */
template<int M, int V>
static __device__ void dot_rows(T *y, const T *a, const T *b, const T *c, int has_c, int m, int n, int k, int lda, int ldb)
{
	const int lane = threadIdx.x % 32, col = (int)(blockIdx.x * 8 + threadIdx.x / 32);
	A sum[M] = {};

	if (col >= n)
		return;
	b += (long long)col * ldb;
#pragma unroll 4
	for (int i = lane * V; i < k; i += 32 * V) {
		const pm_vec<T, V> w = pm_load<V>(b + i);

#pragma unroll
		for (int r = 0; r < M; r++) {
			const pm_vec<T, V> x = pm_load<V>(a + (long long)(r < m ? r : m - 1) * lda + i);

#pragma unroll
			for (int j = 0; j < V; j++)
				sum[r] += (A)w[j] * (A)x[j];
		}
	}
#pragma unroll
	for (int r = 0; r < M; r++) {
		sum[r] = pm_warp_sum(sum[r]);
		if (lane == 0 && r < m)
			y[(long long)r * n + col] = st(sum[r] + (has_c ? (A)c[col] : (A)0));
	}
}

/* The same where the rows of b lie together and are aligned: two threads have the columns of 32 bytes, 128 of them share the sum. */
template<int M>
static __device__ void dot_columns(T *y, const T *a, const T *b, const T *c, int has_c, int m, int n, int k, int lda, int ldb)
{
	enum { V = 16 / sizeof(T), WARPS = 8 };
	__shared__ A part[WARPS][2 * M * V];
	const int t = threadIdx.x, side = t % 2, col = (int)(blockIdx.x * 2 + side) * V;
	A sum[M][V] = {};

	if (col < n)
#pragma unroll 4
		for (int i = t / 2; i < k; i += 128) {
			const pm_vec<T, V> w = pm_load<V>(b + (long long)i * ldb + col);

#pragma unroll
			for (int r = 0; r < M; r++) {
				const A x = (A)a[(long long)(r < m ? r : m - 1) * lda + i];

#pragma unroll
				for (int j = 0; j < V; j++)
					sum[r][j] += x * (A)w[j];
			}
		}
#pragma unroll
	for (int r = 0; r < M; r++)
#pragma unroll
		for (int j = 0; j < V; j++) {
#pragma unroll
			for (int o = 2; o < 32; o *= 2)
				sum[r][j] += __shfl_xor_sync(0xffffffffu, sum[r][j], o);
			if (t % 32 < 2)
				part[t / 32][(side * M + r) * V + j] = sum[r][j];
		}
	__syncthreads();
	if (t < 2 * M * V) {
		const int r = t / V % M, at = (int)(blockIdx.x * 2 + t / (M * V)) * V + t % V;
		A all = 0;

#pragma unroll
		for (int i = 0; i < WARPS; i++)
			all += part[i][t];
		if (r < m && at < n)
			y[(long long)r * n + at] = st(all + (has_c ? (A)c[at] : (A)0));
	}
}

#define DOT(M)                                                                                                                    \
	extern "C" __global__ void dot_rows_##M(T *y, const T *a, const T *b, const T *c, int has_c, int m, int n, int k, int lda, \
						int ldb, int wide)                                                                 \
	{                                                                                                                          \
		if (wide)                                                                                                          \
			dot_rows<M, 16 / sizeof(T)>(y, a, b, c, has_c, m, n, k, lda, ldb);                                         \
		else                                                                                                               \
			dot_rows<M, 1>(y, a, b, c, has_c, m, n, k, lda, ldb);                                                      \
	}                                                                                                                          \
	extern "C" __global__ void dot_columns_##M(T *y, const T *a, const T *b, const T *c, int has_c, int m, int n, int k,       \
						   int lda, int ldb)                                                               \
	{                                                                                                                          \
		dot_columns<M>(y, a, b, c, has_c, m, n, k, lda, ldb);                                                              \
	}
DOT(1)
DOT(2)
DOT(4)
DOT(8)
/* SPDX-License-Identifier: Apache-2.0 */
