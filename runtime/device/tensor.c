/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.c - host tensors: storage and element access by dtype. */
#include "runtime/device/tensor.h"

#include "ir/core/element.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };
static const int64_t MAX_BYTES = (int64_t)1 << 40;

static size_t padded(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

PmStatus pm_tensor_room(PmTensor *t, const PmType *type, PmErr *err)
{
	int64_t bytes = 0;
	PmStatus st;

	memset(t, 0, sizeof *t);
	t->type = pm_type_unknown();
	st = pm_type_bytes(type, &bytes, err);
	if (st)
		return st;
	if (bytes > MAX_BYTES)
		return pm_err(err, PM_E_LIMIT,
			      "A tensor of %lld bytes is over the limit of 1 TiB; use smaller dimensions.",
			      (long long)bytes);
	t->type = *type;
	if (!bytes)
		return PM_OK;
	t->data = aligned_alloc(ALIGNMENT, padded((size_t)bytes));
	if (!t->data) {
		t->type = pm_type_unknown();
		return pm_err(err, PM_E_LIMIT,
			      "There is no memory for a tensor of %lld bytes; use smaller dimensions.",
			      (long long)bytes);
	}
	t->bytes = (size_t)bytes;
	return PM_OK;
}

PmStatus pm_tensor_init(PmTensor *t, const PmType *type, PmErr *err)
{
	PmStatus st = pm_tensor_room(t, type, err);

	if (!st && t->bytes)
		memset(t->data, 0, padded(t->bytes));
	return st;
}

void pm_tensor_release(PmTensor *t)
{
	free(t->data);
	memset(t, 0, sizeof *t);
	t->type = pm_type_unknown();
}

PmStatus pm_tensor_copy(PmTensor *dst, const PmTensor *src, PmErr *err)
{
	PmStatus st = pm_tensor_room(dst, &src->type, err);

	if (!st && src->bytes)
		memcpy(dst->data, src->data, src->bytes);
	return st;
}

PmStatus pm_tensor_from_const(PmTensor *t, const PmGraph *g, PmValue v, PmErr *err)
{
	const PmBlob *b = pm_value_blob(g, v);
	PmStatus st;

	memset(t, 0, sizeof *t);
	t->type = pm_type_unknown();
	if (!b)
		return pm_err(err, PM_E_NOT_FOUND, "Value '%s' is not a constant, so it has no data to copy.",
			      pm_value_name(g, v));
	if (!pm_blob_readable(b))
		return pm_err(err, PM_E_NOT_FOUND,
			      "The data of constant '%s' is not at hand (file '%s'); supply the file or the "
			      "values.",
			      pm_value_name(g, v), b->location ? b->location : "");
	st = pm_tensor_init(t, pm_value_type(g, v), err);
	if (st)
		return st;
	if (b->size != t->bytes) {
		pm_tensor_release(t);
		return pm_err(
			err, PM_E_INVALID,
			"Constant '%s' has %zu bytes, which is not the size of its type; repair the model.",
			pm_value_name(g, v), b->size);
	}
	pm_blob_read(b, 0, t->bytes, t->data);
	return PM_OK;
}

int pm_tensor_of_attr(PmTensor *t, const PmAttr *a)
{
	if (!a || a->kind != PM_ATTR_TENSOR || !a->blob || !a->blob->data ||
	    a->blob->size < pm_dtype_size(a->type.dtype))
		return 0;
	t->type = a->type;
	t->data = (void *)(uintptr_t)a->blob->data;
	t->bytes = a->blob->size;
	return 1;
}

int64_t pm_tensor_numel(const PmTensor *t)
{
	size_t size = pm_dtype_size(t->type.dtype);

	return size ? (int64_t)(t->bytes / size) : 0;
}

double pm_tensor_get(const PmTensor *t, int64_t i)
{
	int dtype = t->type.dtype;

	if (pm_dtype_is_float(dtype))
		return pm_float_load(dtype, (const char *)t->data + i * (int64_t)pm_dtype_size(dtype));
	return pm_int_to_f64(dtype, pm_tensor_get_i(t, i));
}

int64_t pm_tensor_get_i(const PmTensor *t, int64_t i)
{
	if (pm_dtype_is_float(t->type.dtype))
		return pm_int_from_f64(PM_I64, pm_tensor_get(t, i));
	return pm_int_load(t->type.dtype, (const char *)t->data + i * (int64_t)pm_dtype_size(t->type.dtype));
}

void pm_tensor_gets(const PmTensor *t, int64_t from, int64_t n, double *to)
{
	int dtype = t->type.dtype;

	if (pm_dtype_is_float(dtype)) {
		pm_floats_load(dtype, (const char *)t->data + from * (int64_t)pm_dtype_size(dtype), n, to);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		to[i] = pm_tensor_get(t, from + i);
}

void pm_tensor_sets(PmTensor *t, int64_t from, int64_t n, const double *v)
{
	int dtype = t->type.dtype;

	if (pm_dtype_is_float(dtype)) {
		pm_floats_store(dtype, (char *)t->data + from * (int64_t)pm_dtype_size(dtype), n, v);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		pm_tensor_set(t, from + i, v[i]);
}

void pm_tensor_set(PmTensor *t, int64_t i, double v)
{
	int dtype = t->type.dtype;

	if (pm_dtype_is_float(dtype))
		pm_float_store(dtype, (char *)t->data + i * (int64_t)pm_dtype_size(dtype), v);
	else
		pm_tensor_set_i(t, i, pm_int_from_f64(dtype, v));
}

void pm_tensor_set_i(PmTensor *t, int64_t i, int64_t v)
{
	int dtype = t->type.dtype;

	if (dtype == PM_F32) /* one rounding: not through double */
		((float *)t->data)[i] = (float)v;
	else if (pm_dtype_is_float(dtype))
		pm_tensor_set(t, i, (double)v);
	else
		pm_int_store(dtype, (char *)t->data + i * (int64_t)pm_dtype_size(dtype), v);
}
