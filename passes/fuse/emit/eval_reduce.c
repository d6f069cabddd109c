/* SPDX-License-Identifier: Apache-2.0 */
/* eval_reduce.c - reductions: by all threads of a row, or by one thread in a loop of its own. */
#include "../fuse.h"

Start f_red_start(const Op *o)
{
	switch (o->red) {
	case RED_MAX:
		return START_LOWEST;
	case RED_MIN:
		return START_HIGHEST;
	case RED_PROD:
		return START_ONE;
	default:
		return START_ZERO;
	}
}

/* Sums of float over a row run in double, and are rounded to float where the row ends. */
static int sum_type(const Op *o)
{
	return o->dtype == PM_F32 && (o->red == RED_SUM || o->red == RED_MEAN) ? PM_F64 : o->dtype;
}

int f_red_extreme(const Op *o)
{
	return o->red == RED_MAX || o->red == RED_MIN;
}

Stmt *f_red_step(Ctx *c, const Op *o, int acc, int v, int lanes)
{
	Stmt *s = f_emit_to(c, ST_FOLD, acc, v);

	s->how = o->red;
	s->lanes = lanes && c->s->vec > 1;
	s->o = (int)(o - c->g->op);
	if (c->b.nest.var[acc].dtype == c->b.nest.var[v].dtype && c->b.nest.var[v].dtype != PM_I64)
		f_ask(c, s);
	return s;
}

/* Extents and numbers of the reduced axes (these end with -1); their elements. */
static int64_t reduced(Ctx *c, const Op *o, int64_t *dim, int *axis)
{
	const Op *x = &c->g->op[o->in[0]];
	int64_t n = 1;
	int d, k = 0;

	for (d = 0; d < x->rank; d++)
		if (o->axis >> d & 1) {
			dim[k] = x->dim[d];
			axis[k++] = d;
			n *= x->dim[d];
		}
	axis[k] = -1;
	return n;
}

/* Coordinates of the operand: those of the result, and the place `e` among the reduced elements. */
static void place(Ctx *c, const Op *o, const Ix *co, Ix e, Ix *at)
{
	int64_t dim[F_RANK];
	int axis[F_RANK + 1], k, d;
	Ix in[F_RANK];

	reduced(c, o, dim, axis);
	for (k = 0; axis[k] >= 0; k++)
		;
	ix_unflat(c->ix, e, dim, k, in);
	for (d = 0; d < o->rank; d++)
		at[d] = co[d];
	for (k = 0; axis[k] >= 0; k++)
		at[axis[k]] = in[k];
}

/* The value of an element that is reduced. */
static int term(Ctx *c, int op, const Ix *at)
{
	int v;

	c->b.reducing++;
	v = f_eval(c, op, at);
	c->b.reducing--;
	return v;
}

/* What the reduction of n elements (in_slice: of as many as this block has) comes to: of the operation's
 * type, divided when it is a mean. */
static int end_of(Ctx *c, const Op *o, int acc, int64_t n, int in_slice)
{
	int y = acc;
	Stmt *s;

	if (f_class(o->dtype) != c->b.nest.var[acc].dtype) {
		y = f_new_var(c, o->dtype, c->b.nest.var[acc].lanes);
		f_emit_to(c, ST_FLOAT, y, acc);
	}
	if (o->red != RED_MEAN)
		return y;
	s = f_emit_to(c, ST_DIVIDE, y, -1);
	s->n = n;
	s->flag = (uint8_t)in_slice;
	return y;
}

static void share(Ctx *c, int red, int acc, int place)
{
	Stmt *s = f_emit_to(c, ST_SHARE, acc, -1);

	s->how = (uint8_t)red;
	s->n = place;
}

/* The variance whose mean this is: of a half type, whose sums are floats, a row that is held has both from
 * one pass. 0: there is none. */
static int variance_of(const Ctx *c, int mean)
{
	int i;

	if (!c->s->hold || c->s->split || c->s->vec == 1 || sum_type(&c->g->op[mean]) == PM_F64)
		return 0;
	for (i = 0; i < c->g->n_ops; i++) {
		const Op *o = &c->g->op[i];

		if (o->kind == OP_REDUCE && o->red == RED_MEAN && !o->val.id && !(o->orders & ORDER_ONE) &&
		    f_computed(c, o) && f_first_of(c, o) == mean)
			return i;
	}
	return 0;
}

