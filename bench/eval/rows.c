/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - some rows of what a graph computes, by themselves. */
#include "bench/eval/rows.h"

#include <stdlib.h>
#include <string.h>

/* ---- which graphs have rows ---- */

static int has_shape(const PmRows *r, const PmType *t)
{
	return t->rank == r->rank && !memcmp(t->dim, r->dim, (size_t)r->rank * sizeof *r->dim);
}

/* 1 when t broadcasts to the results' shape. */
static int broadcasts(const PmRows *r, const PmType *t)
{
	if (t->rank < 0 || t->rank > r->rank)
		return 0;
	for (int d = 0; d < t->rank; d++)
		if (t->dim[d] != 1 && t->dim[d] != r->dim[r->rank - t->rank + d])
			return 0;
	return 1;
}

/* 1 when every element of t is in each row: it has no leading dimension but of one place. */
static int in_each(const PmRows *r, const PmType *t)
{
	for (int d = 0; d < t->rank && r->rank - t->rank + d < r->lead; d++)
		if (t->dim[d] != 1)
			return 0;
	return 1;
}

static int is_of_last_axes(PmOp op)
{
	return op == PM_OP_Softmax || op == PM_OP_LogSoftmax || op == PM_OP_LayerNormalization;
}

/* Notes which axes a node joins; 0 when it is of another kind. */
static int look_at(const PmGraph *g, PmNode n, PmRows *r)
{
	int ew = (pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_EW) != 0;
	int64_t axis;

	if ((!ew && !is_of_last_axes(pm_node_op(g, n))) || pm_node_n_out(g, n) != 1)
		return 0;
	if (!has_shape(r, pm_value_type(g, pm_node_out(g, n, 0))))
		return 0;
	for (size_t k = 0; k < pm_node_n_in(g, n); k++)
		if (pm_node_in(g, n, k).id && !broadcasts(r, pm_value_type(g, pm_node_in(g, n, k))))
			return 0;
	if (ew)
		return 1;
	axis = pm_node_i(g, n, "axis", -1);
	if (axis < 1 || axis >= r->rank || !has_shape(r, pm_value_type(g, pm_node_in(g, n, 0))))
		return 0;
	if (axis < r->lead)
		r->lead = (int)axis;
	return 1;
}

/* Constants of the graph, and what a normalisation scales by, have no rows. */
static int others_are_in_each(const PmGraph *g, const PmRows *r)
{
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
			PmValue v = pm_node_in(g, n, k);
			int scale = k > 0 && is_of_last_axes(pm_node_op(g, n));

			if (v.id && (scale || pm_value_is_const(g, v)) &&
			    (!in_each(r, pm_value_type(g, v)) ||
			     (scale && pm_value_type(g, v)->rank > r->rank - r->lead)))
				return 0;
		}
	}
	return 1;
}

int pm_rows_of(const PmGraph *g, PmRows *r)
{
	const PmType *t = pm_graph_n_outputs(g) ? pm_value_type(g, pm_graph_output(g, 0)) : NULL;

	memset(r, 0, sizeof *r);
	if (!t || t->rank < 1)
		return 0;
	r->rank = r->lead = t->rank;
	memcpy(r->dim, t->dim, sizeof r->dim);
	for (int d = 0; d < r->rank; d++)
		if (r->dim[d] < 1)
			return 0;
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		if (!broadcasts(r, pm_value_type(g, pm_graph_input(g, i))))
			return 0;
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		if (!look_at(g, pm_graph_node_at(g, i), r))
			return 0;
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		if (!has_shape(r, pm_value_type(g, pm_graph_output(g, i))) ||
		    !pm_value_def(g, pm_graph_output(g, i), NULL).id)
			return 0;
	r->n = r->inner = 1;
	for (int d = 0; d < r->rank; d++)
		*(d < r->lead ? &r->n : &r->inner) *= r->dim[d];
	return others_are_in_each(g, r);
}

/* ---- the graph over some rows ---- */

/* What t becomes: n rows where it has rows, one where each of its leading dimensions is of one place. */
static PmType type_of_rows(const PmRows *r, const PmType *t, int64_t n)
{
	PmType out = { .dtype = t->dtype };
	int skip = r->lead - (r->rank - t->rank); /* leading dimensions of t */

	if (skip <= 0)
		return *t;
	out.dim[out.rank++] = in_each(r, t) ? 1 : n;
	for (int d = skip; d < t->rank; d++)
		out.dim[out.rank++] = t->dim[d];
	return out;
}

