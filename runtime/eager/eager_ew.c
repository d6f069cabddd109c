/* SPDX-License-Identifier: Apache-2.0 */
/* eager_ew.c - element-wise operators, from the expressions of ops.def. */
#include "runtime/exec/plan_priv.h"

#include "kernels/gelu.cu.h"
#include "kernels/sigmoid.cu.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

void pm__vec_in(const PmPlan *p, PmValue v, const PmType *to, PmVecIn *out)
{
	const PmType *from = pm__type(p, v);
	const Loc *l = pm__loc(p, v);
	int lead = to->rank - from->rank;

	out->loc = l;
	out->dtype = from->dtype;
	out->numel = pm__distinct(from, l);
	for (int d = 0; d < to->rank; d++)
		out->stride[d] = d < lead || (from->dim[d - lead] == 1 && to->dim[d] != 1)
					 ? 0
					 : l->stride[d - lead];
}

/* The type the expression is computed in; see the compute rule in docs/design/runtime.md. */
static int compute_dtype(const PmPlan *p, PmNode n)
{
	int best = pm_op_desc(pm_node_op(p->g, n))->iexpr ? PM_I64 : PM_F32, has_int = 0;

	for (size_t i = 0; i < pm_node_n_in(p->g, n); i++) {
		PmValue v = pm_node_in(p->g, n, i);
		int dt = pm__type(p, v)->dtype;

		has_int |= v.id && pm_dtype_is_int(dt);
		if (v.id && dt == PM_U64 && best == PM_I64)
			best = PM_U64;
		if (!v.id || !pm_dtype_is_float(dt))
			continue;
		if (dt == PM_F64)
			return PM_F64;
		best = PM_F32;
	}
	/* Integers that stay integers must not pass through the 24 bits of a float: Pow(int, float). */
	if (best == PM_F32 && has_int && pm_dtype_is_int(pm__type(p, pm_node_out(p->g, n, 0))->dtype))
		return PM_F64;
	return best;
}

static double attr_param(const PmPlan *p, PmNode n, const PmAttrDesc *a)
{
	const PmAttr *at = pm_node_attr(p->g, n, a->name);

	if (!at)
		return 0;
	if (a->kind == PM_ATTR_FLOAT)
		return at->f;
	if (a->kind == PM_ATTR_INT)
		return (double)at->i;
	return a->kind == PM_ATTR_STRING && strcmp(at->s, a->s) ? 1 : 0;
}

/* Names the parameters the expression uses, so that unused ones cost no argument. Words choose between
 * expressions and are known when the kernel is compiled. */
static void add_params(KGen *k, const PmOpDesc *d, PmStr *body)
{
	for (int j = 0; j < d->n_attrs; j++) {
		char name[32];

		if (d->attrs[j].kind == PM_ATTR_STRING)
			pm_str_addf(body, "\tconst S p%d = %d;\n\t(void)p%d;\n", j,
				    (int)attr_param(k->p, k->node, &d->attrs[j]), j);
		if (d->attrs[j].kind != PM_ATTR_FLOAT && d->attrs[j].kind != PM_ATTR_INT)
			continue;
		snprintf(name, sizeof name, "p%d_", j);
		pm__kg_f64(k, name, attr_param(k->p, k->node, &d->attrs[j]));
		pm_str_addf(body, "\tconst S p%d = (S)p%d_;\n\t(void)p%d;\n", j, j, j);
	}
}

/* The statements that compute S v, of type ct, from the elements of the operands that are there. */
static void add_expression(const PmPlan *p, PmNode n, const char *expr, int ct, PmStr *body)
{
	const PmOpDesc *d = pm_op_desc(pm_node_op(p->g, n));
	size_t n_in = pm_node_n_in(p->g, n);
	const char *lowest = ct == PM_U64 ? "0" : "-0x7fffffffffffffffll - 1";
	const char *highest = ct == PM_U64 ? "0xffffffffffffffffull" : "0x7fffffffffffffffll";
	int is_float = pm_dtype_is_float(ct), at = 0;

	if (d->flags & PM_OPF_FOLD) {
		pm_str_add(body, "\tS v = (S)pm_ld(e0);\n");
		for (size_t i = 1; i < n_in; i++)
			pm_str_addf(body, "\t{ const S a = v, b = (S)pm_ld(e%zu); v = %s; }\n", i, expr);
		return;
	}
	for (int i = 0; i < d->in_max; i++) {
		if (pm_node_in(p->g, n, (size_t)i).id)
			pm_str_addf(body, "\tconst S %c = (S)pm_ld(e%d);\n", 'a' + i, at++);
		else if (is_float)
			pm_str_addf(body, "\tconst S %c = %s(S)INFINITY;\n", 'a' + i, i == 1 ? "-" : "");
		else
			pm_str_addf(body, "\tconst S %c = %s;\n", 'a' + i, i == 1 ? lowest : highest);
	}
	pm_str_addf(body, "\tconst S v = (S)(%s);\n", expr);
}

/* ---- results that lie as their operands do ---- */

/* The dimensions from the slowest to the fastest, when the strides are those of a contiguous tensor in some
 * order. */
static int dense_order(const PmType *t, const int64_t *stride, int *order)
{
	int64_t want = 1;

	for (int d = 0; d < t->rank; d++) {
		int k = d;

		for (; k > 0 && stride[order[k - 1]] < stride[d]; k--)
			order[k] = order[k - 1];
		order[k] = d;
	}
	for (int k = t->rank - 1; k >= 0; k--) {
		if (t->dim[order[k]] == 1)
			continue;
		if (stride[order[k]] != want)
			return 0;
		want *= t->dim[order[k]];
	}
	return 1;
}

