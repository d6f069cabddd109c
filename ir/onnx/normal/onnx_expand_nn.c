/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_expand_nn.c - operators that others express: statistics, unpooling, framed transforms, caches. */
#include "ir/onnx/normal/onnx_expand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* (x - mean) / (deviation + 1e-9) over some axes; ONNX adds to the deviation, not to the variance. */
static PmStatus expand_mvn(PmDraft *d, PmErr *err)
{
	static const int64_t usual[] = { 0, 2, 3 };
	PmExpand x = { d, err, PM_OK };
	int rank = pm__draft_type(d, 0)->rank, dtype = pm__draft_type(d, 0)->dtype, present;
	int64_t *axes;
	size_t n;
	PmValue centred, deviation;

	pm__x_counts(&x, 1, 1, 1);
	if (!x.st)
		x.st = pm__draft_get_ints(d, "axes", &axes, &n, &present, err);
	if (x.st)
		return x.st;
	if (!present) {
		axes = pm_arena_alloc(d->im->scratch, sizeof usual);
		n = sizeof usual / sizeof *usual;
		memcpy(axes, usual, sizeof usual);
	}
	if (!n || n > PM_MAX_RANK)
		pm__x_decline(&x, "it has %zu axes", n);
	else
		x.st = pm__draft_axes(d, axes, n, rank, err);
	if (x.st)
		return x.st;
	centred = pm__x_op2(&x, PM_OP_Sub, d->in[0],
			    pm__x_reduce(&x, PM_OP_ReduceMean, d->in[0], axes, (int)n, 1));
	deviation = pm__x_reduce(&x, PM_OP_ReduceMean, pm__x_op2(&x, PM_OP_Mul, centred, centred), axes,
				 (int)n, 1);
	deviation = pm__x_op2(&x, PM_OP_Add, pm__x_op1(&x, PM_OP_Sqrt, deviation),
			      pm__x_scalar(&x, dtype, 1e-9));
	pm__x_result(&x, 0, pm__x_op2(&x, PM_OP_Div, centred, deviation));
	return x.st;
}

/* An operand with one element for each channel, so that it goes with x: (1, C, 1, ...). */
static PmValue by_channel(PmExpand *x, PmValue v, int dtype, int rank)
{
	int64_t shape[PM_MAX_RANK] = { 1, -1, 1, 1, 1, 1, 1, 1 };

	return pm__x_reshape(x, pm__x_cast(x, v, dtype), shape, rank);
}

/* Result k: the running statistic after one that was found, in its own type. */
static void running(PmExpand *x, size_t k, PmValue found, double momentum, int dtype)
{
	PmValue old = pm__x_in(x, k + 2);
	int own = pm__x_type(x, old)->dtype, wide = dtype == PM_F64 || own != PM_F64 ? dtype : own;
	int64_t flat = -1;
	PmValue sum;

	if (x->st || !pm__x_wants(x, k))
		return;
	found = pm__x_cast(x, pm__x_reshape(x, found, &flat, 1), wide);
	sum = pm__x_op2(x, PM_OP_Add,
			pm__x_op2(x, PM_OP_Mul, pm__x_cast(x, old, wide), pm__x_scalar(x, wide, momentum)),
			pm__x_op2(x, PM_OP_Mul, found, pm__x_scalar(x, wide, 1 - momentum)));
	pm__x_result(x, k, pm__x_cast(x, sum, own));
}

