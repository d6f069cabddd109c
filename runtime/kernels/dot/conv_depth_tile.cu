/* conv_depth_tile.cu - convolution of each channel by itself, by tiles in shared memory: for windows of many taps, over two
 * spatial dimensions.
 *
 * A block has PLANES images of one channel each, or a tile of one, and TROWS by COLS threads for each. A thread makes R rows
 * of 4 columns. What they need of x, IH rows of PITCH places, is converted once. It is read by vectors of V, which begin
 * SHIFT places early. KH, KW = kernel, SH, SW = strides, DH, DW = dilations, MULT = filters of each channel, XW(c) = offset of
 * column c of x. height, width = extents of x; ph, pw = pads in front; y_h, y_w = extents of y, whose images are `images`,
 * each of `tiles` tiles, tiles_w of them side by side; WHOLE: its rows are of whole aligned vectors. What is padded counts
 * as 0.
 */

#define SPAN   ((R - 1) * SH + (KH - 1) * DH + 1)         /* rows of x under a thread's results */
#define FOURS  ((SHIFT + 3 * SW + (KW - 1) * DW) / 4 + 1) /* and what it reads of each of them */
#define ACROSS (PITCH / V)
#define READS  (PLANES * IH * ACROSS)

struct __align__(16) Four {
	A v[4];
};

KERNEL
{
	__shared__ __align__(16) A tile[PLANES * IH * PITCH];
	const I t = threadIdx.x, plane = t / (COLS * TROWS), place = t - plane * (COLS * TROWS);
	const I tr = place / COLS * R, tc = place % COLS * 4;
	const I q = Q_tiles(blockIdx.x), number = blockIdx.x - q * tiles, down = Q_tiles_w(number);
	const I row = down * (TROWS * R), col = (number - down * tiles_w) * (COLS * 4);
	const I top = row * SH - ph, left = col * SW - pw, mine = q * PLANES + plane;
	A k[KH * KW], sum[R][4];

	/* As many as there are registers for are under way together. */
#pragma unroll 8
	for (int turn = 0; turn < (READS + B - 1) / B; turn++) {
		const I i = turn * B + t;
		const I line = i / ACROSS, c = left - SHIFT + (i - line * ACROSS) * V, p = line / IH;
		const I r = top + line - p * IH, image = q * PLANES + p, n = Q_filters(image), f = image - n * filters;
		pm_vec<T, V> v = {};
		pm_vec<A, V> a;

		if (i < READS && image < images && r >= 0 && r < height && c >= 0 && c < width)
			v = pm_get<V>(x + n * xs_n + f / MULT * xs_c + r * xs_h + XW(c));
#pragma unroll
		for (int l = 0; l < V; l++)
			a.v[l] = (A)pm_ld(v.v[l]);
		if (i < READS)
			pm_put<V>(tile + i * V, a);
	}
	const bool live = plane < PLANES && mine < images;
	const I f = live ? mine - Q_filters(mine) * filters : 0;
#pragma unroll
	for (int j = 0; j < KH; j++)
#pragma unroll
		for (int l = 0; l < KW; l++)
			k[j * KW + l] = (A)pm_ld(w[f * ws_m + j * ws_h + l * ws_w]);
#pragma unroll
	for (int i = 0; i < R; i++)
#pragma unroll
		for (int c = 0; c < 4; c++)
			sum[i][c] = 0;
	__syncthreads();
	if (!live)
		return;
	const A *from = tile + (plane * IH + tr * SH) * PITCH + tc * SW;
#pragma unroll
	for (int s = 0; s < SPAN; s++) {
		A v[4 * FOURS];

#pragma unroll
		for (int l = 0; l < FOURS; l++)
			*(Four *)(v + 4 * l) = *(const Four *)(from + s * PITCH + 4 * l);
#pragma unroll
		for (int i = 0; i < R; i++)
#pragma unroll
			for (int j = 0; j < KH; j++)
				if (i * SH + j * DH == s)
#pragma unroll
					for (int l = 0; l < KW; l++)
#pragma unroll
						for (int c = 0; c < 4; c++)
							sum[i][c] += v[SHIFT + c * SW + l * DW] * k[j * KW + l];
	}
	y += (mine * y_h + row + tr) * y_w + col + tc;
#ifdef HAS_BIAS
	const A more = (A)pm_ld(bias[f * bs]);
#endif
#pragma unroll
	for (int i = 0; i < R; i++) {
		pm_vec<T, 4> four;

		if (row + tr + i >= y_h)
			break;
#pragma unroll
		for (int c = 0; c < 4; c++) {
#ifdef HAS_BIAS
			sum[i][c] += more;
#endif
			pm_st(&four.v[c], sum[i][c]);
		}
#if WHOLE
		if (col + tc < y_w)
			pm_put<4>(y + i * y_w, four);
#else
#pragma unroll
		for (int c = 0; c < 4; c++)
			if (col + tc + c < y_w)
				y[i * y_w + c] = four.v[c];
#endif
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
