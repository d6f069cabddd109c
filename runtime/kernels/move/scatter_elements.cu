/* scatter_elements.cu - y[o, idx[o, i]] joined with u[o, i], over one axis; y starts as a copy of the data.
 *
 * All updates of one line of y are in the same line of u: one thread per line, in order, needs no atomics.
 */

KERNEL
{
	I t = TID;

	if (t >= N_o)
		return;
	y += OFF_o_3(t);
	idx += OFF_o_1(t);
	u += OFF_o_2(t);
	for (I i = 0; i < len; i++) {
		long long j = (long long)idx[i * is];
		I at = (I)(j < 0 ? j + axis_dim : j) * ys;

#ifdef JOIN
		A a = (A)pm_ld(y[at]), v = (A)pm_ld(u[i * us]);

		pm_st(&y[at], JOIN(a, v));
#else
		y[at] = u[i * us];
#endif
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
