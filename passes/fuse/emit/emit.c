/* SPDX-License-Identifier: Apache-2.0 */
/* emit.c - statements are put into the nest: its memory, blocks, variables, loops of one thread. */
#include "../fuse.h"

Stmt *f_emit(Ctx *c, StmtKind kind)
{
	Stmt *s = nest_new(&c->b.nest, kind);

	if (s == &c->b.nest.spare)
		f_fail(c, "it has too many operations");
	else
		nest_put(c->b.out, s);
	return s;
}

Ref f_ref(const Ctx *c, int var)
{
	return (Ref){ (int16_t)var, c->b.nest.var[var].cached };
}

Stmt *f_emit_to(Ctx *c, StmtKind kind, int to, int from)
{
	Stmt *s = f_emit(c, kind);

	s->to = (int16_t)to;
	if (from >= 0)
		s->from[0] = f_ref(c, from);
	return s;
}

void f_ask(Ctx *c, Stmt *s)
{
	if (s == &c->b.nest.spare)
		return;
	if (c->b.nest.asked_last)
		c->b.nest.asked_last->asked = s;
	else
		c->b.nest.asked = s;
	c->b.nest.asked_last = s;
}

/* ---- blocks ---- */

Block *f_open(Ctx *c, Stmt *owner)
{
	Block *out = c->b.out, *b = nest_take(&c->b.nest, sizeof *b);

	if (!b)
		return out;
	*b = (Block){ NULL, NULL };
	c->b.out = b;
	/* What the row's statements ask for stands with them. */
	if (c->b.at_row)
		c->b.row = b;
	if (owner)
		owner->body = b;
	return out;
}

Block *f_close(Ctx *c, Block *out)
{
	Block *b = c->b.out;

	c->b.out = out;
	if (c->b.at_row)
		c->b.row = out;
	return b;
}

void f_append(Ctx *c, const Block *b)
{
	if (!b->first)
		return;
	if (c->b.out->last)
		c->b.out->last->next = b->first;
	else
		c->b.out->first = b->first;
	c->b.out->last = b->last;
}

/* ---- conditions ---- */

void f_when(Ctx *c, Stmt *s, CondKind kind, Ix at, int64_t n)
{
	if (!nest_when(&c->b.nest, s, kind, at, n))
		f_fail(c, "it has too many operations");
}

void f_when_below(Ctx *c, Stmt *s, Ix a, int64_t k)
{
	f_when(c, s, COND_BELOW, f_one_base(c, a, k), k);
}

void f_when_from(Ctx *c, Stmt *s, Ix a, int64_t k)
{
	f_when(c, s, COND_FROM, f_one_base(c, a, k), k);
}

/* ---- variables ---- */

int f_new_var(Ctx *c, int dtype, int lanes)
{
	Var *v;

	if (c->b.nest.n_vars == F_VARS) {
		f_fail(c, "it has too many operations");
		return 0;
	}
	v = &c->b.nest.var[c->b.nest.n_vars];
	v->dtype = (int8_t)f_class(dtype);
	v->lanes = (uint8_t)(lanes && c->s->vec > 1);
	v->cached = v->kept = v->wanted = 0;
	v->exact = f_class(dtype) == PM_I64;
	v->before = v->packed = -1;
	v->row = (uint8_t)c->b.at_row;
	v->loop = (int16_t)(c->b.at_row ? -1 : c->b.loop_now);
	return c->b.nest.n_vars++;
}

int f_is_packed(const Ctx *c, int var, int dtype)
{
	return c->b.nest.var[var].packed == dtype && !c->b.nest.var[var].cached;
}

void f_begin(Ctx *c, int var, Start start)
{
	f_emit_to(c, ST_VAR, var, -1)->how = (uint8_t)start;
}

Stmt *f_move(Ctx *c, int to, int from)
{
	if (c->b.nest.var[from].lanes && !c->b.nest.var[to].lanes)
		f_fail(c, "lanes go different ways");
	c->b.nest.var[to].exact &= c->b.nest.var[from].exact;
	return f_emit_to(c, ST_MOVE, to, from);
}

void f_name(Ctx *c, char letter, char name[F_NAME])
{
	PmText t = { name, 1, F_NAME, 0 };

	name[0] = letter;
	pm_text_int(&t, c->b.n_names++);
	name[t.n] = 0;
}

Ix f_new_index(Ctx *c, char letter, int64_t hi, uint32_t deps, int lanes)
{
	char name[F_NAME];

	f_name(c, letter, name);
	return ix_var(c->ix, name, hi, deps, lanes);
}

/* ---- loops of one thread ---- */

Ix f_for(Ctx *c, ForHow how, int64_t n, int step, Block **out)
{
	Stmt *s = f_emit(c, ST_FOR);

	s->def = f_new_index(c, 'i', (n - 1) / step * step, DEP_WIN | DEP_HERE, 0);
	s->n = n;
	s->m = step;
	s->how = (uint8_t)how;
	s->unroll = how == FOR_FOUND || ((how == FOR_SERIAL || how == FOR_TAPS) && n <= F_SHORT);
	*out = f_open(c, s);
	return s->def;
}
