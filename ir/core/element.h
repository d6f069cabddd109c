/* SPDX-License-Identifier: Apache-2.0 */
/* element.h - stored elements as numbers: floating-point types as doubles, integers and bool as 64-bit words.
 *
 * A word holds the element's value; of uint64 it holds the bits, so that values from 2^63 on look negative.
 * Whoever compares, divides or converts words of uint64 has to ask here.
 */
#ifndef IR_ELEMENT_H
#define IR_ELEMENT_H

#include "ir/core/type.h"

/* The value of a stored element of a floating-point type (little-endian, any alignment): exact. And back:
 * rounded once to the type, to nearest with ties to even; what is too large becomes an infinity, or what a
 * narrow type has instead (narrow.h, without saturation, but for
 * float8e8m0, in which zero becomes the least number). */
double pm_float_load(int dtype, const void *p);
void pm_float_store(int dtype, void *p, double v);
/* The same of n elements that lie one behind the other. */
void pm_floats_load(int dtype, const void *p, int64_t n, double *to);
void pm_floats_store(int dtype, void *p, int64_t n, const double *v);
/* v as the type would store it; v itself for a type that is not floating point. */
double pm_float_round(int dtype, double v);

/* The word of a stored element (little-endian, any alignment); bool reads as 0 or 1. And back: wrapped to
 * what the type holds. dtype is an integer type or bool. */
int64_t pm_int_load(int dtype, const void *p);
void pm_int_store(int dtype, void *p, int64_t v);

/* v wrapped to what an integer type holds; bool is v != 0. */
int64_t pm_int_wrap(int dtype, int64_t v);
/* A double as an element of an integer type: truncated, out of range goes to the nearest end, NaN to 0;
 * bool is v != 0. And a word as a double or float, rounded once. */
int64_t pm_int_from_f64(int dtype, double v);
double pm_int_to_f64(int dtype, int64_t v);
float pm_int_to_f32(int dtype, int64_t v);
/* 1 when a is less than b, as elements of the type. */
int pm_int_less(int dtype, int64_t a, int64_t b);

#endif
