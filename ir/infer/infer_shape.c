/* SPDX-License-Identifier: Apache-2.0 */
/* infer_shape.c - shape rules of values that depend on shapes only, and of nodes with their own rules. */
#include "ir/infer/infer_priv.h"

/* ONNX clamps a bound of Shape to [0, rank] after counting negative ones from the end. */
static int clamp_bound(int64_t v, int rank)
{
	if (v < 0)
		v = v < -rank ? 0 : v + rank;
	return v > rank ? rank : (int)v;
}

PmStatus infer_shape(PmInfer *c, PmErr *err)
{
	int rank = pm__in(c, 0)->rank, from, to;
	int64_t end;
	PmStatus st = pm__attr_int(c, "end", INT64_MIN, INT64_MAX, &end, err);

	if (st)
		return st;
	from = clamp_bound(pm_node_i(c->g, c->n, "start", 0), rank);
	to = clamp_bound(end, rank);
	c->out[0] = pm_type(PM_I64, 1, &(int64_t){ to > from ? to - from : 0 });
	return PM_OK;
}

PmStatus infer_size(PmInfer *c, PmErr *err)
{
	(void)err;
	c->out[0] = pm_type(PM_I64, 0, NULL);
	return PM_OK;
}

PmStatus infer_constant_of_shape(PmInfer *c, PmErr *err)
{
	const PmAttr *value = pm_node_attr(c->g, c->n, "value");
	PmElem e[PM_MAX_RANK];
	int64_t numel;
	int i, n;
	PmStatus st;

	if (!value || value->kind != PM_ATTR_TENSOR)
		return pm__infer_fail(c, PM_E_INVALID, -1, -1, err,
				      "the attribute 'value' is missing or is no tensor");
	if (pm_type_numel(&value->type, &numel, NULL) || numel != 1)
		return pm__infer_fail(c, PM_E_SHAPE, -1, -1, err, "the attribute 'value' is not one number");
	st = pm__in_shape(c, 0, e, &n, err);
	if (st)
		return st;
	c->out[0] = pm_type_unknown();
	c->out[0].dtype = value->type.dtype;
	c->out[0].rank = n;
	for (i = 0; i < n; i++) {
		if (e[i].kind == PM_ELEM_INT && e[i].v < 0)
			return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "dimension %d of the shape is %lld",
					      i, (long long)e[i].v);
		c->out[0].dim[i] = e[i].kind == PM_ELEM_UNKNOWN ? PM_DIM_UNKNOWN : e[i].v;
	}
	return PM_OK;
}

/* An opaque node's results keep the types they have. */
PmStatus infer_opaque(PmInfer *c, PmErr *err)
{
	(void)c;
	(void)err;
	return PM_OK;
}

/* Operand k against input k of the body: the body's symbols stand for any dimension. */
static PmStatus check_body_input(PmInfer *c, const PmGraph *body, size_t k, PmErr *err)
{
	const PmType *have = pm__in(c, k), *want = pm_value_type(body, pm_graph_input(body, k));
	PmStr b = PM_STR_INIT;
	int i, ok = pm__in_given(c, k) && have->dtype == want->dtype && have->rank == want->rank;
	PmStatus st = PM_OK;

	for (i = 0; ok && i < want->rank; i++)
		ok = pm__dims_agree(have->dim[i], want->dim[i]);
	if (!ok) {
		pm_type_describe(want, &b);
		st = pm__infer_fail(c, PM_E_TYPE, (int)k, -1, err,
				    "operand %zu does not fit the kernel's body, which wants %s", k, b.s);
	}
	pm_str_release(&b);
	return st;
}

/* What the body's dimension `d` is outside: a constant, or the operand's dimension its symbol stands for. */
static PmDim outer_dim(const PmInfer *c, const PmGraph *body, PmDim d)
{
	size_t k;
	int i;

	if (d >= 0)
		return d;
	for (k = 0; k < c->n_in; k++) {
		const PmType *t = pm_value_type(body, pm_graph_input(body, k));

		for (i = 0; i < t->rank; i++) {
			if (t->dim[i] == d)
				return pm__in(c, k)->dim[i];
		}
	}
	return PM_DIM_UNKNOWN;
}

PmStatus infer_kernel(PmInfer *c, PmErr *err)
{
	const PmAttr *a = pm_node_attr(c->g, c->n, "body");
	size_t k;
	int i;
	PmStatus st;

	if (!a || a->kind != PM_ATTR_GRAPH || !a->graph)
		return pm__infer_fail(c, PM_E_INVALID, -1, -1, err,
				      "the attribute 'body' is missing or is no graph");
	if (pm_graph_n_inputs(a->graph) != c->n_in || pm_graph_n_outputs(a->graph) != c->n_out)
		return pm__infer_fail(c, PM_E_INVALID, -1, -1, err,
				      "the body has %zu inputs and %zu outputs where the node has %zu "
				      "operands and %zu results",
				      pm_graph_n_inputs(a->graph), pm_graph_n_outputs(a->graph), c->n_in,
				      c->n_out);
	for (k = 0; k < c->n_in; k++) {
		st = check_body_input(c, a->graph, k, err);
		if (st)
			return st;
	}
	for (k = 0; k < c->n_out; k++) {
		c->out[k] = *pm_value_type(a->graph, pm_graph_output(a->graph, k));
		for (i = 0; i < c->out[k].rank; i++)
			c->out[k].dim[i] = outer_dim(c, a->graph, c->out[k].dim[i]);
	}
	return PM_OK;
}
