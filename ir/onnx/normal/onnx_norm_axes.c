/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_norm_axes.c - operators whose axes, sizes or bounds moved between attributes and operands. */
#include "ir/onnx/normal/onnx_expand.h"

#include <stdlib.h>
#include <string.h>

/* Reads a list that is an attribute below opset `since` and operand k from there on. */
static PmStatus list(PmDraft *d, const char *name, size_t k, int64_t since, int64_t **v, size_t *n,
		     int *present, PmErr *err)
{
	if (d->opset < since)
		return pm__draft_get_ints(d, name, v, n, present, err);
	if (pm__draft_proto(d, name))
		return pm__decline(d, "'%s' is an attribute, which opset %lld lacks", name,
				   (long long)d->opset);
	return pm__draft_operand_ints(d, k, name, v, n, present, err);
}

/* Squeeze: axes become an operand in 13; without them every dimension of size 1 goes. */
static PmStatus norm_squeeze(PmDraft *d, PmErr *err)
{
	const PmType *t = pm__draft_type(d, 0);
	int64_t *v, ones[PM_MAX_RANK];
	size_t n, i;
	int present, k;
	PmStatus st = list(d, "axes", 1, 13, &v, &n, &present, err);

	if (st)
		return st;
	if (!present) {
		if (!pm_type_is_static(t))
			return pm__decline(d, "which dimensions are 1 is not known");
		for (k = 0; k < t->rank; k++) {
			if (t->dim[k] == 1)
				ones[n++] = k;
		}
		v = ones;
	}
	st = pm__draft_axes(d, v, n, t->rank, err);
	if (st)
		return st;
	for (i = 0; i < n; i++) {
		/* Some exporters mean "if it is 1", which ONNX does not say. */
		if (t->dim[v[i]] >= 0 && t->dim[v[i]] != 1)
			return pm__decline(d, "axis %lld to be squeezed has size %lld", (long long)v[i],
					   (long long)t->dim[v[i]]);
	}
	pm__draft_set_ints(d, "axes", v, n);
	pm__draft_eat(d, 1);
	return PM_OK;
}

/* Unsqueeze: axes become an operand in 13; they count in the result. */
static PmStatus norm_unsqueeze(PmDraft *d, PmErr *err)
{
	const PmType *t = pm__draft_type(d, 0);
	int64_t *v;
	size_t n;
	int present;
	PmStatus st = list(d, "axes", 1, 13, &v, &n, &present, err);

	if (!st && !present)
		st = pm_err(err, PM_E_INVALID, "The axes of %s are missing; fix the model.", d->where.s);
	if (!st && n + (size_t)t->rank > PM_MAX_RANK)
		st = pm_err(err, PM_E_LIMIT,
			    "The result of %s has more than %d dimensions; reshape the model.", d->where.s,
			    PM_MAX_RANK);
	if (!st)
		st = pm__draft_axes(d, v, n, t->rank + (int)n, err);
	if (st)
		return st;
	pm__draft_set_ints(d, "axes", v, n);
	pm__draft_eat(d, 1);
	return PM_OK;
}

/* Extremes of bool (since 20): of bytes, which 0 and 1 are. */
static PmStatus reduce_bool(PmDraft *d, const int64_t *axes, size_t n, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue v = pm__x_cast(&x, d->in[0], PM_U8);

	v = pm__x_reduce(&x, d->op, v, axes, (int)n, pm__x_i(&x, "keepdims", 1) != 0);
	pm__x_result(&x, 0, pm__x_cast(&x, v, PM_BOOL));
	return x.st;
}

