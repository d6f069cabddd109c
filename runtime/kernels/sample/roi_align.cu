/* roi_align.cu - pools each bin of each region over a grid of interpolated points; one thread per result. */

/* Neighbours and weights of a point of an axis of n elements; 0 when it is too far outside. */
static __device__ inline int neighbours(A v, I n, I *at, A *w)
{
	at[0] = at[1] = 0;
	w[0] = w[1] = 0;
	if (!(v >= -1 && v <= (A)n))
		return 0;
	v = v > 0 ? v : (A)0;
	at[0] = (I)v;
	if (at[0] >= n - 1) {
		at[0] = at[1] = n - 1;
		v = (A)at[0];
	} else {
		at[1] = at[0] + 1;
	}
	w[1] = v - (A)at[0];
	w[0] = 1 - w[1];
	return 1;
}

KERNEL
{
	I t = TID, r, ph, pw, gh, gw;
	A y0, x0, bh, bw, result = 0;

	if (t >= total)
		return;
	pw = t % ow;
	ph = t / ow % oh;
	r = t / ow / oh / channels;
	rois += 4 * r;
	x0 = (A)pm_ld(rois[0]) * (A)scale - (A)offset;
	y0 = (A)pm_ld(rois[1]) * (A)scale - (A)offset;
	bw = (A)pm_ld(rois[2]) * (A)scale - (A)offset - x0;
	bh = (A)pm_ld(rois[3]) * (A)scale - (A)offset - y0;
#ifdef AT_LEAST_ONE
	bw = bw > 1 ? bw : (A)1;
	bh = bh > 1 ? bh : (A)1;
#endif
	bh /= (A)oh;
	bw /= (A)ow;
	gh = ratio > 0 ? ratio : (I)ceil(bh);
	gw = ratio > 0 ? ratio : (I)ceil(bw);
	x += ((I)batch[r] * channels + t / ow / oh % channels) * height * width;
	for (I i = 0; i < gh; i++)
		for (I j = 0; j < gw; j++) {
			I ay[2], ax[2];
			A wy[2], wx[2], best = -(A)INFINITY;
			int in_y = neighbours(y0 + (A)ph * bh + ((A)i + (A)0.5) * bh / (A)gh, height, ay, wy);
			int in_x = neighbours(x0 + (A)pw * bw + ((A)j + (A)0.5) * bw / (A)gw, width, ax, wx);

			if (!in_y || !in_x)
				wy[0] = wy[1] = 0;
			for (int n = 0; n < 4; n++) {
				/* Nothing is read of an input without elements. */
				A one = height && width ? wy[n / 2] * wx[n % 2] *
				                              (A)pm_ld(x[ay[n / 2] * width + ax[n % 2]]) : (A)0;

				best = one > best ? one : best;
				result += IS_MAX ? (A)0 : one;
			}
			if (IS_MAX && ((i == 0 && j == 0) || best > result))
				result = best;
		}
	if (!IS_MAX)
		result /= gh * gw > 1 ? (A)(gh * gw) : (A)1;
	pm_st(&y[t], result);
}
/* SPDX-License-Identifier: Apache-2.0 */
