/* SPDX-License-Identifier: Apache-2.0 */
/* eval_steps.c - scatters to places known from the start that lie equally far apart, as an assignment to a
 * slice is exported: which update is for a place is arithmetic. */
#include "fuse.h"

/* "!(p < first) && (p < end) && REST(p, step) == 0", as far as it is not known; 0: it is true. */
static int condition(Ctx *c, const Op *o, Ix p, Ix rest)
{
	int64_t start = o->par[STEPS_START], end = start + (o->par[STEPS_COUNT] - 1) * o->par[STEPS_STEP] + 1;
	int any = 0;

	if (c->lin[p].lo < start) {
		t_add(c, "!");
		f_below(c, p, start);
		any = 1;
	}
	if (c->lin[p].hi >= end) {
		t_add(c, any ? " && " : "");
		f_below(c, p, end);
		any = 1;
	}
	if (c->lin[rest].hi > 0) {
		t_add(c, any ? " && " : "");
		f_below(c, rest, 1);
		any = 1;
	}
	return any;
}

/* The operand at co becomes y, in braces; on the scatter's axis it is at `at`, below n. */
static void one_of(Ctx *c, const Op *o, int operand, const Ix *co, Ix at, int64_t n, double part, int y)
{
	double times = c->times;
	int mark = f_mark(c), v, d;
	Ix in[F_RANK];

	c->branch++;
	c->times *= part;
	t_add(c, " {\n");
	for (d = 0; d < o->rank; d++)
		in[d] = co[d];
	in[o->axis] = f_confine(c, at, n - 1);
	v = f_eval(c, operand, in);
	if (v >= 0)
		f_assign(c, y, v);
	t_add(c, "} ");
	c->times = times;
	c->branch--;
	f_forget(c, mark);
}

int f_eval_steps(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->op[op];
	int64_t start = o->par[STEPS_START], step = o->par[STEPS_STEP], ahead = (step - start % step) % step;
	double part = (double)o->par[STEPS_COUNT] / (double)o->dim[o->axis];
	Ix p = co[o->axis], from = ix_plus(c, p, ahead), rest = ix_mod(c, from, step), at[F_RANK];
	int y, d, x = -1, u = -1;

	if (c->fail)
		return -1;
	if (c->lin[p].hi < start || c->lin[p].lo > start + (o->par[STEPS_COUNT] - 1) * step ||
	    c->lin[rest].lo > 0)
		return f_eval(c, o->in[0], co);
	for (d = 0; d < o->rank; d++)
		at[d] = co[d];
	at[o->axis] = ix_plus(c, ix_div(c, from, step), -(start + ahead) / step);
	y = f_new_var(c, o->dtype, (f_deps(c, co, o->rank) & DEP_LANE) != 0);
	c->var[y].exact = 1;
	/* For the row's part no thread may go another way: both are computed. */
	if (c->at_row) {
		at[o->axis] = f_confine(c, at[o->axis], o->par[STEPS_COUNT] - 1);
		x = f_eval(c, o->in[0], co);
		u = f_eval(c, o->in[2], at);
	}
	if (c->fail)
		return -1;
	f_declare(c, y, NULL);
	if (x >= 0)
		f_assign(c, y, x);
	t_add(c, "if (");
	if (!condition(c, o, p, rest))
		t_add(c, "1");
	t_add(c, ")");
	if (u >= 0) {
		t_add(c, " {\n");
		f_assign(c, y, u);
		t_add(c, "}\n");
		return y;
	}
	one_of(c, o, o->in[2], co, at[o->axis], o->par[STEPS_COUNT], part, y);
	t_add(c, "else");
	one_of(c, o, o->in[0], co, p, o->dim[o->axis], 1 - part, y);
	t_add(c, "\n");
	return y;
}
