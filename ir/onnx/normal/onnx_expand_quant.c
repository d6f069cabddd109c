/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_expand_quant.c - quantisation: scales and zero points in normal form, integer products out of exact
 * ones. */
#include "ir/onnx/normal/onnx_expand.h"

#include <string.h>

/* ---- QuantizeLinear, DequantizeLinear ---- */

static int is_single(const PmType *t)
{
	return t->rank == 0 || (t->rank == 1 && t->dim[0] == 1);
}

/* The axis counts from the front, and is the default where one scale serves all elements. */
static PmStatus norm_axis(PmDraft *d, PmErr *err)
{
	int64_t axis;
	PmStatus st = pm__draft_get_i(d, "axis", 1, &axis, err);

	if (!st && d->n_in > 1 && is_single(pm__draft_type(d, 1)))
		axis = 1;
	else if (!st)
		st = pm__draft_axis(d, &axis, pm__draft_type(d, 0)->rank, 0, err);
	if (!st)
		pm__draft_set_i(d, "axis", axis);
	return st;
}

/* An attribute that names a type of ours other than the scale's (0 = the scale's) has no counterpart. A scale
 * of powers of two (float8e8m0) has no arithmetic of its own: `other` is the type of ours that may stand
 * there then, -1 = any that computes. */
static PmStatus scale_type_only(PmDraft *d, const char *name, int other, PmErr *err)
{
	int64_t to;
	PmStatus st = pm__draft_get_i(d, name, 0, &to, err);
	int dtype = st || to < 0 || to > INT32_MAX ? -1 : pm_dtype_from_onnx((int)to);

	if (st || !to || d->n_in < 2 || dtype == pm__draft_type(d, 1)->dtype)
		return st;
	if (pm_dtype_is_narrow(pm__draft_type(d, 1)->dtype) && pm_dtype_is_float(dtype) &&
	    !pm_dtype_is_narrow(dtype) && (other < 0 || other == dtype))
		return st;
	return pm__decline(d, "its %s is not the type of the scale", name);
}

static PmStatus norm_quantize(PmDraft *d, PmErr *err)
{
	const PmType *t = pm__draft_type(d, 0);
	int64_t to;
	PmStatus st = norm_axis(d, err);

	if (!st)
		st = scale_type_only(d, "precision", t->dtype, err);
	if (!st)
		st = pm__draft_get_i(d, "output_dtype", 0, &to, err);
	if (!st && d->n_in > 2)
		pm__draft_set_i(d, "output_dtype", 0); /* the zero point's type holds */
	else if (!st && to && (to < 0 || to > 255 || pm_dtype_from_onnx((int)to) < 0))
		return pm__decline(d, "its output_dtype is not held");
	if (!st && d->n_in > 1 && t->dtype == PM_I32)
		st = pm__draft_before(d, PM_OP_Cast, d->in, 1, "to",
				      pm_dtype_to_onnx(pm__draft_type(d, 1)->dtype), &d->in[0], err);
	return st;
}

static PmStatus norm_dequantize(PmDraft *d, PmErr *err)
{
	PmStatus st = norm_axis(d, err);

	if (!st)
		st = scale_type_only(d, "output_dtype", -1, err);
	if (!st && pm__draft_attr(d, "output_dtype") && !pm_dtype_is_narrow(pm__draft_type(d, 1)->dtype))
		pm__draft_set_i(d, "output_dtype", 0); /* the scale's type holds */
	return st;
}

static PmValue quantize(PmExpand *x, PmValue v, PmValue scale, PmValue zero)
{
	return pm__x_op3(x, PM_OP_QuantizeLinear, v, scale, zero);
}

/* ---- integer products ---- */

