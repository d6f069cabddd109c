/* scatter_find.cu - ScatterElements seen from the result: y[o, j] is x[o, j] joined with those u[o, i] whose idx[o, i]
 * is j, in order; without a join the last of them.
 *
 * Every result looks at all updates of its line, which costs little where there are few and keeps the order of sums.
 */

KERNEL
{
	const I t = TID;
	I q, r;

	if (t >= total)
		return;
	q = Q_inner(t);
	r = Q_axis_dim(q);
	const long long here = q - r * axis_dim;
	A a = (A)pm_ld(x[OFF_o_0(t)]);

	idx += OFF_o_1(t);
	u += OFF_o_2(t);
#pragma unroll 8
	for (I i = 0; i < len; i++) {
		const long long j = (long long)idx[i * is];

		if (j == here || j + axis_dim == here) {
			const A v = (A)pm_ld(u[i * us]);

			a = JOIN(a, v);
		}
	}
	pm_st(&y[t], a);
}
