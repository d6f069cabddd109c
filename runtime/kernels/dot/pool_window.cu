/* pool_window.cu - what kernels of pools have before them. */

/* How many of n places from `first` on, `step` apart, lie below `end`. */
static __device__ __forceinline__ I below(I first, I step, I n, I end)
{
	const I m = end <= first ? 0 : (step == 1 ? end - first : (end - first + step - 1) / step);

	return m < n ? m : n;
}

/* SPDX-License-Identifier: Apache-2.0 */
