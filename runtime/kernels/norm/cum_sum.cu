/* cum_sum.cu - running sums along one axis; one thread per line. */

KERNEL
{
	I t = TID;
	A sum = 0;

	if (t >= N_o)
		return;
	x += OFF_o_0(t);
	y += OFF_o_1(t);
	for (I i = 0; i < len; i++) {
#ifdef REVERSE
		I at = len - 1 - i;
#else
		I at = i;
#endif
		A v = (A)pm_ld(x[at * xs]);

#ifdef EXCLUSIVE
		pm_st(&y[at * ys], sum);
		sum = SUM(sum, v);
#else
		sum = SUM(sum, v);
		pm_st(&y[at * ys], sum);
#endif
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
