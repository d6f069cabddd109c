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

/* Mean and sum of squared deviations of n elements, by the whole block. */
__device__ __forceinline__ void moments(const T *x, int n, float *mean, float *square)
{
	float total = 0.f, dev = 0.f;

	for (int i = threadIdx.x; i < n; i += blockDim.x)
		total += ld(x[i]);
	*mean = pm_block_sum(total) / n;
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		dev += (ld(x[i]) - *mean) * (ld(x[i]) - *mean);
	*square = pm_block_sum(dev);
}

__device__ __forceinline__ void apply(const T *x, const T *scale, const T *bias, T *y, int from, int to, int inner,
				      int c0, float mean, float inv)
{
	for (int i = from + threadIdx.x; i < to; i += blockDim.x) {
		const int c = c0 + i / inner;

		y[i] = st(act((ld(x[i]) - mean) * inv * ld(scale[c]) + ld(bias[c])));
	}
}

extern "C" __global__ void group_norm_row(const T *x, const T *scale, const T *bias, T *y, int L, int inner, int G,
					  float eps)
{
	const long long r = blockIdx.x;
	float mean, square;

	moments(x + r * L, L, &mean, &square);
	apply(x + r * L, scale, bias, y + r * L, 0, L, inner, (int)(r % G) * (L / inner), mean,
	      rsqrtf(square / L + eps));
}

#if SPLIT
/* Grid: stretches, rows. */
extern "C" __global__ void group_norm_parts(const T *x, float *parts, int L, int per)
{
	const long long r = blockIdx.y;
	const int from = blockIdx.x * per, n = L - from < per ? L - from : per;
	float mean, square;

	moments(x + r * L + from, n, &mean, &square);
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

	apply(x + r * L, scale, bias, y + r * L, from, to, inner, (int)(r % G) * (L / inner), mean, inv);
}
#endif
