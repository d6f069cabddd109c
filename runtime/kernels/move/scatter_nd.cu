/* scatter_nd.cu - y[tuple of idx[m], r] joined with u[m, r]; y starts as a copy of the data, all contiguous.
 *
 * Without a join each update has a thread: what becomes of a place named twice is open in ONNX. With one,
 * each r has a thread that takes the tuples in order.
 */

KERNEL
{
	const I yd[] = { V_yd };
	I t = TID;

	if (t >= total)
		return;
#ifdef JOIN
	for (I m = 0, r = t; m < tuples; m++) {
#else
	{
		I m = t / row, r = t % row;
#endif
		I at = 0;

		for (int d = 0; d < LEN; d++) {
			long long j = (long long)idx[m * LEN + d];

			at = at * yd[d] + (I)(j < 0 ? j + yd[d] : j);
		}
		at = at * row + r;
#ifdef JOIN
		A a = (A)pm_ld(y[at]), v = (A)pm_ld(u[m * row + r]);

		pm_st(&y[at], JOIN(a, v));
#else
		y[at] = u[m * row + r];
#endif
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