/* A reduction over no axes keeps what it does to each element. */
static PmStatus reduce_nothing(PmDraft *d, PmErr *err)
{
	static const struct {
		PmOp from, to;
	} rest[] = {
		{ PM_OP_ReduceL1, PM_OP_Abs },
		{ PM_OP_ReduceL2, PM_OP_Abs },
		{ PM_OP_ReduceLogSum, PM_OP_Log },
		{ PM_OP_ReduceSumSquare, PM_OP_Mul },
	};
	PmOp op = PM_OP_Identity;
	size_t k;

	(void)err;
	for (k = 0; k < sizeof rest / sizeof *rest; k++)
		if (rest[k].from == d->op)
			op = rest[k].to;
	if (op == PM_OP_Log && !pm_dtype_is_float(pm__draft_type(d, 0)->dtype))
		return pm__decline(d, "it is the logarithm of integers");
	pm__draft_release(d);
	d->op = op;
	if (op == PM_OP_Mul)
		d->in[d->n_in++] = d->in[0];
	return PM_OK;
}

/* Reductions: axes become an operand (13 for the sum, 18 for the others); no axes mean all of them, or none
 * with noop_with_empty_axes. */
static PmStatus reduce(PmDraft *d, int64_t since, PmErr *err)
{
	int rank = pm__draft_type(d, 0)->rank, present, k;
	int64_t *v, all[PM_MAX_RANK], noop;
	size_t n;
	PmStatus st = list(d, "axes", 1, since, &v, &n, &present, err);

	if (!st)
		st = pm__draft_get_i(d, "noop_with_empty_axes", 0, &noop, err);
	if (!st && n > PM_MAX_RANK)
		st = pm_err(err, PM_E_SHAPE, "There are %zu axes at %s; fix the model.", n, d->where.s);
	if (!st)
		st = pm__draft_axes(d, v, n, rank, err);
	if (st)
		return st;
	pm__draft_eat(d, 1);
	if (n == 0 && noop && rank > 0)
		return reduce_nothing(d, err);
	for (k = 0; n == 0 && k < rank; k++)
		all[k] = k;
	pm__draft_set_ints(d, "axes", n ? v : all, n ? n : (size_t)rank);
	if (pm__draft_type(d, 0)->dtype == PM_BOOL && (d->op == PM_OP_ReduceMax || d->op == PM_OP_ReduceMin))
		return reduce_bool(d, v, n, err);
	return PM_OK;
}

static PmStatus norm_reduce_sum(PmDraft *d, PmErr *err)
{
	return reduce(d, 13, err);
}

static PmStatus norm_reduce(PmDraft *d, PmErr *err)
{
	return reduce(d, 18, err);
}

/* Slice: everything becomes an operand in 10; axes default to the first ones, steps to 1. */
static PmStatus norm_slice(PmDraft *d, PmErr *err)
{
	static const char *const names[] = { "starts", "ends", "axes", "steps" };
	int64_t *v[4], first[PM_MAX_RANK], one[PM_MAX_RANK];
	size_t n[4], i;
	int rank = pm__draft_type(d, 0)->rank, present[4], k;
	PmStatus st = PM_OK;

	for (k = 0; k < 4 && !st; k++)
		st = list(d, names[k], (size_t)k + 1, 10, &v[k], &n[k], &present[k], err);
	if (st)
		return st;
	if (!present[0] || !present[1] || n[0] != n[1] || n[0] > (size_t)rank ||
	    (present[2] && n[2] != n[0]) || (present[3] && n[3] != n[0]))
		return pm_err(err, PM_E_INVALID,
			      "The starts, ends, axes and steps of %s are missing or differ in number; fix "
			      "the model.",
			      d->where.s);
	for (i = 0; i < n[0]; i++) {
		first[i] = (int64_t)i;
		one[i] = 1;
	}
	if (!present[2])
		v[2] = first;
	if (!present[3])
		v[3] = one;
	for (i = 0; i < n[0] && !st; i++)
		st = pm__draft_axis(d, &v[2][i], rank, 0, err);
	for (k = 0; k < 4 && !st; k++)
		pm__draft_set_ints(d, names[k], v[k], n[0]);
	if (!st)
		pm__draft_eat(d, 1);
	return st;
}

