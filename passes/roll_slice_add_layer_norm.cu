/* roll_slice_add_layer_norm.cu - rows of C elements: sum = x[moved] + residual, y = norm(sum) * scale + bias.
 *
 * x is [B, H, W, C]. Row (b, i, j) of the out_h x out_w result reads position ((i + move_h) mod H, (j + move_w)
 * mod W) of x: a cyclic shift of two axes, cut to a window.
 *
 * KEEP   1: the sum is an output of its own
 * DOUBLE 1: compute in double
 * CACHE  1: the row stays in C numbers of dynamic shared memory; 0: it is added up again
 */
/* With few elements per row, the deviations may be small beside the elements: in f32 more digits are needed than
 * a float has. In a long row they are not. */
#if DOUBLE
typedef double Real;
#else
typedef float Real;
#endif

template<int N> __device__ __forceinline__ void add_up(Real (&v)[N], const T *x, const T *res, int k)
{
	const pm_vec<T, N> a = pm_load<N>(x + k), b = pm_load<N>(res + k);

	for (int i = 0; i < N; i++)
		v[i] = (Real)ld(a[i]) + ld(b[i]);
}

template<int N>
__device__ __forceinline__ void norm_row(const T *x, const T *res, const T *scale, const T *bias, T *y, T *sum,
					 int C, float eps, Real *cache)
{
	Real v[N], total = 0, square = 0;

	for (int k = threadIdx.x * N; k < C; k += blockDim.x * N) {
		pm_vec<T, N> s;

		add_up<N>(v, x, res, k);
		for (int i = 0; i < N; i++) {
			total += v[i];
			s[i] = st(v[i]);
#if CACHE
			cache[k + i] = v[i];
#endif
		}
#if KEEP
		pm_store<N>(sum + k, s);
#endif
	}
	const Real mean = pm_block_sum(total) / C;

	for (int k = threadIdx.x * N; k < C; k += blockDim.x * N) {
#if !CACHE
		add_up<N>(v, x, res, k);
#endif
		for (int i = 0; i < N; i++) {
#if CACHE
			v[i] = cache[k + i];
#endif
			square += (v[i] - mean) * (v[i] - mean);
		}
	}
	const Real inv = 1 / sqrt(pm_block_sum(square) / C + eps);

	for (int k = threadIdx.x * N; k < C; k += blockDim.x * N) {
		const pm_vec<T, N> g = pm_load<N>(scale + k), h = pm_load<N>(bias + k);
		pm_vec<T, N> out;

#if !CACHE
		add_up<N>(v, x, res, k);
#endif
		for (int i = 0; i < N; i++) {
#if CACHE
			v[i] = cache[k + i];
#endif
			out[i] = st((v[i] - mean) * inv * ld(g[i]) + ld(h[i]));
		}
		pm_store<N>(y + k, out);
	}
}

/* Grid: one block per row. 16 bytes per load when every row of every buffer starts on such a border. */
extern "C" __global__ void roll_norm_block(const T *x, const T *res, const T *scale, const T *bias, T *y, T *sum,
					   long long res_rows, int H, int W, int C, int out_h, int out_w,
					   int move_h, int move_w, float eps)
{
	extern __shared__ Real cache[];
	const int V = 16 / (int)sizeof(T);
	const long long r = blockIdx.x;
	const bool wide = C % V == 0 && pm_aligned(x, 16) && pm_aligned(res, 16) && pm_aligned(scale, 16) &&
			  pm_aligned(bias, 16) && pm_aligned(y, 16) && pm_aligned(sum, 16);
	const long long row = r / out_w;
	int i = (int)(row % out_h) + move_h, j = (int)(r % out_w) + move_w;

	i -= i >= H ? H : 0;
	j -= j >= W ? W : 0;
	x += ((row / out_h * H + i) * W + j) * C;
	res += r % res_rows * C;
	y += r * C;
	sum += r * C;
	if (wide)
		norm_row<V>(x, res, scale, bias, y, sum, C, eps, cache);
	else
		norm_row<1>(x, res, scale, bias, y, sum, C, eps, cache);
}
