/* hardmax.cu - 1 at the first largest entry of each line, 0 elsewhere; a NaN is the largest; one thread per line. */

KERNEL
{
	I t = TID, best = 0;
	A top;

	if (t >= N_o)
		return;
	x += OFF_o_0(t);
	y += OFF_o_1(t);
	top = (A)pm_ld(x[0]);
	for (I r = 1; r < len; r++) {
		A v = (A)pm_ld(x[r * xs]);

		if (top == top && (v != v || v > top)) {
			top = v;
			best = r;
		}
	}
	for (I r = 0; r < len; r++)
		pm_st(&y[r * ys], (A)(r == best));
}
/* SPDX-License-Identifier: Apache-2.0 */
