/* prelude.cu - every word of passmith/kernel.cuh. */
extern "C" __global__ void round_trip(const T *x, T *y, float *wide, double *wider, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	y[i] = st(ld(x[i]) * 2);
	wide[i] = st(ld(x[i]) / 3);
	wider[i] = st<double>(ld(x[i]) / 3);
}

/* st(v) where the element type differs from T: the value is not rounded to T on the way. */
extern "C" __global__ void other_types(float *f, double *d, __half *h, int *i)
{
	f[0] = st(1.f / 3.f);
	f[1] = st<float>(1.f / 3.f);
	d[0] = st<double>(1.0 / 3.0);
	h[0] = st<__half>(1.f / 3.f);
	i[0] = st<int>(3.9f);
	i[1] = st<unsigned char>(200.f);
	i[2] = st<bool>(0.5f);
	i[3] = (int)st<long long>(1e9);
}

extern "C" __global__ void warp_words(const float *x, float *y)
{
	int i = threadIdx.x;

	y[3 * i] = pm_warp_sum(x[i]);
	y[3 * i + 1] = pm_warp_max(x[i]);
	y[3 * i + 2] = pm_warp_min((double)x[i]);
}

extern "C" __global__ void block_words(const float *x, float *y, int n)
{
	float sum = 0, most = -INFINITY, least = INFINITY;

	for (int i = pm_thread(); i < n; i += pm_threads()) {
		sum += x[i];
		most = pm_max(most, x[i]);
		least = pm_min(least, x[i]);
	}
	sum = pm_block_sum(sum);
	most = pm_block_max(most);
	least = pm_block_min(least);
	int count = pm_block_sum(1);
	float *o = y + 4 * pm_thread();
	o[0] = sum;
	o[1] = most;
	o[2] = least;
	o[3] = count;
}

extern "C" __global__ void vectors(const T *x, T *y, int n)
{
	int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;

	if (i + 4 <= n && pm_aligned(x, 4 * sizeof(T)) && pm_aligned(y, 4 * sizeof(T))) {
		pm_vec<T, 4> v = pm_load<4>(x + i);
		for (int k = 0; k < 4; k++)
			v[k] = st(ld(v[k]) + 1);
		pm_store<4>(y + i, v);
	} else {
		for (; i < n; i++)
			y[i] = st(ld(x[i]) + 1);
	}
}

/* The sized integer types are there on every device. */
extern "C" __global__ void sized(int8_t *a, uint8_t *b, int16_t *c, uint16_t *d, int32_t *e, uint32_t *f, int64_t *g,
				 uint64_t *h)
{
	*a = -1;
	*b = 255;
	*c = -2;
	*d = 65535;
	*e = -3;
	*f = 4294967295u;
	*g = -4;
	*h = sizeof(size_t);
}
/* SPDX-License-Identifier: Apache-2.0 */