/* Equal parts, the last one smaller when the size does not divide (allowed since 18). */
static PmStatus equal_parts(PmDraft *d, int64_t dim, PmErr *err)
{
	int64_t parts = (int64_t)d->n_out, each, left = dim;
	int64_t *v = pm_arena_alloc(d->im->scratch, (d->n_out + 1) * sizeof *v);
	size_t i;

	if (dim < 0)
		return pm__decline(d, "the size of the dimension to split is not known");
	if (!v || !parts || (dim % parts && d->opset < 18))
		return pm_err(err, PM_E_SHAPE,
			      "A dimension of size %lld cannot be split into %lld equal parts at %s.",
			      (long long)dim, (long long)parts, d->where.s);
	each = (dim + parts - 1) / parts;
	for (i = 0; i < d->n_out; i++) {
		v[i] = left < each ? left : each;
		left -= v[i];
	}
	pm__draft_set_ints(d, "split", v, d->n_out);
	return PM_OK;
}

/* Split: sizes become an operand in 13; 18 adds num_outputs. */
static PmStatus norm_split(PmDraft *d, PmErr *err)
{
	const PmType *t = pm__draft_type(d, 0);
	int64_t *v, axis, parts;
	size_t n;
	int present;
	PmStatus st = list(d, "split", 1, 13, &v, &n, &present, err);

	if (!st)
		st = pm__draft_get_i(d, "axis", 0, &axis, err);
	if (!st)
		st = pm__draft_axis(d, &axis, t->rank, 0, err);
	if (!st)
		st = pm__draft_get_i(d, "num_outputs", (int64_t)d->n_out, &parts, err);
	if (!st && (parts != (int64_t)d->n_out || (present && n != d->n_out)))
		st = pm_err(err, PM_E_INVALID,
			    "The number of sizes of %s is not its number of results; fix the model.",
			    d->where.s);
	if (st)
		return st;
	if (t->rank == 0)
		return pm_err(err, PM_E_SHAPE, "A scalar cannot be split at %s; fix the model.", d->where.s);
	pm__draft_set_i(d, "axis", axis);
	if (present)
		pm__draft_set_ints(d, "split", v, n);
	else
		st = equal_parts(d, t->dim[axis], err);
	if (!st)
		pm__draft_eat(d, 1);
	return st;
}

/* Spreads the pads of some axes over all of them. */
static PmStatus spread_pads(PmDraft *d, const int64_t *axes, size_t n_axes, const int64_t *v, size_t n,
			    PmErr *err)
{
	int64_t full[2 * PM_MAX_RANK] = { 0 };
	int rank = pm__draft_type(d, 0)->rank;
	size_t i;

	if (n != 2 * n_axes)
		return pm_err(err, PM_E_INVALID,
			      "There are %zu pads for %zu axes at %s; two are needed for each.", n, n_axes,
			      d->where.s);
	for (i = 0; i < n_axes; i++) {
		full[axes[i]] = v[i];
		full[axes[i] + rank] = v[i + n_axes];
	}
	pm__draft_set_ints(d, "pads", full, 2 * (size_t)rank);
	return PM_OK;
}

/* Pad with the other end's elements (since 19): they are gathered, axis by axis. */
static PmStatus wrap(PmDraft *d, PmErr *err)
{
	const int64_t *pads = pm__draft_attr(d, "pads")->ints;
	int rank = pm__draft_type(d, 0)->rank, k;
	PmExpand x = { d, err, PM_OK };
	PmValue y = d->in[0];

	for (k = 0; k < rank && !x.st; k++) {
		int64_t before = pads[k], size, n, i, *at;

		if (!pads[k] && !pads[k + rank])
			continue;
		size = pm__x_dim(&x, d->in[0], k, "the size of a padded dimension");
		if (!x.st &&
		    (size < 1 || !pm_add_i64(before, size, &n) || !pm_add_i64(n, pads[k + rank], &n) ||
		     n < 0 || n > INT32_MAX || before < -INT32_MAX))
			pm__x_decline(&x, "dimension %d cannot be padded so", k);
		if (x.st)
			break;
		at = pm_xcalloc((size_t)n + 1, sizeof *at);
		for (i = 0; i < n; i++)
			at[i] = ((i - before) % size + size) % size;
		y = pm__x_opi(&x, PM_OP_Gather, y, pm__x_ints(&x, at, (size_t)n), "axis", k);
		free(at);
	}
	pm__draft_eat(d, 1);
	pm__x_result(&x, 0, y);
	return x.st;
}

