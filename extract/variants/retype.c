/* SPDX-License-Identifier: Apache-2.0 */
/* retype.c - a graph in another floating point type. */
#include "extract/variants/variants_priv.h"
#include "ir/core/element.h"
#include "ir/onnx/onnx.h"

#include <math.h>
#include <string.h>

/* Operands whose type is their own: parameters of a normalisation stay float32 beside data of two bytes, as
 * frameworks keep them, and scales of Resize are float32 by definition. What a kernel sums up needs no row:
 * it is summed in float32 whatever the operands are. */
static const struct Keep {
	PmOp op;
	uint32_t operands; /* 1 << operand each */
} keeps[] = { { PM_OP_BatchNormalization, 0x1e }, { PM_OP_Resize, 0x6 } };

static int kept_by(const PmGraph *g, PmUse u)
{
	size_t i;

	for (i = 0; i < sizeof keeps / sizeof keeps[0]; i++) {
		if (pm_node_op(g, u.node) == keeps[i].op)
			return u.operand < 32 && (keeps[i].operands >> u.operand & 1);
	}
	return 0;
}

/* 1 for a value all of whose readers want it in a type of its own. */
static int only_kept(const PmGraph *g, PmValue v)
{
	PmUse u = pm_value_first_use(g, v);

	if (!u.slot || pm_value_is_output(g, v))
		return 0;
	for (; u.slot; u = pm_use_next(g, u)) {
		if (!kept_by(g, u))
			return 0;
	}
	return 1;
}

static int stays(const PmGraph *g, PmValue v, int from, int to)
{
	return from == PM_F32 && pm_dtype_size(to) <= 2 && only_kept(g, v);
}

int pm__main_dtype(const PmGraph *g)
{
	size_t count[PM_N_DTYPES] = { 0 };
	int best = -1, d, tier;
	uint32_t id;

	for (tier = 0; tier < 3 && best < 0; tier++) {
		for (id = 1; id < pm_graph_value_limit(g); id++) {
			PmValue v = { id };
			int dtype = pm_value_type(g, v)->dtype;
			int is = tier == 0   ? pm_value_is_input(g, v)
				 : tier == 1 ? pm_value_is_const(g, v)
					     : pm_value_def(g, v, NULL).id != 0;

			if (is && pm_dtype_is_float(dtype) && !pm_dtype_is_narrow(dtype) && !only_kept(g, v))
				count[dtype]++;
		}
		for (d = 0; d < PM_N_DTYPES; d++) {
			if (count[d] > (best < 0 ? 0 : count[best]))
				best = d;
		}
	}
	return best;
}

/* Mask fills stay finite and epsilons stay above zero, as people who write such models choose them. */
static double into_range(double x, int to)
{
	double big = pm_float_type(to)->largest, small = pm_float_type(to)->subnormal;

	if (isfinite(x) && fabs(x) > big)
		return copysign(big, x);
	if (x != 0 && fabs(x) < small)
		return copysign(small, x);
	return x;
}

static PmStatus retype_const(PmGraph *g, PmValue v, int to)
{
	PmType t = *pm_value_type(g, v);
	size_t i, n = 0, size = pm_dtype_size(to);
	int64_t numel;
	double *x;
	unsigned char *bytes;
	PmValue made;
	PmStatus st;

	if (pm_type_numel(&t, &numel, NULL) || numel > (int64_t)1 << 24)
		return PM_DECLINED;
	x = pm_xcalloc((size_t)numel + 1, sizeof *x);
	st = pm_value_const_floats(g, v, x, (size_t)numel, &n);
	if (st || (int64_t)n != numel) {
		free(x);
		return PM_DECLINED;
	}
	bytes = pm_xcalloc(n + 1, size);
	for (i = 0; i < n; i++)
		pm_float_store(to, bytes + i * size, into_range(x[i], to));
	free(x);
	t.dtype = to;
	st = pm_graph_add_const(g, NULL, &t, pm_blob_take(bytes, n * size), &made, NULL);
	if (st == PM_OK)
		pm_graph_replace_uses(g, v, made);
	return st ? PM_DECLINED : PM_OK;
}

/* With `roles` 0, all of one type changes. */
static PmStatus change(PmGraph *g, int from, int to, int roles)
{
	uint32_t id, limit = pm_graph_value_limit(g);
	size_t i;

	for (i = 0; i < pm_graph_n_inputs(g); i++) {
		PmType t = *pm_value_type(g, pm_graph_input(g, i));

		if (t.dtype != from || (roles && stays(g, pm_graph_input(g, i), from, to)))
			continue;
		t.dtype = to;
		pm_value_set_type(g, pm_graph_input(g, i), &t);
	}
	for (id = 1; id < limit; id++) {
		PmValue v = { id };

		if (!pm_value_is_const(g, v) || pm_value_type(g, v)->dtype != from ||
		    (roles && stays(g, v, from, to)))
			continue;
		if (retype_const(g, v, to))
			return PM_DECLINED;
	}
	for (i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		if (pm_node_op(g, n) == PM_OP_Cast && pm_node_i(g, n, "to", 0) == pm_dtype_to_onnx(from) &&
		    pm_node_set_i(g, n, "to", pm_dtype_to_onnx(to), NULL))
			return PM_DECLINED;
	}
	return pm__reinfer(g) ? PM_DECLINED : PM_OK;
}

static PmStatus retype(const PmGraph *g, int from, int to, int roles, PmGraph **out)
{
	PmGraph *made = NULL;
	PmStatus st = pm_graph_clone(g, &made, NULL) ? PM_DECLINED : PM_OK;

	if (st == PM_OK && from != to)
		st = change(made, from, to, roles);
	if (st) {
		pm_graph_free(made);
		made = NULL;
	}
	*out = made;
	return st;
}

PmStatus pm__retype(const PmGraph *g, int from, int to, PmGraph **out)
{
	/* parameters that are computed may not fit beside such that stay: then all change */
	return retype(g, from, to, 1, out) == PM_OK ? PM_OK : retype(g, from, to, 0, out);
}
