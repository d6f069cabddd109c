/* SPDX-License-Identifier: Apache-2.0 */
/* graph_bind.c - gives constants and sources that a text names by reference their data back. */
#include "ir/core/graph_priv.h"
#include "ir/core/limits.h"
#include "ir/text/parse_priv.h"
#include "ir/text/text.h"

#include <stdlib.h>
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

/* ---- sources ---- */

int pm__text_is_source(const PmAttr *a)
{
	return a->kind == PM_ATTR_STRING && !strncmp(a->name, "source_", strlen("source_"));
}

/* The number of "@12"; SIZE_MAX for any other text. */
static size_t reference(const PmAttr *a)
{
	const char *digits = a->s + 1;
	size_t n = a->n > 1 && *a->s == '@' ? strspn(digits, "0123456789") : 0;

	return n && n + 1 == a->n && n < 10 ? strtoul(digits, NULL, 10) : SIZE_MAX;
}

static PmStatus bind_source(PmGraph *g, PmNode n, const PmAttr *a, const PmTextSources *from, PmErr *err)
{
	size_t i = reference(a);

	if (i >= from->s.n)
		return pm_err(
			err, PM_E_INVALID,
			"The attribute '%.20s' of a kernel is to name one of %zu sources and says '%.20s'.",
			a->name, from->s.n, a->s);
	if (!from->n.v[i] || from->n.v[i] > PM_MAX_SOURCE || memchr(from->s.v[i], 0, from->n.v[i]))
		return pm_err(err, PM_E_INVALID,
			      "Source %zu of a kernel has %zu bytes; 1 to %d are allowed, none of them zero.",
			      i, from->n.v[i], (int)PM_MAX_SOURCE);
	return pm_node_set_s(g, n, a->name, from->s.v[i], from->n.v[i], err);
}

PmStatus pm_graph_bind_sources(PmGraph *g, const PmTextSources *sources, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_nodes(g) && !st; i++) {
		PmNode n = pm_graph_node_at(g, i);

		for (size_t k = 0; k < pm_node_n_attrs(g, n) && !st && pm_node_op(g, n) == PM_OP_Kernel; k++)
			if (pm__text_is_source(pm_node_attr_at(g, n, k)))
				st = bind_source(g, n, pm_node_attr_at(g, n, k), sources, err);
	}
	return st;
}

void pm_text_sources_release(PmTextSources *s)
{
	PM_VEC_RELEASE(&s->s);
	PM_VEC_RELEASE(&s->n);
}