/* v - zero in a wider type. A zero point per row or per filter lies along dimension `dim`. */
static PmValue centred(PmExpand *x, PmValue v, PmValue zero, int dtype, int dim)
{
	const PmType t = *pm__x_type(x, v), z = *pm__x_type(x, zero); /* adding nodes moves the types */
	int64_t shape[PM_MAX_RANK];
	int k;

	if (x->st)
		return v;
	if (zero.id) {
		zero = pm__x_cast(x, zero, dtype);
		for (k = 0; k < t.rank - dim; k++)
			shape[k] = k ? 1 : z.rank ? z.dim[0] : 1;
		if (z.rank == 1 && !is_single(&z) && dim < t.rank - 1)
			zero = pm__x_reshape(x, zero, shape, t.rank - dim);
	}
	v = pm__x_cast(x, v, dtype);
	return zero.id ? pm__x_op2(x, PM_OP_Sub, v, zero) : v;
}

static void need_bytes(PmExpand *x, size_t k)
{
	int dtype = pm__x_type(x, pm__x_in(x, k))->dtype;

	if (!x->st && dtype != PM_I8 && dtype != PM_U8)
		pm__x_decline(x, "operand %zu is %s, not int8 or uint8", k, pm_dtype_name(dtype));
}

/* The exact product in int32, which is what MatMul gives for int32. */
static PmValue product(PmExpand *x, size_t a, size_t za, size_t b, size_t zb)
{
	PmValue va, vb;
	int rank = pm__x_type(x, pm__x_in(x, a))->rank;

	need_bytes(x, a);
	need_bytes(x, b);
	va = centred(x, pm__x_in(x, a), pm__x_in(x, za), PM_I32, rank > 1 ? rank - 2 : 0);
	vb = centred(x, pm__x_in(x, b), pm__x_in(x, zb), PM_I32, pm__x_type(x, pm__x_in(x, b))->rank - 1);
	return pm__x_op2(x, PM_OP_MatMul, va, vb);
}

static PmStatus expand_matmul_integer(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };

	pm__x_counts(&x, 2, 4, 1);
	pm__x_result(&x, 0, product(&x, 0, 2, 1, 3));
	return x.st;
}

/* The product of two scales; one per row or filter lies along dimension `dim` of a result of rank `rank`. */
static PmValue scales(PmExpand *x, size_t a, size_t b, int dim_a, int dim_b, int rank)
{
	size_t k[2] = { a, b };
	int dim[2] = { dim_a, dim_b }, i, j;
	PmValue v[2];

	for (i = 0; i < 2; i++) {
		const PmType t = *pm__x_type(x, pm__x_in(x, k[i]));
		int64_t shape[PM_MAX_RANK];

		v[i] = pm__x_cast(x, pm__x_in(x, k[i]), PM_F32);
		for (j = 0; j < rank - dim[i]; j++)
			shape[j] = j ? 1 : t.rank ? t.dim[0] : 1;
		if (t.rank == 1 && !is_single(&t) && dim[i] < rank - 1)
			v[i] = pm__x_reshape(x, v[i], shape, rank - dim[i]);
	}
	return pm__x_op2(x, PM_OP_Mul, v[0], v[1]);
}

static PmStatus expand_qlinear_matmul(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue y, s;
	int rank;

	pm__x_counts(&x, 8, 8, 1);
	y = pm__x_cast(&x, product(&x, 0, 2, 3, 5), PM_F32);
	rank = pm__x_type(&x, y)->rank;
	s = scales(&x, 1, 4, rank > 1 ? rank - 2 : 0, rank - 1, rank);
	y = pm__x_op2(&x, PM_OP_Mul, y, s);
	pm__x_result(&x, 0, quantize(&x, y, pm__x_cast(&x, pm__x_in(&x, 6), PM_F32), pm__x_in(&x, 7)));
	return x.st;
}

/* A convolution in double: sums of products of bytes are exact in it, and ONNX has no integer Conv. */
static PmValue exact_conv(PmExpand *x, PmValue v, PmValue w, PmValue bias)
{
	PmDraft *d = x->d;
	PmNode n;
	size_t k;

	if (x->st)
		return v;
	d->in[0] = v;
	d->in[1] = w;
	d->in[2] = bias;
	d->n_in = bias.id ? 3 : 2;
	x->st = pm__norm_conv(d, x->err);
	n = pm__x_open(x, PM_OP_Conv, d->in, d->n_in, 1);
	for (k = 0; k < d->n_attr && !x->st; k++) {
		const PmDraftAttr *a = &d->attr[k];

		pm__x_set(x, a->kind == PM_ATTR_INT
				     ? pm_node_set_i(d->g, n, a->name, a->i, x->err)
				     : pm_node_set_ints(d->g, n, a->name, a->ints, a->n, x->err));
	}
	return pm__x_close(x, n);
}

