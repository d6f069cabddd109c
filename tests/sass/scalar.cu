/* scalar.cu - what CUDA C can ask of one thread: the machine code gate has to know every instruction that NVRTC
 * makes of it (tests/unit/test_sass). One kernel for each group; the results mean nothing. */

#define IN (p[threadIdx.x + blockIdx.x * blockDim.x])
#define K(name) extern "C" __global__ void name

template <class I> __device__ I integers(I a, I b, I c)
{
	I r = a + b * c - (a ^ b);

	r += b ? a / b : c;
	r += c ? a % c : b;
	r ^= a << (b & 7);
	r |= a >> (c & 7);
	r += a < b ? c : a;
	r = r > c ? r - c : r + c;
	r += (a & b & c) | (a & ~b) | (~a & c);
	r += a == b && b != c;
	r += -a;
	return r;
}

template <class I> __device__ void all_integers(const I *p, I *q)
{
	int i = threadIdx.x;

	q[i] = integers<I>(p[i], p[i + 1], p[i + 2]);
	q[i + 1] = integers<I>(p[i], (I)7, (I)13);
	q[i + 2] = (I)(p[i] / (I)10 + p[i] % (I)3 + p[i] * (I)5);
}

K(int8)(const signed char *p, signed char *q) { all_integers(p, q); }
K(uint8)(const unsigned char *p, unsigned char *q) { all_integers(p, q); }
K(int16)(const short *p, short *q) { all_integers(p, q); }
K(uint16)(const unsigned short *p, unsigned short *q) { all_integers(p, q); }
K(int32)(const int *p, int *q) { all_integers(p, q); }
K(uint32)(const unsigned *p, unsigned *q) { all_integers(p, q); }
K(int64)(const long long *p, long long *q) { all_integers(p, q); }
K(uint64)(const unsigned long long *p, unsigned long long *q) { all_integers(p, q); }
K(boolean)(const bool *p, bool *q) { q[0] = (p[0] && p[1]) || (p[2] ^ p[3]); }

K(bits)(const unsigned *p, unsigned *q, unsigned long long *w)
{
	unsigned a = IN, b = p[1], c = p[2];

	q[0] = __popc(a) + __clz((int)b) + __ffs((int)c) + __brev(a);
	q[1] = __byte_perm(a, b, c) + __funnelshift_l(a, b, c) + __funnelshift_r(a, b, c);
	q[2] = __funnelshift_lc(a, b, c) + __funnelshift_rc(a, b, c);
	q[3] = (unsigned)__dp4a((int)a, (int)b, (int)c) + __dp4a(a, b, c);
	q[4] = (unsigned)__dp2a_lo((int)a, (int)b, (int)c) + __dp2a_hi(a, b, c);
	q[5] = (unsigned)__mulhi((int)a, (int)b) + __umulhi(a, b) + (unsigned)__mul24((int)a, (int)b);
	q[6] = __sad((int)a, (int)b, c) + __usad(a, b, c) + (unsigned)__hadd((int)a, (int)b) +
	       __urhadd(a, b);
	q[7] = (unsigned)min((int)a, (int)b) + max(a, b) + (unsigned)abs((int)c);
	w[0] = __popcll(w[0]) + __clzll((long long)w[1]) + __ffsll((long long)w[2]) + __brevll(w[3]);
	w[1] = __umul64hi(w[1], w[2]) + (unsigned long long)__mul64hi((long long)w[3], (long long)w[4]);
	w[2] = min(w[5], w[6]) + (unsigned long long)max((long long)w[5], (long long)w[6]);
	w[3] = (w[7] << (a & 63)) ^ (w[7] >> (b & 63)) ^
	       (unsigned long long)((long long)w[8] >> (c & 63));
	w[4] = (unsigned long long)a * b + w[9];
	w[5] = (unsigned long long)((long long)(int)a * (int)b + (long long)w[10]);
}

K(bytes_at_once)(const unsigned *p, unsigned *q)
{
	unsigned a = p[0], b = p[1];

	q[0] = __vadd2(a, b) ^ __vadd4(a, b) ^ __vsub2(a, b) ^ __vsub4(a, b);
	q[1] = __vmaxs2(a, b) ^ __vmaxu4(a, b) ^ __vmins4(a, b) ^ __vminu2(a, b);
	q[2] = __vabs2(a) ^ __vabsdiffs4(a, b) ^ __vabsdiffu4(a, b) ^ __vavgs2(a, b) ^ __vavgu4(a, b);
	q[3] = __vcmpeq4(a, b) ^ __vcmpgts2(a, b) ^ __vseteq2(a, b) ^ __vsetltu4(a, b);
	q[4] = __vaddss2(a, b) ^ __vaddus4(a, b) ^ __vsubss4(a, b) ^ __vsadu4(a, b) ^ __vnegss2(a);
	q[5] = __viaddmax_s32((int)a, (int)b, 3) + __viaddmin_u32(a, b, 3) + __vimax3_s32((int)a, (int)b, 5);
	q[6] = __vimax3_s16x2(a, b, q[7]) ^ __vimin3_u16x2(a, b, q[7]) ^ __viaddmax_s16x2_relu(a, b, q[7]);
	q[7] = __vimax_s32_relu((int)a, (int)b) + __vibmax_u32(a, b, (bool *)(q + 9));
}

