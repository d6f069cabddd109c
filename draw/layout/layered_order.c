/* SPDX-License-Identifier: Apache-2.0 */
/* layered_order.c - the order in each layer: barycentres, from the layer above and from the one below in
 * turns. The order with the fewest crossings is kept. */
#include "draw/layout/layered_priv.h"

#include <string.h>

enum { SWEEPS = 24, WORK = 40 << 20 };

typedef struct Key {
	double mean;
	uint32_t vertex, before; /* its place so far decides between equals */
} Key;

static int by_mean(const void *a, const void *b)
{
	const Key *x = a, *y = b;

	if (x->mean != y->mean)
		return x->mean < y->mean ? -1 : 1;
	return (x->before > y->before) - (x->before < y->before);
}

/* Vertices by layer, in the order in which a walk from the top meets them: what belongs together begins side
 * by side. */
static void first_order(PmLayered *g)
{
	char *seen = pm_xcalloc(g->n_vert + 1, 1);
	uint32_t *stack = pm_xcalloc(g->chain_at[g->l->n_edges] + g->n_vert + 1, sizeof *stack);
	size_t *next = pm_xcalloc(g->n_layers + 1, sizeof *next), depth;

	for (size_t v = 0; v < g->n_vert; v++)
		g->layer_at[g->layer[v] + 1]++;
	for (size_t k = 0; k < g->n_layers; k++)
		g->layer_at[k + 1] += g->layer_at[k];
	memcpy(next, g->layer_at, g->n_layers * sizeof *next);
	for (size_t start = 0; start < g->n_vert; start++) {
		if (seen[start] || (start < g->n && g->up_at[start + 1] != g->up_at[start]))
			continue;
		stack[0] = (uint32_t)start;
		for (depth = 1; depth;) {
			uint32_t v = stack[--depth];

			if (seen[v])
				continue;
			seen[v] = 1;
			g->pos[v] = (uint32_t)(next[g->layer[v]] - g->layer_at[g->layer[v]]);
			g->order[next[g->layer[v]]++] = v;
			for (size_t i = g->down_at[v + 1]; i-- > g->down_at[v];)
				stack[depth++] = g->down[i];
		}
	}
	free(seen);
	free(stack);
	free(next);
}

static void sort_layer(PmLayered *g, size_t k, const size_t *at, const uint32_t *to, Key *key)
{
	size_t from = g->layer_at[k], n = g->layer_at[k + 1] - from;

	for (size_t i = 0; i < n; i++) {
		uint32_t v = g->order[from + i];
		size_t degree = at[v + 1] - at[v];
		double sum = 0;

		for (size_t j = at[v]; j < at[v + 1]; j++)
			sum += g->pos[to[j]];
		key[i] = (Key){ degree ? sum / (double)degree : (double)i, v, (uint32_t)i };
	}
	qsort(key, n, sizeof *key, by_mean);
	for (size_t i = 0; i < n; i++) {
		g->order[from + i] = key[i].vertex;
		g->pos[key[i].vertex] = (uint32_t)i;
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Pairs of segments between layer k and the next that cross: inversions, by a tree of counts. */
static int64_t crossings_below(const PmLayered *g, size_t k, uint32_t *tree, uint32_t *ends)
{
	size_t width = g->layer_at[k + 2] - g->layer_at[k + 1], n = 0;
	int64_t sum = 0;

	memset(tree, 0, (width + 1) * sizeof *tree);
	for (size_t i = g->layer_at[k]; i < g->layer_at[k + 1]; i++) {
		uint32_t v = g->order[i];
		size_t degree = g->down_at[v + 1] - g->down_at[v];

		for (size_t j = 0; j < degree; j++)
			ends[j] = g->pos[g->down[g->down_at[v] + j]];
		qsort(ends, degree, sizeof *ends, by_number);
		for (size_t j = 0; j < degree; j++) {
			int64_t at_most = 0;

			for (size_t t = ends[j] + 1; t; t &= t - 1)
				at_most += tree[t];
			sum += (int64_t)n - at_most;
		}
		for (size_t j = 0; j < degree; j++) {
			for (size_t t = ends[j] + 1; t <= width; t += t & (~t + 1))
				tree[t]++;
		}
		n += degree;
	}
	return sum;
}

static int64_t crossings(const PmLayered *g, uint32_t *tree, uint32_t *ends)
{
	int64_t sum = 0;

	for (size_t k = 0; k + 1 < g->n_layers; k++)
		sum += crossings_below(g, k, tree, ends);
	return sum;
}

static void sweep(PmLayered *g, int downwards, Key *key)
{
	for (size_t i = 0; i < g->n_layers; i++) {
		if (downwards)
			sort_layer(g, i, g->up_at, g->up, key);
		else
			sort_layer(g, g->n_layers - 1 - i, g->down_at, g->down, key);
	}
}

void pm__layered_order(PmLayered *g)
{
	size_t n_segments = g->chain_at[g->l->n_edges], sweeps = WORK / (n_segments + g->n_vert + 1) + 1;
	Key *key = pm_xcalloc(g->n_vert + 1, sizeof *key);
	uint32_t *tree = pm_xcalloc(g->n_vert + 2, sizeof *tree),
		 *ends = pm_xcalloc(n_segments + 1, sizeof *ends);
	uint32_t *best = pm_xcalloc(g->n_vert + 1, sizeof *best);
	int64_t least;

	first_order(g);
	memcpy(best, g->order, g->n_vert * sizeof *best);
	least = crossings(g, tree, ends);
	for (size_t i = 0; i < sweeps && i < SWEEPS && least; i++) {
		int64_t now;

		sweep(g, i % 2 == 0, key);
		now = crossings(g, tree, ends);
		if (now < least) {
			least = now;
			memcpy(best, g->order, g->n_vert * sizeof *best);
		}
	}
	memcpy(g->order, best, g->n_vert * sizeof *best);
	for (size_t k = 0; k < g->n_layers; k++) {
		for (size_t i = g->layer_at[k]; i < g->layer_at[k + 1]; i++)
			g->pos[g->order[i]] = (uint32_t)(i - g->layer_at[k]);
	}
	free(key);
	free(tree);
	free(ends);
	free(best);
}
