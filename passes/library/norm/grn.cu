/* grn.cu - global response normalisation of x = [B, S, C]: g = sqrt(sum over s of x^2), y = x * (1 + scale * g / (mean
 * over c of g + eps)) + bias.
 *
 * Two launches with B x parts x C sums between them: each part is a stretch of the S places.
 */

/* Block: 32 columns x 8 places; grid: C / 32, parts, B. */
extern "C" __global__ void grn_squares(const T *x, float *sums, int S, int C, int parts)
{
	__shared__ float part[8][33];
	const int c = blockIdx.x * 32 + threadIdx.x, per = (S + parts - 1) / parts;
	const int from = blockIdx.y * per, to = from + per < S ? from + per : S;
	const T *row = x + blockIdx.z * (long long)S * C;
	float v = 0.f;

	if (c < C)
		for (int s = from + threadIdx.y; s < to; s += 8) {
			const float a = ld(row[(long long)s * C + c]);

			v += a * a;
		}
	part[threadIdx.y][threadIdx.x] = v;
	__syncthreads();
	if (threadIdx.y || c >= C)
		return;
	for (int j = 1; j < 8; j++)
		v += part[j][threadIdx.x];
	sums[(blockIdx.z * (long long)parts + blockIdx.y) * C + c] = v;
}

enum { V = 16 / (int)sizeof(T) };

/* Places [from, to) of one image. */
template<int N>
__device__ __forceinline__ void respond(const T *x, const float *factor, const T *bias, T *y, int from, int to, int C)
{
	for (int c = threadIdx.x * N; c < C; c += blockDim.x * N) {
		const pm_vec<T, N> b = pm_load<N>(bias + c);

		for (int s = from; s < to; s++) {
			const pm_vec<T, N> a = pm_load<N>(x + (long long)s * C + c);
			pm_vec<T, N> out;

			for (int j = 0; j < N; j++)
				out[j] = st(ld(a[j]) * factor[c + j] + ld(b[j]));
			pm_store<N>(y + (long long)s * C + c, out);
		}
	}
}

/* Block: whole warps, C floats of shared memory; grid: stretches of places, B. */
extern "C" __global__ void grn_apply(const T *x, const T *scale, const T *bias, T *y, const float *sums, int S, int C,
				     int parts, int per, float eps)
{
	extern __shared__ float factor[];
	const long long base = blockIdx.y * (long long)S * C;
	const int from = blockIdx.x * per, to = from + per < S ? from + per : S;
	float total = 0.f;

	for (int c = threadIdx.x; c < C; c += blockDim.x) {
		float v = 0.f;

		for (int p = 0; p < parts; p++)
			v += sums[(blockIdx.y * (long long)parts + p) * C + c];
		factor[c] = sqrtf(v);
		total += factor[c];
	}
	const float inv = 1.f / (pm_block_sum(total) / C + eps);

	for (int c = threadIdx.x; c < C; c += blockDim.x)
		factor[c] = 1.f + ld(scale[c]) * factor[c] * inv;
	__syncthreads();
	const bool wide = C % V == 0 && pm_aligned(x, 16) && pm_aligned(bias, 16) && pm_aligned(y, 16);

	if (wide)
		respond<V>(x + base, factor, bias, y + base, from, to, C);
	else
		respond<1>(x + base, factor, bias, y + base, from, to, C);
}
/* SPDX-License-Identifier: Apache-2.0 */
