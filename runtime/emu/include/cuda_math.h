/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_math.h - the mathematical functions of CUDA, on libm.
 *
 * The fast intrinsics (__expf, ...) are as exact as the plain functions here: a kernel that is right on the
 * emulated device may still lose the few units in the last place that a GPU's approximations lose.
 */
#ifndef RUNTIME_EMU_CUDA_MATH_H
#define RUNTIME_EMU_CUDA_MATH_H
#ifdef __cplusplus

#include "cuda_base.h"

/* --- libm: one argument, for float and double, with the overload CUDA C++ has ---------------------- */

#define PM_EMU_LIBM1(name)                                                                                   \
	extern "C" double name(double) noexcept;                                                             \
	extern "C" float name##f(float) noexcept;                                                            \
	PM_EMU_INLINE float name(float x)                                                                    \
	{                                                                                                    \
		return name##f(x);                                                                           \
	}
#define PM_EMU_LIBM2(name)                                                                                   \
	extern "C" double name(double, double) noexcept;                                                     \
	extern "C" float name##f(float, float) noexcept;                                                     \
	PM_EMU_INLINE float name(float x, float y)                                                           \
	{                                                                                                    \
		return name##f(x, y);                                                                        \
	}

PM_EMU_LIBM1(acos)
PM_EMU_LIBM1(acosh)
PM_EMU_LIBM1(asin)
PM_EMU_LIBM1(asinh)
PM_EMU_LIBM1(atan)
PM_EMU_LIBM1(atanh)
PM_EMU_LIBM1(cbrt)
PM_EMU_LIBM1(ceil)
PM_EMU_LIBM1(cos)
PM_EMU_LIBM1(cosh)
PM_EMU_LIBM1(erf)
PM_EMU_LIBM1(erfc)
PM_EMU_LIBM1(exp)
PM_EMU_LIBM1(exp2)
PM_EMU_LIBM1(expm1)
PM_EMU_LIBM1(floor)
PM_EMU_LIBM1(lgamma)
PM_EMU_LIBM1(log)
PM_EMU_LIBM1(log10)
PM_EMU_LIBM1(log1p)
PM_EMU_LIBM1(log2)
PM_EMU_LIBM1(logb)
PM_EMU_LIBM1(nearbyint)
PM_EMU_LIBM1(rint)
PM_EMU_LIBM1(round)
PM_EMU_LIBM1(sin)
PM_EMU_LIBM1(sinh)
PM_EMU_LIBM1(sqrt)
PM_EMU_LIBM1(tan)
PM_EMU_LIBM1(tanh)
PM_EMU_LIBM1(tgamma)
PM_EMU_LIBM1(trunc)
PM_EMU_LIBM2(atan2)
PM_EMU_LIBM2(copysign)
PM_EMU_LIBM2(fdim)
PM_EMU_LIBM2(fmod)
PM_EMU_LIBM2(hypot)
PM_EMU_LIBM2(nextafter)
PM_EMU_LIBM2(pow)
PM_EMU_LIBM2(remainder)

extern "C" {
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double scalbn(double, int) noexcept;
float scalbnf(float, int) noexcept;
double frexp(double, int *) noexcept;
float frexpf(float, int *) noexcept;
double modf(double, double *) noexcept;
float modff(float, float *) noexcept;
int ilogb(double) noexcept;
int ilogbf(float) noexcept;
long lround(double) noexcept;
long lroundf(float) noexcept;
long long llround(double) noexcept;
long long llroundf(float) noexcept;
long lrint(double) noexcept;
long lrintf(float) noexcept;
long long llrint(double) noexcept;
long long llrintf(float) noexcept;
}
PM_EMU_INLINE float fma(float x, float y, float z)
{
	return fmaf(x, y, z);
}
PM_EMU_INLINE float ldexp(float x, int n)
{
	return ldexpf(x, n);
}
PM_EMU_INLINE float scalbn(float x, int n)
{
	return scalbnf(x, n);
}
PM_EMU_INLINE float frexp(float x, int *n)
{
	return frexpf(x, n);
}
PM_EMU_INLINE float modf(float x, float *i)
{
	return modff(x, i);
}
PM_EMU_INLINE int ilogb(float x)
{
	return ilogbf(x);
}
PM_EMU_INLINE long lround(float x)
{
	return lroundf(x);
}
PM_EMU_INLINE long long llround(float x)
{
	return llroundf(x);
}
PM_EMU_INLINE long lrint(float x)
{
	return lrintf(x);
}
PM_EMU_INLINE long long llrint(float x)
{
	return llrintf(x);
}

