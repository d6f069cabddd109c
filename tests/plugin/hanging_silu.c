/* hanging_silu.c - never ends: the loop waits for what no thread does. */
#define SILU_NAME "hanging_silu"
#define SILU_SOURCE                                                                                          \
	PM_CUDA(extern "C" __global__ void k(const T *x, T *y, long long n) {                                \
		long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;                              \
		volatile int wait = 1;                                                                       \
		while (wait)                                                                                 \
			;                                                                                    \
		if (i < n)                                                                                   \
			y[i] = x[i];                                                                         \
	})
#include "silu_with.h"
