/* SPDX-License-Identifier: Apache-2.0 */
/* narrow.c - conversions between doubles and the patterns of narrow.def. */
#include "ir/core/narrow.h"

#include "base/core/arena.h"

#include <math.h>

typedef enum { SP_IEEE, SP_ONES, SP_MINUS_ZERO, SP_FINITE, SP_POWERS } Specials;

typedef struct Format {
	int sign, exponent, mantissa, bias;
	Specials specials;
} Format;

static const Format formats[PM_N_DTYPES] = {
#define XX(name, sign, exponent, mantissa, bias, specials)                                                   \
	[PM_##name] = { sign, exponent, mantissa, bias, SP_##specials },
#include "ir/core/narrow.def"
#undef XX
};

static const Format *format_of(int dtype)
{
	if (dtype < 0 || dtype >= PM_N_DTYPES || !formats[dtype].exponent)
		PM_BUG("an element of %s was taken for a narrow float", pm_dtype_name(dtype));
	return &formats[dtype];
}

/* All bits below the sign. */
static unsigned ones(const Format *f)
{
	return (1u << (f->exponent + f->mantissa)) - 1;
}

static unsigned infinity(const Format *f)
{
	return ((1u << f->exponent) - 1) << f->mantissa;
}

static double powers_to_f64(const Format *f, unsigned bits)
{
	return bits == ones(f) ? (double)NAN : ldexp(1, (int)bits - f->bias);
}

double pm_narrow_to_f64(int dtype, uint8_t byte)
{
	const Format *f = format_of(dtype);
	unsigned at = byte & ones(f), minus = f->sign ? byte >> (f->exponent + f->mantissa) & 1 : 0;
	unsigned e = at >> f->mantissa, m = at & ((1u << f->mantissa) - 1);
	double v;

	if (f->specials == SP_POWERS)
		return powers_to_f64(f, at);
	if (f->specials == SP_IEEE && at >= infinity(f))
		v = m ? (double)NAN : HUGE_VAL;
	else if ((f->specials == SP_ONES && at == ones(f)) || (f->specials == SP_MINUS_ZERO && !at && minus))
		v = NAN;
	else if (e)
		v = ldexp((double)(m + (1u << f->mantissa)), (int)e - f->bias - f->mantissa);
	else
		v = ldexp((double)m, 1 - f->bias - f->mantissa);
	return minus ? -v : v;
}

/* Which power of two: [v] is compared with the range, as Cast's table does for the other types. */
static unsigned powers_from_f64(const Format *f, double v, PmNarrowCast how)
{
	unsigned nan = ones(f);
	int e;
	double digits; /* of v: at least a half and less than 1 */

	if (isnan(v))
		return nan;
	v = fabs(v);
	if (v == 0 || isinf(v))
		return !how.saturate ? nan : v == 0 ? 0 : nan - 1;
	digits = frexp(v, &e);
	e += f->bias - 1;
	e += (how.round == PM_ROUND_UP && digits > 0.5) || (how.round == PM_ROUND_NEAREST && digits >= 0.75);
	if (e >= 0 && e < (int)nan)
		return (unsigned)e;
	return !how.saturate ? nan : e < 0 ? 0 : nan - 1;
}

static unsigned nan_of(const Format *f, unsigned minus)
{
	switch (f->specials) {
	case SP_IEEE:
		return minus | infinity(f) | 1u << (f->mantissa - 1);
	case SP_ONES:
		return minus | ones(f);
	case SP_MINUS_ZERO:
	case SP_FINITE:
		break;
	case SP_POWERS:
		return ones(f);
	}
	return 1u << (f->exponent + f->mantissa);
}

static unsigned largest(const Format *f)
{
	return f->specials == SP_IEEE ? infinity(f) - 1 : f->specials == SP_ONES ? ones(f) - 1 : ones(f);
}

uint8_t pm_narrow_from_f64(int dtype, double v, PmNarrowCast how)
{
	const Format *f = format_of(dtype);
	unsigned minus = signbit(v) ? 1u << (f->exponent + f->mantissa) : 0;
	double a = fabs(v), code;
	int e;

	if (f->specials == SP_POWERS)
		return (uint8_t)powers_from_f64(f, v, how);
	if (isnan(v))
		return (uint8_t)nan_of(f, minus);
	if (a == 0)
		return (uint8_t)(f->specials == SP_MINUS_ZERO ? 0 : minus);
	/* Units of the last digit in which v is counted. A carry raises the exponent by itself. */
	e = isinf(a) || ilogb(a) < 1 - f->bias ? 1 - f->bias : ilogb(a);
	code = rint(ldexp(a, f->mantissa - e)) + ldexp(e + f->bias - 1, f->mantissa);
	if (code <= largest(f))
		return (uint8_t)(code == 0 && f->specials == SP_MINUS_ZERO ? 0 : minus | (unsigned)code);
	if (how.saturate || f->specials == SP_FINITE)
		return (uint8_t)(minus | largest(f));
	return (uint8_t)(f->specials == SP_IEEE ? minus | infinity(f) : nan_of(f, minus));
}

double pm_narrow_round(int dtype, double v, PmNarrowCast how)
{
	return pm_narrow_to_f64(dtype, pm_narrow_from_f64(dtype, v, how));
}
