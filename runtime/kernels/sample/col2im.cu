/* col2im.cu - every element of the image sums the columns' elements that were cut from its place.
 *
 * Axes are listed from the innermost on. One thread per element of the image.
 */

KERNEL
{
	const I image[] = { V_image }, block[] = { V_block }, dilation[] = { V_dilation }, pad[] = { V_pad },
		stride[] = { V_stride }, count[] = { V_count };
	I t = TID, at[AXES], rest = t;
	A sum = 0;

	if (t >= total)
		return;
	for (int d = 0; d < AXES; d++) {
		at[d] = rest % image[d] + pad[d];
		rest /= image[d];
	}
	x += rest * blocks * places;
	for (I b = 0; b < blocks; b++) {
		I left = b, to = 0, step = 1;
		int d = 0;

		for (; d < AXES; d++) {
			I p = at[d] - left % block[d] * dilation[d];

			if (p < 0 || p % stride[d] || p / stride[d] >= count[d])
				break;
			to += p / stride[d] * step;
			step *= count[d];
			left /= block[d];
		}
		if (d == AXES)
			sum = SUM(sum, (A)pm_ld(x[b * places + to]));
	}
	pm_st(&y[t], sum);
}
/* SPDX-License-Identifier: Apache-2.0 */
