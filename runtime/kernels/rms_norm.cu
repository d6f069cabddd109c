/* rms_norm.cu - divides rows of `len` contiguous elements by their root mean square; one thread per row. */

extern "C" __global__ void k(PARAMS)
{
	I t = TID;
	A squares = 0, inv;

	if (t >= rows)
		return;
	x += t * len;
	y += t * len;
	PM_SUM(squares, r, len, pm_square((A)pm_ld(x[r])))
	inv = 1 / sqrt(squares / (A)len + (A)eps);
	for (I r = 0; r < len; r++)
		pm_st(&y[r], (A)pm_ld(x[r]) * inv * (A)pm_ld(scale[OFF_w_0(r)]));
}
