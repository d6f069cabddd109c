/* resize_planes.cu - Resize whose changed axes (AXES of them) come last: a thread finds the window of one position
 * once, and applies it to many planes, one for each element of the other axes.
 *
 * resize.cu says what the lists are; `at` = elements of y per step of each axis, within a plane of `positions`. TAPS is
 * the product of the taps, REACH the largest of them. Block (.., y) does `chunk` planes. What costs here is double
 * arithmetic: a position is one multiplication and one addition (V_step, V_start) where a last bit cannot move it to
 * another element's side, in float (Place) where that has every one as it is; weights are found for each axis by itself and
 * brought to a sum of 1 (NORM) only where they do not come to that anyway.
 */

#define EXACT (MODE == 0 || COORD == 5)

KERNEL
{
	const I xd[] = { V_xd }, yd[] = { V_yd }, xs[] = { V_xs };
	const I t = TID, p0 = (I)blockIdx.y * chunk, p1 = p0 + chunk < planes ? p0 + chunk : planes;
	Place pos[AXES];
	bool outside = false;
	I rest = t;

	if (t >= positions)
		return;
#pragma unroll
	for (int d = 0; d < AXES; d++) {
		const I o = d == AXES - 1 ? rest : rest % yd[d];
#if EXACT
		const double scale[] = { V_scale }, width[] = { V_width }, from[] = { V_from }, to[] = { V_to };

		pos[d] = source((double)o, (double)xd[d], (double)yd[d], scale[d], width[d], from[d], to[d]);
		outside = outside || pos[d] < 0 || pos[d] > (double)(xd[d] - 1);
#else
		const double step[] = { V_step }, start[] = { V_start };

		pos[d] = (Place)o * (Place)step[d] + (Place)start[d];
#endif
		rest /= yd[d];
	}
#if COORD != 5
	outside = false;
#endif
#if MODE == 0
	I off = 0;

#pragma unroll
	for (int d = 0; d < AXES; d++)
		off += nearest(pos[d], xd[d]) * xs[d];
	y += t;
#pragma unroll 4
	for (I p = p0; p < p1; p++)
		if (outside)
			pm_st(&y[p * positions], extrapolation);
		else
			y[p * positions] = x[OFF_o_0(p) + off];
#else
	const I first[] = { V_first };
	const int taps[] = { TAPS_LIST };
	const double stretch[] = { V_stretch };
	A weight_of[AXES][REACH], weights[TAPS];
	I place[AXES][REACH], off[TAPS];

#pragma unroll
	for (int d = 0; d < AXES; d++) {
		const Place floored = floor(pos[d]);
		const I low = (I)floored + first[d];
		Place w[REACH], total = 0;

#pragma unroll
		for (int j = 0; j < taps[d]; j++) {
			const I i = low + j;

			w[j] = tap(floored + (Place)(first[d] + j), pos[d], xd[d], NORM ? (Place)stretch[d] : (Place)1,
			           (Place)cubic_a);
			total += w[j];
			place[d][j] = (i < 0 ? 0 : i > xd[d] - 1 ? xd[d] - 1 : i) * xs[d];
		}
#pragma unroll
		for (int j = 0; j < taps[d]; j++)
			weight_of[d][j] = (A)(NORM && total != 0 ? w[j] / total : w[j]);
	}
#pragma unroll
	for (int j = 0; j < TAPS; j++) {
		int q = j;

		weights[j] = 1;
		off[j] = 0;
#pragma unroll
		for (int d = 0; d < AXES; d++) {
			weights[j] *= weight_of[d][q % taps[d]];
			off[j] += place[d][q % taps[d]];
			q /= taps[d];
		}
	}
	y += t;
#pragma unroll 4
	for (I p = p0; p < p1; p++) {
		const I plane = OFF_o_0(p);
		A v[TAPS], sum = 0;

		/* Not where the weight is asked for: loads in branches wait for each other. */
#pragma unroll
		for (int j = 0; j < TAPS; j++)
			v[j] = (A)pm_ld(x[plane + off[j]]);
#pragma unroll
		for (int j = 0; j < TAPS; j++) {
			const A part = weights[j] * v[j];

			sum += weights[j] == 0 ? (A)0 : part;
		}
		pm_st(&y[p * positions], COORD == 5 && outside ? (A)extrapolation : sum);
	}
#endif
}
/* SPDX-License-Identifier: Apache-2.0 */
