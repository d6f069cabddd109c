/* norm_rows.cu - rows of H elements: sum = a + g * (b + c), y = norm(sum) * scale + bias.
 *
 * Row r of a is its row r % ra, so that a bias or a position embedding is an addend like any other. c, g, scale
 * and bias have one element per column. Row r of b is its row r % rb, or, with WINDOW, the one that a cyclic
 * shift of two axes brings there: element (i, j) of an out_h x out_w cut is element ((i + move_h) mod H, (j +
 * move_w) mod W) of b, which lies in windows of win_h x win_w when these are not 0.
 *
 * A row is held in registers: at most 16 elements per thread. Up to a warp of threads per row and several
 * rows per block, or one block per row. Sums are not rounded between the first load and the last store.
 *
 * DOUBLE  1: compute in double. With few elements per row, the deviations may be small beside the elements:
 *         in f32 more digits are needed than a float has. In a long row they are not.
 */
#if DOUBLE
typedef double Real;
#else
typedef float Real;
#endif

enum {
	HAS_B = 1,
	HAS_G = 2,
	HAS_C = 4,
	KEEP = 8, /* the sum is an output of its own */
	HAS_SCALE = 16,
	HAS_BIAS = 32,
	CENTER = 64,   /* subtract the mean; without: root mean square */
	L2 = 128,      /* divide by max(sqrt(sum of squares), eps) */
	WINDOW = 256,  /* rows of b are found through the window */
	ONE_PLUS = 512, /* the scale is one more than stored */
	EACH = 16      /* elements of a row that a thread keeps, at most */
};

struct Window {
	unsigned H, W, out_h, out_w, move_h, move_w, win_h, win_w;
};

struct Row {
	const T *a, *b, *c, *g, *scale, *bias;
	T *y, *sum;
};

__device__ __forceinline__ unsigned window_row(unsigned r, const Window &w)
{
	const unsigned q = r / w.out_w, image = q / w.out_h;
	unsigned i = q - image * w.out_h + w.move_h, j = r - q * w.out_w + w.move_w;

	i -= i >= w.H ? w.H : 0;
	j -= j >= w.W ? w.W : 0;
	if (w.win_h == 0)
		return (image * w.H + i) * w.W + j;
	const unsigned wi = i / w.win_h, wj = j / w.win_w;

	return (((image * (w.H / w.win_h) + wi) * (w.W / w.win_w) + wj) * w.win_h + (i - wi * w.win_h)) * w.win_w +
	       (j - wj * w.win_w);
}

/* Over the threads of a row: a part of a warp, a power of two of them, or the whole block. */
__device__ __forceinline__ Real row_sum(Real v)
{
	if (blockDim.x > 32)
		return pm_block_sum(v);
	for (int d = blockDim.x / 2; d > 0; d /= 2)
		v += __shfl_xor_sync(0xffffffffu, v, d);
	return v;
}

/* Of both operands the piece at k; 0 stands for one that is absent. */
template<int N>
__device__ __forceinline__ void load_both(pm_vec<T, N> &a, pm_vec<T, N> &b, const T *from_a, const T *from_b, int k)
{
	if (from_a)
		a = pm_load<N>(from_a + k);
	if (from_b)
		b = pm_load<N>(from_b + k);
}

/* a + g * (b + c) at k. */
template<int N>
__device__ __forceinline__ void sum_of(Real (&v)[N], const pm_vec<T, N> &a, const pm_vec<T, N> &b, const Row &p, int k,
				       int flags)
{
	Real t[N];

	for (int i = 0; i < N; i++)
		v[i] = ld(a[i]);
	if (!(flags & HAS_B))
		return;
	for (int i = 0; i < N; i++)
		t[i] = ld(b[i]);
	if (flags & HAS_C) {
		const pm_vec<T, N> c = pm_load<N>(p.c + k);

		for (int i = 0; i < N; i++)
			t[i] += ld(c[i]);
	}
	if (flags & HAS_G) {
		const pm_vec<T, N> g = pm_load<N>(p.g + k);

		for (int i = 0; i < N; i++)
			t[i] *= ld(g[i]);
	}
	for (int i = 0; i < N; i++)
		v[i] += t[i];
}

template<int N> __device__ __forceinline__ void store(T *y, const Real (&v)[N])
{
	pm_vec<T, N> out;

	for (int i = 0; i < N; i++)
		out[i] = st(v[i]);
	pm_store<N>(y, out);
}

