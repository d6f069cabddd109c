/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_expand_window.c - operators over moving windows that others express: LpPool by a convolution with
 * ones, DeformConv by samples at computed places and a product; CenterCropPad, CumProd, and SpaceToDepth with
 * the depth last.
 */
#include "ir/onnx/normal/onnx_expand.h"

#include <string.h>

/* ---- windows ---- */

typedef struct Frame {
	int n; /* spatial dimensions */
	int64_t in[PM_MAX_RANK], kernel[PM_MAX_RANK], strides[PM_MAX_RANK], dilations[PM_MAX_RANK],
		pads[2 * PM_MAX_RANK], out[PM_MAX_RANK];
} Frame;

static void frame_list(PmExpand *x, const char *name, int64_t dflt, int64_t lo, int n, int64_t *out)
{
	int64_t *v = NULL;
	size_t count = 0;
	int present = 0, k;

	if (!x->st)
		x->st = pm__draft_get_ints(x->d, name, &v, &count, &present, x->err);
	if (!x->st && present && count != (size_t)n)
		pm__x_fail(x, PM_E_SHAPE, "The %s of %s has %zu elements; %d are needed.", name,
			   x->d->where.s, count, n);
	for (k = 0; k < n && !x->st; k++) {
		out[k] = present ? v[k] : dflt;
		if (out[k] < lo || out[k] > INT32_MAX)
			pm__x_fail(x, PM_E_INVALID, "Element %d of the %s of %s is %lld.", k, name,
				   x->d->where.s, (long long)out[k]);
	}
}

/* Padding of one dimension and the number of windows, by the mode and the rounding. */
static void frame_fit(PmExpand *x, Frame *f, int k, const char *mode, int up)
{
	int64_t span = (f->kernel[k] - 1) * f->dilations[k] + 1, s = f->strides[k], more;
	int64_t *before = &f->pads[k], *after = &f->pads[f->n + k];

	if (strcmp(mode, "NOTSET") != 0)
		*before = *after = 0;
	if (strncmp(mode, "SAME", 4) == 0) {
		f->out[k] = (f->in[k] + s - 1) / s;
		more = (f->out[k] - 1) * s + span - f->in[k];
		more = more > 0 ? more : 0;
		*before = strcmp(mode, "SAME_LOWER") == 0 ? more - more / 2 : more / 2;
		*after = more - *before;
		return;
	}
	more = f->in[k] + *before + *after - span;
	if (more < 0) {
		pm__x_fail(x, PM_E_SHAPE, "The window of %s is larger than its input.", x->d->where.s);
		return;
	}
	f->out[k] = more / s + 1;
	/* Rounded up, one window more, unless it would lie in the padding behind. */
	if (up && more % s && f->out[k] * s < f->in[k] + *before) {
		*after += s - more % s;
		f->out[k]++;
	}
}

static void read_frame(PmExpand *x, Frame *f, int rank)
{
	const char *mode = pm__x_s(x, "auto_pad", "NOTSET");
	int64_t up = pm__x_i(x, "ceil_mode", 0);
	int k;

	if (!x->st && (rank < 3 || rank > PM_MAX_RANK))
		pm__x_fail(x, PM_E_SHAPE, "The input of %s has %d dimensions; 3 or more are needed.",
			   x->d->where.s, rank);
	if (strcmp(mode, "NOTSET") && strcmp(mode, "VALID") && strcmp(mode, "SAME_UPPER") &&
	    strcmp(mode, "SAME_LOWER"))
		pm__x_decline(x, "its auto_pad '%.40s' is not known", mode);
	if (x->st)
		return;
	f->n = rank - 2;
	frame_list(x, "kernel_shape", 0, 1, f->n, f->kernel);
	frame_list(x, "strides", 1, 1, f->n, f->strides);
	frame_list(x, "dilations", 1, 1, f->n, f->dilations);
	frame_list(x, "pads", 0, 0, 2 * f->n, f->pads);
	for (k = 0; k < f->n; k++) {
		f->in[k] = pm__x_dim(x, x->d->in[0], k + 2, "the size of the input");
		if (!x->st)
			frame_fit(x, f, k, mode, up != 0);
	}
}

/* ---- LpPool ---- */

