/* vector.cu - vector types: sizes, alignment, members, loads and stores with cache hints. */
#define SIZE(t) ((int)sizeof(t) * 100 + (int)alignof(t))

extern "C" __global__ void sizes(int *y)
{
	int i = 0;
	y[i++] = SIZE(char2);
	y[i++] = SIZE(char4);
	y[i++] = SIZE(uchar4);
	y[i++] = SIZE(short2);
	y[i++] = SIZE(short4);
	y[i++] = SIZE(ushort4);
	y[i++] = SIZE(int2);
	y[i++] = SIZE(int3);
	y[i++] = SIZE(int4);
	y[i++] = SIZE(uint2);
	y[i++] = SIZE(uint4);
	y[i++] = SIZE(longlong2);
	y[i++] = SIZE(ulonglong2);
	y[i++] = SIZE(float2);
	y[i++] = SIZE(float3);
	y[i++] = SIZE(float4);
	y[i++] = SIZE(double2);
	y[i++] = SIZE(__half2);
	y[i++] = SIZE(__nv_bfloat162);
	y[i++] = SIZE(dim3);
}

extern "C" __global__ void sum4(const float4 *__restrict__ x, float4 *__restrict__ y, float2 *z, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	float4 a = __ldg(&x[i]), b = __ldcs(x + i);
	y[i] = make_float4(a.x + b.y, a.y + b.z, a.z + b.w, a.w + b.x);
	__stcs(&z[i], make_float2(a.x, a.w));
}

extern "C" __global__ void integers(const int4 *x, uint2 *y, const unsigned char *c, uchar4 *d)
{
	int4 v = __ldcg(x);
	y[0] = make_uint2(v.x + v.y, v.z * v.w);
	uchar4 u = *reinterpret_cast<const uchar4 *>(c);
	d[0] = make_uchar4(u.w, u.z, u.y, u.x);
}

/* A kernel with a vectorised body and a scalar tail, as authors write it. */
extern "C" __global__ void scale(const float *x, float *y, float a, int n)
{
	int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;

	if (i + 3 < n) {
		float4 v = *reinterpret_cast<const float4 *>(x + i);
		v.x *= a;
		v.y *= a;
		v.z *= a;
		v.w *= a;
		*reinterpret_cast<float4 *>(y + i) = v;
	} else {
		for (; i < n; i++)
			y[i] = x[i] * a;
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
