/* SPDX-License-Identifier: Apache-2.0 */
/* infer_data.c - shape rules of operators whose result is as large as a value says, and of random numbers. */
#include "ir/core/onnx_dtype.h"
#include "ir/infer/infer_priv.h"

#include <math.h>
#include <string.h>

static int is_index(int dtype)
{
	return dtype == PM_I64 || dtype == PM_I32;
}

static int is_one_number(const PmType *t)
{
	return t->rank == 0 || (t->rank == 1 && pm__dims_agree(t->dim[0], 1));
}

/* The element type that an int attribute names in ONNX's numbering. */
static PmStatus attr_dtype(PmInfer *c, int only_float, PmErr *err)
{
	int64_t to;
	int dtype;
	PmStatus st = pm__attr_int(c, "dtype", INT32_MIN, INT32_MAX, &to, err);

	if (st)
		return st;
	dtype = pm_dtype_from_onnx((int)to);
	if (dtype < 0 || (only_float && !pm_dtype_is_float(dtype)))
		return pm__infer_fail(
			c, PM_E_UNSUPPORTED, 0, -1, err,
			"the attribute 'dtype' is %lld, an element type that cannot be made here",
			(long long)to);
	c->out[0] = *pm__in(c, 0);
	c->out[0].dtype = dtype;
	return PM_OK;
}

PmStatus infer_eye_like(PmInfer *c, PmErr *err)
{
	if (pm__in(c, 0)->rank != 2)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "the operand must be a matrix");
	return attr_dtype(c, 0, err);
}

PmStatus infer_random(PmInfer *c, PmErr *err)
{
	return attr_dtype(c, 1, err);
}

/* The one element of an operand that says how many entries an axis gets: a size, a symbol or unknown. */
static PmStatus count_of(PmInfer *c, size_t k, const char *what, PmDim *out, PmErr *err)
{
	PmElem e;
	size_t n;

	*out = PM_DIM_UNKNOWN;
	if (!is_one_number(pm__in(c, k)))
		return pm__infer_fail(c, PM_E_SHAPE, 0, (int)k, err, "%s must be one number", what);
	if (pm__in_elems(c, k, &e, 1, &n) != PM_OK || n != 1 || e.kind == PM_ELEM_UNKNOWN)
		return PM_OK;
	if (e.kind == PM_ELEM_INT && e.v < 0)
		return pm__infer_fail(c, PM_E_INVALID, 0, (int)k, err, "%s is %lld", what, (long long)e.v);
	*out = e.v;
	return PM_OK;
}

PmStatus infer_top_k(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	int64_t axis;
	PmDim k;
	PmStatus st = pm__attr_int(c, "axis", 0, x->rank - 1, &axis, err);

	if (!st && !is_index(pm__in(c, 1)->dtype))
		st = pm__infer_fail(c, PM_E_TYPE, 0, 1, err, "the number of entries must be an integer");
	if (!st)
		st = count_of(c, 1, "the number of entries", &k, err);
	if (st)
		return st;
	if (k >= 0 && x->dim[axis] >= 0 && k > x->dim[axis])
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "axis %lld has fewer than the %lld entries asked for", (long long)axis,
				      (long long)k);
	c->out[0] = *x;
	c->out[0].dim[axis] = k;
	if (c->n_out > 1) {
		c->out[1] = c->out[0];
		c->out[1].dtype = PM_I64;
	}
	return PM_OK;
}

PmStatus infer_one_hot(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *values = pm__in(c, 2);
	int64_t axis;
	PmDim depth;
	int i;
	PmStatus st = pm__attr_int(c, "axis", 0, x->rank, &axis, err);

	if (!st)
		st = count_of(c, 1, "the depth", &depth, err);
	if (st)
		return st;
	if (values->rank != 1 || !pm__dims_agree(values->dim[0], 2))
		return pm__infer_fail(c, PM_E_SHAPE, 0, 2, err, "the values must be two numbers");
	if (x->rank == PM_MAX_RANK)
		return pm__infer_fail(c, PM_E_LIMIT, 0, -1, err,
				      "the result would exceed PM_MAX_RANK (%d) dimensions", PM_MAX_RANK);
	c->out[0] = *x;
	c->out[0].dtype = values->dtype;
	c->out[0].rank = x->rank + 1;
	for (i = x->rank; i > axis; i--)
		c->out[0].dim[i] = x->dim[i - 1];
	c->out[0].dim[axis] = depth;
	return PM_OK;
}

