/* norm_rows.cu - rows of H elements: sum = a + g * (b + c), y = norm(sum) * scale + bias.
 *
 * Row r of a is its row r % ra, so that a bias or a position embedding is an addend like any other; row r of c is r % rc
 * of it. g, scale and bias have one element per column. Row r of b is its row r % rb, or, with WINDOW, the one that a cyclic
 * shift of two axes brings there: element (i, j) of an out_h x out_w cut is element ((i + move_h) mod H, (j +
 * move_w) mod W) of b, which lies in windows of win_h x win_w when these are not 0.
 *
 * A row is held in registers by blockDim.x threads, a power of two: a part of a warp, with several rows in a
 * block, or a block. Everything is asked for before anything is used: a small kernel is one wait for memory, and
 * each more would cost as much as the rest. Sums are not rounded between the first load and the last store.
 *
 * FLAGS    what there is: below
 * N        elements of one load: 16 bytes of them, which then divide H, or 1
 * LOADS    loads of a thread for each operand, at least H / N / blockDim.x
 * THREADS  of a block, at most
 * DOUBLE   1: compute in double. With few elements per row, the deviations may be small beside the elements:
 *          in f32 more digits are needed than a float has. In a long row they are not.
 */
#if DOUBLE
typedef double Real;
#else
typedef float Real;
#endif

enum {
	HAS_B = FLAGS & 1,
	HAS_G = FLAGS & 2,
	HAS_C = FLAGS & 4,
	KEEP = FLAGS & 8, /* the sum is an output of its own */
	HAS_SCALE = FLAGS & 16,
	HAS_BIAS = FLAGS & 32,
	CENTER = FLAGS & 64,     /* subtract the mean; without: root mean square */
	L2 = FLAGS & 128,        /* divide by max(sqrt(sum of squares), eps) */
	WINDOW = FLAGS & 256,    /* rows of b are found through the window */
	ONE_PLUS = FLAGS & 512,  /* the scale is one more than stored */
	REPEAT_A = FLAGS & 1024, /* a has fewer rows than the sum */
	REPEAT_B = FLAGS & 2048
};

typedef pm_vec<T, N> Piece;

struct Window {
	unsigned H, W, move_h, move_w, win_h, win_w;
	pm_divisor out_h, out_w, by_h, by_w;
};

struct Row {
	const T *a, *b, *c, *g, *scale, *bias;
	T *y, *sum;
};

__device__ __forceinline__ unsigned window_row(unsigned r, const Window &w)
{
	const unsigned q = w.out_w.quotient(r), image = w.out_h.quotient(q);
	unsigned i = q - image * w.out_h.d + w.move_h, j = r - q * w.out_w.d + w.move_w;

	i -= i >= w.H ? w.H : 0;
	j -= j >= w.W ? w.W : 0;
	if (w.win_h == 0)
		return (image * w.H + i) * w.W + j;
	const unsigned wi = w.by_h.quotient(i), wj = w.by_w.quotient(j);

	return (((image * w.by_h.quotient(w.H) + wi) * w.by_w.quotient(w.W) + wj) * w.win_h + (i - wi * w.win_h)) *
		       w.win_w +
	       (j - wj * w.win_w);
}

/* Over the threads of a row. Sums that follow each other have another PLACE, so that one barrier each is enough. */
template<int PLACE> __device__ __forceinline__ Real row_sum(Real v)
{
	__shared__ Real part[32];
	const int threads = blockDim.x, warps = threads / 32;

#pragma unroll
	for (int d = 16; d > 0; d /= 2)
		if (d < threads)
			v += __shfl_xor_sync(0xffffffffu, v, d);
	if (warps < 2)
		return v;
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	v = part[threadIdx.x % warps];
#pragma unroll
	for (int d = 16; d > 0; d /= 2)
		if (d < warps)
			v += __shfl_xor_sync(0xffffffffu, v, d);
	return v;
}

template<bool ALIGNED> __device__ __forceinline__ void store(T *p, const Real (&v)[N])
{
	Piece out;

	for (int i = 0; i < N; i++)
		out[i] = st(v[i]);
	pm_store<N, ALIGNED>(p, out);
}

