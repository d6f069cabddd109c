/* SPDX-License-Identifier: Apache-2.0 */
/* oob_silu.c - writes one element past the end of its output. */
#define SILU_NAME "oob_silu"
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		if (i < n)                                                                                   \
			y[i + 1] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));                                   \
	})
#include "silu_with.h"
