/* SPDX-License-Identifier: Apache-2.0 */
/* infer_move.c - shape rules of operators that move elements without computing. */
#include "ir/infer/infer_priv.h"

#include <string.h>

PmStatus infer_transpose(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	unsigned char in[PM_MAX_RANK];
	const int64_t *perm;
	int i;
	PmStatus st = pm__attr_ints_n(c, "perm", (size_t)x->rank, 0, &perm, err);

	if (!st)
		st = pm__attr_axes(c, "perm", x->rank, in, err);
	if (st)
		return st;
	c->out[0] = *x;
	for (i = 0; i < x->rank; i++)
		c->out[0].dim[i] = x->dim[perm[i]];
	return PM_OK;
}

/* ---- Reshape ---- */

/* The dimension that -1 stands for: all of `x` divided by the other dimensions. Equal symbols cancel first,
 * since not every name can be calculated with. */
static PmStatus rest_of(PmInfer *c, const PmType *x, const PmType *o, int hole, PmErr *err)
{
	PmDim xs[PM_MAX_RANK], os[PM_MAX_RANK], num, den;
	int i, j, nx = 0, no = 0;
	PmStatus st;

	for (i = 0; i < x->rank; i++)
		xs[nx++] = x->dim[i];
	for (i = 0; i < o->rank; i++) {
		if (i == hole)
			continue;
		for (j = 0; j < nx && !(o->dim[i] < 0 && xs[j] == o->dim[i]); j++)
			;
		if (j < nx)
			xs[j] = xs[--nx];
		else
			os[no++] = o->dim[i];
	}
	st = pm__dim_product(c, xs, nx, &num, err);
	if (!st)
		st = pm__dim_product(c, os, no, &den, err);
	if (st)
		return st;
	if (den == 0)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "-1 stands for no one size because another dimension is 0");
	if (num < 0 || den < 0) {
		c->out[0].dim[hole] = pm_dim_div(c->g, num, den);
		return PM_OK;
	}
	if (num % den)
		return pm__infer_fail(
			c, PM_E_SHAPE, 0, 1, err,
			"%lld elements cannot be divided into groups of %lld for the dimension -1",
			(long long)num, (long long)den);
	c->out[0].dim[hole] = num / den;
	return PM_OK;
}

/* Dimension i of the result as the shape operand says it; -1 sets *hole. */
static PmStatus reshape_dim(PmInfer *c, const PmType *x, PmElem e, int i, int *hole, PmErr *err)
{
	PmDim *d = &c->out[0].dim[i];

	*d = e.kind == PM_ELEM_UNKNOWN ? PM_DIM_UNKNOWN : e.v;
	if (e.kind != PM_ELEM_INT)
		return PM_OK;
	if (e.v < -1)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "dimension %d of the shape is %lld", i,
				      (long long)e.v);
	if (e.v == -1) {
		if (*hole >= 0)
			return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "the shape has more than one -1");
		*hole = i;
		*d = PM_DIM_UNKNOWN;
	} else if (e.v == 0 && !pm_node_i(c->g, c->n, "allowzero", 0)) {
		if (i >= x->rank)
			return pm__infer_fail(
				c, PM_E_SHAPE, 0, 1, err,
				"dimension %d of the shape is 0 (copy), but the input has no such dimension",
				i);
		*d = x->dim[i];
	}
	return PM_OK;
}

/* Sizes without -1: if both are known they must be equal. */
static PmStatus check_numel(PmInfer *c, const PmType *x, PmErr *err)
{
	PmDim nx, no;
	int i;
	PmStatus st;

	for (i = 0; i < c->out[0].rank; i++) {
		if (c->out[0].dim[i] < 0)
			return PM_OK;
	}
	st = pm__dim_product(c, x->dim, x->rank, &nx, err);
	if (!st)
		st = pm__dim_product(c, c->out[0].dim, c->out[0].rank, &no, err);
	if (st || nx == no || nx < 0)
		return st;
	return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "%lld elements cannot be reshaped into %lld",
			      (long long)nx, (long long)no);
}

