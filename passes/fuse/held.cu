/* held.cu - rows that a block holds in registers and shared memory, and their mean and variance from one pass.
 */

/* Behind what a thread has in registers of its row: its own vectors in shared memory, one for each thread of the
 * block in turn. */
template<class V> __device__ __forceinline__ V *held(const V &)
{
	extern __shared__ __align__(16) unsigned char held_bytes[];
	return (V *)held_bytes + threadIdx.x;
}
template<int A, class T, int N> __device__ __forceinline__ void hold(pm_vec<T, N> *to, const T *from)
{
#ifndef PASSMITH_EMU
	if (A == 1) {
		const unsigned place = (unsigned)__cvta_generic_to_shared(to);
#pragma unroll
		for (int i = 0; i < (int)sizeof *to; i += 16)
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place + i), "l"((const char *)from + i)
				     : "memory");
		return;
	}
#endif
	*to = fetch<N, A>(from);
}
__device__ __forceinline__ void held_now()
{
#ifndef PASSMITH_EMU
	asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
__device__ __forceinline__ float lanes_sum(const float (&v)[2])
{
	return v[0] + v[1];
}
template<int N> __device__ __forceinline__ float lanes_sum(const float (&v)[N])
{
	float w[N / 2];
#pragma unroll
	for (int j = 0; j < N / 2; j++)
		w[j] = v[2 * j] + v[2 * j + 1];
	return lanes_sum(w);
}

/* Mean of n and m elements, and the sum of the squares around it, from those of each: mean += d m / (n + m), squares += d^2 n m /
 * (n + m), where d is the distance of their means (Chan, Golub, LeVeque, 1983). Here a thread's `turn` vectors and one more. */
template<int N> __device__ __forceinline__ void moments(float &mean, float &squares, const float (&v)[N], int turn)
{
	const float own = lanes_sum(v) * (1.f / N), d = own - mean;
	const float share = 1.f / (float)(turn + 1); /* a constant: turns are unrolled */
	float around = 0;
#pragma unroll
	for (int j = 0; j < N; j++)
		around += (v[j] - own) * (v[j] - own);
	mean += d * share;
	squares += around + d * d * (N * turn * share);
}
/* Of n elements each. */
__device__ __forceinline__ void join_two(float &mean, float &squares, float n, int apart)
{
	const float other = __shfl_xor_sync(0xffffffffu, mean, apart),
		    around = __shfl_xor_sync(0xffffffffu, squares, apart), d = other - mean;
	mean = (mean + other) * 0.5f;
	squares += around + d * d * (n * 0.5f);
}
/* Of all G threads of a block, N elements each. What follows each other uses other memory (PLACE), as sums do (share). */
template<int G, int N, int PLACE> __device__ __forceinline__ void join_moments(float &mean, float &squares)
{
	__shared__ float2 part[G / 32];
	float n = N;
#pragma unroll
	for (int d = 1; d < 32; d *= 2, n *= 2)
		join_two(mean, squares, n, d);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = make_float2(mean, squares);
	__syncthreads();
	const float2 p = part[threadIdx.x % (G / 32)];
	mean = p.x;
	squares = p.y;
#pragma unroll
	for (int d = 1; d < G / 32; d *= 2, n *= 2)
		join_two(mean, squares, n, d);
}
/* SPDX-License-Identifier: Apache-2.0 */
