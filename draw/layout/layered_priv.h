/* SPDX-License-Identifier: Apache-2.0 */
/* layered_priv.h - what the steps of the layered layout share.
 *
 * Vertices are the graph's nodes and, behind them, bends: where an edge passes through a layer between those
 * of its ends. Segments lead from a vertex to one of the next layer.
 */
#ifndef DRAW_LAYOUT_LAYERED_PRIV_H
#define DRAW_LAYOUT_LAYERED_PRIV_H

#include "draw/layout/layout.h"

enum {
	PM__BENDS = 200000, /* at most; edges that would need more are drawn straight */
	PM__GAP_X = 22,     /* between boxes of one layer */
	PM__GAP_BEND = 12,  /* beside a bend */
	PM__GAP_Y = 40,     /* between layers: room for an edge and its label */
	PM__MARGIN = 12     /* around the drawing */
};

typedef struct PmLayered {
	PmLayout *l;
	size_t n;      /* nodes */
	size_t n_vert; /* with bends */
	size_t n_layers;
	uint32_t *layer;  /* by vertex */
	uint32_t *pos;    /* by vertex: its place in its layer */
	double *w, *x;    /* by vertex: width, centre */
	size_t *layer_at; /* n_layers + 1: order[layer_at[k]] ... is layer k from left to right */
	uint32_t *order;
	char *turned;     /* by edge: drawn upwards */
	size_t *chain_at; /* by edge, and the end: chain[chain_at[e]] ... are its vertices, from top to bottom
			   */
	uint32_t *chain;
	/* Neighbours in the next layer and in the one before: down[down_at[v]] ... down[down_at[v + 1] - 1].
	 */
	size_t *down_at, *up_at;
	uint32_t *down, *up;
} PmLayered;

/* layered.c: our own engine. */
void pm__layered(PmLayout *l);
/* layered_rank.c: turned edges, layers, bends, segments. */
void pm__layered_rank(PmLayered *g);
/* layered_rank.c: sets turned[e] of the edges that close a circle (turned: by edge, zeros). */
void pm__turn_edges(PmLayout *l, char *turned);
/* layered.c: turns the order of the points from `first` to the end around. */
void pm__turn_back(PmLayout *l, size_t first);
/* layered_order.c: the order in each layer. */
void pm__layered_order(PmLayered *g);
/* layered_place.c: x of each vertex. */
void pm__layered_place(PmLayered *g);
/* graphviz.c; PM_E_NOT_FOUND when it is not there or does not work here. */
PmStatus pm__graphviz(PmLayout *l, PmErr *err);

#endif
