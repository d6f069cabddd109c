/* conv_transpose.cu - transposed convolution over up to three spatial dimensions, seen from the result.
 *
 * Lists as in conv.cu; ws = weight strides (c, m, d, h, w), `filters` results per group of `channels` inputs.
 */

KERNEL
{
	I t = TID, r, q, ow, oh, od, m, c0;
	A sum = 0;

	if (t >= total)
		return;
	q = Q_y_4(t), ow = t - q * y_4;
	r = Q_y_3(q), oh = q - r * y_3;
	q = Q_y_2(r), od = r - q * y_2;
	r = Q_y_1(q), m = q - r * y_1;
	c0 = m / filters * channels;
	x += r * xs_0;
	w += m % filters * ws_1;
	for (I i = 0; i < kd_0; i++) {
		I id = od + pad_0 - i * dil_0;

		if (id < 0 || id % st_0 || id / st_0 >= xd_0)
			continue;
		for (I j = 0; j < kd_1; j++) {
			I ih = oh + pad_1 - j * dil_1;

			if (ih < 0 || ih % st_1 || ih / st_1 >= xd_1)
				continue;
			for (I l = 0; l < kd_2; l++) {
				I iw = ow + pad_2 - l * dil_2;

				if (iw < 0 || iw % st_2 || iw / st_2 >= xd_2)
					continue;
				for (I c = c0; c < c0 + channels; c++)
					sum += (A)pm_ld(x[c * xs_1 + id / st_0 * xs_2 + ih / st_1 * xs_3 +
					                  iw / st_2 * xs_4]) *
					       (A)pm_ld(w[c * ws_0 + i * ws_2 + j * ws_3 + l * ws_4]);
			}
		}
	}
#ifdef HAS_BIAS
	sum += (A)pm_ld(bias[m * bs]);
#endif
	pm_st(&y[t], sum);
}
/* SPDX-License-Identifier: Apache-2.0 */
