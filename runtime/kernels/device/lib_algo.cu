/* lib_algo.cu - what moves data around the library calls of a convolution (runtime/cuda/library/lib_algo.c): other orders of
 * dimensions, windows laid out as a matrix, products put in place, and the bias; and kernels that take the place of such a call: small
 * products, convolutions. Extents are below 2^31.
 */

typedef unsigned U;

template<class V> struct wide {
	typedef float type;
};
template<> struct wide<double> {
	typedef double type;
};
typedef wide<T>::type A; /* that sums are made in */

/* Matrices are transposed in tiles by 256 threads: at most 1024 elements that are moved one by one, or 4096 that are moved in pairs,
 * which of two bytes each takes a third of the time, or by 16 bytes, of which no thread waits for more than two loads. Doubles are never
 * moved in pairs, and only elements of two bytes by 16. */
template<int BYTES> struct pair_of {
	typedef unsigned long long type; /* of doubles: never used */
};
template<> struct pair_of<2> {
	typedef unsigned type;
};
typedef pair_of<sizeof(T)>::type Pair;

enum { TURN_PAIRS = sizeof(T) <= 4, TURN_ONE = 1536 /* two columns are the widest with their padding */, TURN_PITCH = 33 /* pairs */,
       TURN_TILE = TURN_PAIRS ? 64 * TURN_PITCH * 2 : TURN_ONE, TURN_WIDE = sizeof(T) == 2 ? 128 * 17 : 1 /* words */ };

/* A tile of a matrix R x C: its corner is where x and y point, nr x nc elements lie in the matrix. */
typedef struct Tile {
	T *y;
	const T *x;
	U R, C, nr, nc;
} Tile;

/* `rows` x `cols`. */
static __device__ void turn_one(const Tile &m, T *tile, U rows, U cols)
{
	enum { EACH = 4 };
	const U pitch = cols | 1;
	T v[EACH];

#pragma unroll
	for (int i = 0; i < EACH; i++) {
		const U e = threadIdx.x + i * 256, r = e / cols, c = e - r * cols;

		if (r < m.nr && c < m.nc)
			v[i] = m.x[(long long)r * m.C + c];
	}
#pragma unroll
	for (int i = 0; i < EACH; i++) {
		const U e = threadIdx.x + i * 256, r = e / cols, c = e - r * cols;

		if (r < m.nr && c < m.nc)
			tile[r * pitch + c] = v[i];
	}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < EACH; i++) {
		const U e = threadIdx.x + i * 256, c = e / rows, r = e - c * rows;

		if (c < m.nc && r < m.nr)
			m.y[(long long)c * m.R + r] = tile[r * pitch + c];
	}
}

/* ROWS x 64; R and C are even. The tile has its odd rows behind its even ones, so that neither side has bank conflicts. */
template<int ROWS> static __device__ void turn_pairs(const Tile &m, Pair *tile)
{
	enum { LINES = 8 /* that are read at once */, ACROSS = ROWS / 2 /* pairs of rows */, DOWN = 256 / ACROSS, ODD = ACROSS * TURN_PITCH,
	       BITS = TURN_PAIRS ? sizeof(T) * 8 : 1 };
	const Pair low = ((Pair)1 << BITS) - 1;
	const U lane = threadIdx.x % 32, line = threadIdx.x / 32, across = threadIdx.x % ACROSS, down = threadIdx.x / ACROSS;
	const T *x = m.x + (long long)line * m.C + lane * 2;
	T *y = m.y + (long long)(down * 2) * m.R + across * 2;
	Pair v[ROWS / LINES];

#pragma unroll
	for (U i = 0; i < ROWS / LINES; i++)
		if (lane * 2 < m.nc && line + i * LINES < m.nr)
			v[i] = *(const Pair *)(x + (long long)(i * LINES) * m.C);
#pragma unroll
	for (U i = 0; i < ROWS / LINES; i++)
		if (lane * 2 < m.nc && line + i * LINES < m.nr)
			tile[line % 2 * ODD + (line / 2 + i * LINES / 2) * TURN_PITCH + lane] = v[i];
	__syncthreads();
#pragma unroll
	for (U i = 0; i < 32 / DOWN; i++)
		if (across * 2 < m.nr && (down + i * DOWN) * 2 < m.nc) {
			const Pair a = tile[across * TURN_PITCH + down + i * DOWN], b = tile[ODD + across * TURN_PITCH + down + i * DOWN];
			T *to = y + (long long)(i * DOWN * 2) * m.R;

			*(Pair *)to = (a & low) | b << BITS;
			*(Pair *)(to + m.R) = a >> BITS | (b & ~low);
		}
}

