/* pool_wide.cu - pool.cu without indices, for windows that do not overlap and have many elements: a warp for each result.
 *
 * Lists as in pool.cu; there is no dilation. LW lanes stand along a row of the window, 32 / LW rows are read at a time, in
 * the order of memory, and what the lanes have is joined at the end.
 */

enum { WARP = 32, ROWS_AT_ONCE = WARP / LW };

KERNEL
{
	const I t = TID / WARP;
	const int lane = threadIdx.x % WARP, across = lane % LW, down = lane / LW;
	I q, r, ow, oh, od, c;
	A acc = LOWEST;

	if (t * WARP >= total)
		return;
	q = Q_y_4(t), ow = (t - q * y_4) * st_2 - pad_2;
	r = Q_y_3(q), oh = (q - r * y_3) * st_1 - pad_1;
	q = Q_y_2(r), od = (r - q * y_2) * st_0 - pad_0;
	r = Q_y_1(q), c = q - r * y_1;
	x += r * xs_0 + c * xs_1;
#pragma unroll 1
	for (int k = 0; k < KD_0; k++) {
		if (od + k < 0 || od + k >= xd_0)
			continue;
#pragma unroll 4
		for (int i = down; i < KD_1; i += ROWS_AT_ONCE) {
			const T *from = x + (od + k) * xs_2 + (oh + i) * xs_3 + ow * xs_4;

			if (oh + i < 0 || oh + i >= xd_1)
				continue;
#pragma unroll
			for (int l = 0; l < KD_2; l += LW) {
				const I at = ow + l + across;

				if (l + across < KD_2 && at >= 0 && at < xd_2)
					acc = join(acc, (A)pm_ld(from[(l + across) * xs_4]));
			}
		}
	}
#pragma unroll
	for (int d = WARP / 2; d > 0; d /= 2)
		acc = join(acc, __shfl_xor_sync(0xffffffffu, acc, d));
	if (lane)
		return;
#ifdef MAX
	pm_st(&y[t], acc);
#else
#ifdef INCLUDE_PAD
	const I n = below(od, 1, KD_0, xd_0 + end_0) * below(oh, 1, KD_1, xd_1 + end_1) * below(ow, 1, KD_2, xd_2 + end_2);
#else
	const I n = (below(od, 1, KD_0, xd_0) - below(od, 1, KD_0, 0)) * (below(oh, 1, KD_1, xd_1) - below(oh, 1, KD_1, 0)) *
		    (below(ow, 1, KD_2, xd_2) - below(ow, 1, KD_2, 0));
#endif
	pm_st(&y[t], acc / (A)(n ? n : 1));
#endif
}
/* SPDX-License-Identifier: Apache-2.0 */
