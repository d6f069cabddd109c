/* group_norm.cu - normalises groups of channels, each `len` contiguous elements of x; one thread per group.
 *
 * A group has len / plane channels; scale and bias have one element per channel.
 */

extern "C" __global__ void k(PARAMS)
{
	I t = TID;
	A mean = 0, var = 0, inv;

	if (t >= rows)
		return;
	x += t * len;
	y += t * len;
	PM_SUM(mean, r, len, (A)pm_ld(x[r]))
	mean /= (A)len;
	PM_SUM(var, r, len, pm_square((A)pm_ld(x[r]) - mean))
	inv = 1 / sqrt(var / (A)len + (A)eps);
	for (I r = 0; r < len; r++) {
		I c = (t % groups) * (len / plane) + r / plane;

		pm_st(&y[r], ((A)pm_ld(x[r]) - mean) * inv * (A)pm_ld(scale[c]) + (A)pm_ld(bias[c]));
	}
}
