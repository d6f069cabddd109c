/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_norm_nn.c - windows (convolution, pooling), softmax and normalisation across opsets. */
#include "ir/onnx/normal/onnx_expand.h"

#include <string.h>

typedef struct Window {
	int n; /* spatial dimensions */
	int64_t kernel[PM_MAX_RANK], strides[PM_MAX_RANK], dilations[PM_MAX_RANK];
	const PmDim *size; /* of the input */
} Window;

/* A list of n positive ints, all 1 by default. */
static PmStatus window_list(PmDraft *d, const char *name, int n, int64_t *out, PmErr *err)
{
	int64_t *v;
	size_t count;
	int present, k;
	PmStatus st = pm__draft_get_ints(d, name, &v, &count, &present, err);

	for (k = 0; k < n; k++)
		out[k] = 1;
	if (st || !present)
		return st;
	if (count != (size_t)n)
		return pm_err(
			err, PM_E_SHAPE,
			"The attribute '%s' of %s has %zu elements, but there are %d spatial dimensions.",
			name, d->where.s, count, n);
	for (k = 0; k < n; k++) {
		if (v[k] < 1 || v[k] > INT32_MAX)
			return pm_err(err, PM_E_INVALID,
				      "Element %d of the attribute '%s' of %s is %lld; it must be "
				      "from 1 to %d.",
				      k, name, d->where.s, (long long)v[k], INT32_MAX);
		out[k] = v[k];
	}
	return PM_OK;
}

/* Total padding of one dimension that makes the result ceil(size / stride). */
static PmStatus same_total(PmDraft *d, const Window *w, int k, int64_t *out)
{
	int64_t reach = (w->kernel[k] - 1) * w->dilations[k] + 1, steps;

	if (w->size[k] < 0 && w->strides[k] != 1)
		return pm__decline(d, "auto_pad needs the sizes of the input");
	steps = w->strides[k] == 1 ? 0 : (w->size[k] + w->strides[k] - 1) / w->strides[k];
	if (w->strides[k] == 1)
		*out = reach - 1;
	else
		*out = w->size[k] > 0 ? (steps - 1) * w->strides[k] + reach - w->size[k] : 0;
	if (*out < 0)
		*out = 0;
	return PM_OK;
}

/* Pads as numbers, whatever auto_pad says. */
static PmStatus resolve_pads(PmDraft *d, const Window *w, PmErr *err)
{
	int64_t *v, pads[2 * PM_MAX_RANK] = { 0 }, total = 0;
	const char *mode;
	size_t n;
	int present, k, lower;
	PmStatus st = pm__draft_get_s(d, "auto_pad", "NOTSET", &mode, err);

	if (!st)
		st = pm__draft_get_ints(d, "pads", &v, &n, &present, err);
	if (st)
		return st;
	lower = strcmp(mode, "SAME_LOWER") == 0;
	if (lower || strcmp(mode, "SAME_UPPER") == 0) {
		for (k = 0; k < w->n && !st; k++) {
			st = same_total(d, w, k, &total);
			if (st)
				return st;
			pads[k] = lower ? total - total / 2 : total / 2;
			pads[k + w->n] = total - pads[k];
		}
	} else if (!*mode || strcmp(mode, "NOTSET") == 0) {
		if (present && n != 2 * (size_t)w->n)
			return pm_err(err, PM_E_SHAPE, "There are %zu pads at %s, but %d are needed.", n,
				      d->where.s, 2 * w->n);
		for (k = 0; present && k < 2 * w->n; k++)
			pads[k] = v[k];
	} else if (strcmp(mode, "VALID") != 0) {
		return pm_err(err, PM_E_INVALID,
			      "The attribute 'auto_pad' of %s is '%.60s', which ONNX does not have.",
			      d->where.s, mode);
	}
	pm__draft_set_ints(d, "pads", pads, 2 * (size_t)w->n);
	return PM_OK;
}

static PmStatus window(PmDraft *d, Window *w, PmErr *err)
{
	PmStatus st = window_list(d, "strides", w->n, w->strides, err);

	if (!st)
		st = window_list(d, "dilations", w->n, w->dilations, err);
	if (!st)
		st = resolve_pads(d, w, err);
	if (st)
		return st;
	pm__draft_set_ints(d, "strides", w->strides, (size_t)w->n);
	pm__draft_set_ints(d, "dilations", w->dilations, (size_t)w->n);
	return PM_OK;
}

static PmStatus spatial(PmDraft *d, Window *w, PmErr *err)
{
	const PmType *t = pm__draft_type(d, 0);

	w->n = t->rank - 2;
	w->size = t->dim + 2;
	if (w->n < 1)
		return pm_err(err, PM_E_SHAPE, "Operand 0 of %s has %d dimensions; at least 3 are needed.",
			      d->where.s, t->rank);
	return PM_OK;
}