PmStatus infer_reshape(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	PmElem e[PM_MAX_RANK];
	int i, n, hole = -1, zero = 0;
	PmStatus st = pm__in_shape(c, 1, e, &n, err);

	if (st)
		return st;
	c->out[0].dtype = x->dtype;
	if (n < 0)
		return PM_OK;
	c->out[0].rank = n;
	for (i = 0; i < n; i++) {
		st = reshape_dim(c, x, e[i], i, &hole, err);
		if (st)
			return st;
		zero |= e[i].kind == PM_ELEM_INT && e[i].v == 0;
	}
	if (hole >= 0 && zero && pm_node_i(c->g, c->n, "allowzero", 0))
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "the shape has both 0 and -1 with allowzero set");
	if (hole >= 0)
		return rest_of(c, x, &c->out[0], hole, err);
	return check_numel(c, x, err);
}

PmStatus infer_flatten(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	int64_t axis;
	PmStatus st = pm__attr_int(c, "axis", 0, x->rank, &axis, err);

	if (st)
		return st;
	c->out[0].dtype = x->dtype;
	c->out[0].rank = 2;
	st = pm__dim_product(c, x->dim, (int)axis, &c->out[0].dim[0], err);
	if (st)
		return st;
	return pm__dim_product(c, x->dim + axis, x->rank - (int)axis, &c->out[0].dim[1], err);
}

PmStatus infer_squeeze(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	unsigned char in[PM_MAX_RANK];
	int i;
	PmStatus st = pm__attr_axes(c, "axes", x->rank, in, err);

	if (st)
		return st;
	c->out[0].dtype = x->dtype;
	c->out[0].rank = 0;
	for (i = 0; i < x->rank; i++) {
		if (!in[i])
			c->out[0].dim[c->out[0].rank++] = x->dim[i];
		else if (!pm__dims_agree(x->dim[i], 1))
			return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
					      "axis %d cannot be squeezed because its size is not 1", i);
	}
	return PM_OK;
}

PmStatus infer_unsqueeze(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	unsigned char in[PM_MAX_RANK];
	const int64_t *axes;
	size_t n;
	int i, from = 0;
	PmStatus st = pm__attr_ints(c, "axes", &axes, &n, err);

	if (st)
		return st;
	if (n > (size_t)(PM_MAX_RANK - x->rank))
		return pm__infer_fail(c, PM_E_LIMIT, 0, -1, err,
				      "%zu more dimensions exceed PM_MAX_RANK (%d)", n, PM_MAX_RANK);
	st = pm__attr_axes(c, "axes", x->rank + (int)n, in, err);
	if (st)
		return st;
	c->out[0].dtype = x->dtype;
	c->out[0].rank = x->rank + (int)n;
	for (i = 0; i < c->out[0].rank; i++)
		c->out[0].dim[i] = in[i] ? 1 : x->dim[from++];
	return PM_OK;
}

PmStatus infer_expand(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	PmType *o = &c->out[0];
	PmElem e[PM_MAX_RANK];
	int i, n;
	PmStatus st = pm__in_shape(c, 1, e, &n, err);

	if (st)
		return st;
	o->dtype = x->dtype;
	if (n < 0)
		return PM_OK;
	o->rank = n > x->rank ? n : x->rank;
	for (i = 1; i <= o->rank; i++) {
		PmDim a = i <= x->rank ? x->dim[x->rank - i] : 1;
		PmElem b = i <= n ? e[n - i] : (PmElem){ PM_ELEM_INT, 1 };

		if (b.kind == PM_ELEM_INT && b.v < 0)
			return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "dimension %d of the shape is %lld",
					      n - i, (long long)b.v);
		if (b.kind == PM_ELEM_UNKNOWN)
			o->dim[o->rank - i] = a == 0 || a > 1 ? a : PM_DIM_UNKNOWN;
		else if (!pm__broadcast_dim(a, b.v, &o->dim[o->rank - i]))
			return pm__infer_fail(
				c, PM_E_SHAPE, 0, 1, err,
				"the input cannot be broadcast to the shape (%lld against %lld)",
				(long long)a, (long long)b.v);
	}
	return PM_OK;
}