/* Sums over the windows: a convolution with ones, each channel by itself. */
static PmValue window_sums(PmExpand *x, const Frame *f, PmValue v, int64_t channels)
{
	int64_t shape[PM_MAX_RANK] = { -1, 1 }, ones[PM_MAX_RANK] = { 1, 1 };
	PmValue in[2];
	PmNode n;

	memcpy(shape + 2, f->in, (size_t)f->n * sizeof *shape);
	memcpy(ones + 2, f->kernel, (size_t)f->n * sizeof *ones);
	in[0] = pm__x_op2(x, PM_OP_Reshape, v, pm__x_ints(x, shape, (size_t)f->n + 2));
	in[1] = x->st ? v : pm__x_expand(x, pm__x_scalar(x, pm__x_type(x, v)->dtype, 1), ones, f->n + 2);
	n = pm__x_open(x, PM_OP_Conv, in, 2, 1);
	if (!x->st)
		pm__x_set(x, pm_node_set_ints(x->d->g, n, "strides", f->strides, (size_t)f->n, x->err));
	if (!x->st)
		pm__x_set(x, pm_node_set_ints(x->d->g, n, "dilations", f->dilations, (size_t)f->n, x->err));
	if (!x->st)
		pm__x_set(x, pm_node_set_ints(x->d->g, n, "pads", f->pads, 2 * (size_t)f->n, x->err));
	v = pm__x_close(x, n);
	shape[1] = channels;
	memcpy(shape + 2, f->out, (size_t)f->n * sizeof *shape);
	return pm__x_op2(x, PM_OP_Reshape, v, pm__x_ints(x, shape, (size_t)f->n + 2));
}

/* The p-th root of the sum of the p-th powers; in float for the half types. */
static PmStatus expand_lp_pool(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	int64_t p = pm__x_i(&x, "p", 2), channels;
	int dtype = pm__draft_type(d, 0)->dtype, work = dtype == PM_F64 ? PM_F64 : PM_F32;
	Frame f = { 0 };
	PmValue v;

	pm__x_counts(&x, 1, 1, 1);
	read_frame(&x, &f, pm__draft_type(d, 0)->rank);
	channels = pm__x_dim(&x, pm__x_in(&x, 0), 1, "the number of channels");
	if (!x.st && (p < 1 || p > 64 || !pm_dtype_is_float(dtype)))
		pm__x_decline(&x, "its p is %lld", (long long)p);
	v = x.st ? pm__x_in(&x, 0) : pm__x_cast(&x, d->in[0], work);
	v = p == 2 ? pm__x_op2(&x, PM_OP_Mul, v, v) : pm__x_op1(&x, PM_OP_Abs, v);
	if (p > 2)
		v = pm__x_op2(&x, PM_OP_Pow, v, pm__x_scalar(&x, work, (double)p));
	v = window_sums(&x, &f, v, channels);
	if (p == 2)
		v = pm__x_op1(&x, PM_OP_Sqrt, v);
	else if (p > 2)
		v = pm__x_op2(&x, PM_OP_Pow, v, pm__x_scalar(&x, work, 1 / (double)p));
	pm__x_result(&x, 0, pm__x_cast(&x, v, dtype));
	return x.st;
}

/* ---- DeformConv ---- */

/* A float constant; `v` stays the caller's. */
static PmValue floats(PmExpand *x, const float *v, int rank, const int64_t *dim)
{
	PmType t = pm_type(PM_F32, rank, dim);
	size_t n = 1;
	PmValue out = { 0 };

	for (int k = 0; k < rank; k++)
		n *= (size_t)dim[k];
	if (!x->st)
		x->st = pm_graph_add_const(x->d->g, NULL, &t, pm_blob_copy(v, n * sizeof *v), &out, x->err);
	return out;
}

/* Where each tap of each window lies without its offset, in the frame of GridSample: along the axis of
 * `size` elements, position p is (2 p + 1) / size - 1. Dimensions: 1, taps, rows, columns, 1. */
static PmValue tap_places(PmExpand *x, const Frame *f, int axis)
{
	int64_t dim[5] = { 1, f->kernel[0] * f->kernel[1], 1, 1, 1 }, t, o;
	float *v;
	PmValue out;

	dim[2 + axis] = f->out[axis];
	v = pm_xcalloc((size_t)(dim[1] * f->out[axis]) + 1, sizeof *v);
	for (t = 0; t < dim[1]; t++)
		for (o = 0; o < f->out[axis]; o++) {
			int64_t tap = axis ? t % f->kernel[1] : t / f->kernel[1];
			int64_t p = o * f->strides[axis] - f->pads[axis] + tap * f->dilations[axis];

			v[t * f->out[axis] + o] = (float)((2.0 * (double)p + 1) / (double)f->in[axis] - 1);
		}
	out = floats(x, v, 5, dim);
	free(v);
	return out;
}

