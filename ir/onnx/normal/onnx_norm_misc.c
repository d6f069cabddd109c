/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_norm_misc.c - the remaining differences between opsets: bounds, casts, dropout, shapes. */
#include "ir/onnx/onnx_priv.h"

#include "ir/infer/infer_priv.h"

#include <string.h>
#include <strings.h>

/* Clip: bounds are attributes below 11. */
static PmStatus norm_clip(PmDraft *d, PmErr *err)
{
	static const char *const names[] = { "min", "max" };
	int dtype = pm__draft_type(d, 0)->dtype, k;
	PmStatus st = PM_OK;
	double v;

	if (d->opset >= 11) {
		if (pm__draft_proto(d, "min") || pm__draft_proto(d, "max"))
			return pm__decline(d, "bounds are attributes, which opset %lld lacks",
					   (long long)d->opset);
		return PM_OK;
	}
	if (!pm_dtype_is_float(dtype))
		return pm__decline(d, "integers are clipped since opset 12 only");
	d->n_in = 1;
	for (k = 0; k < 2 && !st; k++) {
		if (!pm__draft_proto(d, names[k]))
			continue;
		st = pm__draft_get_f(d, names[k], 0, &v, err);
		d->in[k + 1] = (PmValue){ 0 };
		if (!st)
			st = pm__draft_scalar(d, dtype, v, &d->in[k + 1], err);
		if (k == 1 && d->n_in == 1)
			d->in[1] = (PmValue){ 0 };
		d->n_in = (size_t)k + 2;
	}
	return st;
}

/* `saturate` matters for 8-bit floats alone, `round_mode` for float8e8m0 alone: elsewhere they are dropped.
 */
static PmStatus norm_rounding(PmDraft *d, int64_t to, PmErr *err)
{
	int dtype = pm_dtype_from_onnx((int)to);
	int eight = pm_dtype_is_narrow(dtype) && pm_dtype_is_float(dtype) && pm_dtype_bits(dtype) == 8;
	const PmDraftAttr *a = pm__draft_attr(d, "saturate");
	const char *mode;
	PmStatus st;

	if (a)
		pm__draft_set_i(d, "saturate", !eight || a->i);
	a = pm__draft_attr(d, "round_mode");
	if (!a)
		return PM_OK;
	if (dtype != PM_F8E8M0) {
		pm__draft_set_s(d, "round_mode", "up");
		return PM_OK;
	}
	st = pm__draft_get_s(d, "round_mode", "up", &mode, err);
	if (!st && strcmp(mode, "up") != 0 && strcmp(mode, "down") != 0 && strcmp(mode, "nearest") != 0)
		return pm__decline(d, "its round_mode is '%.40s', not up, down or nearest", mode);
	return st;
}

/* Cast: the target was a name in early files. */
static PmStatus norm_cast(PmDraft *d, PmErr *err)
{
	const Onnx__AttributeProto *a = pm__draft_proto(d, "to");
	const char *name;
	int64_t to = 0;
	PmStatus st;

	if (a && a->has_s && !a->has_i) {
		st = pm__draft_get_s(d, "to", "", &name, err);
		if (st)
			return st;
		for (to = 1; strcmp(pm__onnx_dtype_name((int)to), "of an unknown kind") != 0; to++) {
			if (strcasecmp(pm__onnx_dtype_name((int)to), name) == 0)
				break;
		}
	} else {
		st = pm__draft_get_i(d, "to", 0, &to, err);
		if (st)
			return st;
	}
	if (to < 1 || to > INT32_MAX || pm_dtype_from_onnx((int)to) < 0)
		return pm__decline(d, "element type %s is not supported",
				   to < 1 || to > INT32_MAX ? "0" : pm__onnx_dtype_name((int)to));
	pm__draft_set_i(d, "to", to);
	return norm_rounding(d, to, err);
}

/* BitCast: between integers of one width a Cast keeps the bits, which wrap; so do bool and its byte. What has
 * the type already is a Cast too. */
static PmStatus norm_bit_cast(PmDraft *d, PmErr *err)
{
	int from = pm__draft_type(d, 0)->dtype, to;
	PmStatus st = norm_cast(d, err);
	const PmDraftAttr *a = st ? NULL : pm__draft_attr(d, "to");

	if (st)
		return st;
	to = pm_dtype_from_onnx((int)a->i);
	if (pm_dtype_bits(from) != pm_dtype_bits(to))
		return pm_err(err, PM_E_TYPE, "%s cannot read the bits of %s as %s, which has another width.",
			      d->where.s, pm_dtype_name(from), pm_dtype_name(to));
	if (from == to || (pm_dtype_is_int(to) && (pm_dtype_is_int(from) || from == PM_BOOL)))
		d->op = PM_OP_Cast;
	else if (pm_dtype_is_narrow(from) || pm_dtype_is_narrow(to))
		return pm__decline(d, "it reads the bits of %s as %s", pm_dtype_name(from),
				   pm_dtype_name(to));
	return PM_OK;
}

/* CastLike: a Cast whose target is the type of operand 1. */
static PmStatus norm_cast_like(PmDraft *d, PmErr *err)
{
	if (d->n_in != 2)
		return pm_err(err, PM_E_INVALID, "There are %zu operands at %s; CastLike takes 2.", d->n_in,
			      d->where.s);
	pm__draft_set_i(d, "to", pm_dtype_to_onnx(pm__draft_type(d, 1)->dtype));
	pm__draft_eat(d, 1);
	return norm_rounding(d, pm__draft_attr(d, "to")->i, err);
}

