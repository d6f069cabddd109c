/* SPDX-License-Identifier: Apache-2.0 */
/* memo.c - which values are known where the text stands, and which stay for later loops. */
#include "fuse.h"

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
			if (!c->var[c->seen[i].var].wanted)
				c->s->cached += c->var[c->seen[i].var].dtype == PM_F32 ? 1 : 2;
			c->var[c->seen[i].var].wanted = 1;
			if (c->seen[i].var >= c->n_wanted)
				c->n_wanted = c->seen[i].var + 1;
			return c->seen[i].var;
		}
	return -1;
}

/* Keeps the value of this loop for the loops after it. */
static void keep_value(Ctx *c, int var)
{
	Var *v = &c->var[var];
	int64_t chunks = c->loop[c->loop_now].extent / f_step(c->s);

	if (c->dry || v->kept)
		return;
	v->kept = 1;
	pm_text_add(&c->decl, f_cclass(v->dtype));
	pm_text_add(&c->decl, " c");
	pm_text_int(&c->decl, var);
	pm_text_add(&c->decl, "[");
	pm_text_int(&c->decl, (chunks + c->s->group - 1) / c->s->group);
	pm_text_add(&c->decl, "]");
	if (v->lanes) {
		pm_text_add(&c->decl, "[");
		pm_text_int(&c->decl, c->s->vec);
		pm_text_add(&c->decl, "]");
	}
	pm_text_add(&c->decl, ";\n");
	f_for_lanes(c, v->lanes);
	t_add(c, "c");
	t_int(c, var);
	t_add(c, v->lanes ? "[k][j] = " : "[k] = ");
	f_ref(c, c->out, var);
	t_add(c, ";\n");
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
	if (op >= 0 && !c->at_row && !c->branch && c->loop_now >= 0 && c->var[var].wanted)
		keep_value(c, var);
}