/* The grid: (batch * groups, taps * rows, columns, 2), innermost axis first. */
static PmValue deformed_grid(PmExpand *x, const Frame *f, PmValue offset)
{
	static const int64_t last[] = { 0, 1, 3, 4, 2 };
	int64_t taps = f->kernel[0] * f->kernel[1], shape[5] = { -1, taps, 2, f->out[0], f->out[1] };
	int64_t grid[4] = { -1, taps * f->out[0], f->out[1], 2 };
	PmValue v = pm__x_op2(x, PM_OP_Reshape, pm__x_cast(x, offset, PM_F32), pm__x_ints(x, shape, 5)),
		part[2];
	int axis;

	v = pm__x_transpose(x, v, last, 5);
	for (axis = 0; axis < 2; axis++)
		part[1 - axis] = pm__x_op2(x, PM_OP_Add,
					   pm__x_op2(x, PM_OP_Mul, pm__x_slice(x, v, 4, axis, axis + 1, 1),
						     pm__x_scalar(x, PM_F32, 2 / (double)f->in[axis])),
					   tap_places(x, f, axis));
	return pm__x_op2(x, PM_OP_Reshape, pm__x_concat(x, part, 2, 4), pm__x_ints(x, grid, 4));
}

/* The samples: (batch * groups, channels of a group, taps, rows * columns), times the mask. */
static PmValue samples(PmExpand *x, const Frame *f, PmValue grid, int64_t batch, int64_t channels,
		       int64_t groups)
{
	int64_t taps = f->kernel[0] * f->kernel[1], points = f->out[0] * f->out[1];
	int64_t image[4] = { batch * groups, channels / groups, f->in[0], f->in[1] };
	int64_t taken[4] = { batch * groups, channels / groups, taps, points };
	int64_t masked[4] = { batch * groups, 1, taps, points };
	PmValue in[2] = { pm__x_reshape(x, pm__x_cast(x, pm__x_in(x, 0), PM_F32), image, 4), grid }, v;
	PmNode n = pm__x_open(x, PM_OP_GridSample, in, 2, 1);

	if (!x->st)
		pm__x_set(x, pm_node_set_i(x->d->g, n, "align_corners", 0, x->err));
	if (!x->st)
		pm__x_set(x, pm_node_set_s(x->d->g, n, "mode", "linear", 6, x->err));
	if (!x->st)
		pm__x_set(x, pm_node_set_s(x->d->g, n, "padding_mode", "zeros", 5, x->err));
	v = pm__x_reshape(x, pm__x_close(x, n), taken, 4);
	if (pm__x_in(x, 4).id)
		v = pm__x_op2(x, PM_OP_Mul, v,
			      pm__x_reshape(x, pm__x_cast(x, pm__x_in(x, 4), PM_F32), masked, 4));
	return v;
}

/* Reads the frame; the kernel's shape is that of the weights. */
static void deform_frame(PmExpand *x, Frame *f)
{
	int k;

	pm__x_counts(x, 3, 5, 1);
	if (!x->st && (pm__draft_type(x->d, 0)->rank != 4 || pm__draft_type(x->d, 1)->rank != 4 ||
		       pm__draft_type(x->d, 2)->rank != 4))
		pm__x_decline(x, "it does not have two spatial dimensions");
	if (!x->st && pm__draft_type(x->d, 0)->dtype == PM_F64)
		pm__x_decline(x, "it is of doubles, which are sampled as float");
	f->n = 2;
	frame_list(x, "strides", 1, 1, 2, f->strides);
	frame_list(x, "dilations", 1, 1, 2, f->dilations);
	frame_list(x, "pads", 0, 0, 4, f->pads);
	for (k = 0; k < 2 && !x->st; k++) {
		f->in[k] = pm__x_dim(x, x->d->in[0], k + 2, "the size of the input");
		f->kernel[k] = pm__x_dim(x, x->d->in[1], k + 2, "the size of the kernel");
		if (!x->st && (f->in[k] < 1 || f->kernel[k] < 1))
			pm__x_fail(x, PM_E_SHAPE, "The input or the kernel of %s is empty.", x->d->where.s);
		if (!x->st)
			frame_fit(x, f, k, "NOTSET", 0);
	}
}

