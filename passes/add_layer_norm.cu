/* add_layer_norm.cu - rows of H elements: sum = a + b (+ c), y = (sum - mean) / sqrt(var + eps) * scale + bias.
 *
 * Row r of an addend is its row r % rows of it, so that a bias or a position embedding is an addend like any
 * other. Sums are not rounded between the first load and the last store.
 *
 * N_ADD     addends, 2 or 3
 * HAS_BIAS  0: bias is not read
 * KEEP      1: the sum is an output of its own
 * DOUBLE    1: compute in double
 * CACHE     1: the block kernel keeps the row in H numbers of dynamic shared memory; 0: adds it up again
 * PER       elements per lane of the warp kernel, at least H / 32; 0: leave that kernel out
 */
/* With few elements per row, the deviations may be small beside the elements: in f32 more digits are needed than
 * a float has. In a long row they are not. */
#if DOUBLE
typedef double Real;
#else
typedef float Real;
#endif

template<int N> __device__ __forceinline__ void add_from(Real (&v)[N], const T *p)
{
	const pm_vec<T, N> x = pm_load<N>(p);

	for (int i = 0; i < N; i++)
		v[i] += ld(x[i]);
}

template<int N>
__device__ __forceinline__ void add_up(Real (&v)[N], const T *a, const T *b, const T *c, int k)
{
	for (int i = 0; i < N; i++)
		v[i] = 0;
	add_from<N>(v, a + k);
	add_from<N>(v, b + k);
#if N_ADD > 2
	add_from<N>(v, c + k);
#endif
}

/* One row by one block, N elements per load. */
template<int N>
__device__ __forceinline__ void norm_row(const T *a, const T *b, const T *c, const T *scale, const T *bias, T *y,
					 T *sum, int H, float eps, Real *cache)
{
	Real v[N], total = 0, square = 0;

	for (int k = threadIdx.x * N; k < H; k += blockDim.x * N) {
		pm_vec<T, N> s;

		add_up<N>(v, a, b, c, k);
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
	const Real mean = pm_block_sum(total) / H;

	for (int k = threadIdx.x * N; k < H; k += blockDim.x * N) {
#if !CACHE
		add_up<N>(v, a, b, c, k);
#endif
		for (int i = 0; i < N; i++) {
#if CACHE
			v[i] = cache[k + i];
#endif
			square += (v[i] - mean) * (v[i] - mean);
		}
	}
	const Real inv = 1 / sqrt(pm_block_sum(square) / H + eps);

	for (int k = threadIdx.x * N; k < H; k += blockDim.x * N) {
		const pm_vec<T, N> g = pm_load<N>(scale + k);
#if HAS_BIAS
		const pm_vec<T, N> h = pm_load<N>(bias + k);
#endif
		pm_vec<T, N> out;

#if !CACHE
		add_up<N>(v, a, b, c, k);
#endif
		for (int i = 0; i < N; i++) {
#if CACHE
			v[i] = cache[k + i];
#endif
			v[i] = (v[i] - mean) * inv * ld(g[i]);
#if HAS_BIAS
			v[i] += ld(h[i]);
#endif
			out[i] = st(v[i]);
		}
		pm_store<N>(y + k, out);
	}
}

/* Grid: one block per row. 16 bytes per load when every row of every buffer starts on such a border. */
extern "C" __global__ void add_layer_norm_block(const T *a, const T *b, const T *c, const T *scale, const T *bias,
						T *y, T *sum, long long rows, long long ra, long long rb,
						long long rc, int H, float eps)
{
	extern __shared__ Real cache[];
	const int V = 16 / (int)sizeof(T);
	const long long r = blockIdx.x;
	const bool wide = H % V == 0 && pm_aligned(a, 16) && pm_aligned(b, 16) && pm_aligned(c, 16) &&
			  pm_aligned(scale, 16) && pm_aligned(bias, 16) && pm_aligned(y, 16) && pm_aligned(sum, 16);

	a += r % ra * H;
	b += r % rb * H;
	c += r % rc * H;
	y += r * H;
	sum += r * H;
	if (wide)
		norm_row<V>(a, b, c, scale, bias, y, sum, H, eps, cache);
	else
		norm_row<1>(a, b, c, scale, bias, y, sum, H, eps, cache);
}

#if PER
/* Block: 32 x rows per block. A warp holds its row in registers; no shared memory, no barrier. */
extern "C" __global__ void add_layer_norm_warp(const T *a, const T *b, const T *c, const T *scale, const T *bias,
					       T *y, T *sum, long long rows, long long ra, long long rb,
					       long long rc, int H, float eps)
{
	const long long r = blockIdx.x * (long long)blockDim.y + threadIdx.y;
	const int lane = threadIdx.x;
	Real v[PER][1], total = 0, square = 0;

	if (r >= rows)
		return;
	a += r % ra * H;
	b += r % rb * H;
	c += r % rc * H;
#pragma unroll
	for (int j = 0; j < PER; j++) {
		const int k = j * 32 + lane;

		if (k >= H)
			continue;
		add_up<1>(v[j], a, b, c, k);
		total += v[j][0];
#if KEEP
		sum[r * H + k] = st(v[j][0]);
#endif
	}
	const Real mean = pm_warp_sum(total) / H;

#pragma unroll
	for (int j = 0; j < PER; j++)
		if (j * 32 + lane < H)
			square += (v[j][0] - mean) * (v[j][0] - mean);
	const Real inv = 1 / sqrt(pm_warp_sum(square) / H + eps);

#pragma unroll
	for (int j = 0; j < PER; j++) {
		const int k = j * 32 + lane;

		if (k >= H)
			continue;
		Real out = (v[j][0] - mean) * inv * ld(scale[k]);
#if HAS_BIAS
		out += ld(bias[k]);
#endif
		y[r * H + k] = st(out);
	}
}
#endif
