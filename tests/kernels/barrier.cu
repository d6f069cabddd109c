/* barrier.cu - barriers with votes, and barriers in loops. */
extern "C" __global__ void votes(int *y, int limit)
{
	int i = threadIdx.x, n = blockDim.x, *o = y + 5 * i;

	o[0] = __syncthreads_count(i < limit);
	o[1] = __syncthreads_and(i < limit) != 0;
	o[2] = __syncthreads_or(i < limit) != 0;
	o[3] = __syncthreads_and(i < n) != 0;
	o[4] = __syncthreads_or(i >= n) != 0;
}

/* A scan by doubling: log2(n) rounds of two barriers. */
extern "C" __global__ void scan(const int *x, int *y, int n)
{
	extern __shared__ int s[];
	int i = threadIdx.x;

	s[i] = x[i];
	__syncthreads();
	for (int d = 1; d < n; d *= 2) {
		int v = i >= d ? s[i - d] : 0;
		__syncthreads();
		s[i] += v;
		__syncthreads();
	}
	y[i] = s[i];
}

/* The same barrier reached by all, although the compiler may see several paths to it. */
extern "C" __global__ void paths(int *y)
{
	__shared__ int s[64];
	int i = threadIdx.x;

	if (i < 20)
		s[i] = 1;
	else
		s[i] = 2;
	__syncthreads();
	if (i < 20)
		y[i] = s[63 - i];
	else
		y[i] = s[63 - i] * 10;
}

/* The last block to come adds up what the others left: a counter in device memory and a fence. */
__device__ unsigned int arrived = 0;

extern "C" __global__ void last_block(const float *x, float *part, float *y, int n)
{
	float v = 0;
	__shared__ bool last;

	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		v += x[i];
	v = pm_block_sum(v);
	if (threadIdx.x == 0) {
		part[blockIdx.x] = v;
		__threadfence();
		last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (last && threadIdx.x == 0) {
		v = 0;
		for (int i = 0; i < (int)gridDim.x; i++)
			v += part[i];
		*y = v;
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
