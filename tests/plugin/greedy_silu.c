/* SPDX-License-Identifier: Apache-2.0 */
/* greedy_silu.c - asks for all the shared memory a block may have, and for some more in its source. */
#define SILU_NAME "greedy_silu"
#define SILU_SMEM 232448
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		__shared__ float more[512];                                                                  \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		more[threadIdx.x] = i < n ? ld(x[i]) : 0;                                                    \
		__syncthreads();                                                                             \
		if (i < n)                                                                                   \
			y[i] = st(more[threadIdx.x] / (1 + expf(-more[threadIdx.x])));                       \
	})
#include "silu_with.h"