/* One row by the threads of threadIdx.x. */
template<bool ALIGNED> __device__ __forceinline__ void norm_row(const Row &p, int H, float inv_H, float eps)
{
	const int first = threadIdx.x * N, step = blockDim.x * N;
	Piece a[LOADS], b[LOADS], c[LOADS], g[LOADS], scale[LOADS], bias[LOADS];
	Real v[LOADS][N], total = 0, square = 0, mean = 0;

#pragma unroll
	for (int j = 0; j < LOADS; j++) {
		const int k = first + j * step;

		if (k < H) {
			a[j] = pm_load<N, ALIGNED>(p.a + k);
			if (HAS_B)
				b[j] = pm_load<N, ALIGNED>(p.b + k);
			if (HAS_C)
				c[j] = pm_load<N, ALIGNED>(p.c + k);
			if (HAS_G)
				g[j] = pm_load<N, ALIGNED>(p.g + k);
			if (HAS_SCALE)
				scale[j] = pm_load<N, ALIGNED>(p.scale + k);
			if (HAS_BIAS)
				bias[j] = pm_load<N, ALIGNED>(p.bias + k);
		}
	}
#pragma unroll
	for (int j = 0; j < LOADS; j++) {
		const int k = first + j * step;

		for (int i = 0; i < N; i++) {
			Real t = HAS_B ? ld(b[j][i]) : 0;

			if (HAS_C)
				t += ld(c[j][i]);
			if (HAS_G)
				t *= ld(g[j][i]);
			v[j][i] = ld(a[j][i]) + t;
			total += k < H ? v[j][i] : 0;
		}
		if (KEEP && k < H)
			store<ALIGNED>(p.sum + k, v[j]);
	}
	if (CENTER)
		mean = DOUBLE ? row_sum<0>(total) / H : row_sum<0>(total) * inv_H;
#pragma unroll
	for (int j = 0; j < LOADS; j++)
		for (int i = 0; i < N; i++) {
			v[j][i] -= mean;
			square += first + j * step < H ? v[j][i] * v[j][i] : 0;
		}
	square = row_sum<1>(square);
	const Real factor = L2 ? 1 / pm_max(sqrt(square), (Real)eps) : rsqrt((DOUBLE ? square / H : square * inv_H) + (Real)eps);

#pragma unroll
	for (int j = 0; j < LOADS; j++) {
		const int k = first + j * step;

		for (int i = 0; i < N; i++) {
			v[j][i] *= factor;
			if (HAS_SCALE)
				v[j][i] *= ONE_PLUS ? 1 + ld(scale[j][i]) : ld(scale[j][i]);
			if (HAS_BIAS)
				v[j][i] += ld(bias[j][i]);
		}
		if (k < H)
			store<ALIGNED>(p.y + k, v[j]);
	}
}

__device__ __forceinline__ unsigned long long bits(const T *p)
{
	return reinterpret_cast<unsigned long long>(p);
}

extern "C" __global__ void __launch_bounds__(THREADS)
norm_rows(const T *__restrict__ a, const T *__restrict__ b, const T *__restrict__ c, const T *__restrict__ g,
	  const T *__restrict__ scale, const T *__restrict__ bias, T *__restrict__ y, T *__restrict__ sum, int n_rows,
	  int ra, int ra_m, int ra_s, int rb, int rb_m, int rb_s, int rc, int rc_m,
	  int rc_s, int H, float inv_H, float eps, int wh, int ww,
	  int out_h, int out_h_m, int out_h_s, int out_w, int out_w_m, int out_w_s, int move_h, int move_w, int win_h,
	  int win_h_m, int win_h_s, int win_w, int win_w_m, int win_w_s)
{
	typedef unsigned U;
	const U rows = n_rows;
	/* Behind the last row threads do it again, so that none is missing where a warp adds up. */
	const U at = blockIdx.x * blockDim.y + threadIdx.y, r = at < rows ? at : rows - 1;
	const pm_divisor by_ra = { (U)ra, (U)ra_m, (U)ra_s }, by_rb = { (U)rb, (U)rb_m, (U)rb_s },
			 by_rc = { (U)rc, (U)rc_m, (U)rc_s };
	const Window w = { (U)wh,
			   (U)ww,
			   (U)move_h,
			   (U)move_w,
			   (U)win_h,
			   (U)win_w,
			   { (U)out_h, (U)out_h_m, (U)out_h_s },
			   { (U)out_w, (U)out_w_m, (U)out_w_s },
			   { (U)win_h, (U)win_h_m, (U)win_h_s },
			   { (U)win_w, (U)win_w_m, (U)win_w_s } };
	const U ar = REPEAT_A ? by_ra.rest(r) : r, br = WINDOW ? window_row(r, w) : REPEAT_B ? by_rb.rest(r) : r;
	const Row p = { a + (long long)ar * H, b + (long long)br * H, c + (long long)by_rc.rest(r) * H, g, scale, bias, y + (long long)r * H,
			sum + (long long)r * H };

	if (N == 1 ||
	    (bits(a) | bits(b) | bits(c) | bits(g) | bits(scale) | bits(bias) | bits(y) | bits(sum)) % 16 == 0)
		norm_row<true>(p, H, inv_H, eps);
	else
		norm_row<false>(p, H, inv_H, eps);
}
/* SPDX-License-Identifier: Apache-2.0 */
