/* masked_mean_pool.cu - y[b, h] = sum_s x[b, s, h] * w[b, s] / max(sum_s w[b, s], eps), w = mask cast to T.
 *
 * MASK_TYPE  element type of the mask as in dtypes.def
 * WIDE       1: rows of x end on 16 bytes, and a thread loads as much
 */
#if MASK_TYPE == 0
typedef float M;
#elif MASK_TYPE == 1
typedef __half M;
#elif MASK_TYPE == 2
typedef __nv_bfloat16 M;
#elif MASK_TYPE == 4
typedef long long M;
#elif MASK_TYPE == 5
typedef int M;
#elif MASK_TYPE == 8
typedef unsigned char M;
#endif

/* The weight as the graph's Cast leaves it: rounded to the element type. */
__device__ __forceinline__ float weight(M m)
{
	return ld(st<T>(ld(m)));
}

/* A block takes blockDim.x x N columns of one batch entry; its blockDim.y rows of threads share out the sequence.
 * Both are powers of two, blockDim.x at most 32, the block whole warps. */
template<int N>
__device__ __forceinline__ void pool(const T *x, const M *mask, T *y, long long S, long long H, float eps)
{
	__shared__ float sums[32][32 * N + 1], counts[32];
	const long long b = blockIdx.x, h = (blockIdx.y * (long long)blockDim.x + threadIdx.x) * N;
	const int warp = pm_thread() / 32, lane = pm_thread() % 32, warps = pm_threads() / 32;
	float sum[N] = {}, count = 0.f;

#pragma unroll 4
	for (long long s = threadIdx.y; s < S; s += blockDim.y) {
		const float w = weight(mask[b * S + s]);

		count += w;
		if (h < H) {
			const pm_vec<T, N> a = pm_load<N>(x + (b * S + s) * H + h);

			for (int j = 0; j < N; j++)
				sum[j] += w * ld(a[j]);
		}
	}
	/* Lanes of one column are blockDim.x apart. */
	for (int d = blockDim.x; d < 32; d *= 2) {
		count += __shfl_xor_sync(0xffffffffu, count, d);
		for (int j = 0; j < N; j++)
			sum[j] += __shfl_xor_sync(0xffffffffu, sum[j], d);
	}
	if (lane < (int)blockDim.x)
		for (int j = 0; j < N; j++)
			sums[warp][lane * N + j] = sum[j];
	if (lane == 0)
		counts[warp] = count;
	__syncthreads();
	count = 0.f;
	for (int j = 0; j < warps; j++)
		count += counts[j];
	for (int c = pm_thread(); c < (int)blockDim.x * N; c += pm_threads()) {
		const long long at = blockIdx.y * (long long)blockDim.x * N + c;
		float v = 0.f;

		for (int j = 0; j < warps; j++)
			v += sums[j][c];
		if (at < H)
			y[b * H + at] = st(v / pm_max(count, eps));
	}
}

/* Grid: batch, then columns. */
extern "C" __global__ void masked_mean_pool(const T *x, const M *mask, T *y, long long S, long long H, float eps)
{
#if WIDE
	const int V = 16 / (int)sizeof(T);

	if (pm_aligned(x, 16)) {
		pool<V>(x, mask, y, S, H, eps);
		return;
	}
	/* The same columns, one by one. */
	for (int c = pm_thread(); c < (int)blockDim.x * V; c += pm_threads()) {
		const long long b = blockIdx.x, h = blockIdx.y * (long long)blockDim.x * V + c;
		float sum = 0.f, count = 0.f;

		for (long long s = 0; s < S && h < H; s++) {
			const float w = weight(mask[b * S + s]);

			sum += w * ld(x[(b * S + s) * H + h]);
			count += w;
		}
		if (h < H)
			y[b * H + h] = st(sum / pm_max(count, eps));
	}
#else
	pool<1>(x, mask, y, S, H, eps);
#endif
}
