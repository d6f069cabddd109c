/* quantize.cu - y = round(x / scale) + zero, saturated; or with DEQUANTIZE y = (x - zero) * scale.
 *
 * One thread per element. Its scale stands at outer * so + (index of the axis / block) * sa + inner * si.
 */

KERNEL
{
	I t = TID, s, i, o;

	if (t >= N_o)
		return;
	i = Q_inner(t);
	o = Q_dim(i);
	s = o * so + Q_block((i - o * dim)) * sa + (t - i * inner) * si;
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
/* SPDX-License-Identifier: Apache-2.0 */