/* Rows that are short, so that they lie together: an even number of them, whole, at most 4096 elements; R is even. */
static __device__ void turn_lines(const Tile &m, T *tile)
{
	enum { EACH = 8 };
	const U all = m.nr * m.C, pairs = m.nr / 2;

#pragma unroll
	for (int i = 0; i < EACH; i++) {
		const U e = (threadIdx.x + i * 256) * 2;

		if (e < all)
			pm_store<2>(tile + e, pm_load<2>(m.x + e));
	}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < EACH; i++) {
		const U e = threadIdx.x + i * 256, c = e / pairs, r = (e - c * pairs) * 2;
		pm_vec<T, 2> v;

		if (c < m.C) {
			v[0] = tile[r * m.C + c];
			v[1] = tile[(r + 1) * m.C + c];
			pm_store<2>(m.y + (long long)c * m.R + r, v);
		}
	}
}

/* 4096 elements, 32, 64 or 128 of them across (4, 8 or 16 vectors of 8, whose logarithm is `wide`); R and C are multiples of 8. A
 * word of the tile has a column's two neighbours. Lanes stand beside each other for a line of memory, and then below each other. */
template<int BYTES> struct Wide {
	static __device__ __forceinline__ void turn(const Tile &, unsigned *, U) {}
};
template<> struct Wide<2> {
	static __device__ __forceinline__ void turn(const Tile &m, unsigned *tile, U wide)
	{
		const U near = wide < 3 ? wide : 3, lane = threadIdx.x % 32, warp = threadIdx.x / 32, pitch = (256u >> wide) + 1;
		const U across = ((warp & ((1u << (wide - near)) - 1)) << near) + (lane & ((1u << near) - 1));
		const U pair = (warp >> (wide - near) << (5 - near)) + (lane >> near);
		pm_vec<unsigned, 4> a = {}, b = {};

		if (pair * 2 < m.nr && across * 8 < m.nc) {
			const T *from = m.x + (long long)(pair * 2) * m.C + across * 8;

			a = pm_load<4>((const unsigned *)from);
			b = pm_load<4>((const unsigned *)(from + m.C));
		}
#pragma unroll
		for (int j = 0; j < 4; j++) {
			tile[(across * 8 + j * 2) * pitch + pair] = (a[j] & 0xffffu) | b[j] << 16;
			tile[(across * 8 + j * 2 + 1) * pitch + pair] = a[j] >> 16 | (b[j] & 0xffff0000u);
		}
		__syncthreads();
#pragma unroll
		for (U i = 0; i < 2; i++) {
			const U e = threadIdx.x + i * 256, four = e & ((64u >> wide) - 1), c = e >> (6 - wide);
			pm_vec<unsigned, 4> v;

#pragma unroll
			for (int j = 0; j < 4; j++)
				v[j] = tile[c * pitch + four * 4 + j];
			if (c < m.nc && four * 8 < m.nr)
				pm_store<4>((unsigned *)(m.y + (long long)c * m.R + four * 8), v);
		}
	}
};

static __device__ __forceinline__ U wide_of(int cols)
{
	return cols == 32 ? 2 : cols == 64 ? 3 : 4;
}

