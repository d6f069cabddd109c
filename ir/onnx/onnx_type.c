/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_type.c - types of a file: element types, sizes, names of sizes. */
#include "ir/core/graph_priv.h"

#include "ir/onnx/onnx_source.h"

#include <stdio.h>

static const char *text(const char *s)
{
	return s ? s : "";
}

static const Onnx__TypeProto__Tensor *tensor_type(const Onnx__TypeProto *tp, char why[96])
{
	if (!tp || tp->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) {
		snprintf(why, 96, "%s",
			 tp && tp->value_case ? "it is a sequence, map, optional or sparse tensor"
					      : "no type is stated");
		return NULL;
	}
	if (pm_dtype_from_onnx(tp->tensor_type->elem_type) < 0) {
		snprintf(why, 96, "element type %s is not supported",
			 pm__onnx_dtype_name(tp->tensor_type->elem_type));
		return NULL;
	}
	return tp->tensor_type;
}

PmStatus pm__import_check_dims(const Onnx__TensorShapeProto *s, const char *what, const char *name,
			       PmErr *err)
{
	size_t k;

	if (s->n_dim > PM_MAX_RANK)
		return pm_err(err, PM_E_LIMIT,
			      "The %s '%.200s' has %zu dimensions; at most %d are supported, so reshape it.",
			      what, name, s->n_dim, PM_MAX_RANK);
	for (k = 0; k < s->n_dim; k++) {
		if (s->dim[k]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
		    s->dim[k]->dim_value < 0)
			return pm_err(err, PM_E_INVALID,
				      "Dimension %zu of the %s '%.200s' is %lld; give an unknown size a name "
				      "(dim_param) instead.",
				      k, what, name, (long long)s->dim[k]->dim_value);
	}
	return PM_OK;
}

PmDim pm__import_dim(PmImport *im, const char *name)
{
	return pm_dim_bind(im->g, pm_dim_named(im->g, name), im->opts->dims, im->opts->n_dims);
}

PmStatus pm__import_type(PmImport *im, const Onnx__TypeProto *tp, const char *what, const char *name,
			 PmType *out, char why[96], PmErr *err)
{
	const Onnx__TypeProto__Tensor *t = tensor_type(tp, why);
	PmStatus st;
	size_t k;

	if (!t)
		return PM_DECLINED;
	*out = pm_type_unknown();
	out->dtype = pm_dtype_from_onnx(t->elem_type);
	if (!t->shape)
		return PM_OK;
	st = pm__import_check_dims(t->shape, what, name, err);
	if (st)
		return st;
	out->rank = (int32_t)t->shape->n_dim;
	for (k = 0; k < t->shape->n_dim; k++) {
		const Onnx__TensorShapeProto__Dimension *d = t->shape->dim[k];

		if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
			out->dim[k] = d->dim_value;
		else if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
			 *text(d->dim_param))
			out->dim[k] = pm__import_dim(im, d->dim_param);
		else
			out->dim[k] = pm_graph_fresh_symbol(im->g);
	}
	return PM_OK;
}
