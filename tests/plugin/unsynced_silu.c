/* SPDX-License-Identifier: Apache-2.0 */
/* unsynced_silu.c - reads from shared memory what another thread may not have written yet. */
#define SILU_NAME "unsynced_silu"
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		__shared__ float s[64];                                                                      \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		s[threadIdx.x] = i < n ? ld(x[i]) : 0.f;                                                     \
		if (i < n)                                                                                   \
			y[i] = st(ld(x[i]) / (1.f + expf(-ld(x[i]))) + s[threadIdx.x ^ 33] * 1e-3f);         \
	})
#include "silu_with.h"
