/* SPDX-License-Identifier: Apache-2.0 */
/* eval_pool.c - pools: a window of each element, in loops of one thread. */
#include "../fuse.h"

/* One axis of the window: the loop, the index in the operand, and whether it can lie outside. */
static Ix tap(Ctx *c, const Op *o, int d, Ix at, int *outside)
{
	const int64_t *kernel = o->par, *stride = o->par + F_RANK, *dilation = o->par + 2 * F_RANK,
		      *pad = o->par + 3 * F_RANK;
	Ix w = f_loop_alone(c, FOR_TAPS, kernel[d]);
	Ix x = ix_add(c->ix, ix_scale(c->ix, at, stride[d]), ix_scale(c->ix, w, dilation[d]));

	x = ix_plus(c->ix, x, -pad[d]);
	*outside = c->ix->lin[x].lo < 0 || c->ix->lin[x].hi >= c->g->op[o->in[0]].dim[d + 2];
	return x;
}

static void when_inside(Ctx *c, Stmt *s, const Op *o, const Ix *at, const int *outside)
{
	int d;

	for (d = 0; d + 2 < o->rank; d++) {
		if (!outside[d])
			continue;
		f_when_from(c, s, at[d + 2], 0);
		f_when_below(c, s, at[d + 2], c->g->op[o->in[0]].dim[d + 2]);
	}
}

/* Taps that count: in the operand, or also in the padding but not behind it. */
static void count_tap(Ctx *c, const Op *o, const Ix *at, const int *outside, int count)
{
	Stmt *s = f_emit_to(c, ST_COUNT, count, -1);
	int d;

	if (!o->mode) {
		when_inside(c, s, o, at, outside);
		return;
	}
	for (d = 0; d + 2 < o->rank; d++)
		if (outside[d])
			f_when_below(c, s, at[d + 2],
				     c->g->op[o->in[0]].dim[d + 2] + o->par[3 * F_RANK + o->rank - 2 + d]);
}

/* Asks in front of the loops for what is the same at all taps of a window: operands with one element along
 * its `spatial` last axes, such as a norm's scale. Where a tap asks, its branch keeps the compiler from
 * sharing them. */
static void shared_by_taps(Ctx *c, int op, const Ix *co, int spatial, int depth)
{
	const Op *o = &c->g->op[op];
	int k, d;

	if (!depth || !f_computed(c, o) || (o->kind != OP_EW && o->kind != OP_FOLD && o->kind != OP_CAST))
		return;
	for (k = 0; k < o->n_in && !c->fail; k++) {
		const Op *x = o->in[k] < 0 ? NULL : &c->g->op[o->in[k]];
		Ix at[F_RANK];
		int one = 1;

		if (!x || x->kind == OP_NUM)
			continue;
		for (d = 0; d < x->rank; d++) {
			at[d] = x->dim[d] == 1 ? ix_const(c->ix, 0) : co[d + o->rank - x->rank];
			one &= d < x->rank - spatial || x->dim[d] == 1;
		}
		if (x->kind == OP_SPREAD && x->axis < x->rank - spatial)
			f_eval(c, x->in[0], &at[x->axis]);
		else if (one)
			f_eval(c, o->in[k], at);
		else
			shared_by_taps(c, o->in[k], at, spatial, depth - 1);
	}
}

int f_eval_pool(Ctx *c, int op, const Ix *co)
{
	enum { DEEP = 8 };
	const Op *o = &c->g->op[op];
	int outside[F_RANK] = { 0 }, d, some = 0, acc, count = -1, v, mark = f_mark(c);
	Block *out = c->b.out;
	Stmt *s;
	uint32_t deps = 0;
	Ix at[F_RANK];

	for (d = 0; d < o->rank; d++)
		deps |= c->ix->lin[co[d]].deps;
	acc = f_new_var(c, o->dtype, (deps & DEP_LANE) != 0);
	f_begin(c, acc, f_red_start(o));
	if (o->red == RED_AVG) {
		count = f_new_var(c, o->dtype, 0);
		f_begin(c, count, START_ZERO);
	}
	shared_by_taps(c, o->in[0], co, o->rank - 2, DEEP);
	at[0] = co[0];
	at[1] = co[1];
	for (d = 0; d + 2 < o->rank; d++) {
		at[d + 2] = tap(c, o, d, co[d + 2], &outside[d]);
		some |= outside[d];
	}
	if (count >= 0)
		count_tap(c, o, at, outside, count);
	c->b.branch++;
	if (some) {
		s = f_emit(c, ST_IF);
		when_inside(c, s, o, at, outside);
		f_open(c, s);
		for (d = 0; d + 2 < o->rank; d++)
			if (outside[d])
				at[d + 2] = f_confine(c, at[d + 2], c->g->op[o->in[0]].dim[d + 2] - 1);
	}
	v = f_eval(c, o->in[0], at);
	c->b.branch--;
	if (v < 0)
		return -1;
	c->b.nest.var[acc].exact |= f_red_extreme(o) && c->b.nest.var[v].exact;
	f_red_step(c, o, acc, v, c->b.nest.var[acc].lanes);
	f_close(c, out);
	f_forget(c, mark);
	if (count >= 0)
		f_emit_to(c, ST_DIVIDE, acc, count);
	return acc;
}
