/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_dtype.c - ONNX's numbers for element types. */
#include "ir/core/onnx_dtype.h"

#include "ir/core/type.h"

/* By ONNX's number: our types from dtypes.def, and those that we have not. */
static const struct {
	const char *name;
	int is_ours, dtype;
} onnx_types[] = {
#define XX(name, number, text, bytes, cls, word, cuda, sums, peak, onnx, ...) [onnx] = { text, 1, PM_##name },
#include "passmith/dtypes.def"
#undef XX
	[0] = { "undefined", 0, 0 },
	[8] = { "string", 0, 0 },
	[14] = { "complex64", 0, 0 },
	[15] = { "complex128", 0, 0 },
};
enum { N_ONNX_TYPES = sizeof onnx_types / sizeof *onnx_types };

int pm_dtype_from_onnx(int onnx)
{
	return onnx > 0 && onnx < N_ONNX_TYPES && onnx_types[onnx].is_ours ? onnx_types[onnx].dtype : -1;
}

int pm_dtype_to_onnx(int dtype)
{
	static const int numbers[PM_N_DTYPES] = {
#define XX(name, number, text, bytes, cls, word, cuda, sums, peak, onnx, ...) [PM_##name] = onnx,
#include "passmith/dtypes.def"
#undef XX
	};

	return dtype >= 0 && dtype < PM_N_DTYPES ? numbers[dtype] : 0;
}

const char *pm__onnx_dtype_name(int onnx)
{
	return onnx >= 0 && onnx < N_ONNX_TYPES && onnx_types[onnx].name ? onnx_types[onnx].name
									 : "of an unknown kind";
}
