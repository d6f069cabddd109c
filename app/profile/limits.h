/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - what limits a kernel, in sentences for its author: the rules are in limits.def. */
#ifndef APP_PROFILE_LIMITS_H
#define APP_PROFILE_LIMITS_H

#include "app/profile/report.h"

enum { PM_PROFILE_SAYS = 3 };

/* What the rules look at; NaN = not known. Shares are 0..1. */
typedef struct PmFacts {
	double launch_share, memory_share, arithmetic_share; /* of the modelled time; NaN beside counters */
	double access_share; /* the same of the largest of memory, L2 and L1, */
	double l2_share, l1_share,
		issue_share;            /* and of that one of these which is the kernel's largest bound */
	double local_share, fp64_share; /* of the instructions; the latter where no element is of that type */
	double load_waste, store_waste; /* of the sectors, those that their bytes do not need */
	double conflicts;               /* of the passes over the banks, those for conflicts */
	double rereads;                 /* how often a sector is read, but for what load_waste accounts for */
	double efficiency;              /* as in a report */
	double same_address;            /* threads of a warp on one address, of an atomic operation */
	double widest;                  /* bytes of the widest global load of a thread */
	double occupancy, waves, idle;  /* of PmOccupancy */
	/* Of the GPU's counters: */
	double microseconds, launch_us; /* what it takes, and what a launch costs by the model */
	double dram, sm;    /* shares of the peak: of DRAM, of the multiprocessors' busiest unit */
	double l2_hit;      /* hit rate */
	double traffic;     /* bytes of DRAM for each byte that must move */
	double achieved;    /* warps that were there, of those that a multiprocessor has room for */
	double stall_share; /* of the warps' time, of the reason `stall` */
	/* Shares of the kernel's time that better accesses could save at most, to global and shared memory.
	 */
	double at_memory, at_shared;
	int by_registers, by_shared, by_blocks; /* limiter of the occupancy */
	PmHwMetric stall;                       /* why warps wait most; with stall_share */
} PmFacts;

/* The facts of a kernel. */
void pm_profile_facts(const PmProfileReport *r, const PmProfileKernel *k, PmFacts *out);
/* Facts of which none is known. */
void pm_profile_no_facts(PmFacts *out);
/* Appends the sentences of up to `most` rules that hold, the weightiest first, each on a line of its own, and
 * returns how many. */
int pm_profile_say(const PmFacts *f, int most, PmStr *out);

#endif
