/* half.cu - the 16-bit types through T: T is float16 or bfloat16. */
extern "C" __global__ void widen(const T *x, float *y, double *z, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		y[i] = (float)x[i];
		z[i] = ld(x[i]);
	}
}

extern "C" __global__ void narrow(const float *x, T *y, T *z, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		y[i] = st(x[i]);
		z[i] = T(x[i]);
	}
}

extern "C" __global__ void narrow_double(const double *x, T *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = st(x[i]);
}

/* 16 results per pair of elements. */
extern "C" __global__ void arithmetic(const T *a, const T *b, const T *c, T *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	T *o = y + 16 * i, x = a[i], v = b[i], w = c[i];
	o[0] = x + v;
	o[1] = x - v;
	o[2] = x * v;
	o[3] = x / v;
	o[4] = __hfma(x, v, w);
	o[5] = __hmin(x, v);
	o[6] = __hmax(x, v);
	o[7] = -x;
	o[8] = __habs(x);
	o[9] = hsqrt(__habs(x));
	o[10] = x;
	o[10] += v;
	o[11] = x;
	o[11] *= v;
	o[12] = hexp(x);
	o[13] = hrint(x);
	o[14] = __hmax(x, T(0.f));
	o[15] = T(1.f) / (T(1.f) + hexp(-x));
}

extern "C" __global__ void comparisons(const T *a, const T *b, int *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	T x = a[i], v = b[i];
	y[i] = (x == v) | (x != v) << 1 | (x < v) << 2 | (x <= v) << 3 | (x > v) << 4 | (x >= v) << 5 |
	       __heq(x, v) << 6 | __hne(x, v) << 7 | __hlt(x, v) << 8 | __hgtu(x, v) << 9 | __hisnan(x) << 10 |
	       (__hisinf(v) != 0) << 11 | (x ? 1 : 0) << 12;
}

extern "C" __global__ void integers(const T *x, int *y, long long *z, T *back, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	y[4 * i] = (int)x[i];
	y[4 * i + 1] = (unsigned char)x[i];
	y[4 * i + 2] = (short)x[i];
	y[4 * i + 3] = (int)(unsigned int)x[i];
	z[i] = (long long)x[i];
	back[2 * i] = T(i * 77 - 5000);
	back[2 * i + 1] = T((long long)i * i * 1000003);
}
/* SPDX-License-Identifier: Apache-2.0 */
