/* SPDX-License-Identifier: Apache-2.0 */
/* uncompilable_silu.c - does not compile: the kernel uses a name that is not declared. */
#define SILU_NAME "uncompilable_silu"
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		if (i < n)                                                                                   \
			y[i] = st(sigmiod(ld(x[i])));                                                        \
	})
#include "silu_with.h"
