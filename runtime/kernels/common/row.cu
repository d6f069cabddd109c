/* row.cu - what kernels that keep a row in registers share: G threads for each row, ITEMS vectors of V elements each.
 *
 * Rows beyond the last are worked on, empty, by their threads: the sums are for all threads of a warp or block.
 */

#define ROW_LANE ((int)(threadIdx.x % G))
#define ROW      ((I)blockIdx.x * (B / G) + (I)(threadIdx.x / G))

static __device__ __forceinline__ A row_sum(A v)
{
#if G > 32
	return pm_block_sum(v);
#else
#pragma unroll
	for (int d = G / 2; d > 0; d >>= 1)
		v += __shfl_xor_sync(0xffffffffu, v, d);
	return v;
#endif
}

/* NaNs are passed over. */
static __device__ __forceinline__ A row_max(A v)
{
#pragma unroll
	for (int d = (G < 32 ? G : 32) / 2; d > 0; d >>= 1)
		v = fmax(v, __shfl_xor_sync(0xffffffffu, v, d));
#if G > 32
	v = pm_block_max(v);
#endif
	return v;
}
/* SPDX-License-Identifier: Apache-2.0 */
