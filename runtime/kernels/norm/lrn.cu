/* lrn.cu - local response normalisation across channels of contiguous [n, c, inner]. */

KERNEL
{
	I t = TID, c, lo, hi;
	A sum = 0;

	if (t >= n)
		return;
	c = Q_inner(t);
	c -= Q_channels(c) * channels;
	lo = c - (size - 1) / 2;
	hi = c + size / 2;
	lo = lo < 0 ? 0 : lo;
	hi = hi > channels - 1 ? channels - 1 : hi;
	for (I j = lo; j <= hi; j++) {
		A v = pm_ld(x[t + (j - c) * inner]);

		sum += v * v;
	}
	pm_st(&y[t], (A)pm_ld(x[t]) / pow((A)bias + (A)alpha / (A)size * sum, (A)beta));
}
/* SPDX-License-Identifier: Apache-2.0 */