/* The tile number `at` of a batch of R x C matrices: columns fastest, then rows. */
static __device__ __forceinline__ Tile tile_of(T *y, const T *x, U at, int R, int C, int rows, int cols, U tiles_r, U tiles_c)
{
	const U rest = at / tiles_c, b = rest / tiles_r, c0 = (at - rest * tiles_c) * (U)cols, r0 = (rest - b * tiles_r) * (U)rows;
	const U nr = (U)R - r0, nc = (U)C - c0;
	const Tile m = { y + ((long long)b * C + c0) * R + r0, x + ((long long)b * R + r0) * C + c0, (U)R, (U)C,
			 nr < (U)rows ? nr : (U)rows, nc < (U)cols ? nc : (U)cols };

	return m;
}

/* One tile of `rows` x `cols` of a batch of R x C matrices x, transposed into y. `pairs` says how it is moved: 0 by elements, 1
 * in pairs, of 64 or 32 rows, 2 in pairs and whole rows, 3 by 16 bytes. */
static __device__ void turn_tile(T *y, const T *x, U at, int pairs, int R, int C, int rows, int cols, U tiles_r, U tiles_c)
{
	__shared__ __align__(8) T tile[TURN_TILE];
	const Tile m = tile_of(y, x, at, R, C, rows, cols, tiles_r, tiles_c);

	if (!TURN_PAIRS || !pairs)
		turn_one(m, tile, (U)rows, (U)cols);
	else if (pairs == 3)
		Wide<sizeof(T)>::turn(m, (unsigned *)tile, wide_of(cols));
	else if (pairs == 2)
		turn_lines(m, tile);
	else if (rows == 64)
		turn_pairs<64>(m, (Pair *)tile);
	else
		turn_pairs<32>(m, (Pair *)tile);
}

extern "C" __global__ void turn(T *y, const T *x, int pairs, int R, int C, int rows, int cols, int tiles_r, int tiles_c)
{
	turn_tile(y, x, blockIdx.x, pairs, R, C, rows, cols, tiles_r, tiles_c);
}

/* The same by 16 bytes, an entry of its own: instructions that stand in front of what runs would be waited for. */
extern "C" __global__ void turn_wide(T *y, const T *x, int, int R, int C, int rows, int cols, int tiles_r, int tiles_c)
{
	__shared__ unsigned tile[TURN_WIDE];

	Wide<sizeof(T)>::turn(tile_of(y, x, blockIdx.x, R, C, rows, cols, tiles_r, tiles_c), tile, wide_of(cols));
}

/* The bias of each of `channels` planes of P elements, `total` in all; a block 2048 of them, 16 bytes at a time. */
static __device__ void spread_bias(T *y, const T *bias, U block, U P, U channels, U total)
{
	enum { V = 16 / sizeof(T) };
	const U begin = block * 2048, end = total - begin < 2048 ? total : begin + 2048;

	for (U i = begin + threadIdx.x * V; i < end; i += 256 * V) {
		const U plane = i / P;
		U c = plane % channels, at = i - plane * P;
		pm_vec<T, V> v;

#pragma unroll
		for (int j = 0; j < V; j++) {
			v[j] = bias[c];
			if (++at == P) {
				at = 0;
				c = c + 1 == channels ? 0 : c + 1;
			}
		}
		if (i + V <= total && (size_t)y % 16 == 0)
			pm_store<V>(y + i, v);
		else
			for (int j = 0; j < V && i + j < total; j++)
				y[i + j] = v[j];
	}
}

/* Two batches of matrices, the first in the first `first` blocks, the second up to block `second`; those from there on fill f with a
 * bias. */