static PmStatus expand_deform_conv(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	int64_t group = pm__x_i(&x, "group", 1), offsets = pm__x_i(&x, "offset_group", 1), batch, channels,
		outs;
	int64_t rest[4], column[4], weight[4], back[4];
	Frame f = { 0 };
	PmValue v, w;

	deform_frame(&x, &f);
	batch = pm__x_dim(&x, pm__x_in(&x, 0), 0, "the batch size");
	channels = pm__x_dim(&x, pm__x_in(&x, 0), 1, "the number of channels");
	outs = pm__x_dim(&x, pm__x_in(&x, 1), 0, "the number of channels");
	for (int k = 0; k < 4 && !x.st; k++)
		rest[k] = pm__x_dim(&x, d->in[2], k, "the shape of the offsets");
	if (!x.st &&
	    (group < 1 || offsets < 1 || channels % group || channels % offsets || outs % group ||
	     rest[0] != batch || rest[1] != 2 * offsets * f.kernel[0] * f.kernel[1] || rest[2] != f.out[0] ||
	     rest[3] != f.out[1] || pm__x_dim(&x, d->in[1], 1, "the number of channels") != channels / group))
		pm__x_fail(&x, PM_E_SHAPE,
			   "Input, weights, offsets and groups of %s do not fit; fix the model.", d->where.s);
	if (x.st)
		return x.st;
	v = samples(&x, &f, deformed_grid(&x, &f, d->in[2]), batch, channels, offsets);
	column[0] = back[0] = batch;
	column[1] = weight[1] = group;
	column[2] = weight[3] = channels / group * f.kernel[0] * f.kernel[1];
	column[3] = f.out[0] * f.out[1];
	weight[0] = 1;
	weight[2] = outs / group;
	back[1] = outs;
	back[2] = f.out[0];
	back[3] = f.out[1];
	w = pm__x_reshape(&x, pm__x_cast(&x, d->in[1], PM_F32), weight, 4);
	v = pm__x_op2(&x, PM_OP_MatMul, w, pm__x_reshape(&x, v, column, 4));
	v = pm__x_reshape(&x, v, back, 4);
	if (pm__x_in(&x, 3).id)
		v = pm__x_op2(
			&x, PM_OP_Add, v,
			pm__x_reshape(&x, pm__x_cast(&x, d->in[3], PM_F32), (int64_t[]){ outs, 1, 1 }, 3));
	pm__x_result(&x, 0, pm__x_cast(&x, v, pm__draft_type(d, 0)->dtype));
	return x.st;
}

/* ---- CenterCropPad ---- */

static PmStatus expand_center_crop_pad(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	int rank = pm__draft_type(d, 0)->rank, present, has_axes, padded = 0;
	int64_t *size = NULL, *axes = NULL, pads[2 * PM_MAX_RANK] = { 0 }, axis;
	size_t n = 0, n_axes = 0, k;
	PmValue v = pm__x_in(&x, 0);

	pm__x_counts(&x, 2, 2, 1);
	if (!x.st)
		x.st = pm__draft_get_ints(d, "axes", &axes, &n_axes, &has_axes, err);
	if (!x.st)
		x.st = pm__draft_operand_ints(d, 1, "the shape", &size, &n, &present, err);
	if (!x.st && n != (has_axes ? n_axes : (size_t)rank))
		pm__x_fail(&x, PM_E_SHAPE, "The shape of %s has %zu numbers for %zu axes; fix the model.",
			   d->where.s, n, has_axes ? n_axes : (size_t)rank);
	for (k = 0; k < n && !x.st; k++) {
		int64_t have, d0;

		axis = has_axes ? axes[k] : (int64_t)k;
		x.st = pm__draft_axis(d, &axis, rank, 0, err);
		if (x.st)
			break;
		have = pm__x_dim(&x, d->in[0], (int)axis, "the size of an axis");
		if (!x.st && (size[k] < 0 || pads[axis] || pads[rank + axis]))
			pm__x_fail(&x, PM_E_INVALID, "The shape of %s is negative, or an axis is repeated.",
				   d->where.s);
		d0 = (have > size[k] ? have - size[k] : size[k] - have) / 2;
		if (!x.st && have > size[k])
			v = pm__x_slice(&x, v, axis, d0, d0 + size[k], 1);
		else if (!x.st) {
			pads[axis] = d0;
			pads[rank + axis] = size[k] - have - d0;
			padded |= size[k] != have;
		}
	}
	if (padded)
		v = pm__x_pad(&x, v, (PmValue){ 0 }, pads, rank);
	pm__draft_eat(d, 1);
	pm__x_result(&x, 0, v);
	return x.st;
}

/* ---- CumProd ---- */

