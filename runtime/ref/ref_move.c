/* SPDX-License-Identifier: Apache-2.0 */
/* ref_move.c - operators that move elements: every one is a few box copies between strided places. */
#include "runtime/ref/ref_priv.h"

#include <string.h>

/* A dense box over the whole of `t`, on both sides. */
static PmRefCopy whole(const PmType *t)
{
	PmRefCopy box;
	int d;

	memset(&box, 0, sizeof box);
	box.rank = t->rank;
	for (d = 0; d < t->rank; d++)
		box.dim[d] = t->dim[d];
	pm__ref_strides(t, box.to_stride);
	pm__ref_strides(t, box.from_stride);
	return box;
}

PmStatus pm__ref_identity(const PmRefCall *c, PmErr *err)
{
	PmRefCopy box = whole(&c->out[0].type);

	(void)err;
	pm__ref_copy(&c->out[0], &c->in[0], &box);
	return PM_OK;
}

/* The bits of each element, rounded to its type, as those of another type. */
PmStatus pm__ref_bit_cast(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	PmRefTensor *y = &c->out[0];
	unsigned char bits[8];

	(void)err;
	for (int64_t k = 0; k < x->numel; k++) {
		if (x->f)
			pm_float_store(x->type.dtype, bits, x->f[k]);
		else
			pm_int_store(x->type.dtype, bits, x->i[k]);
		if (y->f)
			y->f[k] = pm_float_load(y->type.dtype, bits);
		else
			y->i[k] = pm_int_load(y->type.dtype, bits);
	}
	return PM_OK;
}

/* Reshape, Flatten, Squeeze, Unsqueeze: inference found the dimensions, the elements stay in order. */
PmStatus pm__ref_reshape(const PmRefCall *c, PmErr *err)
{
	if (c->in[0].numel != c->out[0].numel)
		return pm__ref_fail(c, err, PM_E_SHAPE, "%lld elements cannot take a shape of %lld.",
				    (long long)c->in[0].numel, (long long)c->out[0].numel);
	return pm__ref_identity(c, err);
}

PmStatus pm__ref_transpose(const PmRefCall *c, PmErr *err)
{
	PmRefCopy box = whole(&c->out[0].type);
	int64_t own[PM_MAX_RANK];
	const int64_t *perm;
	size_t n = pm_node_ints(c->g, c->node, "perm", &perm);
	int d, rank = c->in[0].type.rank;

	if (n != (size_t)rank)
		return pm__ref_fail(c, err, PM_E_INVALID, "perm has %zu entries for rank %d.", n, rank);
	pm__ref_strides(&c->in[0].type, own);
	for (d = 0; d < rank; d++) {
		if (perm[d] < 0 || perm[d] >= rank)
			return pm__ref_fail(c, err, PM_E_INVALID, "perm has %lld, but the rank is %d.",
					    (long long)perm[d], rank);
		box.from_stride[d] = own[perm[d]];
	}
	pm__ref_copy(&c->out[0], &c->in[0], &box);
	return PM_OK;
}

PmStatus pm__ref_expand(const PmRefCall *c, PmErr *err)
{
	PmRefCopy box = whole(&c->out[0].type);

	(void)err;
	pm__ref_broadcast_strides(&c->in[0].type, &c->out[0].type, box.from_stride);
	pm__ref_copy(&c->out[0], &c->in[0], &box);
	return PM_OK;
}

