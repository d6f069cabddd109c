/* SPDX-License-Identifier: Apache-2.0 */
/* infer_quant.c - shape rules of QuantizeLinear and DequantizeLinear. */
#include "ir/core/onnx_dtype.h"
#include "ir/infer/infer_priv.h"

static int is_single(const PmType *t)
{
	return t->rank == 0 || (t->rank == 1 && t->dim[0] == 1);
}

/* What is quantised to: integers, and narrow floating point but for the powers of two. */
static int is_quantised(int dtype)
{
	return pm_dtype_is_int(dtype) ||
	       (pm_dtype_is_narrow(dtype) && pm_dtype_is_float(dtype) && dtype != PM_F8E8M0);
}

/* The scale (operand k) has one element, one per index of the axis, or one per block of it. */
static PmStatus scale_shape(PmInfer *c, size_t k, PmErr *err)
{
	const PmType *x = pm__in(c, 0), *s = pm__in(c, k);
	int64_t axis, block;
	int d, same = 1;
	PmStatus st = pm__attr_int(c, "block_size", 0, INT64_MAX, &block, err);

	if (st || (is_single(s) && !block))
		return st;
	st = pm__attr_int(c, "axis", 0, x->rank - 1, &axis, err);
	if (st)
		return st;
	if (!block) {
		if (s->rank == 1 && pm__dims_agree(s->dim[0], x->dim[axis]))
			return PM_OK;
		return pm__infer_fail(c, PM_E_SHAPE, 0, (int)k, err,
				      "operand %zu must have one element, or one for each index of axis %lld",
				      k, (long long)axis);
	}
	for (d = 0; d < x->rank && s->rank == x->rank; d++) {
		PmDim want = d != axis       ? x->dim[d]
			     : x->dim[d] < 0 ? PM_DIM_UNKNOWN
					     : x->dim[d] / block + (x->dim[d] % block != 0);

		same &= pm__dims_agree(s->dim[d], want);
	}
	if (s->rank != x->rank || !same)
		return pm__infer_fail(c, PM_E_SHAPE, 0, (int)k, err,
				      "operand %zu must have one element per block of %lld along axis %lld",
				      k, (long long)block, (long long)axis);
	return PM_OK;
}

/* Scale and zero point; *dtype is that of the zero point, -1 when there is none. */
static PmStatus check(PmInfer *c, int *dtype, PmErr *err)
{
	PmStatus st = scale_shape(c, 1, err);

	*dtype = -1;
	if (!st && !pm_dtype_is_float(pm__in(c, 1)->dtype))
		return pm__infer_fail(c, PM_E_TYPE, 0, 1, err, "the scale must be floating point");
	if (st || !pm__in_given(c, 2))
		return st;
	*dtype = pm__in(c, 2)->dtype;
	if (!is_quantised(*dtype))
		return pm__infer_fail(c, PM_E_TYPE, 0, 2, err,
				      "the zero point must be an integer or of a narrow element type");
	if (is_single(pm__in(c, 1)) != is_single(pm__in(c, 2)))
		return pm__infer_fail(c, PM_E_SHAPE, 1, 2, err,
				      "the scale and the zero point must have the same shape");
	return scale_shape(c, 2, err);
}

PmStatus infer_quantize(PmInfer *c, PmErr *err)
{
	int64_t to;
	int dtype;
	PmStatus st = check(c, &dtype, err);

	if (!st)
		st = pm__attr_int(c, "output_dtype", 0, 255, &to, err);
	if (st)
		return st;
	if (dtype < 0)
		dtype = to ? pm_dtype_from_onnx((int)to) : PM_U8;
	if (!is_quantised(dtype))
		return pm__infer_fail(c, PM_E_UNSUPPORTED, 0, -1, err,
				      "the attribute 'output_dtype' is %lld, to which nothing is quantised",
				      (long long)to);
	c->out[0] = *pm__in(c, 0);
	c->out[0].dtype = dtype;
	return PM_OK;
}

PmStatus infer_dequantize(PmInfer *c, PmErr *err)
{
	int dtype, result = pm__in(c, 1)->dtype;
	int64_t to;
	PmStatus st = check(c, &dtype, err);

	if (!st)
		st = pm__attr_int(c, "output_dtype", 0, INT32_MAX, &to, err);
	if (st)
		return st;
	if (to)
		result = pm_dtype_from_onnx((int)to);
	if (!is_quantised(pm__in(c, 0)->dtype) || (dtype >= 0 && dtype != pm__in(c, 0)->dtype))
		return pm__infer_fail(c, PM_E_TYPE, 0, dtype >= 0 ? 2 : -1, err,
				      "the input must be of the zero point's type, an integer or narrow");
	if (!pm_dtype_is_float(result) || pm_dtype_is_narrow(result))
		return pm__infer_fail(c, PM_E_TYPE, 1, -1, err,
				      "the result would be %s; give 'output_dtype' as float, float16 or "
				      "bfloat16",
				      pm_dtype_name(result));
	c->out[0] = *pm__in(c, 0);
	c->out[0].dtype = result;
	return PM_OK;
}
