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

	for (i = c->n_row - 1; i >= 0; i--)
		if (same_key(&c->row_memo[i], op, co, rank))
			return c->row_memo[i].var;
	if (c->at_row)
		return -1;
	for (i = c->n_memo - 1; i >= c->memo_base; i--)
		if (same_key(&c->memo[i], op, co, rank))
			return c->memo[i].var;
	for (i = 0; op >= 0 && c->keep && i < c->n_seen; i++)
		if (same_key(&c->seen[i], op, co, rank)) {
			c->nest.var[c->seen[i].var].wanted = 1;
			return c->seen[i].var;
		}
	return -1;
}

/* Here the value of this loop can be kept for the loops after it, if one of them asks for it. */
static void may_keep(Ctx *c, int var)
{
	Stmt *s;

	if (c->nest.var[var].kept)
		return;
	c->nest.var[var].kept = 1;
	s = f_emit_to(c, ST_KEEP, -1, var);
	s->n = nest_turns(&c->nest, c->loop_now);
	f_ask(c, s);
}

void f_memo_add(Ctx *c, int op, const Ix *co, int rank, int var)
{
	Memo *m = c->at_row ? &c->row_memo[c->n_row] : &c->memo[c->n_memo];
	int d;

	if ((c->at_row ? c->n_row : c->n_memo) == F_SEEN) {
		f_fail(c, "it has too many operations");
		return;
	}
	m->op = op;
	m->var = var;
	for (d = 0; d < rank; d++)
		m->co[d] = co[d];
	if (c->at_row)
		c->n_row++;
	else
		c->n_memo++;
	if (op >= 0 && !c->at_row && !c->branch && c->loop_now >= 0 && c->keep && !c->trial)
		may_keep(c, var);
}