typedef struct Copy {
	const PmGraph *from;
	const PmRows *rows;
	int64_t n;
	PmGraph *to;
	PmValue *map; /* by value id of `from` */
} Copy;

static PmStatus copy_node(Copy *c, PmNode node, PmErr *err)
{
	size_t n_in = pm_node_n_in(c->from, node);
	PmValue *in = pm_xcalloc(n_in + 1, sizeof *in), out = pm_node_out(c->from, node, 0);
	PmNode made = { 0 };
	PmStatus st = PM_OK;
	PmType t;

	for (size_t k = 0; k < n_in && !st; k++) {
		PmValue v = pm_node_in(c->from, node, k);

		t = type_of_rows(c->rows, pm_value_type(c->from, v), c->n);
		if (v.id && !c->map[v.id].id && pm_value_is_const(c->from, v))
			st = pm_graph_add_const(c->to, NULL, &t, pm_value_blob_ref(c->from, v), &c->map[v.id],
						err);
		in[k] = v.id ? c->map[v.id] : v;
	}
	if (!st)
		st = pm_graph_add_node(c->to, pm_node_op(c->from, node), in, n_in, 1, &made, err);
	if (!st)
		st = pm_node_copy_attrs(c->to, made, c->from, node, err);
	if (!st && is_of_last_axes(pm_node_op(c->from, node)))
		st = pm_node_set_i(c->to, made, "axis",
				   pm_node_i(c->from, node, "axis", -1) - c->rows->lead + 1, err);
	if (!st) {
		t = type_of_rows(c->rows, pm_value_type(c->from, out), c->n);
		c->map[out.id] = pm_node_out(c->to, made, 0);
		pm_value_set_type(c->to, c->map[out.id], &t);
	}
	free(in);
	return st;
}

static PmStatus copy_all(Copy *c, PmErr *err)
{
	PmStatus st = pm_graph_set_name(c->to, "rows", err);

	for (size_t i = 0; i < pm_graph_n_inputs(c->from) && !st; i++) {
		PmValue v = pm_graph_input(c->from, i);
		PmType t = type_of_rows(c->rows, pm_value_type(c->from, v), c->n);

		st = pm_graph_add_input(c->to, NULL, &t, &c->map[v.id], err);
	}
	for (size_t i = 0; i < pm_graph_n_nodes(c->from) && !st; i++)
		st = copy_node(c, pm_graph_node_at(c->from, i), err);
	for (size_t i = 0; i < pm_graph_n_outputs(c->from) && !st; i++)
		st = pm_graph_add_output(c->to, c->map[pm_graph_output(c->from, i).id], err);
	return st;
}

PmStatus pm_rows_graph(const PmGraph *g, const PmRows *r, int64_t n, PmGraph **out, PmErr *err)
{
	Copy c = { .from = g, .rows = r, .n = n, .to = pm_graph_new(0) };
	PmStatus st;

	*out = NULL;
	c.map = pm_xcalloc(pm_graph_value_limit(g) + 1, sizeof *c.map);
	st = copy_all(&c, err);
	free(c.map);
	if (st)
		pm_graph_free(c.to);
	else
		*out = c.to;
	return st;
}

/* ---- the rows of a tensor ---- */

/* The element of `t` at which a row begins. */
static int64_t begin_of(const PmRows *r, const PmType *t, int64_t row)
{
	int64_t stride = 1, at = 0;

	for (int d = r->rank - 1; d >= 0; d--) {
		int own = d - (r->rank - t->rank); /* dimension of t */
		int64_t extent = own >= 0 ? t->dim[own] : 1;

		if (d < r->lead) {
			at += extent > 1 ? row % r->dim[d] * stride : 0;
			row /= r->dim[d];
		}
		stride *= extent;
	}
	return at;
}

PmStatus pm_rows_take(const PmRows *r, const PmTensor *from, const int64_t *row, int64_t n, PmTensor *to,
		      PmErr *err)
{
	PmType t = type_of_rows(r, &from->type, n);
	size_t bytes;
	PmStatus st = pm_tensor_init(to, &t, err);

	if (st || !to->bytes)
		return st;
	if (in_each(r, &from->type)) {
		memcpy(to->data, from->data, to->bytes);
		return PM_OK;
	}
	bytes = to->bytes / (size_t)n;
	for (int64_t i = 0; i < n; i++)
		memcpy((char *)to->data + (size_t)i * bytes,
		       (const char *)from->data +
			       (size_t)begin_of(r, &from->type, row[i]) * pm_dtype_size(from->type.dtype),
		       bytes);
	return PM_OK;
}