/* ---- Slice ---- */

/* A slice that takes everything whatever the size is; bounds beyond 32 bits mean "to the end". */
static int slice_all(int64_t start, int64_t end, int64_t step)
{
	if (step == 1)
		return start == 0 && end >= INT32_MAX;
	return step == -1 && (start == -1 || start >= INT32_MAX) && end <= -(int64_t)INT32_MAX;
}

PmStatus infer_slice(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	const int64_t *starts, *ends, *axes, *steps;
	unsigned char in[PM_MAX_RANK];
	size_t i, n;
	PmStatus st = pm__attr_ints(c, "axes", &axes, &n, err);

	if (!st)
		st = pm__attr_axes(c, "axes", x->rank, in, err);
	if (!st)
		st = pm__attr_ints_n(c, "starts", n, INT64_MIN, &starts, err);
	if (!st)
		st = pm__attr_ints_n(c, "ends", n, INT64_MIN, &ends, err);
	if (!st)
		st = pm__attr_ints_n(c, "steps", n, INT64_MIN, &steps, err);
	if (st)
		return st;
	c->out[0] = *x;
	for (i = 0; i < n; i++) {
		PmDim d = x->dim[axes[i]], *o = &c->out[0].dim[axes[i]];
		int64_t start = starts[i];

		if (steps[i] == 0)
			return pm__infer_fail(c, PM_E_INVALID, 0, -1, err, "the step of axis %lld is 0",
					      (long long)axes[i]);
		if (d >= 0)
			*o = pm__slice_range(d, &start, ends[i], steps[i]);
		else if (!slice_all(starts[i], ends[i], steps[i]))
			*o = PM_DIM_UNKNOWN;
	}
	return PM_OK;
}

/* ---- Split and Concat ---- */

PmStatus infer_split(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	const int64_t *split;
	int64_t axis, sum = 0;
	size_t k;
	PmStatus st = pm__attr_int(c, "axis", 0, x->rank - 1, &axis, err);

	if (!st)
		st = pm__attr_ints_n(c, "split", c->n_out, 0, &split, err);
	if (st)
		return st;
	for (k = 0; k < c->n_out; k++) {
		c->out[k] = *x;
		c->out[k].dim[axis] = split[k];
		if (!pm_add_i64(sum, split[k], &sum))
			return pm__infer_fail(c, PM_E_LIMIT, 0, -1, err,
					      "the sum of the attribute 'split' does not fit in 63 bits");
	}
	if (!pm__dims_agree(sum, x->dim[axis]))
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
				      "the parts add up to %lld, which is not the size of axis %lld",
				      (long long)sum, (long long)axis);
	return PM_OK;
}

/* Adds operand k to the concatenation so far. */
static PmStatus join(PmInfer *c, int axis, size_t k, PmErr *err)
{
	const PmType *t = pm__in(c, k);
	PmType *o = &c->out[0];
	int i;
	PmStatus st;

	if (!pm__in_given(c, k))
		return pm__infer_fail(c, PM_E_INVALID, -1, -1, err, "operand %zu is missing", k);
	st = pm__same_dtype(c, 0, k, err);
	if (st)
		return st;
	for (i = 0; i < t->rank && t->rank == o->rank; i++) {
		PmDim *d = &o->dim[i];

		if (i != axis && !pm__dims_agree(*d, t->dim[i]))
			break;
		if (i != axis)
			*d = pm__dims_meet(*d, t->dim[i]) == PM_DIM_UNKNOWN ? *d
									    : pm__dims_meet(*d, t->dim[i]);
		else if (*d == 0 || t->dim[i] == 0)
			*d = *d == 0 ? t->dim[i] : *d;
		else if (*d < 0 || t->dim[i] < 0)
			*d = pm_dim_add(c->g, *d, t->dim[i]);
		else if (!pm_add_i64(*d, t->dim[i], d))
			return pm__infer_fail(c, PM_E_LIMIT, 0, (int)k, err,
					      "the size of axis %d does not fit in 63 bits", axis);
	}
	if (t->rank != o->rank || i < t->rank)
		return pm__infer_fail(c, PM_E_SHAPE, 0, (int)k, err,
				      "operands differ outside axis %d, along which they are joined", axis);
	return PM_OK;
}

