/* SPDX-License-Identifier: Apache-2.0 */
/* graph_inline.c - replaces fused nodes by the graphs they stand for. */
#include "ir/core/graph_priv.h"
#include "ir/core/kernel.h"
#include "ir/infer/infer.h"

#include <stdlib.h>
#include <string.h>

/* One Kernel node on its way out. */
typedef struct Inline {
	PmGraph *g;
	PmNode n;
	const PmGraph *body;
	PmValue *map; /* body value to graph value */
	PmDim *dims;  /* body symbol to graph dimension; 1 more than it, 0 = not met yet */
	PmErr *err;
} Inline;

/* Notes that the symbols of body type `in` stand for the dimensions of `have`. */
static void meet_dims(Inline *il, const PmType *in, const PmType *have)
{
	for (int i = 0; i < in->rank && i < have->rank; i++)
		if (in->dim[i] < 0 && !il->dims[-(in->dim[i] + 1)])
			il->dims[-(in->dim[i] + 1)] = have->dim[i] >= 0 ? have->dim[i] + 1 : have->dim[i];
}

static PmType outer_type(Inline *il, const PmType *in)
{
	PmType t = *in;

	for (int i = 0; i < t.rank; i++) {
		PmDim *d;

		if (t.dim[i] >= 0)
			continue;
		d = &il->dims[-(t.dim[i] + 1)];
		if (!*d)
			*d = pm_graph_fresh_symbol(il->g);
		t.dim[i] = *d > 0 ? *d - 1 : *d;
	}
	return t;
}

/* A constant of the body: the graph's own of that name when it is the same, else a new one. */
static PmStatus place_const(Inline *il, PmValue v)
{
	const ValueRec *r = pm__value(il->body, v);
	const char *name = !r->auto_named ? pm_value_name(il->body, v) : NULL;
	PmValue twin = { name ? pm_graph_find_value(il->g, name).id : 0 };
	const ValueRec *have = pm__value(il->g, twin);
	PmType type = *pm__type_of(il->body, r);

	if (have && have->blob == r->blob && pm_type_equal(pm__type_of(il->g, have), &type)) {
		il->map[v.id] = twin;
		return PM_OK;
	}
	return pm_graph_add_const(il->g, have ? NULL : name, &type, pm_blob_ref(r->blob), &il->map[v.id],
				  il->err);
}

static PmStatus place_node(Inline *il, PmNode from)
{
	const NodeRec *r = pm__node(il->body, from);
	PmValue *in = pm_xcalloc((size_t)r->n_in + 1, sizeof *in);
	PmNode to;
	PmStatus st = PM_OK;

	for (size_t k = 0; k < r->n_in && st == PM_OK; k++) {
		PmValue v = pm_node_in(il->body, from, k);

		in[k] = il->map[v.id];
		if (v.id && !in[k].id)
			st = pm_err(il->err, PM_E_INVALID,
				    "Value '%.200s' in the body of a kernel is used before it is defined, or "
				    "stands "
				    "for an operand that is missing.",
				    pm_value_name(il->body, v));
	}
	if (st == PM_OK)
		st = pm_graph_add_node(il->g, (PmOp)r->op, in, r->n_in, r->n_out, &to, il->err);
	free(in);
	if (st == PM_OK && r->op_type)
		st = pm_node_set_opaque(il->g, to, pm_node_domain(il->body, from),
					pm_node_op_name(il->body, from), il->err);
	if (st == PM_OK)
		st = pm_node_set_name(il->g, to, pm_node_name(il->body, from), il->err);
	if (st == PM_OK)
		st = pm_node_copy_attrs(il->g, to, il->body, from, il->err);
	for (size_t k = 0; k < r->n_out && st == PM_OK; k++) {
		PmValue v = pm_node_out(il->body, from, k);
		PmType t = outer_type(il, pm_value_type(il->body, v));

		il->map[v.id] = pm_node_out(il->g, to, k);
		pm_value_set_type(il->g, il->map[v.id], &t);
	}
	return st == PM_OK ? pm_infer_node(il->g, to, il->err) : st;
}

/* Makes result k's uses uses of what the body computes. A body output that is no result of its own gets an
 * Identity, so that names of graph outputs survive. */
