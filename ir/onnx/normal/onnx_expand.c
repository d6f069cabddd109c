/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_expand.c - the words expansions are written in. */
#include "ir/onnx/normal/onnx_expand.h"

#include "ir/infer/infer_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- reading the node ---- */

PmValue pm__x_in(const PmExpand *x, size_t k)
{
	return k < x->d->n_in ? x->d->in[k] : (PmValue){ 0 };
}

const PmType *pm__x_type(const PmExpand *x, PmValue v)
{
	return pm_value_type(x->d->g, v);
}

int64_t pm__x_dim(PmExpand *x, PmValue v, int dim, const char *what)
{
	const PmType *t = pm__x_type(x, v);

	if (x->st)
		return 1;
	if (dim >= 0 && dim < t->rank && t->dim[dim] >= 0)
		return t->dim[dim];
	pm__x_decline(x, "%s is not known", what);
	return 1;
}

int64_t pm__x_i(PmExpand *x, const char *name, int64_t dflt)
{
	int64_t v = dflt;

	if (!x->st)
		x->st = pm__draft_get_i(x->d, name, dflt, &v, x->err);
	return v;
}

double pm__x_f(PmExpand *x, const char *name, double dflt)
{
	double v = dflt;

	if (!x->st)
		x->st = pm__draft_get_f(x->d, name, dflt, &v, x->err);
	return v;
}

const char *pm__x_s(PmExpand *x, const char *name, const char *dflt)
{
	const char *v = dflt;

	if (!x->st)
		x->st = pm__draft_get_s(x->d, name, dflt, &v, x->err);
	return x->st ? dflt : v;
}

int pm__x_wants(const PmExpand *x, size_t k)
{
	return k < x->d->np->n_output && *x->d->np->output[k];
}

void pm__x_counts(PmExpand *x, size_t in_lo, size_t in_hi, size_t out_hi)
{
	const PmDraft *d = x->d;
	size_t k;

	if (x->st)
		return;
	if (d->n_in < in_lo || d->n_in > in_hi)
		pm__x_fail(x, PM_E_INVALID, "There are %zu operands at %s; it takes %zu to %zu.", d->n_in,
			   d->where.s, in_lo, in_hi);
	else if (d->n_out < 1 || d->n_out > out_hi)
		pm__x_fail(x, PM_E_INVALID, "There are %zu results at %s; it gives 1 to %zu.", d->n_out,
			   d->where.s, out_hi);
	for (k = 0; k < in_lo && !x->st; k++)
		if (!d->in[k].id)
			pm__x_fail(x, PM_E_INVALID,
				   "Operand %zu of %s is omitted but required; fix the model.", k,
				   d->where.s);
}

void pm__x_decline(PmExpand *x, const char *fmt, ...)
{
	va_list ap;

	if (x->st)
		return;
	va_start(ap, fmt);
	vsnprintf(x->d->why, sizeof x->d->why, fmt, ap);
	va_end(ap);
	x->st = PM_DECLINED;
}

void pm__x_fail(PmExpand *x, PmStatus st, const char *fmt, ...)
{
	char text[PM_ERR_MAX];
	va_list ap;

	if (x->st)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	x->st = pm_err(x->err, st, "%s", text);
}

void pm__x_result(PmExpand *x, size_t k, PmValue v)
{
	if (x->st)
		return;
	if (k >= PM_ONNX_MADE)
		PM_BUG("result %zu of an expansion", k);
	x->d->made[k] = v;
	if (x->d->n_made <= k)
		x->d->n_made = k + 1;
}

/* ---- adding nodes ---- */

PmValue pm__x_scalar(PmExpand *x, int dtype, double v)
{
	PmValue out = { 0 };

	if (!x->st)
		x->st = pm__draft_scalar(x->d, dtype, v, &out, x->err);
	return out;
}

PmValue pm__x_ints(PmExpand *x, const int64_t *v, size_t n)
{
	PmValue out = { 0 };

	if (!x->st)
		x->st = pm__draft_list(x->d, v, n, &out, x->err);
	return out;
}

