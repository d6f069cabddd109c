/* pad.cu - constant, edge or reflect padding (negative pads crop); RANK dimensions, any input strides.
 *
 * Lists: yd = output extents, xd = input extents, xs = input strides, lo = elements added in front.
 */

KERNEL
{
	const I yd[] = { V_yd }, xd[] = { V_xd }, xs[] = { V_xs }, lo[] = { V_lo };
	I t = TID, r = t, off = 0;
	bool inside = true;

	if (t >= total)
		return;
	for (int d = RANK - 1; d >= 0; d--) {
		I i = r % yd[d] - lo[d];

		r /= yd[d];
#if MODE == 0
		inside = inside && i >= 0 && i < xd[d];
#elif MODE == 1
		i = i < 0 ? 0 : (i >= xd[d] ? xd[d] - 1 : i);
#else
		while (xd[d] > 1 && (i < 0 || i >= xd[d]))
			i = i < 0 ? -i : 2 * (xd[d] - 1) - i;
		i = xd[d] == 1 ? 0 : i;
#endif
		off += i * xs[d];
	}
#ifdef HAS_VALUE
	y[t] = inside ? x[off] : *value;
#else
	y[t] = inside ? x[off] : (X)0.f;
#endif
}
