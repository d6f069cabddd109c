/* SPDX-License-Identifier: Apache-2.0 */
/* library_time.c - the modelled time of launches of the plain run. */
#include "runtime/exec/library_time.h"

#include "ir/core/type.h"
#include "passmith/target.h"

#include <math.h>

static int64_t product_of(const int64_t *v, int n)
{
	int64_t all = 1;

	for (int i = 0; i < n; i++)
		all *= v[i];
	return all;
}

static PmCallKind kind_of(const PmLibCall *c, int half, int64_t *terms)
{
	const PmLibConv *w = &c->conv;
	int64_t taps;

	if (c->kind == PM_LIB_GEMM) {
		*terms = c->gemm.k;
		return pm_call_of_product(c->gemm.m, c->gemm.n, c->gemm.k, half);
	}
	taps = product_of(w->w + 2, w->spatial);
	*terms = (w->transposed ? w->w[0] / w->groups : w->w[1]) * taps;
	return pm_call_of_conv(w->y[0], product_of(w->y + 2, w->spatial), taps, w->groups);
}

/* A transposed convolution is a product of floats, and a launch that puts them together (lib_algo_back.c). */
static double transposed_seconds(const PmLibConv *w, int half, int64_t bytes, int64_t flops,
				 const PmProfile *prof)
{
	int64_t taps = product_of(w->w + 2, w->spatial), m = w->w[1] * taps,
		n = product_of(w->x + 2, w->spatial);
	int64_t parts = w->x[0] * m * n * (int64_t)sizeof(float),
		results = product_of(w->y, w->spatial + 2) * (half ? 2 : 4);
	PmCallCosts costs;

	if (pm_call_costs(prof->target, pm_call_of_product(m, n, w->w[0], half), half, &costs))
		return NAN;
	return pm_call_us(&costs, (double)w->w[0], (double)flops, (double)(bytes - results + parts)) * 1e-6 +
	       prof->launch_seconds + (double)(parts + results) / prof->bytes_per_second;
}

/* Whether the result is filled with a bias first, to which a product is added (lib_algo_conv.c): of one by
 * one, in steps of 1. Other convolutions have a launch for an operand or for the bias anyway. */
static int is_filled(const PmLibCall *c)
{
	int d;

	for (d = 0; c->kind == PM_LIB_CONV && d < c->conv.spatial; d++)
		if (c->conv.stride[d] != 1)
			return 0;
	return c->kind == PM_LIB_CONV && c->conv.has_bias;
}

double pm_library_seconds(const PmLibCall *c, int64_t bytes, int64_t flops, const PmProfile *prof)
{
	int half = c->dtype == PM_F16 || c->dtype == PM_BF16;
	PmCallCosts costs;
	int64_t terms;

	if (!half && c->dtype != PM_F32)
		return pm_profile_launch_seconds(prof, bytes, flops, pm_dtype_peak(c->dtype));
	if (c->kind == PM_LIB_CONV && c->conv.transposed && c->conv.groups == 1)
		return transposed_seconds(&c->conv, half, bytes, flops, prof);
	/* A target of ours has all constants. */
	if (pm_call_costs(prof->target, kind_of(c, half, &terms), half, &costs))
		return NAN;
	return (pm_call_us(&costs, (double)terms, (double)flops, (double)bytes) +
		(is_filled(c) ? costs.bias_us : 0)) *
	       1e-6;
}

static int is_softmax(PmOp op)
{
	return op == PM_OP_Softmax || op == PM_OP_LogSoftmax;
}

/* Its results are made row by row: a BatchNormalization has its sums already. */
static int has_rows(PmOp op)
{
	return pm_op_desc(op)->flags & PM_OPF_NORM && op != PM_OP_BatchNormalization;
}

/* What sums take beside their bytes, in microseconds. */
static double sums_us(PmOp op, const PmTarget *t)
{
	if (has_rows(op) && !is_softmax(op))
		return pm_target_cost(t, "plain_norm_us");
	return is_softmax(op) || pm_op_desc(op)->flags & PM_OPF_RED ? pm_target_cost(t, "plain_sum_us") : 0;
}

double pm_plain_seconds(PmOp op, int64_t blocks, int64_t bytes, int64_t flops, int flop_class,
			const PmProfile *prof)
{
	double busy = (double)(blocks < prof->n_sm ? blocks : prof->n_sm), least = 0;

	if (has_rows(op) && blocks && blocks < prof->n_sm)
		least = (double)bytes / busy / pm_target_cost(prof->target, "sm_bytes_per_us");
	else if (pm_op_desc(op)->flags & PM_OPF_POOL && blocks)
		least = (double)flops / busy / pm_target_cost(prof->target, "pool_loads_per_us");
	return fmax(pm_profile_launch_seconds(prof, bytes, flops, flop_class),
		    prof->launch_seconds + least * 1e-6) +
	       sums_us(op, prof->target) * 1e-6;
}

double pm_depthwise_seconds(int tiles, int64_t bytes, int64_t flops, const PmProfile *prof)
{
	double rate = pm_target_cost(prof->target,
				     tiles ? "call_depth_tile_flops_per_us" : "call_depth_flops_per_us");

	return prof->launch_seconds + (double)bytes / prof->bytes_per_second + (double)flops / rate * 1e-6;
}
