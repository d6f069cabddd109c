/* SPDX-License-Identifier: Apache-2.0 */
/* ix.c - index arithmetic. An index is a linear form over atoms: loop variables, and quotients and remainders
 * of linear forms by constants. Forms are kept in one place each, so that equal ones have equal numbers, and
 * are shortened when they are made: what a reshape takes apart, the next load puts together again. */
#include "ix.h"

enum { HASH = 2 * F_LINS };

static void bounds(const Index *c, Lin *l)
{
	int i;

	l->lo = l->hi = l->c;
	l->deps = 0;
	for (i = 0; i < l->n; i++) {
		const Atom *a = &c->atom[l->t[i].atom];

		if (l->t[i].k > 0)
			l->hi += l->t[i].k * a->hi;
		else
			l->lo += l->t[i].k * a->hi;
		l->deps |= a->deps;
	}
}

static int same(const Lin *a, const Lin *b)
{
	int i;

	if (a->n != b->n || a->c != b->c)
		return 0;
	for (i = 0; i < a->n; i++)
		if (a->t[i].atom != b->t[i].atom || a->t[i].k != b->t[i].k)
			return 0;
	return 1;
}

static Ix intern(Index *c, Lin *l)
{
	uint64_t h = (uint64_t)l->c * 0x9e3779b97f4a7c15u;
	int i;

	for (i = 0; i < l->n; i++)
		h = (h ^ (uint64_t)l->t[i].atom ^ (uint64_t)l->t[i].k << 12) * 0x9e3779b97f4a7c15u;
	for (i = (int)(h >> 40) % HASH; c->lin_of[i]; i = (i + 1) % HASH)
		if (same(&c->lin[c->lin_of[i] - 1], l))
			return c->lin_of[i] - 1;
	if (c->n_lins == F_LINS) {
		*c->fail = "its index arithmetic is too long";
		return 0;
	}
	bounds(c, l);
	l->slot = (int16_t)i;
	c->lin[c->n_lins] = *l;
	c->lin_of[i] = (int16_t)++c->n_lins;
	return c->n_lins - 1;
}

int ix_new(Index *c, const char **fail)
{
	c->lin = pm_alloc(F_LINS * sizeof *c->lin);
	c->atom = pm_alloc(F_ATOMS * sizeof *c->atom);
	c->lin_of = pm_alloc(HASH * sizeof *c->lin_of);
	c->fail = fail;
	return c->lin && c->atom && c->lin_of;
}

enum { ZERO }; /* the number of the form 0, the one that is asked for most */

void ix_reset(Index *c)
{
	Lin zero = { 0 };
	int i;

	for (i = 0; i < c->n_lins; i++)
		c->lin_of[c->lin[i].slot] = 0;
	c->n_lins = c->n_atoms = 0;
	intern(c, &zero);
}

Ix ix_const(Index *c, int64_t k)
{
	Lin l;

	if (!k)
		return ZERO;
	l = (Lin){ .c = k };
	return intern(c, &l);
}

Ix ix_of_atom(Index *c, int atom)
{
	Lin l = { .n = 1, .t = { { atom, 1 } } };

	return intern(c, &l);
}

static int new_atom(Index *c, const Atom *a)
{
	int i;

	if (a->kind != ATOM_VAR)
		for (i = 0; i < c->n_atoms; i++)
			if (c->atom[i].kind == a->kind && c->atom[i].of == a->of && c->atom[i].by == a->by)
				return i;
	if (c->n_atoms == F_ATOMS) {
		*c->fail = "its index arithmetic is too long";
		return 0;
	}
	c->atom[c->n_atoms] = *a;
	return c->n_atoms++;
}

int ix_atom(Index *c, const Atom *a)
{
	return new_atom(c, a);
}

Ix ix_var(Index *c, const char *name, int64_t hi, uint32_t deps, int lanes)
{
	Atom a = { .kind = ATOM_VAR, .lanes = (uint8_t)lanes, .deps = deps, .hi = hi };
	int i;

	for (i = 0; name[i] && i < 11; i++)
		a.name[i] = name[i];
	return ix_of_atom(c, new_atom(c, &a));
}