extern "C" __global__ void turn_in(T *y, const T *x, T *z, const T *w, T *f, const T *bias, int first, int second, int pairs, int R,
				   int C, int rows, int cols, int tiles_r, int tiles_c, int pairs1, int R1, int C1, int rows1, int cols1,
				   int tiles_r1, int tiles_c1, int P, int channels, int total)
{
	const int block = (int)blockIdx.x;

	if (block >= second)
		spread_bias(f, bias, (U)(block - second), (U)P, (U)channels, (U)total);
	else if (block < first)
		turn_tile(y, x, (U)block, pairs, R, C, rows, cols, tiles_r, tiles_c);
	else
		turn_tile(z, w, (U)(block - first), pairs1, R1, C1, rows1, cols1, tiles_r1, tiles_c1);
}

static __device__ __noinline__ void turn_beside(T *z, const T *w, T *f, const T *bias, int first, int second, int pairs, int R, int C,
						int rows, int cols, int tiles_r, int tiles_c, int P, int channels, int total)
{
	const int block = (int)blockIdx.x;

	if (block >= second)
		spread_bias(f, bias, (U)(block - second), (U)P, (U)channels, (U)total);
	else
		turn_tile(z, w, (U)(block - first), pairs, R, C, rows, cols, tiles_r, tiles_c);
}

/* The same where the first is moved by 16 bytes. */
extern "C" __global__ void turn_in_wide(T *y, const T *x, T *z, const T *w, T *f, const T *bias, int first, int second, int, int R,
					int C, int rows, int cols, int tiles_r, int tiles_c, int pairs1, int R1, int C1, int rows1,
					int cols1, int tiles_r1, int tiles_c1, int P, int channels, int total)
{
	__shared__ unsigned tile[TURN_WIDE];

	if (__builtin_expect((int)blockIdx.x < first, 1))
		Wide<sizeof(T)>::turn(tile_of(y, x, blockIdx.x, R, C, rows, cols, tiles_r, tiles_c), tile, wide_of(cols));
	else
		turn_beside(z, w, f, bias, first, second, pairs1, R1, C1, rows1, cols1, tiles_r1, tiles_c1, P, channels, total);
}

