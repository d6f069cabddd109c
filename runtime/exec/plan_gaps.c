/* SPDX-License-Identifier: Apache-2.0 */
/* plan_gaps.c - the steps at which slots of memory are free. */
#include "runtime/exec/plan_gaps.h"

#include "base/core/err.h"
#include "base/core/vec.h"

#include <stdint.h>
#include <stdlib.h>

/* A gap in the treap of one node of the segment tree. */
typedef struct Item {
	PmGap gap;
	uint32_t kid[2]; /* those that end before it, and after it; 0 = none */
	uint32_t best;   /* of itself and all below it: that of the highest slot */
	uint32_t rank;   /* the least is on top */
} Item;

struct PmGaps {
	int n_steps;
	uint32_t *root; /* owned; by node of the segment tree: n_steps + s is step s, i has kids 2i, 2i + 1 */
	PM_VEC(Item) item;  /* 0 is none */
	uint32_t free_item; /* a list by kid[0] */
	uint32_t state;     /* of the ranks: the same gaps give the same treaps */
};

PmGaps *pm__gaps_new(int n_steps)
{
	PmGaps *g = pm_xcalloc(1, sizeof *g);

	g->n_steps = n_steps;
	g->root = pm_xcalloc(2 * (size_t)n_steps + 2, sizeof *g->root);
	g->state = 1;
	PM_VEC_PUSH(&g->item, ((Item){ .gap = { .slot = -1 } }));
	return g;
}

void pm__gaps_free(PmGaps *g)
{
	if (!g)
		return;
	PM_VEC_RELEASE(&g->item);
	free(g->root);
	free(g);
}

/* ---- a treap ---- */

static int is_before(PmGap a, PmGap b)
{
	return a.last != b.last ? a.last < b.last : a.slot < b.slot;
}

static uint32_t new_item(PmGaps *g, PmGap gap)
{
	uint32_t at = g->free_item;
	Item x = { .gap = gap };

	g->state ^= g->state << 13;
	g->state ^= g->state >> 17;
	g->state ^= g->state << 5;
	x.rank = g->state;
	if (at) {
		g->free_item = g->item.v[at].kid[0];
		g->item.v[at] = x;
	} else {
		at = (uint32_t)g->item.n;
		PM_VEC_PUSH(&g->item, x);
	}
	g->item.v[at].best = at;
	return at;
}

static uint32_t higher(const PmGaps *g, uint32_t a, uint32_t b)
{
	return g->item.v[b].gap.slot > g->item.v[a].gap.slot ? b : a;
}

static void set_best(PmGaps *g, uint32_t at)
{
	Item *x = &g->item.v[at];

	x->best = at;
	for (int k = 0; k < 2; k++)
		if (x->kid[k])
			x->best = higher(g, x->best, g->item.v[x->kid[k]].best);
}

/* Parts a treap: what is before `gap`, and the rest. */
static void part(PmGaps *g, uint32_t top, PmGap gap, uint32_t *before, uint32_t *rest)
{
	if (!top) {
		*before = *rest = 0;
	} else if (is_before(g->item.v[top].gap, gap)) {
		part(g, g->item.v[top].kid[1], gap, &g->item.v[top].kid[1], rest);
		set_best(g, top);
		*before = top;
	} else {
		part(g, g->item.v[top].kid[0], gap, before, &g->item.v[top].kid[0]);
		set_best(g, top);
		*rest = top;
	}
}

/* All of `a` is before all of `b`. */
static uint32_t join(PmGaps *g, uint32_t a, uint32_t b)
{
	if (!a || !b)
		return a ? a : b;
	if (g->item.v[a].rank < g->item.v[b].rank) {
		g->item.v[a].kid[1] = join(g, g->item.v[a].kid[1], b);
		set_best(g, a);
		return a;
	}
	g->item.v[b].kid[0] = join(g, a, g->item.v[b].kid[0]);
	set_best(g, b);
	return b;
}

static void insert(PmGaps *g, uint32_t *root, PmGap gap)
{
	uint32_t at = new_item(g, gap), before, rest;

	part(g, *root, gap, &before, &rest);
	*root = join(g, join(g, before, at), rest);
}

static uint32_t without(PmGaps *g, uint32_t top, PmGap gap)
{
	Item *x = &g->item.v[top];
	int k;

	if (x->gap.last == gap.last && x->gap.slot == gap.slot) {
		uint32_t kids = join(g, x->kid[0], x->kid[1]);

		x->kid[0] = g->free_item;
		g->free_item = top;
		return kids;
	}
	k = is_before(x->gap, gap);
	x->kid[k] = without(g, x->kid[k], gap);
	set_best(g, top);
	return top;
}

/* The item of the highest slot among those that last until `last`; 0 = none. */
static uint32_t highest(const PmGaps *g, uint32_t top, int last)
{
	uint32_t best = 0;

	while (top) {
		const Item *x = &g->item.v[top];

		if (x->gap.last < last) {
			top = x->kid[1];
			continue;
		}
		best = higher(g, best, top);
		best = higher(g, best, g->item.v[x->kid[1]].best);
		top = x->kid[0];
	}
	return best;
}

/* ---- the segment tree ---- */

/* The nodes that [first, last] covers; the same for what was added and what is taken. */
static void each_cover(PmGaps *g, PmGap gap, int take)
{
	uint32_t from = (uint32_t)(gap.first + g->n_steps), to = (uint32_t)(gap.last + g->n_steps) + 1;

	for (; from < to; from /= 2, to /= 2) {
		uint32_t node[2] = { from & 1 ? from++ : 0, to & 1 ? --to : 0 };

		for (int k = 0; k < 2; k++) {
			if (node[k] && take)
				g->root[node[k]] = without(g, g->root[node[k]], gap);
			else if (node[k])
				insert(g, &g->root[node[k]], gap);
		}
	}
}

void pm__gaps_add(PmGaps *g, PmGap gap)
{
	if (gap.first <= gap.last)
		each_cover(g, gap, 0);
}

void pm__gaps_take(PmGaps *g, PmGap gap)
{
	each_cover(g, gap, 1);
}

int pm__gaps_find(const PmGaps *g, int first, int last, PmGap *out)
{
	uint32_t best = 0;

	for (uint32_t node = (uint32_t)(first + g->n_steps); node; node /= 2)
		best = higher(g, best, highest(g, g->root[node], last));
	*out = g->item.v[best].gap;
	return best != 0;
}
