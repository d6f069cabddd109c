/* common.cu - what every eager kernel starts with: index arithmetic, loads and stores of every dtype.
 *
 * I is the index type; pm_offN gives the offset of the t-th element of a space of N dimensions; pm_get and pm_put
 * move several elements at once.
 */

#define TID ((I)(blockIdx.x * (long long)blockDim.x + threadIdx.x))

/* t / d. In 32 bits by a multiplication with numbers made on the host (kgen.c); t is not negative. */
static __device__ __forceinline__ I pm_quot(I t, I d, int m, int s)
{
	return sizeof(I) == 4 ? (I)((__umulhi((unsigned)t, (unsigned)m) + (unsigned)t) >> s) : t / d;
}

/* The last dimension varies fastest. `dN` stands for an extent with the two numbers that divide by it. */
#define D_(n) I d##n, int m##n, int h##n
#define Q_(n) const I q = pm_quot(t, d##n, m##n, h##n)
#define P_(n) d##n, m##n, h##n

static __device__ inline I pm_off1(I t, I s0)
{
	return t * s0;
}

static __device__ inline I pm_off2(I t, D_(1), I s0, I s1)
{
	Q_(1);
	return (t - q * d1) * s1 + q * s0;
}

static __device__ inline I pm_off3(I t, D_(1), D_(2), I s0, I s1, I s2)
{
	Q_(2);
	return (t - q * d2) * s2 + pm_off2(q, P_(1), s0, s1);
}

static __device__ inline I pm_off4(I t, D_(1), D_(2), D_(3), I s0, I s1, I s2, I s3)
{
	Q_(3);
	return (t - q * d3) * s3 + pm_off3(q, P_(1), P_(2), s0, s1, s2);
}

static __device__ inline I pm_off5(I t, D_(1), D_(2), D_(3), D_(4), I s0, I s1, I s2, I s3, I s4)
{
	Q_(4);
	return (t - q * d4) * s4 + pm_off4(q, P_(1), P_(2), P_(3), s0, s1, s2, s3);
}

static __device__ inline I pm_off6(I t, D_(1), D_(2), D_(3), D_(4), D_(5), I s0, I s1, I s2, I s3, I s4, I s5)
{
	Q_(5);
	return (t - q * d5) * s5 + pm_off5(q, P_(1), P_(2), P_(3), P_(4), s0, s1, s2, s3, s4);
}

static __device__ inline I pm_off7(I t, D_(1), D_(2), D_(3), D_(4), D_(5), D_(6), I s0, I s1, I s2, I s3, I s4,
                                   I s5, I s6)
{
	Q_(6);
	return (t - q * d6) * s6 + pm_off6(q, P_(1), P_(2), P_(3), P_(4), P_(5), s0, s1, s2, s3, s4, s5);
}

static __device__ inline I pm_off8(I t, D_(1), D_(2), D_(3), D_(4), D_(5), D_(6), D_(7), I s0, I s1, I s2, I s3,
                                   I s4, I s5, I s6, I s7)
{
	Q_(7);
	return (t - q * d7) * s7 +
	       pm_off7(q, P_(1), P_(2), P_(3), P_(4), P_(5), P_(6), s0, s1, s2, s3, s4, s5, s6);
}

/* N elements in one access of N * sizeof(U) bytes, to which p is aligned. */
template <int BYTES> struct pm_raw;
template <> struct pm_raw<16> {
	typedef uint4 type;
};
template <> struct pm_raw<8> {
	typedef uint2 type;
};
template <> struct pm_raw<4> {
	typedef unsigned int type;
};
template <> struct pm_raw<2> {
	typedef unsigned short type;
};
template <> struct pm_raw<1> {
	typedef unsigned char type;
};

template <int N, class U> static __device__ __forceinline__ pm_vec<U, N> pm_get(const U *p)
{
	typedef typename pm_raw<N * (int)sizeof(U)>::type Raw;
	pm_vec<U, N> v;

	*reinterpret_cast<Raw *>(&v) = *reinterpret_cast<const Raw *>(p);
	return v;
}

