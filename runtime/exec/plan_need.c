/* SPDX-License-Identifier: Apache-2.0 */
/* plan_need.c - how many elements of each value a graph's results need: what a fused kernel is charged for.
 */
#include "runtime/exec/plan_priv.h"

#include "ir/core/op.h"
#include "ir/core/type.h"
static const int64_t unknown = INT64_MAX / 4; /* of a type with open dimensions; two of them can be added */

static int64_t numel(const PmGraph *g, PmValue v)
{
	int64_t n = 0;

	return pm_type_numel(pm_value_type(g, v), &n, NULL) || n > unknown ? unknown : n;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* 1 when each element of a result needs no more than one element of operand k. */
static int one_for_one(PmOp op, size_t k)
{
	unsigned flags = pm_op_desc(op)->flags;

	if (flags & (PM_OPF_EW | PM_OPF_FOLD))
		return 1;
	return (flags & (PM_OPF_VIEW | PM_OPF_MOVE)) && (k == 0 || op == PM_OP_Concat);
}

/* What the results of a node need of its operand k, when `results` of their elements are needed. */
static int64_t of_operand(const PmGraph *g, PmNode n, size_t k, int64_t results)
{
	int64_t all = numel(g, pm_node_in(g, n, k));

	return one_for_one(pm_node_op(g, n), k) ? least(all, results) : all;
}

int64_t *pm__needed(const PmGraph *g, PmArena *arena)
{
	int64_t *need = pm_arena_alloc(arena, pm_graph_value_limit(g) * sizeof *need);

	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		need[pm_graph_output(g, i).id] = numel(g, pm_graph_output(g, i));
	for (size_t i = pm_graph_n_nodes(g); i-- > 0;) {
		PmNode n = pm_graph_node_at(g, i);
		int64_t results = 0;

		for (size_t k = 0; k < pm_node_n_out(g, n); k++)
			results = least(results + need[pm_node_out(g, n, k).id], unknown);
		for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
			PmValue v = pm_node_in(g, n, k);

			if (v.id)
				need[v.id] = least(need[v.id] + of_operand(g, n, k, results), numel(g, v));
		}
	}
	return need;
}