PmStatus pm__expand_batch_training(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	int type = pm__draft_type(d, 0)->dtype, rank = pm__draft_type(d, 0)->rank, n = 0;
	int dtype = pm_dtype_size(type) == 2 ? PM_F32 : type; /* ONNX: so that sums do not overflow */
	int64_t axes[PM_MAX_RANK];
	double momentum = pm__x_f(&x, "momentum", 0.9);
	PmValue v, mean, centred, variance, y;

	pm__x_counts(&x, 5, 5, 3);
	if (!x.st && (rank < 2 || !pm_dtype_is_float(type)))
		pm__x_fail(&x, PM_E_SHAPE, "The input of %s has no channels, or is not of floating point.",
			   d->where.s);
	for (int k = 0; k < rank; k++)
		if (k != 1)
			axes[n++] = k;
	if (x.st)
		return x.st;
	v = pm__x_cast(&x, d->in[0], dtype);
	mean = pm__x_reduce(&x, PM_OP_ReduceMean, v, axes, n, 1);
	centred = pm__x_op2(&x, PM_OP_Sub, v, mean);
	variance = pm__x_reduce(&x, PM_OP_ReduceMean, pm__x_op2(&x, PM_OP_Mul, centred, centred), axes, n, 1);
	y = pm__x_op2(&x, PM_OP_Add, variance, pm__x_scalar(&x, dtype, pm__x_f(&x, "epsilon", 1e-5)));
	y = pm__x_op2(&x, PM_OP_Div, centred, pm__x_op1(&x, PM_OP_Sqrt, y));
	y = pm__x_op2(&x, PM_OP_Mul, y, by_channel(&x, d->in[1], dtype, rank));
	y = pm__x_op2(&x, PM_OP_Add, y, by_channel(&x, d->in[2], dtype, rank));
	pm__x_result(&x, 0, pm__x_cast(&x, y, type));
	running(&x, 1, mean, momentum, dtype);
	running(&x, 2, variance, momentum, dtype);
	return x.st;
}

/* x * sigmoid(alpha x): the words that patterns for SiLU know. */
static PmStatus expand_swish(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue v = pm__x_in(&x, 0);
	double alpha = pm__x_f(&x, "alpha", 1);

	pm__x_counts(&x, 1, 1, 1);
	if (alpha != 1)
		v = pm__x_op2(&x, PM_OP_Mul, v, pm__x_scalar(&x, pm__draft_type(d, 0)->dtype, alpha));
	pm__x_result(&x, 0, pm__x_op2(&x, PM_OP_Mul, pm__x_in(&x, 0), pm__x_op1(&x, PM_OP_Sigmoid, v)));
	return x.st;
}

/* ---- MaxUnpool ---- */

/* Sizes that a max pool with this window had as input. */
static void unpooled_sizes(PmExpand *x, int64_t out[PM_MAX_RANK])
{
	static const char *const names[] = { "kernel_shape", "strides", "pads" };
	int rank = pm__draft_type(x->d, 0)->rank, k, present[3];
	int64_t *v[3];
	size_t n[3];

	for (k = 0; k < 3 && !x->st; k++) {
		size_t need = (size_t)(rank - 2) * (k == 2 ? 2 : 1);

		x->st = pm__draft_get_ints(x->d, names[k], &v[k], &n[k], &present[k], x->err);
		if (!x->st && (present[k] ? n[k] != need : k == 0))
			pm__x_fail(x, PM_E_SHAPE,
				   "The attribute '%s' of %s has %zu elements; %zu are needed.", names[k],
				   x->d->where.s, n[k], need);
	}
	for (k = 0; k < rank && !x->st; k++) {
		int64_t size = pm__x_dim(x, x->d->in[0], k, "the shape of the input"), i = k - 2;

		out[k] = size;
		if (k < 2 || x->st)
			continue;
		if (v[0][i] < 1 || v[0][i] > INT32_MAX || size > INT32_MAX ||
		    (present[1] && (v[1][i] < 1 || v[1][i] > INT32_MAX))) {
			pm__x_decline(x, "its window is not from 1 to %d", INT32_MAX);
			return;
		}
		out[k] = (size - 1) * (present[1] ? v[1][i] : 1) + v[0][i];
		if (present[2])
			out[k] -= v[2][i] + v[2][i + rank - 2];
		if (out[k] < 0)
			pm__x_decline(x, "its padding is more than its result");
	}
}

