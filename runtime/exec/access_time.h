/* SPDX-License-Identifier: Apache-2.0 */
/* access_time.h - the modelled time of a launch from what its warps asked of memory.
 *
 * time = launch + waits + the largest of six bounds (access_time.def). Each is the least time in which a GPU
 * could do that part if nothing else took any. Waits are of one warp of one block, one after the other: its
 * requests to global memory, its barriers and its collectives, each some cycles (wait_* of targets/costs.def,
 * fitted: docs/results/modelled-times.md). So the time is never below launch + max(bytes / bandwidth,
 * operations / peak), which is what a launch has that was not counted (pm_plan_launch_seconds).
 */
#ifndef RUNTIME_ACCESS_TIME_H
#define RUNTIME_ACCESS_TIME_H

#include "runtime/exec/exec.h"
#include "runtime/profile/counts.h"

typedef enum PmAccessBound {
#define XX(name, ...) PM_BOUND_##name,
#include "runtime/exec/access_time.def"
#undef XX
	PM_N_BOUNDS
} PmAccessBound;

/* "memory". */
const char *pm_access_bound_name(PmAccessBound b);

typedef struct PmAccessTime {
	double launch;             /* seconds: the profile's */
	double waits;              /* seconds; 0 = nothing was counted */
	double bound[PM_N_BOUNDS]; /* seconds; 0 = nothing of it was counted */
	PmAccessBound largest;
	double seconds; /* launch + waits + the largest */
} PmAccessTime;

/* Of launch l with the counts c (NULL, or of no block: the two bounds that need none). A function of these
 * numbers alone, which never falls when a count grows. */
void pm_access_time(const PmPlanLaunch *l, const PmLaunchCounts *c, const PmProfile *prof, PmAccessTime *out);

#endif
