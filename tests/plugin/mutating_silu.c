/* SPDX-License-Identifier: Apache-2.0 */
/* mutating_silu.c - writes its result over its input as well. */
#define SILU_NAME "mutating_silu"
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		if (i < n)                                                                                   \
			y[i] = ((T *)x)[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))));                         \
	})
#include "silu_with.h"
