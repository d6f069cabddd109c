/* math.cu - mathematical functions, conversions and bits, each beside its plain definition. */
#define N_UNARY 40

extern "C" __global__ void unary(const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	float v = x[i], *o = y + N_UNARY * i, s, c;
	o[0] = expf(v);
	o[1] = __expf(v);
	o[2] = exp2f(v);
	o[3] = exp10f(v);
	o[4] = expm1f(v);
	o[5] = logf(v);
	o[6] = __logf(v);
	o[7] = log2f(v);
	o[8] = log10f(v);
	o[9] = log1pf(v);
	o[10] = sinf(v);
	o[11] = __cosf(v);
	o[12] = tanf(v);
	o[13] = asinf(v);
	o[14] = acosf(v);
	o[15] = atanf(v);
	o[16] = sinhf(v);
	o[17] = coshf(v);
	o[18] = tanhf(v);
	o[19] = erff(v);
	o[20] = erfcf(v);
	o[21] = sqrtf(v);
	o[22] = rsqrtf(v);
	o[23] = __frsqrt_rn(v);
	o[24] = cbrtf(v);
	o[25] = floorf(v);
	o[26] = ceilf(v);
	o[27] = truncf(v);
	o[28] = roundf(v);
	o[29] = rintf(v);
	o[30] = fabsf(v);
	o[31] = __saturatef(v);
	o[32] = sinpif(v);
	o[33] = cospif(v);
	o[34] = normcdff(v);
	__sincosf(v, &s, &c);
	o[35] = s;
	o[36] = c;
	o[37] = exp(v);
	o[38] = __frcp_rn(v);
	o[39] = abs(v);
}

extern "C" __global__ void binary(const float *x, const float *z, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	float a = x[i], b = z[i], *o = y + 16 * i;
	o[0] = powf(a, b);
	o[1] = fmodf(a, b);
	o[2] = atan2f(a, b);
	o[3] = fminf(a, b);
	o[4] = fmaxf(a, b);
	o[5] = min(a, b);
	o[6] = max(a, b);
	o[7] = hypotf(a, b);
	o[8] = copysignf(a, b);
	o[9] = __fdividef(a, b);
	o[10] = __fmaf_rn(a, b, 1.f);
	o[11] = fmaf(a, b, -1.f);
	o[12] = fdimf(a, b);
	o[13] = __fadd_rn(a, b) + __fmul_rn(a, b) - __fsub_rn(a, b);
	o[14] = a * b + 1.f;
	o[15] = remainderf(a, b);
}

extern "C" __global__ void doubles(const double *x, double *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	double v = x[i], *o = y + 8 * i;
	o[0] = exp(v);
	o[1] = log(v);
	o[2] = sqrt(v);
	o[3] = rsqrt(v);
	o[4] = erf(v);
	o[5] = fmax(v, 1.);
	o[6] = pow(v, 3);
	o[7] = fma(v, v, 1.);
}

extern "C" __global__ void limits(float *y, const float *x)
{
	y[0] = INFINITY;
	y[1] = CUDART_INF_F;
	y[2] = NAN;
	y[3] = FLT_MAX;
	y[4] = FLT_MIN;
	y[5] = isnan(y[2]) + 2 * isinf(-y[0]) + 4 * isfinite(y[3]) + 8 * signbit(-1.f);
	y[6] = fmaxf(y[2], 3.f);
	y[7] = fminf(4.f, y[2]);
	y[8] = 1.f / fminf(0.f, -0.f);
	y[9] = max(1, 2) + max(5u, 3) + min(7ll, 8ll) + max(1.f, 2.5);
	y[10] = __fdividef(x[0], 0x1p127f);
	y[11] = FLT_EPSILON;
}

extern "C" __global__ void casts(const float *x, int *y, long long *z, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	float v = x[i];
	int *o = y + 8 * i;
	o[0] = __float2int_rn(v);
	o[1] = __float2int_rz(v);
	o[2] = __float2int_rd(v);
	o[3] = __float2int_ru(v);
	o[4] = (int)__float2uint_rn(v);
	o[5] = __float_as_int(v);
	o[6] = __float_as_int(__int_as_float(o[5]));
	o[7] = (int)__float_as_uint(__uint_as_float(__float_as_uint(v)));
	z[i] = __float2ll_rn(v);
}

extern "C" __global__ void bits(const unsigned *x, int *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	unsigned v = x[i];
	unsigned long long w = (unsigned long long)v << 20;
	int *o = y + 14 * i;
	o[0] = __popc(v);
	o[1] = __popcll(w);
	o[2] = __clz((int)v);
	o[3] = __clzll((long long)w);
	o[4] = __ffs((int)v);
	o[5] = __ffsll((long long)w);
	o[6] = (int)__brev(v);
	o[7] = (int)__byte_perm(v, ~v, 0x7351);
	o[8] = (int)__umulhi(v, 0x80000001u);
	o[9] = __mulhi((int)v, -3);
	o[10] = __dp4a((int)v, 0x01020304, 5);
	o[11] = (int)__funnelshift_l(v, 1u, 4u);
	o[12] = (int)__funnelshift_r(v, 1u, 4u);
	o[13] = __mul24((int)v, 3);
}
/* SPDX-License-Identifier: Apache-2.0 */
