/* trilu.cu - keeps one side of a diagonal of each matrix, zeros elsewhere. */

KERNEL
{
	I t = TID, off;

	if (t >= N_o)
		return;
	off = t % cols - t / cols % rows;
	y[t] = (UPPER ? off < shift : off > shift) ? (X)0.f : x[OFF_o_0(t)];
}
