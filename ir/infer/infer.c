/* SPDX-License-Identifier: Apache-2.0 */
/* infer.c - runs the shape rule of a node, and the checks and messages that all rules share. */
#include "ir/infer/infer.h"

#include "ir/infer/infer_priv.h"

#include <stdio.h>
#include <stdlib.h>

static PmStatus (*const rules[PM_N_OPS])(PmInfer *, PmErr *) = {
#define OP(name, in_min, in_max, out_min, out_max, flags, types, attrs, shape, ref, expr, iexpr)             \
	[PM_OP_##name] = infer_##shape,
#include "ir/core/ops.def"
#undef OP
};

/* ---- running a rule ---- */

static PmStatus check_counts(const PmInfer *c, PmErr *err)
{
	const PmOpDesc *d = pm_op_desc(c->op);
	int i;

	if (c->n_in < (size_t)d->in_min || (d->in_max >= 0 && c->n_in > (size_t)d->in_max))
		return pm__infer_fail(c, PM_E_INVALID, -1, -1, err,
				      "there are %zu operands where %d to %d are allowed (-1 is no limit)",
				      c->n_in, d->in_min, d->in_max);
	if (c->n_out < (size_t)d->out_min || (d->out_max >= 0 && c->n_out > (size_t)d->out_max))
		return pm__infer_fail(c, PM_E_INVALID, -1, -1, err,
				      "there are %zu results where %d to %d are allowed (-1 is no limit)",
				      c->n_out, d->out_min, d->out_max);
	for (i = 0; i < d->in_min; i++) {
		if (!pm__in_given(c, (size_t)i))
			return pm__infer_fail(c, PM_E_INVALID, -1, -1, err, "operand %d is missing", i);
	}
	return PM_OK;
}

static PmStatus check_class(const PmInfer *c, PmErr *err)
{
	static const char *const want[] = { "floating point", "numeric", "bool", "any",
					    "of an integer type" };
	PmTypeClass cls = pm_op_desc(c->op)->types;
	int dt = pm__in(c, 0)->dtype, ok = 1;

	if (cls == PM_TYPES_FLT)
		ok = pm_dtype_is_float(dt);
	else if (cls == PM_TYPES_NUM)
		ok = pm_dtype_is_float(dt) || pm_dtype_is_int(dt);
	else if (cls == PM_TYPES_INT)
		ok = pm_dtype_is_int(dt);
	else if (cls == PM_TYPES_BOOL)
		ok = dt == PM_BOOL;
	if (ok)
		return PM_OK;
	return pm__infer_fail(c, PM_E_TYPE, 0, -1, err, "operand 0 must be %s", want[cls]);
}

/* Nothing is computed in narrow types: an operator that takes them says so in ops.def. */
static PmStatus check_narrow(const PmInfer *c, PmErr *err)
{
	size_t k;

	if (pm_op_desc(c->op)->flags & PM_OPF_NARROW)
		return PM_OK;
	for (k = 0; k < c->n_in; k++) {
		if (pm__in_given(c, k) && pm_dtype_is_narrow(pm__in(c, k)->dtype))
			return pm__infer_fail(c, PM_E_TYPE, (int)k, -1, err,
					      "operand %zu is of a narrow element type, in which nothing is "
					      "computed; cast it first",
					      k);
	}
	for (k = 0; k < c->n_out; k++) {
		if (pm_dtype_is_narrow(c->out[k].dtype))
			return pm__infer_fail(c, PM_E_TYPE, -1, -1, err,
					      "result %zu would be %s, in which nothing is computed; cast it "
					      "afterwards",
					      k, pm_dtype_name(c->out[k].dtype));
	}
	return PM_OK;
}

PmStatus pm__infer_types(const PmGraph *g, PmNode n, PmFold *known, PmType *out, PmErr *err)
{
	PmInfer c = { g, n, pm_node_op(g, n), pm_node_n_in(g, n), pm_node_n_out(g, n), out, known };
	size_t k;
	PmStatus st;

	if (c.op == PM_OP_NONE)
		return pm_err(err, PM_E_INVALID, "Node %u is not in the graph.", (unsigned)n.id);
	for (k = 0; k < c.n_out; k++)
		out[k] = pm_type_unknown();
	st = check_counts(&c, err);
	if (st || c.op == PM_OP_Opaque)
		return st;
	for (k = 0; k < c.n_in; k++) {
		const PmType *t = pm__in(&c, k);

		if (pm__in_given(&c, k) && (t->dtype < 0 || t->rank < 0) && c.op != PM_OP_Kernel)
			return PM_OK;
	}
	if (c.op != PM_OP_Kernel) {
		st = check_class(&c, err);
		if (st)
			return st;
	}
	st = rules[c.op](&c, err);
	return st || c.op == PM_OP_Kernel ? st : check_narrow(&c, err);
}

/* Stores a result type; what the rule could not tell keeps what the value already says, or gets a symbol
 * of its own. */
static void settle(PmGraph *g, PmValue v, PmType t)
{
	PmType old = *pm_value_type(g, v);
	int i, same = old.rank == t.rank;

	if (t.dtype < 0)
		return;
	if (t.rank < 0) {
		old.dtype = t.dtype;
		pm_value_set_type(g, v, &old);
		return;
	}
	for (i = 0; i < t.rank; i++) {
		if (t.dim[i] == PM_DIM_UNKNOWN)
			t.dim[i] = same ? old.dim[i] : pm_graph_fresh_symbol(g);
	}
	pm_value_set_type(g, v, &t);
}

PmStatus pm__infer_node(PmGraph *g, PmNode n, PmFold *known, PmErr *err)
{
	PmType few[4], *out = few;
	size_t k, n_out = pm_node_n_out(g, n);
	PmStatus st;

	if (n_out > sizeof few / sizeof few[0])
		out = pm_xcalloc(n_out, sizeof *out);
	st = pm__infer_types(g, n, known, out, err);
	for (k = 0; k < n_out && st == PM_OK; k++)
		settle(g, pm_node_out(g, n, k), out[k]);
	if (out != few)
		free(out);
	return st;
}

PmStatus pm_infer_node(PmGraph *g, PmNode n, PmErr *err)
{
	return pm__infer_node(g, n, NULL, err);
}

PmStatus pm_infer_graph(PmGraph *g, int fold, PmErr *err)
{
	PmFold *f = fold ? pm__fold_new(0) : NULL;
	PmStatus st = PM_OK;
	size_t i, n = pm_graph_n_nodes(g);

	for (i = 0; i < n && st == PM_OK; i++) {
		PmNode at = pm_graph_node_at(g, i);

		st = pm__infer_node(g, at, f, err);
		if (st == PM_OK && f)
			st = pm__fold_node(g, f, at, err);
	}
	pm__fold_free(f);
	return st;
}

PmStatus pm_infer_node_known(PmGraph *g, PmNode n, PmFold *known, PmErr *err)
{
	return pm__infer_node(g, n, known, err);
}