extern "C" __global__ void fill(T *y, const T *bias, int P, int channels, int total)
{
	spread_bias(y, bias, blockIdx.x, (U)P, (U)channels, (U)total);
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
		spread_bias(y, bias, block - first, (U)P, (U)channels, (U)total);
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
extern "C" __global__ void fold(T *y, const A *m, const T *bias, int has_bias, int planes, int channels, int blocks_p, int lanes, int x0,
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
					sum += m[(((long long)t0 * k1 + t1) * k2 + t2) * X + ((long long)i0 * x1 + i1) * x2 + i2];
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

/* --- convolutions as products, without a copy of x: transposed or not ------------------------------------------------------
 *
 * Results whose places have the same remainder by the stride, in each dimension, are a phase. They are a convolution of stride 1 with
 * the taps of that phase alone, so that nothing is multiplied by a zero that a stride puts between elements. A convolution that is not
 * transposed is one phase. A phase is a product: rows = channels of y, columns = its places in all images, depth = taps times channels
 * of x.
 *
 * A thread has R rows and V columns, 32 places apart, so that a warp reads and writes neighbours. In a step of the depth it reads V
 * elements of x, by way of the cache, and R weights from shared memory, which all threads of the warp share. Per warp and step, with
 * instructions that a multiprocessor starts at 4 a cycle and memory that gives 128 bytes a cycle:
 *
 *     R, V     multiplications   reads of x   of weights, 16 bytes   other instructions   cycles of memory (most: two lines, lanes)
 *     16, 8    128 (32 cycles)   8            4                      22                   12 (32)
 *     8,  8    64  (16 cycles)   8            2                      24                   10 (24)
 *     4,  8    32  (8 cycles)    8            1                      24                   9  (20)
 *
 * so 79, 65 and 50 % of the instructions are multiplications; at an edge of x there are up to 10 more. 8 x 8 with x in shared memory
 * reads less (5 for 64), but has a load, a store and addresses for each element put there, and a barrier every 8 steps; here there is
 * one every 1024 / rows steps. 16 x 8 are as many sums as one block of 256 threads has registers for. With R = 8 two blocks have room:
 * where there are few steps, twice the threads hide what comes before and after. Small tiles are also more blocks. Which it is, a
 * trial finds out. Each element of x is read from memory once: a block's columns are neighbours, its taps and the warps of other rows
 * find them in the cache; so does a block of other rows, which runs beside it. Phases of neighbours run beside each other, too, so
 * that L2 puts their results together before they go to memory. Doubles have V = 4. */
enum { WEIGHTS = 1024, /* of a piece of the depth; there are two in shared memory */
       COLUMNS = 32 / sizeof(A), WARPS = 8 };

struct phase_shape {
	int images, groups, rows, depth; /* channels of a group, of y and of x */
	int x0, x1, x2, k0, k1, k2, y0, y1, y2, ph0, ph1, ph2, st0, st1, st2, pad0, pad1, pad2, dil0, dil1, dil2;
	int w_tap, w_channel, w_group; /* strides of the weights, whose rows lie side by side */
};

/* One dimension of a phase: its results are `places` of y from one on. Its `taps` are those from `first` on, `step` apart; of place q
 * tap j reads x at `at` + q * (stride of a plain convolution) - j * `back`. */
struct phase_axis {
	int places, taps, first, step, at, back;
};

static __device__ phase_axis axis_of(int from, int phases, int y, int k, int pad, int dil)
{
	phase_axis a;
	const int place = from + pad;

	a.places = (y - from + phases - 1) / phases;
	for (a.step = 1; a.step * dil % phases;)
		a.step++;
	for (a.first = 0; a.first < a.step && (place - a.first * dil) % phases;)
		a.first++;
	a.taps = a.first < a.step && a.first < k ? (k - a.first + a.step - 1) / a.step : 0;
	a.at = (place - a.first * dil) / phases;
	a.back = a.step * dil / phases;
	return a;
}

/* A tap of each dimension and a channel, in the order of the depth. */
struct phase_step {
	int t0, t1, t2, c;
	__device__ __forceinline__ void next_tap(const phase_axis *a)
	{
		if (++t2 == a[2].taps) {
			t2 = 0;
			if (++t1 == a[1].taps) {
				t1 = 0;
				t0++;
			}
		}
	}
};

/* A place of an image: of one that does not exist where places end. */
struct phase_place {
	int n, q0, q1, q2;
	__device__ __forceinline__ void add(const phase_place &by, const phase_axis *a)
	{
		q2 += by.q2;
		q1 += by.q1;
		q0 += by.q0;
		n += by.n;
		if (q2 >= a[2].places) {
			q2 -= a[2].places;
			q1++;
		}
		if (q1 >= a[1].places) {
			q1 -= a[1].places;
			q0++;
		}
		if (q0 >= a[0].places) {
			q0 -= a[0].places;
			n++;
		}
	}
};

static __device__ __forceinline__ phase_place place_of(U p, const phase_axis *a)
{
	const U r2 = p / (U)a[2].places, r1 = r2 / (U)a[1].places, r0 = r1 / (U)a[0].places;

	return { (int)r0, (int)(r1 - r0 * (U)a[0].places), (int)(r2 - r1 * (U)a[1].places), (int)(p - r2 * (U)a[2].places) };
}

/* Bit j: tap j lies in x if tap 0 lies at i. */
static __device__ __forceinline__ U taps_inside(int i, const phase_axis &a, int x)
{
	U bits = 0;

	if (a.back == 1) { /* mostly: those with i - j >= 0, but not those with i - j >= x */
		const int beyond = i - x + 1, there = i + 1 < a.taps ? i + 1 : a.taps;

		return there <= 0 || beyond >= there ? 0 : (~0u >> (32 - there)) & ~0u << (beyond > 0 ? beyond : 0);
	}
#pragma unroll 1
	for (int j = 0; j < a.taps; j++, i -= a.back)
		bits |= (U)((U)i < (U)x) << j;
	return bits;
}

/* A thread's elements of x, one step after another. */
struct phase_columns {
	enum { V = COLUMNS };
	const T *x, *channel;
	phase_step s;
	int plane, behind;       /* elements of a channel; and from the first tap back to this one */
	U at[V], reach[V];       /* where they lie, and which taps of theirs lie in x: those of each dimension one after another */
	U inside;                /* bit j: column j's element lies in x */
	bool whole;              /* all of them, of the warp: it reads without looking */

	__device__ __forceinline__ void reached(const phase_axis *a)
	{
		const U tap = 1u << s.t0 | 1u << (a[0].taps + s.t1) | 1u << (a[0].taps + a[1].taps + s.t2);

		inside = 0;
#pragma unroll
		for (int j = 0; j < V; j++)
			inside |= (U)((reach[j] & tap) == tap) << j;
		whole = __all_sync(0xffffffffu, inside == (1u << V) - 1);
	}

	__device__ __forceinline__ void start(const T *first, U column, const phase_shape &z, const phase_axis *a)
	{
		phase_place p = place_of(column, a), apart = place_of(32, a);

		x = channel = first;
		s = { 0, 0, 0, 0 };
		plane = z.x0 * z.x1 * z.x2;
		behind = 0;
#pragma unroll
		for (int j = 0; j < V; j++) {
			const int i0 = a[0].at + p.q0 * z.st0, i1 = a[1].at + p.q1 * z.st1, i2 = a[2].at + p.q2 * z.st2;
			const U n = (U)(p.n * z.groups * z.depth);

			at[j] = ((n * (U)z.x0 + (U)i0) * (U)z.x1 + (U)i1) * (U)z.x2 + (U)i2;
			reach[j] = p.n < z.images ? taps_inside(i0, a[0], z.x0) | taps_inside(i1, a[1], z.x1) << a[0].taps |
							    taps_inside(i2, a[2], z.x2) << (a[0].taps + a[1].taps)
						  : 0;
			p.add(apart, a);
		}
		reached(a);
	}

	__device__ __forceinline__ void advance(const phase_shape &z, const phase_axis *a)
	{
		channel += plane;
		if (++s.c == z.depth) {
			const int was = behind;

			s.c = 0;
			channel = x;
			s.next_tap(a);
			behind = (s.t0 * a[0].back * z.x1 + s.t1 * a[1].back) * z.x2 + s.t2 * a[2].back;
#pragma unroll
			for (int j = 0; j < V; j++)
				at[j] += (U)(was - behind);
			reached(a);
		}
	}

	__device__ __forceinline__ void read(T (&v)[V]) const
	{
		if (whole) {
#pragma unroll
			for (int j = 0; j < V; j++)
				v[j] = channel[at[j]];
		} else {
#pragma unroll
			for (int j = 0; j < V; j++)
				v[j] = inside >> j & 1 ? channel[at[j]] : (T)st(0.0f);
		}
	}

	/* The next step's; zeros behind the last one, as the weights there are. */
	__device__ __forceinline__ void next(T (&v)[V], bool more, const phase_shape &z, const phase_axis *a)
	{
		if (more)
			advance(z, a);
		else
			inside = 0, whole = false;
		read(v);
	}
};

/* A thread's share of the weights, one piece of the depth after another: four rows of a step, from `row` on. */
struct phase_weights {
	enum { FOUR = 4 };
	phase_step s;
	int row;
	T held[FOUR];

	__device__ __forceinline__ void skip(int steps, const phase_shape &z, const phase_axis *a)
	{
		s.c += steps;
		while (s.c >= z.depth && s.t0 < a[0].taps) {
			s.c -= z.depth;
			s.next_tap(a);
		}
	}

	__device__ __forceinline__ void fetch(const T *w, int piece, const phase_shape &z, const phase_axis *a)
	{
		const bool there = s.t0 < a[0].taps;
		const long long tap = ((a[0].first + s.t0 * a[0].step) * z.k1 + a[1].first + s.t1 * a[1].step) * z.k2 + a[2].first +
				      s.t2 * a[2].step;

		w += tap * z.w_tap + s.c * (long long)z.w_channel + row;
#pragma unroll
		for (int i = 0; i < FOUR; i++)
			held[i] = there && row + i < z.rows ? w[i] : (T)st(0.0f);
		skip(piece, z, a);
	}

	__device__ __forceinline__ void put(A *weights) const
	{
		enum { WIDE = 16 / sizeof(A) };
#pragma unroll
		for (int i = 0; i < FOUR; i += WIDE) {
			pm_vec<A, WIDE> v;

#pragma unroll
			for (int j = 0; j < WIDE; j++)
				v[j] = (A)held[i + j];
			pm_store<WIDE>(weights + threadIdx.x * FOUR + i, v);
		}
	}
};

/* One step: weights of R rows times elements of x. */
template<int R> static __device__ __forceinline__ void multiply(A (&sum)[R][COLUMNS], const A *row, const T (&v)[COLUMNS])
{
	enum { WIDE = 16 / sizeof(A) };

#pragma unroll
	for (int r = 0; r < R; r += WIDE) {
		const pm_vec<A, WIDE> w = pm_load<WIDE>(row + r);

#pragma unroll
		for (int i = 0; i < WIDE; i++)
#pragma unroll
			for (int j = 0; j < COLUMNS; j++)
				sum[r + i][j] += w[i] * (A)v[j];
	}
}

/* Rows one after another: a warp writes 32 neighbours of each of V stretches. */
template<int R>
static __device__ __forceinline__ void write_phase(T *y, const T *bias, bool has_bias, const A (&sum)[R][COLUMNS], U column, int group,
						   int row, int from0, int from1, int from2, const phase_shape &z, const phase_axis *a)
{
	phase_place p = place_of(column, a), apart = place_of(32, a);
	const int plane = z.y0 * z.y1 * z.y2;
	U at[COLUMNS], inside = 0;

#pragma unroll
	for (int j = 0; j < COLUMNS; j++) {
		at[j] = (U)(p.n * z.groups * z.rows) * (U)plane +
			(U)(((p.q0 * z.ph0 + from0) * z.y1 + p.q1 * z.ph1 + from1) * z.y2 + p.q2 * z.ph2 + from2);
		inside |= (U)(p.n < z.images) << j;
		p.add(apart, a);
	}
#pragma unroll
	for (int r = 0; r < R; r++)
		if (row + r < z.rows) {
			const int channel = group * z.rows + row + r;
			const A b = has_bias ? (A)bias[channel] : (A)0;
			T *to = y + (long long)channel * plane;

#pragma unroll
			for (int j = 0; j < COLUMNS; j++)
				if (inside >> j & 1)
					to[at[j]] = st(sum[r][j] + b);
		}
}

/* y = w x + bias, a group and a phase for each block. Of its warps `warps_r` share the rows. Pads and dilations of what is not
 * transposed are negative. */
template<int R>
static __device__ __forceinline__ void phases(T *y, const T *x, const T *w, const T *bias, bool has_bias, int warps_r, int tiles_r,
					      const phase_shape &z)
{
	__shared__ __align__(16) A weights[2][WEIGHTS];
	__shared__ phase_axis axis[3]; /* not in registers: no step needs it */
	const U q2 = blockIdx.x / (U)z.ph2, q1 = q2 / (U)z.ph1, q0 = q1 / (U)z.ph0, qr = q0 / (U)tiles_r, tile = qr / (U)z.groups;
	const int from0 = (int)(q1 - q0 * (U)z.ph0), from1 = (int)(q2 - q1 * (U)z.ph1), from2 = (int)(blockIdx.x - q2 * (U)z.ph2);
	const int group = (int)(qr - tile * (U)z.groups), rows = R * warps_r, row0 = (int)(q0 - qr * (U)tiles_r) * rows;
	const int warp = (int)threadIdx.x / 32, warp_row = warp % warps_r * R, piece = WEIGHTS / rows;
	const U column0 = tile * (WARPS / warps_r) * 32 * COLUMNS, column = column0 + warp / warps_r * 32 * COLUMNS + threadIdx.x % 32;

	if (threadIdx.x < 3) {
		const int d = (int)threadIdx.x;

		axis[d] = axis_of(d == 0 ? from0 : (d == 1 ? from1 : from2), d == 0 ? z.ph0 : (d == 1 ? z.ph1 : z.ph2),
				  d == 0 ? z.y0 : (d == 1 ? z.y1 : z.y2), d == 0 ? z.k0 : (d == 1 ? z.k1 : z.k2),
				  d == 0 ? z.pad0 : (d == 1 ? z.pad1 : z.pad2), d == 0 ? z.dil0 : (d == 1 ? z.dil1 : z.dil2));
	}
	__syncthreads();
	if (column0 >= (U)(z.images * axis[0].places * axis[1].places * axis[2].places))
		return;

	const int steps = axis[0].taps * axis[1].taps * axis[2].taps * z.depth;
	phase_columns c;
	phase_weights f = { { 0, 0, 0, 0 }, row0 + (int)threadIdx.x * 4 % rows, {} };
	A sum[R][COLUMNS] = {};
	T even[COLUMNS], odd[COLUMNS];

	w += (long long)group * z.w_group;
	c.start(x + (long long)group * z.depth * z.x0 * z.x1 * z.x2, column, z, axis);
	if (steps) {
		f.skip((int)threadIdx.x * 4 / rows, z, axis);
		f.fetch(w, piece, z, axis);
		f.put(weights[0]);
		c.read(even);
	}
	__syncthreads();
	for (int k = 0, half = 0; k < steps; k += piece, half ^= 1) {
		const int end = k + piece < steps ? k + piece : steps;
		const A *row = weights[half] + warp_row;

		if (end < steps)
			f.fetch(w, piece, z, axis);
		/* Of two steps the one's elements are read while the other's are multiplied. */
#pragma unroll 1
		for (int i = k; i < end; i += 2, row += 2 * rows) {
			c.next(odd, i + 1 < steps, z, axis);
			multiply<R>(sum, row, even);
			c.next(even, i + 2 < steps, z, axis);
			multiply<R>(sum, row + rows, odd);
		}
		if (end < steps)
			f.put(weights[half ^ 1]);
		__syncthreads();
	}
	write_phase<R>(y, bias, has_bias, sum, column, group, row0 + warp_row, from0, from1, from2, z, axis);
}

#define PHASES(R, BLOCKS)                                                                                                          \
	extern "C" __global__ void __launch_bounds__(256, BLOCKS) phases_##R(                                                       \
		T *y, const T *x, const T *w, const T *bias, int has_bias, int warps_r, int tiles_r, int images, int groups, int rows,    \
		int depth, int x0, int x1, int x2, int k0, int k1, int k2, int y0, int y1, int y2, int ph0, int ph1, int ph2, int st0,    \
		int st1, int st2, int pad0, int pad1, int pad2, int dil0, int dil1, int dil2, int w_tap, int w_channel, int w_group)      \
	{                                                                                                                           \
		phases<R>(y, x, w, bias, has_bias, warps_r, tiles_r,                                                                \
			  { images, groups, rows, depth, x0, x1,   x2,   k0,   k1,   k2,   y0,    y1,        y2,      ph0,              \
			    ph1,    ph2,    st0,  st1,   st2, pad0, pad1, pad2, dil0, dil1, dil2, w_tap, w_channel, w_group });         \
	}
PHASES(16, 1)
PHASES(8, sizeof(A) > 4 ? 1 : 2)
PHASES(4, 2)
/* SPDX-License-Identifier: Apache-2.0 */