static PmStatus expand_conv_integer(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue v, w;

	pm__x_counts(&x, 2, 4, 1);
	need_bytes(&x, 0);
	need_bytes(&x, 1);
	v = centred(&x, pm__x_in(&x, 0), pm__x_in(&x, 2), PM_F64, 0);
	w = centred(&x, pm__x_in(&x, 1), pm__x_in(&x, 3), PM_F64, 0);
	pm__x_result(&x, 0, pm__x_cast(&x, exact_conv(&x, v, w, (PmValue){ 0 }), PM_I32));
	return x.st;
}

static PmStatus expand_qlinear_conv(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue v, w, bias, y_scale = pm__x_in(&x, 6), y_zero = pm__x_in(&x, 7), s, y;

	pm__x_counts(&x, 8, 9, 1);
	need_bytes(&x, 0);
	need_bytes(&x, 3);
	v = centred(&x, pm__x_in(&x, 0), pm__x_in(&x, 2), PM_F64, 0);
	w = centred(&x, pm__x_in(&x, 3), pm__x_in(&x, 5), PM_F64, 0);
	bias = pm__x_in(&x, 8);
	if (bias.id)
		bias = pm__x_cast(&x, bias, PM_F64);
	s = scales(&x, 1, 4, 0, 1, pm__x_type(&x, pm__x_in(&x, 0))->rank);
	y = pm__x_cast(&x, exact_conv(&x, v, w, bias), PM_F32);
	y = pm__x_op2(&x, PM_OP_Mul, y, s);
	pm__x_result(&x, 0, quantize(&x, y, pm__x_cast(&x, y_scale, PM_F32), y_zero));
	return x.st;
}

/* Scale and zero point from the range of the input, which is widened to hold 0. */
static PmStatus expand_dynamic_quantize(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue v = pm__x_in(&x, 0), zero, top, low, high, scale, point;

	pm__x_counts(&x, 1, 1, 3);
	zero = pm__x_scalar(&x, PM_F32, 0);
	top = pm__x_scalar(&x, PM_F32, 255);
	low = pm__x_op2(&x, PM_OP_Min, pm__x_reduce(&x, PM_OP_ReduceMin, v, NULL, 0, 0), zero);
	high = pm__x_op2(&x, PM_OP_Max, pm__x_reduce(&x, PM_OP_ReduceMax, v, NULL, 0, 0), zero);
	scale = pm__x_op2(&x, PM_OP_Div, pm__x_op2(&x, PM_OP_Sub, high, low), top);
	point = pm__x_op1(&x, PM_OP_Neg, pm__x_op2(&x, PM_OP_Div, low, scale));
	point = pm__x_op1(&x, PM_OP_Round, pm__x_op3(&x, PM_OP_Clip, point, zero, top));
	point = pm__x_cast(&x, point, PM_U8);
	pm__x_result(&x, 0, quantize(&x, v, scale, point));
	pm__x_result(&x, 1, scale);
	pm__x_result(&x, 2, point);
	return x.st;
}

const PmNormRow pm__expand_quant_rows[] = {
	{ "QuantizeLinear", PM_OP_QuantizeLinear, norm_quantize, "precision", 0 },
	{ "DequantizeLinear", PM_OP_DequantizeLinear, norm_dequantize, NULL, 0 },
	{ "DynamicQuantizeLinear", PM_OP_Identity, expand_dynamic_quantize, NULL, 0 },
	{ "MatMulInteger", PM_OP_Identity, expand_matmul_integer, NULL, 0 },
	{ "QLinearMatMul", PM_OP_Identity, expand_qlinear_matmul, NULL, 0 },
	{ "ConvInteger", PM_OP_Conv, expand_conv_integer, "auto_pad kernel_shape", 0 },
	{ "QLinearConv", PM_OP_Conv, expand_qlinear_conv, "auto_pad kernel_shape", 0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
