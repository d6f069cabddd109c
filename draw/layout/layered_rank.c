/* SPDX-License-Identifier: Apache-2.0 */
/* layered_rank.c - layers: no edge leads upwards, and long edges get a bend in each layer that they pass. */
#include "draw/layout/layered_priv.h"

#include <string.h>

/* Edges by one of their ends, in the order in which they were given. */
typedef struct ByEnd {
	size_t *at; /* by node, and the end */
	uint32_t *edge;
} ByEnd;

/* The ends of an edge as it is drawn. */
static uint32_t upper(const PmLayered *g, size_t e)
{
	return g->turned[e] ? g->l->edge[e].to : g->l->edge[e].from;
}

static uint32_t lower(const PmLayered *g, size_t e)
{
	return g->turned[e] ? g->l->edge[e].from : g->l->edge[e].to;
}

static int is_loop(const PmLayered *g, size_t e)
{
	return g->l->edge[e].from == g->l->edge[e].to;
}

static ByEnd by_upper(const PmLayered *g)
{
	size_t m = g->l->n_edges;
	ByEnd b = { pm_xcalloc(g->n + 2, sizeof *b.at), pm_xcalloc(m + 1, sizeof *b.edge) };

	for (size_t e = 0; e < m; e++)
		b.at[upper(g, e) + 2]++;
	for (size_t v = 0; v < g->n; v++)
		b.at[v + 2] += b.at[v + 1];
	for (size_t e = 0; e < m; e++)
		b.edge[b.at[upper(g, e) + 1]++] = (uint32_t)e;
	return b;
}

static void by_end_release(ByEnd *b)
{
	free(b->at);
	free(b->edge);
}

/* Turns the edges that lead back to a node of the path from where a depth-first walk began. */
static void break_circles(PmLayered *g)
{
	enum { NEW, ON_PATH, DONE };
	ByEnd out = by_upper(g);
	char *state = pm_xcalloc(g->n + 1, 1);
	uint32_t *path = pm_xcalloc(g->n + 1, sizeof *path);
	size_t *next = pm_xcalloc(g->n + 1, sizeof *next), depth;

	memcpy(next, out.at, g->n * sizeof *next);
	for (size_t start = 0; start < g->n; start++) {
		if (state[start] != NEW)
			continue;
		path[0] = (uint32_t)start;
		state[start] = ON_PATH;
		for (depth = 1; depth;) {
			uint32_t v = path[depth - 1], to;

			if (next[v] == out.at[v + 1]) {
				state[v] = DONE;
				depth--;
				continue;
			}
			to = g->l->edge[out.edge[next[v]]].to;
			g->turned[out.edge[next[v]++]] = state[to] == ON_PATH;
			if (state[to] == NEW) {
				state[to] = ON_PATH;
				path[depth++] = to;
			}
		}
	}
	by_end_release(&out);
	free(state);
	free(path);
	free(next);
}

/* The longest path from above; then nodes that nothing leads to come down to what they lead to. */
static void longest_paths(PmLayered *g)
{
	ByEnd out = by_upper(g);
	uint32_t *n_in = pm_xcalloc(g->n + 1, sizeof *n_in), *queue = pm_xcalloc(g->n + 1, sizeof *queue);
	char *has_in = pm_xcalloc(g->n + 1, 1);
	size_t head = 0, tail = 0;

	for (size_t e = 0; e < g->l->n_edges; e++) {
		n_in[lower(g, e)] += !is_loop(g, e);
		has_in[lower(g, e)] |= !is_loop(g, e);
	}
	for (size_t v = 0; v < g->n; v++) {
		if (!n_in[v])
			queue[tail++] = (uint32_t)v;
	}
	for (; head < tail; head++) {
		uint32_t v = queue[head];

		for (size_t i = out.at[v]; i < out.at[v + 1]; i++) {
			uint32_t to = lower(g, out.edge[i]);

			if (is_loop(g, out.edge[i]))
				continue;
			if (g->layer[to] < g->layer[v] + 1)
				g->layer[to] = g->layer[v] + 1;
			if (!--n_in[to])
				queue[tail++] = to;
		}
	}
	for (size_t v = 0; v < g->n; v++) {
		uint32_t least = UINT32_MAX;

		for (size_t i = out.at[v]; i < out.at[v + 1] && !has_in[v]; i++) {
			uint32_t to = lower(g, out.edge[i]);

			if (to != v && g->layer[to] < least)
				least = g->layer[to];
		}
		if (least != UINT32_MAX)
			g->layer[v] = least - 1;
	}
	by_end_release(&out);
	free(n_in);
	free(queue);
	free(has_in);
}