PmValue pm__x_int_tensor(PmExpand *x, const int64_t *v, int rank, const int64_t *dim)
{
	PmType t = pm_type(PM_I64, rank, dim);
	PmValue out = { 0 };
	int64_t n = 1;
	int k;

	for (k = 0; k < rank; k++)
		n *= dim[k];
	if (!x->st)
		x->st = pm_graph_add_const(x->d->g, NULL, &t, pm_blob_copy(v, (size_t)n * sizeof *v), &out,
					   x->err);
	return out;
}

PmNode pm__x_open(PmExpand *x, PmOp op, const PmValue *in, size_t n_in, size_t n_out)
{
	PmNode n = { 0 };

	if (!x->st && ++x->d->im->n_nodes > x->d->im->max_nodes)
		pm__x_fail(x, PM_E_LIMIT, "The model has more than %zu nodes at %s; split it.",
			   x->d->im->max_nodes, x->d->where.s);
	while (n_in && !in[n_in - 1].id)
		n_in--;
	if (!x->st)
		x->st = pm_graph_add_node(x->d->g, op, in, n_in, n_out, &n, x->err);
	return n;
}

void pm__x_set(PmExpand *x, PmStatus st)
{
	if (!x->st)
		x->st = st;
}

PmValue pm__x_close(PmExpand *x, PmNode n)
{
	PmErr why;

	if (!x->st)
		x->st = pm_node_fill_defaults(x->d->g, n, x->err);
	if (x->st)
		return (PmValue){ 0 };
	pm_err_init(&why);
	x->st = pm__infer_node(x->d->g, n, x->d->im->fold, &why);
	if (x->st == PM_DECLINED || x->st == PM_E_UNSUPPORTED)
		x->st = pm__decline(x->d, "%.180s", why.text);
	else if (x->st)
		pm_err(x->err, x->st, "%s", why.text);
	if (x->st < 0)
		pm_err_ctx(x->err, "The expansion of %s", x->d->where.s);
	return x->st ? (PmValue){ 0 } : pm_node_out(x->d->g, n, 0);
}

PmValue pm__x_op1(PmExpand *x, PmOp op, PmValue a)
{
	return pm__x_close(x, pm__x_open(x, op, &a, 1, 1));
}

PmValue pm__x_op2(PmExpand *x, PmOp op, PmValue a, PmValue b)
{
	PmValue in[2] = { a, b };

	return pm__x_close(x, pm__x_open(x, op, in, 2, 1));
}

PmValue pm__x_op3(PmExpand *x, PmOp op, PmValue a, PmValue b, PmValue c)
{
	PmValue in[3] = { a, b, c };

	return pm__x_close(x, pm__x_open(x, op, in, 3, 1));
}

PmValue pm__x_opi(PmExpand *x, PmOp op, PmValue a, PmValue b, const char *attr, int64_t v)
{
	PmValue in[2] = { a, b };
	PmNode n = pm__x_open(x, op, in, 2, 1);

	if (!x->st)
		pm__x_set(x, pm_node_set_i(x->d->g, n, attr, v, x->err));
	return pm__x_close(x, n);
}

PmValue pm__x_opf(PmExpand *x, PmOp op, PmValue a, const char *attr, double v, const char *attr2, double v2)
{
	PmNode n = pm__x_open(x, op, &a, 1, 1);

	if (!x->st && attr)
		pm__x_set(x, pm_node_set_f(x->d->g, n, attr, v, x->err));
	if (!x->st && attr2)
		pm__x_set(x, pm_node_set_f(x->d->g, n, attr2, v2, x->err));
	return pm__x_close(x, n);
}

/* A node with one list. */
static PmValue listed(PmExpand *x, PmOp op, PmValue a, const char *attr, const int64_t *v, size_t n_ints)
{
	PmNode n = pm__x_open(x, op, &a, 1, 1);

	if (!x->st)
		pm__x_set(x, pm_node_set_ints(x->d->g, n, attr, v, n_ints, x->err));
	return pm__x_close(x, n);
}

PmValue pm__x_cast(PmExpand *x, PmValue a, int dtype)
{
	if (x->st || pm__x_type(x, a)->dtype == dtype)
		return a;
	return pm__x_opi(x, PM_OP_Cast, a, (PmValue){ 0 }, "to", pm_dtype_to_onnx(dtype));
}

PmValue pm__x_unsqueeze(PmExpand *x, PmValue a, int64_t axis)
{
	return listed(x, PM_OP_Unsqueeze, a, "axes", &axis, 1);
}