/* Pad: pads and value become operands in 11, axes come in 18; below 11 the value is an attribute. */
static PmStatus norm_pad(PmDraft *d, PmErr *err)
{
	const PmType *t = pm__draft_type(d, 0);
	int64_t *v, *axes, all[PM_MAX_RANK];
	size_t n, n_axes, i;
	int present, has_axes;
	const char *mode;
	double value = 0;
	PmStatus st = list(d, "pads", 1, 11, &v, &n, &present, err);

	if (!st)
		st = pm__draft_get_s(d, "mode", "constant", &mode, err);
	if (!st && strcmp(mode, "constant") && strcmp(mode, "edge") && strcmp(mode, "reflect") &&
	    (strcmp(mode, "wrap") || d->opset < 19))
		return pm__decline(d, "mode '%.40s' is not supported", mode);
	if (!st)
		st = pm__draft_operand_ints(d, 3, "axes", &axes, &n_axes, &has_axes, err);
	if (!st && !present)
		st = pm_err(err, PM_E_INVALID, "The pads of %s are missing; fix the model.", d->where.s);
	for (i = 0; !st && !has_axes && i < (size_t)t->rank; i++)
		all[i] = (int64_t)i;
	for (i = 0; !st && i < n_axes; i++)
		st = n_axes > PM_MAX_RANK
			     ? pm_err(err, PM_E_SHAPE, "There are %zu axes at %s; fix the model.", n_axes,
				      d->where.s)
			     : pm__draft_axis(d, &axes[i], t->rank, 0, err);
	if (!st)
		st = spread_pads(d, has_axes ? axes : all, has_axes ? n_axes : (size_t)t->rank, v, n, err);
	if (!st && d->opset < 11)
		st = pm__draft_get_f(d, "value", 0, &value, err);
	if (st)
		return st;
	if (strcmp(mode, "wrap") == 0)
		return wrap(d, err);
	if (d->opset >= 11) {
		PmValue fill = d->n_in > 2 ? d->in[2] : (PmValue){ 0 };

		pm__draft_eat(d, 3);
		d->n_in = 2;
		pm__draft_eat(d, 1);
		if (fill.id)
			d->in[d->n_in++] = fill;
		return PM_OK;
	}
	d->n_in = 1;
	if (value != 0 && strcmp(mode, "constant") == 0)
		st = pm__draft_scalar(d, t->dtype, value, &d->in[d->n_in++], err);
	return st;
}

/* One axis attribute with a default: made explicit and non-negative. */
static PmStatus one_axis(PmDraft *d, int64_t dflt, PmErr *err)
{
	int64_t axis;
	PmStatus st = pm__draft_get_i(d, "axis", dflt, &axis, err);

	if (!st)
		st = pm__draft_axis(d, &axis, pm__draft_type(d, 0)->rank, 0, err);
	if (!st)
		pm__draft_set_i(d, "axis", axis);
	return st;
}

static PmStatus norm_gather(PmDraft *d, PmErr *err)
{
	return one_axis(d, 0, err);
}

/* The axis may be the rank itself; a negative one still counts from the rank. */
static PmStatus norm_flatten(PmDraft *d, PmErr *err)
{
	int64_t axis;
	PmStatus st = pm__draft_get_i(d, "axis", 1, &axis, err);

	if (!st)
		st = pm__draft_axis(d, &axis, pm__draft_type(d, 0)->rank, axis >= 0, err);
	if (!st)
		pm__draft_set_i(d, "axis", axis);
	return st;
}

static PmStatus norm_layer_norm(PmDraft *d, PmErr *err)
{
	return one_axis(d, -1, err);
}

