/* gather.cu - y[o, i, r] = x[o, idx[i], r]: rows picked along one axis; negative indices count from the end.
 *
 * A thread moves U vectors of V neighbouring elements of r; `len` is the extent of r over V, `picks` that of i.
 */

KERNEL
{
	const I t0 = (I)blockIdx.x * (B * U) + (I)threadIdx.x;
	pm_vec<X, V> v[U];

#pragma unroll
	for (int u = 0; u < U; u++) {
		const I t = t0 + u * B, s = Q_len(t), o = Q_picks(s);

		if (t < total) {
			long long j = (long long)idx[OFF_i_0(s - o * picks)];

			j = j < 0 ? j + axis_dim : j;
			v[u] = pm_get<V>(x + OFF_o_0(o) + (I)j * axis_stride + OFF_r_0((t - s * len) * V));
		}
	}
#pragma unroll
	for (int u = 0; u < U; u++)
		if (t0 + u * B < total)
			pm_put(y + (t0 + u * B) * V, v[u]);
}
/* SPDX-License-Identifier: Apache-2.0 */