/* v times the factor, with scale and bias. */
template<int N>
__device__ __forceinline__ void store_norm(T *y, const Real (&v)[N], const pm_vec<T, N> &scale, const pm_vec<T, N> &bias,
					   Real mean, Real factor, int flags)
{
	Real t[N];

	for (int i = 0; i < N; i++)
		t[i] = (v[i] - mean) * factor;
	if (flags & HAS_SCALE)
		for (int i = 0; i < N; i++)
			t[i] *= flags & ONE_PLUS ? 1 + ld(scale[i]) : ld(scale[i]);
	if (flags & HAS_BIAS)
		for (int i = 0; i < N; i++)
			t[i] += ld(bias[i]);
	store<N>(y, t);
}

/* One row by the threads of threadIdx.x, N elements per load, at most R loads each. With AHEAD all are asked for
 * before any is used, scale and bias while the row is added up; of single elements that would be more than the
 * registers of a block of 1,024 threads. */
template<int N, int R, bool AHEAD> __device__ __forceinline__ void norm_row(const Row &p, int H, int flags, float eps)
{
	const int step = blockDim.x * N, first = threadIdx.x * N;
	const T *b_row = flags & HAS_B ? p.b : 0, *scale = flags & HAS_SCALE ? p.scale : 0,
		*bias = flags & HAS_BIAS ? p.bias : 0;
	Real v[R][N], total = 0, square = 0, mean = 0;
	pm_vec<T, N> a[R], b[R];

#pragma unroll
	for (int j = 0; j < R && AHEAD; j++)
		if (first + j * step < H)
			load_both<N>(a[j], b[j], p.a, b_row, first + j * step);
#pragma unroll
	for (int j = 0; j < R; j++)
		if (first + j * step < H) {
			pm_vec<T, N> x = a[j], y = b[j];

			if (!AHEAD)
				load_both<N>(x, y, p.a, b_row, first + j * step);
			sum_of<N>(v[j], x, y, p, first + j * step, flags);
		}
#pragma unroll
	for (int j = 0; j < R && AHEAD; j++)
		if (first + j * step < H)
			load_both<N>(a[j], b[j], scale, bias, first + j * step);
	if (flags & KEEP) {
#pragma unroll
		for (int j = 0; j < R; j++)
			if (first + j * step < H)
				store<N>(p.sum + first + j * step, v[j]);
	}
	if (flags & CENTER) {
#pragma unroll
		for (int j = 0; j < R; j++)
			for (int i = 0; i < N; i++)
				total += first + j * step < H ? v[j][i] : 0;
		mean = row_sum(total) / H;
	}
#pragma unroll
	for (int j = 0; j < R; j++)
		for (int i = 0; i < N; i++)
			square += first + j * step < H ? (v[j][i] - mean) * (v[j][i] - mean) : 0;
	square = row_sum(square);
	const Real factor = flags & L2 ? 1 / pm_max(sqrt(square), (Real)eps) : 1 / sqrt(square / H + (Real)eps);

#pragma unroll
	for (int j = 0; j < R; j++)
		if (first + j * step < H) {
			pm_vec<T, N> x = a[j], y = b[j];

			if (!AHEAD)
				load_both<N>(x, y, scale, bias, first + j * step);
			store_norm<N>(p.y + first + j * step, v[j], x, y, mean, factor, flags);
		}
}

/* In double rows are short: a block has 128 threads, norm_rows.h. */
extern "C" __global__ void __launch_bounds__(DOUBLE ? 128 : 1024)
norm_rows(const T *a, const T *b, const T *c, const T *g, const T *scale, const T *bias,
				     T *y, T *sum, int n_rows, int n_a, int n_b, int H, int flags,
				     float eps, int wh, int ww, int out_h, int out_w, int move_h, int move_w,
				     int win_h, int win_w)
{
	const int V = 16 / (int)sizeof(T);
	const unsigned rows = n_rows, ra = n_a, rb = n_b;
	const bool wide = H % V == 0 && pm_aligned(a, 16) && pm_aligned(b, 16) && pm_aligned(c, 16) && pm_aligned(g, 16) &&
			  pm_aligned(scale, 16) && pm_aligned(bias, 16) && pm_aligned(y, 16) && pm_aligned(sum, 16);
	/* Behind the last row threads do it again, so that none is missing where a warp adds up. */
	const unsigned at = blockIdx.x * blockDim.y + threadIdx.y, r = at < rows ? at : rows - 1;
	const Window w = { (unsigned)wh,	 (unsigned)ww,	   (unsigned)out_h, (unsigned)out_w,
			   (unsigned)move_h, (unsigned)move_w, (unsigned)win_h, (unsigned)win_w };
	const unsigned ar = r < ra ? r : r % ra, br = flags & WINDOW ? window_row(r, w) : r < rb ? r : r % rb;
	const Row p = { a + (long long)ar * H, b + (long long)br * H, c, g, scale, bias, y + (long long)r * H,
			sum + (long long)r * H };

	if (wide)
		norm_row<V, EACH / V, true>(p, H, flags, eps);
	else
		norm_row<1, EACH, false>(p, H, flags, eps);
}