/* DFT: the axis becomes an operand in 20, where it counts from the end by default. */
/* DFT, below 20 with the axis as attribute. */
static PmStatus dft_axis(PmDraft *d, int64_t *axis, PmErr *err)
{
	int64_t *v;
	size_t n;
	int present;
	PmStatus st;

	if (d->opset < 20)
		return pm__draft_get_i(d, "axis", 1, axis, err);
	st = list(d, "axis", 2, 20, &v, &n, &present, err);
	if (!st && present && n != 1)
		st = pm_err(err, PM_E_INVALID, "The axis of %s is not one number; fix the model.",
			    d->where.s);
	*axis = !st && present ? v[0] : -2;
	return st;
}

/* The inverse of one side: the other side is its mirror image, conjugated; what comes back is real. */
static PmStatus inverse_of_one_side(PmDraft *d, int64_t axis, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	int64_t *length = NULL, have, n, pads[2 * PM_MAX_RANK] = { 0 };
	int rank = pm__draft_type(d, 0)->rank, present = 0, last = rank - 1;
	size_t count = 0;
	PmValue v = pm__x_in(&x, 0), part[2], mirror[2];
	PmNode node;

	pm__x_counts(&x, 1, 3, 1);
	have = pm__x_dim(&x, v, (int)axis, "the length of its axis");
	if (!x.st && pm__x_dim(&x, v, last, "whether it is complex") != 2)
		pm__x_fail(&x, PM_E_SHAPE, "The input of %s, an inverse of one side, is not complex.",
			   d->where.s);
	if (!x.st)
		x.st = pm__draft_operand_ints(d, 1, "dft_length", &length, &count, &present, err);
	n = present && count == 1 ? length[0] : 2 * (have - 1);
	if (!x.st && (n < 1 || have < 1 || axis == last))
		pm__x_fail(&x, PM_E_INVALID, "The length of the transform of %s is %lld; fix the model.",
			   d->where.s, (long long)n);
	if (x.st)
		return x.st;
	pads[rank + axis] = n / 2 + 1 - have;
	if (have > n / 2 + 1)
		v = pm__x_slice(&x, v, axis, 0, n / 2 + 1, 1);
	else if (have < n / 2 + 1)
		v = pm__x_pad(&x, v, (PmValue){ 0 }, pads, rank);
	part[0] = v;
	if (n > 2) {
		v = pm__x_slice(&x, v, axis, n - n / 2 - 1, 0, -1);
		mirror[0] = pm__x_slice(&x, v, last, 0, 1, 1);
		mirror[1] = pm__x_op1(&x, PM_OP_Neg, pm__x_slice(&x, v, last, 1, 2, 1));
		part[1] = pm__x_concat(&x, mirror, 2, last);
		v = pm__x_concat(&x, part, 2, axis);
	}
	node = pm__x_open(&x, PM_OP_DFT, &v, 1, 1);
	if (!x.st)
		pm__x_set(&x, pm_node_set_i(d->g, node, "axis", axis, err));
	if (!x.st)
		pm__x_set(&x, pm_node_set_i(d->g, node, "inverse", 1, err));
	v = pm__x_close(&x, node);
	pm__draft_eat(d, 1);
	pm__x_result(&x, 0, pm__x_slice(&x, v, last, 0, 1, 1));
	return x.st;
}

/* 20 moved the axis to an operand. */
static PmStatus norm_dft(PmDraft *d, PmErr *err)
{
	int64_t axis, inverse, onesided;
	PmStatus st = dft_axis(d, &axis, err);

	if (!st)
		st = pm__draft_axis(d, &axis, pm__draft_type(d, 0)->rank, 0, err);
	if (!st)
		st = pm__draft_get_i(d, "inverse", 0, &inverse, err);
	if (!st)
		st = pm__draft_get_i(d, "onesided", 0, &onesided, err);
	if (st)
		return st;
	if (inverse && onesided)
		return inverse_of_one_side(d, axis, err);
	pm__draft_set_i(d, "axis", axis);
	if (d->opset < 20)
		return PM_OK;
	pm__draft_eat(d, 2);
	while (d->n_in > 1 && !d->in[d->n_in - 1].id)
		d->n_in--;
	return PM_OK;
}