/* Adds k * atom; terms are in order of atoms. */
static void add_term(Index *c, Lin *l, int atom, int64_t k)
{
	int i = 0, j;

	while (i < l->n && l->t[i].atom < atom)
		i++;
	if (i < l->n && l->t[i].atom == atom) {
		l->t[i].k += k;
		if (l->t[i].k)
			return;
		for (l->n--; i < l->n; i++)
			l->t[i] = l->t[i + 1];
		return;
	}
	if (l->n == F_TERMS) {
		*c->fail = "its index arithmetic is too long";
		return;
	}
	for (j = l->n++; j > i; j--)
		l->t[j] = l->t[j - 1];
	l->t[i] = (Term){ atom, k };
}

static void add_scaled(Index *c, Lin *l, Ix x, int64_t k)
{
	const Lin *m = &c->lin[x];
	int i;

	l->c += m->c * k;
	for (i = 0; i < m->n; i++)
		add_term(c, l, m->t[i].atom, m->t[i].k * k);
}

/* The atom when the form is nothing else, or -1. */
static int only_atom(const Index *c, Ix x)
{
	const Lin *l = &c->lin[x];

	return l->n == 1 && l->c == 0 && l->t[0].k == 1 ? l->t[0].atom : -1;
}

/* x % b and x / b, x % b and x / b % d: one step of putting together. 1 when something was. */
static int join(Index *c, Lin *l)
{
	int i, j;

	for (i = 0; i < l->n; i++) {
		const Atom *p = &c->atom[l->t[i].atom];
		int64_t k = l->t[i].k;

		if (p->kind != ATOM_MOD)
			continue;
		for (j = 0; j < l->n; j++) {
			int pa = l->t[i].atom, qa = l->t[j].atom;
			const Atom *q = &c->atom[qa];
			int under;

			if (l->t[j].k != k * p->by || q->kind == ATOM_VAR)
				continue;
			if (q->kind == ATOM_DIV && q->of == p->of && q->by == p->by) {
				Ix x = p->of;

				add_term(c, l, pa, -k);
				add_term(c, l, qa, -k * p->by);
				add_scaled(c, l, x, k);
				return 1;
			}
			under = q->kind == ATOM_MOD ? only_atom(c, q->of) : -1;
			if (under >= 0 && c->atom[under].kind == ATOM_DIV && c->atom[under].of == p->of &&
			    c->atom[under].by == p->by) {
				Ix x = p->of;
				int64_t by = p->by, all = p->by * q->by;

				add_term(c, l, pa, -k);
				add_term(c, l, qa, -k * by);
				add_scaled(c, l, ix_mod(c, x, all), k);
				return 1;
			}
		}
	}
	return 0;
}

static Ix finish(Index *c, Lin *l)
{
	while (!*c->fail && join(c, l))
		;
	return intern(c, l);
}

Ix ix_add(Index *c, Ix a, Ix b)
{
	Lin l;

	/* Nothing in a form of one term can be put together. */
	if (a == ZERO && c->lin[b].n <= 1)
		return b;
	if (b == ZERO && c->lin[a].n <= 1)
		return a;
	l = c->lin[a];
	add_scaled(c, &l, b, 1);
	return finish(c, &l);
}

Ix ix_plus(Index *c, Ix a, int64_t k)
{
	Lin l = c->lin[a];

	l.c += k;
	return intern(c, &l);
}

Ix ix_scale(Index *c, Ix a, int64_t k)
{
	Lin l = { 0 };

	if (!k || k == 1)
		return k ? a : ZERO;
	add_scaled(c, &l, a, k);
	return intern(c, &l);
}

/* What is left of x when the multiples of `by` are taken out (those over `by` in *q). */
static void split(Index *c, Ix x, int64_t by, Lin *q, Lin *rest)
{
	const Lin *l = &c->lin[x];
	int64_t m = l->c % by;
	int i;

	*q = (Lin){ 0 };
	*rest = (Lin){ 0 };
	if (m < 0)
		m += by;
	rest->c = m;
	q->c = (l->c - m) / by;
	for (i = 0; i < l->n; i++) {
		if (l->t[i].k % by == 0)
			add_term(c, q, l->t[i].atom, l->t[i].k / by);
		else
			add_term(c, rest, l->t[i].atom, l->t[i].k);
	}
	bounds(c, rest);
}