/* Values go to flat places of the tensor that was pooled; a larger output_shape is filled up at the end. */
static PmStatus expand_max_unpool(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	const PmType *t = pm__draft_type(d, 0);
	int64_t dims[PM_MAX_RANK], pads[2 * PM_MAX_RANK] = { 0 }, total = 1, flat = 1, *want = NULL;
	size_t n_want = 0;
	int has_shape = 0, k, padded = 0, rank = t->rank, dtype = t->dtype;
	PmValue y;

	pm__x_counts(&x, 2, 3, 1);
	if (!x.st)
		x.st = pm__draft_operand_ints(d, 2, "output_shape", &want, &n_want, &has_shape, err);
	if (!x.st && rank < 3)
		pm__x_fail(&x, PM_E_SHAPE, "The input of %s has %d dimensions; at least 3 are needed.",
			   d->where.s, rank);
	if (!x.st)
		unpooled_sizes(&x, dims);
	if (!x.st && has_shape && n_want != (size_t)rank)
		pm__x_fail(&x, PM_E_SHAPE, "The output_shape of %s has %zu elements; %d are needed.",
			   d->where.s, n_want, rank);
	for (k = 0; k < rank && !x.st; k++) {
		flat *= t->dim[k];
		if (!pm_mul_i64(total, dims[k], &total) || total > INT32_MAX)
			pm__x_decline(&x, "its result has more than %d elements", INT32_MAX);
		if (!has_shape)
			continue;
		pads[rank + k] = want[k] - dims[k];
		padded |= pads[rank + k] != 0;
	}
	if (x.st)
		return x.st;
	y = pm__x_expand(&x, pm__x_reshape(&x, pm__x_scalar(&x, dtype, 0), (int64_t[]){ 1 }, 1), &total, 1);
	{
		PmValue in[3] = { y, pm__x_reshape(&x, d->in[1], &flat, 1),
				  pm__x_reshape(&x, d->in[0], &flat, 1) };
		PmNode n = pm__x_open(&x, PM_OP_ScatterElements, in, 3, 1);

		if (!x.st)
			pm__x_set(&x, pm_node_set_i(d->g, n, "axis", 0, err));
		y = pm__x_close(&x, n);
	}
	y = pm__x_reshape(&x, y, dims, rank);
	pm__draft_eat(d, 2);
	pm__x_result(&x, 0, padded ? pm__x_pad(&x, y, (PmValue){ 0 }, pads, rank) : y);
	return x.st;
}

/* ---- signals ---- */

/* STFT: frames are gathered, multiplied by the window, transformed. */
static PmStatus expand_stft(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	const PmType *t = pm__draft_type(d, 0);
	int64_t *step = NULL, *length = NULL, samples, size = 0, frames, dims[2], *index, i, k;
	size_t n_step, n_length;
	int has_step, has_length;
	PmValue y, window;

	pm__x_counts(&x, 2, 4, 1);
	if (!x.st)
		x.st = pm__draft_operand_ints(d, 1, "frame_step", &step, &n_step, &has_step, err);
	if (!x.st)
		x.st = pm__draft_operand_ints(d, 3, "frame_length", &length, &n_length, &has_length, err);
	window = pm__x_in(&x, 2);
	samples = pm__x_dim(&x, d->in[0], 1, "the length of the signal");
	if (!x.st && t->rank != 3)
		pm__x_fail(&x, PM_E_SHAPE, "The signal of %s has %d dimensions instead of 3.", d->where.s,
			   t->rank);
	if (!x.st && !has_length && !window.id)
		pm__x_fail(&x, PM_E_INVALID, "%s has neither a window nor a frame_length; fix the model.",
			   d->where.s);
	if (!x.st)
		size = has_length && n_length == 1 ? length[0]
						   : pm__x_dim(&x, window, 0, "the length of the window");
	if (!x.st && (n_step != 1 || step[0] < 1 || size < 1 || size > samples ||
		      (samples - size) / step[0] + 1 > INT32_MAX / size))
		pm__x_fail(
			&x, PM_E_INVALID,
			"The frames of %s do not fit: a step from 1 and a length from 1 to %lld are needed.",
			d->where.s, (long long)samples);
	if (x.st)
		return x.st;
	frames = (samples - size) / step[0] + 1;
	dims[0] = frames;
	dims[1] = size;
	index = pm_xcalloc((size_t)(frames * size), sizeof *index);
	for (i = 0; i < frames; i++)
		for (k = 0; k < size; k++)
			index[i * size + k] = i * step[0] + k;
	y = pm__x_opi(&x, PM_OP_Gather, d->in[0], pm__x_int_tensor(&x, index, 2, dims), "axis", 1);
	free(index);
	if (window.id)
		y = pm__x_op2(&x, PM_OP_Mul, y,
			      pm__x_unsqueeze(&x, pm__x_cast(&x, window, pm__x_type(&x, y)->dtype), 1));
	{
		PmNode n = pm__x_open(&x, PM_OP_DFT, &y, 1, 1);

		if (!x.st)
			pm__x_set(&x, pm_node_set_i(d->g, n, "axis", 2, err));
		if (!x.st)
			pm__x_set(&x,
				  pm_node_set_i(d->g, n, "onesided", pm__x_i(&x, "onesided", 1) != 0, err));
		y = pm__x_close(&x, n);
	}
	pm__draft_eat(d, 3);
	d->n_in = d->n_in > 2 ? 2 : d->n_in;
	pm__draft_eat(d, 1);
	pm__x_result(&x, 0, y);
	return x.st;
}

