/* SPDX-License-Identifier: Apache-2.0 */
/* layered_place.c - x of each vertex.
 *
 * Layer by layer, down and up in turns, each vertex wants to be at the weighted mean of its neighbours. Under
 * the distances that boxes need, the places with the least sum of weighted squares are those of a monotone
 * regression: with the distances taken out, neighbours whose wishes are in the wrong order become one block
 * that stands at the mean of its wishes (pool adjacent violators).
 */
#include "draw/layout/layered_priv.h"

enum { SWEEPS = 16 };

typedef struct Block {
	double sum, weight;
	size_t n;
} Block;

static double distance(const PmLayered *g, uint32_t a, uint32_t b)
{
	return (g->w[a] + g->w[b]) / 2 + (a < g->n && b < g->n ? PM__GAP_X : PM__GAP_BEND);
}

/* Long edges are to be straight above all. */
static double pull(const PmLayered *g, uint32_t a, uint32_t b)
{
	return a >= g->n && b >= g->n ? 8 : a >= g->n || b >= g->n ? 2 : 1;
}

static void add_pull(const PmLayered *g, uint32_t v, const size_t *at, const uint32_t *to, double *sum,
		     double *weight)
{
	for (size_t i = at[v]; i < at[v + 1]; i++) {
		double w = pull(g, v, to[i]);

		*sum += w * g->x[to[i]];
		*weight += w;
	}
}

static void place_layer(PmLayered *g, size_t k, int above, int below, Block *block)
{
	size_t n_blocks = 0;
	double offset = 0;

	for (size_t i = g->layer_at[k]; i < g->layer_at[k + 1]; i++) {
		uint32_t v = g->order[i];
		double sum = 0, weight = 0;

		if (i > g->layer_at[k])
			offset += distance(g, g->order[i - 1], v);
		if (above)
			add_pull(g, v, g->up_at, g->up, &sum, &weight);
		if (below)
			add_pull(g, v, g->down_at, g->down, &sum, &weight);
		if (weight == 0) { /* stays, unless somebody pushes */
			weight = 0.05;
			sum = weight * g->x[v];
		}
		block[n_blocks++] = (Block){ sum - weight * offset, weight, 1 };
		while (n_blocks > 1 && block[n_blocks - 2].sum * block[n_blocks - 1].weight >
					       block[n_blocks - 1].sum * block[n_blocks - 2].weight) {
			Block last = block[--n_blocks];

			block[n_blocks - 1].sum += last.sum;
			block[n_blocks - 1].weight += last.weight;
			block[n_blocks - 1].n += last.n;
		}
	}
	offset = 0;
	for (size_t b = 0, i = g->layer_at[k]; b < n_blocks; b++) {
		for (size_t j = 0; j < block[b].n; j++, i++) {
			if (i > g->layer_at[k])
				offset += distance(g, g->order[i - 1], g->order[i]);
			g->x[g->order[i]] = block[b].sum / block[b].weight + offset;
		}
	}
}

/* Each layer beginning at 0. */
static void pack(PmLayered *g)
{
	for (size_t k = 0; k < g->n_layers; k++) {
		for (size_t i = g->layer_at[k]; i < g->layer_at[k + 1]; i++) {
			uint32_t v = g->order[i];

			g->x[v] = i > g->layer_at[k] ? g->x[g->order[i - 1]] + distance(g, g->order[i - 1], v)
						     : 0;
		}
	}
}

void pm__layered_place(PmLayered *g)
{
	Block *block = pm_xcalloc(g->n_vert + 1, sizeof *block);

	pack(g);
	for (int s = 0; s < SWEEPS; s++) {
		int both = s >= SWEEPS - 4, down = s % 2 == 0;

		for (size_t i = 0; i < g->n_layers; i++)
			place_layer(g, down ? i : g->n_layers - 1 - i, both || down, both || !down, block);
	}
	free(block);
}
