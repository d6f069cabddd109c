/* eye_like.cu - 1 on one diagonal of a matrix; one thread per result. */

KERNEL
{
	I t = TID;

	if (t < total)
		pm_st(&y[t], (long long)(t % cols - t / cols == shift));
}
/* SPDX-License-Identifier: Apache-2.0 */