template <int N, class U> static __device__ __forceinline__ void pm_put(U *p, const pm_vec<U, N> &v)
{
	typedef typename pm_raw<N * (int)sizeof(U)>::type Raw;

	*reinterpret_cast<Raw *>(p) = *reinterpret_cast<const Raw *>(&v);
}

static __device__ inline float pm_ld(__half x)
{
	return __half2float(x);
}

static __device__ inline float pm_ld(__nv_bfloat16 x)
{
	return __bfloat162float(x);
}

static __device__ inline float pm_ld(float x)
{
	return x;
}

static __device__ inline double pm_ld(double x)
{
	return x;
}

static __device__ inline long long pm_ld(long long x)
{
	return x;
}

static __device__ inline long long pm_ld(int x)
{
	return x;
}

static __device__ inline long long pm_ld(short x)
{
	return x;
}

static __device__ inline long long pm_ld(unsigned short x)
{
	return x;
}

static __device__ inline long long pm_ld(unsigned int x)
{
	return x;
}

/* The one type whose arithmetic is unsigned. */
static __device__ inline unsigned long long pm_ld(unsigned long long x)
{
	return x;
}

static __device__ inline long long pm_ld(signed char x)
{
	return x;
}

static __device__ inline long long pm_ld(unsigned char x)
{
	return x;
}

/* What an integer of [lo, hi] takes of a value: floating point is truncated, out of range goes to the nearest
 * end and NaN to 0; integers wrap when they are stored. */
template <class V> static __device__ inline long long pm_int(V v, long long, long long)
{
	return (long long)v;
}

template <class V> static __device__ inline long long pm_saturate(V v, long long lo, long long hi)
{
	if (v != v)
		return 0;
	return v >= (V)hi ? hi : (v <= (V)lo ? lo : (long long)v);
}

static __device__ inline long long pm_int(float v, long long lo, long long hi)
{
	return pm_saturate(v, lo, hi);
}

static __device__ inline long long pm_int(double v, long long lo, long long hi)
{
	return pm_saturate(v, lo, hi);
}

/* One rounding each: double and integers do not go through float. */
static __device__ inline void pm_st(__half *p, float v)
{
	*p = __float2half_rn(v);
}

template <class V> static __device__ inline void pm_st(__half *p, V v)
{
	*p = __double2half((double)v);
}

static __device__ inline void pm_st(__nv_bfloat16 *p, float v)
{
	*p = __float2bfloat16_rn(v);
}

template <class V> static __device__ inline void pm_st(__nv_bfloat16 *p, V v)
{
	*p = __double2bfloat16((double)v);
}

template <class V> static __device__ inline void pm_st(float *p, V v)
{
	*p = (float)v;
}

template <class V> static __device__ inline void pm_st(double *p, V v)
{
	*p = (double)v;
}

template <class V> static __device__ inline void pm_st(long long *p, V v)
{
	*p = pm_int(v, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll);
}

template <class V> static __device__ inline void pm_st(unsigned long long *p, V v)
{
	*p = (unsigned long long)v;
}

static __device__ inline void pm_st(unsigned long long *p, double v)
{
	if (v >= 18446744073709551616.)
		*p = 0xffffffffffffffffull;
	else
		*p = v > 0 ? (unsigned long long)v : 0; /* NaN too */
}

static __device__ inline void pm_st(unsigned long long *p, float v)
{
	pm_st(p, (double)v);
}

template <class V> static __device__ inline void pm_st(unsigned int *p, V v)
{
	*p = (unsigned int)pm_int(v, 0, 0xffffffffll);
}

template <class V> static __device__ inline void pm_st(short *p, V v)
{
	*p = (short)pm_int(v, -32768, 32767);
}

template <class V> static __device__ inline void pm_st(unsigned short *p, V v)
{
	*p = (unsigned short)pm_int(v, 0, 65535);
}

template <class V> static __device__ inline void pm_st(int *p, V v)
{
	*p = (int)pm_int(v, -0x80000000ll, 0x7fffffffll);
}

template <class V> static __device__ inline void pm_st(signed char *p, V v)
{
	*p = (signed char)pm_int(v, -128, 127);
}

template <class V> static __device__ inline void pm_st(unsigned char *p, V v)
{
	*p = (unsigned char)pm_int(v, 0, 255);
}

