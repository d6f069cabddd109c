/* SPDX-License-Identifier: Apache-2.0 */
/* infer_nn.c - shape rules of contractions, convolution, pooling and normalisation. */
#include "ir/core/onnx_dtype.h"
#include "ir/infer/infer_priv.h"

#include <string.h>

enum { MAX_SPATIAL = 3 };

/* ---- contractions ---- */

static PmStatus contract(PmInfer *c, PmDim a, PmDim b, PmErr *err)
{
	if (pm__dims_agree(a, b))
		return PM_OK;
	return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "the contracted dimensions differ (%lld and %lld)",
			      (long long)a, (long long)b);
}

PmStatus infer_matmul(PmInfer *c, PmErr *err)
{
	const PmType *a = pm__in(c, 0), *b = pm__in(c, 1);
	PmType *o = &c->out[0];
	int i, batch_a, batch_b, batch;
	PmStatus st = pm__same_dtype(c, 0, 1, err);

	if (st)
		return st;
	if (a->rank == 0 || b->rank == 0)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "an operand is a scalar");
	st = contract(c, a->dim[a->rank - 1], b->dim[b->rank > 1 ? b->rank - 2 : 0], err);
	if (st)
		return st;
	*o = pm_type((PmDType)a->dtype, 0, NULL);
	batch_a = a->rank > 2 ? a->rank - 2 : 0;
	batch_b = b->rank > 2 ? b->rank - 2 : 0;
	batch = batch_a > batch_b ? batch_a : batch_b;
	for (i = 0; i < batch; i++) {
		PmDim da = i < batch - batch_a ? 1 : a->dim[i - (batch - batch_a)];
		PmDim db = i < batch - batch_b ? 1 : b->dim[i - (batch - batch_b)];

		if (!pm__broadcast_dim(da, db, &o->dim[i]))
			return pm__infer_fail(
				c, PM_E_SHAPE, 0, 1, err,
				"the batch dimensions cannot be broadcast together (%lld against %lld)",
				(long long)da, (long long)db);
	}
	o->rank = batch;
	if (a->rank > 1)
		o->dim[o->rank++] = a->dim[a->rank - 2];
	if (b->rank > 1)
		o->dim[o->rank++] = b->dim[b->rank - 1];
	return PM_OK;
}

PmStatus infer_gemm(PmInfer *c, PmErr *err)
{
	const PmType *a = pm__in(c, 0), *b = pm__in(c, 1);
	int ta = pm_node_i(c->g, c->n, "transA", 0) != 0, tb = pm_node_i(c->g, c->n, "transB", 0) != 0;
	PmType r;
	int i;
	PmStatus st = pm__same_dtype(c, 0, 1, err);

	if (st)
		return st;
	if (a->rank != 2 || b->rank != 2)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "both factors must be matrices");
	st = contract(c, a->dim[!ta], b->dim[tb], err);
	if (st)
		return st;
	c->out[0] = *a;
	c->out[0].dim[0] = a->dim[ta];
	c->out[0].dim[1] = b->dim[!tb];
	if (!pm__in_given(c, 2))
		return PM_OK;
	st = pm__same_dtype(c, 0, 2, err);
	if (st)
		return st;
	r = *pm__in(c, 2);
	for (i = 1; i <= r.rank && i <= 2; i++) {
		if (r.dim[r.rank - i] != 1 && !pm__dims_agree(r.dim[r.rank - i], c->out[0].dim[2 - i]))
			break;
	}
	if (r.rank > 2 || i <= r.rank)
		return pm__infer_fail(c, PM_E_SHAPE, 1, 2, err,
				      "operand 2 cannot be broadcast to the product, which is %lld by %lld",
				      (long long)c->out[0].dim[0], (long long)c->out[0].dim[1]);
	return PM_OK;
}

/* ---- windows ---- */

typedef struct Window {
	const int64_t *strides, *pads, *dilations;
	int n; /* spatial axes */
	int ceil_mode;
} Window;

