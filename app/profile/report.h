/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what is known of the kernels that a pass launches: machine code, occupancy, accesses, model.
 *
 * For an author who asks why a kernel is slow. Nothing here is judged or stored. The pass runs in its sandbox
 * (integrity/referee/referee.h), kernels compile and run in closed processes.
 */
#ifndef APP_PROFILE_REPORT_H
#define APP_PROFILE_REPORT_H

#include "base/core/vec.h"
#include "integrity/cubin/cubin_mix.h"
#include "integrity/referee/referee.h"
#include "runtime/exec/access_time.h"
#include "runtime/profile/counts.h"
#include "runtime/profile/hwcounters.h"
#include "runtime/profile/occupancy.h"

enum {
	PM_PROFILE_SITES = 5,  /* accesses that a report names */
	PM_PROFILE_STALLS = 6, /* stall reasons that a report names */
	PM_PROFILE_ABSENT = 5
};

typedef struct PmProfileOpts {
	const char *so;        /* the pass */
	const char *only_rule; /* this rule alone; NULL = all */
	const char *device;    /* "emu": accesses are counted; "cuda": times are measured */
	const PmProfile
		*target; /* the GPU that machine code and model are for; on "cuda" the model's alone */
	int alternative; /* of each kernel */
	uint64_t seed;   /* of the inputs */
	double deadline; /* seconds of the pass, and of a run */
	int listing;     /* the report has PTX and, with nvdisasm, SASS */
} PmProfileOpts;

/* What the machine code of one source says; one for all launches of its kernels. */
typedef struct PmProfileCode {
	char why[PM_ERR_MAX]; /* why there is none; "" = there is */
	PmStr ptx, cubin;
	PmStr sass;                /* with opts.listing */
	char why_sass[PM_ERR_MAX]; /* why it has none */
} PmProfileCode;

/* Launches of the rewritten graph that are alike: same kernel, same grid, same block. */
typedef struct PmProfileKernel {
	PmPlanLaunch launch;               /* the first of them; borrowed from the plan */
	size_t number;                     /* of that one among all launches */
	int times;                         /* how many there are */
	int has_code;                      /* what follows is known */
	uint32_t registers, local, shared; /* of a thread; bytes of a thread; static bytes of a block */
	PmCubinMix mix;
	int has_mix; /* the instructions of this architecture are read */
	int has_occupancy;
	PmOccupancy occupancy;
	PmAccessTime time; /* modelled, of one launch: of its counts, where it has some */
	int has_counts;
	PmLaunchCounts counts; /* of the first launch */
	int has_hw;
	double hw[PM_N_HW_METRICS]; /* what the GPU's counters say of it; PmHwLaunch.v */
} PmProfileKernel;

typedef struct PmProfileReport {
	PmVerdict verdict; /* OK, or why there is nothing to profile */
	char why[PM_ERR_MAX];
	const PmProfile *target;
	int cc, n_sm;      /* that machine code and occupancy are of */
	int same_gpu;      /* on "cuda": the target describes the GPU that is there */
	int has_time;      /* on "cuda": what follows is known, */
	double seconds[2]; /* of the original and of the rewritten graph, from cold caches */
	char why_not_timed[PM_ERR_MAX];
	char why_no_hw[PM_ERR_MAX]; /* why there are no hardware counters, or not of all kernels; "" = there
				       are, or nobody asked */
	uint32_t hw_version;        /* of CUPTI; 0 = there are none */
	int hw_passes;              /* runs of each kernel that they took */
	unsigned char hw_lacks[PM_N_HW_METRICS]; /* what this GPU does not count */
	int *alts;                               /* owned: which alternative each Kernel node uses */
	size_t n_alts;
	PmGraph *g;                       /* owned: the rewritten graph */
	PmPlan *plan;                     /* owned */
	char why_not_counted[PM_ERR_MAX]; /* "" = it went well, or nobody asked */
	PmPlanStats stats, base;          /* of the rewritten graph, and of the original */
	PM_VEC(PmProfileCode) code;       /* beside the plan's sources */
	PM_VEC(PmProfileKernel) kernel;
} PmProfileReport;

/* Appends the line of the kernel's source that an access stands in, or of a long line the statement, without
 * the blanks around it and cut to what a report has room for; nothing where the access is in no line of it.
 */
void pm_profile_line(const PmProfileReport *r, const PmProfileKernel *k, const PmCountSite *s, PmStr *out);
/* "launch", "waits", or the name of its largest bound (runtime/exec/access_time.def): what most of the
 * modelled time of a kernel is. */
const char *pm_profile_bound(const PmProfileKernel *k);
/* What the report does not have and what it would need: sentence number i of PM_PROFILE_ABSENT, or NULL. */
const char *pm_profile_absent(const PmProfileReport *r, const PmProfileOpts *o, int i);
/* Frees what a report holds. */
void pm_profile_release(PmProfileReport *r);

#endif
