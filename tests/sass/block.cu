/* block.cu - what CUDA C can ask of warps, blocks and memory (see scalar.cu). */

#define K(name) extern "C" __global__ void name
#define ALL 0xffffffffu

K(warp)(const float *p, float *q, unsigned *u, int n, double *d, long long *l)
{
	float a = p[threadIdx.x];
	unsigned m = __activemask();
	double e = d[threadIdx.x];
	int ok;

	q[0] = __shfl_sync(ALL, a, n) + __shfl_up_sync(ALL, a, 1) + __shfl_down_sync(ALL, a, n);
	q[1] = __shfl_xor_sync(m, a, 16) + __shfl_sync(m, a, n, 8);
	d[0] = __shfl_xor_sync(ALL, e, 4) + __shfl_sync(ALL, e, n);
	u[0] = __ballot_sync(ALL, a > 1) + __any_sync(m, a < 2) + __all_sync(ALL, a == 3);
	u[1] = __match_any_sync(ALL, n + (int)threadIdx.x) + __match_all_sync(ALL, n, &ok) + ok;
	u[2] = (unsigned)__reduce_add_sync(ALL, (int)u[3]) + __reduce_max_sync(ALL, u[4]);
	u[3] = (unsigned)__reduce_min_sync(ALL, (int)u[5]) + __reduce_and_sync(m, u[6]) +
	       __reduce_or_sync(ALL, u[7]) + __reduce_xor_sync(ALL, u[8]);
	l[0] = __shfl_up_sync(ALL, l[1], 2) + (long long)__match_any_sync(m, l[2]);
	if (threadIdx.x & 1)
		__syncwarp(0xaaaaaaaa);
	else
		q[3] = __shfl_xor_sync(0x55555555, a, 2);
	__syncwarp();
	__syncwarp(u[9]);
}

K(barriers)(float *q, int n)
{
	__shared__ float s[256];
	extern __shared__ float dynamic[];
	__shared__ double w[32];
	__shared__ unsigned char b[64];
	__shared__ float4 v[8];

	s[threadIdx.x] = q[n];
	dynamic[threadIdx.x] = q[n + 1];
	__syncthreads();
	q[0] = s[n] + dynamic[n] + (float)__syncthreads_count(n) + (float)__syncthreads_or(n > 1) +
	       (float)__syncthreads_and(n > 2);
	w[n & 31] = q[1];
	b[n & 63] = (unsigned char)n;
	v[n & 7] = make_float4(1, 2, 3, q[3]);
	__syncthreads();
	q[2] = (float)w[threadIdx.x & 31] + b[threadIdx.x & 63] + v[threadIdx.x & 7].z;
	if (threadIdx.x < 64)
		asm volatile("bar.sync 1, 64;" ::: "memory");
	asm volatile("bar.arrive 2, 128;" ::: "memory");
	asm volatile("barrier.sync 3;" ::: "memory");
	__threadfence_block();
	q[5] = ((volatile float *)s)[n];
	__threadfence();
	((volatile float *)s)[n + 1] = q[6];
	*(const float **)(q + 8) = n > 3 ? s : q;
	const float *either = n > 5 ? s : q;
	q[7] = either[n];
	((short *)s)[n] = (short)n;
	q[9] = ((short *)s)[n + 2] + ((signed char *)s)[n];
	((float2 *)s)[n] = make_float2(q[1], q[2]);
}

template <class I> __device__ void all_atomics(I *p, I a)
{
	__shared__ I s[32];
	int i = threadIdx.x & 31;

	p[1] = atomicAdd(p, a) + atomicExch(p + 1, a) + atomicCAS(p + 2, a, (I)3);
	p[2] = atomicMin(p + 3, a) + atomicMax(p + 4, a) + atomicAnd(p + 5, a) + atomicOr(p + 6, a);
	p[3] = atomicXor(p + 7, a);
	atomicAdd(p + 8, a);
	atomicMax(p + 9, a);
	atomicOr(p + 10, a);
	atomicAdd_block(p + 11, a);
	s[i] = a;
	__syncthreads();
	p[4] = atomicAdd(s + 3, a) + atomicExch(s + 4, a) + atomicCAS(s + i, a, (I)3) + atomicMin(s + i, a);
	p[5] = atomicMax(s + i, a) + atomicAnd(s + i, a) + atomicOr(s + i, a) + atomicXor(s + i, a);
	atomicAdd(s + i, a);
	atomicMin(s + 5, a);
	__syncthreads();
	p[6] = s[i];
}

