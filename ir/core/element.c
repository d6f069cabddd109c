/* SPDX-License-Identifier: Apache-2.0 */
/* element.c - elements of integer and bool types as 64-bit words. */
#include "ir/core/element.h"

#include <string.h>

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
	int spare = 64 - 8 * (int)pm_dtype_size(dtype);
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
	int bits = 8 * (int)pm_dtype_size(dtype), is_unsigned = pm_dtype_is_unsigned(dtype);
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
