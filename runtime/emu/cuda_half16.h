/* cuda_half16.h - what __half and __nv_bfloat16 have in common; included once for each.
 *
 * The includer defines PM_H (the type), PM_H2 (the pair), PM_HNAME (the word in function names: half,
 * bfloat16), PM_H2NAME (half2, bfloat162), PM_HFROM and PM_HTO (bits from float, float from bits). It has no
 * guard: the second inclusion is for the other type. Arithmetic is done in float and rounded once, which is
 * exact for + - * / and sqrt since float has more than twice the digits; fma goes through double.
 */
#ifdef __cplusplus
#define PM_CAT_(a, b, c) a##b##c
#define PM_CAT(a, b, c)  PM_CAT_(a, b, c)

struct PM_H {
	unsigned short __x;

	PM_H() = default;
	PM_H(float v) : __x(PM_HFROM(v))
	{
	}
	PM_H(double v) : __x(PM_HFROM(pm_emu_odd(v)))
	{
	}
#define PM_EMU_HALF_INT(U)                                                                                   \
	PM_H(U v) : __x(PM_HFROM(pm_emu_odd_int(v)))                                                         \
	{                                                                                                    \
	}                                                                                                    \
	operator U() const                                                                                   \
	{                                                                                                    \
		return pm_emu_half_to_int<U>(PM_HTO(__x));                                                   \
	}
	PM_EMU_HALF_INT(short)
	PM_EMU_HALF_INT(unsigned short)
	PM_EMU_HALF_INT(int)
	PM_EMU_HALF_INT(unsigned int)
	PM_EMU_HALF_INT(long)
	PM_EMU_HALF_INT(unsigned long)
	PM_EMU_HALF_INT(long long)
	PM_EMU_HALF_INT(unsigned long long)
#undef PM_EMU_HALF_INT
	operator float() const
	{
		return PM_HTO(__x);
	}
	operator char() const
	{
		return pm_emu_half_to_int<char>(PM_HTO(__x));
	}
	operator signed char() const
	{
		return pm_emu_half_to_int<signed char>(PM_HTO(__x));
	}
	operator unsigned char() const
	{
		return pm_emu_half_to_int<unsigned char>(PM_HTO(__x));
	}
	operator bool() const
	{
		return (__x & 0x7fffu) != 0;
	}
#define PM_EMU_HALF_ASSIGN(U)                                                                                \
	PM_H &operator=(U v)                                                                                 \
	{                                                                                                    \
		__x = PM_H(v).__x;                                                                           \
		return *this;                                                                                \
	}
	PM_EMU_HALF_ASSIGN(float)
	PM_EMU_HALF_ASSIGN(double)
	PM_EMU_HALF_ASSIGN(short)
	PM_EMU_HALF_ASSIGN(unsigned short)
	PM_EMU_HALF_ASSIGN(int)
	PM_EMU_HALF_ASSIGN(unsigned int)
	PM_EMU_HALF_ASSIGN(long long)
	PM_EMU_HALF_ASSIGN(unsigned long long)
#undef PM_EMU_HALF_ASSIGN
};

struct __attribute__((aligned(4))) PM_H2 {
	PM_H x, y;

	PM_H2() = default;
	PM_H2(const PM_H &a, const PM_H &b) : x(a), y(b)
	{
	}
};

/* --- conversions ------------------------------------------------------------------------------------ */