static double number(PmExpand *x, size_t k)
{
	double v = 0;
	size_t n = 0;

	if (!x->st && (pm_value_const_floats(x->d->g, pm__x_in(x, k), &v, 1, &n) != PM_OK || n != 1))
		pm__x_decline(x, "operand %zu is no constant number", k);
	return v;
}

static double mel(double hertz)
{
	return 2595 * log10(1 + hertz / 700);
}

/* One column of triangular weights per band: up from `low` to `mid`, down to `high`, all in bins. The bins
 * are rounded down to whole numbers, as ONNX defines them. */
static void mel_band(double *w, int64_t bins, int64_t bands, int64_t band, int64_t low, int64_t mid,
		     int64_t high)
{
	int64_t j;

	for (j = low; j <= mid && j < bins; j++)
		if (j >= 0)
			w[j * bands + band] = mid > low ? (double)(j - low) / (double)(mid - low) : 1;
	for (j = mid; j < high && j < bins; j++)
		if (j >= 0)
			w[j * bands + band] = (double)(high - j) / (double)(high - mid);
}

/* MelWeightMatrix depends on nothing but constants: it is one. */
static PmStatus expand_mel(PmDraft *d, PmErr *err)
{
	enum { MAX_ELEMENTS = 1 << 24 };
	PmExpand x = { d, err, PM_OK };
	double v[5], *w, low, step, length;
	int64_t dims[2], *edge, k, to;
	PmType t;
	PmValue out = { 0 };
	unsigned char *bytes;
	int dtype;

	pm__x_counts(&x, 5, 5, 1);
	for (k = 0; k < 5; k++)
		v[k] = number(&x, (size_t)k);
	to = pm__x_i(&x, "output_datatype", 1);
	dtype = to > 0 && to < 256 ? pm_dtype_from_onnx((int)to) : -1;
	if (!x.st && !pm_dtype_is_float(dtype))
		pm__x_decline(&x, "its output_datatype %lld is no floating-point type we hold",
			      (long long)to);
	if (!x.st && !(v[0] >= 1 && v[1] >= 1 && v[2] > 0 && v[3] >= 0 && v[4] > v[3] &&
		       v[0] * (v[1] / 2 + 1) <= MAX_ELEMENTS))
		pm__x_decline(&x, "its bands do not ascend from 0, or it has more than %d elements",
			      (int)MAX_ELEMENTS);
	if (x.st)
		return x.st;
	dims[0] = (int64_t)v[1] / 2 + 1;
	dims[1] = (int64_t)v[0];
	edge = pm_xcalloc((size_t)dims[1] + 2, sizeof *edge);
	w = pm_xcalloc((size_t)(dims[0] * dims[1]), sizeof *w);
	bytes = pm_xcalloc((size_t)(dims[0] * dims[1]), 8);
	low = mel(v[3]);
	length = floor(v[1]) + 1;
	step = (mel(v[4]) - low) / (double)(dims[1] + 2);
	for (k = 0; k < dims[1] + 2; k++)
		edge[k] = (int64_t)floor(length * (700 * (pow(10, ((double)k * step + low) / 2595) - 1)) /
					 floor(v[2]));
	for (k = 0; k < dims[1]; k++)
		mel_band(w, dims[0], dims[1], k, edge[k], edge[k + 1], edge[k + 2]);
	for (k = 0; k < dims[0] * dims[1]; k++)
		pm__encode_element(dtype, w[k], bytes + (size_t)k * pm_dtype_size(dtype));
	t = pm_type((PmDType)dtype, 2, dims);
	x.st = pm_graph_add_const(d->g, NULL, &t,
				  pm_blob_copy(bytes, (size_t)(dims[0] * dims[1]) * pm_dtype_size(dtype)),
				  &out, err);
	free(edge);
	free(w);
	free(bytes);
	pm__draft_eat(d, 0);
	pm__x_result(&x, 0, out);
	return x.st;
}