PmStatus infer_reverse_sequence(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *len = pm__in(c, 1);
	int64_t batch, time;
	PmStatus st = pm__attr_int(c, "batch_axis", 0, 1, &batch, err);

	if (!st)
		st = pm__attr_int(c, "time_axis", 0, 1, &time, err);
	if (st)
		return st;
	if (x->rank < 2 || batch == time)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
				      "a batch axis and another time axis are needed among the first two");
	if (!is_index(len->dtype) || len->rank != 1 || !pm__dims_agree(len->dim[0], x->dim[batch]))
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "the lengths must be one integer for each entry of the batch");
	c->out[0] = *x;
	return PM_OK;
}

/* ---- Range ---- */

/* ceil((limit - start) / delta), at least 0. */
static int64_t steps_i(int64_t start, int64_t limit, int64_t delta)
{
	uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
	uint64_t way = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;

	if (delta > 0 ? limit <= start : limit >= start)
		return 0;
	way = (way - 1) / step + 1;
	return way > INT64_MAX ? INT64_MAX : (int64_t)way;
}

int64_t pm_range_length(int dtype, const double v[3], const int64_t w[3])
{
	double n;

	if (!pm_dtype_is_float(dtype))
		return w[2] ? steps_i(w[0], w[1], w[2]) : -1;
	n = ceil((v[1] - v[0]) / v[2]);
	if (v[2] == 0 || !isfinite(v[2]) || !isfinite(v[1] - v[0]) || n > 0x1p62)
		return -1;
	return n > 0 ? (int64_t)n : 0;
}

/* The dimension of a range of integers: 0 to a symbol by ones is the symbol. */
static PmDim int_range(const PmInfer *c, int dtype)
{
	int64_t w[3];
	PmElem e[3];
	size_t k, n;

	for (k = 0; k < 3; k++)
		if (pm__in_elems(c, k, &e[k], 1, &n) != PM_OK || n != 1)
			return PM_DIM_UNKNOWN;
	if (e[0].kind == PM_ELEM_INT && e[0].v == 0 && e[1].kind == PM_ELEM_DIM && e[2].kind == PM_ELEM_INT &&
	    e[2].v == 1)
		return e[1].v;
	for (k = 0; k < 3; k++) {
		if (e[k].kind != PM_ELEM_INT)
			return PM_DIM_UNKNOWN;
		w[k] = e[k].v;
	}
	return pm_range_length(dtype, NULL, w);
}

/* A floating-point operand: a constant, or a cast of an integer that is known. */
static int known_float(const PmInfer *c, size_t k, double *out)
{
	PmValue v = pm_node_in(c->g, c->n, k);
	PmNode def = pm_value_def(c->g, v, NULL);
	PmElem e;
	size_t n;

	if (pm_value_const_floats(c->g, v, out, 1, &n) == PM_OK)
		return n == 1;
	if (!def.id || pm_node_op(c->g, def) != PM_OP_Cast ||
	    pm__fold_get(c->g, c->known, pm_node_in(c->g, def, 0), &e, 1, &n) || n != 1 ||
	    e.kind != PM_ELEM_INT)
		return 0;
	*out = (double)e.v;
	return 1;
}

static PmDim float_range(const PmInfer *c, int dtype)
{
	double v[3];
	size_t k;

	for (k = 0; k < 3; k++)
		if (!known_float(c, k, &v[k]))
			return PM_DIM_UNKNOWN;
	return pm_range_length(dtype, v, NULL);
}