PmStatus infer_concat(PmInfer *c, PmErr *err)
{
	int64_t axis;
	size_t k;
	PmStatus st = pm__attr_int(c, "axis", 0, pm__in(c, 0)->rank - 1, &axis, err);

	c->out[0] = *pm__in(c, 0);
	for (k = 1; k < c->n_in && st == PM_OK; k++)
		st = join(c, (int)axis, k, err);
	return st;
}

/* ---- Gather, Pad, Tile ---- */

PmStatus infer_gather(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *idx = pm__in(c, 1);
	PmType *o = &c->out[0];
	int64_t axis;
	int i;
	PmStatus st = pm__attr_int(c, "axis", 0, x->rank - 1, &axis, err);

	if (st)
		return st;
	if (idx->dtype != PM_I64 && idx->dtype != PM_I32)
		return pm__infer_fail(c, PM_E_TYPE, 0, 1, err, "the indices must be int32 or int64");
	if (x->rank - 1 + idx->rank > PM_MAX_RANK)
		return pm__infer_fail(c, PM_E_LIMIT, 0, 1, err,
				      "the result would exceed PM_MAX_RANK (%d) dimensions", PM_MAX_RANK);
	o->dtype = x->dtype;
	o->rank = 0;
	for (i = 0; i < axis; i++)
		o->dim[o->rank++] = x->dim[i];
	for (i = 0; i < idx->rank; i++)
		o->dim[o->rank++] = idx->dim[i];
	for (i = (int)axis + 1; i < x->rank; i++)
		o->dim[o->rank++] = x->dim[i];
	return PM_OK;
}

/* One dimension with `before` and `after` elements added (negative: removed). */
static PmStatus pad_dim(PmInfer *c, int i, int64_t before, int64_t after, int fills, PmErr *err)
{
	PmDim d = pm__in(c, 0)->dim[i], *o = &c->out[0].dim[i];
	int64_t both, left;

	if (!pm_add_i64(before, after, &both))
		return pm__infer_fail(c, PM_E_LIMIT, 0, -1, err,
				      "the padding of axis %d does not fit in 63 bits", i);
	if (d < 0) {
		*o = both == 0 ? d : before < 0 || after < 0 ? PM_DIM_UNKNOWN : pm_dim_add(c->g, d, both);
		return PM_OK;
	}
	if (!pm_add_i64(d, before < 0 ? before : 0, &left) ||
	    !pm_add_i64(left, after < 0 ? after : 0, &left) || left < 0)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
				      "the padding removes more of axis %d than there is", i);
	if (left == 0 && !fills && (before > 0 || after > 0))
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
				      "axis %d has nothing to copy into the padding from", i);
	if (!pm_add_i64(d, both, o))
		return pm__infer_fail(c, PM_E_LIMIT, 0, -1, err, "the padded axis %d does not fit in 63 bits",
				      i);
	return PM_OK;
}

PmStatus infer_pad(PmInfer *c, PmErr *err)
{
	/* "wrap" is of opset 19, above the one that is written. */
	static const char *const modes[] = { "constant", "reflect", "edge" };
	const PmType *x = pm__in(c, 0);
	const char *mode = pm_node_s(c->g, c->n, "mode", "constant");
	const int64_t *pads;
	int i, m;
	PmStatus st = pm__attr_ints_n(c, "pads", (size_t)x->rank * 2, INT64_MIN, &pads, err);

	if (st)
		return st;
	for (m = 0; m < 3 && strcmp(mode, modes[m]) != 0; m++)
		;
	if (m == 3)
		return pm__infer_fail(c, PM_E_UNSUPPORTED, -1, -1, err,
				      "the attribute 'mode' is '%.40s', not constant, reflect or edge", mode);
	if (pm__in_given(c, 1)) {
		st = pm__same_dtype(c, 0, 1, err);
		if (st)
			return st;
		if (pm__in(c, 1)->rank > 1 ||
		    (pm__in(c, 1)->rank == 1 && !pm__dims_agree(pm__in(c, 1)->dim[0], 1)))
			return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
					      "the padding value must be one number");
	}
	c->out[0] = *x;
	for (i = 0; i < x->rank && st == PM_OK; i++)
		st = pad_dim(c, i, pads[i], pads[x->rank + i], m == 0, err);
	return st;
}