static int64_t gcd(int64_t a, int64_t b)
{
	a = a < 0 ? -a : a;
	while (b) {
		int64_t t = a % b;

		a = b;
		b = t;
	}
	return a;
}

/* x = g * big + small with 0 <= small < g and g > 1 dividing `by`: the largest such g, or 0. */
static int64_t coarse(Index *c, Ix x, int64_t by, Ix *big, Ix *small)
{
	int64_t best = 0;
	int i, n = c->lin[x].n;

	for (i = 0; i < n; i++) {
		int64_t g = gcd(c->lin[x].t[i].k, by);
		Lin q, r;

		if (g <= best || g < 2)
			continue;
		split(c, x, g, &q, &r);
		if (r.lo < 0 || r.hi >= g)
			continue;
		best = g;
		*big = finish(c, &q);
		*small = finish(c, &r);
	}
	return best;
}

Ix ix_div(Index *c, Ix a, int64_t by)
{
	Lin q, rest;
	Ix r, big = 0, small = 0;
	int64_t g;
	int at;

	if (by == 1 || *c->fail)
		return a;
	split(c, a, by, &q, &rest);
	if (rest.lo >= 0 && rest.hi < by)
		return finish(c, &q);
	if (rest.lo < 0) {
		*c->fail = "an index may be negative where it is divided";
		return a;
	}
	r = finish(c, &rest);
	g = coarse(c, r, by, &big, &small);
	at = only_atom(c, r);
	if (g) {
		r = ix_div(c, big, by / g);
	} else if (at >= 0 && c->atom[at].kind == ATOM_DIV) {
		r = ix_div(c, c->atom[at].of, c->atom[at].by * by);
	} else if (at >= 0 && c->atom[at].kind == ATOM_MOD && c->atom[at].by % by == 0) {
		int64_t outer = c->atom[at].by / by;

		r = ix_mod(c, ix_div(c, c->atom[at].of, by), outer);
	} else {
		Atom d = {
			.kind = ATOM_DIV, .deps = c->lin[r].deps, .of = r, .by = by, .hi = c->lin[r].hi / by
		};

		r = ix_of_atom(c, new_atom(c, &d));
	}
	add_scaled(c, &q, r, 1);
	return finish(c, &q);
}

Ix ix_mod(Index *c, Ix a, int64_t by)
{
	Lin q, rest;
	Ix r, big = 0, small = 0;
	int64_t g;
	int at;

	if (by == 1)
		return ix_const(c, 0);
	if (*c->fail)
		return a;
	split(c, a, by, &q, &rest);
	if (rest.lo >= 0 && rest.hi < by)
		return finish(c, &rest);
	if (rest.lo < 0) {
		*c->fail = "an index may be negative where it is divided";
		return a;
	}
	r = finish(c, &rest);
	g = coarse(c, r, by, &big, &small);
	at = only_atom(c, r);
	if (g)
		return ix_add(c, ix_scale(c, ix_mod(c, big, by / g), g), small);
	if (at >= 0 && c->atom[at].kind == ATOM_MOD && c->atom[at].by % by == 0)
		return ix_mod(c, c->atom[at].of, by);
	{
		Atom d = { .kind = ATOM_MOD, .deps = c->lin[r].deps, .of = r, .by = by, .hi = by - 1 };

		if (c->lin[r].hi < d.hi)
			d.hi = c->lin[r].hi;
		return ix_of_atom(c, new_atom(c, &d));
	}
}

Ix ix_without_lane(Index *c, Ix a, int64_t *k)
{
	Lin l = c->lin[a];
	int lane = only_atom(c, c->lane), i;

	*k = 0;
	if (!(l.deps & DEP_LANE))
		return a;
	for (i = 0; i < l.n; i++) {
		if (l.t[i].atom == lane)
			*k = l.t[i].k;
		else if (c->atom[l.t[i].atom].deps & DEP_LANE)
			*k = -1;
		if (*k < 0)
			return a;
	}
	add_term(c, &l, lane, -*k);
	return intern(c, &l);
}
