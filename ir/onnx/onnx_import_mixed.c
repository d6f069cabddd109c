/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import_mixed.c - operands of several floating-point types, as exports of mixed precision leave them:
 * the casts that PyTorch makes without a word are stated. */
#include "ir/onnx/onnx_source.h"

#include <stdio.h>

/* Types that PyTorch promotes among each other. */
static int is_mixable(int dtype)
{
	return dtype == PM_F16 || dtype == PM_BF16 || dtype == PM_F32 || dtype == PM_F64;
}

/* Operators that want one type of all floating-point operands. */
static int wants_one_type(PmOp op)
{
	return (pm_op_desc(op)->flags & (PM_OPF_EW | PM_OPF_DOT) && op != PM_OP_Pow) || op == PM_OP_Concat;
}

/* Of two types the one that both fit. */
static int wider(int a, int b)
{
	if (a == b)
		return a;
	if (pm_dtype_size(a) == pm_dtype_size(b)) /* float16 and bfloat16 */
		return PM_F32;
	return pm_dtype_size(a) > pm_dtype_size(b) ? a : b;
}

/* As autocast runs a product: float beside a 16-bit type takes that one. */
static int of_product(int a, int b)
{
	if (a == PM_F32 && pm_dtype_size(b) == 2)
		return b;
	return b == PM_F32 && pm_dtype_size(a) == 2 ? a : wider(a, b);
}

/* The type that operands of rank `from` and more are to have; -1 when there are none. Products take the
 * 16-bit type, as autocast runs them; all others the type that holds both. */
static int joint_type(const PmDraft *d, int from, int *mixed)
{
	int product = (pm_op_desc(d->op)->flags & PM_OPF_DOT) != 0, to = -1;

	for (size_t k = 0; k < d->n_in; k++) {
		const PmType *t = d->in[k].id ? pm_value_type(d->g, d->in[k]) : NULL;

		if (!t || !is_mixable(t->dtype) || t->rank < from)
			continue;
		*mixed |= to >= 0 && to != t->dtype;
		to = to < 0 ? t->dtype : product ? of_product(to, t->dtype) : wider(to, t->dtype);
	}
	return to;
}

int pm__import_mixed_type(const PmDraft *d)
{
	int mixed = 0, any = 0, to, all;

	if (!wants_one_type(d->op))
		return -1;
	all = joint_type(d, 0, &any);
	to = joint_type(d, 1, &mixed); /* a number follows the tensors */
	return any ? (to < 0 ? all : to) : -1;
}

static void note(const PmDraft *d, size_t k, int from, int to)
{
	PmOnnxReport *r = d->im->report;

	if (r->n_overruled < PM_ONNX_MAX_OVERRULED)
		snprintf(r->overruled[r->n_overruled], sizeof r->overruled[0],
			 "The operands of %.120s have several element types; operand %zu ('%.80s') is cast "
			 "from %s "
			 "to %s.",
			 d->where.s, k, pm_value_name(d->g, d->in[k]), pm_dtype_name(from),
			 pm_dtype_name(to));
	r->n_overruled++;
}

PmStatus pm__import_join_types(PmDraft *d, PmErr *err)
{
	int to = pm__import_mixed_type(d);
	PmStatus st = PM_OK;

	for (size_t k = 0; k < d->n_in && !st && to >= 0; k++) {
		int from = d->in[k].id ? pm_value_type(d->g, d->in[k])->dtype : to;

		if (from == to || !is_mixable(from))
			continue;
		note(d, k, from, to);
		st = pm__draft_before(d, PM_OP_Cast, &d->in[k], 1, "to", pm_dtype_to_onnx(to), &d->in[k],
				      err);
	}
	return st;
}
