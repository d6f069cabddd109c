/* conv.cu - direct convolution over up to three spatial dimensions, with groups, padding and dilation.
 *
 * Lists: y = output extents (n, m, d, h, w); xd = input extents (d, h, w); xs = input strides (n, c, d, h, w);
 * ws = weight strides (m, c, d, h, w); kd = kernel extents; st, pad, dil by dimension.
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
	c0 = m / (y_1 / groups) * channels;
	x += r * xs_0;
	w += m * ws_0;
	for (I c = 0; c < channels; c++)
		for (I i = 0; i < kd_0; i++) {
			I id = od * st_0 - pad_0 + i * dil_0;

			if (id < 0 || id >= xd_0)
				continue;
			for (I j = 0; j < kd_1; j++) {
				I ih = oh * st_1 - pad_1 + j * dil_1;

				if (ih < 0 || ih >= xd_1)
					continue;
				for (I l = 0; l < kd_2; l++) {
					I iw = ow * st_2 - pad_2 + l * dil_2;

					if (iw >= 0 && iw < xd_2)
						sum += (A)pm_ld(x[(c0 + c) * xs_1 + id * xs_2 + ih * xs_3 +
						                  iw * xs_4]) *
						       (A)pm_ld(w[c * ws_1 + i * ws_2 + j * ws_3 + l * ws_4]);
				}
			}
		}
#ifdef HAS_BIAS
	sum += (A)pm_ld(bias[m * bs]);
#endif
	pm_st(&y[t], sum);
}
