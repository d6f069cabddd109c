/* SPDX-License-Identifier: Apache-2.0 */
/* wrong_silu.c - computes x / (1 + exp(x)): the sign is lost, so only x = 0 comes out right. */
#define SILU_NAME "wrong_silu"
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		if (i < n)                                                                                   \
			y[i] = st(ld(x[i]) / (1.f + expf(ld(x[i]))));                                        \
	})
#include "silu_with.h"