PmStatus infer_range(PmInfer *c, PmErr *err)
{
	int dtype = pm__in(c, 0)->dtype;
	size_t k;
	PmDim n;

	for (k = 0; k < 3; k++) {
		PmStatus st = pm__same_dtype(c, 0, k, err);

		if (st)
			return st;
		if (!is_one_number(pm__in(c, k)))
			return pm__infer_fail(c, PM_E_SHAPE, 0, (int)k, err,
					      "start, limit and step must be one number each");
	}
	n = pm_dtype_is_float(dtype) ? float_range(c, dtype) : int_range(c, dtype);
	if (n == -1)
		return pm__infer_fail(c, PM_E_INVALID, 2, -1, err, "the range does not end");
	c->out[0] = pm_type((PmDType)dtype, 1, &n);
	return PM_OK;
}

/* ---- shapes that only a run tells ---- */

/* Number of non-zero elements of an operand whose elements are all known, or PM_DIM_UNKNOWN. */
static PmDim known_non_zeros(const PmInfer *c)
{
	PmValue v = pm_node_in(c->g, c->n, 0);
	PmElem e[PM_MAX_RANK * 8];
	double f[PM_MAX_RANK * 8];
	size_t i, n, most = sizeof e / sizeof *e;
	PmDim count = 0;

	if (pm_value_const_floats(c->g, v, f, most, &n) == PM_OK) {
		for (i = 0; i < n; i++)
			count += f[i] != 0;
		return count;
	}
	if (pm__in_elems(c, 0, e, most, &n) != PM_OK)
		return PM_DIM_UNKNOWN;
	for (i = 0; i < n; i++) {
		if (e[i].kind != PM_ELEM_INT)
			return PM_DIM_UNKNOWN;
		count += e[i].v != 0;
	}
	return count;
}

PmStatus infer_non_zero(PmInfer *c, PmErr *err)
{
	int64_t dim[2] = { pm__in(c, 0)->rank, known_non_zeros(c) };

	(void)err;
	c->out[0] = pm_type(PM_I64, 2, dim);
	return PM_OK;
}

PmStatus infer_unique(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	int64_t axis, some = PM_DIM_UNKNOWN;
	size_t k;
	PmStatus st = pm__attr_int(c, "axis", 0, x->rank - 1, &axis, err);

	if (st)
		return st;
	c->out[0] = *x;
	c->out[0].dim[axis] = x->dim[axis] == 0 ? 0 : some;
	for (k = 1; k < c->n_out; k++)
		c->out[k] = pm_type(PM_I64, 1, k == 2 ? &x->dim[axis] : &c->out[0].dim[axis]);
	return PM_OK;
}

PmStatus infer_non_max_suppression(PmInfer *c, PmErr *err)
{
	const PmType *boxes = pm__in(c, 0), *scores = pm__in(c, 1);
	int64_t dim[2] = { PM_DIM_UNKNOWN, 3 };
	size_t k;
	PmStatus st = pm__same_dtype(c, 0, 1, err);

	if (st)
		return st;
	if (boxes->rank != 3 || scores->rank != 3 || !pm__dims_agree(boxes->dim[2], 4) ||
	    !pm__dims_agree(boxes->dim[0], scores->dim[0]) || !pm__dims_agree(boxes->dim[1], scores->dim[2]))
		return pm__infer_fail(
			c, PM_E_SHAPE, 0, 1, err,
			"the boxes must be (batch, boxes, 4) and the scores (batch, classes, boxes)");
	for (k = 2; k < c->n_in; k++)
		if (pm__in_given(c, k) &&
		    (!is_one_number(pm__in(c, k)) ||
		     (k == 2 ? pm__in(c, k)->dtype != PM_I64 : !pm_dtype_is_float(pm__in(c, k)->dtype))))
			return pm__infer_fail(
				c, PM_E_TYPE, (int)k, -1, err,
				"the limit must be one int64 and the thresholds one float each");
	c->out[0] = pm_type(PM_I64, 2, dim);
	return PM_OK;
}
