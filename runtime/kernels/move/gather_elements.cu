/* gather_elements.cu - y[o] = x[o with the coordinate of the axis replaced by idx[o]]. */

KERNEL
{
	I t = TID;
	long long j;

	if (t >= N_o)
		return;
	j = (long long)idx[OFF_o_1(t)];
	j = j < 0 ? j + axis_dim : j;
	y[t] = x[OFF_o_0(t) + (I)j * axis_stride];
}
/* SPDX-License-Identifier: Apache-2.0 */
