/* SPDX-License-Identifier: Apache-2.0 */
/* rotary.c - rotary position embedding as one kernel, with the move of heads in front and the scale behind.
 *
 *   y = (x * cos + concat(-x[D/2:], x[:D/2]) * sin) [* s]        x [B, heads, S, D], often a Transpose of [B,
 * S, heads, D]
 *
 * With E bytes per element: apart, Mul 2 E, Slice, Neg E, Concat 2 E, Mul 2 E, Add 3 E, scale 2 E and, where
 * the Transpose is copied, 2 E: 5 to 8 launches and 10 to 14 E; here 1 launch and 2 E.
 *
 * Mined: 648 places in 17 of 811 models; in 15 of the 400 structures with most time at stake, the first of
 * rank 37. Measured on an H200: 1x256x16x64 float16 13.6 to 3.4 us (4.01x), PyTorch 21.5, TorchInductor
 * 3.0.
 */
#include "../../common/choose.h"
#include "../../common/shapes.h"

#include "rotary.cu.h"

enum { X, LOW, HIGH, COS, SIN, SRC, SCALE };

static int is_moved(PmMatch *m)
{
	return m->n_slots > SRC && m->v[SRC].id != 0;
}

/* The halves that Concat puts together: the second one negated, the first one. */
static int are_halves(PmMatch *m)
{
	int64_t axis, start, end, d = pm_dim(m->v[X], -1), last = pm_rank(m->v[X]) - 1;

	return d % 2 == 0 && slice_range(m->v[HIGH], &axis, &start, &end) && axis == last && start == d / 2 &&
	       end == d && slice_range(m->v[LOW], &axis, &start, &end) && axis == last && start == 0 &&
	       end == d / 2;
}

static PmStatus check(PmMatch *m)
{
	static const int64_t perm[4] = { 0, 2, 1, 3 };
	PmVal x = m->v[X];
	double s;

	if (pm_numel(x) <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	if (pm_numel(x) > INT32_MAX)
		return pm_decline(m, "x has more elements than the kernel can index");
	if (!are_halves(m))
		return pm_decline(m, "the parts that are swapped are not the halves of x's last axis");
	if (is_moved(m) && !has_perm(x, 4, perm))
		return pm_decline(m, "the transpose does not move heads before the sequence");
	if (!pm_same_shape(m->root, x) || !row_period(m->v[COS], x) || !row_period(m->v[SIN], x) ||
	    row_period(m->v[COS], x) != row_period(m->v[SIN], x))
		return pm_decline(m, "cos and sin do not repeat along leading axes of x");
	if (m->n_slots > SCALE && !pm_scalar(m->v[SCALE], &s))
		return pm_decline(m, "the scale is not one constant number");
	if (m->out.n > 1)
		return pm_decline(m, "a part of the rotation is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal x = m->v[X];
	int64_t n = pm_numel(x), d = pm_dim(x, -1), each = load_size(d / 2, x), rank = pm_rank(x);
	int moved = is_moved(m);
	double scale = 1;

	if (m->n_slots > SCALE)
		pm_scalar(m->v[SCALE], &scale);
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "rotary", .source = rotary_cu, .grid = { pm_blocks(n / 2 / each, 128) },
		.block = { 128 }, .in = PM_VALS(moved ? m->v[SRC] : x, m->v[COS], m->v[SIN]),
		.define = PM_DEFINES(DEF(N, each)), .like = m->root,
		.arg = PM_ARGS(I32(n / 2 / each), DIVISOR(d / 2 / each), DIVISOR(moved ? pm_dim(x, 1) : 1),
			       DIVISOR(rank > 1 ? pm_dim(x, -2) : 1), DIVISOR(row_period(m->v[COS], x)),
			       I32(moved), F32(scale)));
}

#define HALVES                                                                                               \
	WITH(OP(Concat, OP(Neg, AS(HIGH, ANYATTR(OP(Slice, V(X))))), AS(LOW, ANYATTR(OP(Slice, V(X))))),     \
	     INT(axis, -1))
#define ROTATED(p) OP(Add, OP(Mul, p, V(COS)), OP(Mul, HALVES, V(SIN)))
/* SRC is what the heads are moved from. */
#define MOVED AS(X, ANYATTR(OP(Transpose, TYPED(V(SRC), FLOATS, 4))))
#define PLAIN TYPED(V(X), FLOATS, -1)

PM_RULE(moved_rotary_scaled, .doc = "rotary embedding of moved heads, times a number -> one kernel",
	.pattern = OP(Mul, ROTATED(MOVED), V(SCALE)), .check = check, .rewrite = rewrite);
PM_RULE(rotary_scaled, .doc = "rotary embedding times a number -> one kernel",
	.pattern = OP(Mul, ROTATED(PLAIN), V(SCALE)), .check = check, .rewrite = rewrite);
PM_RULE(moved_rotary, .doc = "rotary embedding of moved heads -> one kernel", .pattern = ROTATED(MOVED),
	.check = check, .rewrite = rewrite);
PM_RULE(rotary, .doc = "rotary embedding -> one kernel", .pattern = ROTATED(PLAIN), .check = check,
	.rewrite = rewrite);

PM_PLUGIN("rotary", "1", &moved_rotary_scaled, &rotary_scaled, &moved_rotary, &rotary)
