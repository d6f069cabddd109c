/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_dtype.c - ONNX's numbers for element types. */
#include "ir/core/onnx_dtype.h"

#include "ir/core/type.h"

static const struct {
	const char *name;
	int dtype; /* ours, -1 when we have none */
} onnx_types[] = {
	{ "undefined", -1 },      { "float", PM_F32 },    { "uint8", PM_U8 },       { "int8", PM_I8 },
	{ "uint16", PM_U16 },     { "int16", PM_I16 },    { "int32", PM_I32 },      { "int64", PM_I64 },
	{ "string", -1 },         { "bool", PM_BOOL },    { "float16", PM_F16 },    { "double", PM_F64 },
	{ "uint32", PM_U32 },     { "uint64", PM_U64 },   { "complex64", -1 },      { "complex128", -1 },
	{ "bfloat16", PM_BF16 },  { "float8e4m3fn", -1 }, { "float8e4m3fnuz", -1 }, { "float8e5m2", -1 },
	{ "float8e5m2fnuz", -1 }, { "uint4", -1 },        { "int4", -1 },           { "float4e2m1", -1 },
};
enum { N_ONNX_TYPES = sizeof onnx_types / sizeof *onnx_types };

int pm_dtype_from_onnx(int onnx)
{
	return onnx > 0 && onnx < N_ONNX_TYPES ? onnx_types[onnx].dtype : -1;
}

int pm_dtype_to_onnx(int dtype)
{
	int k;

	for (k = 1; dtype >= 0 && k < N_ONNX_TYPES; k++) {
		if (onnx_types[k].dtype == dtype)
			return k;
	}
	return 0;
}

const char *pm__onnx_dtype_name(int onnx)
{
	return onnx >= 0 && onnx < N_ONNX_TYPES ? onnx_types[onnx].name : "of an unknown kind";
}