template <class F> __device__ F floats(F a, F b, F c)
{
	F r = a * b + c;

	r += a / b - c;
	r = a < b ? r : r * c;
	r += a >= c ? (F)1 : (F)0;
	r = r == r ? r : (F)0;
	r += b != c ? -a : a;
	return r;
}

K(float32)(const float *p, float *q, int n)
{
	float a = IN, b = p[n], c = p[n + 1];

	q[0] = floats(a, b, c) + fminf(a, b) + fmaxf(b, c) + fabsf(c) + copysignf(a, b) + fmaf(a, b, 1.5f);
	q[1] = __fadd_rz(a, b) + __fmul_ru(a, b) + __fmaf_rd(a, b, c) + __fdiv_rn(a, b) + __fsqrt_rn(c);
	q[2] = __fdividef(a, b) + __frcp_rn(a) + __frsqrt_rn(b) + __saturatef(c) + __fdiv_ru(a, c);
	q[3] = floorf(a) + ceilf(b) + truncf(c) + rintf(a) + roundf(b) + nearbyintf(c) + __fsqrt_rz(a);
	q[4] = fmodf(a, b) + remainderf(b, c) + fdimf(a, c) + ldexpf(a, n) + scalbnf(b, 3) + logbf(c);
	q[5] = isnan(a) + isinf(b) + signbit(c) + isfinite(a) + (float)ilogbf(b) + nextafterf(a, c);
	q[6] = n > 3 ? fmaxf(fmaxf(a, b), c) : fminf(fminf(a, b), c);
	q[7] = frexpf(a, (int *)q + 9) + modff(b, q + 10) + __int_as_float(n) + (float)__float_as_int(c);
}

K(float64)(const double *p, double *q, int n)
{
	double a = IN, b = p[n], c = p[n + 1];

	q[0] = floats(a, b, c) + fmin(a, b) + fmax(b, c) + fabs(c) + copysign(a, b) + fma(a, b, 1.5);
	q[1] = __dadd_rz(a, b) + __dmul_ru(a, b) + __fma_rd(a, b, c) + __ddiv_rn(a, b) + __dsqrt_rn(c);
	q[2] = floor(a) + ceil(b) + trunc(c) + rint(a) + round(b) + fmod(a, b) + remainder(b, c);
	q[3] = exp(a) + log(b) + sin(c) + cos(a) + pow(a, b) + tanh(c) + erf(a) + sqrt(b) + cbrt(c);
	q[4] = exp2(a) + log2(b) + log1p(c) + expm1(a) + atan2(a, b) + sinh(c) + rsqrt(a) + hypot(a, b);
	q[5] = tgamma(a) + lgamma(b) + erfc(c) + acos(a) + asin(b) + acosh(c) + asinh(a) + atanh(b);
	q[6] = isnan(a) + isinf(b) + ldexp(c, n) + __hiloint2double(n, n) + __longlong_as_double(n);
	q[7] = normcdf(a) + j0(b) + sinpi(c) + (double)__double2hiint(a) + erfinv(b) + erfcx(c);
}

K(functions)(const float *p, float *q)
{
	float a = IN, b = p[1], c = p[2];

	q[0] = expf(a) + logf(b) + sinf(c) + cosf(a) + tanf(b) + powf(a, b) + tanhf(c) + erff(a);
	q[1] = sqrtf(b) + cbrtf(c) + exp2f(a) + log2f(b) + log10f(c) + log1pf(a) + expm1f(b) + exp10f(c);
	q[2] = atan2f(a, b) + sinhf(c) + coshf(a) + asinf(b) + acosf(c) + atanf(a) + asinhf(b) + rsqrtf(c);
	q[3] = tgammaf(a) + lgammaf(b) + erfcf(c) + hypotf(a, b) + rhypotf(b, c) + norm3df(a, b, c);
	q[4] = acoshf(a) + atanhf(b) + normcdff(c) + sinpif(a) + cospif(b) + j0f(c) + y1f(a) + erfinvf(b);
	q[5] = __expf(a) + __logf(b) + __sinf(c) + __cosf(a) + __tanf(b) + __powf(a, b) + __exp10f(c);
	q[6] = __log2f(a) + __log10f(b) + cyl_bessel_i0f(c) + normcdfinvf(a) + erfcxf(b) + rcbrtf(c);
	sincosf(a, q + 7, q + 8);
	sincospif(b, q + 9, q + 10);
}

