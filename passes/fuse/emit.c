/* SPDX-License-Identifier: Apache-2.0 */
/* emit.c - statements are put into the nest: its memory, blocks, variables, loops of one thread. */
#include "fuse.h"

enum { CHUNK = 128 << 10 /* bytes of an arena's piece */ };

void f_nest_reset(Ctx *c)
{
	int i;

	c->chunk_now = 0;
	c->chunk_n = 0;
	c->rows = c->body = (Block){ NULL, NULL };
	c->decl = (Block){ NULL, NULL };
	for (i = 0; i <= F_LOOPS; i++)
		c->early[i] = (Block){ NULL, NULL };
	c->n_early = 0;
	c->early_words = 0;
	c->asked = c->asked_last = NULL;
	c->out = c->row = &c->rows;
}

static void *take(Ctx *c, uint32_t bytes)
{
	char *p;

	bytes = (bytes + 15) & ~15u;
	if (c->chunk_n + bytes > CHUNK) {
		c->chunk_now++;
		c->chunk_n = 0;
	}
	if (c->chunk_now == F_CHUNKS ||
	    (!c->chunk[c->chunk_now] && !(c->chunk[c->chunk_now] = pm_alloc(CHUNK)))) {
		f_fail(c, "it has too many operations");
		c->chunk_now = 0;
		return NULL;
	}
	p = c->chunk[c->chunk_now] + c->chunk_n;
	c->chunk_n += bytes;
	return p;
}

/* ---- statements ---- */

Stmt *f_emit(Ctx *c, StmtKind kind)
{
	Stmt *s = take(c, sizeof *s);

	if (!s)
		s = &c->spare;
	*s = (Stmt){ .kind = (uint8_t)kind,
		     .where = -1,
		     .early = -1,
		     .to = -1,
		     .from = { { -1, 0 }, { -1, 0 }, { -1, 0 } },
		     .at = -1,
		     .base = -1,
		     .lane = -1,
		     .def = -1,
		     .part = 1 };
	if (s == &c->spare)
		return s;
	if (c->out->last)
		c->out->last->next = s;
	else
		c->out->first = s;
	c->out->last = s;
	return s;
}

Ref f_ref(const Ctx *c, int var)
{
	return (Ref){ (int16_t)var, c->var[var].cached };
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
	if (s == &c->spare)
		return;
	if (c->asked_last)
		c->asked_last->asked = s;
	else
		c->asked = s;
	c->asked_last = s;
}

/* ---- blocks ---- */

Block *f_open(Ctx *c, Stmt *owner)
{
	Block *out = c->out, *b = take(c, sizeof *b);

	if (!b)
		return out;
	*b = (Block){ NULL, NULL };
	c->out = b;
	if (owner)
		owner->body = b;
	return out;
}

Block *f_close(Ctx *c, Block *out)
{
	Block *b = c->out;

	c->out = out;
	return b;
}

void f_append(Ctx *c, const Block *b)
{
	if (!b->first)
		return;
	if (c->out->last)
		c->out->last->next = b->first;
	else
		c->out->first = b->first;
	c->out->last = b->last;
}

/* ---- conditions ---- */

void f_when(Ctx *c, Stmt *s, CondKind kind, Ix at, int64_t n)
{
	Cond *q = take(c, sizeof *q), *last = NULL, *p;

	if (!q)
		return;
	*q = (Cond){ NULL, (uint8_t)kind, at, n };
	for (p = s->cond; p; p = p->next)
		last = p;
	if (last)
		last->next = q;
	else
		s->cond = q;
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

	if (c->n_vars == F_VARS) {
		f_fail(c, "it has too many operations");
		return 0;
	}
	v = &c->var[c->n_vars];
	v->dtype = (int8_t)f_class(dtype);
	v->lanes = (uint8_t)(lanes && c->s->vec > 1);
	v->cached = v->kept = v->wanted = 0;
	v->exact = f_class(dtype) == PM_I64;
	v->before = v->packed = -1;
	v->row = (uint8_t)c->at_row;
	v->loop = (int16_t)(c->at_row ? -1 : c->loop_now);
	return c->n_vars++;
}

int f_is_packed(const Ctx *c, int var, int dtype)
{
	return c->var[var].packed == dtype && !c->var[var].cached;
}

void f_begin(Ctx *c, int var, Start start)
{
	f_emit_to(c, ST_VAR, var, -1)->how = (uint8_t)start;
}

Stmt *f_move(Ctx *c, int to, int from)
{
	if (c->var[from].lanes && !c->var[to].lanes)
		f_fail(c, "lanes go different ways");
	c->var[to].exact &= c->var[from].exact;
	return f_emit_to(c, ST_MOVE, to, from);
}

void f_name(Ctx *c, char letter, char name[F_NAME])
{
	PmText t = { name, 1, F_NAME, 0 };

	name[0] = letter;
	pm_text_int(&t, c->n_names++);
	name[t.n] = 0;
}

Ix f_new_index(Ctx *c, char letter, int64_t hi, uint32_t deps, int lanes)
{
	char name[F_NAME];

	f_name(c, letter, name);
	return ix_var(c, name, hi, deps, lanes);
}

/* ---- loops of one thread ---- */

Ix f_for(Ctx *c, ForHow how, int64_t n, int step, Block **out)
{
	Stmt *s = f_emit(c, ST_FOR);

	s->def = f_new_index(c, 'i', (n - 1) / step * step, DEP_WIN | DEP_HERE, 0);
	s->n = n;
	s->m = step;
	s->how = (uint8_t)how;
	s->unroll = how == FOR_FOUND || (how == FOR_SERIAL && n <= F_SHORT);
	*out = f_open(c, s);
	return s->def;
}
