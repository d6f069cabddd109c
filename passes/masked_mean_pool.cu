/* masked_mean_pool.cu - y[b, h] = sum_s x[b, s, h] * w[b, s] / max(sum_s w[b, s], eps), w = mask cast to T.
 *
 * MASK_TYPE  element type of the mask as in dtypes.def
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

/* One thread per column; grid: batch, then columns. */
extern "C" __global__ void pool_columns(const T *x, const M *mask, T *y, long long S, long long H, float eps)
{
	const long long b = blockIdx.x, h = blockIdx.y * (long long)blockDim.x + threadIdx.x;
	float sum = 0.f, count = 0.f;

	if (h >= H)
		return;
	for (long long s = 0; s < S; s++) {
		const float w = weight(mask[b * S + s]);

		sum += w * ld(x[(b * S + s) * H + h]);
		count += w;
	}
	y[b * H + h] = st(sum / pm_max(count, eps));
}

/* Block: 32 columns x 8 parts of the sequence. */
extern "C" __global__ void pool_split(const T *x, const M *mask, T *y, long long S, long long H, float eps)
{
	__shared__ float sums[8][33], counts[8][33];
	const long long b = blockIdx.x, h = blockIdx.y * 32ll + threadIdx.x;
	float sum = 0.f, count = 0.f;

	for (long long s = threadIdx.y; s < S; s += 8) {
		const float w = weight(mask[b * S + s]);

		if (h < H)
			sum += w * ld(x[(b * S + s) * H + h]);
		count += w;
	}
	sums[threadIdx.y][threadIdx.x] = sum;
	counts[threadIdx.y][threadIdx.x] = count;
	__syncthreads();
	if (threadIdx.y || h >= H)
		return;
	for (int j = 1; j < 8; j++) {
		sum += sums[j][threadIdx.x];
		count += counts[j][threadIdx.x];
	}
	y[b * H + h] = st(sum / pm_max(count, eps));
}
