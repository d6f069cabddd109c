/* SPDX-License-Identifier: Apache-2.0 */
/* fusible_node.c - which nodes one kernel may hold, and what they launch. */
#include "extract/fusible_priv.h"

/* Kernels have no narrow element types. */
static int known(const PmType *t)
{
	return t->dtype >= 0 && t->rank >= 0 && !pm_dtype_is_narrow(t->dtype);
}

static int has_dim(const PmType *t, PmDim d)
{
	int i;

	for (i = 0; i < t->rank; i++) {
		if (t->dim[i] == d)
			return 1;
	}
	return 0;
}

/* Sizes that depend on data cannot be planned: every symbol of a result must be an operand's. */
static int symbols_given(const PmGraph *g, PmNode n, const PmType *t)
{
	size_t k;
	int i;

	for (i = 0; i < t->rank; i++) {
		if (t->dim[i] >= 0)
			continue;
		for (k = 0; k < pm_node_n_in(g, n); k++) {
			if (has_dim(pm_value_type(g, pm_node_in(g, n, k)), t->dim[i]))
				break;
		}
		if (k == pm_node_n_in(g, n))
			return 0;
	}
	return 1;
}

/* Operand 1 of these is a shape or a count; computed by other nodes, it cannot be planned either. */
static int sizes_given(const PmGraph *g, PmNode n, PmOp op)
{
	static const PmOp reads[] = { PM_OP_Reshape, PM_OP_Expand, PM_OP_Tile, PM_OP_TopK, PM_OP_OneHot };
	size_t i;

	for (i = 0; i < sizeof reads / sizeof reads[0]; i++) {
		if (reads[i] == op)
			return pm_value_is_const(g, pm_node_in(g, n, 1));
	}
	return 1;
}

int pm_fusible_node(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);
	uint32_t flags = pm_op_desc(op)->flags;
	size_t k;

	if (op == PM_OP_NONE ||
	    flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_SHAPE | PM_OPF_DATA | PM_OPF_RANDOM))
		return 0;
	if (!sizes_given(g, n, op))
		return 0;
	for (k = 0; k < pm_node_n_in(g, n); k++) {
		PmValue v = pm_node_in(g, n, k);

		if (v.id && !known(pm_value_type(g, v)))
			return 0;
	}
	for (k = 0; k < pm_node_n_out(g, n); k++) {
		const PmType *t = pm_value_type(g, pm_node_out(g, n, k));

		if (!known(t) || !symbols_given(g, n, t))
			return 0;
	}
	return 1;
}

uint32_t pm_fusible_launches(const PmGraph *g, const uint32_t *launches, PmNode n)
{
	return launches ? launches[n.id] : !(pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_VIEW);
}
