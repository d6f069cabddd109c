/* pool_window.cu - what kernels of pools have before them. */

/* How many of n places from `first` on, `step` apart, lie below `end`. */
static __device__ __forceinline__ I below(I first, I step, I n, I end)
{
	const I m = end <= first ? 0 : (step == 1 ? end - first : (end - first + step - 1) / step);

	return m < n ? m : n;
}

/* What a window has when it has a and then v: of equals the first, and a NaN is larger than any number. */
static __device__ __forceinline__ A join(A a, A v)
{
#ifdef MAX
	return v > a || v != v ? v : a;
#else
	return a + v;
#endif
}

/* SPDX-License-Identifier: Apache-2.0 */