PmStatus pm__ref_slice(const PmRefCall *c, PmErr *err)
{
	const PmType *t = &c->in[0].type;
	PmRefCopy box = whole(&c->out[0].type);
	const int64_t *starts, *axes, *steps;
	size_t n = pm_node_ints(c->g, c->node, "starts", &starts), k;

	if (pm_node_ints(c->g, c->node, "axes", &axes) != n ||
	    pm_node_ints(c->g, c->node, "steps", &steps) != n)
		return pm__ref_fail(c, err, PM_E_INVALID, "starts, axes and steps must have equal lengths.");
	pm__ref_strides(t, box.from_stride);
	for (k = 0; k < n; k++) {
		int64_t axis = axes[k], first = starts[k], dim, last;

		if (axis < 0 || axis >= t->rank || !steps[k])
			return pm__ref_fail(c, err, PM_E_INVALID, "axis %lld with step %lld is not possible.",
					    (long long)axis, (long long)steps[k]);
		dim = t->dim[axis];
		last = steps[k] < 0 ? dim - 1 : dim;
		if (first < 0)
			first += dim;
		first = first < 0 ? 0 : (first > last ? last : first);
		box.from_offset += first * box.from_stride[axis];
		/* A step that no second element takes may be huge. */
		box.from_stride[axis] = box.dim[axis] > 1 ? steps[k] * box.from_stride[axis] : 0;
	}
	pm__ref_copy(&c->out[0], &c->in[0], &box);
	return PM_OK;
}

PmStatus pm__ref_split(const PmRefCall *c, PmErr *err)
{
	int64_t axis = pm_node_i(c->g, c->node, "axis", 0), at = 0, stride[PM_MAX_RANK];
	const PmType *t = &c->in[0].type;
	size_t k;
	int d;

	pm__ref_strides(t, stride);
	for (k = 0; k < c->n_out; k++) {
		PmRefCopy box = whole(&c->out[k].type);

		if (at + c->out[k].type.dim[axis] > t->dim[axis])
			return pm__ref_fail(c, err, PM_E_SHAPE, "the parts are longer than axis %lld.",
					    (long long)axis);
		for (d = 0; d < t->rank; d++)
			box.from_stride[d] = stride[d];
		box.from_offset = at * stride[axis];
		at += c->out[k].type.dim[axis];
		pm__ref_copy(&c->out[k], &c->in[0], &box);
	}
	return PM_OK;
}

PmStatus pm__ref_concat(const PmRefCall *c, PmErr *err)
{
	int64_t axis = pm_node_i(c->g, c->node, "axis", 0), at = 0, stride[PM_MAX_RANK];
	const PmType *t = &c->out[0].type;
	size_t k;
	int d;

	pm__ref_strides(t, stride);
	for (k = 0; k < c->n_in; k++) {
		PmRefCopy box = whole(&c->in[k].type);

		if (at + c->in[k].type.dim[axis] > t->dim[axis])
			return pm__ref_fail(c, err, PM_E_SHAPE, "the operands are longer than axis %lld.",
					    (long long)axis);
		for (d = 0; d < t->rank; d++)
			box.to_stride[d] = stride[d];
		box.to_offset = at * stride[axis];
		at += c->in[k].type.dim[axis];
		pm__ref_copy(&c->out[0], &c->in[k], &box);
	}
	return PM_OK;
}

PmStatus pm__ref_gather(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *data = &c->in[0], *index = &c->in[1];
	int axis = (int)pm_node_i(c->g, c->node, "axis", 0);
	int64_t dim = data->type.dim[axis], inner = pm__ref_extent(&data->type, axis + 1, data->type.rank), k;
	PmRefCopy box;

	memset(&box, 0, sizeof box);
	box.rank = 2;
	box.dim[0] = pm__ref_extent(&data->type, 0, axis);
	box.dim[1] = inner;
	box.to_stride[0] = index->numel * inner;
	box.from_stride[0] = dim * inner;
	box.to_stride[1] = box.from_stride[1] = 1;
	for (k = 0; k < index->numel; k++) {
		int64_t at = index->i[k];

		if (at < -dim || at >= dim)
			return pm__ref_fail(c, err, PM_E_INVALID,
					    "index %lld (element %lld of '%s') is outside axis %d of %lld "
					    "entries; supply indices in range.",
					    (long long)at, (long long)k,
					    pm_value_name(c->g, pm_node_in(c->g, c->node, 1)), axis,
					    (long long)dim);
		box.from_offset = (at < 0 ? at + dim : at) * inner;
		box.to_offset = k * inner;
		pm__ref_copy(&c->out[0], data, &box);
	}
	return PM_OK;
}

