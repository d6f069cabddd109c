/* layer_norm_2d.cu - layer normalisation over the channels of x = [B, C, Q]: y[b, q, c], or y[b, c, q] with BACK.
 *
 * A block takes width = 2^shift neighbouring places (at most 32) and all channels: it reads them along q, keeps
 * them in shared memory (C rows of width + 1 floats), normalises one place per warp and turn, and writes along c (BACK:
 * along q). Block: threads of whole warps; grid: places / width, B.
 *
 * BACK  1: the result keeps x's order of axes
 */
extern "C" __global__ void layer_norm_2d(const T *x, const T *scale, const T *bias, T *y, int C, int Q, int shift,
					 float eps)
{
	extern __shared__ float tile[];
	const long long base = blockIdx.y * (long long)C * Q;
	const int width = 1 << shift, q0 = blockIdx.x * width, n = Q - q0 < width ? Q - q0 : width, pitch = width + 1;
	const int lane = threadIdx.x % 32, warps = blockDim.x / 32;

	for (int i = threadIdx.x; i < C * width; i += blockDim.x) {
		const int c = i >> shift, q = i & (width - 1);

		tile[c * pitch + q] = q < n ? ld(x[base + (long long)c * Q + q0 + q]) : 0.f;
	}
	__syncthreads();
	for (int q = threadIdx.x / 32; q < n; q += warps) {
		float total = 0.f, square = 0.f;

		for (int c = lane; c < C; c += 32)
			total += tile[c * pitch + q];
		const float mean = pm_warp_sum(total) / C;

		for (int c = lane; c < C; c += 32)
			square += (tile[c * pitch + q] - mean) * (tile[c * pitch + q] - mean);
		const float inv = rsqrtf(pm_warp_sum(square) / C + eps);

		for (int c = lane; c < C; c += 32) {
			const float v = (tile[c * pitch + q] - mean) * inv * ld(scale[c]) + ld(bias[c]);

#if BACK
			tile[c * pitch + q] = v;
#else
			y[base + (long long)(q0 + q) * C + c] = st(v);
#endif
		}
	}
#if BACK
	__syncthreads();
	for (int i = threadIdx.x; i < C * width; i += blockDim.x) {
		const int c = i >> shift, q = i & (width - 1);

		if (q < n)
			y[base + (long long)c * Q + q0 + q] = st(tile[c * pitch + q]);
	}
#endif
}
