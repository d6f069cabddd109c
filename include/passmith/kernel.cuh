/* kernel.cuh - the device prelude: put in front of every kernel, on a GPU and on the emulated device.
 *
 * After it the device writes `typedef <type> T;`, then comes the author's source. Names here begin with pm_,
 * except the two that every kernel uses:
 *   ld(x)      the element x as float; double, int and 64-bit integers as double
 *   st(v)      the value v, to be stored in a T:  y[i] = st(v);
 *   st<U>(v)   the value v as a U, for buffers of another type:  z[i] = st<float>(v);
 * docs/reference/kernel-prelude.md describes the rest.
 */
#ifndef PASSMITH_KERNEL_CUH
#define PASSMITH_KERNEL_CUH

/* The headers of the half types use T as a template parameter: they must come before the typedef. */
#include <cuda_fp16.h>
#include <cuda_bf16.h>

#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

/* What <math.h>, <float.h> and <limits.h> would give: NVRTC has no headers of the host. */
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef CUDART_INF_F
#define CUDART_INF_F __int_as_float(0x7f800000)
#endif
#ifndef CUDART_NAN_F
#define CUDART_NAN_F __int_as_float(0x7fffffff)
#endif
#ifndef CUDART_INF
#define CUDART_INF __longlong_as_double(0x7ff0000000000000ll)
#endif
#ifndef CUDART_NAN
#define CUDART_NAN __longlong_as_double(0x7fffffffffffffffll)
#endif
#ifndef CUDART_PI_F
#define CUDART_PI_F 3.141592654f
#endif
#ifndef FLT_MAX
#define FLT_MAX 3.402823466e+38f
#endif
#ifndef FLT_MIN
#define FLT_MIN 1.175494351e-38f
#endif
#ifndef FLT_EPSILON
#define FLT_EPSILON 1.192092896e-07f
#endif
#ifndef DBL_MAX
#define DBL_MAX 1.7976931348623157e+308
#endif
#ifndef DBL_MIN
#define DBL_MIN 2.2250738585072014e-308
#endif
#ifndef DBL_EPSILON
#define DBL_EPSILON 2.2204460492503131e-16
#endif
#ifndef INT_MAX
#define INT_MAX 2147483647
#endif
#ifndef INT_MIN
#define INT_MIN (-2147483647 - 1)
#endif
#ifndef UINT_MAX
#define UINT_MAX 4294967295u
#endif
#ifndef LLONG_MAX
#define LLONG_MAX 9223372036854775807ll
#endif
#ifndef LLONG_MIN
#define LLONG_MIN (-9223372036854775807ll - 1)
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#ifndef M_SQRT2
#define M_SQRT2 1.41421356237309504880
#endif
#ifndef M_SQRT1_2
#define M_SQRT1_2 0.70710678118654752440
#endif
#ifndef M_2_SQRTPI
#define M_2_SQRTPI 1.12837916709551257390
#endif
#ifndef M_LOG2E
#define M_LOG2E 1.44269504088896340736
#endif
#ifndef M_LN2
#define M_LN2 0.69314718055994530942
#endif

/* --- elements ------------------------------------------------------------------------------------- */

__device__ __forceinline__ float ld(float x)
{
	return x;
}
__device__ __forceinline__ double ld(double x)
{
	return x;
}
__device__ __forceinline__ float ld(__half x)
{
	return __half2float(x);
}
/* The upper half of a float: CUDA's own conversion takes two instructions for what one does. */
__device__ __forceinline__ float ld(__nv_bfloat16 x)
{
#ifdef PASSMITH_EMU
	return __bfloat162float(x);
#else
	float v;
	asm("mov.b32 %0, {0, %1};" : "=f"(v) : "h"(__bfloat16_as_ushort(x)));
	return v;
#endif
}
__device__ __forceinline__ float ld(bool x)
{
	return x ? 1.f : 0.f;
}
__device__ __forceinline__ float ld(signed char x)
{
	return (float)x;
}
__device__ __forceinline__ float ld(unsigned char x)
{
	return (float)x;
}
__device__ __forceinline__ float ld(short x)
{
	return (float)x;
}
__device__ __forceinline__ float ld(unsigned short x)
{
	return (float)x;
}
__device__ __forceinline__ double ld(int x)
{
	return (double)x;
}
__device__ __forceinline__ double ld(unsigned int x)
{
	return (double)x;
}
__device__ __forceinline__ double ld(long long x)
{
	return (double)x;
}
__device__ __forceinline__ double ld(unsigned long long x)
{
	return (double)x;
}
__device__ __forceinline__ double ld(long x)
{
	return (double)x;
}

/* st: how a value of type V becomes an element of type U. A half element keeps the value beside it, so that
 * it may also be stored, unrounded, in a float or double buffer. */