static PmStatus read_window(PmInfer *c, Window *w, PmErr *err)
{
	int rank = pm__in(c, 0)->rank;
	PmStatus st;

	if (rank < 3 || rank > MAX_SPATIAL + 2)
		return pm__infer_fail(
			c, PM_E_SHAPE, 0, -1, err,
			"the input must have a batch, a channel and one to three spatial dimensions");
	w->n = rank - 2;
	w->ceil_mode = pm_node_i(c->g, c->n, "ceil_mode", 0) != 0;
	st = pm__attr_ints_n(c, "strides", (size_t)w->n, 1, &w->strides, err);
	if (!st)
		st = pm__attr_ints_n(c, "pads", (size_t)w->n * 2, 0, &w->pads, err);
	if (!st)
		st = pm__attr_ints_n(c, "dilations", (size_t)w->n, 1, &w->dilations, err);
	return st;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* Size of spatial axis i after sliding a kernel of k elements over x. */
static PmStatus slide(PmInfer *c, const Window *w, int i, PmDim x, PmDim k, PmDim *out, PmErr *err)
{
	int64_t before = w->pads[i], after = w->pads[w->n + i], s = w->strides[i], reach, room, both, steps;

	if (k == 0)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "the kernel is empty along spatial axis %d",
				      i);
	*out = PM_DIM_UNKNOWN;
	if (k < 0)
		return PM_OK;
	if (!pm_mul_i64(k - 1, w->dilations[i], &reach) || !pm_add_i64(reach, 1, &reach) ||
	    !pm_add_i64(before, after, &both))
		return pm__infer_fail(c, PM_E_LIMIT, 0, -1, err,
				      "the window of spatial axis %d does not fit in 63 bits", i);
	if (x < 0) {
		if (s == 1 && both == reach - 1)
			*out = x;
		return PM_OK;
	}
	if (!pm_add_i64(x, both, &room))
		return pm__infer_fail(c, PM_E_LIMIT, 0, -1, err,
				      "the padded input of spatial axis %d does not fit in 63 bits", i);
	room -= reach;
	steps = floor_div(room, s);
	if (w->ceil_mode) {
		steps = -floor_div(-room, s);
		/* The last window may hang over the end, but must start inside the input or the padding
		 * before it. */
		if (x + before == 0 || steps > (x + before - 1) / s)
			steps--;
	}
	if (steps < 0)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
				      "the kernel reaches over %lld elements of spatial axis %d, more than "
				      "the padded input has",
				      (long long)reach, i);
	*out = steps + 1;
	return PM_OK;
}

PmStatus infer_conv(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *k = pm__in(c, 1);
	int64_t group, channels;
	Window w;
	int i;
	PmStatus st = pm__same_dtype(c, 0, 1, err);

	if (!st)
		st = read_window(c, &w, err);
	if (!st)
		st = pm__attr_int(c, "group", 1, INT64_MAX, &group, err);
	if (st)
		return st;
	if (k->rank != x->rank)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "input and weights differ in rank");
	if (k->dim[1] >= 0 && x->dim[1] >= 0 &&
	    (!pm_mul_i64(k->dim[1], group, &channels) || channels != x->dim[1]))
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "the weights' channels times %lld groups are not the input's channels",
				      (long long)group);
	if (k->dim[0] >= 0 && k->dim[0] % group)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "the number of filters is no multiple of the %lld groups",
				      (long long)group);
	c->out[0] = *x;
	c->out[0].dim[1] = k->dim[0];
	for (i = 0; i < w.n; i++) {
		st = slide(c, &w, i, x->dim[2 + i], k->dim[2 + i], &c->out[0].dim[2 + i], err);
		if (st)
			return st;
	}
	if (!pm__in_given(c, 2))
		return PM_OK;
	if (pm__in(c, 2)->rank != 1 || !pm__dims_agree(pm__in(c, 2)->dim[0], k->dim[0]))
		return pm__infer_fail(c, PM_E_SHAPE, 1, 2, err, "the bias must have one element per filter");
	return pm__same_dtype(c, 0, 2, err);
}

