/* SPDX-License-Identifier: Apache-2.0 */
/* type.c - element types and tensor types: names, sizes, comparison, text for messages. */
#include "ir/core/type.h"

#include "base/core/arena.h"

#include <string.h>

typedef enum { CLS_FLOAT, CLS_INT, CLS_UINT, CLS_BOOL, CLS_NFLOAT, CLS_NINT, CLS_NUINT } DTypeClass;

static const struct {
	const char *name;
	size_t size;
	DTypeClass cls;
	const char *word, *cuda, *torch;
	PmDType sums;
	PmDTypePeak peak;
	int bits;
} dtypes[PM_N_DTYPES] = {
#define XX(name, number, text, bytes, cls, word, cuda, sums, peak, onnx, field, torch, bits)                 \
	[PM_##name] = { text, bytes, CLS_##cls, word, cuda, torch, PM_##sums, PM_PEAK_##peak, bits },
#include "passmith/dtypes.def"
#undef XX
};

/* Each element type of class FLOAT or NFLOAT has its row in floats.def: without, ROW_OF_<name> is no
 * constant. Those of NFLOAT have one in narrow.def. */
enum {
#define XX(name, ...) ROW_OF_##name,
#include "ir/core/floats.def"
#undef XX
#define XX(name, ...) FORMAT_OF_##name,
#include "ir/core/narrow.def"
#undef XX
#define ROW_FLOAT(name)                         ROW_OF_##name
#define ROW_NFLOAT(name)                        ROW_OF_##name + FORMAT_OF_##name
#define ROW_NINT(name)                          0
#define ROW_NUINT(name)                         0
#define ROW_INT(name)                           0
#define ROW_UINT(name)                          0
#define ROW_BOOL(name)                          0
#define XX(name, number, text, bytes, cls, ...) NEEDS_##name = ROW_##cls(name),
#include "passmith/dtypes.def"
#undef XX
};

static const PmFloatType floats[PM_N_DTYPES] = {
#define XX(name, format, ...) [PM_##name] = { __VA_ARGS__ },
#include "ir/core/floats.def"
#undef XX
};

static int known(int dtype)
{
	return dtype >= 0 && dtype < PM_N_DTYPES;
}

PmType pm_type(PmDType dtype, int rank, const int64_t *dim)
{
	PmType t;
	int i;

	if (rank < 0 || rank > PM_MAX_RANK)
		PM_BUG("a type of rank %d was asked for", rank);
	memset(&t, 0, sizeof t);
	t.dtype = (int32_t)dtype;
	t.rank = rank;
	for (i = 0; i < rank; i++)
		t.dim[i] = dim[i];
	return t;
}

PmType pm_type_unknown(void)
{
	PmType t;

	memset(&t, 0, sizeof t);
	t.dtype = -1;
	t.rank = -1;
	return t;
}

size_t pm_dtype_size(int dtype)
{
	return known(dtype) ? dtypes[dtype].size : 0;
}

int pm_dtype_bits(int dtype)
{
	return known(dtype) ? dtypes[dtype].bits : 0;
}

const char *pm_dtype_name(int dtype)
{
	return known(dtype) ? dtypes[dtype].name : "undefined";
}

int pm_dtype_from_name(const char *name)
{
	int i;

	for (i = 0; name && i < PM_N_DTYPES; i++) {
		if (strcmp(dtypes[i].name, name) == 0)
			return i;
	}
	return -1;
}

int pm_dtype_is_float(int dtype)
{
	return known(dtype) && (dtypes[dtype].cls == CLS_FLOAT || dtypes[dtype].cls == CLS_NFLOAT);
}

int pm_dtype_is_narrow(int dtype)
{
	return known(dtype) && dtypes[dtype].cls >= CLS_NFLOAT;
}

int pm_dtype_is_half(int dtype)
{
	return pm_dtype_is_float(dtype) && dtypes[dtype].size == 2;
}

const char *pm_dtype_word(int dtype)
{
	return known(dtype) ? dtypes[dtype].word : NULL;
}

const char *pm_dtype_cuda(int dtype)
{
	return known(dtype) ? dtypes[dtype].cuda : NULL;
}

const char *pm_dtype_torch(int dtype)
{
	return known(dtype) ? dtypes[dtype].torch : NULL;
}

int pm_dtype_sums(int dtype)
{
	return known(dtype) ? (int)dtypes[dtype].sums : PM_I64;
}

PmDTypePeak pm_dtype_peak(int dtype)
{
	return known(dtype) ? dtypes[dtype].peak : PM_PEAK_INTEGER;
}

const PmFloatType *pm_float_type(int dtype)
{
	return pm_dtype_is_float(dtype) ? &floats[dtype] : NULL;
}

int pm_float_is_short_range(int dtype)
{
	return pm_dtype_is_float(dtype) && floats[dtype].largest < 0x1p64;
}

int pm_dtype_is_int(int dtype)
{
	return known(dtype) && !pm_dtype_is_float(dtype) && dtypes[dtype].cls != CLS_BOOL;
}

int pm_dtype_is_unsigned(int dtype)
{
	return known(dtype) && (dtypes[dtype].cls == CLS_UINT || dtypes[dtype].cls == CLS_NUINT);
}

int pm_type_equal(const PmType *a, const PmType *b)
{
	int i;

	if (a->dtype != b->dtype || a->rank != b->rank)
		return 0;
	for (i = 0; i < a->rank; i++) {
		if (a->dim[i] != b->dim[i])
			return 0;
	}
	return 1;
}

int pm_type_is_static(const PmType *t)
{
	int i;

	if (!known(t->dtype) || t->rank < 0)
		return 0;
	for (i = 0; i < t->rank; i++) {
		if (t->dim[i] < 0)
			return 0;
	}
	return 1;
}

/* Product of the dimensions and `unit`. A zero dimension makes it 0 whatever the others are. */
static PmStatus product(const PmType *t, int64_t unit, const char *what, int64_t *out, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmStatus st = PM_OK;
	int64_t n = unit;
	int i, zero = 0;

	if (!pm_type_is_static(t)) {
		pm_type_describe(t, &text);
		st = pm_err(err, PM_E_SHAPE, "The number of %s of %s is not known before its shape is.", what,
			    text.s);
		goto out;
	}
	for (i = 0; i < t->rank; i++)
		zero |= t->dim[i] == 0;
	for (i = 0; i < t->rank && !zero; i++) {
		if (!pm_mul_i64(n, t->dim[i], &n)) {
			pm_type_describe(t, &text);
			st = pm_err(err, PM_E_LIMIT, "The number of %s of %s does not fit in 63 bits.", what,
				    text.s);
			goto out;
		}
	}
	*out = zero ? 0 : n;
out:
	pm_str_release(&text);
	return st;
}

PmStatus pm_type_numel(const PmType *t, int64_t *out, PmErr *err)
{
	return product(t, 1, "elements", out, err);
}

PmStatus pm_type_bytes(const PmType *t, int64_t *out, PmErr *err)
{
	return product(t, (int64_t)pm_dtype_size(t->dtype), "bytes", out, err);
}

void pm_type_describe(const PmType *t, PmStr *out)
{
	int i;

	pm_str_add(out, pm_dtype_name(t->dtype));
	if (t->rank < 0)
		pm_str_add(out, "[...]");
	if (t->rank <= 0)
		return;
	for (i = 0; i < t->rank; i++) {
		pm_str_addc(out, i ? ',' : '[');
		if (t->dim[i] >= 0)
			pm_str_addf(out, "%lld", (long long)t->dim[i]);
		else
			pm_str_addf(out, "?%lld", (long long)-(t->dim[i] + 1));
	}
	pm_str_addc(out, ']');
}
