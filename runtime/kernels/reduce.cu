/* reduce.cu - y[o] = FIN(reduction over r of STEP(acc, x[o, r])); one thread per result.
 *
 * A is the type of the accumulator; INIT its start value. An empty reduction gives FIN(INIT).
 */

extern "C" __global__ void k(PARAMS)
{
	I t = TID;
	A acc = INIT;

	if (t >= N_o)
		return;
	x += OFF_o_0(t);
	for (I r = 0; r < N_r; r++) {
		A v = (A)pm_ld(x[OFF_r_0(r)]);

		acc = STEP(acc, v);
	}
	pm_st(&y[t], FIN(acc));
}