/* ---- AffineGrid ---- */

/* The centres (or corners) of the cells of [-1, 1] in each axis, the innermost axis first, and a 1: rows of
 * n + 1 numbers. */
static PmBlob *base_grid(const int64_t *size, int n, int64_t points, int corners, int dtype)
{
	size_t width = pm_dtype_size(dtype), at = 0;
	unsigned char *bytes = pm_xcalloc((size_t)points * (size_t)(n + 1) + 1, 8);
	PmBlob *b;
	int64_t i;
	int d;

	for (i = 0; i < points; i++) {
		int64_t rest = i;

		for (d = n - 1; d >= 0; d--, at += width) {
			double k = (double)(rest % size[d]), s = (double)size[d];

			pm__encode_element(dtype,
					   !corners ? (2 * k + 1) / s - 1 : (s > 1 ? 2 * k / (s - 1) - 1 : 0),
					   bytes + at);
			rest /= size[d];
		}
		pm__encode_element(dtype, 1, bytes + at);
		at += width;
	}
	b = pm_blob_copy(bytes, at);
	free(bytes);
	return b;
}

/* AffineGrid: a constant grid times the transposed matrices. */
static PmStatus expand_affine_grid(PmDraft *d, PmErr *err)
{
	enum { MAX_POINTS = 1 << 22 };
	PmExpand x = { d, err, PM_OK };
	const PmType *t = pm__draft_type(d, 0);
	int64_t *size = NULL, points = 1, shape[PM_MAX_RANK] = { 0 }, dims[2];
	size_t n_size = 0;
	int present, n, k;
	PmValue grid = { 0 }, y;
	PmType type;

	pm__x_counts(&x, 2, 2, 1);
	if (!x.st)
		x.st = pm__draft_operand_ints(d, 1, "size", &size, &n_size, &present, err);
	n = (int)n_size - 2;
	if (!x.st && (n_size < 4 || n_size > 5 || t->rank != 3 || t->dim[1] != n || t->dim[2] != n + 1 ||
		      !pm_dtype_is_float(t->dtype)))
		pm__x_fail(
			&x, PM_E_SHAPE,
			"%s needs a size of 4 or 5 numbers and matrices of 2 by 3 or 3 by 4; fix the model.",
			d->where.s);
	for (k = 0; k < n && !x.st; k++) {
		shape[k + 1] = size[k + 2];
		if (size[k + 2] < 1 || size[k + 2] > MAX_POINTS || (points *= size[k + 2]) > MAX_POINTS)
			pm__x_decline(&x, "its grid does not have from 1 to %d points", (int)MAX_POINTS);
	}
	if (x.st)
		return x.st;
	dims[0] = points;
	dims[1] = n + 1;
	type = pm_type((PmDType)t->dtype, 2, dims);
	x.st = pm_graph_add_const(
		d->g, NULL, &type,
		base_grid(size + 2, n, points, pm__x_i(&x, "align_corners", 0) != 0, t->dtype), &grid, err);
	y = pm__x_op2(&x, PM_OP_MatMul, grid, pm__x_swapped(&x, d->in[0]));
	shape[n + 1] = n;
	y = pm__x_op2(&x, PM_OP_Reshape, y, pm__x_ints(&x, shape, (size_t)n + 2));
	pm__draft_eat(d, 1);
	pm__x_result(&x, 0, y);
	return x.st;
}