/* Where coordinate `at` of the padded axis reads from; -1 = the constant. */
static int64_t pad_source(char mode, int64_t at, int64_t dim)
{
	int64_t period;

	if (at >= 0 && at < dim)
		return at;
	if (mode == 'c' || dim <= 0)
		return -1;
	if (mode == 'e')
		return at < 0 ? 0 : dim - 1;
	if (dim == 1)
		return 0;
	period = 2 * (dim - 1);
	at %= period;
	if (at < 0)
		at += period;
	return at < dim ? at : period - at;
}

PmStatus pm__ref_pad(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *data = &c->in[0], *value = pm__ref_in(c, 1);
	const char *mode = pm_node_s(c->g, c->node, "mode", "constant");
	PmRefTensor *out = &c->out[0];
	int rank = data->type.rank, d;
	int64_t stride[PM_MAX_RANK], k = 0;
	const int64_t *pads;
	PmRefWalk w;

	if (strcmp(mode, "constant") && strcmp(mode, "edge") && strcmp(mode, "reflect"))
		return pm__ref_fail(c, err, PM_E_UNSUPPORTED,
				    "mode '%s' is not known; use constant, edge or reflect.", mode);
	if (pm_node_ints(c->g, c->node, "pads", &pads) != 2 * (size_t)rank)
		return pm__ref_fail(c, err, PM_E_INVALID, "pads must have two entries per axis.");
	if (mode[0] != 'c')
		for (d = 0; d < rank; d++)
			if (!data->type.dim[d] && out->numel)
				return pm__ref_fail(c, err, PM_E_INVALID, "axis %d is empty: nothing to %s.",
						    d, mode);
	if (!out->numel)
		return PM_OK;
	pm__ref_strides(&data->type, stride);
	w.rank = rank;
	for (d = 0; d < rank; d++) {
		w.dim[d] = out->type.dim[d];
		w.at[d] = 0;
	}
	do {
		int64_t from = 0, s;

		for (d = 0; d < rank && from >= 0; d++) {
			s = pad_source(mode[0], w.at[d] - pads[d], data->type.dim[d]);
			from = s < 0 ? -1 : from + s * stride[d];
		}
		if (from >= 0 && out->f)
			out->f[k] = data->f[from];
		else if (from >= 0)
			out->i[k] = data->i[from];
		else if (value && out->f)
			out->f[k] = value->f[0];
		else if (value)
			out->i[k] = value->i[0];
		k++;
	} while (pm__ref_walk_next(&w));
	return PM_OK;
}

/* Each axis is walked as (repeat, coordinate), the first with stride 0 in the operand. */
PmStatus pm__ref_tile(const PmRefCall *c, PmErr *err)
{
	const PmType *from = &c->in[0].type, *to = &c->out[0].type;
	int64_t fs[PM_MAX_RANK], ts[PM_MAX_RANK];
	PmRefCopy box;
	int d;

	if (!c->out[0].numel)
		return PM_OK;
	memset(&box, 0, sizeof box);
	box.rank = 2 * from->rank;
	pm__ref_strides(from, fs);
	pm__ref_strides(to, ts);
	for (d = 0; d < from->rank; d++) {
		if (to->dim[d] % from->dim[d])
			return pm__ref_fail(c, err, PM_E_SHAPE, "axis %d of the result is no multiple.", d);
		box.dim[2 * d] = to->dim[d] / from->dim[d];
		box.to_stride[2 * d] = from->dim[d] * ts[d];
		box.dim[2 * d + 1] = from->dim[d];
		box.to_stride[2 * d + 1] = ts[d];
		box.from_stride[2 * d + 1] = fs[d];
	}
	pm__ref_copy(&c->out[0], &c->in[0], &box);
	return PM_OK;
}