/* Edges over more layers than this have no bends, so that there are at most PM__BENDS. */
static size_t longest_span(const PmLayered *g)
{
	size_t sum = 0, most = g->n;

	for (size_t e = 0; e < g->l->n_edges; e++)
		sum += g->layer[lower(g, e)] - g->layer[upper(g, e)];
	if (sum > PM__BENDS)
		most = PM__BENDS / g->l->n_edges + 1;
	return most;
}

static void add_bends(PmLayered *g)
{
	size_t m = g->l->n_edges, most = longest_span(g), at = 0;
	PM_VEC(uint32_t) layer = { 0 };

	g->chain_at = pm_xcalloc(m + 1, sizeof *g->chain_at);
	for (size_t e = 0; e < m; e++) {
		size_t span = g->layer[lower(g, e)] - g->layer[upper(g, e)];

		g->chain_at[e] = at;
		at += is_loop(g, e) ? 0 : span > most ? 2 : span + 1;
	}
	g->chain_at[m] = at;
	g->chain = pm_xcalloc(at + 1, sizeof *g->chain);
	PM_VEC_RESERVE(&layer, g->n + 1);
	memcpy(layer.v, g->layer, g->n * sizeof *layer.v);
	layer.n = g->n;
	for (size_t e = 0; e < m; e++) {
		size_t first = g->chain_at[e], end = g->chain_at[e + 1];

		for (size_t i = first; i < end; i++) {
			g->chain[i] = i == first     ? upper(g, e)
				      : i + 1 == end ? lower(g, e)
						     : (uint32_t)layer.n;
			if (i > first && i + 1 < end)
				PM_VEC_PUSH(&layer, g->layer[upper(g, e)] + (uint32_t)(i - first));
		}
	}
	free(g->layer);
	g->layer = layer.v;
	g->n_vert = layer.n;
}

/* Counts, then places, the segments of all chains; a chain of an edge without bends has none. */
static void add_segments(PmLayered *g)
{
	size_t m = g->chain_at[g->l->n_edges];

	g->down_at = pm_xcalloc(g->n_vert + 2, sizeof *g->down_at);
	g->up_at = pm_xcalloc(g->n_vert + 2, sizeof *g->up_at);
	g->down = pm_xcalloc(m + 1, sizeof *g->down);
	g->up = pm_xcalloc(m + 1, sizeof *g->up);
	for (int place = 0; place < 2; place++) {
		for (size_t e = 0; e < g->l->n_edges; e++) {
			for (size_t i = g->chain_at[e]; i + 1 < g->chain_at[e + 1]; i++) {
				uint32_t a = g->chain[i], b = g->chain[i + 1];

				if (g->layer[b] != g->layer[a] + 1)
					continue;
				if (place) {
					g->down[g->down_at[a + 1]++] = b;
					g->up[g->up_at[b + 1]++] = a;
				} else {
					g->down_at[a + 2]++;
					g->up_at[b + 2]++;
				}
			}
		}
		for (size_t v = 0; v < g->n_vert && !place; v++) {
			g->down_at[v + 2] += g->down_at[v + 1];
			g->up_at[v + 2] += g->up_at[v + 1];
		}
	}
}

void pm__turn_edges(PmLayout *l, char *turned)
{
	PmLayered g = { .l = l, .n = l->n_nodes, .turned = turned };

	break_circles(&g);
}

void pm__layered_rank(PmLayered *g)
{
	break_circles(g);
	longest_paths(g);
	add_bends(g);
	add_segments(g);
	for (size_t v = 0; v < g->n_vert; v++) {
		if (g->layer[v] >= g->n_layers)
			g->n_layers = g->layer[v] + 1;
	}
}
