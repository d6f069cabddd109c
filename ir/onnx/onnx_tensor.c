/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_tensor.c - TensorProto messages: element types, inline data in all its spellings, reading and writing.
 */
#include "ir/onnx/onnx.h"

#include "ir/core/element.h"
#include "ir/onnx/onnx_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RAW_ABOVE = 1024 }; /* constants of more bytes are written as raw_data */

static const char *label(const Onnx__TensorProto *t)
{
	return t->name && *t->name ? t->name : "(unnamed)";
}

PmStatus pm__onnx_tensor_type(const Onnx__TensorProto *t, PmType *type, char why[96], PmErr *err)
{
	int64_t bytes;
	size_t k;

	if (t->n_dims > PM_MAX_RANK)
		return pm_err(err, PM_E_LIMIT,
			      "Tensor '%.200s' has %zu dimensions; at most %d are supported, so reshape it.",
			      label(t), t->n_dims, PM_MAX_RANK);
	for (k = 0; k < t->n_dims; k++) {
		if (t->dims[k] < 0)
			return pm_err(
				err, PM_E_INVALID,
				"Dimension %zu of tensor '%.200s' is %lld; sizes cannot be negative, so "
				"fix the model.",
				k, label(t), (long long)t->dims[k]);
	}
	if (t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__UNDEFINED)
		return pm_err(err, PM_E_TYPE, "Tensor '%.200s' has no element type; fix the model.",
			      label(t));
	if (pm_dtype_from_onnx(t->data_type) < 0) {
		snprintf(why, 96, "element type %s is not supported", pm__onnx_dtype_name(t->data_type));
		return PM_DECLINED;
	}
	*type = pm_type((PmDType)pm_dtype_from_onnx(t->data_type), (int)t->n_dims, t->dims);
	if (pm_type_bytes(type, &bytes, NULL) || (uint64_t)bytes > SIZE_MAX / 2)
		return pm_err(err, PM_E_LIMIT,
			      "The size of tensor '%.200s' does not fit in 63 bits; fix its dimensions.",
			      label(t));
	return PM_OK;
}

static PmStatus bad_count(const Onnx__TensorProto *t, const PmType *type, const char *field, size_t got,
			  const char *unit, int64_t want, PmErr *err)
{
	PmStr s = PM_STR_INIT;
	PmStatus st;

	pm_type_describe(type, &s);
	st = pm_err(
		err, PM_E_INVALID,
		"Tensor '%.200s' is %s but its %s has %zu %s instead of %lld; the file is damaged, export it "
		"again.",
		label(t), s.s, field, got, unit, (long long)want);
	pm_str_release(&s);
	return st;
}

static PmStatus bad_element(const Onnx__TensorProto *t, const PmType *type, size_t i, int64_t v, PmErr *err)
{
	return pm_err(err, PM_E_INVALID,
		      "Element %zu of tensor '%.200s' is %lld, which is no %s; fix the model.", i, label(t),
		      (long long)v, pm_dtype_name(type->dtype));
}

/* 1 for the types of 4 and 2 bits, of which an int32_data holds a byte: two or four elements. */
static int shares_bytes(int dtype)
{
	return 8 % pm_dtype_bits(dtype) == 0 && pm_dtype_bits(dtype) < 8;
}

/* How many int32_data so many elements take. */
static int64_t int32_entries(int dtype, int64_t numel)
{
	return shares_bytes(dtype) ? pm__onnx_packed_bytes(dtype, numel) : numel;
}

/* Elements of 4 and 2 bits. A byte may have been written as a signed number. */
static PmStatus from_int32_bytes(const Onnx__TensorProto *t, const PmType *type, int64_t numel,
				 unsigned char *p, PmErr *err)
{
	unsigned char *packed = pm_xmalloc(t->n_int32_data + 1);
	PmStatus st = PM_OK;
	size_t i;

	for (i = 0; i < t->n_int32_data && !st; i++) {
		packed[i] = (unsigned char)t->int32_data[i];
		if (t->int32_data[i] < -128 || t->int32_data[i] > 255)
			st = bad_element(t, type, i, t->int32_data[i], err);
	}
	if (!st)
		pm__onnx_unpack_bits(type->dtype, packed, numel, p);
	free(packed);
	return st;
}

/* int32_data holds every type of at most 32 bits but float and uint32; smaller floats as their bit patterns.
 */