/* Extent of a spatial axis of a transposed convolution; the padding is cut off. */
static PmStatus spread(PmInfer *c, const Window *w, int i, PmDim x, PmDim k, int64_t more, PmDim *out,
		       PmErr *err)
{
	int64_t reach, all, cut;

	*out = PM_DIM_UNKNOWN;
	if (x < 0 || k < 0)
		return PM_OK;
	if (x == 0 || k == 0)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "spatial axis %d is empty", i);
	if (!pm_mul_i64(k - 1, w->dilations[i], &reach) || !pm_mul_i64(x - 1, w->strides[i], &all) ||
	    !pm_add_i64(all, reach, &all) || !pm_add_i64(all, 1, &all) || !pm_add_i64(all, more, &all) ||
	    !pm_add_i64(w->pads[i], w->pads[w->n + i], &cut))
		return pm__infer_fail(c, PM_E_LIMIT, 0, 1, err, "spatial axis %d does not fit in 63 bits", i);
	if (cut > all)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "the padding cuts off more than spatial axis %d has", i);
	*out = all - cut;
	return PM_OK;
}

PmStatus infer_conv_transpose(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *k = pm__in(c, 1);
	const int64_t *more;
	int64_t group, filters;
	Window w;
	int i;
	PmStatus st = pm__same_dtype(c, 0, 1, err);

	if (!st)
		st = read_window(c, &w, err);
	if (!st)
		st = pm__attr_int(c, "group", 1, INT64_MAX, &group, err);
	if (!st)
		st = pm__attr_ints_n(c, "output_padding", (size_t)w.n, 0, &more, err);
	if (st)
		return st;
	if (k->rank != x->rank)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err, "input and weights differ in rank");
	if (!pm__dims_agree(k->dim[0], x->dim[1]) || (x->dim[1] >= 0 && x->dim[1] % group))
		return pm__infer_fail(
			c, PM_E_SHAPE, 0, 1, err,
			"the weights' first dimension is not the input's channels, in %lld groups",
			(long long)group);
	c->out[0] = *x;
	filters = k->dim[1];
	if (filters < 0)
		filters = group == 1 ? filters : PM_DIM_UNKNOWN;
	else if (!pm_mul_i64(filters, group, &filters))
		return pm__infer_fail(c, PM_E_LIMIT, 0, 1, err, "the channels do not fit in 63 bits");
	c->out[0].dim[1] = filters;
	for (i = 0; i < w.n && !st; i++)
		st = spread(c, &w, i, x->dim[2 + i], k->dim[2 + i], more[i], &c->out[0].dim[2 + i], err);
	if (st || !pm__in_given(c, 2))
		return st;
	if (pm__in(c, 2)->rank != 1 || !pm__dims_agree(pm__in(c, 2)->dim[0], filters))
		return pm__infer_fail(c, PM_E_SHAPE, 1, 2, err, "the bias must have one element per filter");
	return pm__same_dtype(c, 0, 2, err);
}

PmStatus infer_pool(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	const int64_t *k;
	Window w;
	int i;
	PmStatus st = read_window(c, &w, err);

	if (!st)
		st = pm__attr_ints_n(c, "kernel_shape", (size_t)w.n, 1, &k, err);
	if (st)
		return st;
	c->out[0] = *x;
	for (i = 0; i < w.n; i++) {
		st = slide(c, &w, i, x->dim[2 + i], k[i], &c->out[0].dim[2 + i], err);
		if (st)
			return st;
	}
	if (c->n_out > 1) {
		c->out[1] = c->out[0];
		c->out[1].dtype = PM_I64;
	}
	return PM_OK;
}