/* --- classification, absolute value, smallest and largest ----------------------------------------------- */

#define PM_EMU_CLASSIFY(U)                                                                                   \
	PM_EMU_INLINE bool isnan(U x)                                                                        \
	{                                                                                                    \
		return __builtin_isnan(x);                                                                   \
	}                                                                                                    \
	PM_EMU_INLINE bool isinf(U x)                                                                        \
	{                                                                                                    \
		return __builtin_isinf(x);                                                                   \
	}                                                                                                    \
	PM_EMU_INLINE bool isfinite(U x)                                                                     \
	{                                                                                                    \
		return __builtin_isfinite(x);                                                                \
	}                                                                                                    \
	PM_EMU_INLINE bool signbit(U x)                                                                      \
	{                                                                                                    \
		return __builtin_signbit(x);                                                                 \
	}
PM_EMU_CLASSIFY(float)
PM_EMU_CLASSIFY(double)

extern "C" double fabs(double) noexcept;
extern "C" float fabsf(float) noexcept;
extern "C" int abs(int) noexcept;
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
PM_EMU_INLINE float fabs(float x)
{
	return __builtin_fabsf(x);
}
PM_EMU_INLINE float abs(float x)
{
	return __builtin_fabsf(x);
}
PM_EMU_INLINE double abs(double x)
{
	return __builtin_fabs(x);
}
PM_EMU_INLINE long abs(long x)
{
	return x < 0 ? -x : x;
}
PM_EMU_INLINE long long abs(long long x)
{
	return x < 0 ? -x : x;
}

/* A NaN loses against a number, and -0 is less than +0. */
template <class U> PM_EMU_BUILTIN U pm_emu_min(U a, U b)
{
	return a != a ? b : b != b ? a : a == b ? (__builtin_signbit(a) ? a : b) : a < b ? a : b;
}
template <class U> PM_EMU_BUILTIN U pm_emu_max(U a, U b)
{
	return a != a ? b : b != b ? a : a == b ? (__builtin_signbit(a) ? b : a) : a > b ? a : b;
}
PM_EMU_INLINE float fminf(float a, float b)
{
	return pm_emu_min(a, b);
}
PM_EMU_INLINE float fmaxf(float a, float b)
{
	return pm_emu_max(a, b);
}
PM_EMU_INLINE float fmin(float a, float b)
{
	return pm_emu_min(a, b);
}
PM_EMU_INLINE float fmax(float a, float b)
{
	return pm_emu_max(a, b);
}
extern "C" double fmin(double, double) noexcept;
extern "C" double fmax(double, double) noexcept;

#define PM_EMU_MINMAX_INT(U, A, B)                                                                           \
	PM_EMU_INLINE U min(A a, B b)                                                                        \
	{                                                                                                    \
		return (U)a < (U)b ? (U)a : (U)b;                                                            \
	}                                                                                                    \
	PM_EMU_INLINE U max(A a, B b)                                                                        \
	{                                                                                                    \
		return (U)a > (U)b ? (U)a : (U)b;                                                            \
	}
