/* SPDX-License-Identifier: Apache-2.0 */
/* nest.c - a nest's memory, statements and loops. */
#include "nest.h"

enum { CHUNK = 128 << 10 /* bytes of a piece of the arena */ };

void nest_reset(Nest *n)
{
	int i;

	n->chunk_now = 0;
	n->chunk_n = 0;
	n->n_vars = n->n_loops = n->n_early = 0;
	n->elements = 0;
	for (i = 0; i < F_ARGS; i++)
		n->in[i] = n->out[i] = (Operand){ 0, 0 };
	n->decl = n->rows = n->body = (Block){ NULL, NULL };
	for (i = 0; i <= F_LOOPS; i++)
		n->early[i] = (Block){ NULL, NULL };
	n->asked = n->asked_last = NULL;
}

void *nest_take(Nest *n, uint32_t bytes)
{
	char *p;

	bytes = (bytes + 15) & ~15u;
	if (n->chunk_n + bytes > CHUNK) {
		n->chunk_now++;
		n->chunk_n = 0;
	}
	if (n->chunk_now >= F_CHUNKS)
		return NULL;
	if (!n->chunk[n->chunk_now])
		n->chunk[n->chunk_now] = pm_alloc(CHUNK);
	if (!n->chunk[n->chunk_now])
		return NULL;
	p = n->chunk[n->chunk_now] + n->chunk_n;
	n->chunk_n += bytes;
	return p;
}

Stmt *nest_new(Nest *n, StmtKind kind)
{
	Stmt *s = nest_take(n, sizeof *s);

	s = s ? s : &n->spare;
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
	return s;
}

void nest_put(Block *b, Stmt *s)
{
	if (b->last)
		b->last->next = s;
	else
		b->first = s;
	b->last = s;
}

const Stmt *nest_end(const Block *b)
{
	const Stmt *end = NULL, *s;

	for (s = b->first; s; s = s->next)
		if (s->kind == ST_NEXT)
			end = s;
	return end;
}

/* Marks the statements of a block; with `u`, adds what they use. */
static void show(const Block *b, Uses *u)
{
	const Stmt *end = nest_end(b);
	Stmt *s;

	for (s = b->first; s && s != end; s = s->next) {
		s->shown = 1;
		if (u && (s->kind == ST_LOAD || s->kind == ST_FACTOR))
			u->in |= 1ull << s->arg;
		if (u && (s->kind == ST_STORE || s->kind == ST_STAGE || s->kind == ST_DRAIN))
			u->out |= 1ull << s->arg;
		if (u && s->kind == ST_PARTS)
			u->tiles = 1;
		if (u && (s->kind == ST_LEAVE || s->kind == ST_JOIN))
			u->parts = 1;
		if (s->body)
			show(s->body, u);
	}
}

static void show_all(const Nest *n, Uses *u)
{
	show(&n->decl, u);
	show(&n->rows, u);
	show(&n->body, u);
}

void nest_show(Nest *n)
{
	show_all(n, NULL);
}

void nest_uses(const Nest *n, Uses *u)
{
	show_all(n, u);
}

int nest_when(Nest *n, Stmt *s, CondKind kind, Ix at, int64_t k)
{
	Cond *q = nest_take(n, sizeof *q), **end = &s->cond;

	if (!q)
		return 0;
	*q = (Cond){ NULL, (uint8_t)kind, at, k };
	while (*end)
		end = &(*end)->next;
	*end = q;
	return 1;
}

int64_t nest_chunks(const Nest *n, int k)
{
	return (n->loop[k].extent - n->loop[k].tail) / nest_step(n);
}

int64_t nest_turns(const Nest *n, int k)
{
	int64_t width = n->shape.group * (n->shape.split ? n->shape.split : 1);

	return (nest_chunks(n, k) + width - 1) / width;
}

int nest_unrolled(const Nest *n, int k)
{
	return n->shape.keep || n->shape.hold || nest_turns(n, k) <= F_TURNS;
}

int64_t nest_held_behind(const Nest *n, int k)
{
	int64_t behind = 0;
	const Stmt *s;

	for (s = n->early[k].first; s; s = s->next)
		behind = s->m > behind ? s->m : behind;
	return behind;
}

int nest_is_open(const Nest *n, int k)
{
	int64_t chunks = nest_chunks(n, k), turns = nest_turns(n, k);

	return turns > F_TURNS && turns * n->shape.group * (n->shape.split ? n->shape.split : 1) != chunks;
}

const Atom *nest_atom(const Nest *n, Ix x)
{
	return &n->ix->atom[n->ix->lin[x].t[0].atom];
}
