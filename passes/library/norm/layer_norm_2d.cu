/* layer_norm_2d.cu - layer normalisation over the channels of x = [B, C, Q]: y[b, q, c], or y[b, c, q] with BACK.
 *
 * A block takes WIDTH neighbouring places and all channels: it reads them along q, turns them in shared memory (WIDTH rows
 * of C elements and 16 bytes), normalises each place by THREADS / WIDTH lanes, and writes along c (BACK: turns them again,
 * and writes along q). Grid: places / WIDTH, B.
 *
 * BACK            1: the result keeps x's order of axes
 * WIDTH, THREADS  powers of two; at most 32 threads for a place
 * IN_N            elements of a load of x: a power of two that divides Q and WIDTH
 * ROW_N           elements of a load along c: 16 bytes of them, which then divide C, or 1
 */
enum { LANES = THREADS / WIDTH, IN_ROW = WIDTH / IN_N, ROWS = THREADS / IN_ROW, AHEAD = 4 };

/* Channels of WIDTH places into rows of shared memory; AHEAD loads of a thread are under way at once. */
template<bool ALIGNED> __device__ __forceinline__ void turn(T *tile, const T *x, int C, int Q, int n, int pitch)
{
	const int q = threadIdx.x % IN_ROW * IN_N;

	for (int from = threadIdx.x / IN_ROW; from < C; from += ROWS * AHEAD) {
		pm_vec<T, IN_N> v[AHEAD];

#pragma unroll
		for (int j = 0; j < AHEAD; j++)
			if (from + j * ROWS < C && q < n)
				v[j] = pm_load<IN_N, ALIGNED>(x + (long long)(from + j * ROWS) * Q + q);
#pragma unroll
		for (int j = 0; j < AHEAD; j++)
			if (from + j * ROWS < C && q < n)
				for (int i = 0; i < IN_N; i++)
					tile[(q + i) * pitch + from + j * ROWS] = v[j][i];
	}
}

__device__ __forceinline__ float lanes_sum(float v)
{
#pragma unroll
	for (int d = LANES / 2; d > 0; d /= 2)
		v += __shfl_xor_sync(0xffffffffu, v, d);
	return v;
}

/* One place. Its first scale and bias were asked for before it was read. */
template<bool ALIGNED>
__device__ __forceinline__ void norm(T *row, const T *scale, const T *bias, pm_vec<T, ROW_N> g, pm_vec<T, ROW_N> b, T *y, int C,
				     float inv_C, float eps, bool live)
{
	const int first = threadIdx.x % LANES * ROW_N;
	float total = 0.f, square = 0.f;

	for (int c = first; c < C; c += LANES * ROW_N) {
		const pm_vec<T, ROW_N> v = pm_load<ROW_N>(row + c);

		for (int i = 0; i < ROW_N; i++)
			total += ld(v[i]);
	}
	const float mean = lanes_sum(total) * inv_C;

	for (int c = first; c < C; c += LANES * ROW_N) {
		const pm_vec<T, ROW_N> v = pm_load<ROW_N>(row + c);

		for (int i = 0; i < ROW_N; i++)
			square += (ld(v[i]) - mean) * (ld(v[i]) - mean);
	}
	const float inv = rsqrtf(lanes_sum(square) * inv_C + eps);

	for (int c = first; c < C && live; c += LANES * ROW_N) {
		const pm_vec<T, ROW_N> v = pm_load<ROW_N>(row + c);
		pm_vec<T, ROW_N> out;

		if (c != first) {
			g = pm_load<ROW_N, ALIGNED>(scale + c);
			b = pm_load<ROW_N, ALIGNED>(bias + c);
		}
		for (int i = 0; i < ROW_N; i++)
			out[i] = st((ld(v[i]) - mean) * inv * ld(g[i]) + ld(b[i]));
		if (BACK)
			pm_store<ROW_N>(row + c, out);
		else
			pm_store<ROW_N, ALIGNED>(y + c, out);
	}
}

template<bool ALIGNED>
__device__ __forceinline__ void run(const T *x, const T *scale, const T *bias, T *y, int C, int Q, float inv_C, float eps)
{
	extern __shared__ __align__(16) unsigned char memory[];
	T *tile = reinterpret_cast<T *>(memory);
	const long long base = blockIdx.y * (long long)C * Q;
	const int q0 = blockIdx.x * WIDTH, n = Q - q0 < WIDTH ? Q - q0 : WIDTH;
	const int pitch = (C + ROW_N - 1) / ROW_N * ROW_N + 16 / (int)sizeof(T);
	const int q = threadIdx.x / LANES, c = threadIdx.x % LANES * ROW_N;
	pm_vec<T, ROW_N> g, b;

	if (c < C) {
		g = pm_load<ROW_N, ALIGNED>(scale + c);
		b = pm_load<ROW_N, ALIGNED>(bias + c);
	}
	turn<ALIGNED>(tile, x + base + q0, C, Q, n, pitch);
	__syncthreads();
	norm<ALIGNED>(tile + q * pitch, scale, bias, g, b, y + base + (long long)(q0 + q) * C, C, inv_C, eps, q < n);
#if BACK
	__syncthreads();
	for (int i = threadIdx.x / IN_ROW; i < C; i += ROWS) {
		const int k = threadIdx.x % IN_ROW * IN_N;
		pm_vec<T, IN_N> v;

		if (k >= n)
			continue;
		for (int j = 0; j < IN_N; j++)
			v[j] = tile[(k + j) * pitch + i];
		pm_store<IN_N, ALIGNED>(y + base + (long long)i * Q + q0 + k, v);
	}
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS)
layer_norm_2d(const T *__restrict__ x, const T *__restrict__ scale, const T *__restrict__ bias, T *__restrict__ y, int C, int Q,
	      float inv_C, float eps)
{
	if (pm_aligned(x, 16) && pm_aligned(scale, 16) && pm_aligned(bias, 16) && pm_aligned(y, 16))
		run<true>(x, scale, bias, y, C, Q, inv_C, eps);
	else
		run<false>(x, scale, bias, y, C, Q, inv_C, eps);
}
/* SPDX-License-Identifier: Apache-2.0 */
