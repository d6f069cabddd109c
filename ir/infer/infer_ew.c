/* SPDX-License-Identifier: Apache-2.0 */
/* infer_ew.c - shape rules of element-wise operators and reductions. */
#include "ir/core/onnx_dtype.h"
#include "ir/infer/infer_priv.h"

#include <string.h>

PmStatus infer_same(PmInfer *c, PmErr *err)
{
	(void)err;
	c->out[0] = *pm__in(c, 0);
	return PM_OK;
}

/* Broadcasts all operands from `first` on; they need not have one element type. */
static PmStatus broadcast_all(PmInfer *c, size_t first, PmType *out, PmErr *err)
{
	size_t k;
	PmStatus st;

	*out = *pm__in(c, first);
	for (k = first + 1; k < c->n_in; k++) {
		if (!pm__in_given(c, k))
			return pm__infer_fail(c, PM_E_INVALID, -1, -1, err, "operand %zu is missing", k);
		st = pm__broadcast_in(c, out, first, k, err);
		if (st)
			return st;
	}
	return PM_OK;
}

PmStatus infer_bcast(PmInfer *c, PmErr *err)
{
	size_t k;
	PmStatus st = broadcast_all(c, 0, &c->out[0], err);

	for (k = 1; k < c->n_in && st == PM_OK; k++)
		st = pm__same_dtype(c, 0, k, err);
	return st;
}

PmStatus infer_bit_shift(PmInfer *c, PmErr *err)
{
	const char *way = pm_node_s(c->g, c->n, "direction", "");

	if (strcmp(way, "LEFT") != 0 && strcmp(way, "RIGHT") != 0)
		return pm__infer_fail(c, PM_E_INVALID, -1, -1, err,
				      "the attribute 'direction' is '%.40s', not LEFT or RIGHT", way);
	return infer_bcast(c, err);
}

PmStatus infer_cmp(PmInfer *c, PmErr *err)
{
	PmStatus st = infer_bcast(c, err);

	c->out[0].dtype = PM_BOOL;
	return st;
}

PmStatus infer_cast(PmInfer *c, PmErr *err)
{
	int64_t to;
	int dtype;
	PmStatus st = pm__attr_int(c, "to", INT32_MIN, INT32_MAX, &to, err);

	if (st)
		return st;
	dtype = pm_dtype_from_onnx((int)to);
	if (dtype < 0)
		return pm__infer_fail(
			c, PM_E_UNSUPPORTED, 0, -1, err,
			"the attribute 'to' is %lld, an element type this program does not have",
			(long long)to);
	c->out[0] = *pm__in(c, 0);
	c->out[0].dtype = dtype;
	return PM_OK;
}

/* The same bits as another type, which has as many of them. */
PmStatus infer_bit_cast(PmInfer *c, PmErr *err)
{
	PmStatus st = infer_cast(c, err);

	if (!st && pm_dtype_size(c->out[0].dtype) != pm_dtype_size(pm__in(c, 0)->dtype))
		return pm__infer_fail(c, PM_E_TYPE, 0, -1, err, "the bits of %s cannot be read as %s",
				      pm_dtype_name(pm__in(c, 0)->dtype), pm_dtype_name(c->out[0].dtype));
	return st;
}

/* The exponent may have another numeric type; the result has that of the base. */
PmStatus infer_pow(PmInfer *c, PmErr *err)
{
	if (pm__in(c, 1)->dtype == PM_BOOL)
		return pm__infer_fail(c, PM_E_TYPE, 1, -1, err, "the exponent must be numeric");
	return broadcast_all(c, 0, &c->out[0], err);
}

/* The slope is broadcast to x, never the other way round. */
PmStatus infer_prelu(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *slope = pm__in(c, 1);
	PmStatus st = infer_bcast(c, err);
	int i, bad = slope->rank > x->rank;

	if (st)
		return st;
	for (i = 0; i < x->rank && !bad; i++)
		bad = x->dim[i] == 1 && c->out[0].dim[i] != 1 && c->out[0].dim[i] >= 0;
	if (bad)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "the slope cannot be broadcast to the input");
	c->out[0] = *x;
	return PM_OK;
}

