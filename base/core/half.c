/* SPDX-License-Identifier: Apache-2.0 */
/* half.c - conversions between binary16 / bfloat16 patterns and float or double.
 *
 * Both formats are handled by one pair of functions on bit patterns, parametrised by the number of
 * stored significand bits: 10 for binary16 (5 exponent bits), 7 for bfloat16 (8 exponent bits).
 */
#include "base/core/half.h"

#include <string.h>

enum { F16_MANT = 10, BF16_MANT = 7, F64_MANT = 52, F64_BIAS = 1023, F64_EXP_ALL = 0x7ff };

static uint64_t bits_of(double x)
{
	uint64_t u;

	memcpy(&u, &x, sizeof u);
	return u;
}

static double f64_of(uint64_t u)
{
	double x;

	memcpy(&x, &u, sizeof x);
	return x;
}

/* Rounds the double with pattern u to the 16-bit format with `mant` significand bits. */
static uint16_t narrow(uint64_t u, int mant)
{
	const int bias = (1 << (14 - mant)) - 1;
	const uint32_t inf = (uint32_t)(2 * bias + 1) << mant;
	const uint32_t sign = (uint32_t)(u >> 63) << 15;
	const int biased = (int)(u >> F64_MANT & F64_EXP_ALL);
	uint64_t m = u & ((1ull << F64_MANT) - 1), q, rest, half;
	int e = biased - F64_BIAS, shift = F64_MANT - mant;

	if (biased == F64_EXP_ALL && m)
		return (uint16_t)(sign | inf | (uint32_t)(m >> shift) | 1u << (mant - 1));
	if (e > bias)
		return (uint16_t)(sign | inf);
	if (e < 1 - bias)
		shift += 1 - bias - e;
	/* From here on m < 2^53, so a shift of 54 leaves less than half a unit: zero. Subnormal doubles
	 * are far below that. */
	if (biased == 0 || shift > F64_MANT + 1)
		return (uint16_t)sign;
	m |= 1ull << F64_MANT;
	q = m >> shift;
	rest = m & ((1ull << shift) - 1);
	half = 1ull << (shift - 1);
	if (rest > half || (rest == half && (q & 1)))
		q++;
	/* A carry out of the significand raises the exponent by itself, up to infinity. */
	if (e >= 1 - bias)
		q += (uint64_t)(e + bias - 1) << mant;
	return (uint16_t)(sign | (uint32_t)q);
}

/* The double equal to pattern h of the format with `mant` significand bits. */
static double widen(uint16_t h, int mant)
{
	const int bias = (1 << (14 - mant)) - 1, exp_all = 2 * bias + 1;
	const uint64_t sign = (uint64_t)(h >> 15) << 63;
	int e = h >> mant & exp_all;
	uint64_t m = h & ((1u << mant) - 1);

	if (e == exp_all)
		return f64_of(sign | (uint64_t)F64_EXP_ALL << F64_MANT | m << (F64_MANT - mant));
	if (e == 0) {
		if (m == 0)
			return f64_of(sign);
		for (e = 1; !(m >> mant); e--)
			m <<= 1;
		m &= (1u << mant) - 1;
	}
	return f64_of(sign | (uint64_t)(e - bias + F64_BIAS) << F64_MANT | m << (F64_MANT - mant));
}

double pm_f16_to_f64(uint16_t h)
{
	return widen(h, F16_MANT);
}

float pm_f16_to_f32(uint16_t h)
{
	return (float)widen(h, F16_MANT);
}

uint16_t pm_f16_from_f64(double x)
{
	return narrow(bits_of(x), F16_MANT);
}

/* Widening a float is exact, so this is still one rounding. */
uint16_t pm_f16_from_f32(float x)
{
	return narrow(bits_of(x), F16_MANT);
}

double pm_bf16_to_f64(uint16_t h)
{
	return widen(h, BF16_MANT);
}

float pm_bf16_to_f32(uint16_t h)
{
	uint32_t u = (uint32_t)h << 16;
	float x;

	memcpy(&x, &u, sizeof x);
	return x;
}

uint16_t pm_bf16_from_f64(double x)
{
	return narrow(bits_of(x), BF16_MANT);
}

uint16_t pm_bf16_from_f32(float x)
{
	return narrow(bits_of(x), BF16_MANT);
}