/* Whether no reader of v would have to copy it if its dimensions lay in another order. */
static int any_order_will_do(const PmPlan *p, PmValue v)
{
	enum { LARGE = 8 << 20 }; /* bytes from which two launches in order are faster than one that is not */
	int64_t bytes = 0;

	pm_type_bytes(pm__type(p, v), &bytes, NULL);
	if (pm_value_is_output(p->g, v) && bytes < LARGE)
		return 0;
	for (PmUse u = pm_value_first_use(p->g, v); u.slot; u = pm_use_next(p->g, u)) {
		PmOp op = pm_node_op(p->g, u.node);

		if (!(pm_op_desc(op)->flags & (PM_OPF_EW | PM_OPF_RED)) && op != PM_OP_Transpose &&
		    op != PM_OP_Softmax)
			return 0;
	}
	return 1;
}

/* When all operands of the result's size lie alike and densely, but not in the order of the dimensions, so
 * may the result: then nothing has to be read across, as in other frameworks. Sets its strides and the order.
 */
static void choose_order(const PmPlan *p, PmValue y, const PmVecIn *in, int n, int *order)
{
	const PmType *t = pm__type(p, y);
	const int64_t *stride = NULL;
	int mixed = pm__numel(p, y) == 0;

	for (int i = 0; i < n; i++) {
		int large = in[i].numel == pm__numel(p, y);

		for (int d = 0; large && stride && d < t->rank; d++)
			mixed |= t->dim[d] > 1 && in[i].stride[d] != stride[d];
		stride = large ? in[i].stride : stride;
	}
	if (mixed || !stride || !dense_order(t, stride, order) || !any_order_will_do(p, y))
		for (int d = 0; d < t->rank; d++)
			order[d] = d;
	else
		memcpy(pm__loc(p, y)->stride, stride, (size_t)t->rank * sizeof *stride);
}

/* The launch's dimensions in that order. */
static void reorder(PmVecOut *out, int64_t *dim, PmVecIn *in, int n, const int *order)
{
	for (int d = 0; d < out->rank; d++)
		dim[d] = out->dim[order[d]];
	out->dim = dim;
	for (int i = 0; i < n; i++) {
		int64_t stride[2 * PM_MAX_RANK];

		memcpy(stride, in[i].stride, sizeof stride);
		for (int d = 0; d < out->rank; d++)
			in[i].stride[d] = stride[order[d]];
	}
}

/* The function that is as exact as the operator's expression for results of 16 bits, and quicker, with its
 * source; NULL: there is none. */
static const char *short_form(const PmPlan *p, PmNode n, const char **source)
{
	int dtype = pm__type(p, pm_node_out(p->g, n, 0))->dtype, op = pm_node_op(p->g, n);

	if (!pm_dtype_is_half(dtype))
		return NULL;
	*source = op == PM_OP_Sigmoid ? sigmoid_cu : gelu_cu;
	if (op == PM_OP_Sigmoid)
		return "pm_sigmoid(a)";
	return op == PM_OP_Gelu && attr_param(p, n, &pm_op_desc(PM_OP_Gelu)->attrs[0]) == 0 ? "pm_gelu(a)"
											    : NULL;
}

PmStatus eager_ew(PmPlan *p, PmNode n, PmErr *err)
{
	const PmOpDesc *d = pm_op_desc(pm_node_op(p->g, n));
	int ct = compute_dtype(p, n), used = 0;
	const char *source, *quick = short_form(p, n, &source);
	const char *expr = quick ? quick : pm_dtype_is_float(ct) ? d->expr : d->iexpr;
	PmValue y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y);
	PmVecOut out = { .dtype = t->dtype, .rank = t->rank, .dim = t->dim };
	PmVecIn in[PM_MAX_OPERANDS];
	size_t n_in = pm_node_n_in(p->g, n);
	int64_t dim[PM_MAX_RANK];
	int order[PM_MAX_RANK];
	PmStr body = PM_STR_INIT;
	char label[96];
	PmStatus st;
	KGen k;

	if (!expr || n_in > PM_MAX_OPERANDS - 1) {
		pm_node_describe(p->g, n, &body);
		st = pm_err(err, PM_E_UNSUPPORTED, "%s has no kernel for element type %s with %zu operands.",
			    body.s, pm_dtype_name(ct), n_in);
		pm_str_release(&body);
		return st;
	}
	st = pm__place(p, y, err);
	if (st)
		return st;
	out.loc = pm__loc(p, y);
	for (size_t i = 0; i < n_in; i++)
		if (pm_node_in(p->g, n, i).id)
			pm__vec_in(p, pm_node_in(p->g, n, i), t, &in[used++]);
	choose_order(p, y, in, used, order);
	reorder(&out, dim, in, used, order);
	pm__kg_init(&k, p, n, ct);
	pm__kg_define(&k, "K(x)", "((S)(x))");
	pm_str_addf(&k.head, "typedef %s S;\n", pm__acc_type(ct));
	if (quick)
		pm_str_add(&k.head, source);
	add_params(&k, d, &body);
	add_expression(p, n, expr, ct, &body);
	pm_str_addf(&body, "\tpm_st(&q, %s);\n", t->dtype == PM_BOOL ? "v != 0" : "v");
	snprintf(label, sizeof label, "eager %s %s", d->name, pm_dtype_name(t->dtype));
	st = pm__vec_launch(&k, label, &out, in, used, body.s, pm_op_flops(p->g, n), err);
	pm_str_release(&body);
	return st;
}
