/* softmax.cu - softmax (or its logarithm) along one axis; one thread per row. */

extern "C" __global__ void k(PARAMS)
{
	I t = TID;
	A top = -(A)INFINITY, sum = 0;

	if (t >= N_o)
		return;
	x += OFF_o_0(t);
	y += OFF_o_1(t);
	for (I r = 0; r < len; r++) {
		A v = pm_ld(x[r * xs]);

		top = v > top || v != v ? v : top;
	}
	for (I r = 0; r < len; r++)
		sum += exp((A)pm_ld(x[r * xs]) - top);
#ifdef LOG_SOFTMAX
	sum = log(sum);
	for (I r = 0; r < len; r++)
		pm_st(&y[r * ys], (A)pm_ld(x[r * xs]) - top - sum);
#else
	sum = 1 / sum;
	for (I r = 0; r < len; r++)
		pm_st(&y[r * ys], exp((A)pm_ld(x[r * xs]) - top) * sum);
#endif
}
