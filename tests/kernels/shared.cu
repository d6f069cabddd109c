/* shared.cu - static and dynamic shared memory. */
extern "C" __global__ void reverse_static(const int *x, int *y)
{
	__shared__ int s[128];
	int i = threadIdx.x;

	s[i] = x[blockIdx.x * 128 + i];
	__syncthreads();
	y[blockIdx.x * 128 + i] = s[127 - i];
}

extern __shared__ float outer[];

extern "C" __global__ void reverse_dynamic(const float *x, float *y, int n)
{
	extern __shared__ float s[];

	s[threadIdx.x] = x[threadIdx.x];
	__syncthreads();
	y[threadIdx.x] = s[n - 1 - threadIdx.x] + (outer == s ? 1000.f : 0.f);
}

/* One array cut into parts of several types, rows of a matrix, alignment and comments in the declaration. */
extern "C" __global__ void carve(double *y)
{
	extern __shared__ __align__(16) unsigned char /* bytes */ raw[];
	double *a = reinterpret_cast<double *>(raw);
	int *b = (int *)(a + 32);

	a[threadIdx.x] = threadIdx.x * .25;
	b[threadIdx.x] = threadIdx.x * 3;
	__syncthreads();
	y[threadIdx.x] = a[31 - threadIdx.x] + b[31 - threadIdx.x];
}

extern "C" __global__ void rows(float *y)
{
	extern __shared__ float4 tile[][8];

	tile[threadIdx.x / 8][threadIdx.x % 8] = make_float4(threadIdx.x, 1, 2, 3);
	__syncthreads();
	float4 v = tile[threadIdx.x % 4][threadIdx.x / 4];
	y[threadIdx.x] = v.x + v.w;
}

/* What a block finds in shared memory before it has written: never zeros, never the last block's values. */
extern "C" __global__ void fresh(unsigned *y)
{
	__shared__ unsigned s[4];
	extern __shared__ unsigned d[];

	y[blockIdx.x * 2] = s[1];
	y[blockIdx.x * 2 + 1] = d[1];
	s[1] = d[1] = 1;
}

__shared__ int file_scope[32];

extern "C" __global__ void at_file_scope(int *y)
{
	file_scope[threadIdx.x] = threadIdx.x;
	__syncthreads();
	y[threadIdx.x] = file_scope[threadIdx.x ^ 5];
}

/* Elements of class types need no constructor. */
extern "C" __global__ void of_halves(float *y)
{
	__shared__ __half s[32];
	__shared__ __nv_bfloat162 t[32];

	s[threadIdx.x] = __float2half(threadIdx.x * .5f);
	t[threadIdx.x] = __floats2bfloat162_rn(threadIdx.x, 1.f);
	__syncthreads();
	y[threadIdx.x] = __half2float(s[31 - threadIdx.x]) + __low2float(t[threadIdx.x ^ 1]);
}

/* A tiled transpose: two barriers per tile, padding against bank conflicts. */
extern "C" __global__ void transpose(const float *x, float *y, int rows, int cols)
{
	__shared__ float tile[16][17];
	int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;

	if (r < rows && c < cols)
		tile[threadIdx.y][threadIdx.x] = x[r * cols + c];
	__syncthreads();
	c = blockIdx.y * 16 + threadIdx.x;
	r = blockIdx.x * 16 + threadIdx.y;
	if (r < cols && c < rows)
		y[r * rows + c] = tile[threadIdx.x][threadIdx.y];
}

/* Lacks a barrier: right only if the neighbour above (below) has already run. */
extern "C" __global__ void race(int *y, int towards)
{
	__shared__ int s[64];
	int i = threadIdx.x, k = (i + towards + 64) % 64;

	s[i] = i;
	y[i] = s[k] == k;
}
/* SPDX-License-Identifier: Apache-2.0 */
