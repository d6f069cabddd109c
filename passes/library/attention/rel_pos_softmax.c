/* SPDX-License-Identifier: Apache-2.0 */
/* rel_pos_softmax.c - attention scores plus a relative position bias that is gathered from a table, and
 * softmax, as one kernel.
 *
 *   y = softmax(x [* s] + permute(table[index]))       x [B, heads, Q, K], table [N, heads], index [Q, K]
 *
 * Exporters write the gather as GatherND or Gather of the flattened index, then Reshape, Transpose,
 * Unsqueeze. With E bytes per score of one image, for B images: apart, the gather writes E, the transposed
 * copy moves 2 E, Add 2 E B + E, Softmax 2 E B: 3 to 5 launches and 4 E B + 4 E; here 1 launch and 2 E B, as
 * the table stays in cache.
 *
 * Mined: 266 places in 27 of 811 models; in 4 of the 400 structures with most time at stake, the first of
 * rank 30. Measured on an H200: 1x12x197x197 float16 12.0 to 6.8 us (1.76x), PyTorch 15.1, TorchInductor
 * 7.2.
 */
#include "../../common/softmax.h"

enum { X, TABLE, INDEX, BIAS };

/* Down from the bias: [1, heads, Q, K] or [heads, Q, K]. Returns NULL, or why it is none. */
static const char *read_bias(PmMatch *m, Parts *p)
{
	static const int64_t perm[3] = { 2, 0, 1 };
	PmVal sum = pm_in(m->root, 0), v = m->v[BIAS], table = m->v[TABLE], index = m->v[INDEX];
	PmVal moved = pm_is_op(v, Unsqueeze) ? pm_in(v, 0) : v;
	int64_t heads = pm_dim(table, 1), q = pm_dim(moved, 1), k = pm_dim(moved, 2);
	PmVal scores = pm_in(sum, pm_same(pm_in(sum, 0), v) ? 1 : 0);
	const char *why = read_term(m, scores, &p->x);

	if (why)
		return why;
	if (!has_perm(moved, 3, perm) || pm_dim(pm_in(moved, 0), 2) != heads)
		return "the gathered rows are not moved to [heads, queries, keys]";
	if (pm_dim(moved, 0) != heads || pm_rank(sum) < 3 || pm_dim(sum, -1) != k || pm_dim(sum, -2) != q ||
	    pm_dim(sum, -3) != heads || !pm_same_type(p->x.v, sum))
		return "the bias does not cover the scores of one image";
	if (pm_dtype(index) != PM_I64 || pm_numel(index) != q * k || pm_numel(table) > INT32_MAX)
		return "the index is not one 64-bit number for each score of a head";
	p->mask = (Term){ table, 0, 1 };
	p->index = index;
	p->has_mask = 2;
	p->walk = (Walk){ heads, q, { pm_dim(table, 0), 0, 0 }, 0 };
	return 0;
}

static PmStatus check(PmMatch *m)
{
	int64_t n = pm_numel(m->root), len = pm_dim(m->root, -1);
	const char *why;
	Parts p;

	if (n <= 0 || len < 1 || pm_numel(m->v[TABLE]) < 1)
		return pm_decline(m, "the scores are empty or their size is not known");
	if (len > MAX_ROW || n / len > INT32_MAX)
		return pm_decline(m, "a row is longer, or rows are more, than the kernel can index");
	if (m->out.n > 1)
		return pm_decline(m, "the bias is used outside");
	why = read_bias(m, &p);
	return why ? pm_decline(m, why) : PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	Parts p;

	return read_bias(m, &p) ? PM_DECLINED : softmax_emit(rw, m, m->root, &p, 0);
}

#define ROW_NUMBERS ANYATTR(OPT(Reshape, TYPED(V(INDEX), TYPE(I64), -1)))
#define GATHERED                                                                                             \
	ALT(OP(GatherND, TYPED(V(TABLE), FLOATS, 2), WITH(OP(Unsqueeze, ROW_NUMBERS), INTS(axes, 1))),       \
	    WITH(OP(Gather, V(TABLE), ROW_NUMBERS), INT(axis, 0)))
#define MOVED ANYATTR(OP(Transpose, ANYATTR(OP(Reshape, GATHERED, ANY))))
#define BIASED(p)                                                                                            \
	WITH(OP(Softmax, OP(Add, p, AS(BIAS, ALT(WITH(OP(Unsqueeze, MOVED), INTS(axes, 0)), MOVED)))),       \
	     INT(axis, -1))

PM_RULE(rel_pos_softmax, .doc = "Softmax(x + bias gathered from a table) -> one kernel",
	.pattern = BIASED(TYPED(V(X), FLOATS, -1)), .check = check, .rewrite = rewrite);
PM_RULE(scaled_rel_pos_softmax, .doc = "Softmax(x * s + bias gathered from a table) -> one kernel",
	.pattern = BIASED(SOFTMAX_SCALED(TYPED(V(X), FLOATS, -1))), .check = check, .rewrite = rewrite);

PM_PLUGIN("rel_pos_softmax", "1", &scaled_rel_pos_softmax, &rel_pos_softmax)