/* Conv: the kernel's shape is that of the weights; auto_pad becomes numbers. */
PmStatus pm__norm_conv(PmDraft *d, PmErr *err)
{
	const PmType *t = pm__draft_type(d, 1);
	int64_t stated[PM_MAX_RANK];
	Window w;
	int k;
	PmStatus st = spatial(d, &w, err);

	if (!st && t->rank != w.n + 2)
		st = pm_err(err, PM_E_SHAPE,
			    "The weights of %s have %d dimensions instead of %d; fix the model.", d->where.s,
			    t->rank, w.n + 2);
	if (!st)
		st = window_list(d, "kernel_shape", w.n, stated, err);
	for (k = 0; k < w.n && !st; k++) {
		w.kernel[k] = t->dim[k + 2];
		if (t->dim[k + 2] < 0)
			return pm__decline(d, "the shape of the weights is not known");
		if (pm__draft_proto(d, "kernel_shape") && stated[k] != w.kernel[k])
			st = pm_err(err, PM_E_SHAPE,
				    "The attribute 'kernel_shape' of %s says %lld where the weights have "
				    "%lld; fix the "
				    "model.",
				    d->where.s, (long long)stated[k], (long long)w.kernel[k]);
		else if (w.kernel[k] > INT32_MAX)
			st = pm_err(err, PM_E_LIMIT, "The kernel of %s has %lld elements along one axis.",
				    d->where.s, (long long)w.kernel[k]);
	}
	return st ? st : window(d, &w, err);
}

/* ConvTranspose's pads where output_shape or auto_pad say what the result is to be. */
static PmStatus transpose_pads(PmDraft *d, const Window *w, int64_t *more, const char *mode, PmErr *err)
{
	int64_t *shape, pads[2 * PM_MAX_RANK] = { 0 };
	size_t n, from;
	int present, k, upper = strcmp(mode, "SAME_UPPER") == 0;
	PmStatus st = pm__draft_get_ints(d, "output_shape", &shape, &n, &present, err);

	if (st)
		return st;
	if (present && n < (size_t)w->n)
		return pm_err(err, PM_E_SHAPE, "The output_shape of %s has %zu elements; %d are needed.",
			      d->where.s, n, w->n);
	from = n - (present ? (size_t)w->n : 0); /* some files list batch and channels too */
	for (k = 0; k < w->n; k++) {
		int64_t want, total;

		if (w->size[k] < 0 || w->size[k] > INT32_MAX)
			return pm__decline(d, "the padding needs the sizes of the input");
		want = present ? shape[from + (size_t)k] : w->size[k] * w->strides[k];
		total = (w->size[k] - 1) * w->strides[k] + (w->kernel[k] - 1) * w->dilations[k] + 1 + more[k];
		if (want < 0 || want > INT32_MAX)
			return pm__decline(d, "its output_shape is not from 0 to %d", INT32_MAX);
		/* What the kernel does not reach holds the bias only, as output_padding has it. */
		if (want > total) {
			more[k] += want - total;
			total = want;
		}
		total -= want;
		/* With output_shape alone the odd element goes to the front, as SAME_LOWER has it. */
		pads[k] = upper ? total / 2 : total - total / 2;
		pads[k + w->n] = total - pads[k];
	}
	pm__draft_set_ints(d, "pads", pads, 2 * (size_t)w->n);
	pm__draft_set_ints(d, "output_padding", more, (size_t)w->n);
	return PM_OK;
}

static PmStatus norm_conv_transpose(PmDraft *d, PmErr *err)
{
	int64_t *v, more[PM_MAX_RANK] = { 0 };
	const char *mode;
	size_t n;
	int present, k;
	PmStatus st = pm__draft_get_s(d, "auto_pad", "NOTSET", &mode, err);
	Window w = { .n = 0 };

	if (!st)
		st = pm__draft_get_ints(d, "output_padding", &v, &n, &present, err);
	if (!st)
		st = pm__norm_conv(d, err);
	if (!st)
		st = spatial(d, &w, err);
	if (!st && present && n != (size_t)w.n)
		st = pm_err(err, PM_E_SHAPE, "The output_padding of %s has %zu elements; %d are needed.",
			    d->where.s, n, w.n);
	for (k = 0; k < w.n && present && !st; k++) {
		if (v[k] < 0 || v[k] > INT32_MAX)
			return pm_err(err, PM_E_INVALID, "Element %d of the output_padding of %s is %lld.", k,
				      d->where.s, (long long)v[k]);
		more[k] = v[k];
	}
	if (!st)
		st = window_list(d, "strides", w.n, w.strides, err);
	if (!st)
		st = window_list(d, "dilations", w.n, w.dilations, err);
	if (st)
		return st;
	for (k = 0; k < w.n; k++)
		w.kernel[k] = pm__draft_type(d, 1)->dim[k + 2];
	pm__draft_set_ints(d, "output_padding", more, (size_t)w.n);
	if (pm__draft_proto(d, "output_shape") || strncmp(mode, "SAME", 4) == 0)
		return transpose_pads(d, &w, more, mode, err);
	return PM_OK;
}

