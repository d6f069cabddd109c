/* resize_planes.cu - Resize whose changed axes (AXES of them) come last: a thread finds the window of one position
 * once, and applies it to many planes, one for each element of the other axes.
 *
 * resize.cu says what the lists are; `at` = elements of y per step of each axis, within a plane of `positions`. TAPS is
 * the product of the taps. Block (.., y) does `chunk` planes.
 */

KERNEL
{
	const I xd[] = { V_xd }, yd[] = { V_yd }, below[] = { V_below }, xs[] = { V_xs };
	const I first[] = { V_first };
	const int taps[] = { TAPS_LIST };
	const double scale[] = { V_scale }, width[] = { V_width }, from[] = { V_from }, to[] = { V_to }, stretch[] = { V_stretch };
	const I t = TID, p0 = (I)blockIdx.y * chunk, p1 = p0 + chunk < planes ? p0 + chunk : planes;
	double pos[AXES];
	I off[TAPS];
	bool outside = false;

	if (t >= positions)
		return;
#pragma unroll
	for (int d = 0; d < AXES; d++) {
		pos[d] = source((double)(t / below[d] % yd[d]), (double)xd[d], (double)yd[d], scale[d], width[d], from[d], to[d]);
		outside = outside || pos[d] < 0 || pos[d] > (double)(xd[d] - 1);
	}
#if COORD != 5
	outside = false;
#endif
#if MODE == 0
	off[0] = 0;
#pragma unroll
	for (int d = 0; d < AXES; d++)
		off[0] += nearest(pos[d], xd[d]) * xs[d];
	y += t;
#pragma unroll 4
	for (I p = p0; p < p1; p++)
		if (outside)
			pm_st(&y[p * positions], extrapolation);
		else
			y[p * positions] = x[OFF_o_0(p) + off[0]];
#else
	A weights[TAPS];
	double total = 0;

#pragma unroll
	for (int j = 0; j < TAPS; j++) {
		double w = 1;
		int q = j;

		off[j] = 0;
#pragma unroll
		for (int d = 0; d < AXES; d++) {
			const double i = floor(pos[d]) + (double)(first[d] + q % taps[d]);

			q /= taps[d];
			w *= tap(i, pos[d], xd[d], stretch[d], cubic_a);
			off[j] += clamp(i, xd[d]) * xs[d];
		}
		total += w;
		weights[j] = (A)w;
	}
#pragma unroll
	for (int j = 0; j < TAPS; j++)
		weights[j] = total == 0 ? weights[j] : (A)((double)weights[j] / total);
	y += t;
#pragma unroll 4
	for (I p = p0; p < p1; p++) {
		const I plane = OFF_o_0(p);
		A sum = 0;

#pragma unroll
		for (int j = 0; j < TAPS; j++)
			sum += weights[j] == 0 ? (A)0 : weights[j] * (A)pm_ld(x[plane + off[j]]);
		pm_st(&y[p * positions], outside ? (A)extrapolation : sum);
	}
#endif
}
