/* SPDX-License-Identifier: Apache-2.0 */
/* window_reverse_add_layer_norm.c - windows back into an image, shifted or not, with residual, norm and the
 * bias of the projection in front, as one kernel.
 *
 *   s = residual + reshape(cut(roll(reverse(windows [+ bias]))));  y = LayerNormalization(s)
 *
 * `reverse` is Reshape, Transpose, Reshape; roll and cut as in roll_slice_add_layer_norm.c, both may be
 * absent. With E bytes per element: apart, bias 2 E, the transposed copy 2 E, two Concats 4 E, the cut 2 E,
 * Add 3 E, norm 2 E: 4 to 7 launches and 7 to 15 E. Here 1 launch reads 2 E and writes 1 or 2 E; rows are
 * found by index.
 *
 * Mined: 67 places in 7 of 811 models; in 2 of the 400 structures with most time at stake, the first of
 * rank 124. Measured on an H200: 64 windows of 7x7x96 float16 16.5 to 4.0 us (4.09x), PyTorch 25.6,
 * TorchInductor 4.6.
 */
#include "../../common/window.h"

enum { X, RES, SCALE, BIAS, SUM, SRC, ROLLED };

/* The projection's bias: the operand of the addition that is one row. NULL, or why there is none. */
static const char *read_source(PmMatch *m, PmVal *x, PmVal *bias)
{
	PmVal v = m->v[SRC], in0 = pm_in(v, 0), in1 = pm_in(v, 1);
	uint32_t i;

	*x = v;
	*bias = (PmVal){ 0 };
	for (i = 0; i < m->node.n && !pm_same(m->node.v[i], v); i++)
		;
	if (i == m->node.n) /* not a node of the match: comes from outside */
		return 0;
	*x = pm_same_type(in0, v) ? in0 : in1;
	*bias = pm_same_type(in0, v) ? in1 : in0;
	if (!pm_same_type(*x, v) || !is_column_vector(*bias, v))
		return "what is added to the windows is not one row";
	return 0;
}

static const char *read_window(PmMatch *m, NormWindow *w)
{
	PmVal x = m->v[X];
	const char *why = find_window(other_addend(m->v[SUM], m->v[RES]), x, find_op(m, "Concat").id != 0, w);

	return why ? why : find_windows(x, w);
}

static PmStatus check(PmMatch *m)
{
	PmVal x = m->v[X], sum = m->v[SUM], src, bias;
	const char *why;
	NormWindow w;

	if (pm_numel(sum) <= 0 || pm_numel(x) <= 0)
		return pm_decline(m, "x or the sum is empty or its size is not known");
	why = read_window(m, &w);
	if (!why)
		why = read_source(m, &src, &bias);
	if (!why)
		why = layer_norm_refuse(m, m->v[SCALE], m->v[BIAS]);
	if (why)
		return pm_decline(m, why);
	if (pm_dim(sum, -1) != pm_dim(x, 3) ||
	    pm_numel(sum) != pm_dim(x, 0) * w.out[0] * w.out[1] * pm_dim(x, 3) || !row_period(m->v[RES], sum))
		return pm_decline(m, "the residual does not line up with the rows of the window");
	if (!only_leaves(m, sum))
		return pm_decline(m, "a value other than the sum is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	NormRows p = { .a = m->v[RES],
		       .scale = m->v[SCALE],
		       .bias = m->v[BIAS],
		       .ra = row_period(m->v[RES], m->v[SUM]),
		       .flags = NORM_CENTER | NORM_WINDOW,
		       .eps = pm_attr_f(m->root, "epsilon", 1e-5) };

	if (m->out.n > 1) {
		p.flags |= NORM_KEEP;
		if (pm_replace_slot(rw, m, SUM))
			return PM_DECLINED;
	}
	if (read_window(m, &p.window) || read_source(m, &p.b, &p.c))
		return PM_DECLINED;
	return norm_rows_replace(rw, m, &p);
}

#define BIASED AS(SRC, OP(Add, TYPED(ANY, FLOATS, -1), ANY))
#define PLAIN  TYPED(V(SRC), FLOATS, -1)

/* In the roll the image is named twice: first with what makes it, then as V(X). */
#define RULE(name_, form_, says_)                                                                            \
	PM_RULE(name_, .doc = "LayerNormalization(residual + " says_ "), and the sum -> one kernel",         \
		.pattern = WINDOW_NORM(WINDOW_CUT(form_)), .check = check, .rewrite = rewrite)

RULE(bias_reverse_roll, WINDOW_ROLL(ROLLED, AS(X, WINDOW_REVERSE(BIASED))), "roll of windows + bias");
RULE(reverse_roll, WINDOW_ROLL(ROLLED, AS(X, WINDOW_REVERSE(PLAIN))), "roll of windows");
RULE(bias_reverse, AS(X, WINDOW_REVERSE(BIASED)), "windows + bias");
RULE(reverse, AS(X, WINDOW_REVERSE(PLAIN)), "windows");

PM_PLUGIN("window_reverse_add_layer_norm", "1", &bias_reverse_roll, &reverse_roll, &bias_reverse, &reverse)
