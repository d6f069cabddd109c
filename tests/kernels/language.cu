/* language.cu - things a scanner of sources could trip over.  __global__ void not_me(int) */
// extern "C" __global__ void nor_me(float *x) { extern __shared__ float s[]; }
#define SCALE 3
#define KERNEL(name, op)                                          \
	extern "C" __global__ void name(const int *x, int *y, int n) \
	{                                                         \
		int i = threadIdx.x;                              \
		if (i < n)                                        \
			y[i] = x[i] op SCALE;                     \
	}
KERNEL(add_three, +)
KERNEL(times_three, *)

#ifdef PASSMITH_EMU
extern "C" __global__ void only_here(int *y)
{
	*y = __CUDA_ARCH__;
}
#else
extern "C" __global__ void only_there(int *y)
{
	*y = -1;
}
#endif

static const char text[] = "extern \"C\" __global__ void in_text(int *y) {";
static const char quoted[] = { '"', '{', '\'', '}' };
__constant__ int table[4] = { 10, 20, 30, 40 };
static __constant__ float halves[2] = { .5f, 1.5f };
__device__ int counter = 5;

namespace inner
{
template<class U, int N> __device__ __forceinline__ U spread(U v)
{
	__shared__ U s[N];
	s[threadIdx.x] = v;
	__syncthreads();
	U r = s[(threadIdx.x + 1) % N];
	__syncthreads();
	return r;
}
}

template<class U> __global__ void not_an_entry(U *p)
{
	*p = 0;
}

extern "C" {
__device__ __noinline__ static int helper(int i)
{
	return table[i & 3] + (int)sizeof(text) + quoted[0];
}
__global__ void __launch_bounds__(2 * 32, 1) in_a_block(int *y)
{
	static __shared__ int a[64];
	a[threadIdx.x] = helper(threadIdx.x);
	y[threadIdx.x] = inner::spread<int, 64>(a[threadIdx.x]) + (int)inner::spread<double, 64>(threadIdx.x * .5);
}
}

extern "C" __launch_bounds__(64) __global__ void bounds_first(float *y)
{
	y[threadIdx.x] = halves[threadIdx.x & 1];
	if (threadIdx.x == 0)
		counter++;
	y[64] = counter;
}

extern "C" __global__ void declared_twice(int *y);
extern "C" __global__ void declared_twice(int *y)
{
	*y = 7;
}

struct Pair {
	int a, b;
	__host__ __device__ int sum() const
	{
		return a + b;
	}
};
extern "C" __global__ void members(int *y)
{
	Pair p = { 3, 4 };
	auto f = [&](int k) { return p.sum() * k; };
	y[0] = f(2);
}
/* SPDX-License-Identifier: Apache-2.0 */
