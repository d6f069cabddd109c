/* round.cu - values of 16 bits as the graph has them, and arithmetic that is rounded once for each operator.
 *
 * The lanes of such a value are floats; beside them stays the vector that was loaded, or that rounding made, which costs nothing
 * where nobody asks for it: a sum, a difference or a product of two of them is made two lanes at a time. That has the same bits as one of
 * floats that is rounded afterwards, since a float has more than twice their digits.
 */

/* The lanes of a vector as floats: one instruction each. */
template<class U, int N> __device__ __forceinline__ void lanes_of(float (&to)[N], const pm_vec<U, N> &v)
{
#pragma unroll
	for (int j = 0; j < N; j++)
		to[j] = ld(v[j]);
}
#ifndef PASSMITH_EMU
template<int N> __device__ __forceinline__ void lanes_of(float (&to)[N], const pm_vec<__nv_bfloat16, N> &v)
{
	unsigned w[N / 2];
	memcpy(w, &v, sizeof w);
#pragma unroll
	for (int j = 0; j < N; j += 2) {
		to[j] = __uint_as_float(w[j / 2] << 16);
		to[j + 1] = __uint_as_float(w[j / 2] & 0xffff0000u);
	}
}
#endif
template<class U> struct Two;
template<> struct Two<__half> {
	typedef __half2 type;
	static __device__ __forceinline__ type of(float a, float b) { return __floats2half2_rn(a, b); }
};
template<> struct Two<__nv_bfloat16> {
	typedef __nv_bfloat162 type;
	static __device__ __forceinline__ type of(float a, float b) { return __floats2bfloat162_rn(a, b); }
};
/* Floats as stored ones: the vector. */
template<class U, int N> __device__ __forceinline__ void round_to(pm_vec<U, N> &to, const float (&v)[N])
{
#pragma unroll
	for (int j = 0; j < N; j += 2) {
		const typename Two<U>::type p = Two<U>::of(v[j], v[j + 1]);
		memcpy(&to.v[j], &p, sizeof p);
	}
}
/* One value for all lanes. */
template<class U, int N> __device__ __forceinline__ pm_vec<U, N> all_lanes(float x)
{
	pm_vec<U, N> v;
#pragma unroll
	for (int j = 0; j < N; j++)
		v[j] = st<U>(x);
	return v;
}
#ifdef PASSMITH_EMU
#define PAIRS(name, sign, two)                                                                                 \
	template<class U, int N> pm_vec<U, N> name(const pm_vec<U, N> &a, const pm_vec<U, N> &b)                \
	{                                                                                                      \
		pm_vec<U, N> v;                                                                                \
		for (int j = 0; j < N; j++)                                                                    \
			v[j] = st<U>(ld(a[j]) sign ld(b[j]));                                                  \
		return v;                                                                                      \
	}
#else
#define PAIRS(name, sign, two)                                                                                 \
	template<class U, int N>                                                                               \
	__device__ __forceinline__ pm_vec<U, N> name(const pm_vec<U, N> &a, const pm_vec<U, N> &b)              \
	{                                                                                                      \
		pm_vec<U, N> v;                                                                                \
		typename Two<U>::type x, y;                                                                    \
		_Pragma("unroll") for (int j = 0; j < N; j += 2)                                               \
		{                                                                                              \
			memcpy(&x, &a.v[j], sizeof x);                                                         \
			memcpy(&y, &b.v[j], sizeof y);                                                         \
			x = two(x, y);                                                                         \
			memcpy(&v.v[j], &x, sizeof x);                                                         \
		}                                                                                              \
		return v;                                                                                      \
	}
#endif
PAIRS(plus, +, __hadd2_rn)
PAIRS(minus, -, __hsub2_rn)
PAIRS(times, *, __hmul2_rn)
/* Makes a loop convert what it loaded once more, where the compiler would keep the floats of the loop before. */
template<class U, int N> __device__ __forceinline__ void again(pm_vec<U, N> &v)
{
#ifndef PASSMITH_EMU
	unsigned w[N * (int)sizeof(U) / 4];
	memcpy(w, &v, sizeof w);
#pragma unroll
	for (int i = 0; i < N * (int)sizeof(U) / 4; i++)
		asm volatile("" : "+r"(w[i]));
	memcpy(&v, w, sizeof w);
#endif
}
__device__ __forceinline__ float plus(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float minus(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ double minus(double a, double b) { return __dsub_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
/* The sigmoid, as the eager run has it for results of 16 bits. */
__device__ __forceinline__ float logistic16(float x)
{
	float e = x * -1.4426950408889634f;
#ifdef PASSMITH_EMU
	return 1.f / (1.f + exp2f(e));
#else
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(e));
	e += 1.f;
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(e));
	return e;
#endif
}
/* x times the normal distribution below x, as the eager run has it for results of 16 bits: half of
 * erfc(|x| / sqrt 2) as 2 to the power of a polynomial. */
__device__ inline float gelu16(float x)
{
	const float a = fabsf(x);
	float p = -9.969248822e-07f;
	p = p * a + 1.741455708e-05f;
	p = p * a - 8.474948117e-05f;
	p = p * a - 3.683223040e-04f;
	p = p * a + 7.339524571e-03f;
	p = p * a - 5.266359076e-02f;
	p = p * a - 4.591625631e-01f;
	p = p * a - 1.151109219e+00f;
	p = p * a - 1.f;
#ifdef PASSMITH_EMU
	p = exp2f(p);
#else
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(p)); /* at 6 it is 2 to the power of -30 */
#endif
	p = a > 6.f ? 0.f : p;
	return x * (x < 0.f ? p : 1.f - p);
}
/* SPDX-License-Identifier: Apache-2.0 */
