/* SPDX-License-Identifier: Apache-2.0 */
/* hw_view.c - from CUPTI's units to those of the report. */
#include "app/profile/hw_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLACK = 1 }; /* percent above the peak that are rounding */

/* NaN for nothing divided by nothing. */
static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

static int by_share(const void *a, const void *b)
{
	const PmHwStall *x = a, *y = b;

	return x->share != y->share ? (x->share < y->share ? 1 : -1) : (int)x->reason - (int)y->reason;
}

/* All reasons together are the time of all warps; a warp that issues, or could, is not stalled. */
static void sort_stalls(const double *v, PmHwView *out)
{
	double all = 0;

	for (int m = PM_HW_STALLS; m < PM_N_HW_METRICS; m++)
		all += isfinite(v[m]) && v[m] > 0 ? v[m] : 0;
	for (int m = PM_HW_STALLS; m < PM_N_HW_METRICS; m++) {
		if (m == PM_HW_STALL_SELECTED || m == PM_HW_STALL_NOT_SELECTED || !isfinite(v[m]) ||
		    v[m] <= 0)
			continue;
		out->stall[out->n_stalls].reason = (PmHwMetric)m;
		out->stall[out->n_stalls++].share = v[m] / all;
	}
	qsort(out->stall, (size_t)out->n_stalls, sizeof *out->stall, by_share);
}

/* From percent. */
static double part(const double *v, PmHwMetric m, PmHwView *out)
{
	out->unreliable[m] = v[m] > 100 + SLACK || v[m] < 0;
	return out->unreliable[m] ? NAN : v[m] > 100 ? 1 : v[m] / 100;
}

void pm__hw_view(const PmProfileReport *r, const PmProfileKernel *k, PmHwView *out)
{
	const double *v = k->hw;

	memset(out, 0, sizeof *out);
	out->seconds = v[PM_HW_NANOSECONDS] / 1e9;
	out->dram_read = v[PM_HW_DRAM_READ];
	out->dram_written = v[PM_HW_DRAM_WRITTEN];
	out->dram_rate = ratio(out->dram_read + out->dram_written, out->seconds);
	out->dram_share = part(v, PM_HW_DRAM_BUSY, out);
	out->l2_hit = part(v, PM_HW_L2_HIT, out);
	out->l1_hit = part(v, PM_HW_L1_HIT, out);
	out->requests[PM_COUNT_LOAD] = v[PM_HW_LOAD_REQUESTS];
	out->requests[PM_COUNT_STORE] = v[PM_HW_STORE_REQUESTS];
	out->sectors[PM_COUNT_LOAD] = ratio(v[PM_HW_LOAD_SECTORS], v[PM_HW_LOAD_REQUESTS]);
	out->sectors[PM_COUNT_STORE] = ratio(v[PM_HW_STORE_SECTORS], v[PM_HW_STORE_REQUESTS]);
	out->passes[PM_COUNT_LOAD] = v[PM_HW_SHARED_LOAD_PASSES];
	out->passes[PM_COUNT_STORE] = v[PM_HW_SHARED_STORE_PASSES];
	out->conflicts[PM_COUNT_LOAD] = v[PM_HW_SHARED_LOAD_CONFLICTS];
	out->conflicts[PM_COUNT_STORE] = v[PM_HW_SHARED_STORE_CONFLICTS];
	out->occupancy = part(v, PM_HW_OCCUPANCY, out);
	out->issue = part(v, PM_HW_ISSUE_BUSY, out);
	out->sm_share = part(v, PM_HW_SM_BUSY, out);
	out->flop_rate = ratio((double)k->launch.flops, out->seconds);
	out->copy_share = out->flop_share = NAN;
	if (r->same_gpu) {
		out->copy_share = out->dram_rate / r->target->bytes_per_second;
		out->flop_share = out->flop_rate / r->target->flops_per_second[k->launch.flop_class];
	}
	sort_stalls(v, out);
}
