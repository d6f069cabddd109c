/* range.cu - y[t] = start + t * step; one thread per result. */

KERNEL
{
	I t = TID;

	if (t < total)
		pm_st(&y[t], (A)pm_ld(*start) + (A)t * (A)pm_ld(*step));
}
/* SPDX-License-Identifier: Apache-2.0 */
