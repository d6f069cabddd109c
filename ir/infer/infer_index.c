/* SPDX-License-Identifier: Apache-2.0 */
/* infer_index.c - shape rules of operators that read or write elements at places given by another tensor. */
#include "ir/infer/infer_priv.h"

#include <string.h>

static PmStatus index_type(PmInfer *c, PmErr *err)
{
	int dtype = pm__in(c, 1)->dtype;

	if (dtype == PM_I64 || dtype == PM_I32)
		return PM_OK;
	return pm__infer_fail(c, PM_E_TYPE, 0, 1, err, "the indices must be int32 or int64");
}

/* Indices of the rank of the data, and within it except along the axis. */
static PmStatus element_indices(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *idx = pm__in(c, 1);
	int64_t axis;
	int i;
	PmStatus st = pm__attr_int(c, "axis", 0, x->rank - 1, &axis, err);

	if (!st)
		st = index_type(c, err);
	if (st)
		return st;
	if (idx->rank != x->rank)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "data and indices differ in rank");
	for (i = 0; i < x->rank; i++) {
		if (i != axis && x->dim[i] >= 0 && idx->dim[i] > x->dim[i])
			return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
					      "the indices reach beyond the data along axis %d", i);
	}
	return PM_OK;
}

PmStatus infer_gather_elements(PmInfer *c, PmErr *err)
{
	PmStatus st = element_indices(c, err);

	if (st)
		return st;
	c->out[0] = *pm__in(c, 1);
	c->out[0].dtype = pm__in(c, 0)->dtype;
	return PM_OK;
}

static PmStatus check_reduction(PmInfer *c, PmErr *err)
{
	static const char *const modes[] = { "none", "add", "mul", "max", "min" };
	const char *mode = pm_node_s(c->g, c->n, "reduction", "none");
	int m;

	for (m = 0; m < 5 && strcmp(mode, modes[m]) != 0; m++)
		;
	if (m == 5)
		return pm__infer_fail(c, PM_E_UNSUPPORTED, -1, -1, err,
				      "the attribute 'reduction' is '%.40s', not none, add, mul, max or min",
				      mode);
	if (m && pm__in(c, 0)->dtype == PM_BOOL)
		return pm__infer_fail(c, PM_E_UNSUPPORTED, 0, -1, err,
				      "the reduction '%s' is not defined for bool", mode);
	return pm__same_dtype(c, 0, 2, err);
}

PmStatus infer_scatter_elements(PmInfer *c, PmErr *err)
{
	const PmType *idx = pm__in(c, 1), *u = pm__in(c, 2);
	int i;
	PmStatus st = element_indices(c, err);

	if (!st)
		st = check_reduction(c, err);
	if (st)
		return st;
	for (i = 0; i < u->rank && u->rank == idx->rank; i++) {
		if (!pm__dims_agree(u->dim[i], idx->dim[i]))
			break;
	}
	if (u->rank != idx->rank || i < u->rank)
		return pm__infer_fail(c, PM_E_SHAPE, 1, 2, err, "indices and updates differ in shape");
	c->out[0] = *pm__in(c, 0);
	return PM_OK;
}

/* Length of an index tuple: *len is -1 when it is not known; it must be within 1 to `most`. */
static PmStatus tuple_length(PmInfer *c, int most, int *len, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *idx = pm__in(c, 1);
	PmStatus st = index_type(c, err);
	PmDim d;

	if (st)
		return st;
	if (x->rank == 0 || idx->rank == 0)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "data and indices must not be scalars");
	d = idx->dim[idx->rank - 1];
	if (d >= 0 && (d < 1 || d > most))
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "an index tuple has %lld elements, outside 1 to %d", (long long)d,
				      most);
	*len = d < 0 ? -1 : (int)d;
	return PM_OK;
}

PmStatus infer_gather_nd(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *idx = pm__in(c, 1);
	PmType *o = &c->out[0];
	int64_t batch;
	int i, len, least = x->rank < idx->rank ? x->rank : idx->rank;
	PmStatus st = pm__attr_int(c, "batch_dims", 0, least > 0 ? least - 1 : 0, &batch, err);

	if (!st)
		st = tuple_length(c, x->rank - (int)batch, &len, err);
	if (st)
		return st;
	for (i = 0; i < batch; i++) {
		if (!pm__dims_agree(x->dim[i], idx->dim[i]))
			return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
					      "the operands differ in batch axis %d", i);
	}
	o->dtype = x->dtype;
	if (len < 0)
		return PM_OK;
	if (idx->rank - 1 + x->rank - (int)batch - len > PM_MAX_RANK)
		return pm__infer_fail(c, PM_E_LIMIT, 0, 1, err,
				      "the result would exceed PM_MAX_RANK (%d) dimensions", PM_MAX_RANK);
	o->rank = 0;
	for (i = 0; i < idx->rank - 1; i++)
		o->dim[o->rank++] = idx->dim[i];
	for (i = (int)batch + len; i < x->rank; i++)
		o->dim[o->rank++] = x->dim[i];
	return PM_OK;
}

PmStatus infer_scatter_nd(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *idx = pm__in(c, 1), *u = pm__in(c, 2);
	int i, len, ok;
	PmStatus st = tuple_length(c, x->rank, &len, err);

	if (!st)
		st = check_reduction(c, err);
	if (st)
		return st;
	c->out[0] = *x;
	if (len < 0)
		return PM_OK;
	ok = u->rank == idx->rank - 1 + x->rank - len;
	for (i = 0; ok && i < u->rank; i++)
		ok = pm__dims_agree(u->dim[i],
				    i < idx->rank - 1 ? idx->dim[i] : x->dim[len + i - (idx->rank - 1)]);
	if (!ok)
		return pm__infer_fail(c, PM_E_SHAPE, 1, 2, err,
				      "the updates do not have the shape of the places the indices name");
	return PM_OK;
}
