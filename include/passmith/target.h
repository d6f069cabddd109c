/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - constants of a GPU by name, and what its libraries take for a product or a convolution.
 *
 *   microseconds = call + ramp x operations / (operations + ramp_flops)
 *                + rise x terms / (terms + short) + term x terms / (1 + terms / long)
 *                + operations / rate + bytes / bandwidth
 *
 * where terms are those of a sum. Sums of few terms hide less of what their operands wait for; sums of many
 * are shared by more blocks. call, ramp, rise, term and rate are constants of the target (call_* of
 * docs/reference/targets.md), by kind of call. They are fitted to single calls and to whole graphs:
 * docs/results/modelled-times.md. The modelled clock and `fuse` both go by this formula.
 */
#ifndef PASSMITH_TARGET_H
#define PASSMITH_TARGET_H

#include "passmith/pass.h"

/* ---- the constants of a GPU ---- */

typedef enum PmCallKind {
	PM_CALL_ROW,     /* one row, one column or sums of 1 or 2: the eager run's own kernel is faster */
	PM_CALL_ODD,     /* a product of half types whose rows do not begin at 16 bytes */
	PM_CALL_PRODUCT, /* any other product */
	PM_CALL_IMAGE,   /* a convolution of 1 by 1, which is a product */
	PM_CALL_UNEVEN,  /* the same where channels of half types do not begin at 16 bytes */
	PM_CALL_WINDOW,  /* any other convolution */
	PM_CALL_GROUP,   /* a convolution in groups */
	PM_N_CALL_KINDS
} PmCallKind;

/* What one kind of call takes. A part that the kind does not have is 0. */
typedef struct PmCallCosts {
	double us, ramp_us, ramp_flops, rise_us, short_terms, term_us, terms_per_long /* 1 / long */,
		us_per_flop, us_per_byte;
	double bias_us; /* what a bias takes beside, of a convolution in steps of 1; 0 of other kinds */
} PmCallCosts;

/* 1 when the texts are equal. */
static inline int pm_str_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* A constant of the target's cost model: 1 and its value, or 0 when the target has none of that name. */
static inline int pm_target_number(const PmTarget *t, const char *name, double *out)
{
	uint32_t i;

	for (i = 0; i < t->n_numbers; i++)
		if (pm_str_same(t->number[i].name, name)) {
			*out = t->number[i].value;
			return 1;
		}
	return 0;
}

/* Kind of a product of m rows, n columns and sums of k terms; half: of float16 or bfloat16, else of float. */
static inline PmCallKind pm_call_of_product(int64_t m, int64_t n, int64_t k, int half)
{
	if (m == 1 || n == 1 || k <= 2)
		return PM_CALL_ROW;
	return half && (n % 8 || k % 8) ? PM_CALL_ODD : PM_CALL_PRODUCT;
}

/* Kind of a convolution with so many images, places of each, elements of a window without its channels
 * (taps), and groups. */
static inline PmCallKind pm_call_of_conv(int64_t images, int64_t places, int64_t taps, int64_t groups)
{
	if (groups > 1)
		return PM_CALL_GROUP;
	if (taps > 1)
		return PM_CALL_WINDOW;
	if (images * places == 1)
		return PM_CALL_ROW;
	return places % 8 && places > 1 ? PM_CALL_UNEVEN : PM_CALL_IMAGE;
}

/* What a kind of call takes on t. NULL, or the name of the first constant that t lacks. */
static inline const char *pm_call_costs(const PmTarget *t, PmCallKind kind, int half, PmCallCosts *out)
{
	enum { US, RAMP, RISE, TERM, LONG, RATE, N };
#define PM_CALL_RAMPED_(x)                                                                                   \
	{                                                                                                    \
		"call_" x "_us", "call_" x "_ramp_us", 0, "call_" x "_term_us", 0, "call_" x "_flops_per_us" \
	}
#define PM_CALL_STEADY_(x)                                                                                   \
	{                                                                                                    \
		"call_" x "_us", 0, 0, "call_" x "_term_us", 0, "call_" x "_flops_per_us"                    \
	}
#define PM_CALL_ROW_                                                                                         \
	{                                                                                                    \
		"call_row_us", 0, 0, "call_row_term_us", "call_row_long_terms", 0                            \
	}
#define PM_CALL_F32_                                                                                         \
	{                                                                                                    \
		"call_f32_us", "call_f32_ramp_us", "call_f32_rise_us", "call_f32_term_us",                   \
			"call_long_terms", "call_f32_flops_per_us"                                           \
	}
	static const char *const names[PM_N_CALL_KINDS][2][N] = {
		[PM_CALL_ROW] = { PM_CALL_ROW_, PM_CALL_ROW_ },
		[PM_CALL_ODD] = { PM_CALL_F32_,
				  { "call_odd_us", 0, "call_odd_rise_us", "call_odd_term_us",
				    "call_long_terms", "call_odd_flops_per_us" } },
		[PM_CALL_PRODUCT] = { PM_CALL_F32_,
				      { "call_half_us", 0, 0, "call_half_term_us", "call_long_terms",
					"call_half_flops_per_us" } },
		[PM_CALL_IMAGE] = { PM_CALL_RAMPED_("image_f32"), PM_CALL_STEADY_("image_half") },
		[PM_CALL_UNEVEN] = { PM_CALL_RAMPED_("image_f32"), PM_CALL_RAMPED_("uneven") },
		[PM_CALL_WINDOW] = { PM_CALL_RAMPED_("conv_f32"), PM_CALL_RAMPED_("conv_half") },
		[PM_CALL_GROUP] = { PM_CALL_RAMPED_("group_f32"), PM_CALL_RAMPED_("group_half") },
	};
#undef PM_CALL_RAMPED_
#undef PM_CALL_STEADY_
#undef PM_CALL_ROW_
#undef PM_CALL_F32_
	double x[N] = { 0 };
	int i;

	for (i = 0; i < N; i++)
		if (names[kind][!!half][i] && !pm_target_number(t, names[kind][!!half][i], &x[i]))
			return names[kind][!!half][i];
	if (!pm_target_number(t, "call_ramp_flops", &out->ramp_flops))
		return "call_ramp_flops";
	if (!pm_target_number(t, "call_short_terms", &out->short_terms))
		return "call_short_terms";
	out->bias_us = 0;
	if ((kind == PM_CALL_IMAGE || kind == PM_CALL_UNEVEN) &&
	    !pm_target_number(t, "call_bias_us", &out->bias_us))
		return "call_bias_us";
	out->us = x[US];
	out->ramp_us = x[RAMP];
	out->rise_us = x[RISE];
	out->term_us = x[TERM];
	out->terms_per_long = x[LONG] > 0 ? 1 / x[LONG] : 0;
	out->us_per_flop = x[RATE] > 0 ? 1 / x[RATE] : 0;
	out->us_per_byte = 1e6 / t->copy_bytes_per_second;
	return 0;
}

/* Microseconds of a call with sums of so many terms, operations (a multiplication and addition are two), and
 * bytes of its operands and results. Its launch is in it. */
static inline double pm_call_us(const PmCallCosts *c, double terms, double operations, double bytes)
{
	return c->us + c->ramp_us * operations / (operations + c->ramp_flops) +
	       c->rise_us * terms / (terms + c->short_terms) +
	       c->term_us * terms / (1 + terms * c->terms_per_long) + c->us_per_flop * operations +
	       c->us_per_byte * bytes;
}

#endif
