/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - sums that a section asks for at several places have one order of their terms at all of them.
 *
 * A value is computed again where it is asked for again: the scores of an attention for their maximum and
 * once more, at the row's own place, for what is raised to a power of e. In floating point the sum of all
 * threads of a row, by halves, and that of one thread, term by term, are not the same number, and far from
 * zero they lie so far apart that exp(score - maximum) is not 1 or less. So such a sum is made by one thread
 * alone wherever it is asked for; and what is a reduction's operand at the row's own place is taken from that
 * reduction's loop, which has it among all others, so that it is not computed twice.
 *
 * A loop that stands in a kernel several times, for lack of registers to keep its results, is the same text
 * each time; a product of its own is added by __fadd_rn there, so that it is the same instructions too.
 *
 * Which sums these are is known when the section has been built once.
 */
#include "../fuse.h"

void f_forget_orders(Ctx *c)
{
	int i;

	for (i = 0; i < c->g->n_ops; i++)
		c->g->op[i].orders = c->g->op[i].written = 0;
}

void f_start_orders(Ctx *c)
{
	int i;

	for (i = 0; i < c->g->n_ops; i++) {
		Op *o = &c->g->op[i];

		o->orders &= (uint8_t)~ORDER_UNDER;
		o->written = 0;
	}
}

void f_note_thread(Ctx *c, int op)
{
	Op *o = &c->g->op[op];

	o->orders |= ORDER_THREAD;
	if (c->b.trial)
		return;
	o->written += o->written < 2;
	o->orders |= c->b.reducing ? ORDER_UNDER : 0;
}

int f_adds_apart(const Ctx *c, const Op *o)
{
	/* What is a value of the graph is multiplied by __fmul_rn. */
	return o->written > 1 && (o->orders & ORDER_UNDER) && o->red != RED_PROD && !f_red_extreme(o) &&
	       !c->g->op[o->in[0]].val.id;
}

/* The result depends on the order. */
static int is_sum(const Op *o)
{
	return o->kind == OP_REDUCE && !f_red_extreme(o) && f_class(o->dtype) != PM_I64;
}

int f_settle_orders(Ctx *c)
{
	enum { BOTH = ORDER_ROW | ORDER_THREAD };
	int i, found = 0;

	for (i = 0; i < c->g->n_ops; i++) {
		Op *o = &c->g->op[i];

		if (!is_sum(o) || (o->orders & BOTH) != BOTH || (o->orders & ORDER_ONE))
			continue;
		o->orders |= ORDER_ONE;
		found = 1;
	}
	return found;
}

/* The reduction by rows whose operand op is; -1: there is none. */
static int reduced_by(const Ctx *c, int op)
{
	int i;

	for (i = 0; i < c->g->n_ops; i++) {
		const Op *o = &c->g->op[i];

		if (o->kind == OP_REDUCE && (o->orders & ORDER_ROW) && !(o->orders & ORDER_ONE) &&
		    o->in[0] == op)
			return i;
	}
	return -1;
}

/* Whether such a sum is under op, and nothing between them is taken from a loop. */
static int has_one_order(const Ctx *c, int op, int8_t *seen)
{
	const Op *o = &c->g->op[op];
	int i;

	if (seen[op] || !f_computed(c, o))
		return 0;
	seen[op] = 1;
	if (o->kind == OP_REDUCE && (o->orders & ORDER_ONE))
		return 1;
	if (o->kind == OP_DOT)
		return c->sums && o->par[4] && has_one_order(c, (int)o->par[4], seen);
	for (i = 0; i < o->n_in; i++)
		if (o->in[i] >= 0 && reduced_by(c, o->in[i]) < 0 && has_one_order(c, o->in[i], seen))
			return 1;
	return 0;
}

int f_picked_from(const Ctx *c, int op)
{
	int8_t seen[F_OPS] = { 0 };
	int i, red = -1;

	for (i = 0; i < c->g->n_ops && !(c->g->op[i].orders & ORDER_ONE); i++)
		;
	if (i < c->g->n_ops && !c->s->split && !c->b.probing && f_class(c->g->op[op].dtype) != PM_I64)
		red = reduced_by(c, op);
	return red >= 0 && has_one_order(c, op, seen) ? red : -1;
}
