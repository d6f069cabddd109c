/* conv_depth.cu - convolution of each channel by itself, over one or two spatial dimensions.
 *
 * A thread makes TH results below each other, so that a row of x is read once for all of them, in TW columns that are
 * y_cols apart; threads of a warp have neighbouring columns. KH, KW = kernel, SH, SW = strides, DH, DW = dilations,
 * MULT = filters of each channel, XW(c) = offset of column c of x. height, width = extents of x; ph, pw = pads in front;
 * rows of y are y_h, in `strips` of TH, columns y_w. What is padded counts as 0.
 */

#define ROWS ((TH - 1) * SH + (KH - 1) * DH + 1)

KERNEL
{
	const I t = TID;
	I q, r, n, f, row, first;
	A k[KH * KW];

	if (t >= total)
		return;
	q = Q_y_cols(t), first = t - q * y_cols;
	r = Q_strips(q), row = (q - r * strips) * TH;
	n = Q_filters(r), f = r - n * filters;
	y += (r * y_h + row) * y_w;
	x += n * xs_n + f / MULT * xs_c;
	w += f * ws_m;
#pragma unroll
	for (int j = 0; j < KH; j++)
#pragma unroll
		for (int l = 0; l < KW; l++)
			k[j * KW + l] = (A)pm_ld(w[j * ws_h + l * ws_w]);
	for (int c = 0; c < TW; c++) {
		const I col = first + c * y_cols, left = col * SW - pw, top = row * SH - ph;
		const T *from = x + top * xs_h + XW(left);
		A sum[TH];
		bool in[KW];

		if (TW > 1 && col >= y_w)
			break;
#pragma unroll
		for (int i = 0; i < TH; i++)
			sum[i] = 0;
#pragma unroll
		for (int l = 0; l < KW; l++)
			in[l] = left + l * DW >= 0 && left + l * DW < width;
#pragma unroll
		for (int s = 0; s < ROWS; s++) {
			const bool inside = top + s >= 0 && top + s < height;
			A v[KW];

#pragma unroll
			for (int l = 0; l < KW; l++)
				v[l] = inside && in[l] ? (A)pm_ld(from[XW(l * DW)]) : (A)0;
			from += xs_h;
#pragma unroll
			for (int i = 0; i < TH; i++)
#pragma unroll
				for (int j = 0; j < KH; j++)
					if (i * SH + j * DH == s)
#pragma unroll
						for (int l = 0; l < KW; l++)
							sum[i] += v[l] * k[j * KW + l];
		}
#pragma unroll
		for (int i = 0; i < TH; i++)
			if (TH == 1 || row + i < y_h) {
#ifdef HAS_BIAS
				sum[i] += (A)pm_ld(bias[f * bs]);
#endif
				pm_st(&y[i * y_w + col], sum[i]);
			}
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
