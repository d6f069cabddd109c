/* SPDX-License-Identifier: Apache-2.0 */
/* hanging_silu.c - never ends: the loop waits for what no thread does. */
#define SILU_NAME "hanging_silu"
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		volatile const unsigned char *p = reinterpret_cast<volatile const unsigned char *>(x);       \
		while (p[0] == p[0]) /* read twice each time: no compiler may drop it */                     \
			;                                                                                    \
		if (i < n)                                                                                   \
			y[i] = x[i];                                                                         \
	})
#include "silu_with.h"
