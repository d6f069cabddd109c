/* eye_like.cu - 1 on one diagonal of a matrix; one thread per result. */

extern "C" __global__ void k(PARAMS)
{
	I t = TID;

	if (t < total)
		pm_st(&y[t], (long long)(t % cols - t / cols == shift));
}