/* Whether loops of class k give each thread as many vectors, whose values are v. */
static int is_even(const Ctx *c, int k, int v)
{
	const Nest *n = &c->b.nest;

	return nest_chunks(n, k) == nest_turns(n, k) * n->shape.group && n->var[v].dtype == PM_F32 &&
	       n->var[v].lanes;
}

/* Of n elements: joins what the threads have; what the second variable is then, is the variance. */
static void join_moments(Ctx *c, int mean, int squares, int64_t n, int place)
{
	Stmt *s = f_emit_to(c, ST_JOIN_MOMENTS, mean, -1);

	s->from[1] = f_ref(c, squares);
	s->n = n / c->s->group;
	s->m = place;
	f_emit_to(c, ST_DIVIDE, squares, -1)->n = n;
}

/* What loops of class `loop` leave of the row. */
static void tail(Ctx *c, const Op *o, const Ix *co, int acc, int loop)
{
	LoopState st;
	Ix at[F_RANK];
	int v;

	place(c, o, co, f_tail_begin(c, loop, &st), at);
	v = term(c, o->in[0], at);
	if (v < 0)
		return;
	c->b.nest.var[acc].exact &= c->b.nest.var[v].exact;
	f_red_step(c, o, acc, v, 0);
	f_tail_end(c, &st);
}

/* All threads of the row share the work; every one gets the result. */
static int by_row(Ctx *c, int op, const Ix *co, int64_t n)
{
	const Op *o = &c->g->op[op];
	Block *row = c->b.out, *body;
	LoopState st;
	Ix at[F_RANK];
	int acc = f_new_var(c, sum_type(o), c->s->wide), second = variance_of(c, op),
	    squares = second ? f_new_var(c, PM_F32, 0) : -1, v, y, number, stage, joined;

	place(c, o, co, f_loop_begin(c, n, &st), at);
	v = term(c, o->in[0], at);
	if (v < 0)
		return -1;
	number = c->b.n_reds++;
	stage = f_stage_of(c, op, number);
	joined = c->s->split && stage < c->stage;
	body = c->b.out;
	c->b.out = row;
	f_begin(c, acc, f_red_start(o));
	second = second && is_even(c, st.loop, v) ? second : 0;
	if (second)
		f_begin(c, squares, START_ZERO);
	c->b.out = body;
	c->b.nest.var[acc].exact |= f_red_extreme(o) && c->b.nest.var[v].exact;
	if (second)
		f_emit_to(c, ST_MOMENTS, acc, v)->from[1] = f_ref(c, squares);
	else
		f_red_step(c, o, acc, v, 1)->flag = (uint8_t)nest_is_open(&c->b.nest, st.loop);
	if (joined)
		f_loop_drop(c, &st);
	else
		f_loop_end(c, &st);
	if (c->b.nest.loop[st.loop].tail)
		tail(c, o, co, acc, st.loop);
	if (joined)
		f_join_parts(c, o, acc, number, n);
	if (c->b.out != row)
		return f_fail(c, "a loop was left open");
	if (second) {
		join_moments(c, acc, squares, n, number % 2);
		c->g->op[second].orders |= ORDER_ROW;
		f_memo_add(c, second, co, o->rank, squares);
		return acc;
	}
	if (c->s->group > 1)
		share(c, o->red, acc, number % 2);
	if (c->s->split && stage == c->stage)
		f_leave_part(c, o, acc, number, n);
	y = end_of(c, o, acc, n, c->s->split && stage == c->stage);
	if (number < F_SPLITS)
		c->b.red[number].var = y;
	return y;
}

