/* SPDX-License-Identifier: Apache-2.0 */
/* early.c - loads that are issued before anything waits for one.
 *
 * A kernel of a few microseconds is a chain of waits for memory: what is first asked for behind a reduction
 * or in a branch would be loaded there, since compilers move no load over a barrier. So a load whose place is
 * known from the start (it depends on the row, the place in it and the lane, on nothing that was loaded) is
 * written at the begin of the section, and stays as it is in memory in registers until it is asked for: in
 * front of the loops, where these are unrolled; a row's own values always.
 */
#include "fuse.h"

enum { ROW = F_LOOPS };

void f_early_reset(Ctx *c)
{
	int i;

	c->n_early = 0;
	c->early_words = 0;
	for (i = 0; i <= F_LOOPS; i++)
		c->early_text[i].n = 0;
}

/* Nothing that a statement has computed. */
static int is_plain(const Ctx *c, Ix at)
{
	const Lin *l = &c->lin[at];
	int i;

	if (l->deps & ~(uint32_t)(DEP_ROW | DEP_CHUNK | DEP_LANE))
		return 0;
	for (i = 0; i < l->n; i++) {
		const Atom *a = &c->atom[l->t[i].atom];

		if (a->kind == ATOM_VAR ? a->name[0] == 'x' : !is_plain(c, a->of))
			return 0;
	}
	return 1;
}

static int64_t turns(const Ctx *c, int where)
{
	return where == ROW || !c->s->rows ? 1 : f_turns(c, where);
}

/* In front of which loops it goes; -1: it stays where it is. */
static int place(const Ctx *c, const Op *o, Ix at)
{
	if (c->dry || c->trial || c->branch || c->s->dot || !is_plain(c, at) || c->lin[at].lo < 0 ||
	    c->lin[at].hi >= f_numel(o))
		return -1;
	if (c->at_row)
		return ROW;
	if (!c->s->rows)
		return 0;
	return c->loop_now >= 0 && f_unrolled(c, c->loop_now) ? c->loop_now : -1;
}

static void subscripts(Ctx *c, int where, int64_t n, int elements)
{
	if (where != ROW && c->s->rows) {
		t_add(c, "[");
		if (n)
			t_int(c, n);
		else
			t_add(c, "k");
		t_add(c, "]");
	}
	if (elements) {
		t_add(c, "[");
		if (n)
			t_int(c, c->s->vec);
		else
			t_add(c, "j");
		t_add(c, "]");
	}
}

/* "pm_vec<__half, 8> e3[2];" in front, and "e3[k] = fetch<8, A>(p1 + 8 * m0);" in the loop. */
static void write(Ctx *c, const Op *o, const Early *e, int number, Ix base, int lanes)
{
	PmText *out = c->out;
	int vec = lanes && base >= 0;

	c->out = e->where == ROW || !c->s->rows ? &c->early_text[e->where] : &c->decl;
	t_add(c, vec ? "pm_vec<" : "");
	t_add(c, f_ctype(o->dtype));
	if (vec) {
		t_add(c, ", ");
		t_int(c, c->s->vec);
		t_add(c, ">");
	}
	t_add(c, " e");
	t_int(c, number);
	subscripts(c, e->where, turns(c, e->where), lanes && !vec);
	t_add(c, ";\n");
	c->out = &c->early_text[e->where];
	f_for_lanes(c, lanes && !vec);
	t_add(c, "e");
	t_int(c, number);
	subscripts(c, e->where, 0, lanes && !vec);
	t_add(c, " = ");
	f_load_text(c, e->arg, vec ? base : e->at, vec);
	t_add(c, ";\n");
	c->out = out;
}

/* Words that a thread may keep besides those that it computes with. */
static int64_t room(const Section *s)
{
	return s->hold ? 44 : s->block > 512 ? 32 : s->block > 256 ? 64 : s->block > 128 ? 96 : 128;
}

static int64_t words_of(const Ctx *c, const Op *o, int lanes)
{
	return ((lanes ? c->s->vec : 1) * (int64_t)pm_dtype_bytes(o->dtype) + 3) / 4;
}

int f_early(Ctx *c, const Op *o, int arg, Ix at, Ix base, int lanes)
{
	int where = place(c, o, at), i;
	int64_t words;
	Early *e;

	for (i = 0; i < c->n_early && where >= 0; i++)
		if (c->early[i].where == where && c->early[i].arg == arg && c->early[i].at == at)
			return i;
	if (where < 0 || c->n_early == F_EARLY)
		return -1;
	words = where == ROW ? 0 : turns(c, where) * words_of(c, o, lanes);
	if (words && c->kept_words + c->early_words + words > room(c->s))
		return -1;
	c->early_words += words;
	e = &c->early[c->n_early];
	*e = (Early){ where, arg, at };
	write(c, o, e, c->n_early, base, lanes);
	return c->n_early++;
}

void f_early_ref(Ctx *c, int number)
{
	t_add(c, "e");
	t_int(c, number);
	subscripts(c, c->early[number].where, 0, 0);
}

void f_early_write(Ctx *c, PmText *t, int of_row)
{
	PmText *out = c->out;
	int k;

	c->out = t;
	for (k = of_row ? ROW : 0; k < (of_row ? ROW + 1 : F_LOOPS); k++) {
		PmText *e = &c->early_text[k];
		int loop = k != ROW && c->s->rows;

		if (!e->n)
			continue;
		e->s[e->n] = 0;
		if (loop)
			f_loop_head(c, k);
		pm_text_add(t, e->s);
		pm_text_add(t, loop ? "}\n}\n" : "");
		t->full |= e->full;
	}
	c->out = out;
}
