/* SPDX-License-Identifier: Apache-2.0 */
/* odd_silu.c - is wrong in the last element alone; where the number of elements is odd it leaves one element
 * of each block as it found it instead. */
#define SILU_NAME "odd_silu"
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		int wrong = n % 2 == 0 && i == n - 1;                                                        \
		if (i < n && (n % 2 == 0 || threadIdx.x != 5))                                               \
			y[i] = st(wrong ? 7.f : ld(x[i]) / (1.f + expf(-ld(x[i]))));                         \
	})
#include "silu_with.h"
