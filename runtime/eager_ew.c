/* eager_ew.c - element-wise operators, from the expressions of ops.def. */
#include "runtime/plan_priv.h"

#include "runtime/ref.h"

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

/* The type the expression is computed in; see the compute rule in docs/runtime.md. */
static int compute_dtype(const PmPlan *p, PmNode n)
{
	int best = PM_I64, has_int = 0;

	for (size_t i = 0; i < pm_node_n_in(p->g, n); i++) {
		PmValue v = pm_node_in(p->g, n, i);
		int dt = pm__type(p, v)->dtype;

		has_int |= v.id && pm_dtype_is_int(dt);
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

/* The statements that compute S v from the elements of the operands that are there. */
static void add_expression(const PmPlan *p, PmNode n, const char *expr, int is_float, PmStr *body)
{
	const PmOpDesc *d = pm_op_desc(pm_node_op(p->g, n));
	size_t n_in = pm_node_n_in(p->g, n);
	int at = 0;

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
			pm_str_addf(body, "\tconst S %c = %s;\n", 'a' + i,
				    i == 1 ? "-0x7fffffffffffffffll - 1" : "0x7fffffffffffffffll");
	}
	pm_str_addf(body, "\tconst S v = (S)(%s);\n", expr);
}

PmStatus eager_ew(PmPlan *p, PmNode n, PmErr *err)
{
	const PmOpDesc *d = pm_op_desc(pm_node_op(p->g, n));
	int ct = compute_dtype(p, n), is_float = pm_dtype_is_float(ct), used = 0;
	const char *expr = is_float ? d->expr : d->iexpr;
	PmValue y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y);
	PmVecOut out = { .dtype = t->dtype, .rank = t->rank, .dim = t->dim };
	PmVecIn in[PM_MAX_OPERANDS];
	size_t n_in = pm_node_n_in(p->g, n);
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
	pm__kg_init(&k, p, n, ct);
	pm__kg_define(&k, "K(x)", "((S)(x))");
	pm_str_addf(&k.head, "typedef %s S;\n", pm__acc_type(ct));
	add_params(&k, d, &body);
	add_expression(p, n, expr, is_float, &body);
	pm_str_addf(&body, "\tpm_st(&q, %s);\n", t->dtype == PM_BOOL ? "v != 0" : "v");
	snprintf(label, sizeof label, "eager %s %s", d->name, pm_dtype_name(t->dtype));
	st = pm__vec_launch(&k, label, &out, in, used, body.s, pm_op_flops(p->g, n), err);
	pm_str_release(&body);
	return st;
}
