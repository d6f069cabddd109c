/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy.h - how many blocks of a kernel a multiprocessor holds at a time, and what it has no more of.
 *
 * The rules are those of NVIDIA's occupancy calculator (cuda_occupancy.h of toolkit 13.0): a warp gets
 * registers in units, out of one of the multiprocessor's parts; a block gets shared memory in units, and the
 * bytes that the system keeps for it; blocks and warps have a number of places each.
 */
#ifndef RUNTIME_PROFILE_OCCUPANCY_H
#define RUNTIME_PROFILE_OCCUPANCY_H

#include "targets/targets.h"

#include <stdint.h>

/* What there is not enough of for one more block. */
typedef enum PmOccLimit {
	PM_OCC_WARPS,
	PM_OCC_BLOCKS,
	PM_OCC_REGISTERS,
	PM_OCC_SHARED,
	PM_N_OCC_LIMITS
} PmOccLimit;
/* "warps", "blocks", "registers", "shared memory". */
const char *pm_occ_limit_name(PmOccLimit l);

typedef struct PmOccupancy {
	int of[PM_N_OCC_LIMITS]; /* blocks that each of them would allow */
	int blocks;       /* of a multiprocessor at a time: the least; 0 = the kernel cannot be launched */
	PmOccLimit limit; /* the first of those that allow the least */
	int warps;        /* at a time */
	double share;     /* of the warps that there is room for, 0..1 */
	double waves;     /* rounds in which the grid's blocks run; 0.5: half of the places stay empty */
	int64_t last;     /* blocks of the last round, of `places` */
	int64_t places;   /* blocks that run at a time on the whole device */
	double idle;      /* share of all places of all rounds that no block takes, 0..1 */
} PmOccupancy;

/* Of blocks of `threads` threads (1 to 1024) with `registers` each and `shared` bytes of static and dynamic
 * shared memory together (without what the system keeps), on `n_sm` multiprocessors; `grid` blocks in all. */
void pm_occupancy(const PmArch *a, int n_sm, int threads, int registers, int64_t shared, uint64_t grid,
		  PmOccupancy *out);

#endif
