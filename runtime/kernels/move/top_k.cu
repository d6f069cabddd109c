/* top_k.cu - the first `want` entries of each line in order, equal ones as they stand; a NaN is the largest.
 *
 * One thread per line, one pass per entry: the best of those that come after the one before.
 */

static __device__ inline bool goes_before(A v, A w)
{
#ifdef LARGEST
	return v != v ? w == w : v > w;
#else
	return w != w ? v == v : v < w;
#endif
}

KERNEL
{
	I t = TID, last = -1;
	A prev = 0;

	if (t >= N_o)
		return;
	x += OFF_o_0(t);
	y += OFF_o_1(t);
#ifdef HAS_INDEX
	idx += OFF_o_1(t);
#endif
	for (I j = 0; j < want; j++) {
		I best = -1;
		A top = 0;

		for (I r = 0; r < len; r++) {
			A v = (A)pm_ld(x[r * xs]);

			if (j && !goes_before(prev, v) && (goes_before(v, prev) || r <= last))
				continue;
			if (best < 0 || goes_before(v, top)) {
				best = r;
				top = v;
			}
		}
		y[j * ys] = x[best * xs];
#ifdef HAS_INDEX
		idx[j * ys] = best;
#endif
		prev = top;
		last = best;
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
