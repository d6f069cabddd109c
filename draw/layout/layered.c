/* SPDX-License-Identifier: Apache-2.0 */
/* layered.c - our own layered layout: the steps in order, then y, and edges as curves. */
#include "draw/layout/layered_priv.h"

#include <math.h>
#include <string.h>

/* The band that a layer takes. */
typedef struct Band {
	double top, bottom;
} Band;

/* Layers lie further apart where edges between them go far to the side. */
static double gap_below(const PmLayered *g, size_t k)
{
	double far = 0;

	for (size_t i = g->layer_at[k]; i < g->layer_at[k + 1]; i++) {
		uint32_t v = g->order[i];

		for (size_t j = g->down_at[v]; j < g->down_at[v + 1]; j++)
			far = fmax(far, fabs(g->x[v] - g->x[g->down[j]]));
	}
	return PM__GAP_Y + fmin(far / 12, PM__GAP_Y);
}

static void place_bands(PmLayered *g, Band *band)
{
	double y = PM__MARGIN;

	for (size_t k = 0; k < g->n_layers; k++) {
		double h = 0;

		for (size_t i = g->layer_at[k]; i < g->layer_at[k + 1]; i++) {
			if (g->order[i] < g->n)
				h = fmax(h, g->l->node[g->order[i]].h);
		}
		band[k] = (Band){ y, y + h };
		for (size_t i = g->layer_at[k]; i < g->layer_at[k + 1]; i++) {
			if (g->order[i] < g->n)
				g->l->node[g->order[i]].y = y + h / 2;
		}
		y += h;
		g->l->h = y + PM__MARGIN;
		y += gap_below(g, k);
	}
}

/* Moves all to the right of the margin, and measures. */
static void place_all(PmLayered *g)
{
	double left = INFINITY, right = 0;

	for (size_t v = 0; v < g->n_vert; v++)
		left = fmin(left, g->x[v] - g->w[v] / 2);
	for (size_t v = 0; v < g->n_vert; v++) {
		g->x[v] += PM__MARGIN - left;
		right = fmax(right, g->x[v] + g->w[v] / 2);
		if (v < g->n)
			g->l->node[v].x = g->x[v];
	}
	g->l->w = right + PM__MARGIN;
}

/* ---- edges ---- */

/* One end of an edge at a box, for spreading the ends along the box. */
typedef struct End {
	uint32_t node, edge;
	int at_top;   /* of the box */
	double other; /* where the edge comes from */
} End;

static int by_box(const void *a, const void *b)
{
	const End *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->at_top != y->at_top)
		return x->at_top - y->at_top;
	if (x->other != y->other)
		return x->other < y->other ? -1 : 1;
	return (x->edge > y->edge) - (x->edge < y->edge);
}

/* Ends of one side of a box stand side by side, in the order of where they go: shift[2 e] is that of the
 * upper end of edge e, and shift[2 e + 1] of the lower one. */
static void spread_ends(const PmLayered *g, double *shift)
{
	size_t m = g->l->n_edges, n = 0, i, j;
	End *end = pm_xcalloc(2 * m + 1, sizeof *end);

	for (size_t e = 0; e < m; e++) {
		const uint32_t *c = g->chain + g->chain_at[e];
		size_t k = g->chain_at[e + 1] - g->chain_at[e];

		if (k < 2)
			continue;
		end[n++] = (End){ c[0], (uint32_t)e, 0, g->x[c[1]] };
		end[n++] = (End){ c[k - 1], (uint32_t)e, 1, g->x[c[k - 2]] };
	}
	qsort(end, n, sizeof *end, by_box);
	for (i = 0; i < n; i = j) {
		double room = g->w[end[i].node] * 0.7, step;

		for (j = i; j < n && end[j].node == end[i].node && end[j].at_top == end[i].at_top; j++)
			;
		step = fmin(14, room / (double)(j - i));
		for (size_t k = i; k < j; k++)
			shift[2 * end[k].edge + (size_t)end[k].at_top] = ((double)(k - i) -
									  (double)(j - i - 1) / 2) *
									 step;
	}
	free(end);
}

static void straight_to(PmLayout *l, PmPoint to)
{
	PmPoint from = l->point.v[l->point.n - 1];

	for (int i = 1; i <= 3; i++)
		PM_VEC_PUSH(&l->point, ((PmPoint){ from.x + (to.x - from.x) * i / 3,
						   from.y + (to.y - from.y) * i / 3 }));
}