static PmStatus norm_pool(PmDraft *d, PmErr *err)
{
	Window w;
	PmStatus st = spatial(d, &w, err);

	if (!st && !pm__draft_proto(d, "kernel_shape"))
		st = pm_err(err, PM_E_INVALID,
			    "The attribute 'kernel_shape' of %s is missing; fix the model.", d->where.s);
	if (!st)
		st = window_list(d, "kernel_shape", w.n, w.kernel, err);
	if (!st)
		pm__draft_set_ints(d, "kernel_shape", w.kernel, (size_t)w.n);
	return st ? st : window(d, &w, err);
}

/* Dimensions from `axis` on that are not known to be 1: one of them at most may differ. Returns that axis,
 * the last axis when there is none, -1 when there are several. */
static int single_axis(const PmType *t, int64_t axis)
{
	int k, found = -1;

	for (k = (int)axis; k < t->rank; k++) {
		if (t->dim[k] == 1)
			continue;
		if (found >= 0)
			return -1;
		found = k;
	}
	return found >= 0 ? found : t->rank - 1;
}

/* Below 13 softmax runs over all dimensions from `axis` on, seen as a matrix. Unless that is one axis, the
 * matrix is made: Flatten, Softmax, Reshape to the shape of the operand. */
static PmStatus norm_softmax(PmDraft *d, PmErr *err)
{
	const PmType t = *pm__draft_type(d, 0);
	PmValue flat, soft, shape;
	int64_t axis;
	PmStatus st = pm__draft_get_i(d, "axis", d->opset < 13 ? 1 : -1, &axis, err);

	if (!st && d->opset < 13 && axis == t.rank && t.rank > 0)
		return pm__decline(d, "the axis is past the last dimension");
	if (!st)
		st = pm__draft_axis(d, &axis, t.rank, 0, err);
	if (st)
		return st;
	if (d->opset < 13 && t.rank > 0 && axis < t.rank - 1)
		axis = single_axis(&t, axis) >= 0 ? single_axis(&t, axis) : -axis - 1;
	if (axis >= 0) {
		pm__draft_set_i(d, "axis", axis);
		return PM_OK;
	}
	st = pm__draft_before(d, PM_OP_Flatten, d->in, 1, "axis", -axis - 1, &flat, err);
	if (!st)
		st = pm__draft_before(d, d->op, &flat, 1, "axis", 1, &soft, err);
	if (!st && pm_type_is_static(&t))
		st = pm__draft_list(d, t.dim, (size_t)t.rank, &shape, err);
	else if (!st)
		st = pm__draft_before(d, PM_OP_Shape, d->in, 1, "end", INT64_MAX, &shape, err);
	if (st)
		return st;
	pm__draft_release(d);
	d->op = PM_OP_Reshape;
	d->in[0] = soft;
	d->in[1] = shape;
	d->n_in = 2;
	return PM_OK;
}

/* BatchNormalization: `spatial` ends with 9; more results than one meant training until 14 named it,
 * and made it what its parts are. */
static PmStatus norm_batch_norm(PmDraft *d, PmErr *err)
{
	int64_t whole, training = 0;
	PmStatus st = pm__draft_get_i(d, "spatial", 1, &whole, err);

	if (!st)
		st = pm__draft_get_i(d, "training_mode", 0, &training, err);
	if (st)
		return st;
	if (!whole)
		return pm__decline(d, "statistics per element (spatial = 0) are not supported");
	if (d->opset < 14 && d->n_out > 1)
		return pm__decline(d, "it is in training mode");
	return training ? pm__expand_batch_training(d, err) : PM_OK;
}

/* GroupNormalization: below 21 scale and bias have one element per group; each is repeated for its channels.
 */