PmValue pm__x_squeeze(PmExpand *x, PmValue a, int64_t axis)
{
	return listed(x, PM_OP_Squeeze, a, "axes", &axis, 1);
}

static int has_dims(const PmExpand *x, PmValue a, const int64_t *dim, int rank)
{
	const PmType *t = pm__x_type(x, a);

	return t->rank == rank && (!rank || memcmp(t->dim, dim, (size_t)rank * sizeof *dim) == 0);
}

PmValue pm__x_reshape(PmExpand *x, PmValue a, const int64_t *dim, int rank)
{
	if (x->st || has_dims(x, a, dim, rank))
		return a;
	/* A dimension of 0 means 0 here, not "as in the operand". */
	return pm__x_opi(x, PM_OP_Reshape, a, pm__x_ints(x, dim, (size_t)rank), "allowzero", 1);
}

PmValue pm__x_expand(PmExpand *x, PmValue a, const int64_t *dim, int rank)
{
	if (x->st || has_dims(x, a, dim, rank))
		return a;
	return pm__x_op2(x, PM_OP_Expand, a, pm__x_ints(x, dim, (size_t)rank));
}

PmValue pm__x_transpose(PmExpand *x, PmValue a, const int64_t *perm, int rank)
{
	return listed(x, PM_OP_Transpose, a, "perm", perm, (size_t)rank);
}

PmValue pm__x_swapped(PmExpand *x, PmValue a)
{
	int64_t perm[PM_MAX_RANK];
	int rank = pm__x_type(x, a)->rank, k;

	if (x->st)
		return a;
	for (k = 0; k < rank; k++)
		perm[k] = k < rank - 2 ? k : 2 * rank - 3 - k;
	return pm__x_transpose(x, a, perm, rank);
}

PmValue pm__x_slice(PmExpand *x, PmValue a, int64_t axis, int64_t from, int64_t to, int64_t step)
{
	PmNode n = pm__x_open(x, PM_OP_Slice, &a, 1, 1);
	PmGraph *g = x->d->g;

	if (!x->st)
		pm__x_set(x, pm_node_set_ints(g, n, "starts", &from, 1, x->err));
	if (!x->st)
		pm__x_set(x, pm_node_set_ints(g, n, "ends", &to, 1, x->err));
	if (!x->st)
		pm__x_set(x, pm_node_set_ints(g, n, "axes", &axis, 1, x->err));
	if (!x->st)
		pm__x_set(x, pm_node_set_ints(g, n, "steps", &step, 1, x->err));
	return pm__x_close(x, n);
}

PmValue pm__x_pad(PmExpand *x, PmValue a, PmValue fill, const int64_t *pads, int rank)
{
	PmValue in[2] = { a, fill };
	PmNode n = pm__x_open(x, PM_OP_Pad, in, 2, 1);

	if (!x->st)
		pm__x_set(x, pm_node_set_ints(x->d->g, n, "pads", pads, 2 * (size_t)rank, x->err));
	return pm__x_close(x, n);
}

PmValue pm__x_concat(PmExpand *x, const PmValue *in, size_t n, int64_t axis)
{
	PmNode node;

	if (n == 1)
		return in[0];
	node = pm__x_open(x, PM_OP_Concat, in, n, 1);
	if (!x->st)
		pm__x_set(x, pm_node_set_i(x->d->g, node, "axis", axis, x->err));
	return pm__x_close(x, node);
}

PmValue pm__x_reduce(PmExpand *x, PmOp op, PmValue a, const int64_t *axes, int n, int keep)
{
	int64_t all[PM_MAX_RANK];
	int rank = pm__x_type(x, a)->rank, k;
	PmNode node = pm__x_open(x, op, &a, 1, 1);

	for (k = 0; k < rank && k < PM_MAX_RANK; k++)
		all[k] = k;
	if (!x->st)
		pm__x_set(x, pm_node_set_ints(x->d->g, node, "axes", n ? axes : all, (size_t)(n ? n : rank),
					      x->err));
	if (!x->st)
		pm__x_set(x, pm_node_set_i(x->d->g, node, "keepdims", keep, x->err));
	return pm__x_close(x, node);
}
