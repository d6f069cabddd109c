/* reduce_col.cu - reductions over outer dimensions: neighbouring threads make neighbouring results.
 *
 * A block has TX threads along the results, V for each, and TY rows of threads that share what is reduced. SPLIT as in
 * reduce.cu.
 */

KERNEL
{
	const int tx = threadIdx.x % TX, ty = threadIdx.x / TX;
	const I t = ((I)blockIdx.x * TX + tx) * V;
	I i = ty, end = t < N_o ? N_r : 0;
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
	for (; i < end; i += TY) {
		const pm_vec<X, V> v = pm_get<V>(x + OFF_r_0(i));

#pragma unroll
		for (int j = 0; j < V; j++)
			acc_step(c[j], (A)pm_ld(v.v[j]), i);
	}
#if TY > 1
	__shared__ Acc rows[TY][TX * V];

	for (int j = 0; j < V; j++)
		rows[ty][tx + j * TX] = c[j];
	__syncthreads();
	if (ty)
		return;
	for (int r = 1; r < TY; r++)
		for (int j = 0; j < V; j++)
			acc_join(c[j], rows[r][tx + j * TX]);
#endif
	if (t >= N_o)
		return;
#pragma unroll
	for (int j = 0; j < V; j++) {
#ifdef SPLIT
		part[(t + j) * (I)gridDim.y + (I)blockIdx.y] = c[j];
#else
		pm_st(&y[t + j], ACC_END(c[j]));
#endif
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
