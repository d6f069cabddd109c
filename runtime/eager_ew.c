/* eager_ew.c - element-wise operators, from the expressions of ops.def; and strided copies. */
#include "runtime/plan_priv.h"

#include "runtime/ref.h"

#include <stdio.h>
#include <string.h>

/* Strides with which a value is walked as if it had the result's (broadcast) dimensions. */
static void broadcast_strides(const PmType *from, const Loc *l, const PmType *to, int64_t *out)
{
	int lead = to->rank - from->rank;

	for (int d = 0; d < to->rank; d++)
		out[d] = d < lead || (from->dim[d - lead] == 1 && to->dim[d] != 1) ? 0 : l->stride[d - lead];
}

/* The type the expression is computed in; see the compute rule in docs/runtime.md. */
static int compute_dtype(const PmPlan *p, PmNode n)
{
	int best = PM_I64, has_int = 0;

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

/* Names the parameters the expression uses, so that unused ones cost no argument. */
static void add_params(KGen *k, const PmOpDesc *d, PmStr *body)
{
	for (int j = 0; j < d->n_attrs; j++) {
		char name[32];

		if (d->attrs[j].kind != PM_ATTR_FLOAT && d->attrs[j].kind != PM_ATTR_INT &&
		    d->attrs[j].kind != PM_ATTR_STRING)
			continue;
		snprintf(name, sizeof name, "p%d_", j);
		pm__kg_f64(k, name, attr_param(k->p, k->node, &d->attrs[j]));
		pm_str_addf(body, "\tconst S p%d = (S)p%d_;\n\t(void)p%d;\n", j, j, j);
	}
}

/* The statements that compute S v, of type ct, from the operands. */
static void add_expression(const PmPlan *p, PmNode n, const char *expr, int ct, PmStr *body)
{
	const PmOpDesc *d = pm_op_desc(pm_node_op(p->g, n));
	size_t n_in = pm_node_n_in(p->g, n);
	const char *lowest = ct == PM_U64 ? "0" : "-0x7fffffffffffffffll - 1";
	const char *highest = ct == PM_U64 ? "0xffffffffffffffffull" : "0x7fffffffffffffffll";
	int is_float = pm_dtype_is_float(ct);

	if (d->flags & PM_OPF_FOLD) {
		pm_str_add(body, "\tS v = (S)pm_ld(x0[OFF_o_0(t)]);\n");
		for (size_t i = 1; i < n_in; i++)
			pm_str_addf(body, "\t{ const S a = v, b = (S)pm_ld(x%zu[OFF_o_%zu(t)]); v = %s; }\n",
				    i, i, expr);
		return;
	}
	for (int i = 0; i < d->in_max; i++) {
		if (pm_node_in(p->g, n, (size_t)i).id)
			pm_str_addf(body, "\tconst S %c = (S)pm_ld(x%d[OFF_o_%d(t)]);\n", 'a' + i, i, i);
		else if (is_float)
			pm_str_addf(body, "\tconst S %c = %s(S)INFINITY;\n", 'a' + i, i == 1 ? "-" : "");
		else
			pm_str_addf(body, "\tconst S %c = %s;\n", 'a' + i, i == 1 ? lowest : highest);
	}
	pm_str_addf(body, "\tconst S v = (S)(%s);\n", expr);
}

PmStatus eager_ew(PmPlan *p, PmNode n, PmErr *err)
{
	const PmOpDesc *d = pm_op_desc(pm_node_op(p->g, n));
	int ct = compute_dtype(p, n), is_float = pm_dtype_is_float(ct);
	const char *expr = is_float ? d->expr : d->iexpr;
	PmValue out = pm_node_out(p->g, n, 0);
	const PmType *ot = pm__type(p, out);
	int64_t strides[PM_MAX_OPERANDS][PM_MAX_RANK];
	const int64_t *rows[PM_MAX_OPERANDS];
	size_t n_in = pm_node_n_in(p->g, n);
	PmStr body = PM_STR_INIT, text = PM_STR_INIT;
	char label[96];
	PmStatus st;
	KGen k;

	if (!expr || n_in > PM_MAX_OPERANDS - 1) {
		pm_node_describe(p->g, n, &text);
		st = pm_err(err, PM_E_UNSUPPORTED, "%s has no kernel for element type %s with %zu operands.",
			    text.s, pm_dtype_name(ct), n_in);
		pm_str_release(&text);
		return st;
	}
	st = pm__place(p, out, err);
	if (st)
		return st;
	pm__kg_init(&k, p, n, ct);
	pm__kg_define(&k, "K(x)", "((S)(x))");
	pm_str_addf(&k.head, "typedef %s S;\n", pm__acc_type(ct));
	pm__kg_out(&k, "y", pm__loc(p, out), ot->dtype, pm__numel(p, out));
	for (size_t i = 0; i < n_in; i++) {
		PmValue v = pm_node_in(p->g, n, i);
		char name[24];

		rows[i] = strides[i];
		memset(strides[i], 0, sizeof strides[i]);
		if (!v.id)
			continue;
		broadcast_strides(pm__type(p, v), pm__loc(p, v), ot, strides[i]);
		snprintf(name, sizeof name, "x%zu", i);
		pm__kg_in(&k, name, pm__loc(p, v), pm__type(p, v)->dtype,
			  pm__distinct(pm__type(p, v), pm__loc(p, v)));
	}
	rows[n_in] = NULL;
	pm__kg_space(&k, "o", ot->dim, ot->rank, rows, (int)n_in);
	add_params(&k, d, &body);
	add_expression(p, n, expr, ct, &body);
	pm_str_addf(&text,
		    "extern \"C\" __global__ void k(PARAMS)\n{\n\tconst I t = TID;\n\n\tif (t >= "
		    "N_o)\n\t\treturn;\n%s"
		    "\tpm_st(&y[t], %s);\n}\n",
		    body.s, ot->dtype == PM_BOOL ? "v != 0" : "v");
	snprintf(label, sizeof label, "eager %s %s", d->name, pm_dtype_name(ot->dtype));
	st = pm__kg_launch(&k, label, text.s, pm__numel(p, out), pm_op_flops(p->g, n), err);
	pm_str_release(&body);
	pm_str_release(&text);
	return st;
}

PmStatus pm__copy(PmPlan *p, PmNode n, const PmType *t, const Loc *from, Loc *to, PmErr *err)
{
	static const char text[] = "extern \"C\" __global__ void k(PARAMS)\n{\n\tconst I t = TID;\n\n"
				   "\tif (t < N_o)\n\t\ty[t] = x[OFF_o_0(t)];\n}\n";
	Loc l = *from; /* *to may be *from */
	const int64_t *rows[1] = { l.stride };
	int64_t bytes, numel;
	PmStatus st = pm_type_bytes(t, &bytes, err);
	char label[96];
	KGen k;

	if (!st)
		st = pm_type_numel(t, &numel, err);
	if (st)
		return st;
	memset(to, 0, sizeof *to);
	to->buf = pm__add_buffer(p, bytes, PM_BUF_SCRATCH);
	pm__contiguous_strides(t, to->stride);
	pm__kg_init(&k, p, n, t->dtype);
	pm__kg_out(&k, "y", to, t->dtype, numel);
	pm__kg_in(&k, "x", &l, t->dtype, pm__distinct(t, &l));
	pm__kg_space(&k, "o", t->dim, t->rank, rows, 1);
	snprintf(label, sizeof label, "eager copy %s", pm_dtype_name(t->dtype));
	return pm__kg_launch(&k, label, text, numel, 0, err);
}

PmStatus pm__make_contiguous(PmPlan *p, PmNode n, PmValue v, Loc *out, PmErr *err)
{
	if (pm__is_contiguous(p, v)) {
		*out = *pm__loc(p, v);
		return PM_OK;
	}
	return pm__copy(p, n, pm__type(p, v), pm__loc(p, v), out, err);
}