PM_EMU_INLINE PM_H PM_CAT(__ushort_as_, PM_HNAME, )(unsigned short v)
{
	PM_H h;
	h.__x = v;
	return h;
}
PM_EMU_INLINE PM_H PM_CAT(__short_as_, PM_HNAME, )(short v)
{
	return PM_CAT(__ushort_as_, PM_HNAME, )((unsigned short)v);
}
PM_EMU_INLINE unsigned short PM_CAT(__, PM_HNAME, _as_ushort)(PM_H h)
{
	return h.__x;
}
PM_EMU_INLINE short PM_CAT(__, PM_HNAME, _as_short)(PM_H h)
{
	return (short)h.__x;
}
PM_EMU_INLINE PM_H PM_CAT(__float2, PM_HNAME, )(float v)
{
	return PM_H(v);
}
PM_EMU_INLINE PM_H PM_CAT(__float2, PM_HNAME, _rn)(float v)
{
	return PM_H(v);
}
PM_EMU_INLINE PM_H PM_CAT(__double2, PM_HNAME, )(double v)
{
	return PM_H(v);
}
PM_EMU_INLINE float PM_CAT(__, PM_HNAME, 2float)(PM_H h)
{
	return PM_HTO(h.__x);
}
#define PM_EMU_HALF_CONV(word, U)                                                                            \
	PM_EMU_INLINE PM_H PM_CAT(__##word##2, PM_HNAME, _rn)(U v)                                           \
	{                                                                                                    \
		return PM_H(v);                                                                              \
	}                                                                                                    \
	PM_EMU_INLINE U PM_CAT(__, PM_HNAME, 2##word##_rn)(PM_H h)                                           \
	{                                                                                                    \
		return pm_emu_half_to_int<U>(rintf(PM_HTO(h.__x)));                                          \
	}                                                                                                    \
	PM_EMU_INLINE U PM_CAT(__, PM_HNAME, 2##word##_rz)(PM_H h)                                           \
	{                                                                                                    \
		return pm_emu_half_to_int<U>(PM_HTO(h.__x));                                                 \
	}
PM_EMU_HALF_CONV(int, int)
PM_EMU_HALF_CONV(uint, unsigned)
PM_EMU_HALF_CONV(short, short)
PM_EMU_HALF_CONV(ushort, unsigned short)
PM_EMU_HALF_CONV(ll, long long)
PM_EMU_HALF_CONV(ull, unsigned long long)
#undef PM_EMU_HALF_CONV

PM_EMU_INLINE PM_H2 PM_CAT(make_, PM_H2NAME, )(PM_H a, PM_H b)
{
	return PM_H2(a, b);
}
PM_EMU_INLINE PM_H2 PM_CAT(__, PM_HPAIR, )(PM_H a, PM_H b)
{
	return PM_H2(a, b);
}
PM_EMU_INLINE PM_H2 PM_CAT(__, PM_HNAME, PM_H2TAIL)(PM_H a)
{
	return PM_H2(a, a);
}
PM_EMU_INLINE PM_H2 PM_CAT(__float2, PM_H2NAME, _rn)(float v)
{
	return PM_H2(PM_H(v), PM_H(v));
}
PM_EMU_INLINE PM_H2 PM_CAT(__floats2, PM_H2NAME, _rn)(float a, float b)
{
	return PM_H2(PM_H(a), PM_H(b));
}
PM_EMU_INLINE PM_H2 PM_CAT(__float22, PM_H2NAME, _rn)(float2 v)
{
	return PM_H2(PM_H(v.x), PM_H(v.y));
}
PM_EMU_INLINE float2 PM_CAT(__, PM_H2NAME, 2float2)(PM_H2 h)
{
	return make_float2(PM_HTO(h.x.__x), PM_HTO(h.y.__x));
}
PM_EMU_INLINE float __low2float(PM_H2 h)
{
	return PM_HTO(h.x.__x);
}
PM_EMU_INLINE float __high2float(PM_H2 h)
{
	return PM_HTO(h.y.__x);
}
PM_EMU_INLINE PM_H PM_CAT(__low2, PM_HNAME, )(PM_H2 h)
{
	return h.x;
}
PM_EMU_INLINE PM_H PM_CAT(__high2, PM_HNAME, )(PM_H2 h)
{
	return h.y;
}
PM_EMU_INLINE PM_H2 PM_CAT(__low2, PM_H2NAME, )(PM_H2 h)
{
	return PM_H2(h.x, h.x);
}
PM_EMU_INLINE PM_H2 PM_CAT(__high2, PM_H2NAME, )(PM_H2 h)
{
	return PM_H2(h.y, h.y);
}
PM_EMU_INLINE PM_H2 PM_CAT(__lowhigh2high, PM_H2LOW, )(PM_H2 h)
{
	return PM_H2(h.y, h.x);
}
PM_EMU_INLINE PM_H2 PM_CAT(__lows2, PM_H2NAME, )(PM_H2 a, PM_H2 b)
{
	return PM_H2(a.x, b.x);
}
PM_EMU_INLINE PM_H2 PM_CAT(__highs2, PM_H2NAME, )(PM_H2 a, PM_H2 b)
{
	return PM_H2(a.y, b.y);
}

/* --- arithmetic of one and of pairs ----------------------------------------------------------------- */

#define PM_EMU_H1(name, name2, expr)                                                                         \
	PM_EMU_INLINE PM_H name(PM_H a)                                                                      \
	{                                                                                                    \
		float x = PM_HTO(a.__x);                                                                     \
		return PM_H(expr);                                                                           \
	}                                                                                                    \
	PM_EMU_INLINE PM_H2 name2(PM_H2 a)                                                                   \
	{                                                                                                    \
		return PM_H2(name(a.x), name(a.y));                                                          \
	}
#define PM_EMU_H2(name, name2, expr)                                                                         \
	PM_EMU_INLINE PM_H name(PM_H a, PM_H b)                                                              \
	{                                                                                                    \
		float x = PM_HTO(a.__x), y = PM_HTO(b.__x);                                                  \
		return PM_H(expr);                                                                           \
	}                                                                                                    \
	PM_EMU_INLINE PM_H2 name2(PM_H2 a, PM_H2 b)                                                          \
	{                                                                                                    \
		return PM_H2(name(a.x, b.x), name(a.y, b.y));                                                \
	}
PM_EMU_H2(__hadd, __hadd2, x + y)
PM_EMU_H2(__hsub, __hsub2, x - y)
PM_EMU_H2(__hmul, __hmul2, x *y)
PM_EMU_H2(__hadd_rn, __hadd2_rn, x + y)
PM_EMU_H2(__hsub_rn, __hsub2_rn, x - y)
PM_EMU_H2(__hmul_rn, __hmul2_rn, x *y)
PM_EMU_H2(__hadd_sat, __hadd2_sat, __saturatef(x + y))
PM_EMU_H2(__hsub_sat, __hsub2_sat, __saturatef(x - y))
PM_EMU_H2(__hmul_sat, __hmul2_sat, __saturatef(x *y))
PM_EMU_H2(__hdiv, __h2div, x / y)
PM_EMU_H2(__hmin, __hmin2, pm_emu_min(x, y))
PM_EMU_H2(__hmax, __hmax2, pm_emu_max(x, y))
PM_EMU_H2(__hmin_nan, __hmin2_nan, x != x || y != y ? CUDART_NAN_F : pm_emu_min(x, y))
PM_EMU_H2(__hmax_nan, __hmax2_nan, x != x || y != y ? CUDART_NAN_F : pm_emu_max(x, y))
PM_EMU_H1(hsqrt, h2sqrt, sqrtf(x))
PM_EMU_H1(hrsqrt, h2rsqrt, 1. / sqrt((double)x))
PM_EMU_H1(hrcp, h2rcp, 1. / (double)x)
PM_EMU_H1(hexp, h2exp, exp((double)x))
PM_EMU_H1(hexp2, h2exp2, exp2((double)x))
PM_EMU_H1(hexp10, h2exp10, exp10((double)x))
PM_EMU_H1(hlog, h2log, log((double)x))
PM_EMU_H1(hlog2, h2log2, log2((double)x))
PM_EMU_H1(hlog10, h2log10, log10((double)x))
PM_EMU_H1(hsin, h2sin, sin((double)x))
PM_EMU_H1(hcos, h2cos, cos((double)x))
PM_EMU_H1(htanh, h2tanh, tanh((double)x))
PM_EMU_H1(htanh_approx, h2tanh_approx, tanh((double)x))
PM_EMU_H1(hfloor, h2floor, floorf(x))
PM_EMU_H1(hceil, h2ceil, ceilf(x))
PM_EMU_H1(htrunc, h2trunc, truncf(x))
PM_EMU_H1(hrint, h2rint, rintf(x))

PM_EMU_INLINE PM_H __hneg(PM_H a)
{
	a.__x ^= 0x8000u;
	return a;
}
PM_EMU_INLINE PM_H __habs(PM_H a)
{
	a.__x &= 0x7fffu;
	return a;
}
PM_EMU_INLINE PM_H2 __hneg2(PM_H2 a)
{
	return PM_H2(__hneg(a.x), __hneg(a.y));
}
PM_EMU_INLINE PM_H2 __habs2(PM_H2 a)
{
	return PM_H2(__habs(a.x), __habs(a.y));
}
PM_EMU_INLINE PM_H __hfma(PM_H a, PM_H b, PM_H c)
{
	return PM_H(pm_emu_add_odd((double)PM_HTO(a.__x) * PM_HTO(b.__x), PM_HTO(c.__x)));
}
PM_EMU_INLINE PM_H __hfma_relu(PM_H a, PM_H b, PM_H c)
{
	PM_H r = __hfma(a, b, c);
	return PM_HTO(r.__x) < 0.f ? PM_H(0.f) : r;
}
PM_EMU_INLINE PM_H2 __hfma2(PM_H2 a, PM_H2 b, PM_H2 c)
{
	return PM_H2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}

#define PM_EMU_HALF_OP(op, f, f2)                                                                            \
	PM_EMU_INLINE PM_H operator op(const PM_H &a, const PM_H &b)                                         \
	{                                                                                                    \
		return f(a, b);                                                                              \
	}                                                                                                    \
	PM_EMU_INLINE PM_H2 operator op(const PM_H2 &a, const PM_H2 &b)                                      \
	{                                                                                                    \
		return f2(a, b);                                                                             \
	}                                                                                                    \
	PM_EMU_INLINE PM_H &operator op##=(PM_H &a, const PM_H &b)                                           \
	{                                                                                                    \
		a = f(a, b);                                                                                 \
		return a;                                                                                    \
	}                                                                                                    \
	PM_EMU_INLINE PM_H2 &operator op##=(PM_H2 &a, const PM_H2 &b)                                        \
	{                                                                                                    \
		a = f2(a, b);                                                                                \
		return a;                                                                                    \
	}
PM_EMU_HALF_OP(+, __hadd, __hadd2)
PM_EMU_HALF_OP(-, __hsub, __hsub2)
PM_EMU_HALF_OP(*, __hmul, __hmul2)
PM_EMU_HALF_OP(/, __hdiv, __h2div)
#undef PM_EMU_HALF_OP
PM_EMU_INLINE PM_H operator+(const PM_H &a)
{
	return a;
}
PM_EMU_INLINE PM_H operator-(const PM_H &a)
{
	return __hneg(a);
}
PM_EMU_INLINE PM_H2 operator+(const PM_H2 &a)
{
	return a;
}
PM_EMU_INLINE PM_H2 operator-(const PM_H2 &a)
{
	return __hneg2(a);
}
PM_EMU_INLINE PM_H &operator++(PM_H &a)
{
	a = __hadd(a, PM_H(1.f));
	return a;
}
PM_EMU_INLINE PM_H &operator--(PM_H &a)
{
	a = __hsub(a, PM_H(1.f));
	return a;
}

/* --- comparison: ordered, unordered ("u" at the end: true for NaN), and of both halves of a pair ----- */

#define PM_EMU_HALF_CMP(word, op)                                                                            \
	PM_EMU_INLINE bool __h##word(PM_H a, PM_H b)                                                         \
	{                                                                                                    \
		return PM_HTO(a.__x) op PM_HTO(b.__x);                                                       \
	}                                                                                                    \
	PM_EMU_INLINE bool __h##word##u(PM_H a, PM_H b)                                                      \
	{                                                                                                    \
		float x = PM_HTO(a.__x), y = PM_HTO(b.__x);                                                  \
		return x != x || y != y || x op y;                                                           \
	}                                                                                                    \
	PM_EMU_INLINE PM_H2 __h##word##2(PM_H2 a, PM_H2 b)                                                   \
	{                                                                                                    \
		return PM_H2(PM_H((float)__h##word(a.x, b.x)), PM_H((float)__h##word(a.y, b.y)));            \
	}                                                                                                    \
	PM_EMU_INLINE bool __hb##word##2(PM_H2 a, PM_H2 b)                                                   \
	{                                                                                                    \
		return __h##word(a.x, b.x) && __h##word(a.y, b.y);                                           \
	}                                                                                                    \
	PM_EMU_INLINE bool operator op(const PM_H &a, const PM_H &b)                                         \
	{                                                                                                    \
		return __h##word(a, b);                                                                      \
	}                                                                                                    \
	PM_EMU_INLINE bool operator op(const PM_H2 &a, const PM_H2 &b)                                       \
	{                                                                                                    \
		return __hb##word##2(a, b);                                                                  \
	}
PM_EMU_HALF_CMP(eq, ==)
PM_EMU_HALF_CMP(lt, <)
PM_EMU_HALF_CMP(le, <=)
PM_EMU_HALF_CMP(gt, >)
PM_EMU_HALF_CMP(ge, >=)
#undef PM_EMU_HALF_CMP
/* A NaN makes != true only in the operators and the "u" forms. */
PM_EMU_INLINE bool __hne(PM_H a, PM_H b)
{
	float x = PM_HTO(a.__x), y = PM_HTO(b.__x);
	return x < y || x > y;
}
PM_EMU_INLINE bool __hneu(PM_H a, PM_H b)
{
	return PM_HTO(a.__x) != PM_HTO(b.__x);
}
PM_EMU_INLINE bool operator!=(const PM_H &a, const PM_H &b)
{
	return __hneu(a, b);
}
PM_EMU_INLINE bool operator!=(const PM_H2 &a, const PM_H2 &b)
{
	return __hneu(a.x, b.x) && __hneu(a.y, b.y);
}
PM_EMU_INLINE bool __hisnan(PM_H a)
{
	float x = PM_HTO(a.__x);
	return x != x;
}
PM_EMU_INLINE int __hisinf(PM_H a)
{
	float x = PM_HTO(a.__x);
	return __builtin_isinf(x) ? (x < 0.f ? -1 : 1) : 0;
}

/* --- across threads ---------------------------------------------------------------------------------- */

PM_EMU_SHFL(PM_H)
PM_EMU_SHFL(PM_H2)

PM_EMU_INLINE PM_H atomicAdd(PM_H *p, PM_H v)
{
	PM_H old = *p;
	*p = __hadd(old, v);
	return old;
}
PM_EMU_INLINE PM_H2 atomicAdd(PM_H2 *p, PM_H2 v)
{
	PM_H2 old = *p;
	*p = __hadd2(old, v);
	return old;
}

#undef PM_EMU_H1
#undef PM_EMU_H2
#undef PM_CAT_
#undef PM_CAT
#undef PM_H
#undef PM_H2
#undef PM_HNAME
#undef PM_H2NAME
#undef PM_H2TAIL
#undef PM_H2LOW
#undef PM_HPAIR
#undef PM_HFROM
#undef PM_HTO
#endif
