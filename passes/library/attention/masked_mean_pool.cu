/* masked_mean_pool.cu - y[b, h] = sum_s x[b, s, h] * w[b, s] / max(sum_s w[b, s], eps), w = mask cast to T.
 *
 * MASK_TYPE  element type of the mask as in dtypes.def
 * N          elements of one load, a power of two that divides H
 * ACROSS     threads along the columns, a power of two up to 32; DOWN: those along the sequence
 * LOADS      rows that a thread asks for before it uses any
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

enum { WARPS = ACROSS * DOWN / 32 };

/* Over the lanes of a warp that are a multiple of ACROSS apart. In each step a lane gives half of its columns away, as
 * long as it has several. Returns the first one that is left in sum[0]; how many there are: LEFT. */
enum { STEPS = 32 / ACROSS, LEFT = N > STEPS ? N / STEPS : 1 };

__device__ __forceinline__ int join(float (&sum)[N], int lane)
{
	int n = N, first = 0;

#pragma unroll
	for (int d = ACROSS; d < 32; d *= 2) {
		const bool upper = (lane & d) != 0;

		if (n > 1) {
			n /= 2;
			first += upper ? n : 0;
			for (int j = 0; j < n; j++) {
				const float give = upper ? sum[j] : sum[j + n], keep = upper ? sum[j + n] : sum[j];

				sum[j] = keep + __shfl_xor_sync(0xffffffffu, give, d);
			}
		} else {
			sum[0] += __shfl_xor_sync(0xffffffffu, sum[0], d);
		}
	}
	return first;
}

/* A block takes ACROSS x N columns of one batch entry; its DOWN rows of threads share out the sequence. */
template<bool ALIGNED>
__device__ __forceinline__ void pool(const T *x, const M *mask, T *y, int S, int H, float eps)
{
	__shared__ float sums[WARPS][ACROSS * N], counts[WARPS];
	const int h = (blockIdx.y * ACROSS + threadIdx.x) * N, t = threadIdx.x + threadIdx.y * ACROSS;
	const int warp = t / 32, lane = t % 32;
	float sum[N] = {}, count = 0.f;

	x += blockIdx.x * (long long)S * H + h;
	mask += blockIdx.x * (long long)S;
	for (int from = threadIdx.y; from < S; from += DOWN * LOADS) {
		pm_vec<T, N> a[LOADS];
		M m[LOADS];

#pragma unroll
		for (int i = 0; i < LOADS; i++) {
			const int s = from + i * DOWN;

			if (s < S)
				m[i] = mask[s];
			if (s < S && h < H)
				a[i] = pm_load<N, ALIGNED>(x + (long long)s * H);
		}
#pragma unroll
		for (int i = 0; i < LOADS; i++)
			if (from + i * DOWN < S) {
				const float w = weight(m[i]);

				count += w;
				for (int j = 0; j < N; j++)
					sum[j] += w * ld(a[i][j]);
			}
	}
	const int first = join(sum, lane);

#pragma unroll
	for (int d = ACROSS; d < 32; d *= 2)
		count += __shfl_xor_sync(0xffffffffu, count, d);
	for (int j = 0; j < LEFT; j++)
		sums[warp][threadIdx.x * N + first + j] = sum[j];
	if (lane == 0)
		counts[warp] = count;
	__syncthreads();
	for (int c = t; c < ACROSS * N; c += ACROSS * DOWN) {
		const int at = blockIdx.y * ACROSS * N + c;
		float v = 0.f, n = 0.f;

#pragma unroll
		for (int j = 0; j < WARPS; j++) {
			v += sums[j][c];
			n += counts[j];
		}
		if (at < H)
			y[blockIdx.x * (long long)H + at] = st(v / pm_max(n, eps));
	}
}

/* Grid: batch, then columns. */
extern "C" __global__ void __launch_bounds__(ACROSS * DOWN)
masked_mean_pool(const T *__restrict__ x, const M *__restrict__ mask, T *__restrict__ y, int S, int H, float eps)
{
	if (pm_aligned(x, N * (int)sizeof(T)))
		pool<true>(x, mask, y, S, H, eps);
	else
		pool<false>(x, mask, y, S, H, eps);
}
/* SPDX-License-Identifier: Apache-2.0 */
