/* arg.cu - index of the largest (or smallest) element along one axis; one thread per result. */

extern "C" __global__ void k(PARAMS)
{
	I t = TID, best = 0;
	A top;

	if (t >= N_o)
		return;
	x += OFF_o_0(t);
	top = (A)pm_ld(x[0]);
	for (I r = 1; r < len; r++) {
		A v = (A)pm_ld(x[r * xs]);

		if (v != v || top != top ? v != v && (top == top || LAST) : v == top ? LAST : BETTER(v, top)) {
			top = v;
			best = r;
		}
	}
	pm_st(&y[t], (long long)best);
}
