/* softmax_col.cu - softmax (or its logarithm) along an outer dimension: neighbouring threads have neighbouring lines.
 *
 * A block has TX threads along the lines, V lines for each, and TY rows of threads that share the lines. Each line is
 * walked twice, the first time with ACC 1 of acc.cu.
 */

KERNEL
{
	__shared__ Acc rows[TY][TX * V];
	const int tx = threadIdx.x % TX, ty = threadIdx.x / TX;
	const I t = ((I)blockIdx.x * TX + tx) * V, end = t < N_o ? len : 0;
	A scale[V];
	Acc c[V];

	if (end) {
		x += OFF_o_0(t);
		y += OFF_o_1(t);
	}
#pragma unroll
	for (int j = 0; j < V; j++)
		acc_start(c[j]);
#pragma unroll 4
	for (I i = ty; i < end; i += TY) {
		const pm_vec<X, V> v = pm_get<V>(x + i * xs);

#pragma unroll
		for (int j = 0; j < V; j++)
			acc_step(c[j], (A)pm_ld(v.v[j]), 0);
	}
#if TY > 1
	for (int j = 0; j < V; j++)
		rows[ty][tx + j * TX] = c[j];
	__syncthreads();
	for (int j = 0; j < V; j++) {
		acc_start(c[j]);
		for (int r = 0; r < TY; r++)
			acc_join(c[j], rows[r][tx + j * TX]);
	}
#endif
#pragma unroll
	for (int j = 0; j < V; j++) {
		/* The definition: what is relative to an infinite top is not a number. */
		const A sum = c[j].sum + (c[j].top - c[j].top);
#ifdef LOG_SOFTMAX
		scale[j] = log(sum);
#else
		scale[j] = 1 / sum;
#endif
	}
#pragma unroll 4
	for (I i = ty; i < end; i += TY) {
		pm_vec<X, V> v = pm_get<V>(x + i * xs);

#pragma unroll
		for (int j = 0; j < V; j++)
#ifdef LOG_SOFTMAX
			pm_st(&v.v[j], (A)pm_ld(v.v[j]) - c[j].top - scale[j]);
#else
			pm_st(&v.v[j], exp((A)pm_ld(v.v[j]) - c[j].top) * scale[j]);
#endif
		pm_put(y + i * ys, v);
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
