/* SPDX-License-Identifier: Apache-2.0 */
/* eval_gather.c - gathers: index arithmetic with indices that are data. */
#include "../fuse.h"

enum { KEY_GATHER = -16 }; /* minus the operation: the index that a gather reads */

/* The element of the index operand at co, as an index below `extent`. */
static Ix data_index(Ctx *c, int op, const Ix *co, int64_t extent)
{
	const Op *o = &c->g->op[op];
	int idx = o->in[1], rank = c->g->op[idx].rank, key = KEY_GATHER - op, found, v;
	uint32_t deps = f_deps(c, co, rank);
	Place p = { c->b.out, c->b.at_row, c->b.branch };
	Stmt *s;
	Ix x;

	if (c->g->op[idx].kind == OP_NUM) {
		int64_t k = (int64_t)c->g->op[idx].num[0];

		return ix_const(c->ix, k < 0 ? k + extent : k);
	}
	found = f_memo_find(c, key, co, rank);
	if (found >= 0)
		return found;
	v = f_eval(c, idx, co);
	if (c->fail)
		return 0;
	if (c->b.nest.var[v].row && !(deps & ~f_row_deps(c)))
		p = f_enter_row(c);
	else if (c->b.branch || !(deps & ~f_row_deps(c)))
		deps |= DEP_HERE;
	if (!c->b.nest.var[v].lanes)
		deps &= ~(uint32_t)DEP_LANE;
	x = f_new_index(c, INDEX_FOUND, extent - 1, deps, c->b.nest.var[v].lanes);
	s = f_emit_to(c, ST_PICK, -1, v);
	s->def = x;
	s->n = extent;
	f_memo_add(c, key, co, rank, x);
	f_leave(c, &p);
	return x;
}

static int gather(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op], *x = &c->g->op[o->in[0]], *i = &c->g->op[o->in[1]];
	Ix at[F_RANK];
	int d;

	for (d = 0; d < x->rank; d++)
		at[d] = d < o->axis ? co[d] : d == o->axis ? 0 : co[d + i->rank - 1];
	if (o->par)
		at[o->axis] = ix_plus(
			c->ix,
			ix_scale(c->ix, ix_flat(c->ix, co + o->axis, i->dim, i->rank), o->par[STEPS_STEP]),
			o->par[STEPS_START]);
	else
		at[o->axis] = data_index(c, op, co + o->axis, x->dim[o->axis]);
	return f_eval(c, o->in[0], at);
}

static int gather_elements(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op], *x = &c->g->op[o->in[0]];
	Ix at[F_RANK];
	int d;

	for (d = 0; d < x->rank; d++)
		at[d] = co[d];
	at[o->axis] = data_index(c, op, co, x->dim[o->axis]);
	return f_eval(c, o->in[0], at);
}

/* The last axis of the indices holds a place on the first axes of the operand. */
static int gather_nd(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op], *x = &c->g->op[o->in[0]], *i = &c->g->op[o->in[1]];
	int tuple = (int)i->dim[i->rank - 1], d;
	Ix at[F_RANK], of[F_RANK];

	for (d = 0; d + 1 < i->rank; d++)
		of[d] = co[d];
	for (d = 0; d < x->rank; d++) {
		if (d < tuple) {
			of[i->rank - 1] = ix_const(c->ix, d);
			at[d] = data_index(c, op, of, x->dim[d]);
		} else {
			at[d] = co[i->rank - 1 + d - tuple];
		}
	}
	return f_eval(c, o->in[0], at);
}

int f_eval_gather(Ctx *c, int op, const Ix *co)
{
	switch (c->g->op[op].kind) {
	case OP_GATHER:
		return gather(c, op, co);
	case OP_GATHER_ELEMENTS:
		return gather_elements(c, op, co);
	default:
		return gather_nd(c, op, co);
	}
}