int f_pick(Ctx *c, int op, const Ix *co, int red)
{
	const Op *o = &c->g->op[red];
	Block *row = c->b.out, *body;
	LoopState st;
	Stmt *s;
	int64_t dim[F_RANK], n;
	int axis[F_RANK + 1], acc = f_new_var(c, c->g->op[op].dtype, c->s->wide), k, v, number;
	Ix own[F_RANK], at[F_RANK], e;

	if (c->s->tail)
		return f_fail(c, "what is left of a row is asked for by itself");
	n = reduced(c, o, dim, axis);
	for (k = 0; axis[k] >= 0; k++)
		own[k] = co[axis[k]];
	e = f_loop_begin(c, n, &st);
	place(c, o, co, e, at);
	v = term(c, op, at);
	if (v < 0)
		return -1;
	number = c->b.n_reds++;
	f_stage_of(c, op, number);
	body = c->b.out;
	c->b.out = row;
	f_begin(c, acc, START_LOWEST);
	c->b.out = body;
	c->b.nest.var[acc].exact = c->b.nest.var[v].exact;
	s = f_emit_to(c, ST_SELECT, acc, v);
	s->flag = 1;
	s->at = e;
	s->base = ix_flat(c->ix, own, dim, k);
	f_loop_end(c, &st);
	if (c->s->group > 1)
		share(c, RED_MAX, acc, number % 2);
	return acc;
}

/* ---- loops of one thread ---- */

Ix f_loop_alone(Ctx *c, ForHow how, int64_t n)
{
	Block *out;

	return f_for(c, how, n, 1, &out);
}

static int by_thread(Ctx *c, int op, const Ix *co, int64_t n)
{
	const Op *o = &c->g->op[op];
	Block *out = c->b.out;
	int acc, v, mark;
	Ix at[F_RANK];
	uint32_t deps = 0;
	int d;

	if (n > c->s->max_serial)
		return f_fail(c, "a reduction is too long for one thread, and its threads cannot share it");
	for (d = 0; d < o->rank; d++)
		deps |= c->ix->lin[co[d]].deps;
	acc = f_new_var(c, sum_type(o), (deps & DEP_LANE) != 0);
	f_begin(c, acc, f_red_start(o));
	place(c, o, co, f_loop_alone(c, FOR_SERIAL, n), at);
	mark = f_mark(c);
	c->b.branch++;
	v = term(c, o->in[0], at);
	c->b.branch--;
	if (v < 0)
		return -1;
	if (c->b.nest.var[v].lanes && !c->b.nest.var[acc].lanes)
		return f_fail(c, "lanes go different ways");
	c->b.nest.var[acc].exact |= f_red_extreme(o) && c->b.nest.var[v].exact;
	f_red_step(c, o, acc, v, c->b.nest.var[acc].lanes);
	f_close(c, out);
	f_forget(c, mark);
	return end_of(c, o, acc, n, 0);
}

static int is_alone(const Ctx *c, int64_t n)
{
	return c->alone && n <= F_SHORT;
}

/* While plan.c asks: the axes that the coordinates of a reduction depend on. */
static void note_axes(Ctx *c, const Op *o, const Ix *co)
{
	uint32_t plain = 0;
	int d;

	c->b.n_probed++;
	for (d = 0; d < o->rank; d++) {
		const Lin *l = &c->ix->lin[co[d]];

		c->b.probe |= l->deps;
		if (l->n == 1 && c->ix->atom[l->t[0].atom].kind == ATOM_VAR)
			plain |= l->deps;
	}
	if ((plain & c->b.plain) == c->b.plain)
		c->b.plain = plain;
}

int f_eval_reduce(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op];
	int64_t dim[F_RANK], n;
	int axis[F_RANK + 1];

	n = reduced(c, o, dim, axis);
	if (c->b.probing) {
		Ix at[F_RANK];

		c->shorts += n <= F_SHORT;
		if (!is_alone(c, n))
			note_axes(c, o, co);
		place(c, o, co, ix_var(c->ix, "e", n - 1, DEP_WIN | DEP_HERE, 0), at);
		return f_eval(c, o->in[0], at);
	}
	if (c->s->rows && c->b.at_row && !is_alone(c, n) && !(o->orders & ORDER_ONE)) {
		c->g->op[op].orders |= ORDER_ROW;
		return by_row(c, op, co, n);
	}
	f_note_thread(c, op);
	return by_thread(c, op, co, n);
}