static PmStatus norm_shape(PmDraft *d, PmErr *err)
{
	int64_t end;
	PmStatus st = pm__draft_get_i(d, "end", INT64_MAX, &end, err);

	if (!st)
		pm__draft_set_i(d, "end", end);
	return st;
}

static PmStatus norm_constant_of_shape(PmDraft *d, PmErr *err)
{
	static const float zero;
	int64_t one = 1;
	PmType t = pm_type(PM_F32, 1, &one);

	(void)err;
	if (!pm__draft_attr(d, "value"))
		pm__draft_set_tensor(d, "value", &t, pm_blob_copy(&zero, sizeof zero));
	return PM_OK;
}

/* Range: `stash_type` (27) is what half types are counted in: float or double, and here never less. */
static PmStatus norm_range(PmDraft *d, PmErr *err)
{
	int64_t stash;
	PmStatus st = pm__draft_get_i(d, "stash_type", pm_dtype_to_onnx(PM_F32), &stash, err);

	if (!st && stash != pm_dtype_to_onnx(PM_F32) && stash != pm_dtype_to_onnx(PM_F64))
		st = pm_err(err, PM_E_TYPE,
			    "The stash_type %lld of %s is neither float (1) nor double (11); fix the model.",
			    (long long)stash, d->where.s);
	return st;
}

/* (x + 0.5) / scale, of opsets 11 and 12, is half_pixel's position plus 0.5; rounding can make up for it. */
static PmStatus norm_tf_half_pixel(PmDraft *d, PmErr *err)
{
	const char *coord, *mode, *nearest;
	PmStatus st = pm__draft_get_s(d, "coordinate_transformation_mode", "half_pixel", &coord, err);

	if (st || strcmp(coord, "tf_half_pixel_for_nn") != 0)
		return st;
	st = pm__draft_get_s(d, "mode", "nearest", &mode, err);
	if (!st)
		st = pm__draft_get_s(d, "nearest_mode", "round_prefer_floor", &nearest, err);
	if (st)
		return st;
	if (strcmp(mode, "nearest") != 0 ||
	    (strcmp(nearest, "floor") != 0 && strcmp(nearest, "round_prefer_floor") != 0))
		return pm__decline(d, "tf_half_pixel_for_nn is read for rounding down only");
	pm__draft_set_s(d, "coordinate_transformation_mode", "half_pixel");
	pm__draft_set_s(d, "nearest_mode", strcmp(nearest, "floor") == 0 ? "round_prefer_ceil" : "ceil");
	return PM_OK;
}

/* Resize: 10 and the older Upsample scale from the corner and round down; 7 had the scales as attribute. */
static PmStatus norm_resize(PmDraft *d, PmErr *err)
{
	const Onnx__AttributeProto *a = pm__draft_proto(d, "scales");
	int upsample = strcmp(d->np->op_type, "Upsample") == 0;
	PmStatus st = PM_OK;
	const char *mode;

	if (!upsample && d->opset >= 11)
		return a ? pm__decline(d, "the attribute 'scales' is not known") : norm_tf_half_pixel(d, err);
	if (a) {
		int64_t n = (int64_t)a->n_floats;
		PmType t = pm_type(PM_F32, 1, &n);

		st = pm_graph_add_const(d->g, NULL, &t, pm_blob_copy(a->floats, a->n_floats * sizeof(float)),
					&d->in[2], err);
	} else if (d->n_in > 1) {
		d->in[2] = d->in[1];
	} else {
		return pm_err(err, PM_E_INVALID, "The scales of %s are missing; fix the model.", d->where.s);
	}
	if (!st)
		st = pm__draft_get_s(d, "mode", "nearest", &mode, err);
	if (st)
		return st;
	d->in[1] = (PmValue){ 0 };
	d->n_in = 3;
	if (strcmp(mode, "bilinear") == 0 || strcmp(mode, "trilinear") == 0)
		pm__draft_set_s(d, "mode", "linear");
	pm__draft_set_s(d, "coordinate_transformation_mode", "asymmetric");
	pm__draft_set_s(d, "nearest_mode", "floor");
	return PM_OK;
}

const PmNormRow pm__norm_misc_rows[] = {
	{ "Clip", PM_OP_Clip, norm_clip, "min max", 0 },
	{ "Cast", PM_OP_Cast, norm_cast, "to", 0 },
	{ "BitCast", PM_OP_BitCast, norm_bit_cast, "to", 0 },
	{ "CastLike", PM_OP_Cast, norm_cast_like, NULL, 0 },
	{ "Shape", PM_OP_Shape, norm_shape, NULL, 0 },
	{ "ConstantOfShape", PM_OP_ConstantOfShape, norm_constant_of_shape, NULL, 1 << 0 },
	{ "Reshape", PM_OP_Reshape, NULL, NULL, 1 << 1 },
	{ "Expand", PM_OP_Expand, NULL, NULL, 1 << 1 },
	{ "CumSum", PM_OP_CumSum, NULL, NULL, 1 << 1 },
	{ "Resize", PM_OP_Resize, norm_resize, "scales", 0xe },
	{ "Upsample", PM_OP_Resize, norm_resize, "scales", 1 << 1 },
	{ "Range", PM_OP_Range, norm_range, "stash_type", 0 },
	{ "Tile", PM_OP_Tile, NULL, NULL, 1 << 1 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