/* v moved by `by` places along an axis, towards its end or (back) its start; ones come in. */
static PmValue moved(PmExpand *x, PmValue v, int64_t axis, int64_t by, int64_t n, int back)
{
	int64_t pads[2 * PM_MAX_RANK] = { 0 };
	const PmType t = *pm__x_type(x, v);

	pads[back ? t.rank + axis : axis] = by;
	v = pm__x_slice(x, v, axis, back ? by : 0, back ? n : n - by, 1);
	return pm__x_pad(x, v, pm__x_scalar(x, t.dtype, 1), pads, t.rank);
}

/* Running products by doubling: after step k each element is the product of 2^k neighbours. */
static PmStatus expand_cum_prod(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	int64_t *axis = NULL, n, by;
	int64_t exclusive = pm__x_i(&x, "exclusive", 0), back = pm__x_i(&x, "reverse", 0);
	size_t count = 0;
	int present;
	PmValue v = pm__x_in(&x, 0);

	pm__x_counts(&x, 2, 2, 1);
	if (!x.st)
		x.st = pm__draft_operand_ints(d, 1, "its axis", &axis, &count, &present, err);
	if (!x.st && count != 1)
		pm__x_fail(&x, PM_E_INVALID, "The axis of %s is not one number; fix the model.", d->where.s);
	if (!x.st)
		x.st = pm__draft_axis(d, axis, pm__x_type(&x, v)->rank, 0, err);
	if (x.st)
		return x.st;
	n = pm__x_dim(&x, v, (int)*axis, "the length of its axis");
	if (exclusive && n > 0 && !x.st)
		v = moved(&x, v, *axis, 1, n, back != 0);
	for (by = 1; by < n && !x.st; by *= 2)
		v = pm__x_op2(&x, PM_OP_Mul, v, moved(&x, v, *axis, by, n, back != 0));
	pm__draft_eat(d, 1);
	pm__x_result(&x, 0, v);
	return x.st;
}

/* ---- SpaceToDepth ---- */

/* The order with the depth last (since 28) is a transposition; the other is the operator of the table. */
static PmStatus norm_space_to_depth(PmDraft *d, PmErr *err)
{
	static const int64_t perm[] = { 0, 1, 3, 5, 2, 4 };
	PmExpand x = { d, err, PM_OK };
	const char *mode = pm__x_s(&x, "mode", "DCR");
	int64_t b = pm__x_i(&x, "blocksize", 0), c, h, w, split[6] = { 0 }, shape[4] = { 0 };
	PmValue v = pm__x_in(&x, 0);

	if (!x.st && pm__draft_proto(d, "mode") && d->opset < 28)
		pm__x_decline(&x, "the attribute 'mode' is not known before opset 28");
	if (x.st || strcmp(mode, "DCR") == 0)
		return x.st;
	if (strcmp(mode, "CRD") != 0)
		pm__x_decline(&x, "its mode '%.40s' is not DCR or CRD", mode);
	pm__x_counts(&x, 1, 1, 1);
	c = pm__x_dim(&x, v, 1, "the number of channels");
	h = pm__x_dim(&x, v, 2, "the height");
	w = pm__x_dim(&x, v, 3, "the width");
	if (!x.st && (pm__x_type(&x, v)->rank != 4 || b < 1 || h % b || w % b))
		pm__x_fail(&x, PM_E_SHAPE, "Blocks of %lld do not divide the input of %s.", (long long)b,
			   d->where.s);
	if (x.st)
		return x.st;
	split[1] = c;
	split[2] = shape[2] = h / b;
	split[4] = shape[3] = w / b;
	split[3] = split[5] = b;
	shape[1] = c * b * b;
	v = pm__x_op2(&x, PM_OP_Reshape, v, pm__x_ints(&x, split, 6));
	v = pm__x_transpose(&x, v, perm, 6);
	pm__x_result(&x, 0, pm__x_op2(&x, PM_OP_Reshape, v, pm__x_ints(&x, shape, 4)));
	return x.st;
}

const PmNormRow pm__expand_window_rows[] = {
	{ "LpPool", PM_OP_Identity, expand_lp_pool,
	  "auto_pad ceil_mode dilations kernel_shape p pads strides", 0 },
	{ "DeformConv", PM_OP_Identity, expand_deform_conv,
	  "dilations group kernel_shape offset_group pads strides", 0 },
	{ "CenterCropPad", PM_OP_Identity, expand_center_crop_pad, "axes", 1 << 1 },
	{ "CumProd", PM_OP_Identity, expand_cum_prod, "exclusive reverse", 1 << 1 },
	{ "SpaceToDepth", PM_OP_SpaceToDepth, norm_space_to_depth, "mode", 0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
