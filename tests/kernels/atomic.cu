/* atomic.cu - atomic operations from many threads, on global and shared memory. */
extern "C" __global__ void integers(int *a, unsigned *u, unsigned long long *l, long long *s)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	atomicAdd(&a[0], i);
	atomicSub(&a[1], 2);
	atomicMin(&a[2], -i);
	atomicMax(&a[3], i);
	atomicAnd(&a[4], ~(1 << (i % 8)));
	atomicOr(&a[5], 1 << (i % 31));
	atomicXor(&a[6], i);
	atomicAdd(&u[0], 3u);
	atomicMin(&u[1], 1000u - i);
	atomicMax(&u[2], 4000000000u + i);
	atomicInc(&u[3], 9u);
	atomicDec(&u[4], 9u);
	atomicAdd(&l[0], 1ull << 33);
	atomicMax(&l[1], (1ull << 40) + i);
	atomicMin(&s[0], -(1ll << 40) - i);
	if (i == 77) {
		a[7] = atomicExch(&a[8], 5);
		a[9] = atomicCAS(&a[10], 11, 12);
		a[11] = atomicCAS(&a[12], 99, 13);
	}
}

extern "C" __global__ void floats(float *f, double *d, T *t)
{
	__shared__ float s;

	if (threadIdx.x == 0)
		s = 0.f;
	__syncthreads();
	atomicAdd(&s, 1.f);
	atomicAdd_block(&f[0], .5f);
	atomicAdd(&d[0], .125);
	atomicAdd(t, (T)1.f);
	__syncthreads();
	if (threadIdx.x == 0)
		f[1 + blockIdx.x] = s;
}

/* The largest float by compare-and-swap. */
extern "C" __global__ void cas_max(const float *x, float *y, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	int old = __float_as_int(*y), seen;
	do {
		seen = old;
		if (__int_as_float(seen) >= x[i])
			break;
		old = atomicCAS((int *)y, seen, __float_as_int(x[i]));
	} while (old != seen);
}

extern "C" __global__ void histogram(const unsigned char *x, int *bins, int n)
{
	__shared__ int local[16];

	if (threadIdx.x < 16)
		local[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&local[x[i] & 15], 1);
	__syncthreads();
	if (threadIdx.x < 16)
		atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
/* SPDX-License-Identifier: Apache-2.0 */
