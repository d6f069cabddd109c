/* reduce_end.cu - joins the parts that a split reduction left: G threads of a warp for each result. */

KERNEL
{
	const I t = (I)blockIdx.x * (B / G) + (I)(threadIdx.x / G);
	Acc c;

	acc_start(c);
	for (I i = threadIdx.x % G; i < (t < results ? parts : 0); i += G)
		acc_join(c, part[t * parts + i]);
	acc_join_lanes(c, G);
	if (t < results && threadIdx.x % G == 0)
		pm_st(&y[t], ACC_END(c));
}
/* SPDX-License-Identifier: Apache-2.0 */
