/* resize.cu - each result is a weighted sum over a window of the axes that change (AXES of them).
 *
 * Lists over those axes: xd, yd = extents, below = elements of y per step, xs = strides of x, first, taps = the
 * window; V_scale, V_width, V_from, V_to, V_stretch. Positions and weights are computed in double.
 */

static __device__ inline double source(double x, double in, double out, double scale, double width, double from, double to)
{
#if COORD == 3
	return width == 1 ? 0 : x * (in - 1) / (width - 1);
#elif COORD == 4
	return x / scale;
#elif COORD == 5
	return width == 1 ? 0.5 * (from + to) * (in - 1) : from * (in - 1) + x * (to - from) * (in - 1) / (width - 1);
#elif COORD == 2
	return out == 1 ? 0 : (x + 0.5) / scale - 0.5;
#elif COORD == 1
	return in / 2 * (1 - out / width) + (x + 0.5) / scale - 0.5;
#else
	return (x + 0.5) / scale - 0.5;
#endif
}

static __device__ inline double weight(double d, double a)
{
	d = fabs(d);
#if MODE == 1
	return d < 1 ? 1 - d : 0;
#else
	if (d <= 1)
		return ((a + 2) * d - (a + 3)) * d * d + 1;
	return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
#endif
}

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
	for (int d = 0; d < AXES; d++) {
#if ROUND == 0
		double v = ceil(pos[d] - 0.5);
#elif ROUND == 1
		double v = floor(pos[d] + 0.5);
#elif ROUND == 2
		double v = floor(pos[d]);
#else
		double v = ceil(pos[d]);
#endif
		v = v > 0 ? v : 0;
		off += (v > (double)(xd[d] - 1) ? xd[d] - 1 : (I)v) * xs[d];
	}
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
#ifdef EXCLUDE_OUTSIDE
			w *= i < 0 || i > (double)(xd[d] - 1) ? 0 : weight((i - pos[d]) * stretch[d], cubic_a);
#else
			w *= weight((i - pos[d]) * stretch[d], cubic_a);
#endif
			i = i < 0 ? 0 : i;
			at += (i > (double)(xd[d] - 1) ? xd[d] - 1 : (I)i) * xs[d];
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
