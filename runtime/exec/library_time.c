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
	if (w->transposed && w->groups == 1)
		return PM_CALL_WINDOW;
	return pm_call_of_conv(w->y[0], product_of(w->y + 2, w->spatial), taps, w->groups);
}

double pm_library_seconds(const PmLibCall *c, int64_t bytes, int64_t flops, const PmProfile *prof)
{
	int half = c->dtype == PM_F16 || c->dtype == PM_BF16;
	PmCallCosts costs;
	int64_t terms;

	if (!half && c->dtype != PM_F32)
		return pm_profile_launch_seconds(prof, bytes, flops, pm_dtype_peak(c->dtype));
	/* A target of ours has all constants. */
	if (pm_call_costs(prof->target, kind_of(c, half, &terms), half, &costs))
		return NAN;
	return pm_call_us(&costs, (double)terms, (double)flops, (double)bytes) * 1e-6;
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