PmStatus infer_global_pool(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	int i;

	if (x->rank < 3)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
				      "the input must have a batch, a channel and spatial dimensions");
	c->out[0] = *x;
	for (i = 2; i < x->rank; i++)
		c->out[0].dim[i] = 1;
	return PM_OK;
}

/* ---- normalisation ---- */

PmStatus infer_layer_norm(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	int64_t axis, stash = pm_node_i(c->g, c->n, "stash_type", 1);
	size_t k;
	int i, dtype = pm_dtype_from_onnx(stash >= 0 && stash < 256 ? (int)stash : 0);
	PmStatus st = pm__attr_int(c, "axis", 0, x->rank - 1, &axis, err);

	if (st)
		return st;
	if (!pm_dtype_is_float(dtype))
		return pm__infer_fail(c, PM_E_UNSUPPORTED, -1, -1, err,
				      "the attribute 'stash_type' is %lld, which is no floating point type",
				      (long long)stash);
	for (k = 1; k < c->n_in; k++) {
		const PmType *t = pm__in(c, k);

		if (!pm__in_given(c, k))
			continue;
		st = pm__same_dtype(c, 0, k, err);
		if (st)
			return st;
		for (i = 0; i < t->rank && t->rank == x->rank - axis; i++) {
			if (!pm__dims_agree(t->dim[i], x->dim[axis + i]))
				break;
		}
		if (t->rank != x->rank - axis || i < t->rank)
			return pm__infer_fail(
				c, PM_E_SHAPE, 0, (int)k, err,
				"operand %zu does not have the shape of the input from axis %lld on", k,
				(long long)axis);
	}
	c->out[0] = *x;
	for (k = 1; k < c->n_out; k++) {
		c->out[k] = *x;
		c->out[k].dtype = dtype;
		for (i = (int)axis; i < x->rank; i++)
			c->out[k].dim[i] = 1;
	}
	return PM_OK;
}

/* The scale broadcasts to the normalised dimensions. */
PmStatus infer_rms_norm(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *s = pm__in(c, 1);
	int64_t axis;
	int i;
	PmStatus st = pm__attr_int(c, "axis", 0, x->rank - 1, &axis, err);

	if (!st)
		st = pm__same_dtype(c, 0, 1, err);
	if (st)
		return st;
	for (i = 1; i <= s->rank && i <= x->rank - axis; i++) {
		if (s->dim[s->rank - i] != 1 && !pm__dims_agree(s->dim[s->rank - i], x->dim[x->rank - i]))
			break;
	}
	if (i <= s->rank)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "the scale cannot be broadcast to the input from axis %lld on",
				      (long long)axis);
	c->out[0] = *x;
	return PM_OK;
}

PmStatus infer_batch_norm(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	int training = pm_node_i(c->g, c->n, "training_mode", 0) != 0;
	PmDim channels = x->rank > 1 ? x->dim[1] : 1;
	size_t k;

	if (x->rank == 0)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "the input is a scalar");
	for (k = 1; k < 5; k++) {
		const PmType *t = pm__in(c, k);

		if (t->rank != 1 || !pm__dims_agree(t->dim[0], channels))
			return pm__infer_fail(c, PM_E_SHAPE, 0, (int)k, err,
					      "operand %zu must have one element per channel", k);
		if (!pm_dtype_is_float(t->dtype))
			return pm__infer_fail(c, PM_E_TYPE, 0, (int)k, err,
					      "operand %zu must be floating point", k);
		channels = pm__dims_meet(channels, t->dim[0]) == PM_DIM_UNKNOWN
				   ? channels
				   : pm__dims_meet(channels, t->dim[0]);
	}
	if (pm__in(c, 1)->dtype != pm__in(c, 2)->dtype)
		return pm__same_dtype(c, 1, 2, err);
	if (pm__in(c, 3)->dtype != pm__in(c, 4)->dtype)
		return pm__same_dtype(c, 3, 4, err);
	if (training ? c->n_out == 2 : c->n_out != 1)
		return pm__infer_fail(c, PM_E_INVALID, -1, -1, err,
				      "there are %zu results where training_mode %d allows %s", c->n_out,
				      training, training ? "1 or 3" : "1");
	c->out[0] = *x;
	if (x->rank > 1)
		c->out[0].dim[1] = channels;
	for (k = 1; k < c->n_out; k++) {
		c->out[k] = *pm__in(c, 3);
		c->out[k].dim[0] = channels;
	}
	return PM_OK;
}