K(atomics32)(int *p) { all_atomics<int>(p, p[20]); }
K(atomics32u)(unsigned *p)
{
	all_atomics<unsigned>(p, p[20]);
	p[5] = atomicInc(p + 1, 7) + atomicDec(p + 2, 9) + atomicSub(p + 3, 1);
}
K(atomics64u)(unsigned long long *p) { all_atomics<unsigned long long>(p, p[20]); }
K(atomics_of_floats)(float *f, double *d, __half *h, __half2 *h2, __nv_bfloat16 *b, __nv_bfloat162 *b2,
		     unsigned short *s)
{
	__shared__ float sf[32];
	__shared__ double sd[32];
	__shared__ __half2 sh[32];
	__shared__ unsigned short ss[32];

	f[0] = atomicAdd(f + 1, f[2]);
	atomicAdd(f + 3, f[2]);
	f[5] = atomicExch(f + 6, f[7]);
	d[0] = atomicAdd(d + 1, d[2]);
	atomicAdd(d + 3, d[2]);
	h[0] = atomicAdd(h + 1, h[2]);
	h2[0] = atomicAdd(h2 + 1, h2[2]);
	atomicAdd(h2 + 3, h2[2]);
	b[0] = atomicAdd(b + 1, b[2]);
	b2[0] = atomicAdd(b2 + 1, b2[2]);
	s[0] = atomicCAS(s + 1, s[2], s[3]);
	sf[threadIdx.x] = 0;
	sd[threadIdx.x] = 0;
	sh[threadIdx.x] = h2[8];
	ss[threadIdx.x] = s[8];
	__syncthreads();
	f[1] = atomicAdd(sf + 1, f[4]);
	d[1] = atomicAdd(sd + 1, d[4]);
	h2[1] = atomicAdd(sh + 1, h2[4]);
	s[1] = atomicCAS(ss + 1, s[4], s[5]);
}
K(atomics_of_either)(int *p, int n)
{
	__shared__ int s[32];

	s[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	int *either = n > 3 ? s : p;
	p[1] = atomicAdd(either + n, 3) + atomicCAS(either + 1, 2, n) + atomicExch(either, n);
	p[2] = atomicMax(either + n, 3);
}

K(memory)(const float *__restrict__ p, float *__restrict__ q, int n, const float4 *__restrict__ v, float4 *w,
	  const unsigned char *__restrict__ b, const short *s, const double2 *__restrict__ d, double2 *e)
{
	int i = threadIdx.x;

	q[i] = p[i] + __ldg(p + n) + __ldcg(p + 1) + __ldcs(p + 2) + __ldca(p + 3) + __ldcv(p + 4) + __ldlu(q + 9);
	w[i] = v[i];
	e[i] = d[n];
	__stcs(q + 1, p[7]);
	__stcg(q + 2, p[8]);
	__stwt(q + 3, p[9]);
	__stwb(w + 9, v[3]);
	q[5] = b[i] + s[i] + ((const signed char *)b)[n] + ((const unsigned short *)s)[n];
	((unsigned char *)q)[n] = b[3];
	((short *)q)[n + 1] = s[2];
	((int2 *)q)[n] = ((const int2 *)p)[n];
	((volatile float *)q)[7] = ((const volatile float *)p)[3];
}

K(copies)(const float4 *p, float *q, int n)
{
	__shared__ __align__(16) float s[1024];
	unsigned to = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * 4);

	asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(p + threadIdx.x));
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(p + n));
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(p + 2), "r"(n));
	asm volatile("cp.async.commit_group;");
	asm volatile("cp.async.wait_group 1;");
	asm volatile("cp.async.wait_all;" ::: "memory");
	__syncthreads();
	q[threadIdx.x] = s[threadIdx.x + n];
}
/* SPDX-License-Identifier: Apache-2.0 */
