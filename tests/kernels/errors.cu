/* errors.cu - kernels that are wrong, each in one way. */
extern "C" __global__ void oob_read(const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	y[i % n] = x[i];
}
extern "C" __global__ void oob_write(const float *x, float *y, int i)
{
	if (threadIdx.x == 3)
		y[i] = x[0];
}
extern "C" __global__ void mutate(float *x, float *y)
{
	if (blockIdx.x == 1 && threadIdx.x == 5)
		x[2] = 1;
	y[0] = x[0];
}
extern "C" __global__ void two_barriers(float *y)
{
	if (threadIdx.x < 10) {
		y[0] = 1;
		__syncthreads();
	} else {
		y[1] = 1;
		__syncthreads();
	}
}
extern "C" __global__ void some_leave(float *y, int n)
{
	if ((int)threadIdx.x >= n)
		return;
	__syncthreads();
	y[threadIdx.x] = 1;
}
extern "C" __global__ void stuck_shuffle(int *y)
{
	if (threadIdx.x < 8)
		y[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
	else
		__syncthreads();
}
extern "C" __global__ void two_masks(int *y)
{
	unsigned m = threadIdx.x < 8 ? 0xffffu : 0xffffffffu;
	y[threadIdx.x] = __shfl_sync(m, 1, 0);
}
extern "C" __global__ void not_in_mask(int *y)
{
	y[threadIdx.x] = __any_sync(0xfffffffdu, 1);
}
extern "C" __global__ void null_pointer(float *y, int i)
{
	float *p = 0;
	if (i > 100)
		p = y;
	p[i] = 1;
}
extern "C" __global__ void wild_pointer(float *y, long long address)
{
	y[0] = *(float *)address;
}
extern "C" __global__ void divide(int *y, int a, int b)
{
	y[threadIdx.x] = a / (b - (int)threadIdx.x);
}
__device__ __noinline__ int deep(int *y, int n)
{
	volatile int room[256];
	room[n % 256] = n;
	return n == 0 ? y[0] : deep(y, n - 1) + room[(n + 1) % 256];
}
extern "C" __global__ void stack(int *y, int n)
{
	y[1] = deep(y, n);
}
extern "C" __global__ void past_dynamic(float *y, int i)
{
	extern __shared__ float s[];
	s[i] = 1;
	y[0] = s[0];
}
extern "C" __global__ void trap(int *y)
{
	if (threadIdx.x == 2)
		__trap();
	y[0] = 1;
}
extern "C" __global__ void __launch_bounds__(64) bounded(int *y)
{
	y[0] = 1;
}
extern "C" __global__ void misaligned(const float4 *x, float4 *y)
{
	y[0] = *(const float4 *)((const char *)x + 4);
}
extern "C" __global__ void fine(int *y)
{
	y[0] = 1;
}
/* SPDX-License-Identifier: Apache-2.0 */
