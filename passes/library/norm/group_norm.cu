/* group_norm.cu - rows of L elements, each a group of C / G channels of `inner` elements: y = (x - mean) / sqrt(var +
 * eps) * scale[c] + bias[c], then SiLU when ACT is 1.
 *
 * One launch, a block per row; or two: mean and sum of squared deviations of stretches of `per` elements, then each
 * stretch puts those of its row together. Channel of element i of row r: r % G * (L / inner) + i / inner.
 *
 * ACT    0: none  1: v * sigmoid(v)
 * SPLIT  1: with the kernels of the two launches
 */
__device__ __forceinline__ float act(float v)
{
#if ACT
	return v / (1.f + expf(-v));
#else
	return v;
#endif
}

/* Sum of x - mean, or of its squares, by one thread of the block; N elements per load. */
template<int N> __device__ __forceinline__ float part_sum(const T *x, int n, float mean, bool squares)
{
	float total = 0.f;

	for (int i = threadIdx.x * N; i < n; i += blockDim.x * N) {
		const pm_vec<T, N> a = pm_load<N>(x + i);

		for (int j = 0; j < N; j++) {
			const float d = ld(a[j]) - mean;

			total += squares ? d * d : d;
		}
	}
	return total;
}

/* Mean and sum of squared deviations of n elements, by the whole block. */
template<int N> __device__ __forceinline__ void moments(const T *x, int n, float *mean, float *square)
{
	*mean = pm_block_sum(part_sum<N>(x, n, 0.f, false)) / n;
	*square = pm_block_sum(part_sum<N>(x, n, *mean, true));
}

/* The N elements of one load share a channel. */
template<int N>
__device__ __forceinline__ void apply(const T *x, const T *scale, const T *bias, T *y, int from, int to, int inner,
				      int c0, float mean, float inv)
{
	for (int i = from + threadIdx.x * N; i < to; i += blockDim.x * N) {
		const int c = c0 + i / inner;
		const float k = inv * ld(scale[c]), b = ld(bias[c]);
		const pm_vec<T, N> a = pm_load<N>(x + i);
		pm_vec<T, N> out;

		for (int j = 0; j < N; j++)
			out[j] = st(act((ld(a[j]) - mean) * k + b));
		pm_store<N>(y + i, out);
	}
}

/* Whether N elements never belong to two channels and always start on such a border. */
template<int N> __device__ __forceinline__ bool fits(const T *x, const T *y, int inner)
{
	return inner % N == 0 && pm_aligned(x, N * (int)sizeof(T)) && pm_aligned(y, N * (int)sizeof(T));
}

enum { V = 16 / (int)sizeof(T) };

extern "C" __global__ void group_norm_row(const T *x, const T *scale, const T *bias, T *y, int L, int inner, int G,
					  float eps)
{
	const long long r = blockIdx.x;
	float mean, square;

	if (fits<V>(x, y, inner))
		moments<V>(x + r * L, L, &mean, &square);
	else if (fits<4>(x, y, inner))
		moments<4>(x + r * L, L, &mean, &square);
	else
		moments<1>(x + r * L, L, &mean, &square);
	const float inv = rsqrtf(square / L + eps);
	const int c0 = (int)(r % G) * (L / inner);

	if (fits<V>(x, y, inner))
		apply<V>(x + r * L, scale, bias, y + r * L, 0, L, inner, c0, mean, inv);
	else if (fits<4>(x, y, inner))
		apply<4>(x + r * L, scale, bias, y + r * L, 0, L, inner, c0, mean, inv);
	else
		apply<1>(x + r * L, scale, bias, y + r * L, 0, L, inner, c0, mean, inv);
}

#if SPLIT
/* Grid: stretches, rows. */
extern "C" __global__ void group_norm_parts(const T *x, float *parts, int L, int per, int inner)
{
	const long long r = blockIdx.y;
	const int from = blockIdx.x * per, n = L - from < per ? L - from : per;
	float mean, square;

	if (fits<V>(x, x, inner))
		moments<V>(x + r * L + from, n, &mean, &square);
	else if (fits<4>(x, x, inner))
		moments<4>(x + r * L + from, n, &mean, &square);
	else
		moments<1>(x + r * L + from, n, &mean, &square);
	if (threadIdx.x == 0) {
		parts[(r * gridDim.x + blockIdx.x) * 2] = mean;
		parts[(r * gridDim.x + blockIdx.x) * 2 + 1] = square;
	}
}

extern "C" __global__ void group_norm_apply(const T *x, const T *scale, const T *bias, T *y, const float *parts, int L,
					    int per, int inner, int G, float eps)
{
	const long long r = blockIdx.y;
	const int from = blockIdx.x * per, to = from + per < L ? from + per : L, np = gridDim.x;
	float total = 0.f, dev = 0.f;

	for (int p = threadIdx.x; p < np; p += blockDim.x)
		total += parts[(r * np + p) * 2] * (p + 1 < np ? per : L - p * per);
	const float mean = pm_block_sum(total) / L;

	for (int p = threadIdx.x; p < np; p += blockDim.x) {
		const float d = parts[(r * np + p) * 2] - mean;

		dev += parts[(r * np + p) * 2 + 1] + d * d * (p + 1 < np ? per : L - p * per);
	}
	const float inv = rsqrtf(pm_block_sum(dev) / L + eps);

	const int c0 = (int)(r % G) * (L / inner);

	if (fits<V>(x, y, inner))
		apply<V>(x + r * L, scale, bias, y + r * L, from, to, inner, c0, mean, inv);
	else if (fits<4>(x, y, inner))
		apply<4>(x + r * L, scale, bias, y + r * L, from, to, inner, c0, mean, inv);
	else
		apply<1>(x + r * L, scale, bias, y + r * L, from, to, inner, c0, mean, inv);
}
#endif
/* SPDX-License-Identifier: Apache-2.0 */
