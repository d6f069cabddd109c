/* SPDX-License-Identifier: Apache-2.0 */
/* bind_dims.c - shapes made definite: shape arithmetic folded away, named sizes given a value. */
#include "ir/infer/infer.h"

#include "base/core/vec.h"
#include "ir/infer/dim_expr.h"

#include <stdlib.h>

/* ---- folding ---- */

void pm_graph_drop_unused(PmGraph *g, PmValue v)
{
	PM_VEC(PmValue) work = { NULL, 0, 0 };

	PM_VEC_PUSH(&work, v);
	while (work.n) {
		PmValue at = work.v[--work.n];
		PmNode n = pm_value_def(g, at, NULL);
		size_t k, before = work.n;

		if (pm_value_is_const(g, at))
			pm_graph_kill_const(g, at, NULL);
		if (!n.id)
			continue;
		for (k = 0; k < pm_node_n_in(g, n); k++) {
			if (pm_node_in(g, n, k).id)
				PM_VEC_PUSH(&work, pm_node_in(g, n, k));
		}
		if (pm_graph_kill_node(g, n, NULL))
			work.n = before;
	}
	PM_VEC_RELEASE(&work);
}

static int is_needed(const PmGraph *g, PmNode n)
{
	size_t k;

	for (k = 0; k < pm_node_n_out(g, n); k++) {
		PmValue v = pm_node_out(g, n, k);

		if (pm_value_n_uses(g, v) || pm_value_is_output(g, v))
			return 1;
	}
	return 0;
}

PmStatus pm_fold_shapes(PmGraph *g, PmErr *err)
{
	uint32_t limit = pm_graph_node_limit(g), id;
	unsigned char *needed = pm_xcalloc(limit, 1);
	PmStatus st;
	size_t i;

	for (i = 0; i < pm_graph_n_nodes(g); i++)
		needed[pm_graph_node_at(g, i).id] = (unsigned char)is_needed(g, pm_graph_node_at(g, i));
	st = pm_infer_graph(g, 1, err);
	for (id = limit; id-- > 1 && !st;) {
		PmNode n = { id };

		if (needed[id] && pm_node_n_out(g, n) && !is_needed(g, n))
			pm_graph_drop_unused(g, pm_node_out(g, n, 0));
	}
	free(needed);
	return st;
}

/* ---- binding ---- */

static void bind_types(PmGraph *g, const PmDimSize *dims, size_t n)
{
	uint32_t id;
	int k;

	for (id = 1; id < pm_graph_value_limit(g); id++) {
		PmType t = *pm_value_type(g, (PmValue){ id });

		for (k = 0; k < t.rank; k++)
			t.dim[k] = pm_dim_bind(g, t.dim[k], dims, n);
		pm_value_set_type(g, (PmValue){ id }, &t);
	}
}

PmStatus pm_graph_bind_dims(PmGraph *g, const PmDimSize *dims, size_t n, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i, k;

	for (i = 0; i < n && !st; i++) {
		if (dims[i].size < 0)
			st = pm_err(err, PM_E_INVALID, "The size %lld for '%.100s' is negative; give it one.",
				    (long long)dims[i].size, dims[i].name);
	}
	if (st)
		return st;
	bind_types(g, dims, n);
	for (i = 0; i < pm_graph_n_nodes(g) && !st; i++) {
		PmNode node = pm_graph_node_at(g, i);

		for (k = 0; k < pm_node_n_attrs(g, node) && !st; k++) {
			PmGraph *body = pm_node_attr_at(g, node, k)->graph;

			if (body)
				st = pm_graph_bind_dims(body, dims, n, err);
		}
	}
	return st ? st : pm_fold_shapes(g, err);
}