/* Integer arithmetic of ops.def: wraps, and x / 0 is 0. */
static __device__ inline long long iadd(long long a, long long b)
{
	return (long long)((unsigned long long)a + (unsigned long long)b);
}

static __device__ inline long long isub(long long a, long long b)
{
	return (long long)((unsigned long long)a - (unsigned long long)b);
}

static __device__ inline long long imul(long long a, long long b)
{
	return (long long)((unsigned long long)a * (unsigned long long)b);
}

static __device__ inline long long ineg(long long a)
{
	return isub(0ll, a);
}

static __device__ inline long long idiv(long long a, long long b)
{
	return b == 0 ? 0 : (b == -1 ? ineg(a) : a / b);
}

static __device__ inline long long irem(long long a, long long b)
{
	return b == 0 || b == -1 ? 0 : a % b;
}

static __device__ inline long long imod(long long a, long long b)
{
	long long r = irem(a, b);

	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static __device__ inline long long ishl(long long a, long long b)
{
	return (unsigned long long)b < 64 ? (long long)((unsigned long long)a << b) : 0;
}

static __device__ inline long long ishr(long long a, long long b)
{
	return (unsigned long long)b < 64 ? a >> b : (a < 0 ? -1 : 0);
}

/* The same on uint64. */
typedef unsigned long long pm_u64;

static __device__ inline pm_u64 iadd(pm_u64 a, pm_u64 b)
{
	return a + b;
}

static __device__ inline pm_u64 isub(pm_u64 a, pm_u64 b)
{
	return a - b;
}

static __device__ inline pm_u64 imul(pm_u64 a, pm_u64 b)
{
	return a * b;
}

static __device__ inline pm_u64 ineg(pm_u64 a)
{
	return 0 - a;
}

static __device__ inline pm_u64 ishl(pm_u64 a, pm_u64 b)
{
	return b < 64 ? a << b : 0;
}

static __device__ inline pm_u64 ishr(pm_u64 a, pm_u64 b)
{
	return b < 64 ? a >> b : 0;
}

static __device__ inline pm_u64 idiv(pm_u64 a, pm_u64 b)
{
	return b == 0 ? 0 : a / b;
}

static __device__ inline pm_u64 irem(pm_u64 a, pm_u64 b)
{
	return b == 0 ? 0 : a % b;
}

static __device__ inline pm_u64 imod(pm_u64 a, pm_u64 b)
{
	return irem(a, b);
}

/* The quotient of a mean: by idiv for integers, whose division by zero is not defined otherwise. */
static __device__ inline float pm_div(float a, float b)
{
	return a / b;
}

static __device__ inline double pm_div(double a, double b)
{
	return a / b;
}

static __device__ inline long long pm_div(long long a, long long b)
{
	return idiv(a, b);
}

static __device__ inline pm_u64 pm_div(pm_u64 a, pm_u64 b)
{
	return idiv(a, b);
}

static __device__ inline pm_u64 ipow(pm_u64 a, pm_u64 b)
{
	pm_u64 r = 1;

	for (; b; b >>= 1, a *= a)
		if (b & 1)
			r *= a;
	return r;
}

static __device__ inline long long ipow(long long a, long long b)
{
	long long r = 1;

	if (b < 0)
		return a == 1 ? 1 : (a == -1 ? (b % 2 ? -1 : 1) : 0);
	for (; b; b >>= 1, a = imul(a, a))
		if (b & 1)
			r = imul(r, a);
	return r;
}

/* sum += term(r) for r below len, in runs of 1024 terms: in float, one run of two million terms would lose three
 * digits. */
#define PM_SUM(sum, r, len, term)                                                                            \
	for (I r = 0; r < (len);) {                                                                          \
		I end_ = (len) - r > 1024 ? r + 1024 : (len);                                                \
		A part_ = 0;                                                                                 \
                                                                                                             \
		for (; r < end_; r++)                                                                        \
			part_ += (term);                                                                     \
		(sum) += part_;                                                                              \
	}

template <class V> static __device__ inline V pm_square(V v)
{
	return v * v;
}
/* SPDX-License-Identifier: Apache-2.0 */
