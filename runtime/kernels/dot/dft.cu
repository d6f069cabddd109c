/* dft.cu - discrete Fourier transform by the direct sum; one thread per (complex) result.
 *
 * `n` is the length, of which `used` elements are given; `re` is the distance of a complex number's parts.
 */

KERNEL
{
	I t = TID, f;
	long long w = 0;
	double a = 0, b = 0;

	if (t >= total)
		return;
	f = t / inner % out_n;
	x += OFF_o_0(t / inner / out_n * inner + t % inner);
	for (I j = 0; j < used; j++) {
		double angle = SIGN * 6.283185307179586476925286766559 * (double)w / (double)n;
		double c = cos(angle), s = sin(angle), v = (double)pm_ld(x[j * xs]);

#ifdef COMPLEX
		double u = (double)pm_ld(x[j * xs + re]);

		a += v * c - u * s;
		b += v * s + u * c;
#else
		a += v * c;
		b += v * s;
#endif
		w += f;
		w = w >= n ? w - n : w;
	}
	pm_st(&y[2 * t], SIGN > 0 ? a / (double)n : a);
	pm_st(&y[2 * t + 1], SIGN > 0 ? b / (double)n : b);
}
/* SPDX-License-Identifier: Apache-2.0 */
