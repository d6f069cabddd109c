/* SPDX-License-Identifier: Apache-2.0 */
/* vars.c - indices that statements make, and which of them are the row's. */
#include "../fuse.h"

uint32_t f_deps(const Ctx *c, const Ix *co, int rank)
{
	uint32_t deps = 0;
	int d;

	for (d = 0; d < rank; d++)
		deps |= c->ix->lin[co[d]].deps;
	return deps;
}

/* ---- indices made by statements ---- */

Place f_enter_row(Ctx *c)
{
	Place p = { c->b.out, c->b.at_row, c->b.branch };

	if (c->b.at_row)
		return p;
	c->b.out = c->b.row;
	c->b.at_row = 1;
	c->b.branch = 0;
	return p;
}

void f_leave(Ctx *c, const Place *p)
{
	c->b.out = p->out;
	c->b.at_row = p->at_row;
	c->b.branch = p->branch;
}

/* What depends on the row only is part of the row. */
Ix f_index_of(Ctx *c, Ix a, IndexHow how, int64_t n, int64_t hi, const double *num)
{
	uint32_t deps = c->ix->lin[a].deps;
	int lanes = (deps & DEP_LANE) != 0;
	Place p = { c->b.out, c->b.at_row, c->b.branch };
	Stmt *s;

	if (!(deps & ~f_row_deps(c)))
		p = f_enter_row(c);
	if (c->b.branch && !c->b.at_row)
		deps |= DEP_HERE;
	s = f_emit(c, ST_INDEX);
	s->def = f_new_index(c, INDEX_MADE, hi, deps, lanes);
	s->at = a;
	s->how = (uint8_t)how;
	s->n = n;
	s->num = num;
	s->n_num = num ? 2 : 0;
	f_leave(c, &p);
	return s->def;
}

Ix f_made_index(Ctx *c, Ix a, IndexHow how, int64_t n, int64_t hi)
{
	return f_index_of(c, a, how, n, hi, NULL);
}

/* Whether the lanes of a vector differ from its first lane by 0, 1, 2, ... and no boundary at a multiple of
 * the vector's length falls between them. */
static int lanes_step(Ctx *c, Ix a, Ix *base)
{
	int64_t k;
	int i;

	*base = ix_without_lane(c->ix, a, &k);
	if (k != 1 || c->ix->lin[*base].c % c->s->vec)
		return 0;
	for (i = 0; i < c->ix->lin[*base].n; i++)
		if (c->ix->lin[*base].t[i].k % c->s->vec)
			return 0;
	return 1;
}

/* An index of the row, or of a thread's loop for it: kept inside for rows that have no business there, so
 * that what it leads to can be computed for every row alike, by all of its threads. */
static Ix clamped(Ctx *c, int key, Ix a, int64_t hi)
{
	Place p = f_enter_row(c);
	Ix x = f_made_index(c, a, INDEX_NEAREST, hi + 1, hi);

	f_memo_add(c, key, &a, 1, x);
	f_leave(c, &p);
	return x;
}

Ix f_confine(Ctx *c, Ix a, int64_t hi)
{
	enum { KEY = -2 };
	Ix base, x;
	int found;

	if (c->fail || (c->ix->lin[a].lo >= 0 && c->ix->lin[a].hi <= hi))
		return a;
	found = f_memo_find(c, KEY, &a, 1);
	if (found >= 0)
		return found;
	if (c->b.at_row || !(c->ix->lin[a].deps & ~f_row_deps(c)))
		return clamped(c, KEY, a, hi);
	if ((c->ix->lin[a].deps & DEP_LANE) && lanes_step(c, a, &base)) {
		int64_t v = c->s->vec;

		x = f_made_index(c, base, INDEX_VECTOR, 0, hi / v);
		x = ix_add(c->ix, ix_scale(c->ix, x, v), c->ix->lane);
	} else {
		x = f_made_index(c, a, INDEX_SAME, 0, hi);
	}
	f_memo_add(c, KEY, &a, 1, x);
	return x;
}

Ix f_one_base(Ctx *c, Ix a, int64_t k)
{
	Ix base = a;

	if (c->ix->lin[a].deps & DEP_LANE && (!lanes_step(c, a, &base) || k % c->s->vec))
		f_fail(c, "lanes go different ways");
	return base;
}