static PmStatus place_output(Inline *il, size_t k, uint32_t first_new)
{
	PmValue r = pm_node_out(il->g, il->n, k), v = il->map[pm_graph_output(il->body, k).id];
	const ValueRec *rec = pm__value(il->g, v);
	const char *name;
	PmNode id;
	PmStatus st;

	if (!rec)
		return pm_err(il->err, PM_E_INVALID,
			      "Output %zu of the body of a kernel is not computed by it.", k);
	if (rec->def < first_new || !rec->auto_named) {
		st = pm_graph_add_node(il->g, PM_OP_Identity, &v, 1, 1, &id, il->err);
		if (st == PM_OK)
			st = pm_infer_node(il->g, id, il->err);
		if (st != PM_OK)
			return st;
		v = pm_node_out(il->g, id, 0);
	}
	pm_graph_replace_uses(il->g, r, v);
	rec = pm__value(il->g, r);
	if (rec->auto_named)
		return PM_OK;
	name = pm_value_name(il->g, r);
	st = pm_value_set_name(il->g, r, NULL, il->err);
	return st == PM_OK ? pm_value_set_name(il->g, v, name, il->err) : st;
}

static PmStatus inline_body(Inline *il)
{
	uint32_t first_new = pm_graph_node_limit(il->g);
	size_t n_in = pm_node_n_in(il->g, il->n), n_out = pm_node_n_out(il->g, il->n);
	PmStatus st = PM_OK;

	if (pm_graph_n_inputs(il->body) != n_in || pm_graph_n_outputs(il->body) != n_out)
		return pm_err(il->err, PM_E_INVALID,
			      "Node %u is a kernel with %zu operands and %zu results, but its body has %zu "
			      "inputs and "
			      "%zu outputs.",
			      il->n.id, n_in, n_out, pm_graph_n_inputs(il->body),
			      pm_graph_n_outputs(il->body));
	for (size_t k = 0; k < n_in; k++) {
		PmValue v = pm_graph_input(il->body, k);

		il->map[v.id] = pm_node_in(il->g, il->n, k);
		meet_dims(il, pm_value_type(il->body, v), pm_value_type(il->g, il->map[v.id]));
	}
	for (size_t k = 0; k < n_out; k++)
		meet_dims(il, pm_value_type(il->body, pm_graph_output(il->body, k)),
			  pm_value_type(il->g, pm_node_out(il->g, il->n, k)));
	for (PmValue v = { 1 }; v.id < pm_graph_value_limit(il->body) && st == PM_OK; v.id++)
		if (pm_value_is_const(il->body, v))
			st = place_const(il, v);
	for (size_t i = 0; i < pm_graph_n_nodes(il->body) && st == PM_OK; i++)
		st = place_node(il, pm_graph_node_at(il->body, i));
	for (size_t k = 0; k < n_out && st == PM_OK; k++)
		st = place_output(il, k, first_new);
	return st == PM_OK ? pm_graph_kill_node(il->g, il->n, il->err) : st;
}

PmStatus pm_graph_inline_kernels(PmGraph *g, PmErr *err)
{
	PmStatus st = PM_OK;
	int any = 0;

	/* Nodes of a body get higher ids than its kernel, so kernels inside bodies come later. */
	for (uint32_t id = 1; id < pm_graph_node_limit(g) && st == PM_OK; id++) {
		Inline il = { .g = g, .n = { id }, .err = err };
		const PmAttr *body = pm_node_attr(g, il.n, "body");

		if (pm_node_op(g, il.n) != PM_OP_Kernel)
			continue;
		if (!body || !body->graph)
			return pm_err(err, PM_E_INVALID, "Node %u is a kernel without a body.", id);
		il.body = body->graph;
		il.map = pm_xcalloc(pm_graph_value_limit(il.body), sizeof *il.map);
		il.dims = pm_xcalloc(il.body->symbols.n + 1, sizeof *il.dims);
		st = inline_body(&il);
		free(il.map);
		free(il.dims);
		any = 1;
	}
	return st == PM_OK && any ? pm_graph_sort(g, err) : st;
}
