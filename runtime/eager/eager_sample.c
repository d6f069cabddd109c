/* SPDX-License-Identifier: Apache-2.0 */
/* eager_sample.c - GridSample, RoiAlign, Col2Im and Det. */
#include "runtime/exec/plan_priv.h"

#include "kernels/col2im.cu.h"
#include "kernels/det.cu.h"
#include "kernels/grid_sample.cu.h"
#include "kernels/roi_align.cu.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

enum { MAX_DET = 32 }; /* a thread keeps its matrix in local memory */

/* Places the result and makes the first n_in operands contiguous, in l; then begins the description. */
static PmStatus begin(PmPlan *p, PmNode n, KGen *k, Loc *l, size_t n_in, char label[96], PmErr *err)
{
	PmValue y = pm_node_out(p->g, n, 0);
	int dtype = pm__type(p, y)->dtype;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n_in && !st; i++)
		st = pm__make_contiguous(p, n, pm_node_in(p->g, n, i), &l[i], err);
	if (!st)
		st = pm__place(p, y, err);
	if (st)
		return st;
	pm__kg_init(k, p, n, dtype);
	pm_str_addf(&k->head, "typedef %s A;\n", pm__acc_type(dtype));
	pm__kg_out(k, "y", pm__loc(p, y), dtype, pm__numel(p, y));
	pm__kg_in(k, "x", &l[0], pm__type(p, pm_node_in(p->g, n, 0))->dtype,
		  pm__numel(p, pm_node_in(p->g, n, 0)));
	pm__kg_int(k, "total", pm__numel(p, y));
	snprintf(label, 96, "eager %s %s", pm_node_op_name(p->g, n), pm_dtype_name(dtype));
	return PM_OK;
}

static void operand(PmPlan *p, PmNode n, KGen *k, const char *name, size_t i, const Loc *l)
{
	PmValue v = pm_node_in(p->g, n, i);

	pm__kg_in(k, name, &l[i], pm__type(p, v)->dtype, pm__numel(p, v));
}

static int is(const PmPlan *p, PmNode n, const char *attr, const char *word)
{
	return strcmp(pm_node_s(p->g, n, attr, ""), word) == 0;
}

static PmStatus end(PmPlan *p, PmNode n, KGen *k, const char *label, const char *body, PmErr *err)
{
	return pm__kg_launch(k, label, body, pm__numel(p, pm_node_out(p->g, n, 0)), pm_op_flops(p->g, n),
			     err);
}

PmStatus eager_grid_sample(PmPlan *p, PmNode n, PmErr *err)
{
	const PmType *x = pm__type(p, pm_node_in(p->g, n, 0)), *y = pm__type(p, pm_node_out(p->g, n, 0));
	int64_t size[PM_MAX_RANK], points = 1;
	char label[96];
	Loc l[2];
	KGen k;
	PmStatus st = begin(p, n, &k, l, 2, label, err);

	if (st)
		return st;
	for (int d = 2; d < x->rank; d++) {
		size[x->rank - 1 - d] = x->dim[d];
		points *= y->dim[d];
	}
	operand(p, n, &k, "grid", 1, l);
	pm__kg_define(&k, "AXES", "%d", x->rank - 2);
	pm__kg_define(&k, "TAPS", "%d",
		      is(p, n, "mode", "nearest") ? 1 : (is(p, n, "mode", "cubic") ? 4 : 2));
	pm__kg_define(&k, "PAD", "%d",
		      is(p, n, "padding_mode", "border") ? 1
							 : (is(p, n, "padding_mode", "reflection") ? 2 : 0));
	pm__kg_define(&k, "ALIGN", "%d", pm_node_i(p->g, n, "align_corners", 0) != 0);
	pm__kg_list(&k, "size", size, x->rank - 2);
	pm__kg_int(&k, "points", points);
	pm__kg_int(&k, "channels", x->dim[1]);
	return end(p, n, &k, label, grid_sample_cu, err);
}

