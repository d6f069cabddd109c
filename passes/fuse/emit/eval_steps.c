/* SPDX-License-Identifier: Apache-2.0 */
/* eval_steps.c - scatters to places known from the start that lie equally far apart, as an assignment to a
 * slice is exported: which update is for a place is arithmetic. */
#include "../fuse.h"

/* Where p is one of the places, as far as it is not known. */
static void when_named(Ctx *c, Stmt *s, const Op *o, Ix p, Ix rest)
{
	int64_t start = o->par[STEPS_START], end = start + (o->par[STEPS_COUNT] - 1) * o->par[STEPS_STEP] + 1;

	if (c->ix->lin[p].lo < start)
		f_when_from(c, s, p, start);
	if (c->ix->lin[p].hi >= end)
		f_when_below(c, s, p, end);
	if (c->ix->lin[rest].hi > 0)
		f_when_below(c, s, rest, 1);
}

/* The operand at co becomes y, in the branch `s`; on the scatter's axis it is at `at`, below n. */
static void one_of(Ctx *c, Stmt *s, const Op *o, int operand, const Ix *co, Ix at, int64_t n, int y)
{
	int mark = f_mark(c), v, d;
	Block *out = f_open(c, s);
	Ix in[F_RANK];

	c->b.branch++;
	for (d = 0; d < o->rank; d++)
		in[d] = co[d];
	in[o->axis] = f_confine(c, at, n - 1);
	v = f_eval(c, operand, in);
	if (v >= 0)
		f_move(c, y, v);
	c->b.branch--;
	f_forget(c, mark);
	f_close(c, out);
}

int f_eval_steps(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op];
	int64_t start = o->par[STEPS_START], step = o->par[STEPS_STEP], ahead = (step - start % step) % step;
	double part = (double)o->par[STEPS_COUNT] / (double)o->dim[o->axis];
	Ix p = co[o->axis], from = ix_plus(c->ix, p, ahead), rest = ix_mod(c->ix, from, step), at[F_RANK];
	int y, d, x = -1, u = -1;
	Block *out;
	Stmt *s;

	if (c->fail)
		return -1;
	if (c->ix->lin[p].hi < start || c->ix->lin[p].lo > start + (o->par[STEPS_COUNT] - 1) * step ||
	    c->ix->lin[rest].lo > 0)
		return f_eval(c, o->in[0], co);
	for (d = 0; d < o->rank; d++)
		at[d] = co[d];
	at[o->axis] = ix_plus(c->ix, ix_div(c->ix, from, step), -(start + ahead) / step);
	y = f_new_var(c, o->dtype, (f_deps(c, co, o->rank) & DEP_LANE) != 0);
	c->b.nest.var[y].exact = 1;
	/* For the row's part no thread may go another way: both are computed. */
	if (c->b.at_row) {
		at[o->axis] = f_confine(c, at[o->axis], o->par[STEPS_COUNT] - 1);
		x = f_eval(c, o->in[0], co);
		u = f_eval(c, o->in[2], at);
	}
	if (c->fail)
		return -1;
	f_begin(c, y, START_NONE);
	if (x >= 0)
		f_move(c, y, x);
	s = f_emit(c, ST_IF);
	when_named(c, s, o, p, rest);
	if (u >= 0) {
		out = f_open(c, s);
		f_move(c, y, u);
		f_close(c, out);
		return y;
	}
	s->part = part;
	one_of(c, s, o, o->in[2], co, at[o->axis], o->par[STEPS_COUNT], y);
	s = f_emit(c, ST_ELSE);
	s->part = 1 - part;
	one_of(c, s, o, o->in[0], co, p, o->dim[o->axis], y);
	return y;
}
