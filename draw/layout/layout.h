/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - where the boxes and the edges of a graph are drawn: in layers, from top to bottom.
 *
 * Two engines give the same kind of answer. Our own works in the four steps of Sugiyama, Tagawa and Toda
 * (1981): edges that close a circle are turned around, nodes get layers by longest paths, layers are ordered
 * by barycentres, and coordinates come nearest to the neighbours' under the distances that boxes need. The
 * other one is dot of Graphviz, where the program was built with it. Both are deterministic: the same graph
 * gives the same numbers, with Graphviz as long as its version is the same.
 *
 * Boxes of one drawing never overlap, and every box lies inside of it.
 */
#ifndef DRAW_LAYOUT_LAYOUT_H
#define DRAW_LAYOUT_LAYOUT_H

#include "base/core/err.h"
#include "base/core/vec.h"
#include "draw/svg/point.h"

typedef enum {
	PM_LAYOUT_AUTO, /* Graphviz when it is there and the graph is small enough for it, else our own */
	PM_LAYOUT_OWN,
	PM_LAYOUT_GRAPHVIZ
} PmLayoutEngine;

enum {
	/* What AUTO hands to Graphviz: its time grows faster than the square of this. */
	PM_LAYOUT_GRAPHVIZ_NODES = 200,
	PM_LAYOUT_GRAPHVIZ_EDGES = 600
};

typedef struct PmLayNode {
	double w, h; /* the box; given */
	double x, y; /* its centre; result */
} PmLayNode;

typedef struct PmLayEdge {
	uint32_t from, to; /* nodes; given */
	size_t first, n;   /* its points: a cubic Bezier curve from `from` to `to`, n = 1 + 3 k; 0 for an edge
			      from a node to itself; result */
} PmLayEdge;

typedef struct PmLayout {
	PmLayoutEngine engine; /* given */
	PmLayNode *node;       /* borrowed, like edge */
	size_t n_nodes;
	PmLayEdge *edge;
	size_t n_edges;
	double w, h;           /* of the whole; result */
	PM_VEC(PmPoint) point; /* of all edges; result */
	int by_graphviz;       /* result: who did it */
} PmLayout;

/* Lays out. PM_E_INVALID for an edge to a node that there is not or a box of no finite size, PM_E_NOT_FOUND
 * when GRAPHVIZ is asked for and is not there. The caller releases *l in any case. */
PmStatus pm_layout(PmLayout *l, PmErr *err);
/* Frees the points. */
void pm_layout_release(PmLayout *l);

/* Whether the program was built with Graphviz. */
int pm_layout_has_graphviz(void);

#endif
