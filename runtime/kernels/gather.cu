/* gather.cu - y[o, i, r] = x[o, idx[i], r]: rows picked along one axis; negative indices count from the end. */

extern "C" __global__ void k(PARAMS)
{
	I t = TID, r, i;
	long long j;

	if (t >= total)
		return;
	r = t % N_r;
	i = t / N_r % N_i;
	j = (long long)idx[OFF_i_0(i)];
	j = j < 0 ? j + axis_dim : j;
	y[t] = x[OFF_o_0(t / N_r / N_i) + (I)j * axis_stride + OFF_r_0(r)];
}
