/* SPDX-License-Identifier: Apache-2.0 */
/* results.c - what stands behind a product: from the elements of its tile to those of the results. */
#include "../fuse.h"

/* ---- which product ---- */

static int under(Ctx *c, int op, int8_t *seen)
{
	const Op *o = &c->g->op[op];
	int found = 0, i;

	if (seen[op] || !f_computed(c, o))
		return 0;
	seen[op] = 1;
	if (o->kind == OP_DOT)
		return op;
	for (i = 0; i < o->n_in && found >= 0; i++) {
		int k = o->in[i] < 0 ? 0 : under(c, o->in[i], seen);

		if (k)
			found = found && found != k ? -1 : k;
	}
	return found;
}

int f_dot_under(Ctx *c, int op)
{
	int8_t seen[F_OPS] = { 0 };

	return under(c, op, seen);
}

static int reduced(Ctx *c, int op, int dot, int8_t *seen)
{
	const Op *o = &c->g->op[op];
	int i;

	if (seen[op] || op == dot || !f_computed(c, o))
		return 0;
	seen[op] = 1;
	if (o->kind == OP_REDUCE || o->kind == OP_POOL || o->kind == OP_LINEAR || o->kind == OP_SCATTER)
		return f_dot_under(c, op) == dot;
	for (i = 0; i < o->n_in; i++)
		if (o->in[i] >= 0 && reduced(c, o->in[i], dot, seen))
			return 1;
	return 0;
}

int f_reduced_after(Ctx *c, int op, int dot)
{
	int8_t seen[F_OPS] = { 0 };

	return reduced(c, op, dot, seen);
}

/* ---- whole rows ---- */

/* Axes of the product in front of those that are its columns. */
static int leading(const Op *o)
{
	return o->mode == FORM_POINT ? 1 : o->mode == FORM_IMAGE || o->mode == FORM_CONV ? 2 : o->rank - 1;
}

/* In a section of rows the product is asked for at any column, but in no other row than the threads' own. */
int f_eval_dot(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op];
	int lead = leading(o), d, var, lanes;
	Stmt *s;
	Ix own[F_RANK], at;

	if (c->apart)
		return f_eval_parts(c, op, co);
	if (c->sums)
		return o->par[4] ? f_eval(c, (int)o->par[4], co)
				 : f_fail(c, "a product is too large for a sum");
	if (c->b.probing) {
		for (d = 0; d < lead; d++)
			c->b.probe |= c->ix->lin[co[d]].deps;
		return f_new_var(c, PM_F32, 1);
	}
	if (op != c->s->dot || !c->s->rows)
		return f_fail(c, "a product is asked for at another place than its own");
	ix_unflat(c->ix, c->b.nest.row, o->dim, lead, own);
	for (d = 0; d < lead; d++)
		if (o->dim[d] > 1 && co[d] != own[d])
			return f_fail(c, "a row of the product asks for another one");
	at = ix_flat(c->ix, co + lead, o->dim + lead, o->rank - lead);
	lanes = (c->ix->lin[at].deps & DEP_LANE) != 0;
	if (c->ix->lin[at].lo < 0 || c->ix->lin[at].hi >= o->par[2])
		return f_fail(c, "a product is asked for outside of it");
	var = f_new_var(c, PM_F32, lanes);
	s = f_emit_to(c, ST_TILE, var, -1);
	s->lanes = (uint8_t)lanes;
	s->at = at;
	return var;
}

/* ---- from the product to a result ---- */

/* Coordinates of an operation whose operand is at `in`; 0 when its elements are not the operand's. */
static int forward(Ctx *c, const Op *o, const Op *x, const Ix *in, Ix *co)
{
	int d, lead = o->rank - x->rank;

	switch (o->kind) {
	case OP_RESHAPE:
		ix_unflat(c->ix, ix_flat(c->ix, in, x->dim, x->rank), o->dim, o->rank, co);
		return 1;
	case OP_TRANSPOSE:
		for (d = 0; d < o->rank; d++)
			co[d] = in[o->par[d]];
		return 1;
	case OP_EW:
	case OP_FOLD:
	case OP_CAST:
	case OP_SAME:
	case OP_EXPAND:
		for (d = 0; d < o->rank; d++)
			co[d] = d < lead ? ix_const(c->ix, 0) : in[d - lead];
		return f_numel(o) == f_numel(x);
	default:
		return 0;
	}
}

