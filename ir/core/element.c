/* SPDX-License-Identifier: Apache-2.0 */
/* element.c - stored elements as numbers: the one place that knows formats. */
#include "ir/core/element.h"

#include "base/core/arena.h"
#include "base/core/half.h"
#include "ir/core/narrow.h"

#include <string.h>

/* Formats of floats.def: load_FORMAT and store_FORMAT, and the same of many elements. */
#define FORMAT(name, type, to_double, from_double)                                                           \
	static double load_##name(const void *p)                                                             \
	{                                                                                                    \
		type bits;                                                                                   \
                                                                                                             \
		memcpy(&bits, p, sizeof bits);                                                               \
		return to_double(bits);                                                                      \
	}                                                                                                    \
	static void store_##name(void *p, double v)                                                          \
	{                                                                                                    \
		type bits = from_double(v);                                                                  \
                                                                                                             \
		memcpy(p, &bits, sizeof bits);                                                               \
	}                                                                                                    \
	static void loads_##name(const void *p, int64_t n, double *to)                                       \
	{                                                                                                    \
		for (int64_t i = 0; i < n; i++)                                                              \
			to[i] = load_##name((const char *)p + i * (int64_t)sizeof(type));                    \
	}                                                                                                    \
	static void stores_##name(void *p, int64_t n, const double *v)                                       \
	{                                                                                                    \
		for (int64_t i = 0; i < n; i++)                                                              \
			store_##name((char *)p + i * (int64_t)sizeof(type), v[i]);                           \
	}
FORMAT(half, uint16_t, pm_f16_to_f64, pm_f16_from_f64)
FORMAT(bfloat, uint16_t, pm_bf16_to_f64, pm_bf16_from_f64)
FORMAT(single, float, (double), (float))
FORMAT(wide, double, (double), (double))
/* float8e8m0 saturates, so that a zero is its least number and not a NaN. */
#define XX(name, ...)                                                                                        \
	static double name##_to_f64(uint8_t bits)                                                            \
	{                                                                                                    \
		return pm_narrow_to_f64(PM_##name, bits);                                                    \
	}                                                                                                    \
	static uint8_t name##_from_f64(double v)                                                             \
	{                                                                                                    \
		return pm_narrow_from_f64(PM_##name, v,                                                      \
					  (PmNarrowCast){ PM_##name == PM_F8E8M0, PM_ROUND_NEAREST });       \
	}                                                                                                    \
	FORMAT(name, uint8_t, name##_to_f64, name##_from_f64)
#include "ir/core/narrow.def"
#undef XX
#undef FORMAT

double pm_float_load(int dtype, const void *p)
{
	switch (dtype) {
#define XX(name, format, ...)                                                                                \
	case PM_##name:                                                                                      \
		return load_##format(p);
#include "ir/core/floats.def"
#undef XX
	default:
		PM_BUG("an element of %s was read as floating point", pm_dtype_name(dtype));
	}
}

void pm_float_store(int dtype, void *p, double v)
{
	switch (dtype) {
#define XX(name, format, ...)                                                                                \
	case PM_##name:                                                                                      \
		store_##format(p, v);                                                                        \
		return;
#include "ir/core/floats.def"
#undef XX
	default:
		PM_BUG("an element of %s was stored as floating point", pm_dtype_name(dtype));
	}
}

void pm_floats_load(int dtype, const void *p, int64_t n, double *to)
{
	switch (dtype) {
#define XX(name, format, ...)                                                                                \
	case PM_##name:                                                                                      \
		loads_##format(p, n, to);                                                                    \
		return;
#include "ir/core/floats.def"
#undef XX
	default:
		PM_BUG("elements of %s were read as floating point", pm_dtype_name(dtype));
	}
}

void pm_floats_store(int dtype, void *p, int64_t n, const double *v)
{
	switch (dtype) {
#define XX(name, format, ...)                                                                                \
	case PM_##name:                                                                                      \
		stores_##format(p, n, v);                                                                    \
		return;
#include "ir/core/floats.def"
#undef XX
	default:
		PM_BUG("elements of %s were stored as floating point", pm_dtype_name(dtype));
	}
}

double pm_float_round(int dtype, double v)
{
	unsigned char p[8];

	if (!pm_dtype_is_float(dtype))
		return v;
	pm_float_store(dtype, p, v);
	return pm_float_load(dtype, p);
}

int64_t pm_int_load(int dtype, const void *p)
{
	size_t size = pm_dtype_size(dtype);
	uint64_t v = 0;

	memcpy(&v, p, size); /* little-endian, as elements are */
	return pm_int_wrap(dtype, (int64_t)v);
}

void pm_int_store(int dtype, void *p, int64_t v)
{
	v = pm_int_wrap(dtype, v);
	memcpy(p, &v, pm_dtype_size(dtype));
}

int64_t pm_int_wrap(int dtype, int64_t v)
{
	int spare = 64 - pm_dtype_bits(dtype);
	uint64_t top = (uint64_t)v << spare;

	if (dtype == PM_BOOL)
		return v != 0;
	if (spare == 0)
		return v;
	if (pm_dtype_is_unsigned(dtype))
		return (int64_t)(top >> spare);
	v = (int64_t)(top >> spare);
	return v - (v >> (63 - spare) ? (int64_t)1 << (64 - spare) : 0);
}

int64_t pm_int_from_f64(int dtype, double v)
{
	int bits = pm_dtype_bits(dtype), is_unsigned = pm_dtype_is_unsigned(dtype);
	uint64_t hi = UINT64_MAX >> (64 - bits + !is_unsigned);
	int64_t lo = is_unsigned ? 0 : -(int64_t)hi - 1;

	if (dtype == PM_BOOL)
		return v != 0;
	if (v != v)
		return 0;
	if (v >= (double)hi) /* one past the end for 64 bits, which have no double of their own there */
		return (int64_t)hi;
	if (v <= (double)lo)
		return lo;
	return is_unsigned ? (int64_t)(uint64_t)v : (int64_t)v;
}

double pm_int_to_f64(int dtype, int64_t v)
{
	return dtype == PM_U64 ? (double)(uint64_t)v : (double)v;
}

float pm_int_to_f32(int dtype, int64_t v)
{
	return dtype == PM_U64 ? (float)(uint64_t)v : (float)v;
}

int pm_int_less(int dtype, int64_t a, int64_t b)
{
	return dtype == PM_U64 ? (uint64_t)a < (uint64_t)b : a < b;
}
