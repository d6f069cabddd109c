/* SPDX-License-Identifier: Apache-2.0 */
/* half.h - IEEE binary16 ("f16") and bfloat16 numbers as their 16-bit patterns.
 *
 * Every conversion to a narrower type rounds once, to nearest with ties to even, straight from the
 * argument: pm_f16_from_f64 never goes through float, so there is no double rounding. Overflow gives an
 * infinity, underflow a signed zero or a subnormal. A NaN stays a NaN: sign and leading payload bits are
 * kept and the quiet bit is set. Widening is exact. Nothing here depends on the rounding mode or traps.
 */
#ifndef BASE_HALF_H
#define BASE_HALF_H

#include <stdint.h>

/* The number that 16 bits of IEEE binary16 stand for: exact. */
double pm_f16_to_f64(uint16_t h);
float pm_f16_to_f32(uint16_t h);
/* The binary16 number next to x, as its 16 bits. */
uint16_t pm_f16_from_f64(double x);
uint16_t pm_f16_from_f32(float x);

/* The number that 16 bits of bfloat16 stand for: exact. */
double pm_bf16_to_f64(uint16_t h);
float pm_bf16_to_f32(uint16_t h);
/* The bfloat16 number next to x, as its 16 bits. */
uint16_t pm_bf16_from_f64(double x);
uint16_t pm_bf16_from_f32(float x);

#endif