/* A part of x: its threads go on inside of "if (...) {". What x is there is known as the part's value too. */
static void enter_part(Ctx *c, int op, const Ix *in, Ix *co)
{
	const Op *o = &c->g->op[op];
	int d, x = f_eval(c, o->in[0], in);
	Stmt *s = f_emit(c, ST_IF);

	for (d = 0; d < o->rank && x >= 0; d++) {
		int64_t from = o->par[d], extent = o->dim[d];

		if (o->par[F_RANK + d] != 1 && extent > 1)
			f_fail(c, "every other element of the product is taken");
		co[d] = ix_plus(c->ix, in[d], -from);
		if (extent == c->g->op[o->in[0]].dim[d])
			continue;
		f_when_from(c, s, co[d], 0);
		f_when_below(c, s, co[d], extent);
	}
	f_open(c, s);
	c->b.branch++;
	for (d = 0; d < o->rank && x >= 0; d++)
		co[d] = o->dim[d] == 1 ? ix_const(c->ix, 0) : f_confine(c, co[d], o->dim[d] - 1);
	if (x >= 0 && !c->fail)
		f_memo_add(c, op, co, o->rank, x);
}

/* Coordinates of op where the product is at `from`; what cannot lead there is marked in `closed`. */
static int carry(Ctx *c, int op, const Ix *from, Ix *co, int8_t *closed)
{
	const Op *o = &c->g->op[op];
	Ix in[F_RANK];
	int i, d;

	if (op == c->s->dot) {
		for (d = 0; d < o->rank; d++)
			co[d] = from[d];
		return 1;
	}
	if (closed[op] || !f_computed(c, o))
		return 0;
	for (i = 0; i < o->n_in && !c->fail; i++) {
		if (o->in[i] < 0 || !carry(c, o->in[i], from, in, closed))
			continue;
		if (o->kind == OP_SLICE)
			enter_part(c, op, in, co);
		else if (!forward(c, o, &c->g->op[o->in[i]], in, co))
			f_fail(c, "a result does not have the product's elements");
		return !c->fail;
	}
	closed[op] = 1;
	return 0;
}

static void result(Ctx *c, int k, const Ix *from)
{
	int8_t closed[F_OPS] = { 0 };
	const Op *o = &c->g->op[c->arg_out[k]];
	int var, parts = c->b.branch, mark = f_mark(c);
	Block *out = c->b.out;
	Ix co[F_RANK], at;

	if (!carry(c, c->arg_out[k], from, co, closed)) {
		f_fail(c, "a result does not have the product's elements");
		return;
	}
	at = ix_flat(c->ix, co, o->dim, o->rank);
	var = f_eval(c, c->arg_out[k], co);
	if (var >= 0)
		f_store(c, k, at, var);
	if (c->b.branch > parts)
		f_forget(c, mark);
	c->b.branch = parts;
	f_close(c, out);
}

/* ---- the tile ---- */

/* The elements of the tile that a thread has. */
static int tile_value(Ctx *c)
{
	int var = f_new_var(c, PM_F32, 1);

	f_emit_to(c, ST_TILE, var, -1)->lanes = 1;
	return var;
}

static Ix axis(Ctx *c, const char *name, int64_t extent, uint32_t bit)
{
	return extent == 1 ? ix_const(c->ix, 0) : ix_var(c->ix, name, extent - 1, DEP_CHUNK | bit, 0);
}

void f_product_results(Ctx *c)
{
	Section *s = c->s;
	const Op *o = &c->g->op[s->dot];
	uint32_t fast_bit = s->swapped == s->down ? DOT_N : DOT_M;
	int64_t fast, slow;
	Ix co[F_RANK], b, f, l;
	int i, d;

	fast = s->down ? f_tile_rows(c, s) : f_tile_cols(c, s);
	slow = s->down ? f_tile_cols(c, s) : f_tile_rows(c, s);
	s->extent = f_numel(o);
	c->b.nest.elements = (double)(s->extent / s->vec);
	c->b.out = &c->b.nest.body;
	b = axis(c, "gb", o->par[0], DOT_B);
	l = axis(c, "gs", slow, DOT_M + DOT_N - fast_bit);
	f = ix_add(c->ix, ix_scale(c->ix, axis(c, "gv", fast / s->vec, fast_bit), s->vec), c->ix->lane);
	f_dot_coords(c, o, 0, b, fast_bit == DOT_M ? f : l, fast_bit == DOT_M ? l : f, 0, co);
	for (d = 0; d < o->rank; d++)
		if (o->dim[d] == 1)
			co[d] = ix_const(c->ix, 0);
	f_memo_add(c, s->dot, co, o->rank, tile_value(c));
	for (i = 0; i < s->n_out && !c->fail; i++)
		result(c, s->out[i], co);
}