PmStatus infer_tile(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	PmElem e[PM_MAX_RANK];
	int i, n;
	PmStatus st = pm__in_shape(c, 1, e, &n, err);

	if (st)
		return st;
	if (n >= 0 && n != x->rank)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "there must be one repeat per dimension");
	c->out[0] = *x;
	for (i = 0; i < x->rank; i++) {
		PmElem r = n < 0 ? (PmElem){ PM_ELEM_UNKNOWN, 0 } : e[i];
		PmDim two[2] = { x->dim[i], 0 };

		if (r.kind == PM_ELEM_INT && r.v < 0)
			return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "the repeat of axis %d is %lld", i,
					      (long long)r.v);
		two[1] = r.v;
		if (r.kind == PM_ELEM_UNKNOWN)
			c->out[0].dim[i] = x->dim[i] == 0 ? 0 : PM_DIM_UNKNOWN;
		else
			st = pm__dim_product(c, two, 2, &c->out[0].dim[i], err);
		if (st)
			return st;
	}
	return PM_OK;
}

/* ---- DepthToSpace and SpaceToDepth ---- */

/* Multiplies or divides one dimension; `by` is positive. */
static PmStatus rescale(PmInfer *c, int i, int64_t by, int divide, PmErr *err)
{
	PmDim *d = &c->out[0].dim[i];

	if (*d < 0) {
		*d = by == 1 ? *d : PM_DIM_UNKNOWN;
		return PM_OK;
	}
	if (divide && *d % by)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "dimension %d is no multiple of %lld", i,
				      (long long)by);
	if (divide)
		*d /= by;
	else if (!pm_mul_i64(*d, by, d))
		return pm__infer_fail(c, PM_E_LIMIT, 0, -1, err, "dimension %d does not fit in 63 bits", i);
	return PM_OK;
}

static PmStatus blocks(PmInfer *c, int to_space, PmErr *err)
{
	int64_t b;
	PmStatus st = pm__attr_int(c, "blocksize", 1, 1 << 20, &b, err);

	if (st)
		return st;
	c->out[0] = *pm__in(c, 0);
	if (c->out[0].rank != 4)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "the input must have four dimensions");
	st = rescale(c, 1, b * b, to_space, err);
	if (!st)
		st = rescale(c, 2, b, !to_space, err);
	return st ? st : rescale(c, 3, b, !to_space, err);
}

PmStatus infer_depth_to_space(PmInfer *c, PmErr *err)
{
	const char *mode = pm_node_s(c->g, c->n, "mode", "DCR");

	if (strcmp(mode, "DCR") != 0 && strcmp(mode, "CRD") != 0)
		return pm__infer_fail(c, PM_E_UNSUPPORTED, 0, -1, err,
				      "the attribute 'mode' is '%.40s', not DCR or CRD", mode);
	return blocks(c, 1, err);
}

PmStatus infer_space_to_depth(PmInfer *c, PmErr *err)
{
	return blocks(c, 0, err);
}

PmStatus infer_trilu(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);

	if (x->rank < 2)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "the input must be at least a matrix");
	if (pm__in_given(c, 1) && (pm__in(c, 1)->dtype != PM_I64 || pm__in(c, 1)->rank > 1 ||
				   (pm__in(c, 1)->rank == 1 && !pm__dims_agree(pm__in(c, 1)->dim[0], 1))))
		return pm__infer_fail(c, PM_E_TYPE, 0, 1, err, "the diagonal must be one int64");
	c->out[0] = *x;
	return PM_OK;
}