K(turns)(const float *p, int *i, unsigned *u, long long *l, unsigned long long *w, double *d, short *s,
	 signed char *b)
{
	float a = p[0];
	double e = d[1];

	i[0] = (int)a + __float2int_ru(a) + __float2int_rn(a) + __double2int_rn(e) + (int)e;
	u[0] = (unsigned)a + __float2uint_rn(a) + (unsigned)e;
	l[0] = (long long)a + __float2ll_rn(a) + (long long)e;
	w[0] = (unsigned long long)a + (unsigned long long)e;
	d[0] = (double)a + (double)i[1] + (double)u[1] + (double)l[1] + (double)w[1] + (double)s[1];
	d[2] = (double)(float)e + (float)l[2] + (float)w[2] + (float)i[2] + (float)u[2];
	s[0] = (short)a;
	s[2] = (short)e;
	b[0] = (signed char)a;
	b[1] = (signed char)i[3];
	d[3] = (float)s[3] + (float)b[3] + (float)(unsigned char)b[4] + (float)(unsigned short)s[4];
	d[4] = __ll2float_rz(l[3]) + __uint2float_ru(u[3]) + __int2float_rd(i[4]) + __double2float_rz(e);
	((unsigned short *)s)[5] = (unsigned short)a;
	((unsigned char *)b)[5] = (unsigned char)a;
	l[4] = (long long)s[6] + b[6] + (long long)i[5];
	i[6] = (int)(s[7] * 3) + (int)b[7];
}

/* Arrays in local memory, functions that are called, and a table of constants. */
__constant__ float table[64] = { 1, 2, 3 };
__constant__ double wide[8] = { 1.25, 2 };
__constant__ unsigned char narrow[32] = { 9, 8, 7 };

__device__ __noinline__ float called(const float *p, int n) { return n & 1 ? p[n] * 2 : p[n + 1] / 3; }
__device__ __noinline__ double called_too(double a, double b) { return a / b + sqrt(a); }
__device__ __noinline__ void of_a_local(float *a, int n) { a[n & 31] += 1; }

K(local)(const float *p, float *q, double *d, int n)
{
	float a[64];
	double w[16];
	unsigned char c[16];
	float4 v[4];

	for (int i = 0; i < 64; i++)
		a[i] = p[i * n];
	for (int i = 0; i < 16; i++) {
		w[(i * n) & 15] = a[i];
		c[(i + n) & 15] = (unsigned char)n;
	}
	v[n & 3] = make_float4(a[1], a[2], a[3], a[4]);
	v[(n + 1) & 3].y = 2;
	of_a_local(a, n);
	of_a_local(a + 3, n + 1);
	q[0] = a[n & 63] + called(p, n) + called(q, n) + called(a, n) + table[n & 63] + v[n & 3].x;
	q[1] = c[n & 15] + narrow[n & 31] + table[3];
	d[0] = w[n & 15] + called_too(d[1], d[2]) + wide[n & 7];
	for (int i = 0; i < n; i++)
		q[2] += table[i] * p[i] + (float)wide[i & 7];
	((short *)a)[n & 15] = 3;
	q[3] = ((short *)a)[n & 7] + ((signed char *)a)[n & 3];
}

K(choices)(const int *p, float *q, int n)
{
	switch (p[n]) {
	case 0: q[0] = 1; break;
	case 1: q[1] = sinf(q[3]); break;
	case 2: q[4] = q[2] / 7; break;
	case 3: q[5] = sqrtf(q[9]); break;
	case 4: q[6] += 3; break;
	case 5: q[8] = expf(q[1]); break;
	case 6: q[7] *= 2; __syncthreads(); break;
	case 7: q[11] = powf(q[1], q[2]); break;
	case 8: return;
	default: q[10] = 4;
	}
	for (int i = 0; i < n; i++) {
		if (p[i] == 77)
			break;
		if (p[i] == 5)
			continue;
		for (int k = 0; k < p[i]; k++) {
			if (q[k] > 1)
				goto out;
			q[k] += q[i];
		}
	}
out:
	q[12] = q[13];
}

/* Values of a block, of a launch and of the caller in one: uniform registers. */
K(uniform)(const float *p, float *q, int n, int m, float f, double d, long long l, unsigned long long u,
	   short s, signed char c, bool b)
{
	int i = blockIdx.x * n + blockIdx.y * m + blockIdx.z, j = gridDim.x * gridDim.y + gridDim.z;
	int k = blockDim.x * blockDim.y + blockDim.z + threadIdx.y * threadIdx.z;

	if (b)
		q[k] = (float)(n / m + i % (j + 1)) + f * f + (float)d + (float)l + (float)u + s + c;
	q[i & 1023] = p[(l + i) & 1023] + (float)(u >> (n & 31)) + (float)(l * j) + (float)max(n, m);
	q[1] = (float)__popc((unsigned)n) + (float)__clz(m) + (n < m && l > 3 ? f : (float)d);
	q[2] = (float)((n ^ m) & (i | j)) + (float)__ffs(n) + (float)__brev((unsigned)n) + (float)(l / j);
	for (int a = n; a < m; a += j)
		q[a] = p[a + i] * f + (float)abs(n) + fabsf(f);
	q[3] = f > 1 ? f / (float)n : sqrtf(f) + (float)(d * d) + (float)(d / n) + fminf(f, 2);
	((double *)q)[4] = d * p[n] + d + (double)n + fma(d, d, (double)p[m]);
}
/* SPDX-License-Identifier: Apache-2.0 */