template<class U> struct pm_stored {
	template<class V> static __device__ __forceinline__ V of(V v)
	{
		return v;
	}
	template<class V> static __device__ __forceinline__ U as(V v)
	{
		return (U)v;
	}
};
template<> struct pm_stored<__half> : __half {
	float value;
	template<class V> static __device__ __forceinline__ pm_stored of(V v)
	{
		pm_stored s;
		static_cast<__half &>(s) = as(v);
		s.value = (float)v;
		return s;
	}
	static __device__ __forceinline__ __half as(float v)
	{
		return __float2half_rn(v);
	}
	static __device__ __forceinline__ __half as(double v)
	{
		return __double2half(v);
	}
	template<class V> static __device__ __forceinline__ __half as(V v)
	{
		return __half(v);
	}
	__device__ __forceinline__ operator float() const
	{
		return value;
	}
};
template<> struct pm_stored<__nv_bfloat16> : __nv_bfloat16 {
	float value;
	template<class V> static __device__ __forceinline__ pm_stored of(V v)
	{
		pm_stored s;
		static_cast<__nv_bfloat16 &>(s) = as(v);
		s.value = (float)v;
		return s;
	}
	static __device__ __forceinline__ __nv_bfloat16 as(float v)
	{
		return __float2bfloat16_rn(v);
	}
	static __device__ __forceinline__ __nv_bfloat16 as(double v)
	{
		return __double2bfloat16(v);
	}
	template<class V> static __device__ __forceinline__ __nv_bfloat16 as(V v)
	{
		return __nv_bfloat16(v);
	}
	__device__ __forceinline__ operator float() const
	{
		return value;
	}
};
template<class U, class V> __device__ __forceinline__ U st(V v)
{
	return pm_stored<U>::as(v);
}
#define st(...) (pm_stored<T>::of(__VA_ARGS__))

/* --- reductions of a warp: every lane of the warp must call, every lane gets the result ---------------- */

