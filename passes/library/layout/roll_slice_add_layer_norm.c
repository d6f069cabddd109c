/* SPDX-License-Identifier: Apache-2.0 */
/* roll_slice_add_layer_norm.c - the end of a shifted-window attention block as one kernel.
 *
 *   s = residual + reshape(cut(roll(x)));  y = LayerNormalization(s);  s is used later too
 *
 * Exporters write roll over two axes as Slice, Slice, Concat, twice; the cut that drops padding as up to two
 * Slices. With E bytes per element: apart, the two Concats move 4 E, Slice and Reshape are views or one copy
 * (2 E), Add 3 E, norm 2 E: 4 or 5 launches and 9 to 11 E. Here 1 launch reads 2 E and writes 2 E.
 * window_reverse_add_layer_norm.c goes further down, to the windows.
 *
 * Mined: 37 places in 7 of 811 models; in 1 of the 400 structures with most time at stake, the first of
 * rank 124. Measured on an H200: 133x133x96 to 128x128 float16 19.8 to 5.8 us (3.40x), PyTorch 48.3,
 * TorchInductor 6.3; 35x35x384 to 32x32 float16 14.8 to 4.0 us (3.69x), PyTorch 20.2, TorchInductor 4.3.
 */
#include "../../common/window.h"

enum { X, ROLLED, RES, SCALE, BIAS, SUM };

static PmStatus check(PmMatch *m)
{
	PmVal x = m->v[X], sum = m->v[SUM];
	const char *why;
	NormWindow w;

	if (pm_numel(sum) <= 0 || pm_numel(x) <= 0)
		return pm_decline(m, "x or the sum is empty or its size is not known");
	why = find_window(other_addend(sum, m->v[RES]), x, 1, &w);
	if (why)
		return pm_decline(m, why);
	if (pm_dim(sum, -1) != pm_dim(x, 3) ||
	    pm_numel(sum) != pm_dim(x, 0) * w.out[0] * w.out[1] * pm_dim(x, 3) || !row_period(m->v[RES], sum))
		return pm_decline(m, "the residual does not line up with the rows of the window");
	why = layer_norm_refuse(m, m->v[SCALE], m->v[BIAS]);
	if (why)
		return pm_decline(m, why);
	if (!only_leaves(m, sum))
		return pm_decline(m, "a value other than the sum is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal sum = m->v[SUM];
	NormRows p = { .a = m->v[RES],
		       .b = m->v[X],
		       .scale = m->v[SCALE],
		       .bias = m->v[BIAS],
		       .ra = row_period(m->v[RES], sum),
		       .flags = NORM_CENTER | NORM_WINDOW,
		       .eps = pm_attr_f(m->root, "epsilon", 1e-5) };

	if (m->out.n > 1) {
		p.flags |= NORM_KEEP;
		if (pm_replace_slot(rw, m, SUM))
			return PM_DECLINED;
	}
	if (find_window(other_addend(sum, m->v[RES]), m->v[X], 1, &p.window))
		return PM_DECLINED;
	return norm_rows_replace(rw, m, &p);
}

PM_RULE(roll_slice_add_layer_norm,
	.doc = "LayerNormalization(residual + cut of a two-axis roll), and the sum -> one kernel",
	.pattern = WINDOW_NORM(WINDOW_CUT(WINDOW_ROLL(ROLLED, TYPED(V(X), FLOATS, 4)))), .check = check,
	.rewrite = rewrite);

PM_PLUGIN("roll_slice_add_layer_norm", "1", &roll_slice_add_layer_norm)
