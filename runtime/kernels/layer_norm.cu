/* layer_norm.cu - normalises rows of `len` contiguous elements; one thread per row, two passes. */

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
		A v = ((A)pm_ld(x[r]) - mean) * inv * (A)pm_ld(scale[OFF_w_0(r)]);
#ifdef HAS_BIAS
		v += (A)pm_ld(bias[OFF_w_1(r)]);
#endif
		pm_st(&y[r], v);
	}
#ifdef HAS_MEAN
	pm_st(&y_mean[t], mean);
#endif
#ifdef HAS_INV
	pm_st(&y_inv[t], inv);
#endif
}