PM_EMU_MINMAX_INT(int, int, int)
PM_EMU_MINMAX_INT(unsigned, unsigned, unsigned)
PM_EMU_MINMAX_INT(unsigned, int, unsigned)
PM_EMU_MINMAX_INT(unsigned, unsigned, int)
PM_EMU_MINMAX_INT(long, long, long)
PM_EMU_MINMAX_INT(unsigned long, unsigned long, unsigned long)
PM_EMU_MINMAX_INT(unsigned long, long, unsigned long)
PM_EMU_MINMAX_INT(unsigned long, unsigned long, long)
PM_EMU_MINMAX_INT(long long, long long, long long)
PM_EMU_MINMAX_INT(unsigned long long, unsigned long long, unsigned long long)
PM_EMU_MINMAX_INT(unsigned long long, long long, unsigned long long)
PM_EMU_MINMAX_INT(unsigned long long, unsigned long long, long long)
#define PM_EMU_MINMAX_FLOAT(U, A, B)                                                                         \
	PM_EMU_INLINE U min(A a, B b)                                                                        \
	{                                                                                                    \
		return pm_emu_min((U)a, (U)b);                                                               \
	}                                                                                                    \
	PM_EMU_INLINE U max(A a, B b)                                                                        \
	{                                                                                                    \
		return pm_emu_max((U)a, (U)b);                                                               \
	}
PM_EMU_MINMAX_FLOAT(float, float, float)
PM_EMU_MINMAX_FLOAT(double, double, double)
PM_EMU_MINMAX_FLOAT(double, float, double)
PM_EMU_MINMAX_FLOAT(double, double, float)

#define PM_EMU_MINMAX_NAMED(prefix, U)                                                                       \
	PM_EMU_INLINE U prefix##min(U a, U b)                                                                \
	{                                                                                                    \
		return a < b ? a : b;                                                                        \
	}                                                                                                    \
	PM_EMU_INLINE U prefix##max(U a, U b)                                                                \
	{                                                                                                    \
		return a > b ? a : b;                                                                        \
	}
PM_EMU_MINMAX_NAMED(u, unsigned)
PM_EMU_MINMAX_NAMED(ll, long long)
PM_EMU_MINMAX_NAMED(ull, unsigned long long)

/* --- functions that libm lacks ---------------------------------------------------------------------------
 */

#define PM_EMU_F1(name, U, expr)                                                                             \
	PM_EMU_INLINE U name(U x)                                                                            \
	{                                                                                                    \
		return expr;                                                                                 \
	}
#define PM_EMU_F2(name, U, expr)                                                                             \
	PM_EMU_INLINE U name(U x, U y)                                                                       \
	{                                                                                                    \
		return expr;                                                                                 \
	}
#define PM_EMU_F3(name, U, expr)                                                                             \
	PM_EMU_INLINE U name(U x, U y, U z)                                                                  \
	{                                                                                                    \
		return expr;                                                                                 \
	}

PM_EMU_F1(rsqrtf, float, (float)(1. / sqrt((double)x)))
PM_EMU_F1(rsqrt, double, 1. / sqrt(x))
PM_EMU_F1(rsqrt, float, rsqrtf(x))
PM_EMU_F1(rcbrtf, float, (float)(1. / cbrt((double)x)))
PM_EMU_F1(rcbrt, double, 1. / cbrt(x))
PM_EMU_F1(exp10f, float, (float)pow(10., (double)x))
PM_EMU_F1(exp10, double, pow(10., x))
PM_EMU_F1(exp10, float, exp10f(x))
/* The remainder by 2 is exact, so that large arguments keep their phase. */
PM_EMU_F1(sinpi, double, sin(3.14159265358979323846 * remainder(x, 2.)))
PM_EMU_F1(cospi, double, cos(3.14159265358979323846 * remainder(x, 2.)))
PM_EMU_F1(sinpif, float, (float)sinpi((double)x))
PM_EMU_F1(cospif, float, (float)cospi((double)x))
PM_EMU_F1(normcdf, double, .5 * erfc(-x * 0.70710678118654752440))
PM_EMU_F1(normcdff, float, (float)normcdf((double)x))
PM_EMU_F1(__saturatef, float, x > 0.f ? (x < 1.f ? x : 1.f) : 0.f)
PM_EMU_F2(fdividef, float, x / y)
PM_EMU_F2(rhypotf, float, (float)(1. / hypot((double)x, (double)y)))
PM_EMU_F2(rhypot, double, 1. / hypot(x, y))
PM_EMU_F3(norm3df, float, (float)sqrt((double)x *x + (double)y * y + (double)z * z))
PM_EMU_F3(rnorm3df, float, (float)(1. / sqrt((double)x * x + (double)y * y + (double)z * z)))