static PmStatus from_int32(const Onnx__TensorProto *t, const PmType *type, unsigned char *p, PmErr *err)
{
	size_t i, size = pm_dtype_size(type->dtype);

	for (i = 0; i < t->n_int32_data; i++) {
		int32_t v = t->int32_data[i];
		uint16_t h = (uint16_t)v;
		int ok;

		if (pm_dtype_is_float(type->dtype)) {
			ok = v >= 0 && v >> pm_dtype_bits(type->dtype) == 0;
			memcpy(p + size * i, &h, size);
		} else {
			ok = pm_int_wrap(type->dtype, v) == v;
			pm_int_store(type->dtype, p + size * i, v);
		}
		if (!ok)
			return bad_element(t, type, i, v, err);
	}
	return PM_OK;
}

/* uint64_data holds uint32 too. */
static PmStatus from_uint64(const Onnx__TensorProto *t, const PmType *type, unsigned char *p, PmErr *err)
{
	size_t i;

	for (i = 0; i < t->n_uint64_data; i++) {
		if (t->uint64_data[i] > UINT32_MAX)
			return bad_element(t, type, i, (int64_t)t->uint64_data[i], err);
		pm_int_store(type->dtype, p + 4 * i, (int64_t)t->uint64_data[i]);
	}
	return PM_OK;
}

/* The column of dtypes.def: the field that holds elements which are not raw bytes. */
typedef enum { FLOAT_DATA, DOUBLE_DATA, INT64_DATA, UINT64_DATA, INT32_DATA } TypedField;

static TypedField field_of(int dtype)
{
	static const TypedField fields[PM_N_DTYPES] = {
#define XX(name, number, text, bytes, cls, word, cuda, sums, peak, onnx, field, ...) [PM_##name] = field,
#include "passmith/dtypes.def"
#undef XX
	};

	return fields[dtype];
}

/* The typed field that holds elements of this type: its name, count and storage (NULL where
 * elements have to be narrowed). */
static const void *typed_field(const Onnx__TensorProto *t, int dtype, const char **name, size_t *n)
{
	switch (field_of(dtype)) {
	case FLOAT_DATA:
		*name = "float_data";
		*n = t->n_float_data;
		return t->float_data;
	case DOUBLE_DATA:
		*name = "double_data";
		*n = t->n_double_data;
		return t->double_data;
	case INT64_DATA:
		*name = "int64_data";
		*n = t->n_int64_data;
		return t->int64_data;
	case UINT64_DATA:
		*name = "uint64_data";
		*n = t->n_uint64_data;
		return pm_dtype_size(dtype) == 8 ? t->uint64_data : NULL;
	case INT32_DATA:
		break;
	}
	*name = "int32_data";
	*n = t->n_int32_data;
	return NULL;
}

static PmStatus typed_data(const Onnx__TensorProto *t, const PmType *type, int64_t numel, size_t bytes,
			   PmBlob **out, PmErr *err)
{
	const char *field;
	size_t n;
	const void *from = typed_field(t, type->dtype, &field, &n);
	int64_t entries = int32_entries(type->dtype, numel);
	unsigned char *p;
	PmStatus st;

	if (n != (uint64_t)entries)
		return bad_count(t, type, field, n, "elements", entries, err);
	p = pm_xmalloc(bytes ? bytes : 1);
	if (from) {
		memcpy(p, from, bytes);
	} else if (n) { /* of an empty list there is no pointer either, whatever its field */
		st = field_of(type->dtype) == UINT64_DATA ? from_uint64(t, type, p, err)
		     : shares_bytes(type->dtype)          ? from_int32_bytes(t, type, numel, p, err)
							  : from_int32(t, type, p, err);
		if (st) {
			free(p);
			return st;
		}
	}
	*out = pm_blob_take(p, bytes);
	return PM_OK;
}

