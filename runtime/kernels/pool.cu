/* pool.cu - maximum (MAX) or average over windows of up to three spatial dimensions.
 *
 * Lists as in conv.cu. The average divides by the elements inside the input, or with INCLUDE_PAD by those inside
 * the padded input (a ceil_mode window may reach past it). y_idx receives the flat index of the maximum.
 */

KERNEL
{
	I t = TID, r, ow, oh, od, c, nc, inside = 0, padded = 0;
#ifdef HAS_INDEX
	I best = 0;
#endif
	A acc = START;

	if (t >= total)
		return;
	ow = t % y_4, r = t / y_4;
	oh = r % y_3, r /= y_3;
	od = r % y_2, r /= y_2;
	c = r % y_1;
	nc = r;
	(void)nc, (void)padded;
	x += r / y_1 * xs_0 + c * xs_1;
	for (I i = 0; i < kd_0; i++)
		for (I j = 0; j < kd_1; j++)
			for (I l = 0; l < kd_2; l++) {
				I id = od * st_0 - pad_0 + i * dil_0, ih = oh * st_1 - pad_1 + j * dil_1,
				  iw = ow * st_2 - pad_2 + l * dil_2;
				A v;

				if (id < xd_0 + end_0 && ih < xd_1 + end_1 && iw < xd_2 + end_2)
					padded++;
				if (id < 0 || id >= xd_0 || ih < 0 || ih >= xd_1 || iw < 0 || iw >= xd_2)
					continue;
				v = (A)pm_ld(x[id * xs_2 + ih * xs_3 + iw * xs_4]);
#ifdef MAX
				if (v > acc || !inside || v != v) {
					acc = v;
#ifdef HAS_INDEX
					best = COLUMN_MAJOR ? (iw * xd_1 + ih) * xd_0 + id :
					                      (id * xd_1 + ih) * xd_2 + iw;
#endif
				}
#else
				acc += v;
#endif
				inside++;
			}
#ifdef MAX
	pm_st(&y[t], acc);
#ifdef HAS_INDEX
	y_idx[t] = (long long)nc * xd_0 * xd_1 * xd_2 + best;
#endif
#else
#ifdef INCLUDE_PAD
	pm_st(&y[t], acc / (A)(padded ? padded : 1));
#else
	pm_st(&y[t], acc / (A)(inside ? inside : 1));
#endif
#endif
}
