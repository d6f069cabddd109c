/* norm_rows.cu - rows of H elements: sum = a + g * (b + c), y = norm(sum) * scale + bias.
 *
 * Row r of a is its row r % ra, so that a bias or a position embedding is an addend like any other. c, g, scale
 * and bias have one element per column. Row r of b is its row r % rb, or, with WINDOW, the one that a cyclic
 * shift of two axes brings there: element (i, j) of an out_h x out_w cut is element ((i + move_h) mod H, (j +
 * move_w) mod W) of b, which lies in windows of win_h x win_w when these are not 0.
 *
 * A row is held in registers: at most 16 elements per thread. One warp per row with several rows per block
 * (blockDim.x = 32), or one block per row. Sums are not rounded between the first load and the last store.
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
	HOLD = 4       /* loads that a thread keeps */
};

struct Window {
	int H, W, out_h, out_w, move_h, move_w, win_h, win_w;
};

struct Row {
	const T *a, *b, *c, *g, *scale, *bias;
	T *y, *sum;
};

__device__ __forceinline__ long long window_row(long long r, const Window &w)
{
	const long long q = r / w.out_w, image = q / w.out_h;
	int i = (int)(q % w.out_h) + w.move_h, j = (int)(r % w.out_w) + w.move_w;

	i -= i >= w.H ? w.H : 0;
	j -= j >= w.W ? w.W : 0;
	if (w.win_h == 0)
		return (image * w.H + i) * w.W + j;
	return (((image * (w.H / w.win_h) + i / w.win_h) * (w.W / w.win_w) + j / w.win_w) * w.win_h + i % w.win_h) *
		       w.win_w +
	       j % w.win_w;
}

__device__ __forceinline__ Real row_sum(Real v)
{
	return blockDim.x == 32 ? pm_warp_sum(v) : pm_block_sum(v);
}

template<int N> __device__ __forceinline__ void load_sum(Real (&v)[N], const Row &p, int k, int flags)
{
	const pm_vec<T, N> a = pm_load<N>(p.a + k);
	Real t[N];

	for (int i = 0; i < N; i++)
		v[i] = ld(a[i]);
	if (!(flags & HAS_B))
		return;
	const pm_vec<T, N> b = pm_load<N>(p.b + k);

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

/* v times the factor, with scale and bias. */
template<int N>
__device__ __forceinline__ void store_norm(const Real (&v)[N], const Row &p, int k, Real mean, Real factor, int flags)
{
	Real t[N];
	pm_vec<T, N> out;

	for (int i = 0; i < N; i++)
		t[i] = (v[i] - mean) * factor;
	if (flags & HAS_SCALE) {
		const pm_vec<T, N> s = pm_load<N>(p.scale + k);

		for (int i = 0; i < N; i++)
			t[i] *= flags & ONE_PLUS ? 1 + ld(s[i]) : ld(s[i]);
	}
	if (flags & HAS_BIAS) {
		const pm_vec<T, N> s = pm_load<N>(p.bias + k);

		for (int i = 0; i < N; i++)
			t[i] += ld(s[i]);
	}
	for (int i = 0; i < N; i++)
		out[i] = st(t[i]);
	pm_store<N>(p.y + k, out);
}

/* One row by the threads of threadIdx.x, N elements per load, at most R loads each. */
template<int N, int R> __device__ __forceinline__ void norm_row(const Row &p, int H, int flags, float eps)
{
	const int step = blockDim.x * N, first = threadIdx.x * N;
	Real v[R][N], total = 0, square = 0, mean = 0;

#pragma unroll
	for (int j = 0; j < R; j++)
		if (first + j * step < H)
			load_sum<N>(v[j], p, first + j * step, flags);
	if (flags & KEEP) {
#pragma unroll
		for (int j = 0; j < R; j++)
			if (first + j * step < H) {
				pm_vec<T, N> s;

				for (int i = 0; i < N; i++)
					s[i] = st(v[j][i]);
				pm_store<N>(p.sum + first + j * step, s);
			}
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
		if (first + j * step < H)
			store_norm<N>(v[j], p, first + j * step, mean, factor, flags);
}

extern "C" __global__ void norm_rows(const T *a, const T *b, const T *c, const T *g, const T *scale, const T *bias,
				     T *y, T *sum, long long rows, long long ra, long long rb, int H, int flags,
				     float eps, int wh, int ww, int out_h, int out_w, int move_h, int move_w,
				     int win_h, int win_w)
{
	const int V = 16 / (int)sizeof(T);
	const long long r = blockIdx.x * (long long)blockDim.y + threadIdx.y;
	const bool wide = H % V == 0 && pm_aligned(a, 16) && pm_aligned(b, 16) && pm_aligned(c, 16) &&
			  pm_aligned(g, 16) && pm_aligned(scale, 16) && pm_aligned(bias, 16) && pm_aligned(y, 16) &&
			  pm_aligned(sum, 16);

	if (r >= rows)
		return;
	const long long from =
		flags & WINDOW ? window_row(r, Window{ wh, ww, out_h, out_w, move_h, move_w, win_h, win_w }) : r % rb;
	const Row p = { a + r % ra * H, b + from * H, c, g, scale, bias, y + r * H, sum + r * H };

	if (wide)
		norm_row<V, HOLD>(p, H, flags, eps);
	else
		norm_row<1, 4 * HOLD>(p, H, flags, eps);
}