PM_EMU_INLINE void sincosf(float x, float *s, float *c)
{
	*s = sinf(x);
	*c = cosf(x);
}
PM_EMU_INLINE void sincos(double x, double *s, double *c)
{
	*s = sin(x);
	*c = cos(x);
}
PM_EMU_INLINE void sincos(float x, float *s, float *c)
{
	sincosf(x, s, c);
}
PM_EMU_INLINE void sincospif(float x, float *s, float *c)
{
	*s = sinpif(x);
	*c = cospif(x);
}
PM_EMU_INLINE float pow(float x, int n)
{
	return (float)pow((double)x, (double)n);
}
PM_EMU_INLINE double pow(double x, int n)
{
	return pow(x, (double)n);
}

/* --- intrinsics --------------------------------------------------------------------------------------------
 */

PM_EMU_F1(__expf, float, expf(x))
PM_EMU_F1(__exp10f, float, exp10f(x))
PM_EMU_F1(__logf, float, logf(x))
PM_EMU_F1(__log2f, float, log2f(x))
PM_EMU_F1(__log10f, float, log10f(x))
PM_EMU_F1(__sinf, float, sinf(x))
PM_EMU_F1(__cosf, float, cosf(x))
PM_EMU_F1(__tanf, float, tanf(x))
PM_EMU_F1(__tanhf, float, tanhf(x))
PM_EMU_F1(__frsqrt_rn, float, rsqrtf(x))
PM_EMU_F1(__frcp_rn, float, 1.f / x)
PM_EMU_F1(__fsqrt_rn, float, sqrtf(x))
PM_EMU_F1(__drcp_rn, double, 1. / x)
PM_EMU_F1(__dsqrt_rn, double, sqrt(x))
PM_EMU_F2(__powf, float, powf(x, y))
/* A GPU returns 0 for a divisor above 2^126. */
PM_EMU_F2(__fdividef, float, __builtin_fabsf(y) > 0x1p126f && y - y == 0.f ? x * 0.f : x / y)
PM_EMU_F2(__fadd_rn, float, x + y)
PM_EMU_F2(__fsub_rn, float, x - y)
PM_EMU_F2(__fmul_rn, float, x *y)
PM_EMU_F2(__fdiv_rn, float, x / y)
PM_EMU_F2(__dadd_rn, double, x + y)
PM_EMU_F2(__dsub_rn, double, x - y)
PM_EMU_F2(__dmul_rn, double, x *y)
PM_EMU_F2(__ddiv_rn, double, x / y)
PM_EMU_F3(__fmaf_rn, float, fmaf(x, y, z))
PM_EMU_F3(__fma_rn, double, fma(x, y, z))
PM_EMU_INLINE void __sincosf(float x, float *s, float *c)
{
	sincosf(x, s, c);
}

/* --- the same bits, and conversions with a rounding that is named -----------------------------------------
 */

