/* quantize.cu - y = round(x / scale) + zero, saturated; or with DEQUANTIZE y = (x - zero) * scale.
 *
 * One thread per element. Its scale stands at outer * so + (index of the axis / block) * sa + inner * si.
 */

extern "C" __global__ void k(PARAMS)
{
	I t = TID, s, i;

	if (t >= N_o)
		return;
	i = t / inner;
	s = i / dim * so + i % dim / block * sa + t % inner * si;
#ifdef DEQUANTIZE
	long long v = pm_ld(x[OFF_o_0(t)]);

#ifdef HAS_ZERO
	v -= pm_ld(zero[s * zs]);
#endif
	pm_st(&y[t], (A)v * (A)pm_ld(scale[s]));
#else
	A q = rint((A)pm_ld(x[OFF_o_0(t)]) / (A)pm_ld(scale[s]));

#ifdef HAS_ZERO
	q += (A)pm_ld(zero[s * zs]);
#endif
	pm_st(&y[t], q);
#endif
}
