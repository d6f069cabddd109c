/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - components of graphs that belong together. */
#include "dataset/select/split.h"

#include "base/core/arena.h"

#include <stdlib.h>

typedef struct Union {
	size_t *up; /* over items, then structures */
	size_t n_items;
} Union;

static size_t root(size_t *up, size_t x)
{
	while (up[x] != x)
		x = up[x] = up[up[x]];
	return x;
}

/* The smaller number becomes the root, so that the answer does not depend on the order of joining. */
static void join(size_t *up, size_t a, size_t b)
{
	a = root(up, a);
	b = root(up, b);
	if (a < b)
		up[b] = a;
	else
		up[a] = b;
}

static void join_alike(void *arg, size_t i, size_t j)
{
	Union *u = arg;

	join(u->up, u->n_items + i, u->n_items + j);
}

typedef struct ByOps {
	int64_t op_seq;
	size_t i;
} ByOps;

static int by_ops(const void *x, const void *y)
{
	const ByOps *a = x, *b = y;

	if (a->op_seq != b->op_seq)
		return a->op_seq < b->op_seq ? -1 : 1;
	return (a->i > b->i) - (a->i < b->i);
}

size_t pm_components(const PmSplitItem *item, size_t n, const PmColors *colors, size_t n_colors, size_t *part)
{
	Union u = { pm_xcalloc(n + n_colors + 1, sizeof *u.up), n };
	ByOps *ops = pm_xcalloc(n + 1, sizeof *ops);
	size_t *number = pm_xcalloc(n + n_colors + 1, sizeof *number), parts = 0;

	for (size_t i = 0; i < n + n_colors; i++)
		u.up[i] = i;
	for (size_t i = 0; i < n; i++) {
		join(u.up, i, n + item[i].structure);
		ops[i] = (ByOps){ item[i].op_seq, i };
	}
	qsort(ops, n, sizeof *ops, by_ops);
	for (size_t i = 1; i < n; i++)
		if (ops[i].op_seq == ops[i - 1].op_seq)
			join(u.up, ops[i].i, ops[i - 1].i);
	pm_alike_pairs(colors, n_colors, join_alike, &u);
	for (size_t i = 0; i < n; i++) {
		size_t r = root(u.up, i);

		if (!number[r])
			number[r] = ++parts;
		part[i] = number[r] - 1;
	}
	free(u.up);
	free(ops);
	free(number);
	return parts;
}
