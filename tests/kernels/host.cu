/* host.cu - kernels for tests of launches without checks: barriers, collectives, shared memory, ends. */
extern "C" __global__ void sums(const T *x, T *y, long long n)
{
	__shared__ float part[128];
	int i = threadIdx.x;
	float s = 0.f;

	for (long long k = blockIdx.x * (long long)blockDim.x + i; k < n; k += (long long)gridDim.x * blockDim.x)
		s += ld(x[k]);
	part[i] = s;
	__syncthreads();
	for (int half = blockDim.x / 2; half; half /= 2) {
		if (i < half)
			part[i] += part[i + half];
		__syncthreads();
	}
	if (i == 0)
		y[blockIdx.x] = st(part[0]);
}

extern "C" __global__ void warps(const T *x, T *y, int by, float scale)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float v = ld(x[i]) * scale;

	for (int d = 16; d; d /= 2)
		v += __shfl_xor_sync(0xffffffffu, v, d);
	if (__ballot_sync(0xffffffffu, threadIdx.x % 3 == 0) >> (threadIdx.x % 32) & 1)
		v = expf(v * 1e-2f);
	y[i] = st(v + (float)by);
}

extern "C" __global__ void reversed(const T *x, T *y)
{
	extern __shared__ float line[];
	int i = threadIdx.x, n = blockDim.x;

	line[i] = ld(x[(blockIdx.y * gridDim.x + blockIdx.x) * n + i]);
	__syncthreads();
	y[(blockIdx.y * gridDim.x + blockIdx.x) * n + i] = st(line[n - 1 - i]);
}

extern "C" __global__ void __launch_bounds__(64) ends(int how)
{
	if (how == 1 && threadIdx.x == 33)
		__trap();
	if (how == 2 && threadIdx.x < 7)
		__syncthreads();
	if (how == 3 && threadIdx.x < 7)
		__syncwarp(0xff);
	if (how == 3 && threadIdx.x == 7)
		__syncthreads();
}
/* SPDX-License-Identifier: Apache-2.0 */