PmStatus eager_roi_align(PmPlan *p, PmNode n, PmErr *err)
{
	const PmType *x = pm__type(p, pm_node_in(p->g, n, 0)), *y = pm__type(p, pm_node_out(p->g, n, 0));
	int half = is(p, n, "coordinate_transformation_mode", "half_pixel");
	char label[96];
	Loc l[3];
	KGen k;
	PmStatus st = begin(p, n, &k, l, 3, label, err);

	if (st)
		return st;
	operand(p, n, &k, "rois", 1, l);
	operand(p, n, &k, "batch", 2, l);
	pm__kg_define(&k, "IS_MAX", "%d", is(p, n, "mode", "max"));
	if (!half)
		pm__kg_define(&k, "AT_LEAST_ONE", "1");
	pm__kg_int(&k, "channels", x->dim[1]);
	pm__kg_int(&k, "height", x->dim[2]);
	pm__kg_int(&k, "width", x->dim[3]);
	pm__kg_int(&k, "oh", y->dim[2]);
	pm__kg_int(&k, "ow", y->dim[3]);
	pm__kg_int(&k, "ratio", pm_node_i(p->g, n, "sampling_ratio", 0));
	pm__kg_f64(&k, "scale", pm_node_f(p->g, n, "spatial_scale", 1));
	pm__kg_f64(&k, "offset", half ? 0.5 : 0);
	return end(p, n, &k, label, roi_align_cu, err);
}

/* A list of the node from its last element on. */
static void reversed(const PmPlan *p, PmNode n, const char *name, int count, int64_t *out)
{
	const int64_t *v;

	pm_node_ints(p->g, n, name, &v);
	for (int d = 0; d < count; d++)
		out[d] = v[count - 1 - d];
}

PmStatus eager_col2im(PmPlan *p, PmNode n, PmErr *err)
{
	const PmType *x = pm__type(p, pm_node_in(p->g, n, 0)), *y = pm__type(p, pm_node_out(p->g, n, 0));
	int64_t image[PM_MAX_RANK], block[PM_MAX_RANK], dilation[PM_MAX_RANK], stride[PM_MAX_RANK],
		pad[PM_MAX_RANK], count[PM_MAX_RANK], blocks = 1;
	const int64_t *pads;
	int axes = y->rank - 2;
	char label[96];
	Loc l[1];
	KGen k;
	PmStatus st = begin(p, n, &k, l, 1, label, err);

	if (st)
		return st;
	reversed(p, n, "image_shape", axes, image);
	reversed(p, n, "block_shape", axes, block);
	reversed(p, n, "dilations", axes, dilation);
	reversed(p, n, "strides", axes, stride);
	pm_node_ints(p->g, n, "pads", &pads);
	for (int d = 0; d < axes; d++) {
		int64_t after = pads[2 * axes - 1 - d];

		pad[d] = pads[axes - 1 - d];
		count[d] = (image[d] + pad[d] + after - (block[d] - 1) * dilation[d] - 1) / stride[d] + 1;
		blocks *= block[d];
	}
	pm__kg_define(&k, "AXES", "%d", axes);
	pm__kg_define(&k, "SUM(a, v)", pm_dtype_is_float(y->dtype) ? "((a) + (v))" : "iadd(a, v)");
	pm__kg_list(&k, "image", image, axes);
	pm__kg_list(&k, "block", block, axes);
	pm__kg_list(&k, "dilation", dilation, axes);
	pm__kg_list(&k, "stride", stride, axes);
	pm__kg_list(&k, "pad", pad, axes);
	pm__kg_list(&k, "count", count, axes);
	pm__kg_int(&k, "blocks", blocks);
	pm__kg_int(&k, "places", x->dim[2]);
	return end(p, n, &k, label, col2im_cu, err);
}

PmStatus eager_det(PmPlan *p, PmNode n, PmErr *err)
{
	const PmType *x = pm__type(p, pm_node_in(p->g, n, 0));
	int64_t size = x->dim[x->rank - 1];
	char label[96];
	Loc l[1];
	KGen k;
	PmStatus st;

	if (size > MAX_DET)
		return pm_err(
			err, PM_E_UNSUPPORTED,
			"Node %u (Det) has matrices of %lld rows; kernels take at most %d, so use --device "
			"ref.",
			n.id, (long long)size, MAX_DET);
	st = begin(p, n, &k, l, 1, label, err);
	if (st)
		return st;
	pm__kg_define(&k, "SIZE", "%d", (int)size);
	return end(p, n, &k, label, det_cu, err);
}
