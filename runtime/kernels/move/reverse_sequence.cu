/* reverse_sequence.cu - the first lengths[b] steps of each entry of a batch backwards; one thread per result. */

KERNEL
{
	I t = TID, r, p, q, b, s, n;

	if (t >= total)
		return;
	r = t % N_r;
	q = t / N_r % d1;
	p = t / N_r / d1;
	b = BATCH ? q : p;
	s = BATCH ? p : q;
	n = (I)lengths[b * ls];
	s = s < n ? n - 1 - s : s;
	y[t] = x[b * bs + s * ss + OFF_r_0(r)];
}
/* SPDX-License-Identifier: Apache-2.0 */
