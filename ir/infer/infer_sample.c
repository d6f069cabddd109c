/* SPDX-License-Identifier: Apache-2.0 */
/* infer_sample.c - shape rules of sampling between elements: GridSample, RoiAlign, Col2Im; and of Det. */
#include "ir/infer/infer_priv.h"

#include <string.h>

enum { MAX_SPATIAL = 3 };

/* A string attribute must be one of the words, which end with NULL. */
static PmStatus one_of(PmInfer *c, const char *name, const char *const *words, PmErr *err)
{
	const char *s = pm_node_s(c->g, c->n, name, "");
	int k;

	for (k = 0; words[k]; k++)
		if (strcmp(s, words[k]) == 0)
			return PM_OK;
	return pm__infer_fail(c, PM_E_UNSUPPORTED, -1, -1, err,
			      "the attribute '%s' is '%.40s', which is not known", name, s);
}

PmStatus infer_grid_sample(PmInfer *c, PmErr *err)
{
	static const char *const modes[] = { "linear", "nearest", "cubic", NULL }, *const paddings[] = {
		"zeros", "border", "reflection", NULL
	};
	const PmType *x = pm__in(c, 0), *grid = pm__in(c, 1);
	int k, n = x->rank - 2;
	PmStatus st = one_of(c, "mode", modes, err);

	if (!st)
		st = one_of(c, "padding_mode", paddings, err);
	if (st)
		return st;
	if (n < 1 || n > MAX_SPATIAL || grid->rank != x->rank)
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "the input and the grid must both have 3 to 5 dimensions");
	if (!pm_dtype_is_float(grid->dtype))
		return pm__infer_fail(c, PM_E_TYPE, 0, 1, err, "the grid must be floating point");
	if (!pm__dims_agree(x->dim[0], grid->dim[0]) || !pm__dims_agree(grid->dim[n + 1], n))
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "the grid must have the batch of the input and end with %d coordinates",
				      n);
	for (k = 2; k < x->rank; k++)
		if (x->dim[k] == 0)
			return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
					      "there is nothing to sample along axis %d", k);
	c->out[0] = *x;
	for (k = 0; k < n; k++)
		c->out[0].dim[k + 2] = grid->dim[k + 1];
	return PM_OK;
}

PmStatus infer_roi_align(PmInfer *c, PmErr *err)
{
	static const char *const modes[] = { "avg", "max", NULL }, *const coords[] = { "half_pixel",
										       "output_half_pixel",
										       NULL };
	const PmType *x = pm__in(c, 0), *rois = pm__in(c, 1), *batch = pm__in(c, 2);
	int64_t high, wide, ratio;
	PmStatus st = one_of(c, "mode", modes, err);

	if (!st)
		st = one_of(c, "coordinate_transformation_mode", coords, err);
	if (!st)
		st = pm__attr_int(c, "output_height", 1, INT32_MAX, &high, err);
	if (!st)
		st = pm__attr_int(c, "output_width", 1, INT32_MAX, &wide, err);
	if (!st)
		st = pm__attr_int(c, "sampling_ratio", 0, INT32_MAX, &ratio, err);
	if (!st)
		st = pm__same_dtype(c, 0, 1, err);
	if (st)
		return st;
	if (x->rank != 4 || rois->rank != 2 || !pm__dims_agree(rois->dim[1], 4))
		return pm__infer_fail(c, PM_E_SHAPE, 0, 1, err,
				      "the input must have 4 dimensions and the regions 4 numbers each");
	if (!pm_dtype_is_int(batch->dtype) || batch->rank != 1 ||
	    !pm__dims_agree(batch->dim[0], rois->dim[0]))
		return pm__infer_fail(c, PM_E_SHAPE, 1, 2, err,
				      "operand 2 must hold one integer for each region");
	c->out[0] = *x;
	c->out[0].dim[0] = rois->dim[0];
	c->out[0].dim[2] = high;
	c->out[0].dim[3] = wide;
	return PM_OK;
}

/* Positions of a sliding block along a spatial axis of the image; -1 when it does not fit. */
static int64_t positions(int64_t image, int64_t block, int64_t dilation, int64_t pads, int64_t stride)
{
	int64_t reach, room;

	if (!pm_mul_i64(block - 1, dilation, &reach) || !pm_add_i64(image, pads, &room) ||
	    !pm_add_i64(room, -reach - 1, &room) || room < 0)
		return -1;
	return room / stride + 1;
}

PmStatus infer_col2im(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	const int64_t *image, *block, *dilations, *pads, *strides;
	int64_t blocks = 1, places = 1, both;
	size_t n, k;
	PmStatus st = pm__attr_ints(c, "image_shape", &image, &n, err);

	if (!st && (n < 1 || n > PM_MAX_RANK - 2))
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "the image has %zu spatial dimensions", n);
	if (!st)
		st = pm__attr_ints_n(c, "image_shape", n, 0, &image, err);
	if (!st)
		st = pm__attr_ints_n(c, "block_shape", n, 1, &block, err);
	if (!st)
		st = pm__attr_ints_n(c, "dilations", n, 1, &dilations, err);
	if (!st)
		st = pm__attr_ints_n(c, "pads", 2 * n, 0, &pads, err);
	if (!st)
		st = pm__attr_ints_n(c, "strides", n, 1, &strides, err);
	for (k = 0; k < n && !st; k++) {
		int64_t here = pm_add_i64(pads[k], pads[k + n], &both)
				       ? positions(image[k], block[k], dilations[k], both, strides[k])
				       : -1;

		if (here < 0 || !pm_mul_i64(places, here, &places) || !pm_mul_i64(blocks, block[k], &blocks))
			return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
					      "the block does not fit into the image along spatial axis %zu",
					      k);
	}
	if (st)
		return st;
	if (x->rank != 3 || !pm__dims_agree(x->dim[2], places) || (x->dim[1] >= 0 && x->dim[1] % blocks))
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
				      "the input must be batch by a multiple of %lld by %lld",
				      (long long)blocks, (long long)places);
	c->out[0] = *x;
	c->out[0].rank = (int)n + 2;
	c->out[0].dim[1] = x->dim[1] < 0 ? PM_DIM_UNKNOWN : x->dim[1] / blocks;
	for (k = 0; k < n; k++)
		c->out[0].dim[k + 2] = image[k];
	return PM_OK;
}

PmStatus infer_det(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);

	if (x->rank < 2 || !pm__dims_agree(x->dim[x->rank - 2], x->dim[x->rank - 1]))
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err, "the last two dimensions must be equal");
	c->out[0] = *x;
	c->out[0].rank -= 2;
	return PM_OK;
}
