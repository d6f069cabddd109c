/* warp.cu - shuffles, votes, reductions and masks. */
template<class U> __device__ void shuffles(U *y, int width)
{
	int i = threadIdx.x;
	U v = (U)(i * 3 + 1), *o = y + 4 * i;

	o[0] = __shfl_sync(0xffffffffu, v, 5, width);
	o[1] = __shfl_up_sync(0xffffffffu, v, 3, width);
	o[2] = __shfl_down_sync(0xffffffffu, v, 2, width);
	o[3] = __shfl_xor_sync(0xffffffffu, v, 9, width);
}
#define SHUFFLES(name, U)                                       \
	extern "C" __global__ void shfl_##name(U *y, int width) \
	{                                                       \
		shuffles<U>(y, width);                          \
	}
SHUFFLES(int, int)
SHUFFLES(uint, unsigned)
SHUFFLES(ll, long long)
SHUFFLES(ull, unsigned long long)
SHUFFLES(float, float)
SHUFFLES(double, double)
SHUFFLES(half, __half)
SHUFFLES(bf16, __nv_bfloat16)

extern "C" __global__ void vote(unsigned *y)
{
	int i = threadIdx.x;
	unsigned *o = y + 6 * i;

	o[0] = __ballot_sync(0xffffffffu, i % 3 == 0);
	o[1] = __any_sync(0xffffffffu, i == 40);
	o[2] = __all_sync(0xffffffffu, i < 40);
	o[3] = __match_any_sync(0xffffffffu, i % 4);
	int same;
	o[4] = __match_all_sync(0xffffffffu, i / 32, &same);
	o[4] += same;
	o[5] = __match_all_sync(0xffffffffu, i / 16, &same);
	o[5] += same;
}

extern "C" __global__ void reduce(int *y)
{
	int i = threadIdx.x, *o = y + 9 * i;

	o[0] = __reduce_add_sync(0xffffffffu, i - 16);
	o[1] = __reduce_min_sync(0xffffffffu, i - 16);
	o[2] = __reduce_max_sync(0xffffffffu, i - 16);
	o[3] = (int)__reduce_add_sync(0xffffffffu, (unsigned)i);
	o[4] = (int)__reduce_min_sync(0xffffffffu, (unsigned)(i - 16));
	o[5] = (int)__reduce_max_sync(0xffffffffu, (unsigned)(i - 16));
	o[6] = (int)__reduce_and_sync(0xffffffffu, (unsigned)i | 64u);
	o[7] = (int)__reduce_or_sync(0xffffffffu, (unsigned)i);
	o[8] = (int)__reduce_xor_sync(0xffffffffu, (unsigned)i * 7u);
}

/* The halves of a warp go their own ways, then meet. */
extern "C" __global__ void halves(int *y)
{
	int i = threadIdx.x, v;

	if (i % 32 < 16) {
		v = __shfl_xor_sync(0x0000ffffu, i, 1);
		v += __reduce_add_sync(0x0000ffffu, 1);
	} else {
		v = __shfl_xor_sync(0xffff0000u, i * 100, 2);
		__syncwarp(0xffff0000u);
	}
	__syncwarp();
	y[i] = v + __popc(__ballot_sync(0xffffffffu, 1));
}

/* Lanes that have left are not waited for; a value read from one is not a number one may use. */
extern "C" __global__ void leavers(float *y)
{
	int i = threadIdx.x;
	float v = i;

	if (i >= 20)
		return;
	y[i] = __shfl_down_sync(0xffffffffu, v, 8);
	unsigned m = __activemask();
	y[32 + i] = __popc(m);
	y[64 + i] = __shfl_sync(m, v, 19);
}

/* __activemask() in both branches of a condition names the lanes of that branch. */
extern "C" __global__ void active(unsigned *y)
{
	int i = threadIdx.x;

	if (i % 32 < 10) {
		unsigned m = __activemask();
		y[i] = m;
	} else {
		unsigned m = __activemask();
		y[i] = m + __shfl_sync(m, 1u, 10);
	}
}

/* A reduction of a block by hand, as most kernels write it. */
extern "C" __global__ void block_sum(const float *x, float *y, int n)
{
	__shared__ float part[32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	float v = 0;

	for (int i = threadIdx.x; i < n; i += blockDim.x)
		v += x[blockIdx.x * n + i];
	for (int d = 16; d; d /= 2)
		v += __shfl_down_sync(0xffffffffu, v, d);
	if (lane == 0)
		part[warp] = v;
	__syncthreads();
	if (warp == 0) {
		v = lane < (int)blockDim.x / 32 ? part[lane] : 0.f;
		for (int d = 16; d; d /= 2)
			v += __shfl_down_sync(0xffffffffu, v, d);
		if (lane == 0)
			y[blockIdx.x] = v;
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