PmStatus infer_clip(PmInfer *c, PmErr *err)
{
	size_t k;

	for (k = 1; k < c->n_in; k++) {
		const PmType *t = pm__in(c, k);
		PmStatus st;

		if (!pm__in_given(c, k))
			continue;
		st = pm__same_dtype(c, 0, k, err);
		if (st)
			return st;
		if (t->rank > 1 || (t->rank == 1 && !pm__dims_agree(t->dim[0], 1)))
			return pm__infer_fail(c, PM_E_SHAPE, 0, (int)k, err, "a bound must be one number");
	}
	c->out[0] = *pm__in(c, 0);
	return PM_OK;
}

PmStatus infer_where(PmInfer *c, PmErr *err)
{
	PmStatus st = pm__same_dtype(c, 1, 2, err);

	if (st)
		return st;
	st = broadcast_all(c, 0, &c->out[0], err);
	c->out[0].dtype = pm__in(c, 1)->dtype;
	return st;
}

PmStatus infer_reduce(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	int64_t keep = pm_node_i(c->g, c->n, "keepdims", 1);
	unsigned char in[PM_MAX_RANK];
	int i, any = 0;
	PmStatus st = pm__attr_axes(c, "axes", x->rank, in, err);

	if (st)
		return st;
	c->out[0] = *x;
	c->out[0].rank = 0;
	for (i = 0; i < x->rank; i++) {
		any |= in[i];
		if (!in[i])
			c->out[0].dim[c->out[0].rank++] = x->dim[i];
		else if (keep)
			c->out[0].dim[c->out[0].rank++] = 1;
	}
	if (!any && x->rank)
		return pm__infer_fail(c, PM_E_INVALID, 0, -1, err,
				      "the attribute 'axes' is empty although the operand has dimensions");
	return PM_OK;
}

PmStatus infer_axis_same(PmInfer *c, PmErr *err)
{
	int64_t axis;

	c->out[0] = *pm__in(c, 0);
	return pm__attr_int(c, "axis", 0, c->out[0].rank - 1, &axis, err);
}

PmStatus infer_cum_sum(PmInfer *c, PmErr *err)
{
	const PmType *t = pm__in(c, 1);
	int rank = pm__in(c, 0)->rank;
	PmElem e;
	size_t n;

	if (t->dtype != PM_I64 && t->dtype != PM_I32)
		return pm__infer_fail(c, PM_E_TYPE, 0, 1, err, "the axis must be int32 or int64");
	if (t->rank > 1 || (t->rank == 1 && !pm__dims_agree(t->dim[0], 1)))
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "the axis must be one number");
	if (pm__in_elems(c, 1, &e, 1, &n) == PM_OK && n == 1 && e.kind == PM_ELEM_INT &&
	    (e.v < -rank || e.v >= rank))
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "axis %lld is outside %d to %d",
				      (long long)e.v, -rank, rank - 1);
	c->out[0] = *pm__in(c, 0);
	return PM_OK;
}

PmStatus infer_arg(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	int64_t axis, keep = pm_node_i(c->g, c->n, "keepdims", 1);
	PmType *o = &c->out[0];
	int i;
	PmStatus st = pm__attr_int(c, "axis", 0, x->rank - 1, &axis, err);

	if (st)
		return st;
	if (x->dim[axis] == 0)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "axis %lld has no elements to choose from",
				      (long long)axis);
	*o = pm_type(PM_I64, 0, NULL);
	for (i = 0; i < x->rank; i++) {
		if (i != axis)
			o->dim[o->rank++] = x->dim[i];
		else if (keep)
			o->dim[o->rank++] = 1;
	}
	return PM_OK;
}

PmStatus infer_lp_norm(PmInfer *c, PmErr *err)
{
	int64_t p = pm_node_i(c->g, c->n, "p", 2);

	if (p != 1 && p != 2)
		return pm__infer_fail(c, PM_E_UNSUPPORTED, 0, -1, err,
				      "the attribute 'p' is %lld, not 1 or 2", (long long)p);
	return infer_axis_same(c, err);
}