/* Scale and bias have one element per channel; groups of channels must divide them. */
PmStatus infer_group_norm(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	int64_t groups = 1;
	size_t k;
	PmStatus st = PM_OK;

	if (x->rank < 2)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "the input must have a batch and a channel");
	if (c->op == PM_OP_GroupNormalization)
		st = pm__attr_int(c, "num_groups", 1, INT64_MAX, &groups, err);
	for (k = 1; k < 3 && !st; k++) {
		st = pm__same_dtype(c, 0, k, err);
		if (!st && (pm__in(c, k)->rank != 1 || !pm__dims_agree(pm__in(c, k)->dim[0], x->dim[1])))
			st = pm__infer_fail(c, PM_E_SHAPE, 0, (int)k, err,
					    "operand %zu must have one element per channel", k);
	}
	if (!st && x->dim[1] >= 0 && x->dim[1] % groups)
		st = pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "%lld groups do not divide the channels",
				    (long long)groups);
	c->out[0] = *x;
	return st;
}

/* ---- Fourier transform ---- */

/* Elements that a constant dft_length operand asks for; -1 when it is not known, 0 when there is none. */
static PmStatus dft_length(PmInfer *c, int64_t *out, PmErr *err)
{
	const PmType *t;
	PmElem e;
	size_t n;

	*out = 0;
	if (!pm__in_given(c, 1))
		return PM_OK;
	t = pm__in(c, 1);
	if (!pm_dtype_is_int(t->dtype) || t->rank > 1 || (t->rank == 1 && !pm__dims_agree(t->dim[0], 1)))
		return pm__infer_fail(c, PM_E_TYPE, 0, 1, err, "the length must be one integer");
	*out = -1;
	if (pm__in_elems(c, 1, &e, 1, &n) || n != 1 || e.kind != PM_ELEM_INT)
		return PM_OK;
	if (e.v < 1 || e.v > INT32_MAX)
		return pm__infer_fail(c, PM_E_INVALID, 0, 1, err, "the length is %lld, outside 1 to %d",
				      (long long)e.v, INT32_MAX);
	*out = e.v;
	return PM_OK;
}

PmStatus infer_dft(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	int64_t axis, length, one = pm_node_i(c->g, c->n, "onesided", 0);
	PmDim d;
	PmStatus st = pm__attr_int(c, "axis", 0, x->rank - 2, &axis, err);

	if (!st)
		st = dft_length(c, &length, err);
	if (st)
		return st;
	if (x->dim[x->rank - 1] >= 0 && x->dim[x->rank - 1] != 1 && x->dim[x->rank - 1] != 2)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
				      "the last dimension must be 1 (real) or 2 (complex)");
	if (one && pm_node_i(c->g, c->n, "inverse", 0))
		return pm__infer_fail(c, PM_E_UNSUPPORTED, 0, -1, err,
				      "an inverse transform of one side is not supported");
	d = length > 0 ? length : length < 0 ? PM_DIM_UNKNOWN : x->dim[axis];
	if (d == 0)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "axis %lld has no elements",
				      (long long)axis);
	if (one)
		d = d < 0 ? PM_DIM_UNKNOWN : d / 2 + 1;
	c->out[0] = *x;
	c->out[0].dim[axis] = d;
	c->out[0].dim[x->rank - 1] = 2;
	return PM_OK;
}
