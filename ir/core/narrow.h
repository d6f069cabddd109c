/* SPDX-License-Identifier: Apache-2.0 */
/* narrow.h - the floating-point types of at most 8 bits (narrow.def) as bit patterns.
 *
 * A pattern stands in the low bits of a byte; bits above the type's own are not read, and are zero in what is
 * written. Rules of conversion are those of ONNX's operator Cast (opset 28).
 */
#ifndef IR_NARROW_H
#define IR_NARROW_H

#include "ir/core/type.h"

/* Rounding to float8e8m0, Cast's attribute `round_mode`: away from zero, towards zero, to the nearest power
 * with ties up. The other types round to nearest with ties to even, whatever it says. */
typedef enum { PM_ROUND_UP, PM_ROUND_DOWN, PM_ROUND_NEAREST } PmNarrowRound;
/* `saturate`: what is too large, infinities included, becomes the largest number; and in float8e8m0, what is
 * too small or zero becomes the least. Without: an infinity or else a NaN. Types that have neither always
 * saturate. */
typedef struct PmNarrowCast {
	int saturate;
	PmNarrowRound round;
} PmNarrowCast;

/* The number that a pattern of a narrow floating-point type stands for: exact. */
double pm_narrow_to_f64(int dtype, uint8_t bits);
/* The pattern of v, rounded once. A NaN stays one and keeps its sign where the type has both. ONNX leaves two
 * cases open: a NaN for a type without becomes -0, and of a negative number float8e8m0 takes the magnitude.
 */
uint8_t pm_narrow_from_f64(int dtype, double v, PmNarrowCast how);
/* The number that v becomes: pm_narrow_to_f64 of pm_narrow_from_f64. */
double pm_narrow_round(int dtype, double v, PmNarrowCast how);

#endif
