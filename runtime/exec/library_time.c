/* SPDX-License-Identifier: Apache-2.0 */
/* library_time.c - the modelled time of calls that libraries take on a GPU. */
#include "runtime/exec/library_time.h"

#include "ir/core/type.h"

/* Names of constants; NULL = there is none, and the part of the formula is left out. */
typedef struct Kind {
	const char *us, *ramp_us, *term_us, *flops_per_us;
} Kind;

#define RAMPED(name)                                                                                         \
	{                                                                                                    \
		"call_" name "_us", "call_" name "_ramp_us", "call_" name "_term_us",                        \
			"call_" name "_flops_per_us"                                                         \
	}
#define STEADY(name)                                                                                         \
	{                                                                                                    \
		"call_" name "_us", NULL, "call_" name "_term_us", "call_" name "_flops_per_us"              \
	}
static const Kind row = { "call_row_us", NULL, "call_row_term_us", NULL }, odd = STEADY("odd");
/* Of float, and of half types. */
static const Kind product[] = { RAMPED("f32"), STEADY("half") };
static const Kind image[] = { RAMPED("image_f32"), STEADY("image_half") };
static const Kind window[] = { RAMPED("conv_f32"), RAMPED("conv_half") };
static const Kind group[] = { RAMPED("group_f32"), RAMPED("group_half") };

static int64_t product_of(const int64_t *v, int n)
{
	int64_t all = 1;

	for (int i = 0; i < n; i++)
		all *= v[i];
	return all;
}

static const Kind *kind_of_gemm(const PmLibGemm *g, int half, int64_t *terms)
{
	*terms = g->k;
	if (g->m == 1 || g->n == 1)
		return &row;
	return half && (g->n % 8 || g->k % 8) ? &odd : &product[half];
}

static const Kind *kind_of_conv(const PmLibConv *c, int half, int64_t *terms)
{
	int64_t taps = product_of(c->w + 2, c->spatial);

	*terms = (c->transposed ? c->w[0] / c->groups : c->w[1]) * taps;
	if (c->groups > 1)
		return &group[half];
	if (taps > 1 || c->transposed)
		return &window[half];
	return c->y[1] == 1 || c->y[0] * product_of(c->y + 2, c->spatial) == 1 ? &row : &image[half];
}

static double of(const PmProfile *prof, const char *name)
{
	return name ? pm_target_cost(prof->target, name) : 0;
}

double pm_library_seconds(const PmLibCall *c, int64_t bytes, int64_t flops, const PmProfile *prof)
{
	int half = c->dtype == PM_F16 || c->dtype == PM_BF16;
	double us, n = (double)flops;
	int64_t terms;
	const Kind *k;

	if (!half && c->dtype != PM_F32)
		return pm_profile_launch_seconds(prof, bytes, flops, pm_dtype_peak(c->dtype));
	k = c->kind == PM_LIB_GEMM ? kind_of_gemm(&c->gemm, half, &terms)
				   : kind_of_conv(&c->conv, half, &terms);
	us = of(prof, k->us) + of(prof, k->term_us) * (double)terms;
	us += of(prof, k->ramp_us) * n / (n + of(prof, "library_ramp_flops"));
	us += k->flops_per_us ? n / of(prof, k->flops_per_us) : 0;
	return us * 1e-6 + (double)bytes / prof->bytes_per_second;
}

double pm_depthwise_seconds(int64_t bytes, int64_t flops, const PmProfile *prof)
{
	return prof->launch_seconds + (double)bytes / prof->bytes_per_second +
	       (double)flops / of(prof, "call_depth_flops_per_us") * 1e-6;
}
