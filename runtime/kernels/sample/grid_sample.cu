/* grid_sample.cu - samples an image of 1 to 3 spatial axes at positions in [-1, 1]; one thread per result.
 *
 * Axes are listed from the innermost on, as the grid lists them. TAPS is 1 (nearest), 2 (linear) or 4 (cubic);
 * PAD is 0 (zeros), 1 (border) or 2 (reflection).
 */

static __device__ inline A reflect(A v, A lo, A hi)
{
	A range = hi - lo, off = v < lo ? lo - v : v - hi, turns;

	if (v >= lo && v <= hi)
		return v;
	if (!(range > 0))
		return lo;
	turns = floor(off / range);
	off -= turns * range;
	return (fmod(turns, (A)2) == 0) == (v < lo) ? lo + off : hi - off;
}

/* Index of a tap, -1 when it reads as zero. */
static __device__ inline I place(I i, I n, A lo, A hi)
{
	if (i >= 0 && i < n)
		return i;
	if (PAD == 0)
		return -1;
	if (PAD == 1)
		return i < 0 ? 0 : n - 1;
	return (I)reflect((A)i, lo, hi);
}

static __device__ inline void weights(A f, A *w)
{
	A g = 1 - f, a = (A)-0.75;

	if (TAPS == 1) {
		w[0] = 1;
	} else if (TAPS == 2) {
		w[0] = g;
		w[1] = f;
	} else {
		w[0] = ((a * (f + 1) - 5 * a) * (f + 1) + 8 * a) * (f + 1) - 4 * a;
		w[1] = ((a + 2) * f - (a + 3)) * f * f + 1;
		w[2] = ((a + 2) * g - (a + 3)) * g * g + 1;
		w[3] = ((a * (g + 1) - 5 * a) * (g + 1) + 8 * a) * (g + 1) - 4 * a;
	}
}

KERNEL
{
	const I size[] = { V_size };
	I t = TID, at[AXES][TAPS], plane = 1;
	A w[AXES][TAPS], sum = 0;
	int all = 1;

	if (t >= total)
		return;
	grid += (t / points / channels * points + t % points) * AXES;
	for (int d = 0; d < AXES; d++) {
		A n = (A)size[d], lo = ALIGN ? (A)0 : (A)-0.5, hi = ALIGN ? n - 1 : n - (A)0.5, g = pm_ld(grid[d]);
		A v = ALIGN ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
		I base;

		if (TAPS == 1)
			v = rint(v);
		if (PAD == 1 && (v < lo || v > hi))
			v = v < 0 ? (A)0 : (v > n - 1 ? n - 1 : v);
		else if (PAD == 2)
			v = reflect(v, lo, hi);
		v = v >= -3 ? (v > n + 3 ? n + 3 : v) : (A)-3;
		base = (I)floor(v) - (TAPS == 4);
		weights(v - floor(v), w[d]);
		for (int k = 0; k < TAPS; k++) {
			at[d][k] = place(base + k, size[d], lo, hi);
			at[d][k] = at[d][k] < 0 ? -1 : at[d][k] * plane;
		}
		plane *= size[d];
		all *= TAPS;
	}
	x += t / points * plane;
	for (int n = 0; n < all; n++) {
		A product = 1;
		I off = 0;

		for (int d = 0, k = n; d < AXES; d++, k /= TAPS) {
			I a = at[d][k % TAPS];

			product *= w[d][k % TAPS];
			off = a < 0 || off < 0 ? -1 : off + a;
		}
		if (off >= 0)
			sum += product * (A)pm_ld(x[off]);
	}
	pm_st(&y[t], sum);
}
/* SPDX-License-Identifier: Apache-2.0 */
