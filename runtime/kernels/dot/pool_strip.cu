/* pool_strip.cu - pool.cu without indices, for windows of up to some hundred elements, whose loads are under way
 * together. Where windows overlap a thread makes TH results below each other, so that each row of a window is reduced
 * once for all of them; else TH is 1.
 *
 * Lists as in pool.cu; rows of y are in `strips` of TH. SH, DH = stride and dilation from row to row. Per result (TH - 1)
 * SH + (KD_1 - 1) DH + 1 rows of KD_2 loads over TH instead of KD_1 KD_2 of them.
 */

#define ROWS ((TH - 1) * SH + (KD_1 - 1) * DH + 1)

KERNEL
{
	const I t = TID;
	I q, r, ow, oh, od, c, top;
	A acc[TH];
	bool in[KD_2];

	if (t >= total)
		return;
	q = Q_y_4(t), ow = (t - q * y_4) * st_2 - pad_2;
	r = Q_strips(q), top = (q - r * strips) * TH, oh = top * SH - pad_1;
	q = Q_y_2(r), od = (r - q * y_2) * st_0 - pad_0;
	y += (r * y_3 + top) * y_4 + (t - Q_y_4(t) * y_4);
	r = Q_y_1(q), c = q - r * y_1;
	x += r * xs_0 + c * xs_1 + oh * xs_3 + ow * xs_4;
#pragma unroll
	for (int i = 0; i < TH; i++)
		acc[i] = LOWEST;
#pragma unroll
	for (int l = 0; l < KD_2; l++)
		in[l] = ow + l * dil_2 >= 0 && ow + l * dil_2 < xd_2;
#pragma unroll 1
	for (int k = 0; k < KD_0; k++) {
		const I id = od + k * dil_0;
		const T *from = x + id * xs_2;

		if (id < 0 || id >= xd_0)
			continue;
#pragma unroll
		for (int s = 0; s < ROWS; s++) {
			const bool inside = oh + s >= 0 && oh + s < xd_1;
			A row = LOWEST;

#pragma unroll
			for (int l = 0; l < KD_2; l++)
				if (inside && in[l])
					row = join(row, (A)pm_ld(from[l * dil_2 * xs_4]));
			from += xs_3;
#pragma unroll
			for (int i = 0; i < TH; i++)
#pragma unroll
				for (int j = 0; j < KD_1; j++)
					if (i * SH + j * DH == s)
						acc[i] = join(acc[i], row);
		}
	}
#pragma unroll
	for (int i = 0; i < TH; i++) {
		const I h = oh + i * SH;

		if (top + i >= y_3)
			break;
#ifdef MAX
		pm_st(&y[i * y_4], acc[i]);
#else
#ifdef INCLUDE_PAD
		I n = below(od, dil_0, KD_0, xd_0 + end_0) * below(h, DH, KD_1, xd_1 + end_1) *
		      below(ow, dil_2, KD_2, xd_2 + end_2);
#else
		I n = (below(od, dil_0, KD_0, xd_0) - below(od, dil_0, KD_0, 0)) *
		      (below(h, DH, KD_1, xd_1) - below(h, DH, KD_1, 0)) *
		      (below(ow, dil_2, KD_2, xd_2) - below(ow, dil_2, KD_2, 0));
#endif
		pm_st(&y[i * y_4], acc[i] / (A)(n ? n : 1));
#endif
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