template<class V> __device__ __forceinline__ V pm_max(V a, V b)
{
	return a > b || a != a ? a : b;
}
template<class V> __device__ __forceinline__ V pm_min(V a, V b)
{
	return a < b || a != a ? a : b;
}
#if !defined(PASSMITH_EMU) && __CUDA_ARCH__ >= 800
/* One instruction for three. */
__device__ __forceinline__ float pm_max(float a, float b)
{
	asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
	return a;
}
__device__ __forceinline__ float pm_min(float a, float b)
{
	asm("min.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
	return a;
}
#endif
template<class V> __device__ __forceinline__ V pm_warp_sum(V v)
{
#pragma unroll
	for (int d = 16; d > 0; d >>= 1)
		v += __shfl_xor_sync(0xffffffffu, v, d);
	return v;
}
template<class V> __device__ __forceinline__ V pm_warp_max(V v)
{
#pragma unroll
	for (int d = 16; d > 0; d >>= 1)
		v = pm_max(v, __shfl_xor_sync(0xffffffffu, v, d));
	return v;
}
template<class V> __device__ __forceinline__ V pm_warp_min(V v)
{
#pragma unroll
	for (int d = 16; d > 0; d >>= 1)
		v = pm_min(v, __shfl_xor_sync(0xffffffffu, v, d));
	return v;
}

/* --- reductions of a block: every thread must call, every thread gets the result ------------------------
 *
 * For a block of any shape whose size is a multiple of 32. They use 32 elements of shared memory and two
 * barriers, and may be called one after another.
 */

__device__ __forceinline__ int pm_thread()
{
	return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ __forceinline__ int pm_threads()
{
	return blockDim.x * blockDim.y * blockDim.z;
}
template<class V> __device__ __forceinline__ V pm_block_sum(V v)
{
	__shared__ V part[32];
	const int t = pm_thread(), n = pm_threads() / 32;

	v = pm_warp_sum(v);
	__syncthreads();
	if (t % 32 == 0)
		part[t / 32] = v;
	__syncthreads();
	return pm_warp_sum(t % 32 < n ? part[t % 32] : V(0));
}
template<class V> __device__ __forceinline__ V pm_block_max(V v)
{
	__shared__ V part[32];
	const int t = pm_thread(), n = pm_threads() / 32;

	v = pm_warp_max(v);
	__syncthreads();
	if (t % 32 == 0)
		part[t / 32] = v;
	__syncthreads();
	return pm_warp_max(part[t % 32 < n ? t % 32 : 0]);
}
template<class V> __device__ __forceinline__ V pm_block_min(V v)
{
	__shared__ V part[32];
	const int t = pm_thread(), n = pm_threads() / 32;

	v = pm_warp_min(v);
	__syncthreads();
	if (t % 32 == 0)
		part[t / 32] = v;
	__syncthreads();
	return pm_warp_min(part[t % 32 < n ? t % 32 : 0]);
}

/* --- several elements at once: p must be aligned to N * sizeof(U) ----------------------------------------- */

template<class U, int N> struct __align__(sizeof(U) * N) pm_vec {
	U v[N];
	__device__ __forceinline__ U &operator[](int i)
	{
		return v[i];
	}
	__device__ __forceinline__ const U &operator[](int i) const
	{
		return v[i];
	}
};
template<int N, class U> __device__ __forceinline__ pm_vec<U, N> pm_load(const U *p)
{
	return *reinterpret_cast<const pm_vec<U, N> *>(p);
}
template<int N, class U> __device__ __forceinline__ void pm_store(U *p, const pm_vec<U, N> &v)
{
	*reinterpret_cast<pm_vec<U, N> *>(p) = v;
}
/* The same where it is known only in a branch whether a buffer is ALIGNED: if not, element by element. */
template<int N, bool ALIGNED, class U> __device__ __forceinline__ pm_vec<U, N> pm_load(const U *p)
{
	pm_vec<U, N> v;

	if (ALIGNED)
		return pm_load<N>(p);
	for (int i = 0; i < N; i++)
		v[i] = p[i];
	return v;
}
template<int N, bool ALIGNED, class U> __device__ __forceinline__ void pm_store(U *p, const pm_vec<U, N> &v)
{
	if (ALIGNED)
		pm_store<N>(p, v);
	for (int i = 0; i < N && !ALIGNED; i++)
		p[i] = v[i];
}
template<class P> __device__ __forceinline__ bool pm_aligned(const P *p, int bytes)
{
	return reinterpret_cast<unsigned long long>(p) % (unsigned)bytes == 0;
}

/* --- division by a number that the host knows: three arguments, DIVISOR(d) of passmith/dsl.h ----------------
 *
 * A division by an argument is some 25 instructions that wait for each other; this is a multiplication and a shift. For
 * numbers below 2^31.
 */

struct pm_divisor {
	unsigned d, multiplier, shift;
	__device__ __forceinline__ unsigned quotient(unsigned n) const
	{
		return d == 1 ? n : __umulhi(n, multiplier) >> shift;
	}
	__device__ __forceinline__ unsigned rest(unsigned n) const
	{
		return n - quotient(n) * d;
	}
};

/* --- tensor cores: c += a b, of 16 x 16 and 16 x 8 elements of a half type, summed in float ----------------
 *
 * All lanes of a warp call. With g = lane / 4 and t = lane % 4, the words of a lane hold two neighbours along K each: a rows
 * g, g + 8, g, g + 8 at K = 2 t, 2 t, 2 t + 8, 2 t + 8; b column g at K = 2 t, 2 t + 8 (the lower 16 bits come first). c has
 * row g at columns 2 t and 2 t + 1, then row g + 8.
 */

template<class U> struct pm_mma;
#ifdef PASSMITH_EMU
template<class U> __device__ __forceinline__ float pm_emu_low(unsigned w);
template<> __device__ __forceinline__ float pm_emu_low<__half>(unsigned w)
{
	return __half2float(__ushort_as_half((unsigned short)w));
}
template<> __device__ __forceinline__ float pm_emu_low<__nv_bfloat16>(unsigned w)
{
	return __bfloat162float(__ushort_as_bfloat16((unsigned short)w));
}
/* Each lane takes what the four lanes of a row of a and of a column of b hold. */
template<class U> struct pm_mma {
	typedef unsigned long long Pair;
	struct Held {
		Pair upper, lower, column;
	};
	PM_EMU_ASIDE static void add(float &c, Pair x, Pair y)
	{
		for (int i = 0; i < 64; i += 16)
			c += pm_emu_low<U>((unsigned)(x >> i)) * pm_emu_low<U>((unsigned)(y >> i));
	}
	PM_EMU_ASIDE static void run(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
	{
		const int lane = pm_thread() % 32;
		const Held mine = { a[0] | (Pair)a[2] << 32, a[1] | (Pair)a[3] << 32, b[0] | (Pair)b[1] << 32 };
		const pm_emu_lanes<Held> all = pm_emu_lanes<Held>::share(mine);
		for (int i = 0; i < 4; i++) {
			const Held row = all[(lane & ~3) + i];
			for (int j = 0; j < 2; j++) {
				const Pair y = all[(lane % 4 * 2 + j) * 4 + i].column;
				add(c[j], row.upper, y);
				add(c[2 + j], row.lower, y);
			}
		}
	}
};
#else
#define PM_MMA(U, name)                                                                                      \
	template<> struct pm_mma<U> {                                                                        \
		static __device__ __forceinline__ void run(float (&c)[4], const unsigned (&a)[4],            \
							   const unsigned (&b)[2])                           \
		{                                                                                            \
			asm("mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 "                   \
			    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                \
			    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                 \
			    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));             \
		}                                                                                            \
	};
PM_MMA(__half, "f16")
PM_MMA(__nv_bfloat16, "bf16")
#undef PM_MMA
#endif
template<class U>
__device__ __forceinline__ void pm_mma_16816(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
	pm_mma<U>::run(c, a, b);
}

#endif
/* SPDX-License-Identifier: Apache-2.0 */
