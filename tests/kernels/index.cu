/* index.cu - where a thread is; kinds of parameters; language words. */
extern "C" __global__ void where(int *out)
{
	int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
	int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
	int i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
	dim3 d = blockDim;
	int *o = out + 8 * i;

	o[0] = threadIdx.x;
	o[1] = threadIdx.y;
	o[2] = threadIdx.z;
	o[3] = blockIdx.x;
	o[4] = blockIdx.y;
	o[5] = blockIdx.z;
	o[6] = d.x * 100 + d.y * 10 + d.z;
	o[7] = gridDim.x * 100 + gridDim.y * 10 + gridDim.z + warpSize;
}

extern "C" __global__ void kinds(const double *p, long long a, size_t b, int c, unsigned d, const float e,
				 double f, double *__restrict__ out)
{
	out[0] = a;
	out[1] = b;
	out[2] = c;
	out[3] = d;
	out[4] = e;
	out[5] = f;
	out[6] = p[1];
}

extern "C" __global__ void no_parameters()
{
}
/* SPDX-License-Identifier: Apache-2.0 */
