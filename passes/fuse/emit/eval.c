/* SPDX-License-Identifier: Apache-2.0 */
/* eval.c - the statements that compute a value at coordinates: loads, and who makes what. */
#include "../fuse.h"

int f_fail(Ctx *c, const char *why)
{
	if (!c->fail)
		c->fail = why;
	return -1;
}

/* ---- loads ---- */

int f_arg(Ctx *c, int op)
{
	int i;

	for (i = 0; i < c->n_arg_in && c->arg_in[i] != op; i++)
		;
	if (i == F_ARGS) {
		f_fail(c, "it has too many operands");
		return 0;
	}
	if (i == c->n_arg_in)
		c->arg_in[c->n_arg_in++] = op;
	c->b.nest.in[i] = (Operand){ c->g->op[op].dtype, f_numel(&c->g->op[op]) };
	return i;
}

static int is_half(const Op *o)
{
	return o->dtype == PM_F16 || o->dtype == PM_BF16;
}

static int load(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op];
	Ix at = ix_flat(c->ix, co, o->dim, o->rank), base, rest, of_lane = -1;
	int64_t step;
	Stmt *s;

	if (c->fail)
		return -1;
	base = ix_without_lane(c->ix, at, &step);
	/* Elements of one vector in another order. */
	if (step == -1 && ix_split_lane(c->ix, at, &of_lane, &rest)) {
		step = 1;
		base = rest;
	} else {
		of_lane = -1;
	}
	s = f_emit_to(c, ST_LOAD, f_new_var(c, o->dtype, step != 0), -1);
	s->arg = (int16_t)f_arg(c, op);
	s->dtype = o->dtype;
	s->lanes = step != 0;
	s->vec = step == 1;
	s->at = step == 1 ? base : at;
	s->lane = of_lane;
	s->where = (int8_t)(of_lane >= 0 ? -1 : f_early_place(c, o, at));
	f_ask(c, s);
	if (!c->b.trial) {
		/* A row's tail has elements that its loop does not read. */
		s->reread = (c->b.read >> s->arg & 1) && !c->b.tail;
		c->b.read |= 1ull << s->arg;
	}
	c->vec_in |= step == 1 ? 1ull << s->arg : 0;
	c->b.nest.var[s->to].exact = 1;
	if (step == 1 && of_lane < 0 && is_half(o))
		c->b.nest.var[s->to].packed = o->dtype;
	return s->to;
}

static int number(Ctx *c, const Op *o)
{
	Stmt *s = f_emit_to(c, ST_NUMBER, f_new_var(c, o->dtype, 0), -1);

	c->b.nest.var[s->to].exact = 1;
	s->num = o->num;
	s->n_num = 1;
	return s->to;
}

int f_computed(const Ctx *c, const Op *o)
{
	return o->node >= 0 && c->g->node[o->node].in_set;
}

/* ---- asking ---- */

int f_eval_ew(Ctx *c, int op, const Ix *co);

static int within(const Ctx *c, const Op *o, const Ix *co)
{
	int d;

	for (d = 0; d < o->rank; d++)
		if (c->ix->lin[co[d]].lo < 0 || c->ix->lin[co[d]].hi >= o->dim[d])
			return 0;
	return 1;
}

/* Writes it where c stands; not rounded yet. */
static int write_exact(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op];
	int red = c->b.at_row && !c->b.branch && within(c, o, co) ? f_picked_from(c, op) : -1;

	if (red >= 0)
		return f_pick(c, op, co, red);
	if (o->kind == OP_NUM)
		return number(c, o);
	if (!f_computed(c, o))
		return load(c, op, co);
	switch (o->kind) {
	case OP_EW:
	case OP_FOLD:
	case OP_CAST:
		return f_eval_ew(c, op, co);
	case OP_REDUCE:
		return f_eval_reduce(c, op, co);
	case OP_POOL:
		return f_eval_pool(c, op, co);
	case OP_SCATTER:
		return f_eval_scatter(c, op, co);
	case OP_LINEAR:
		return f_eval_linear(c, op, co);
	case OP_DOT:
		return f_eval_dot(c, op, co);
	default:
		return f_eval_move(c, op, co);
	}
}

int f_rounded(Ctx *c, int op, int var)
{
	const Op *o = &c->g->op[op];
	Stmt *s;
	int y;

	if (var < 0 || !o->val.id || !is_half(o) || c->b.nest.var[var].exact)
		return var;
	y = f_new_var(c, o->dtype, c->b.nest.var[var].lanes);
	c->b.nest.var[y].exact = 1;
	c->b.nest.var[y].before = (int16_t)var;
	s = f_emit_to(c, ST_ROUND, y, var);
	s->dtype = o->dtype;
	s->packed = c->b.nest.var[y].lanes && !c->b.singly;
	if (s->packed)
		c->b.nest.var[y].packed = o->dtype;
	return y;
}

/* A value of the graph is what it would be if it were stored: readers see it rounded to its type. */
static int write_value(Ctx *c, int op, const Ix *co)
{
	return f_rounded(c, op, write_exact(c, op, co));
}

/* What depends on the row only is written once for the row, in front of the loops. */
static int for_the_row(Ctx *c, int op, const Ix *co)
{
	Block *out = c->b.out;
	int var, branch = c->b.branch, trial = c->b.trial;

	c->b.trial = 0;
	c->b.out = c->b.row;
	c->b.at_row = 1;
	c->b.branch = 0;
	var = write_value(c, op, co);
	if (var >= 0 && !c->fail)
		f_memo_add(c, op, co, c->g->op[op].rank, var);
	c->b.at_row = 0;
	c->b.branch = branch;
	c->b.trial = trial;
	c->b.out = out;
	return var;
}

int f_eval(Ctx *c, int op, const Ix *coords)
{
	const Op *o = &c->g->op[op];
	uint32_t deps = 0;
	Ix co[F_RANK];
	int d, var;

	if (c->fail)
		return -1;
	for (d = 0; d < o->rank; d++) {
		co[d] = o->dim[d] == 1 ? ix_const(c->ix, 0) : coords[d];
		deps |= c->ix->lin[co[d]].deps;
	}
	var = f_memo_find(c, op, co, o->rank);
	if (var >= 0)
		return var;
	if (!c->b.at_row && !(deps & ~f_row_deps(c)) && within(c, o, co))
		return for_the_row(c, op, co);
	var = write_value(c, op, co);
	if (var >= 0 && !c->fail)
		f_memo_add(c, op, co, o->rank, var);
	return c->fail ? -1 : var;
}
