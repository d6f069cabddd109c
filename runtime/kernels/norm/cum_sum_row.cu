/* cum_sum_row.cu - running sums of rows of neighbouring elements; a block for each row.
 *
 * The block takes B * V elements at a time, V neighbours for each thread: their sums are joined over the lanes of a
 * warp, over the warps of the block, and carried on to the next.
 */

KERNEL
{
	__shared__ A warps[B / 32];
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	A carry = 0;

	x += OFF_o_0((I)blockIdx.x);
	y += OFF_o_1((I)blockIdx.x);
	for (I i0 = 0; i0 < len; i0 += B * V) {
		const I i = i0 + (I)threadIdx.x * V;
		A v[V], sum = 0, before = 0, all = 0;

#pragma unroll
		for (int j = 0; j < V; j++) {
#ifdef REVERSE
			v[j] = i + j < len ? (A)pm_ld(x[(len - 1 - i - j) * xs]) : (A)0;
#else
			v[j] = i + j < len ? (A)pm_ld(x[(i + j) * xs]) : (A)0;
#endif
			sum = SUM(sum, v[j]);
		}
#pragma unroll
		for (int d = 1; d < 32; d <<= 1) {
			const A o = __shfl_up_sync(0xffffffffu, sum, d);

			sum = lane >= d ? SUM(sum, o) : sum;
		}
		if (lane == 31)
			warps[warp] = sum;
		__syncthreads();
		for (int w = 0; w < B / 32; w++) {
			before = w == warp ? all : before;
			all = SUM(all, warps[w]);
		}
		__syncthreads();
		/* What stands before this thread's first element. */
		sum = __shfl_up_sync(0xffffffffu, sum, 1);
		sum = lane ? SUM(SUM(carry, before), sum) : SUM(carry, before);
		carry = SUM(carry, all);
#pragma unroll
		for (int j = 0; j < V; j++) {
			const A next = SUM(sum, v[j]);
#ifdef REVERSE
			const I at = len - 1 - i - j;
#else
			const I at = i + j;
#endif

			if (i + j < len) {
#ifdef EXCLUSIVE
				pm_st(&y[at], sum);
#else
				pm_st(&y[at], next);
#endif
			}
			sum = next;
		}
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