PmStatus pm__onnx_tensor_data(Onnx__TensorProto *t, const PmType *type, int take, PmBlob **out, PmErr *err)
{
	size_t typed = t->n_float_data + t->n_double_data + t->n_int32_data + t->n_int64_data +
		       t->n_uint64_data + t->n_string_data;
	int64_t numel, bytes;
	size_t i;

	if (pm_type_numel(type, &numel, err) || pm_type_bytes(type, &bytes, err))
		return err ? err->code : PM_E_LIMIT;
	if (t->segment)
		return pm_err(err, PM_E_UNSUPPORTED,
			      "Tensor '%.200s' is split into segments; store it whole.", label(t));
	if (!t->has_raw_data)
		return typed_data(t, type, numel, (size_t)bytes, out, err);
	if (typed)
		return pm_err(err, PM_E_INVALID,
			      "Tensor '%.200s' has both raw_data and typed data; keep one of them.",
			      label(t));
	if (t->raw_data.len != (uint64_t)pm__onnx_packed_bytes(type->dtype, numel))
		return bad_count(t, type, "raw_data", t->raw_data.len, "bytes",
				 pm__onnx_packed_bytes(type->dtype, numel), err);
	if (pm_dtype_bits(type->dtype) < 8) {
		unsigned char *p = pm_xmalloc((size_t)bytes + 1);

		pm__onnx_unpack_bits(type->dtype, t->raw_data.data, numel, p);
		*out = pm_blob_take(p, (size_t)bytes);
		return PM_OK;
	}
	for (i = 0; type->dtype == PM_BOOL && i < t->raw_data.len; i++) {
		if (t->raw_data.data[i] > 1)
			return bad_element(t, type, i, t->raw_data.data[i], err);
	}
	*out = take && t->raw_data.len ? pm__onnx_alloc_take(t->raw_data.data, t->raw_data.len) : NULL;
	if (!*out) {
		*out = pm_blob_copy(t->raw_data.data, t->raw_data.len);
		return PM_OK;
	}
	t->raw_data.data = NULL;
	t->raw_data.len = 0;
	t->has_raw_data = 0;
	return PM_OK;
}

void pm__encode_element(int dtype, double v, unsigned char out[8])
{
	int64_t i = pm_dtype_is_float(dtype) ? 0 : (int64_t)v;

	if (pm_dtype_is_float(dtype))
		pm_float_store(dtype, out, v);
	else
		memcpy(out, &i, pm_dtype_size(dtype));
}

/* ---- writing ---- */

static PmStatus fill_external(Onnx__TensorProto *t, const PmBlob *blob, int64_t length, PmArena *a,
			      PmErr *err)
{
	static const char *const keys[] = { "location", "offset", "length" };
	char number[2][24];
	int k;

	snprintf(number[0], sizeof number[0], "%lld", (long long)blob->offset);
	snprintf(number[1], sizeof number[1], "%lld", (long long)length);
	t->has_data_location = 1;
	t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
	t->external_data = pm_arena_alloc(a, 3 * sizeof *t->external_data);
	for (k = 0; t->external_data && k < 3; k++) {
		Onnx__StringStringEntryProto *e = pm_arena_alloc(a, sizeof *e);

		if (!e)
			break;
		onnx__string_string_entry_proto__init(e);
		e->key = pm_arena_strdup(a, keys[k]);
		e->value = pm_arena_strdup(a,
					   k == 0 ? (blob->location ? blob->location : "") : number[k - 1]);
		t->external_data[t->n_external_data++] = e;
	}
	if (t->n_external_data < 3)
		return pm_err(err, PM_E_LIMIT, "Writing constant '%.200s' takes too much memory.", label(t));
	return PM_OK;
}

static PmStatus fill_typed(Onnx__TensorProto *t, int dtype, size_t n, const PmBlob *blob, PmArena *a,
			   PmErr *err)
{
	TypedField field = field_of(dtype);
	size_t size = pm_dtype_size(dtype), i, slot = field == UINT64_DATA ? 8 : size < 4 ? 4 : size;
	size_t bytes = n * slot;
	const unsigned char *p = blob->data;
	void *to = pm_arena_alloc(a, bytes);

	if (!to)
		return pm_err(err, PM_E_LIMIT, "Writing constant '%.200s' takes too much memory.", label(t));
	if (n && size == slot)
		memcpy(to, p, bytes);
	switch (field) {
	case FLOAT_DATA:
		t->n_float_data = n;
		t->float_data = to;
		return PM_OK;
	case DOUBLE_DATA:
		t->n_double_data = n;
		t->double_data = to;
		return PM_OK;
	case INT64_DATA:
		t->n_int64_data = n;
		t->int64_data = to;
		return PM_OK;
	case UINT64_DATA:
		t->n_uint64_data = n;
		t->uint64_data = to;
		for (i = 0; i < n && size != slot; i++)
			t->uint64_data[i] = (uint64_t)pm_int_load(dtype, p + size * i);
		return PM_OK;
	case INT32_DATA:
		t->n_int32_data = n;
		t->int32_data = to;
	}
	for (i = 0; i < n && size != slot; i++) {
		uint16_t h = 0;

		memcpy(&h, p + size * i, size <= 2 ? size : 0);
		t->int32_data[i] = pm_dtype_is_float(dtype) ? h : (int32_t)pm_int_load(dtype, p + size * i);
	}
	return PM_OK;
}

