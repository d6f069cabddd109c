/* SPDX-License-Identifier: Apache-2.0 */
/* early.c - loads that are issued before anything waits for one, and values that stay from loop to loop: what
 * is decided when a nest is complete.
 *
 * A kernel of a few microseconds is a chain of waits for memory: what is first asked for behind a reduction
 * or in a branch would be loaded there, since compilers move no load over a barrier. So a load whose place is
 * known from the start (it depends on the row, the place in it and the lane, on nothing that was loaded) is
 * written at the begin of the section, and stays as it is in memory in registers until it is asked for: in
 * front of the loops, where these are unrolled; a row's own values always. Where a section holds its rows,
 * one of the arrays goes on in shared memory when the registers are full.
 */
#include "../fuse.h"

/* Nothing that a statement has computed. */
static int is_plain(const Ctx *c, Ix at)
{
	const Lin *l = &c->ix->lin[at];
	int i;

	if (l->deps & ~(uint32_t)(DEP_ROW | DEP_CHUNK | DEP_LANE))
		return 0;
	for (i = 0; i < l->n; i++) {
		const Atom *a = &c->ix->atom[l->t[i].atom];

		if (a->kind == ATOM_VAR ? a->name[0] == INDEX_MADE || a->name[0] == INDEX_FOUND
					: !is_plain(c, a->of))
			return 0;
	}
	return 1;
}

int f_early_place(const Ctx *c, const Op *o, Ix at)
{
	if (c->b.trial || c->b.branch || c->s->dot || !is_plain(c, at) || c->ix->lin[at].lo < 0 ||
	    c->ix->lin[at].hi >= f_numel(o))
		return -1;
	if (c->b.at_row || c->b.tail)
		return EARLY_ROW;
	if (!c->s->rows)
		return 0;
	return c->b.loop_now >= 0 && nest_unrolled(&c->b.nest, c->b.loop_now) ? c->b.loop_now : -1;
}

/* Turns of the loops that the load stands in front of; 0: it is outside of loops. */
static int64_t turns(const Ctx *c, int where)
{
	return where == EARLY_ROW || !c->s->rows ? 0 : nest_turns(&c->b.nest, where);
}

/* Words that a thread may keep besides those that it computes with. */
static int64_t room(const Section *s)
{
	return s->hold          ? f_held_words(s)
	       : s->block > 512 ? 32
	       : s->block > 256 ? 64
	       : s->block > 128 ? 96
				: 128;
}

static int64_t words_of(const Ctx *c, const Stmt *s)
{
	return ((s->lanes ? c->s->vec : 1) * (int64_t)pm_dtype_bytes(s->dtype) + 3) / 4;
}

/* What an early load and its array have of the load that it is for. */
static void declare(Ctx *c, StmtKind kind, Block *where, const Stmt *load, int64_t n)
{
	Block *out = c->b.out;
	Stmt *e;

	c->b.out = where;
	e = f_emit(c, kind);
	e->early = (int16_t)c->b.nest.n_early;
	e->arg = load->arg;
	e->at = load->at;
	e->vec = load->vec;
	e->lanes = load->lanes;
	e->dtype = load->dtype;
	e->n = n;
	e->m = load->m;
	c->b.out = out;
}

/* Turns of an array of early loads, n of so many words each, that have no room in registers and are held in
 * shared memory; -1: they have no room there. */
static int64_t shared_turns(const Ctx *c, const Stmt *load, int64_t n, int64_t words)
{
	int64_t left = room(c->s) - c->kept_words - c->early_words, m = n - (left > 0 ? left / words : 0);

	if (m <= 0)
		return 0;
	return c->s->hold && load->vec && words % 4 == 0 && !c->early_words &&
			       m * words * 4 * c->s->block <= f_held_bytes(c->s)
		       ? m
		       : -1;
}

/* The load becomes an early one, if there is room. */
static void hoist(Ctx *c, Stmt *s, const Stmt **early)
{
	int64_t n = turns(c, s->where), words = words_of(c, s), m;
	int i;

	for (i = 0; i < c->b.nest.n_early; i++)
		if (early[i]->where == s->where && early[i]->arg == s->arg && early[i]->at == s->at &&
		    early[i]->vec == s->vec) {
			s->early = (int16_t)i;
			s->n = n;
			s->m = early[i]->m;
			return;
		}
	if (c->b.nest.n_early == F_EARLY)
		return;
	/* The turns of what goes on in shared memory have no numbers that are constants. */
	if (n && c->uses.held_bytes)
		return;
	m = s->where == EARLY_ROW ? 0 : shared_turns(c, s, n ? n : 1, words);
	if (m < 0)
		return;
	s->m = m;
	c->early_words += s->where == EARLY_ROW ? 0 : ((n ? n : 1) - m) * words;
	c->uses.held_bytes += m * words * 4 * c->s->block;
	if (n)
		declare(c, ST_EARLY_ARRAY, &c->b.nest.decl, s, n);
	declare(c, ST_EARLY, &c->b.nest.early[s->where], s, n);
	early[c->b.nest.n_early] = s;
	s->early = (int16_t)c->b.nest.n_early++;
	s->n = n;
}

/* Whether the launch has a load of the same. Loops that were built twice, or dropped, have left others. */
static int is_had(const Stmt *s)
{
	const Stmt *t;

	for (t = s; t; t = t->asked)
		if (t->shown && t->kind == ST_LOAD && t->where == s->where && t->arg == s->arg &&
		    t->at == s->at && t->vec == s->vec)
			return 1;
	return 0;
}

void f_finish(Ctx *c)
{
	const Stmt *early[F_EARLY];
	Block *out = c->b.out;
	Stmt *s;

	c->early_words = 0;
	nest_show(&c->b.nest);
	for (s = c->b.nest.asked; s; s = s->asked) {
		if (s->kind == ST_LOAD && s->where >= 0) {
			if (is_had(s))
				hoist(c, s, early);
		} else if (s->kind == ST_FOLD) {
			s->packed = (uint8_t)f_adds_apart(c, &c->g->op[s->o]);
		} else if (s->kind == ST_KEEP && c->b.nest.var[s->from[0].var].wanted) {
			s->flag = 1;
			c->b.out = &c->b.nest.decl;
			f_emit_to(c, ST_KEEP_ARRAY, s->from[0].var, -1)->n = s->n;
		}
	}
	c->b.out = out;
}
