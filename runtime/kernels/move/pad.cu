/* pad.cu - constant, edge or reflect padding (negative pads crop); any input strides.
 *
 * By dimension d: yd_d = output extent, xd_d = input extent, xs_d = input stride, lo_d = elements added in front. DIMS
 * names the dimensions from the last to the second; the first is what is left. A thread makes U results, B apart.
 */

#if MODE == 0
#define PLACE(i, extent) inside = inside && (i) >= 0 && (i) < (extent);
#elif MODE == 1
#define PLACE(i, extent) i = (i) < 0 ? 0 : ((i) >= (extent) ? (extent) - 1 : (i));
#else
#define PLACE(i, extent)                                                                                     \
	while ((extent) > 1 && ((i) < 0 || (i) >= (extent)))                                                 \
		i = (i) < 0 ? -(i) : 2 * ((extent) - 1) - (i);                                               \
	i = (extent) == 1 ? 0 : (i);
#endif
#define DIM(d)                                                                                               \
	{                                                                                                    \
		const I q = Q_yd_##d(r);                                                                     \
		I i = r - q * yd_##d - lo_##d;                                                               \
                                                                                                             \
		r = q;                                                                                       \
		PLACE(i, xd_##d)                                                                             \
		off += i * xs_##d;                                                                           \
	}

KERNEL
{
#pragma unroll
	for (int u = 0; u < U; u++) {
		const I t = (I)blockIdx.x * (B * U) + u * B + (I)threadIdx.x;
		I r = t, off = 0;
		bool inside = t < total;

		if (t < total) {
			DIMS
			r -= lo_0;
			PLACE(r, xd_0)
			off += r * xs_0;
#ifdef HAS_VALUE
			y[t] = inside ? x[off] : *value;
#else
			y[t] = inside ? x[off] : (X)0.f;
#endif
		}
	}
}
/* SPDX-License-Identifier: Apache-2.0 */