/* Elements that share bytes are written as raw_data, however few. */
static PmStatus fill_packed(Onnx__TensorProto *t, int dtype, int64_t numel, const PmBlob *blob, PmArena *a,
			    PmErr *err)
{
	t->raw_data.len = (size_t)pm__onnx_packed_bytes(dtype, numel);
	t->raw_data.data = pm_arena_alloc(a, t->raw_data.len + 1);
	if (!t->raw_data.data)
		return pm_err(err, PM_E_LIMIT, "Writing constant '%.200s' takes too much memory.", label(t));
	t->has_raw_data = 1;
	pm__onnx_pack_bits(dtype, blob->data, numel, t->raw_data.data);
	return PM_OK;
}

PmStatus pm__onnx_tensor_fill(Onnx__TensorProto *t, const char *name, const PmType *type, const PmBlob *blob,
			      PmArena *a, PmErr *err)
{
	int64_t numel, bytes;
	PmStatus st = pm_type_numel(type, &numel, err);

	if (!st)
		st = pm_type_bytes(type, &bytes, err);
	if (st)
		return st;
	if (blob->size != (uint64_t)bytes)
		return pm_err(err, PM_E_INVALID, "Constant '%.200s' holds %zu bytes but its type needs %lld.",
			      name, blob->size, (long long)bytes);
	onnx__tensor_proto__init(t);
	t->name = pm_arena_strdup(a, name);
	t->n_dims = (size_t)type->rank;
	t->dims = pm_arena_alloc(a, (size_t)type->rank * sizeof *t->dims);
	if (!t->name || !t->dims)
		return pm_err(err, PM_E_LIMIT, "Writing constant '%.200s' takes too much memory.", name);
	memcpy(t->dims, type->dim, (size_t)type->rank * sizeof *t->dims);
	t->has_data_type = 1;
	t->data_type = pm_dtype_to_onnx(type->dtype);
	if (!blob->data && blob->size)
		return fill_external(t, blob, pm__onnx_packed_bytes(type->dtype, numel), a, err);
	if (pm_dtype_bits(type->dtype) < 8)
		return fill_packed(t, type->dtype, numel, blob, a, err);
	if (bytes <= RAW_ABOVE)
		return fill_typed(t, type->dtype, (size_t)numel, blob, a, err);
	t->has_raw_data = 1;
	t->raw_data.len = blob->size;
	t->raw_data.data = (uint8_t *)(uintptr_t)blob->data; /* packing only reads it */
	return PM_OK;
}

/* ---- single tensors in files of their own ---- */

PmStatus pm_onnx_tensor_read(const void *p, size_t n, char *name, size_t name_size, PmType *type,
			     PmBlob **blob, PmErr *err)
{
	PmOnnxAlloc alloc;
	ProtobufCMessage *m = NULL;
	Onnx__TensorProto *t;
	char why[96];
	PmErr local;
	PmStatus st;

	if (!err) {
		pm_err_init(&local);
		err = &local;
	}
	m = pm__onnx_unpack(&onnx__tensor_proto__descriptor, p, n, &alloc, err);
	if (!m)
		return err->code;
	t = (Onnx__TensorProto *)m;
	st = pm__onnx_tensor_type(t, type, why, err);
	if (st == PM_DECLINED)
		st = pm_err(err, PM_E_UNSUPPORTED, "Tensor '%.200s': %s; cast it to a supported type.",
			    label(t), why);
	if (!st && t->has_data_location && t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
		st = pm_err(err, PM_E_UNSUPPORTED,
			    "Tensor '%.200s' keeps its data in another file; store it inline.", label(t));
	if (!st)
		st = pm__onnx_tensor_data(t, type, 1, blob, err);
	if (!st && name && name_size)
		snprintf(name, name_size, "%s", t->name ? t->name : "");
	pm__onnx_alloc_release(&alloc);
	return st;
}

PmStatus pm_onnx_tensor_write(const char *name, const PmType *type, const PmBlob *blob, PmStr *out,
			      PmErr *err)
{
	PmArena *a = pm_arena_new(0);
	Onnx__TensorProto t;
	PmStatus st = pm__onnx_tensor_fill(&t, name, type, blob, a, err);

	if (!st) {
		size_t n = onnx__tensor_proto__get_packed_size(&t);
		uint8_t *buf = pm_xmalloc(n ? n : 1);

		onnx__tensor_proto__pack(&t, buf);
		pm_str_addn(out, buf, n);
		free(buf);
	}
	pm_arena_free(a);
	return st;
}