PM_EMU_INLINE int __float_as_int(float x)
{
	return pm_emu_bits<int>(x);
}
PM_EMU_INLINE unsigned __float_as_uint(float x)
{
	return pm_emu_bits<unsigned>(x);
}
PM_EMU_INLINE float __int_as_float(int x)
{
	return pm_emu_bits<float>(x);
}
PM_EMU_INLINE float __uint_as_float(unsigned x)
{
	return pm_emu_bits<float>(x);
}
PM_EMU_INLINE long long __double_as_longlong(double x)
{
	return pm_emu_bits<long long>(x);
}
PM_EMU_INLINE double __longlong_as_double(long long x)
{
	return pm_emu_bits<double>(x);
}
PM_EMU_INLINE int __double2hiint(double x)
{
	return (int)(pm_emu_bits<long long>(x) >> 32);
}
PM_EMU_INLINE int __double2loint(double x)
{
	return (int)pm_emu_bits<long long>(x);
}
PM_EMU_INLINE double __hiloint2double(int hi, int lo)
{
	return pm_emu_bits<double>((long long)((unsigned long long)(unsigned)hi << 32 | (unsigned)lo));
}

/* To an integer as the hardware does: out of range gives the nearest end, NaN gives 0 (and, for 64 bits, the
 * smallest or largest value). */
template <class To> PM_EMU_BUILTIN To pm_emu_clamp(double x, double lo, double hi, To min_value, To max_value)
{
	if (x != x)
		return sizeof(To) == 8 ? (To)1 << 63 : 0;
	return x <= lo ? min_value : x >= hi ? max_value : (To)x;
}
#define PM_EMU_TO_INT(from, U, r, f)                                                                         \
	PM_EMU_INLINE int __##from##2int_##r(U x)                                                            \
	{                                                                                                    \
		return pm_emu_clamp<int>(f((double)x), -2147483648., 2147483647., (-__INT_MAX__ - 1),        \
					 __INT_MAX__);                                                       \
	}                                                                                                    \
	PM_EMU_INLINE unsigned __##from##2uint_##r(U x)                                                      \
	{                                                                                                    \
		return pm_emu_clamp<unsigned>(f((double)x), 0., 4294967295., 0u, 0xffffffffu);               \
	}                                                                                                    \
	PM_EMU_INLINE long long __##from##2ll_##r(U x)                                                       \
	{                                                                                                    \
		return pm_emu_clamp<long long>(f((double)x), -0x1p63, 0x1p63, (-__LONG_LONG_MAX__ - 1),      \
					       __LONG_LONG_MAX__);                                           \
	}                                                                                                    \
	PM_EMU_INLINE unsigned long long __##from##2ull_##r(U x)                                             \
	{                                                                                                    \
		return pm_emu_clamp<unsigned long long>(f((double)x), 0., 0x1p64, 0ull, ~0ull);              \
	}
PM_EMU_TO_INT(float, float, rn, rint)
PM_EMU_TO_INT(float, float, rz, trunc)
PM_EMU_TO_INT(float, float, rd, floor)
PM_EMU_TO_INT(float, float, ru, ceil)
PM_EMU_TO_INT(double, double, rn, rint)
PM_EMU_TO_INT(double, double, rz, trunc)
PM_EMU_TO_INT(double, double, rd, floor)
PM_EMU_TO_INT(double, double, ru, ceil)

#define PM_EMU_FROM(name, To, From)                                                                          \
	PM_EMU_INLINE To name(From x)                                                                        \
	{                                                                                                    \
		return (To)x;                                                                                \
	}
PM_EMU_FROM(__int2float_rn, float, int)
PM_EMU_FROM(__uint2float_rn, float, unsigned)
PM_EMU_FROM(__ll2float_rn, float, long long)
PM_EMU_FROM(__ull2float_rn, float, unsigned long long)
PM_EMU_FROM(__int2double_rn, double, int)
PM_EMU_FROM(__uint2double_rn, double, unsigned)
PM_EMU_FROM(__ll2double_rn, double, long long)
PM_EMU_FROM(__ull2double_rn, double, unsigned long long)
PM_EMU_FROM(__double2float_rn, float, double)

#endif
#endif
