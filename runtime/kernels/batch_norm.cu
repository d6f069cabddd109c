/* batch_norm.cu - y = (x - mean[c]) / sqrt(var[c] + eps) * scale[c] + bias[c], running statistics. */

extern "C" __global__ void k(PARAMS)
{
	I t = TID;

	if (t >= N_o)
		return;
	{
		I c = OFF_o_1(t);
		A inv = (A)pm_ld(scale[c]) / sqrt((A)pm_ld(var[c]) + (A)eps);

		pm_st(&y[t], ((A)pm_ld(x[OFF_o_0(t)]) - (A)pm_ld(mean[c])) * inv + (A)pm_ld(bias[c]));
	}
}
