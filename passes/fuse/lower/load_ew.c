/* SPDX-License-Identifier: Apache-2.0 */
/* load_ew.c - element-wise operators: the expression that computes them. */
#include "load.h"

static int is_float(int dtype)
{
	return f_class(dtype) != PM_I64;
}

/* The type that an element-wise expression is computed in, as for library calls (docs/design/runtime.md). */
static int compute_type(const Graph *c, const Op *o)
{
	int best = PM_I64, ints = 0, i;

	for (i = 0; i < o->n_in; i++) {
		int t;

		if (o->in[i] < 0)
			continue;
		t = c->op[o->in[i]].dtype;
		ints |= t != PM_BOOL && !is_float(t);
		if (t == PM_F64)
			return PM_F64;
		if (is_float(t))
			best = PM_F32;
	}
	return best == PM_F32 && ints && !is_float(o->dtype) && o->dtype != PM_BOOL ? PM_F64 : best;
}

/* Expressions for the kernel's text where it has other ones than the operator table, which the eager run
 * uses: arithmetic that no compiler contracts, and what that run has for results of 16 bits. NULL: the
 * table's. */
static const char *arithmetic(const Op *o, const char *name)
{
	int half = o->dtype == PM_F16 || o->dtype == PM_BF16;

	if (o->compute == PM_I64)
		return NULL;
	if (f_is(name, "Add") || f_is(name, "Sum"))
		return "plus(a, b)";
	if (f_is(name, "Sub"))
		return "minus(a, b)";
	if (f_is(name, "Mul"))
		return "times(a, b)";
	if (f_is(name, "Sigmoid") && half)
		return "logistic16(a)";
	return f_is(name, "Gelu") && half && (!o->n_num || o->num[0] == 0) ? "gelu16(a)" : NULL;
}

static int is_exact(const char *name)
{
	static const char *const names[] = { "Relu",  "Neg", "Abs", "Sign", "Floor", "Ceil",
					     "Round", "Max", "Min", "Clip", "Where" };
	uint32_t k;

	for (k = 0; k < sizeof names / sizeof *names && !f_is(name, names[k]); k++)
		;
	return k < sizeof names / sizeof *names;
}

/* A power by a small constant, without the general power's cost; the same numbers to the last place, for
 * which a cube of floats needs more places on the way. */
static const char *power(const Graph *c, Op *o)
{
	const Op *e = o->n_in == 2 ? &c->op[o->in[1]] : NULL;

	if (!e || e->kind != OP_NUM || o->compute == PM_I64)
		return NULL;
	if (e->num[0] == 2)
		return "times(a, a)";
	if (e->num[0] == 3) {
		o->compute = PM_F64;
		return "times(a * a, a)";
	}
	if (e->num[0] == 0.5)
		return "sqrt(a)";
	if (e->num[0] == -0.5)
		return "K(1) / sqrt(a)";
	return NULL;
}

int f_load_ew(Graph *c, Node *n, const char *name, int out)
{
	const char *expr = pm_expr(n->val), *p;
	Op *o = &c->op[out];
	uint32_t k;

	if (!expr || n->n_out != 1)
		return 0;
	o->kind = OP_EW;
	o->in = n->in;
	o->n_in = n->n_in;
	o->compute = (uint8_t)compute_type(c, o);
	if (f_is(name, "Max") || f_is(name, "Min") || f_is(name, "Sum"))
		o->kind = OP_FOLD;
	else if (f_is(name, "Cast"))
		o->kind = OP_CAST;
	else if (n->n_in > 3)
		return 0;
	for (k = 0; k < 6; k++)
		if (pm_param(n->val, k, &o->num[k]))
			o->n_num = (int)k + 1;
	o->exact = (uint8_t)is_exact(name);
	p = f_is(name, "Pow") ? power(c, o) : arithmetic(o, name);
	o->expr = p ? p : expr;
	return 1;
}
