/* SPDX-License-Identifier: Apache-2.0 */
/* add_layer_norm.c - residual addition and layer normalisation as one kernel, also when the sum is used
 * later.
 *
 * Per element of x + residual -> LayerNorm, with E bytes each: apart, two launches move 3 E (Add) and 2 E
 * (norm, when a row stays in cache) = 5 E; here one launch moves 2 E in, 1 E out and, where the sum is used
 * again, 1 E more: 3 or 4 E. With a bias in front (x + bias + residual) it is 3 launches and 7 E before.
 * Each addend may repeat its rows: a bias of shape [H], a position embedding of shape [1, S, H].
 *
 * Mined: 12053 places in 441 of 811 models; in 38 of the 400 structures with most time at stake, the first
 * of rank 4.
 */
#include "../../common/norm_rows.h"

#include "add_layer_norm.cu.h"

/* BIAS and C come last: not every rule has them. */
enum { SUM, A, B, SCALE, BIAS, C };

enum { MAX_ROW = 1 << 30 };

static PmStatus check(PmMatch *m)
{
	PmVal sum = m->v[SUM];
	int64_t n = pm_numel(sum), h = pm_dim(sum, -1);
	uint32_t i;

	if (n <= 0 || h < 1)
		return pm_decline(m, "the sum is empty or its size is not known");
	if (h > MAX_ROW || n / h > INT32_MAX)
		return pm_decline(m, "a row is longer, or rows are more, than the kernel can index");
	if (!row_period(m->v[A], sum) || !row_period(m->v[B], sum) ||
	    (m->n_slots > C && !row_period(m->v[C], sum)))
		return pm_decline(m, "an addend does not consist of whole rows of the sum");
	if (pm_same(m->v[A], m->v[B]))
		return pm_decline(m, "both addends are the same value");
	if (!pm_same_dtype(m->v[SCALE], sum) || (m->n_slots > BIAS && !pm_same_dtype(m->v[BIAS], sum)))
		return pm_decline(m, "scale or bias has another element type than the sum");
	if (pm_numel(m->v[SCALE]) != h || (m->n_slots > BIAS && pm_numel(m->v[BIAS]) != h))
		return pm_decline(m, "scale or bias does not have one element per column");
	if (pm_attr_i(m->root, "stash_type", 1) != 1)
		return pm_decline(m, "mean and variance are asked for in another precision than float");
	for (i = 0; i < m->out.n; i++)
		if (!pm_same(m->out.v[i], m->root) && !pm_same(m->out.v[i], sum))
			return pm_decline(m, "a value other than the sum is used outside");
	return PM_OK;
}

/* A row that is too long to be held in registers. */
static PmStatus replace_long(PmRewriter *rw, PmMatch *m, const NormRows *p, int keep)
{
	int64_t h = pm_dim(m->root, -1), rows = pm_numel(m->root) / h;
	PmVal in[5] = { p->a, p->b, p->scale };
	uint32_t n = 3, at_bias = 2, at_c = 0;

	if (p->bias.id)
		in[at_bias = n++] = p->bias;
	if (p->c.id)
		in[at_c = n++] = p->c;
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "add_layer_norm", .source = add_layer_norm_cu, .grid = { (uint32_t)rows },
		.block = { 256 }, .in = { in, n }, .like = m->root,
		.arg = PM_ARGS(IN(0), IN(1), IN(at_c), IN(2), IN(at_bias), OUT(0), OUT(keep ? 1 : 0),
			       I64(rows), I64(p->ra), I64(p->rb), I64(p->rc), I32(h), F32(p->eps)),
		.define = PM_DEFINES(DEF(N_ADD, p->c.id ? 3 : 2), DEF(HAS_BIAS, p->bias.id != 0),
				     DEF(KEEP, keep)));
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal sum = m->v[SUM];
	int keep = m->out.n > 1;
	NormRows p = { .a = m->v[A],
		       .b = m->v[B],
		       .scale = m->v[SCALE],
		       .ra = row_period(m->v[A], sum),
		       .rb = row_period(m->v[B], sum),
		       .rc = 1,
		       .flags = NORM_CENTER | (keep ? NORM_KEEP : 0),
		       .eps = pm_attr_f(m->root, "epsilon", 1e-5) };

	if (m->n_slots > BIAS)
		p.bias = m->v[BIAS];
	if (m->n_slots > C) {
		p.c = m->v[C];
		p.rc = row_period(p.c, sum);
	}
	if (keep && pm_replace_slot(rw, m, SUM))
		return PM_DECLINED;
	return norm_rows_refuse(sum) ? replace_long(rw, m, &p, keep) : norm_rows_replace(rw, m, &p);
}

#define LAST_AXIS(p) WITH(ANYATTR(p), INT(axis, -1)) /* any epsilon; check() looks at stash_type */
#define SUM_OF(p, q) AS(SUM, OP(Add, p, q))

PM_RULE(add_layer_norm_plain, .doc = "LayerNormalization(a + b) without bias -> one kernel",
	.pattern = LAST_AXIS(OP(LayerNormalization, SUM_OF(TYPED(V(A), FLOATS, -1), TYPED(V(B), FLOATS, -1)),
				V(SCALE))),
	.check = check, .rewrite = rewrite);

PM_RULE(add_layer_norm, .doc = "LayerNormalization(a + b), and a + b where it is used -> one kernel",
	.pattern = LAST_AXIS(OP(LayerNormalization, SUM_OF(TYPED(V(A), FLOATS, -1), TYPED(V(B), FLOATS, -1)),
				V(SCALE), V(BIAS))),
	.check = check, .rewrite = rewrite);

PM_RULE(bias_add_layer_norm,
	.doc = "LayerNormalization((a + b) + c), and the sum where it is used -> one kernel",
	.pattern = LAST_AXIS(OP(LayerNormalization,
				SUM_OF(OP(Add, TYPED(V(A), FLOATS, -1), TYPED(V(B), FLOATS, -1)), V(C)),
				V(SCALE), V(BIAS))),
	.check = check, .rewrite = rewrite);

PM_PLUGIN("add_layer_norm", "1", &add_layer_norm_plain, &add_layer_norm, &bias_add_layer_norm)
