/* resize.cu - each result is a weighted sum over a window of the axes that change (AXES of them).
 *
 * Lists over those axes: xd, yd = extents, below = elements of y per step, xs = strides of x, first, taps = the
 * window; V_scale, V_width, V_from, V_to, V_stretch. Positions and weights: resize_window.cu.
 */

KERNEL
{
	const I xd[] = { V_xd }, yd[] = { V_yd }, below[] = { V_below }, xs[] = { V_xs };
	const I first[] = { V_first }, taps[] = { V_taps };
	const double scale[] = { V_scale }, width[] = { V_width }, from[] = { V_from }, to[] = { V_to }, stretch[] = { V_stretch };
	double pos[AXES], sum = 0, total = 0;
	I t = TID, off, all = 1;
	bool outside = false;

	if (t >= N_o)
		return;
	off = OFF_o_0(t);
	for (int d = 0; d < AXES; d++) {
		pos[d] = source((double)(t / below[d] % yd[d]), (double)xd[d], (double)yd[d], scale[d], width[d], from[d], to[d]);
		outside = outside || pos[d] < 0 || pos[d] > (double)(xd[d] - 1);
		all *= taps[d];
	}
#if MODE == 0
	for (int d = 0; d < AXES; d++)
		off += nearest(pos[d], xd[d]) * xs[d];
#if COORD == 5
	if (outside) {
		pm_st(&y[t], extrapolation);
		return;
	}
#endif
	y[t] = x[off];
#else
	for (I j = 0; j < all; j++) {
		double w = 1;
		I q = j, at = off;

		for (int d = 0; d < AXES; d++) {
			double i = floor(pos[d]) + (double)(first[d] + q % taps[d]);

			q /= taps[d];
			w *= tap(i, pos[d], xd[d], stretch[d], cubic_a);
			at += clamp(i, xd[d]) * xs[d];
		}
		total += w;
		sum += w == 0 ? 0 : w * (double)pm_ld(x[at]);
	}
#if COORD == 5
	sum = outside ? extrapolation * total : sum;
#endif
	pm_st(&y[t], total == 0 ? sum : sum / total);
#endif
}
/* SPDX-License-Identifier: Apache-2.0 */