PmStatus pm__ref_shape(const PmRefCall *c, PmErr *err)
{
	const PmType *t = &c->in[0].type;
	int64_t start = pm_node_i(c->g, c->node, "start", 0), k;

	if (start < 0)
		start += t->rank;
	start = start < 0 ? 0 : start;
	if (start + c->out[0].numel > t->rank)
		return pm__ref_fail(c, err, PM_E_SHAPE, "start is beyond rank %d.", t->rank);
	for (k = 0; k < c->out[0].numel; k++)
		c->out[0].i[k] = t->dim[start + k];
	return PM_OK;
}

PmStatus pm__ref_size(const PmRefCall *c, PmErr *err)
{
	(void)err;
	c->out[0].i[0] = c->in[0].numel;
	return PM_OK;
}

/* Keeps what is on one side of a diagonal; the rest stays zero. */
PmStatus pm__ref_trilu(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *diagonal = pm__ref_in(c, 1);
	int64_t cols = x->type.dim[x->type.rank - 1], rows = x->type.dim[x->type.rank - 2], k, off;
	int upper = pm_node_i(c->g, c->node, "upper", 1) != 0;
	double shift = diagonal && diagonal->numel ? (double)diagonal->i[0] : 0;

	(void)err;
	for (k = 0; k < x->numel; k++) {
		off = k % cols - k / cols % rows;
		if (upper ? (double)off < shift : (double)off > shift)
			continue;
		if (x->f)
			c->out[0].f[k] = x->f[k];
		else
			c->out[0].i[k] = x->i[k];
	}
	return PM_OK;
}

PmStatus pm__ref_constant_of_shape(const PmRefCall *c, PmErr *err)
{
	const PmAttr *a = pm_node_attr(c->g, c->node, "value");
	PmRefTensor *out = &c->out[0];
	PmTensor one;
	int64_t k;

	if (!pm_tensor_of_attr(&one, a) || one.type.dtype != out->type.dtype)
		return pm__ref_fail(c, err, PM_E_INVALID,
				    "attribute 'value' must be a tensor of one element.");
	for (k = 0; k < out->numel; k++) {
		if (out->f)
			out->f[k] = pm_tensor_get(&one, 0);
		else
			out->i[k] = pm_tensor_get_i(&one, 0);
	}
	return PM_OK;
}

/* Both split space into (row, column, offset row, offset column) and depth into (block, channel) or, in CRD
 * mode, (channel, block): one copy over six axes. */
PmStatus pm__ref_depth_to_space(const PmRefCall *c, PmErr *err)
{
	int to_space = pm_node_op(c->g, c->node) == PM_OP_DepthToSpace;
	int crd = strcmp(pm_node_s(c->g, c->node, "mode", "DCR"), "CRD") == 0;
	const PmType *deep = to_space ? &c->in[0].type : &c->out[0].type;
	int64_t b = pm_node_i(c->g, c->node, "blocksize", 1), ch, h, w, d[6], s[6];
	PmRefCopy box;

	if (b < 1 || deep->rank != 4 || deep->dim[1] % (b * b))
		return pm__ref_fail(c, err, PM_E_SHAPE, "blocks of %lld do not fit the channels.",
				    (long long)b);
	ch = deep->dim[1] / (b * b);
	h = deep->dim[2];
	w = deep->dim[3];
	memset(&box, 0, sizeof box);
	box.rank = 6; /* n, c, block row, block column, h, w */
	memcpy(box.dim, (int64_t[]){ deep->dim[0], ch, b, b, h, w }, sizeof d);
	memcpy(d,
	       (int64_t[]){ ch * b * b * h * w, (crd ? b * b : 1) * h * w, (crd ? b : b * ch) * h * w,
			    (crd ? 1 : ch) * h * w, w, 1 },
	       sizeof d);
	memcpy(s, (int64_t[]){ ch * b * b * h * w, b * b * h * w, w * b, 1, b * w * b, b }, sizeof s);
	memcpy(box.from_stride, to_space ? d : s, sizeof d);
	memcpy(box.to_stride, to_space ? s : d, sizeof d);
	pm__ref_copy(&c->out[0], &c->in[0], &box);
	return PM_OK;
}
