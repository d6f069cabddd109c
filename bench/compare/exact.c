/* SPDX-License-Identifier: Apache-2.0 */
/* exact.c - |x - y| <= atol + rtol * |y| decided without rounding, for doubles and 64-bit integers.
 *
 * Nearly every pair is decided by an ordinary double computation with a margin far above its rounding
 * error. What falls inside the margin is summed up in fixed point numbers wide enough for the product of
 * any two doubles. All terms are moved to the side where they are positive, so only sums are needed:
 * |x - y| = max - min for equal signs, else |x| + |y|.
 */
#include "bench/compare/exact_priv.h"

#include <math.h>
#include <string.h>

enum {
	LOWEST = -2304, /* exponent of bit 0; the least product of two significands ends at 2^-2252 */
	LIMBS = (2304 + 2208) / 32 /* up to 2^2208; the greatest product is below 2^2048 */
};

typedef struct Fixed {
	uint32_t limb[LIMBS];
} Fixed;

/* m * 2^e */
typedef struct Number {
	uint64_t m;
	int e;
} Number;

static Number from_double(double v)
{
	Number n = { 0, 0 };
	double f = frexp(v, &n.e);

	n.m = (uint64_t)ldexp(f, 53);
	n.e -= 53;
	return n;
}

static void add_limbs(Fixed *a, int at, uint64_t v)
{
	for (; v && at < LIMBS; at++) {
		v += a->limb[at];
		a->limb[at] = (uint32_t)v;
		v >>= 32;
	}
}

static void add(Fixed *a, uint64_t m, int e)
{
	int bit = e - LOWEST, at = bit / 32, shift = bit % 32;

	add_limbs(a, at, (m & 0xffffffffu) << shift);
	add_limbs(a, at + 1, (m >> 32) << shift);
}

static void add_product(Fixed *a, Number x, Number y)
{
	uint64_t x0 = x.m & 0xffffffffu, x1 = x.m >> 32, y0 = y.m & 0xffffffffu, y1 = y.m >> 32;
	int e = x.e + y.e;

	add(a, x0 * y0, e);
	add(a, x0 * y1, e + 32);
	add(a, x1 * y0, e + 32);
	add(a, x1 * y1, e + 64);
}

static int less_equal(const Fixed *a, const Fixed *b)
{
	for (int i = LIMBS - 1; i >= 0; i--) {
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i];
	}
	return 1;
}

/* | x - y | <= atol + rtol y for magnitudes x, y >= 0 when `opposite` is 0, x + y <= ... when it is 1. */
static int exact(Number x, Number y, int opposite, int x_is_greater, const PmTol *tol)
{
	Number atol = from_double(tol->atol), rtol = from_double(tol->rtol);
	Fixed left, right;

	memset(&left, 0, sizeof left);
	memset(&right, 0, sizeof right);
	add(&right, atol.m, atol.e);
	add_product(&right, rtol, y);
	add(x_is_greater || opposite ? &left : &right, x.m, x.e);
	add(!x_is_greater || opposite ? &left : &right, y.m, y.e);
	return less_equal(&left, &right);
}

/* 1 or 0 when the doubles leave no doubt, else -1. */
static int clear_case(double diff, double allowed)
{
	if (!isfinite(diff) || !isfinite(allowed) || allowed < 1e-280)
		return -1;
	if (diff < allowed * (1 - 1e-12))
		return 1;
	return diff > allowed * (1 + 1e-12) ? 0 : -1;
}

static int usable(const PmTol *tol)
{
	return tol->atol >= 0 && tol->rtol >= 0 && isfinite(tol->atol) && isfinite(tol->rtol);
}

int pm__exact_close_f64(double x, double y, const PmTol *tol)
{
	int verdict;

	if (x == y)
		return 1;
	if (!isfinite(x) || !isfinite(y) || !usable(tol))
		return 0;
	verdict = clear_case(fabs(x - y), tol->atol + tol->rtol * fabs(y));
	if (verdict >= 0)
		return verdict;
	return exact(from_double(fabs(x)), from_double(fabs(y)), (x < 0) != (y < 0), fabs(x) > fabs(y), tol);
}

int pm__exact_close_i64(int64_t x, int64_t y, const PmTol *tol)
{
	uint64_t mx = x < 0 ? 0 - (uint64_t)x : (uint64_t)x, my = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
	uint64_t diff = x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
	int verdict;

	if (x == y)
		return 1;
	if (!usable(tol))
		return 0;
	verdict = clear_case((double)diff, tol->atol + tol->rtol * (double)my);
	if (verdict >= 0)
		return verdict;
	return exact((Number){ mx, 0 }, (Number){ my, 0 }, (x < 0) != (y < 0), mx > my, tol);
}
