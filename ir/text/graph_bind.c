/* SPDX-License-Identifier: Apache-2.0 */
/* graph_bind.c - gives constants that a text names by reference their data back. */
#include "ir/core/graph_priv.h"
#include "ir/text/parse_priv.h"
#include "ir/text/text.h"

#include <string.h>

static PmStatus bind_graph(PmGraph *g, const PmGraph *from, int depth, PmErr *err)
{
	for (uint32_t id = 1; id < g->values.n; id++) {
		ValueRec *r = &g->values.v[id];
		const char *name;
		ValueRec *src;

		int by_reference;

		if (r->dead || !r->blob || r->blob->data || !r->blob->location)
			continue;
		by_reference = strcmp(r->blob->location, "@") == 0;
		name = pm_value_name(g, (PmValue){ id });
		src = pm__value(from, pm_graph_find_value(from, name));
		if (!src || !src->blob || !pm_type_equal(pm__type_of(from, src), pm__type_of(g, r))) {
			if (!by_reference) /* a weight that is not shipped may stay so */
				continue;
			return pm_err(err, PM_E_NOT_FOUND,
				      "The constant '%.200s' is given by reference, but there is no constant "
				      "of that "
				      "name and type to take its data from.",
				      name);
		}
		pm_blob_unref(r->blob);
		r->blob = pm_blob_ref(src->blob);
	}
	for (uint32_t id = 1; id < g->nodes.n && depth < PM_TEXT_MAX_DEPTH; id++) {
		const NodeRec *n = &g->nodes.v[id];

		for (uint32_t i = 0; i < n->n_attrs && !n->dead; i++)
			if (pm__attr_of(g, n, i)->graph) {
				PmStatus st = bind_graph(pm__attr_of(g, n, i)->graph, from, depth + 1, err);

				if (st != PM_OK)
					return st;
			}
	}
	return PM_OK;
}

PmStatus pm_graph_bind_consts(PmGraph *g, const PmGraph *from, PmErr *err)
{
	return bind_graph(g, from, 0, err);
}
