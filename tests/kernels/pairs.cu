/* pairs.cu - half2 and bfloat162, and the names that differ between the two types. */
extern "C" __global__ void halves(const __half2 *x, const __half2 *y, __half2 *o, float *f)
{
	__half2 a = x[0], b = y[0];

	o[0] = __hadd2(a, b);
	o[1] = __hmul2(a, b);
	o[2] = __hfma2(a, b, a);
	o[3] = __hmax2(a, b);
	o[4] = a - b;
	o[5] = __float2half2_rn(1.5f);
	o[6] = __floats2half2_rn(1.f, 2.f);
	o[7] = __halves2half2(__high2half(a), __low2half(b));
	o[8] = __half2half2(a.x);
	o[9] = __float22half2_rn(make_float2(3.f, 4.f));
	o[10] = make_half2(__float2half(5.f), __int2half_rn(6));
	o[11] = __lowhigh2highlow(a);
	o[12] = h2exp(__float2half2_rn(0.f));
	o[13] = __low2half2(a);
	o[14] = __hneg2(a);
	float2 w = __half22float2(a);
	f[0] = w.x;
	f[1] = w.y;
	f[2] = __low2float(b) + __high2float(b);
	f[3] = __half2float(__ushort_as_half((unsigned short)0x3c00));
	f[4] = __half_as_ushort(__float2half_rn(-2.f));
	f[5] = __half2int_rn(__float2half(2.5f)) + 10 * __half2int_rz(__float2half(-2.5f));
	f[6] = a == b ? 1.f : __hbgt2(b, a) ? 2.f : 3.f;
	f[7] = sizeof(half2) + sizeof(half) * 10;
}

extern "C" __global__ void brains(const __nv_bfloat162 *x, const __nv_bfloat162 *y, __nv_bfloat162 *o, float *f)
{
	__nv_bfloat162 a = x[0], b = y[0];

	o[0] = __hadd2(a, b);
	o[1] = __hmul2(a, b);
	o[2] = __hfma2(a, b, a);
	o[3] = __hmax2(a, b);
	o[4] = a - b;
	o[5] = __float2bfloat162_rn(1.5f);
	o[6] = __floats2bfloat162_rn(1.f, 2.f);
	o[7] = __halves2bfloat162(__high2bfloat16(a), __low2bfloat16(b));
	o[8] = __bfloat162bfloat162(a.x);
	o[9] = __float22bfloat162_rn(make_float2(3.f, 4.f));
	o[10] = make_bfloat162(__float2bfloat16(5.f), __int2bfloat16_rn(6));
	o[11] = __lowhigh2highlow(a);
	o[12] = h2exp(__float2bfloat162_rn(0.f));
	o[13] = __low2bfloat162(a);
	o[14] = __hneg2(a);
	float2 w = __bfloat1622float2(a);
	f[0] = w.x;
	f[1] = w.y;
	f[2] = __low2float(b) + __high2float(b);
	f[3] = __bfloat162float(__ushort_as_bfloat16((unsigned short)0x3f80));
	f[4] = __bfloat16_as_ushort(__float2bfloat16_rn(-2.f));
	f[5] = __bfloat162int_rn(__float2bfloat16(2.5f)) + 10 * __bfloat162int_rz(__float2bfloat16(-2.5f));
	f[6] = a == b ? 1.f : __hbgt2(b, a) ? 2.f : 3.f;
	f[7] = sizeof(nv_bfloat162) + sizeof(nv_bfloat16) * 10;
}
/* SPDX-License-Identifier: Apache-2.0 */
