/* non_zero.cu - the coordinates of the elements that are not 0, in order. One block: every thread counts a run of
 * the elements, the first turns the counts into places, every thread writes its run.
 *
 * The result has room for `want` of them; another number of them cannot be given and stops the kernel.
 */

KERNEL
{
	__shared__ I place[256];
	const I dim[] = { V_xd };
	I each = (N_o + 255) / 256, from = (I)threadIdx.x * each, to = from + each < N_o ? from + each : N_o, n = 0;

	for (I i = from; i < to; i++)
		n += pm_ld(x[OFF_o_0(i)]) != 0;
	place[threadIdx.x] = n;
	__syncthreads();
	if (threadIdx.x == 0) {
		I sum = 0;

		for (int i = 0; i < 256; i++) {
			I here = place[i];

			place[i] = sum;
			sum += here;
		}
		if (sum != want)
			__trap();
	}
	__syncthreads();
	n = place[threadIdx.x];
	for (I i = from; i < to; i++) {
		I rest = i;

		if (!(pm_ld(x[OFF_o_0(i)]) != 0))
			continue;
		for (int d = RANK - 1; d >= 0; d--) {
			y[d * want + n] = rest % dim[d];
			rest /= dim[d];
		}
		n++;
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
