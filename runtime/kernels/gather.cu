/* gather.cu - y[o, i, r] = x[o, idx[i], r]: rows picked along one axis; negative indices count from the end.
 *
 * V neighbouring elements of r for each thread; `len` is the extent of r over V, `picks` that of i.
 */

KERNEL
{
	I t = TID, s, r, o;
	long long j;

	if (t >= total)
		return;
	s = Q_len(t);
	r = (t - s * len) * V;
	o = Q_picks(s);
	j = (long long)idx[OFF_i_0(s - o * picks)];
	j = j < 0 ? j + axis_dim : j;
	pm_put(y + t * V, pm_get<V>(x + OFF_o_0(o) + (I)j * axis_stride + OFF_r_0(r)));
}