/* Leaves and arrives upright. */
static void curve_to(PmLayout *l, PmPoint to)
{
	PmPoint from = l->point.v[l->point.n - 1];
	double half = (from.y + to.y) / 2;

	PM_VEC_PUSH(&l->point, ((PmPoint){ from.x, half }));
	PM_VEC_PUSH(&l->point, ((PmPoint){ to.x, half }));
	PM_VEC_PUSH(&l->point, to);
}

void pm__turn_back(PmLayout *l, size_t first)
{
	for (size_t i = first, j = l->point.n; i + 1 < j; i++) {
		PmPoint t = l->point.v[i];

		l->point.v[i] = l->point.v[--j];
		l->point.v[j] = t;
	}
}

static void draw_edge(PmLayered *g, size_t e, const Band *band, const double *shift)
{
	PmLayout *l = g->l;
	const uint32_t *c = g->chain + g->chain_at[e];
	size_t n = g->chain_at[e + 1] - g->chain_at[e], first = l->point.n;
	const PmLayNode *a = l->node + c[0], *b = l->node + c[n - 1];
	PmPoint p = { a->x + shift[2 * e], a->y + a->h / 2 };

	PM_VEC_PUSH(&l->point, p);
	if (band[g->layer[c[0]]].bottom > p.y)
		straight_to(l, (PmPoint){ p.x, band[g->layer[c[0]]].bottom });
	for (size_t i = 1; i + 1 < n; i++) {
		Band at = band[g->layer[c[i]]];

		curve_to(l, (PmPoint){ g->x[c[i]], at.top });
		if (at.bottom > at.top)
			straight_to(l, (PmPoint){ g->x[c[i]], at.bottom });
	}
	p = (PmPoint){ b->x + shift[2 * e + 1], b->y - b->h / 2 };
	curve_to(l, (PmPoint){ p.x, fmin(p.y, band[g->layer[c[n - 1]]].top) });
	if (p.y > band[g->layer[c[n - 1]]].top)
		straight_to(l, p);
	if (g->turned[e])
		pm__turn_back(l, first);
}

static void draw_edges(PmLayered *g, const Band *band)
{
	double *shift = pm_xcalloc(2 * g->l->n_edges + 1, sizeof *shift);

	spread_ends(g, shift);
	for (size_t e = 0; e < g->l->n_edges; e++) {
		g->l->edge[e].first = g->l->point.n;
		if (g->chain_at[e + 1] - g->chain_at[e] >= 2)
			draw_edge(g, e, band, shift);
		g->l->edge[e].n = g->l->point.n - g->l->edge[e].first;
	}
	free(shift);
}

void pm__layered(PmLayout *l)
{
	PmLayered g = { .l = l, .n = l->n_nodes };
	Band *band;

	g.turned = pm_xcalloc(l->n_edges + 1, 1);
	g.layer = pm_xcalloc(l->n_nodes + 1, sizeof *g.layer);
	pm__layered_rank(&g);
	g.pos = pm_xcalloc(g.n_vert + 1, sizeof *g.pos);
	g.order = pm_xcalloc(g.n_vert + 1, sizeof *g.order);
	g.layer_at = pm_xcalloc(g.n_layers + 2, sizeof *g.layer_at);
	g.w = pm_xcalloc(g.n_vert + 1, sizeof *g.w);
	g.x = pm_xcalloc(g.n_vert + 1, sizeof *g.x);
	band = pm_xcalloc(g.n_layers + 1, sizeof *band);
	for (size_t v = 0; v < g.n; v++)
		g.w[v] = l->node[v].w;
	pm__layered_order(&g);
	pm__layered_place(&g);
	l->w = l->h = 2 * PM__MARGIN;
	if (g.n) {
		place_all(&g);
		place_bands(&g, band);
	}
	draw_edges(&g, band);
	free(g.turned);
	free(g.layer);
	free(g.pos);
	free(g.order);
	free(g.layer_at);
	free(g.w);
	free(g.x);
	free(g.chain_at);
	free(g.chain);
	free(g.down_at);
	free(g.down);
	free(g.up_at);
	free(g.up);
	free(band);
}
