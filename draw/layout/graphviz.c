/* SPDX-License-Identifier: Apache-2.0 */
/* graphviz.c - layout by dot of Graphviz, through libgvc.
 *
 * Graphviz gets sizes and edges and no text of ours. It measures in points from the bottom left. Edges that
 * close a circle are turned around before: what it turns itself, it loses the memory of.
 */
#include "draw/layout/layered_priv.h"

#ifdef PM_HAVE_GRAPHVIZ
#include <graphviz/gvc.h>
#include <math.h>
#include <stdio.h>

enum { POINTS = 72 }; /* an inch */

int pm_layout_has_graphviz(void)
{
	return 1;
}

static void set(Agraph_t *g, int kind, const char *name, const char *value)
{
	agattr(g, kind, pm_unconst(name), pm_unconst(value));
}

static void set_num(void *object, const char *name, double inches)
{
	char text[32];

	snprintf(text, sizeof text, "%.5f", inches);
	agsafeset(object, pm_unconst(name), text, pm_unconst(""));
}

static Agraph_t *describe(const PmLayout *l, const char *turned, Agnode_t **node, Agedge_t **edge)
{
	Agraph_t *g = agopen(pm_unconst("g"), Agdirected, NULL);
	char name[32];

	set(g, AGRAPH, "nodesep", "0.3");
	set(g, AGRAPH, "ranksep", "0.55");
	set(g, AGRAPH, "splines", "true");
	set(g, AGNODE, "shape", "box");
	set(g, AGNODE, "fixedsize", "true");
	set(g, AGNODE, "label", "");
	set(g, AGEDGE, "arrowhead", "none");
	for (size_t i = 0; i < l->n_nodes; i++) {
		snprintf(name, sizeof name, "n%zu", i);
		node[i] = agnode(g, name, 1);
		set_num(node[i], "width", l->node[i].w / POINTS);
		set_num(node[i], "height", l->node[i].h / POINTS);
	}
	for (size_t i = 0; i < l->n_edges; i++) {
		uint32_t from = l->edge[i].from, to = l->edge[i].to;

		snprintf(name, sizeof name, "e%zu", i);
		if (from != to)
			edge[i] = agedge(g, node[turned[i] ? to : from], node[turned[i] ? from : to], name,
					 1);
	}
	return g;
}

static PmPoint at(const PmLayout *l, pointf p, boxf bb)
{
	return (PmPoint){ p.x - bb.LL.x + PM__MARGIN, l->h - PM__MARGIN - (p.y - bb.LL.y) };
}

static void read_back(PmLayout *l, const char *turned, Agraph_t *g, Agnode_t **node, Agedge_t **edge)
{
	boxf bb = GD_bb(g);

	l->w = bb.UR.x - bb.LL.x + 2 * PM__MARGIN;
	l->h = bb.UR.y - bb.LL.y + 2 * PM__MARGIN;
	for (size_t i = 0; i < l->n_nodes; i++) {
		PmPoint p = at(l, ND_coord(node[i]), bb);

		l->node[i].x = p.x;
		l->node[i].y = p.y;
	}
	for (size_t i = 0; i < l->n_edges; i++) {
		const splines *s = edge[i] ? ED_spl(edge[i]) : NULL;

		l->edge[i].first = l->point.n;
		for (size_t k = 0; s && s->size && k < (size_t)s->list[0].size; k++)
			PM_VEC_PUSH(&l->point, at(l, s->list[0].list[k], bb));
		if (turned[i])
			pm__turn_back(l, l->edge[i].first);
		l->edge[i].n = l->point.n - l->edge[i].first;
	}
	l->by_graphviz = 1;
}

PmStatus pm__graphviz(PmLayout *l, PmErr *err)
{
	static GVC_t *context; /* reading its list of plugins takes longer than a layout */
	Agnode_t **node = pm_xcalloc(l->n_nodes + 1, sizeof *node);
	Agedge_t **edge = pm_xcalloc(l->n_edges + 1, sizeof *edge);
	char *turned = pm_xcalloc(l->n_edges + 1, 1);
	Agraph_t *g;
	PmStatus st = PM_OK;

	agseterr(AGMAX); /* what it would say on stderr */
	if (!context)
		context = gvContext();
	pm__turn_edges(l, turned);
	g = describe(l, turned, node, edge);
	if (gvLayout(context, g, "dot"))
		st = pm_err(err, PM_E_NOT_FOUND,
			    "Graphviz cannot lay this graph out here: its engine 'dot' is missing or failed; "
			    "install the distribution's package of Graphviz's plugins, or use --layout own.");
	else
		read_back(l, turned, g, node, edge);
	gvFreeLayout(context, g);
	agclose(g);
	free(node);
	free(edge);
	free(turned);
	return st;
}

#else

int pm_layout_has_graphviz(void)
{
	return 0;
}

PmStatus pm__graphviz(PmLayout *l, PmErr *err)
{
	(void)l;
	return pm_err(
		err, PM_E_NOT_FOUND,
		"This program was built without Graphviz; build it where pkg-config finds libgvc, or use "
		"--layout own.");
}
#endif
