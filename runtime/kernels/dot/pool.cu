/* pool.cu - maximum (MAX) or average over windows of up to three spatial dimensions.
 *
 * Lists as in conv.cu; the window has KD_0 x KD_1 x KD_2 elements, and its loops are unrolled when UNROLL says so. The
 * average divides by the elements inside the input, or with INCLUDE_PAD by those inside the padded input (a ceil_mode
 * window may reach past it). y_idx receives the flat index of the maximum: of the first of equals, and a NaN is larger
 * than any number. The maximum of a window that lies wholly in the padding is LOWEST, and its index -1.
 */

KERNEL
{
	I t = TID, r, q, ow, oh, od, c, inside = 0;
#ifdef HAS_INDEX
	I best = 0;
#endif
#ifdef MAX
	A acc = LOWEST;
#else
	A acc = 0;
#endif

	if (t >= total)
		return;
	q = Q_y_4(t), ow = (t - q * y_4) * st_2 - pad_2;
	r = Q_y_3(q), oh = (q - r * y_3) * st_1 - pad_1;
	q = Q_y_2(r), od = (r - q * y_2) * st_0 - pad_0;
	r = Q_y_1(q), c = q - r * y_1;
	x += r * xs_0 + c * xs_1;
#pragma unroll UNROLL
	for (int i = 0; i < KD_0; i++) {
		const I id = od + i * dil_0;

		if (id < 0 || id >= xd_0)
			continue;
#pragma unroll UNROLL
		for (int j = 0; j < KD_1; j++) {
			const I ih = oh + j * dil_1;

			if (ih < 0 || ih >= xd_1)
				continue;
#pragma unroll UNROLL
			for (int l = 0; l < KD_2; l++) {
				const I iw = ow + l * dil_2;
				A v;

				if (iw < 0 || iw >= xd_2)
					continue;
				v = (A)pm_ld(x[id * xs_2 + ih * xs_3 + iw * xs_4]);
#ifdef MAX
				if (v > acc || !inside || (v != v && acc == acc)) {
					acc = v;
#ifdef HAS_INDEX
					best = COLUMN_MAJOR ? (iw * xd_1 + ih) * xd_0 + id :
					                      (id * xd_1 + ih) * xd_2 + iw;
#endif
				}
#else
				acc += v;
#endif
				inside++;
			}
		}
	}
#ifdef MAX
	pm_st(&y[t], acc);
#ifdef HAS_INDEX
	y_idx[t] = inside ? (long long)q * xd_0 * xd_1 * xd_2 + best : -1;
#endif
#else
#ifdef INCLUDE_PAD
	inside = below(od, dil_0, KD_0, xd_0 + end_0) * below(oh, dil_1, KD_1, xd_1 + end_1) *
	         below(ow, dil_2, KD_2, xd_2 + end_2);
#endif
	pm_st(&y[t], acc / (A)(inside ? inside : 1));
#endif
}
/* SPDX-License-Identifier: Apache-2.0 */
