/* SPDX-License-Identifier: Apache-2.0 */
/* divergent_silu.c - waits at a barrier that half of the threads never reach. */
#define SILU_NAME "divergent_silu"
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		if (threadIdx.x < 32)                                                                        \
			__syncthreads();                                                                     \
		if (i < n)                                                                                   \
			y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));                                       \
	})
#include "silu_with.h"
