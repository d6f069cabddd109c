/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_round.h - one rounding on the way to a 16-bit type, whatever it comes from. */
#ifndef RUNTIME_EMU_CUDA_ROUND_H
#define RUNTIME_EMU_CUDA_ROUND_H
#ifdef __cplusplus

#include "cuda_math.h"

/* A double as float, rounded to odd: towards zero, with the last bit set when anything was lost. Rounding
 * that to fewer digits gives what rounding the double itself would. */
PM_EMU_BUILTIN float pm_emu_odd(double v)
{
	float f = (float)v;
	unsigned u;

	if ((double)f == v || v != v)
		return f;
	u = pm_emu_bits<unsigned>(f);
	if (__builtin_fabs((double)f) > __builtin_fabs(v))
		u--;
	return pm_emu_bits<float>(u | 1u);
}

/* x + y as double, rounded to odd in the same way. */
PM_EMU_BUILTIN double pm_emu_add_odd(double x, double y)
{
	double s = x + y, t = s - x, lost = (x - (s - t)) + (y - t);
	unsigned long long u = pm_emu_bits<unsigned long long>(s);

	if (lost == 0. || s - s != 0. || (u & 1u))
		return s;
	return pm_emu_bits<double>((lost > 0.) == (s > 0.) ? u + 1 : u - 1);
}

template <class U> PM_EMU_BUILTIN float pm_emu_odd_int(U v)
{
	bool negative = v < 0;
	unsigned long long u = negative ? 0ull - (unsigned long long)v : (unsigned long long)v;
	float f;

	/* 53 bits hold the rest with its last bit set when anything was cut off. */
	if (u >> 52)
		u = (u >> 12 | ((u & 0xfffu) != 0)) << 12;
	f = pm_emu_odd((double)u);
	return negative ? -f : f;
}

/* Truncation with the hardware's ends; NaN gives 0 (for 64 bits the top bit alone). */
template <class U> PM_EMU_INLINE U pm_emu_half_to_int(float x)
{
	const bool is_signed = (U)-1 < (U)0;
	const int bits = (int)sizeof(U) * 8;
	const U top = (U)(1ull << (bits - 1));
	const U min_value = is_signed ? top : (U)0, max_value = is_signed ? (U)~top : (U) ~(U)0;
	const double end = is_signed ? (double)(1ull << (bits - 1)) : 2. * (double)(1ull << (bits - 1));

	return pm_emu_clamp<U>(trunc((double)x), is_signed ? -end : 0., end, min_value, max_value);
}

#endif
#endif
