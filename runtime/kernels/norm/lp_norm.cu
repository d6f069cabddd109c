/* lp_norm.cu - divides each line along one axis by its norm; a line of norm 0 gives zeros. */

KERNEL
{
	I t = TID;
	A norm = 0;

	if (t >= N_o)
		return;
	x += OFF_o_0(t);
	y += OFF_o_1(t);
	for (I r = 0; r < len; r++) {
		A v = (A)pm_ld(x[r * xs]);

#if P == 1
		norm += v < 0 ? -v : v;
#else
		norm += v * v;
#endif
	}
#if P == 2
	norm = sqrt(norm);
#endif
	for (I r = 0; r < len; r++)
		pm_st(&y[r * ys], norm == 0 ? (A)0 : (A)pm_ld(x[r * xs]) / norm);
}
/* SPDX-License-Identifier: Apache-2.0 */
