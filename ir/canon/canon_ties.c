/* SPDX-License-Identifier: Apache-2.0 */
/* canon_ties.c - choices between values that are alike. */
#include "ir/canon/canon_priv.h"

#include "base/core/hash.h"

#include <stdlib.h>

/* Two hashes of a text: no two texts of one graph share both. */
typedef struct Leaf {
	uint64_t a, b;
} Leaf;

typedef struct Choice {
	size_t n, option;
	PM_VEC(Leaf) seen; /* the first text that each option led to */
} Choice;

struct PmTies {
	PM_VEC(Choice) choices;
	size_t depth; /* choices asked for in this walk */
	size_t kept;  /* choices that this walk repeats; the last of them has a new option */
};

PmTies *pm__ties_new(void)
{
	return pm_xcalloc(1, sizeof(PmTies));
}

static void drop_from(PmTies *t, size_t n)
{
	while (t->choices.n > n) {
		t->choices.n--;
		PM_VEC_RELEASE(&t->choices.v[t->choices.n].seen);
	}
}

void pm__ties_free(PmTies *t)
{
	if (!t)
		return;
	drop_from(t, 0);
	PM_VEC_RELEASE(&t->choices);
	free(t);
}

size_t pm__ties_pick(PmTies *t, size_t n)
{
	Choice fresh = { n, 0, { NULL, 0, 0 } };

	if (t->depth == t->choices.n)
		PM_VEC_PUSH(&t->choices, fresh);
	return t->choices.v[t->depth++].option;
}

static int add_leaf(Choice *c, Leaf leaf)
{
	size_t i;

	for (i = 0; i < c->seen.n; i++) {
		if (c->seen.v[i].a == leaf.a && c->seen.v[i].b == leaf.b)
			return 0;
	}
	PM_VEC_PUSH(&c->seen, leaf);
	return 1;
}

int pm__ties_next(PmTies *t, const char *text, size_t len)
{
	Leaf leaf = { pm_hash64(text, len, PM_HASH_SEED), pm_hash64(text, len, ~PM_HASH_SEED) };
	size_t i;

	if (t->kept && !add_leaf(&t->choices.v[t->kept - 1], leaf))
		drop_from(t, t->kept); /* as an option before: what lies behind it is known too */
	for (i = t->kept; i < t->choices.n; i++)
		add_leaf(&t->choices.v[i], leaf);
	t->depth = 0;
	while (t->choices.n && t->choices.v[t->choices.n - 1].option + 1 == t->choices.v[t->choices.n - 1].n)
		drop_from(t, t->choices.n - 1);
	t->kept = t->choices.n;
	if (!t->kept)
		return 0;
	t->choices.v[t->kept - 1].option++;
	return 1;
}
