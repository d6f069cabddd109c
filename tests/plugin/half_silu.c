/* SPDX-License-Identifier: Apache-2.0 */
/* half_silu.c - leaves the second half of its output as it found it. */
#define SILU_NAME "half_silu"
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		if (i < (n + 1) / 2)                                                                         \
			y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));                                       \
	})
#include "silu_with.h"