static PmStatus norm_concat(PmDraft *d, PmErr *err)
{
	if (!pm__draft_proto(d, "axis"))
		return pm_err(err, PM_E_INVALID, "The attribute 'axis' of %s is missing; fix the model.",
			      d->where.s);
	return one_axis(d, 0, err);
}

static PmStatus norm_transpose(PmDraft *d, PmErr *err)
{
	int64_t reversed[PM_MAX_RANK];
	int rank = pm__draft_type(d, 0)->rank, k;

	(void)err;
	for (k = 0; k < rank; k++)
		reversed[k] = rank - 1 - k;
	if (!pm__draft_attr(d, "perm"))
		pm__draft_set_ints(d, "perm", reversed, (size_t)rank);
	return PM_OK;
}

const PmNormRow pm__norm_axes_rows[] = {
	{ "Squeeze", PM_OP_Squeeze, norm_squeeze, NULL, 1 << 1 },
	{ "Unsqueeze", PM_OP_Unsqueeze, norm_unsqueeze, NULL, 1 << 1 },
	{ "ReduceSum", PM_OP_ReduceSum, norm_reduce_sum, "noop_with_empty_axes", 1 << 1 },
	{ "ReduceMean", PM_OP_ReduceMean, norm_reduce, "noop_with_empty_axes", 1 << 1 },
	{ "ReduceMax", PM_OP_ReduceMax, norm_reduce, "noop_with_empty_axes", 1 << 1 },
	{ "ReduceMin", PM_OP_ReduceMin, norm_reduce, "noop_with_empty_axes", 1 << 1 },
	{ "ReduceProd", PM_OP_ReduceProd, norm_reduce, "noop_with_empty_axes", 1 << 1 },
	{ "ReduceL1", PM_OP_ReduceL1, norm_reduce, "noop_with_empty_axes", 1 << 1 },
	{ "ReduceL2", PM_OP_ReduceL2, norm_reduce, "noop_with_empty_axes", 1 << 1 },
	{ "ReduceSumSquare", PM_OP_ReduceSumSquare, norm_reduce, "noop_with_empty_axes", 1 << 1 },
	{ "ReduceLogSum", PM_OP_ReduceLogSum, norm_reduce, "noop_with_empty_axes", 1 << 1 },
	{ "ReduceLogSumExp", PM_OP_ReduceLogSumExp, norm_reduce, "noop_with_empty_axes", 1 << 1 },
	{ "Slice", PM_OP_Slice, norm_slice, NULL, 0x1e },
	{ "Split", PM_OP_Split, norm_split, "num_outputs", 1 << 1 },
	{ "Pad", PM_OP_Pad, norm_pad, "value", 1 << 1 | 1 << 3 },
	{ "Gather", PM_OP_Gather, norm_gather, NULL, 0 },
	{ "GatherElements", PM_OP_GatherElements, norm_gather, NULL, 0 },
	{ "ScatterElements", PM_OP_ScatterElements, norm_gather, NULL, 0 },
	{ "Scatter", PM_OP_ScatterElements, norm_gather, NULL, 0 }, /* its name until opset 11 */
	{ "ArgMax", PM_OP_ArgMax, norm_gather, NULL, 0 },
	{ "ArgMin", PM_OP_ArgMin, norm_gather, NULL, 0 },
	{ "LpNormalization", PM_OP_LpNormalization, norm_layer_norm, NULL, 0 },
	{ "DFT", PM_OP_DFT, norm_dft, NULL, 1 << 1 | 1 << 2 },
	{ "Trilu", PM_OP_Trilu, NULL, NULL, 1 << 1 },
	{ "Flatten", PM_OP_Flatten, norm_flatten, NULL, 0 },
	{ "LayerNormalization", PM_OP_LayerNormalization, norm_layer_norm, NULL, 0 },
	{ "RMSNormalization", PM_OP_RMSNormalization, norm_layer_norm, NULL, 0 },
	{ "Concat", PM_OP_Concat, norm_concat, NULL, 0 },
	{ "Transpose", PM_OP_Transpose, norm_transpose, NULL, 0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
