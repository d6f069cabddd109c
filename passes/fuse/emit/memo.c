/* SPDX-License-Identifier: Apache-2.0 */
/* memo.c - which values are known where the next statement stands, and which stay for later loops. */
#include "../fuse.h"

static int same_key(const Memo *m, int op, const Ix *co, int rank)
{
	int d;

	if (m->op != op)
		return 0;
	for (d = 0; d < rank; d++)
		if (m->co[d] != co[d])
			return 0;
	return 1;
}

int f_memo_find(Ctx *c, int op, const Ix *co, int rank)
{
	int i;

	for (i = c->b.n_row - 1; i >= 0; i--)
		if (same_key(&c->b.row_memo[i], op, co, rank))
			return c->b.row_memo[i].var;
	if (c->b.at_row)
		return -1;
	for (i = c->b.n_memo - 1; i >= c->b.memo_base; i--)
		if (same_key(&c->b.memo[i], op, co, rank))
			return c->b.memo[i].var;
	for (i = 0; op >= 0 && c->keep && i < c->b.n_seen; i++)
		if (same_key(&c->b.seen[i], op, co, rank)) {
			c->b.nest.var[c->b.seen[i].var].wanted = 1;
			return c->b.seen[i].var;
		}
	return -1;
}

/* Here the value of this loop can be kept for the loops after it, if one of them asks for it. */
static void may_keep(Ctx *c, int var)
{
	Stmt *s;

	if (c->b.nest.var[var].kept)
		return;
	c->b.nest.var[var].kept = 1;
	s = f_emit_to(c, ST_KEEP, -1, var);
	s->n = nest_turns(&c->b.nest, c->b.loop_now);
	f_ask(c, s);
}

void f_memo_add(Ctx *c, int op, const Ix *co, int rank, int var)
{
	Memo *m = c->b.at_row ? &c->b.row_memo[c->b.n_row] : &c->b.memo[c->b.n_memo];
	int d;

	if ((c->b.at_row ? c->b.n_row : c->b.n_memo) == F_SEEN) {
		f_fail(c, "it has too many operations");
		return;
	}
	m->op = op;
	m->var = var;
	for (d = 0; d < rank; d++)
		m->co[d] = co[d];
	if (c->b.at_row)
		c->b.n_row++;
	else
		c->b.n_memo++;
	if (op >= 0 && !c->b.at_row && !c->b.branch && c->b.loop_now >= 0 && c->keep && !c->b.trial)
		may_keep(c, var);
}
