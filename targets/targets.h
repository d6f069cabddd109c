/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - the GPUs that rewrites and plans are made for: facts of data sheets, and constants of a cost
 * model.
 *
 * A process works for one GPU at a time, its target. The first of targets/all.def is the target until another
 * is set; processes that it forks inherit it, and a pass gets it in its job (matcher/host). Targets are never
 * freed.
 */
#ifndef TARGETS_TARGETS_H
#define TARGETS_TARGETS_H

#include "base/core/json.h"
#include "passmith/pass.h"

/* A row of archs.def: what a multiprocessor of an architecture holds. Bytes, but for counts. */
typedef struct PmArch {
	int cc; /* 90 for sm_90 */
	int warps, blocks;
	int registers, register_unit, max_registers;
	int shared, shared_block, shared_kept, shared_unit;
	int parts;
} PmArch;
/* NULL: the table has no such compute capability. */
const PmArch *pm_arch(int cc);

/* The process's target. */
const PmTarget *pm_target_now(void);
/* Makes t the process's target: one that this module gave, or made by the caller for as long as the process
 * lives. Not while another thread plans or rewrites. */
void pm_target_set(const PmTarget *t);
/* By name; NULL when there is none of that name. A NULL name is the process's target. */
const PmTarget *pm_target_find(const char *name);
/* Number i in the order of targets/all.def, and NULL behind the last. */
const PmTarget *pm_target_at(size_t i);
/* The first of that compute capability; NULL = none. */
const PmTarget *pm_target_of_cc(int cc);
/* The names of all, a space in front of each. */
const char *pm_target_names(void);

enum { PM_MAX_TRIALS = 256 };

/* Targets under which a pass says what it expects, beside the process's own, which is number 0: borrowed. */
void pm_target_trials(const PmTarget *const *t, size_t n);
/* NULL behind the last. */
const PmTarget *pm_target_trial(size_t i);
/* A copy of t in which some numbers have other values: the members of `changes`. PM_E_INVALID for a member
 * that is no constant of t or no number above 0. Owned by the caller, in one block for free(). */
PmStatus pm_target_changed(const PmTarget *t, const cJSON *changes, PmTarget **out, PmErr *err);

/* What CUDA says of a device: attributes, as cuDeviceGetAttribute has them. 0 = not known. */
typedef struct PmTargetFacts {
	const char *full_name; /* "NVIDIA RTX A6000" */
	int cc, sm_count, sm_threads, sm_blocks, sm_registers;
	int64_t l2_bytes, memory_bytes, sm_shared_bytes, block_shared_bytes;
	double sm_clock_hz, memory_clock_hz, memory_bus_bits;
} PmTargetFacts;
/* The target that a device is: the row of the tables that has its multiprocessors and about its memory; else
 * a new one, named after the device, with its own facts and all else by ratios from the row whose compute
 * capability comes closest. */
const PmTarget *pm_target_of_device(const PmTargetFacts *f);

/* All facts and numbers as members of j, under the names that PmTarget has. */
void pm_target_to_json(const PmTarget *t, cJSON *j);
/* The same back, from a job that passmith wrote: owned by the caller, in one block for free(). PM_E_INVALID
 * when a member is missing. */
PmStatus pm_target_from_json(const cJSON *j, PmTarget **out, PmErr *err);

/* A row of costs.def. */
typedef struct PmCostInfo {
	const char *name, *ratio, *meaning, *experiment;
} PmCostInfo;
/* Number i, in the order of PmTarget.number; NULL behind the last. */
const PmCostInfo *pm_cost_info(size_t i);
/* A number of a target by its name; NAN when it has none. */
double pm_target_cost(const PmTarget *t, const char *name);

#endif