/* ---- caches ---- */

/* TensorScatter: `update` is written into `past` along an axis, from write_indices[batch] on. */
static PmStatus expand_tensor_scatter(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	const PmType t = *pm__draft_type(d, 0), u = d->n_in > 1 ? *pm__draft_type(d, 1) : t;
	const char *mode = pm__x_s(&x, "mode", "linear");
	int64_t axis = pm__x_i(&x, "axis", -2), limit, dims[PM_MAX_RANK], *steps, k;
	PmValue at, in[3];
	PmNode n;

	pm__x_counts(&x, 2, 3, 1);
	if (!x.st)
		x.st = pm__draft_axis(d, &axis, t.rank, 0, err);
	if (!x.st && (axis == 0 || u.rank != t.rank || t.rank > PM_MAX_RANK))
		pm__x_fail(&x, PM_E_SHAPE,
			   "The cache and the update of %s differ in rank, or the axis is the batch.",
			   d->where.s);
	if (!x.st && strcmp(mode, "linear") && strcmp(mode, "circular"))
		pm__x_decline(&x, "its mode '%.40s' is not linear or circular", mode);
	for (k = 0; k < u.rank && !x.st; k++)
		dims[k] = pm__x_dim(&x, d->in[1], (int)k, "the shape of the update");
	limit = pm__x_dim(&x, d->in[0], (int)axis, "the length of the cache");
	if (!x.st && (dims[axis] > limit || dims[axis] > INT32_MAX))
		pm__x_fail(&x, PM_E_SHAPE, "The update of %s is longer than its cache.", d->where.s);
	if (x.st)
		return x.st;
	steps = pm_xcalloc((size_t)dims[axis] + 1, sizeof *steps);
	for (k = 0; k < dims[axis]; k++)
		steps[k] = k;
	{
		int64_t shape[PM_MAX_RANK], batch[PM_MAX_RANK];

		for (k = 0; k < u.rank; k++) {
			shape[k] = k == axis ? dims[k] : 1;
			batch[k] = k == 0 ? dims[k] : 1;
		}
		at = pm__x_int_tensor(&x, steps, u.rank, shape);
		free(steps);
		if (pm__x_in(&x, 2).id)
			at = pm__x_op2(&x, PM_OP_Add, at,
				       pm__x_reshape(&x, pm__x_cast(&x, d->in[2], PM_I64), batch, u.rank));
	}
	if (strcmp(mode, "circular") == 0)
		at = pm__x_op2(&x, PM_OP_Mod, at, pm__x_scalar(&x, PM_I64, (double)limit));
	in[0] = d->in[0];
	in[1] = pm__x_expand(&x, at, dims, u.rank);
	in[2] = d->in[1];
	n = pm__x_open(&x, PM_OP_ScatterElements, in, 3, 1);
	if (!x.st)
		pm__x_set(&x, pm_node_set_i(d->g, n, "axis", axis, err));
	pm__x_result(&x, 0, pm__x_close(&x, n));
	return x.st;
}

const PmNormRow pm__expand_nn_rows[] = {
	{ "MeanVarianceNormalization", PM_OP_Identity, expand_mvn, "axes", 0 },
	{ "Swish", PM_OP_Identity, expand_swish, "alpha", 0 },
	{ "MaxUnpool", PM_OP_Identity, expand_max_unpool, "kernel_shape strides pads", 1 << 2 },
	{ "STFT", PM_OP_Identity, expand_stft, "onesided", 1 << 1 | 1 << 3 },
	{ "MelWeightMatrix", PM_OP_Identity, expand_mel, "output_datatype", 0x1f },
	{ "AffineGrid", PM_OP_Identity, expand_affine_grid, "align_corners", 1 << 1 },
	{ "TensorScatter", PM_OP_Identity, expand_tensor_scatter, "axis mode", 0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
