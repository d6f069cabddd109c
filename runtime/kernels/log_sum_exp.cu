/* log_sum_exp.cu - y[o] = log of the sum over r of exp(x[o, r]), relative to the largest; one thread per result. */

extern "C" __global__ void k(PARAMS)
{
	I t = TID;
	double top = -(double)INFINITY, sum = 0;

	if (t >= N_o)
		return;
	x += OFF_o_0(t);
	for (I r = 0; r < N_r; r++) {
		double v = (double)pm_ld(x[OFF_r_0(r)]);

		top = v > top || v != v ? v : top;
	}
	for (I r = 0; r < N_r; r++) {
		double v = (double)pm_ld(x[OFF_r_0(r)]);

		sum += v == top ? 1 : exp(v - top);
	}
	pm_st(&y[t], sum == 0 ? log(sum) : top + log(sum));
}
