/* SPDX-License-Identifier: Apache-2.0 */
/* hw_view.h - hardware counters of a kernel in the units of the report (private to app/profile). */
#ifndef APP_PROFILE_HW_VIEW_H
#define APP_PROFILE_HW_VIEW_H

#include "app/profile/report.h"

typedef struct PmHwStall {
	PmHwMetric reason;
	double share; /* of the time of all warps */
} PmHwStall;

/* Of one launch; NaN = not known. Shares and rates are 0..1. */
typedef struct PmHwView {
	double seconds;
	double dram_read, dram_written; /* bytes */
	double dram_rate, dram_share;   /* bytes a second, of both; of the peak */
	double copy_share;              /* of a copy's bytes a second, where the report's target is the GPU */
	double l2_hit, l1_hit;          /* of the sectors looked up */
	double requests[2], sectors[2]; /* PM_COUNT_LOAD, PM_COUNT_STORE: of warps; sectors of each */
	double passes[2], conflicts[2]; /* over the banks of shared memory; of these, for conflicts */
	double occupancy;               /* warps that were there, on average, of those that fit */
	double issue;                   /* cycles in which a scheduler issued an instruction */
	double sm_share;                /* of the peak of the multiprocessors' busiest unit */
	double flop_rate, flop_share;   /* operations a second; of the peak, where the target is the GPU */
	unsigned char unreliable[PM_N_HW_METRICS]; /* 1: a share above 100 %, which is left out (NaN) */
	int n_stalls;
	PmHwStall stall[PM_N_HW_STALLS]; /* largest first; those at which a warp loses no time are left out */
} PmHwView;

/* Of a kernel with k->has_hw. A share is of counters of several passes: of a kernel that runs for a few
 * microseconds they do not fit together, which shows when one is above 100 %. */
void pm__hw_view(const PmProfileReport *r, const PmProfileKernel *k, PmHwView *out);

#endif
