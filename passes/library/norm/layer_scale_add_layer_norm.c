/* SPDX-License-Identifier: Apache-2.0 */
/* layer_scale_add_layer_norm.c - a residual branch scaled per channel, added and normalised, as one kernel.
 *
 *   s = residual + gamma * (x [+ bias]);  y = LayerNormalization(s);  s is used later too
 *
 * With E bytes per element: apart, Add 2 E, Mul 2 E, Add 3 E, norm 2 E: 3 or 4 launches and 7 or 9 E; here 1
 * launch reads 2 E and writes 2 E.
 *
 * Mined: 482 places in 19 of 811 models; in 1 of the 400 structures with most time at stake, the first of
 * rank 17. Measured on an H200: 1x197x768 float16 12.1 to 3.6 us (3.31x), PyTorch 16.1, TorchInductor 3.4.
 */
#include "../../common/norm_rows.h"

enum { SUM, RES, G, X, SCALE, BIAS, C };

/* Which operand of the product is gamma; with a bias the pattern says it. */
static PmVal gamma_of(PmMatch *m, PmVal *x)
{
	int swap = m->n_slots <= C && is_column_vector(m->v[X], m->v[SUM]) &&
		   pm_same_type(m->v[G], m->v[SUM]);

	*x = m->v[swap ? G : X];
	return m->v[swap ? X : G];
}

static PmStatus check(PmMatch *m)
{
	PmVal sum = m->v[SUM], x, g = gamma_of(m, &x);
	const char *why = layer_norm_refuse(m, m->v[SCALE], m->v[BIAS]);

	if (why)
		return pm_decline(m, why);
	if (!row_period(m->v[RES], sum) || !row_period(x, sum))
		return pm_decline(m, "an addend does not consist of whole rows of the sum");
	if (!is_column_vector(g, sum) || (m->n_slots > C && !is_column_vector(m->v[C], sum)))
		return pm_decline(m, "gamma or the bias does not have one element per column");
	if (!only_leaves(m, sum))
		return pm_decline(m, "a value other than the sum is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal x, g = gamma_of(m, &x);
	NormRows p = { .a = m->v[RES],
		       .b = x,
		       .g = g,
		       .scale = m->v[SCALE],
		       .bias = m->v[BIAS],
		       .flags = NORM_CENTER,
		       .ra = row_period(m->v[RES], m->v[SUM]),
		       .rb = row_period(x, m->v[SUM]),
		       .eps = pm_attr_f(m->root, "epsilon", 1e-5) };

	if (m->n_slots > C)
		p.c = m->v[C];
	if (m->out.n > 1) {
		p.flags |= NORM_KEEP;
		if (pm_replace_slot(rw, m, SUM))
			return PM_DECLINED;
	}
	return norm_rows_replace(rw, m, &p);
}

#define NORM(p)                                                                                              \
	WITH(ANYATTR(OP(LayerNormalization, AS(SUM, OP(Add, V(RES), OP(Mul, V(G), p))), V(SCALE), V(BIAS))), \
	     INT(axis, -1))

PM_RULE(layer_scale_bias_add_layer_norm,
	.doc = "LayerNormalization(residual + gamma * (x + bias)), and the sum -> one kernel",
	.pattern = NORM(OP(Add, TYPED(V(X), FLOATS, -1), V(C))), .check = check, .rewrite = rewrite);
PM_RULE(layer_scale_add_layer_norm,
	.doc = "LayerNormalization(residual + gamma * x), and the sum -> one kernel",
	.pattern = NORM(TYPED(V(X), FLOATS, -1)), .check = check, .rewrite = rewrite);

PM_PLUGIN("layer_scale_add_layer_norm", "1", &layer_scale_bias_add_layer_norm, &layer_scale_add_layer_norm)