static PmStatus norm_group_norm(PmDraft *d, PmErr *err)
{
	const PmType *t = pm__draft_type(d, 0);
	int64_t groups, channels = t->rank > 1 ? t->dim[1] : -1, *v, k;
	PmValue in[2];
	PmStatus st = pm__draft_get_i(d, "num_groups", 1, &groups, err);

	if (st || d->opset >= 21)
		return st;
	if (channels < 0 || d->n_in != 3)
		return pm__decline(d, "the number of channels is not known");
	if (groups < 1 || channels % groups)
		return pm_err(err, PM_E_SHAPE, "%lld groups do not divide the %lld channels at %s.",
			      (long long)groups, (long long)channels, d->where.s);
	if (channels > INT32_MAX)
		return pm_err(err, PM_E_LIMIT, "There are %lld channels at %s; split the model.",
			      (long long)channels, d->where.s);
	v = pm_arena_alloc(d->im->scratch, ((size_t)channels + 1) * sizeof *v);
	if (!v)
		return pm_err(err, PM_E_LIMIT, "The model takes too much memory at %s; split it.",
			      d->where.s);
	for (k = 0; k < channels; k++)
		v[k] = k / (channels / groups);
	st = pm__draft_list(d, v, (size_t)channels, &in[1], err);
	for (k = 1; k < 3 && !st; k++) {
		in[0] = d->in[k];
		st = pm__draft_before(d, PM_OP_Gather, in, 2, "axis", 0, &d->in[k], err);
	}
	return st;
}

/* GridSample: 20 renamed the modes. */
static PmStatus norm_grid_sample(PmDraft *d, PmErr *err)
{
	const char *mode;
	PmStatus st = pm__draft_get_s(d, "mode", "linear", &mode, err);

	if (!st && strcmp(mode, "bilinear") == 0)
		pm__draft_set_s(d, "mode", "linear");
	else if (!st && strcmp(mode, "bicubic") == 0)
		pm__draft_set_s(d, "mode", "cubic");
	return st;
}

/* RoiAlign: below 16 regions were not moved by half a pixel. */
static PmStatus norm_roi_align(PmDraft *d, PmErr *err)
{
	(void)err;
	if (d->opset < 16)
		pm__draft_set_s(d, "coordinate_transformation_mode", "output_half_pixel");
	return PM_OK;
}

/* Col2Im: image and block are operands; the other lists have defaults. */
static PmStatus norm_col2im(PmDraft *d, PmErr *err)
{
	static const char *const operands[] = { "image_shape", "block_shape" }, *const lists[] = {
		"dilations", "strides", "pads"
	};
	int64_t *v, dflt[2 * PM_MAX_RANK];
	size_t n = 0, i;
	int present, k;
	PmStatus st = PM_OK;

	for (k = 0; k < 2 && !st; k++) {
		st = pm__draft_operand_ints(d, (size_t)k + 1, operands[k], &v, &n, &present, err);
		if (!st && (!present || n > PM_MAX_RANK - 2))
			st = pm_err(err, PM_E_INVALID, "The %s of %s has %zu elements; fix the model.",
				    operands[k], d->where.s, n);
		if (!st)
			pm__draft_set_ints(d, operands[k], v, n);
	}
	for (k = 0; k < 3 && !st; k++) {
		for (i = 0; i < 2 * PM_MAX_RANK; i++)
			dflt[i] = k < 2;
		if (!pm__draft_proto(d, lists[k]))
			pm__draft_set_ints(d, lists[k], dflt, k < 2 ? n : 2 * n);
	}
	if (!st)
		pm__draft_eat(d, 1);
	return st;
}

const PmNormRow pm__norm_nn_rows[] = {
	{ "GridSample", PM_OP_GridSample, norm_grid_sample, NULL, 0 },
	{ "RoiAlign", PM_OP_RoiAlign, norm_roi_align, NULL, 0 },
	{ "Col2Im", PM_OP_Col2Im, norm_col2im, NULL, 1 << 1 | 1 << 2 },
	{ "Conv", PM_OP_Conv, pm__norm_conv, "auto_pad kernel_shape", 0 },
	{ "ConvTranspose", PM_OP_ConvTranspose, norm_conv_transpose, "auto_pad kernel_shape output_shape",
	  0 },
	{ "MaxPool", PM_OP_MaxPool, norm_pool, "auto_pad", 0 },
	{ "AveragePool", PM_OP_AveragePool, norm_pool, "auto_pad", 0 },
	{ "Softmax", PM_OP_Softmax, norm_softmax, NULL, 0 },
	{ "LogSoftmax", PM_OP_LogSoftmax, norm_softmax, NULL, 0 },
	{ "Hardmax", PM_OP_Hardmax, norm_softmax, NULL, 0 },
	{ "GroupNormalization", PM_OP_GroupNormalization, norm_group_norm, NULL, 0 },
	{ "BatchNormalization", PM_OP_BatchNormalization, norm_batch_norm, "spatial", 0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
