/* gather_nd.cu - y[b, m, r] = x[b, tuple of idx[b, m], r]; idx is contiguous, LEN its tuples' length.
 *
 * Lists: xd = extents, xs = strides of the dimensions of x that a tuple names.
 */

KERNEL
{
	const I xd[] = { V_xd }, xs[] = { V_xs };
	I t = TID, m, off;

	if (t >= total)
		return;
	m = t / N_r;
	off = OFF_b_0(m / per_batch) + OFF_r_0(t % N_r);
	for (int d = 0; d < LEN; d++) {
		long long j = (long long)idx[m * LEN + d];

		off += (I)(j < 0 ? j + xd[d] : j) * xs[d];
	}
	y[t] = x[off];
}
/* SPDX-License-Identifier: Apache-2.0 */
