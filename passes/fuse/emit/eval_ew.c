/* SPDX-License-Identifier: Apache-2.0 */
/* eval_ew.c - element-wise operators: the operator table's expressions over variables. */
#include "../fuse.h"

int f_eval_ew(Ctx *c, int op, const Ix *co);

/* Coordinates of an operand that broadcasts. */
static int operand(Ctx *c, const Op *o, int k, const Ix *co)
{
	const Op *x = &c->g->op[o->in[k]];
	Ix at[F_RANK];
	int d;

	for (d = 0; d < x->rank; d++)
		at[d] = x->dim[d] == 1 ? ix_const(c->ix, 0) : co[d + o->rank - x->rank];
	return f_eval(c, o->in[k], at);
}

/* Whether the result is one of the operands, but for its sign, or has no more digits than they have. */
static int is_exact(const Ctx *c, const Op *o, int n_in, const int *var)
{
	int k, exact = o->exact;

	for (k = 0; k < n_in; k++)
		exact &= var[k] < 0 || c->b.nest.var[var[k]].exact;
	return exact;
}

/* Whether pairs of lanes have the operator of a graph's value of 16 bits too. */
static int has_pairs(const Op *o)
{
	return o->kind == OP_EW && o->val.id && (o->dtype == PM_F16 || o->dtype == PM_BF16) &&
	       (f_is(o->expr, "plus(a, b)") || f_is(o->expr, "minus(a, b)") || f_is(o->expr, "times(a, b)"));
}

/* Operands that are vectors, or one value for all lanes, of the type of the result. */
static int are_packed(const Ctx *c, const Op *o, const int *var)
{
	int k, n = 0;

	for (k = 0; k < 2; k++) {
		const Var *v = &c->b.nest.var[var[k]];

		if (f_is_packed(c, var[k], o->dtype))
			n++;
		else if (v->lanes || !v->exact || c->g->op[o->in[k]].dtype != o->dtype)
			return 0;
	}
	return n;
}

static int expression(Ctx *c, const Op *o, int n_in, const int *var)
{
	int lanes = 0, k, y;
	Stmt *s;

	for (k = 0; k < n_in; k++)
		lanes |= var[k] >= 0 && c->b.nest.var[var[k]].lanes;
	y = f_new_var(c, o->dtype, lanes);
	c->b.nest.var[y].exact |= (uint8_t)is_exact(c, o, n_in, var);
	s = f_emit_to(c, ST_EW, y, -1);
	for (k = 0; k < n_in; k++)
		if (var[k] >= 0)
			s->from[k] = f_ref(c, var[k]);
	s->name = o->expr;
	s->num = o->num;
	s->n_num = o->n_num;
	s->dtype = o->dtype;
	s->compute = (int8_t)o->compute;
	if (has_pairs(o) && c->b.nest.var[y].lanes && !c->b.singly && are_packed(c, o, var)) {
		s->packed = 1;
		c->b.nest.var[y].exact = 1;
		c->b.nest.var[y].packed = o->dtype;
	}
	return y;
}

/* Max, Min and Sum of any number of operands. */
static int fold(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op];
	int acc = operand(c, o, 0, co), k;

	for (k = 1; k < o->n_in && !c->fail; k++) {
		int var[2];

		var[0] = acc;
		var[1] = operand(c, o, k, co);
		if (!c->fail)
			acc = expression(c, o, 2, var);
	}
	return acc;
}

static int cast(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op];
	int x = f_eval(c, o->in[0], co), y;

	if (x < 0 || o->dtype == c->g->op[o->in[0]].dtype)
		return x;
	y = f_new_var(c, o->dtype, c->b.nest.var[x].lanes);
	c->b.nest.var[y].exact = 1;
	f_emit_to(c, ST_CAST, y, x)->dtype = o->dtype;
	return y;
}

int f_eval_ew(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op];
	int var[3] = { -1, -1, -1 }, k;

	if (o->kind == OP_FOLD)
		return fold(c, op, co);
	if (o->kind == OP_CAST)
		return cast(c, op, co);
	for (k = 0; k < o->n_in && !c->fail; k++)
		if (o->in[k] >= 0)
			var[k] = operand(c, o, k, co);
	return c->fail ? -1 : expression(c, o, o->n_in, var);
}
