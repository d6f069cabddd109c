/* SPDX-License-Identifier: Apache-2.0 */
/* resize.c - a graph with other input sizes. */
#include "extract/variants/variants_priv.h"
#include "ir/data/index_span.h"
#include "ir/infer/infer.h"

#include <stdlib.h>

static void forget_results(PmGraph *g, PmNode n)
{
	PmType none = pm_type_unknown();
	size_t k;

	for (k = 0; k < pm_node_n_out(g, n); k++)
		pm_value_set_type(g, pm_node_out(g, n, k), &none);
}

PmStatus pm__reinfer(PmGraph *g)
{
	PmStatus st = PM_OK;
	size_t i;

	for (i = 0; i < pm_graph_n_nodes(g) && st == PM_OK; i++) {
		PmNode n = pm_graph_node_at(g, i);

		forget_results(g, n);
		st = pm_infer_node(g, n, NULL);
	}
	if (st == PM_OK) {
		pm_graph_sweep(g); /* constants that were replaced */
		st = pm_verify(g, NULL);
	}
	return st;
}

static int sizes_are_fine(const PmGraph *g, int64_t max_elements)
{
	uint32_t id;
	int64_t n;

	for (id = 1; id < pm_graph_value_limit(g); id++) {
		PmValue v = { id };
		const PmType *t = pm_value_type(g, v);
		int live = pm_value_is_input(g, v) || pm_value_is_const(g, v) || pm_value_def(g, v, NULL).id;

		if (live &&
		    (!pm_type_is_static(t) || pm_type_numel(t, &n, NULL) || n == 0 || n > max_elements))
			return 0;
	}
	return 1;
}

static int same_ops(const PmGraph *a, const PmGraph *b)
{
	size_t i, n = pm_graph_n_nodes(a);

	if (pm_graph_n_nodes(b) != n)
		return 0;
	for (i = 0; i < n; i++) {
		if (pm_node_op(a, pm_graph_node_at(a, i)) != pm_node_op(b, pm_graph_node_at(b, i)))
			return 0;
	}
	return 1;
}

/* Dimensions of two element-wise operands that were equal stay equal: a batch of one must not turn into
 * something that is broadcast. */
static int same_broadcast(const PmGraph *base, PmNode b, const PmGraph *g, PmNode n)
{
	const PmType *was = pm_value_type(base, pm_node_in(base, b, 0));
	const PmType *now = pm_value_type(g, pm_node_in(g, n, 0));
	size_t k;
	int i;

	if (!(pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_EW))
		return 1;
	for (k = 1; k < pm_node_n_in(g, n); k++) {
		const PmType *was_k = pm_value_type(base, pm_node_in(base, b, k));
		const PmType *now_k = pm_value_type(g, pm_node_in(g, n, k));

		for (i = 1; i <= was->rank && i <= was_k->rank; i++) {
			if (was->dim[was->rank - i] == was_k->dim[was_k->rank - i] &&
			    now->dim[now->rank - i] != now_k->dim[now_k->rank - i])
				return 0;
		}
	}
	return 1;
}

static PmIndexFate fate_of(const PmGraph *g)
{
	size_t n = pm_graph_n_inputs(g);
	PmSpan *in = pm_xcalloc(n + 1, sizeof *in);
	PmIndexFate fate;

	for (size_t i = 0; i < n; i++)
		in[i] = pm_span_of_role(g, pm_graph_input(g, i));
	fate = pm_index_fate(g, in, NULL);
	free(in);
	return fate;
}

/* Indices that the graph computes, or holds, follow no size: a table that is made shorter would lose rows
 * that they pick, a sequence that is made longer would count beyond it. */
static int indices_stay(const PmGraph *base, const PmGraph *g)
{
	return fate_of(g) != PM_INDEX_LEAVES || fate_of(base) == PM_INDEX_LEAVES;
}

static PmStatus build(const PmResize *r, PmGraph *g, PmVariantReason *why)
{
	size_t i;

	for (i = 0; i < pm_graph_n_inputs(g); i++)
		pm_value_set_type(g, pm_graph_input(g, i), &r->in[i]);
	for (i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		*why = PM_VARIANT_LITERAL;
		if (pm__fit_literals(r, pm_graph_node_at(r->base, i), g, n))
			return PM_DECLINED;
		*why = PM_VARIANT_INFER;
		forget_results(g, n);
		if (pm_infer_node(g, n, NULL))
			return PM_DECLINED;
		*why = PM_VARIANT_BROADCAST;
		if (!same_broadcast(r->base, pm_graph_node_at(r->base, i), g, n))
			return PM_DECLINED;
	}
	pm_graph_sweep(g);
	*why = PM_VARIANT_SIZE;
	if (!sizes_are_fine(g, r->max_elements))
		return PM_DECLINED;
	*why = PM_VARIANT_OPS;
	if (!same_ops(r->base, g))
		return PM_DECLINED;
	*why = PM_VARIANT_INDEX;
	if (!indices_stay(r->base, g))
		return PM_DECLINED;
	*why = PM_VARIANT_INFER;
	return pm_verify(g, NULL) ? PM_DECLINED : PM_OK;
}

PmStatus pm__resize(const PmResize *r, PmGraph **out, PmVariantReason *why)
{
	PmGraph *g = NULL;
	PmStatus st;

	*why = PM_VARIANT_INFER;
	st = pm_graph_clone(r->base, &g, NULL);
	if (st == PM_OK)
		st = build(r, g, why);
	if (st) {
		pm_graph_free(g);
		g = NULL;
		st = PM_DECLINED;
	}
	*out = g;
	return st;
}

PmStatus pm__resize_any(PmResize r, PmGraph **out, PmVariantReason *why)
{
	PmStatus st;

	r.keep_literals = 0;
	st = pm__resize(&r, out, why);
	if (st && r.n_subst) {
		r.keep_literals = 1;
		st = pm__resize(&r, out, why);
	}
	return st;
}
