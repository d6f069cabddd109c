/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - checks what is laid out, and chooses who does it. */
#include "draw/layout/layered_priv.h"

#include <math.h>

static PmStatus check(const PmLayout *l, PmErr *err)
{
	for (size_t i = 0; i < l->n_nodes; i++) {
		if (!(l->node[i].w >= 0 && l->node[i].w < 1e6 && l->node[i].h >= 0 && l->node[i].h < 1e6))
			return pm_err(
				err, PM_E_INVALID,
				"Box %zu of a drawing is %g wide and %g high; both must be below a million.",
				i, l->node[i].w, l->node[i].h);
	}
	for (size_t i = 0; i < l->n_edges; i++) {
		if (l->edge[i].from >= l->n_nodes || l->edge[i].to >= l->n_nodes)
			return pm_err(err, PM_E_INVALID,
				      "Edge %zu of a drawing leads from box %u to box %u, of %zu boxes.", i,
				      (unsigned)l->edge[i].from, (unsigned)l->edge[i].to, l->n_nodes);
	}
	return PM_OK;
}

PmStatus pm_layout(PmLayout *l, PmErr *err)
{
	int small = l->n_nodes <= PM_LAYOUT_GRAPHVIZ_NODES && l->n_edges <= PM_LAYOUT_GRAPHVIZ_EDGES;
	PmStatus st = check(l, err);

	l->by_graphviz = 0;
	if (st)
		return st;
	if (l->engine == PM_LAYOUT_GRAPHVIZ)
		return pm__graphviz(l, err);
	/* Built with it does not say that its plugins are on this machine. */
	if (l->engine == PM_LAYOUT_AUTO && small && pm_layout_has_graphviz() && l->n_nodes &&
	    !pm__graphviz(l, NULL))
		return PM_OK;
	pm__layered(l);
	return PM_OK;
}

void pm_layout_release(PmLayout *l)
{
	PM_VEC_RELEASE(&l->point);
}
