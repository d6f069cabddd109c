/* SPDX-License-Identifier: Apache-2.0 */
/* outside.c - the graph that is left when the kernels are taken away. */
#include "bench/eval/outside.h"

#include <stdlib.h>

typedef struct Copy {
	const PmGraph *from;
	PmGraph *to;
	PmValue *map; /* by value id of `from` */
} Copy;

static int is_kernel(const PmGraph *g, PmNode n)
{
	return (pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_KERNEL) != 0;
}

/* A value that nothing outside computes. */
static PmStatus bring(Copy *c, PmValue v, PmErr *err)
{
	const PmType *t = pm_value_type(c->from, v);

	if (!v.id || c->map[v.id].id)
		return PM_OK;
	if (pm_value_is_const(c->from, v))
		return pm_graph_add_const(c->to, NULL, t, pm_value_blob_ref(c->from, v), &c->map[v.id], err);
	return pm_graph_add_input(c->to, NULL, t, &c->map[v.id], err);
}

static PmStatus copy_node(Copy *c, PmNode n, PmErr *err)
{
	size_t n_in = pm_node_n_in(c->from, n), n_out = pm_node_n_out(c->from, n);
	PmValue *in = pm_xcalloc(n_in + 1, sizeof *in);
	PmNode made = { 0 };
	PmStatus st = PM_OK;

	for (size_t k = 0; k < n_in && !st; k++) {
		PmValue v = pm_node_in(c->from, n, k);

		st = bring(c, v, err);
		in[k] = v.id ? c->map[v.id] : v;
	}
	if (!st)
		st = pm_graph_add_node(c->to, pm_node_op(c->from, n), in, n_in, n_out, &made, err);
	if (!st)
		st = pm_node_copy_attrs(c->to, made, c->from, n, err);
	for (size_t k = 0; k < n_out && !st; k++) {
		PmValue v = pm_node_out(c->from, n, k), to = pm_node_out(c->to, made, k);

		c->map[v.id] = to;
		pm_value_set_type(c->to, to, pm_value_type(c->from, v));
	}
	free(in);
	return st;
}

/* 1 when something else than the nodes that are copied reads v, or nothing at all does. */
static int leaves(const PmGraph *g, PmValue v)
{
	int inside = 0;

	if (pm_value_is_output(g, v))
		return 1;
	for (PmUse u = pm_value_first_use(g, v); u.slot; u = pm_use_next(g, u)) {
		if (is_kernel(g, u.node))
			return 1;
		inside = 1;
	}
	return !inside;
}

static PmStatus copy_all(Copy *c, PmErr *err)
{
	size_t n = pm_graph_n_nodes(c->from);
	PmStatus st = pm_graph_set_name(c->to, "outside", err);

	for (size_t i = 0; i < n && !st; i++)
		if (!is_kernel(c->from, pm_graph_node_at(c->from, i)))
			st = copy_node(c, pm_graph_node_at(c->from, i), err);
	for (size_t i = 0; i < n && !st; i++) {
		PmNode at = pm_graph_node_at(c->from, i);

		for (size_t k = 0; k < pm_node_n_out(c->from, at) && !is_kernel(c->from, at) && !st; k++)
			if (leaves(c->from, pm_node_out(c->from, at, k)))
				st = pm_graph_add_output(c->to, c->map[pm_node_out(c->from, at, k).id], err);
	}
	return st;
}

PmStatus pm_outside(const PmGraph *candidate, PmGraph **out, PmErr *err)
{
	Copy c = { .from = candidate };
	PmStatus st;

	*out = NULL;
	c.to = pm_graph_new(0);
	c.map = pm_xcalloc(pm_graph_value_limit(candidate) + 1, sizeof *c.map);
	st = copy_all(&c, err);
	free(c.map);
	if (st || !pm_graph_n_nodes(c.to)) {
		pm_graph_free(c.to);
		return st;
	}
	*out = c.to;
	return PM_OK;
}
