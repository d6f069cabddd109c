/* reduce.cu - reductions of rows: G neighbouring threads (or, beyond 32, a whole block) for each result.
 *
 * V neighbouring elements of the innermost reduced dimension are read at once, each summed for itself at first, which
 * also keeps sums short. With SPLIT, block (.., y) reduces part y of the row and leaves it in `part`.
 */

KERNEL
{
#if G > 32
	__shared__ Acc warps[G / 32];
#endif
	const int lane = threadIdx.x % G;
	const I t = (I)blockIdx.x * (B / G) + (I)(threadIdx.x / G);
	I i = lane * V, end = t < N_o ? N_r : 0;
	Acc c[V];

#ifdef SPLIT
	i += (I)blockIdx.y * chunk;
	end = end < ((I)blockIdx.y + 1) * chunk ? end : ((I)blockIdx.y + 1) * chunk;
#endif
	if (end)
		x += OFF_o_0(t);
#pragma unroll
	for (int j = 0; j < V; j++)
		acc_start(c[j]);
#pragma unroll 4
	for (; i < end; i += G * V) {
		const pm_vec<X, V> v = pm_get<V>(x + OFF_r_0(i));

#pragma unroll
		for (int j = 0; j < V; j++)
			acc_step(c[j], (A)pm_ld(v.v[j]), i + j);
	}
#pragma unroll
	for (int j = 1; j < V; j++)
		acc_join(c[0], c[j]);
	acc_join_lanes(c[0], G < 32 ? G : 32);
#if G > 32
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = c[0];
	__syncthreads();
	if (threadIdx.x >= 32)
		return;
	acc_start(c[0]);
	if (threadIdx.x < G / 32)
		c[0] = warps[threadIdx.x];
	acc_join_lanes(c[0], 32);
#endif
	if (t < N_o && lane == 0) {
#ifdef SPLIT
		part[t * (I)gridDim.y + (I)blockIdx.y] = c[0];
#else
		pm_st(&y[t], ACC_END(c[0]));
#endif
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
