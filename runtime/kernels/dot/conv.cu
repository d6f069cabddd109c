/* conv.cu - direct convolution over up to three spatial dimensions, with groups, padding and dilation.
 *
 * A thread makes M results, of neighbouring filters of one group at one place, so that each element of x is read
 * once for all of them. y_1 .. y_4 = output extents (m / M, d, h, w); lists: xd = input extents (d, h, w); xs = input
 * strides (n, c, d, h, w); ws = weight strides (m, c, d, h, w); kd = kernel extents; st, pad, dil by dimension.
 */

KERNEL
{
	I t = TID, r, q, ow, oh, od, m, c0, l0, l1;
	A sum[M];

	if (t >= total)
		return;
	q = Q_y_4(t), ow = t - q * y_4;
	r = Q_y_3(q), oh = q - r * y_3;
	q = Q_y_2(r), od = r - q * y_2;
	r = Q_y_1(q), m = (q - r * y_1) * M;
	c0 = m / per_group * channels;
	x += r * xs_0 + c0 * xs_1;
	w += m * ws_0;
	/* The columns of the kernel that lie inside the input. */
	ow = ow * st_2 - pad_2;
	l0 = ow < 0 ? (-ow + dil_2 - 1) / dil_2 : 0;
	l1 = ow >= xd_2 ? 0 : (xd_2 - ow + dil_2 - 1) / dil_2;
	l1 = l1 < kd_2 ? l1 : kd_2;
#pragma unroll
	for (int f = 0; f < M; f++)
		sum[f] = 0;
	for (I c = 0; c < channels; c++)
		for (I i = 0; i < kd_0; i++) {
			const I id = od * st_0 - pad_0 + i * dil_0;

			if (id < 0 || id >= xd_0)
				continue;
			for (I j = 0; j < kd_1; j++) {
				const I ih = oh * st_1 - pad_1 + j * dil_1;

				if (ih < 0 || ih >= xd_1)
					continue;
				for (I l = l0; l < l1; l++) {
					const A v = (A)pm_ld(x[c * xs_1 + id * xs_2 + ih * xs_3 + (ow + l * dil_2) * xs_4]);
					const I at = c * ws_1 + i * ws_2 + j * ws_3 + l * ws_4;

#pragma unroll
					for (int f = 0; f < M; f++)
						sum[f] += v * (A)pm_ld(w[f * ws_0 + at]);
				}
			}
		}
	t = (r * y_1 * M + m) * plane + (t - q * plane);
#pragma unroll
	for (int f = 0; f < M; f++) {
#ifdef HAS_BIAS
		sum[f] += (A)pm_ld(bias[(m + f) * bs]);
#endif
		pm_st(&y[t + f * plane], sum[f]);
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
