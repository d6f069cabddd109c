/* SPDX-License-Identifier: Apache-2.0 */
/* gate_simple.c - how much of a graph's work its outputs need. */
#include "bench/gate/gate_priv.h"

#include "runtime/ref/ref.h"

#include <stdlib.h>
#include <string.h>

/* Operations and elements written: what a node costs, roughly, by compute or by memory. */
static double cost(const PmGraph *g, PmNode n)
{
	double c = (double)pm_op_flops(g, n);

	for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
		int64_t e;

		if (!pm_type_numel(pm_value_type(g, pm_node_out(g, n, k)), &e, NULL))
			c += (double)e;
	}
	return c;
}

/* 1 when v is a constant of one element that is x. */
static int is_number(const PmGraph *g, PmValue v, double x)
{
	double c;
	size_t n;

	return !pm_value_const_floats(g, v, &c, 1, &n) && n == 1 && c == x;
}

/* 1 when the node's first result is one of its operands: it has nothing to do. */
static int is_no_op(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);
	PmValue a = pm_node_in(g, n, 0), b = pm_node_in(g, n, 1), y = pm_node_out(g, n, 0);
	int same_a = pm_type_equal(pm_value_type(g, a), pm_value_type(g, y));
	int same_b = b.id && pm_type_equal(pm_value_type(g, b), pm_value_type(g, y));
	const int64_t *perm;
	size_t n_perm = pm_node_ints(g, n, "perm", &perm), k = 0;

	while (k < n_perm && perm[k] == (int64_t)k)
		k++;
	if (op == PM_OP_Identity || op == PM_OP_Cast || op == PM_OP_Reshape || op == PM_OP_Expand)
		return same_a;
	if (op == PM_OP_Transpose)
		return k == n_perm;
	if (op == PM_OP_Mul)
		return (same_a && is_number(g, b, 1)) || (same_b && is_number(g, a, 1));
	if (op == PM_OP_Add)
		return (same_a && is_number(g, b, 0)) || (same_b && is_number(g, a, 0));
	return same_a && b.id &&
	       ((op == PM_OP_Div && is_number(g, b, 1)) || (op == PM_OP_Sub && is_number(g, b, 0)));
}

/* 1 when two nodes compute the same: operator, operands, attributes (compared as the text of a clone of one).
 */
static int same_node(const PmGraph *g, PmNode a, PmNode b)
{
	if (pm_node_op(g, a) != pm_node_op(g, b) || pm_node_n_in(g, a) != pm_node_n_in(g, b) ||
	    pm_node_n_attrs(g, a) != pm_node_n_attrs(g, b))
		return 0;
	for (size_t k = 0; k < pm_node_n_in(g, a); k++)
		if (pm_node_in(g, a, k).id != pm_node_in(g, b, k).id)
			return 0;
	for (size_t k = 0; k < pm_node_n_attrs(g, a); k++) {
		const PmAttr *p = pm_node_attr_at(g, a, k), *q = pm_node_attr(g, b, p->name);

		if (!q || q->kind != p->kind || q->i != p->i || q->f != p->f || q->n != p->n || p->blob ||
		    p->graph || p->strings || q->blob != p->blob)
			return 0;
		if ((p->s && memcmp(p->s, q->s, p->n)) ||
		    (p->ints && memcmp(p->ints, q->ints, p->n * sizeof *p->ints)) ||
		    (p->floats && memcmp(p->floats, q->floats, p->n * sizeof *p->floats)))
			return 0;
	}
	return 1;
}

/* Marks what the outputs depend on, and what depends on an input. */
static void mark(const PmGraph *g, char *needed, char *varies)
{
	size_t n = pm_graph_n_nodes(g);

	for (size_t o = 0; o < pm_graph_n_outputs(g); o++)
		needed[pm_graph_output(g, o).id] = 1;
	for (size_t i = n; i-- > 0;) {
		PmNode at = pm_graph_node_at(g, i);
		int use = 0;

		for (size_t k = 0; k < pm_node_n_out(g, at); k++)
			use |= needed[pm_node_out(g, at, k).id];
		for (size_t k = 0; use && k < pm_node_n_in(g, at); k++)
			needed[pm_node_in(g, at, k).id] = 1;
	}
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		varies[pm_graph_input(g, i).id] = 1;
	for (size_t i = 0; i < n; i++) {
		PmNode at = pm_graph_node_at(g, i);
		int v = 0;

		for (size_t k = 0; k < pm_node_n_in(g, at); k++)
			v |= varies[pm_node_in(g, at, k).id];
		for (size_t k = 0; v && k < pm_node_n_out(g, at); k++)
			varies[pm_node_out(g, at, k).id] = 1;
	}
}

double pm__gate_remaining(const PmGraph *g)
{
	size_t n = pm_graph_n_nodes(g), limit = (size_t)pm_graph_value_limit(g) + 1;
	char *needed = pm_xcalloc(2 * limit, 1), *varies = needed + limit;
	double all = 0, remains = 0;

	needed[0] = 0;
	mark(g, needed, varies);
	for (size_t i = 0; i < n; i++) {
		PmNode at = pm_graph_node_at(g, i);
		int use = 0, is_new = 1;

		for (size_t k = 0; k < pm_node_n_out(g, at); k++)
			use |= needed[pm_node_out(g, at, k).id] && varies[pm_node_out(g, at, k).id];
		for (size_t j = 0; j < i && is_new; j++)
			is_new = !same_node(g, pm_graph_node_at(g, j), at);
		all += cost(g, at);
		if (use && is_new && !is_no_op(g, at))
			remains += cost(g, at);
	}
	free(needed);
	return all > 0 ? remains / all : 0;
}
