/* SPDX-License-Identifier: Apache-2.0 */
/* count.h - a run of a graph on "emu+counts" in processes of its own, for what its kernels do. */
#ifndef RUNTIME_COUNT_H
#define RUNTIME_COUNT_H

#include "runtime/device/tensor.h"
#include "runtime/exec/access_time.h"
#include "runtime/profile/counts.h"

/* Runs the plan on inputs `in`, and counts the launches that c->of names (PmLaunchCounts.launch, with the
 * sources of their kernels in c->source). A kernel's error, a crash (PM_E_CRASH) or more than `deadline`
 * seconds (PM_E_TIMEOUT) is an error; c is then not to be used. */
PmStatus pm_count_run(const PmPlan *p, size_t n_out, const PmTensor *in, size_t n_in, double deadline,
		      PmCounts *c, PmErr *err);

/* Replaces the modelled times of *s (pm_plan_stats of that plan and profile) by those of the counts, for the
 * launches of Kernel nodes; of launches that are alike the first is counted, of more than PM_COUNT_LAUNCHES
 * kinds those that take longest. *n_counted: launches whose times are now of their counts. After an error, as
 * of pm_count_run, *s is as it was. */
PmStatus pm_count_stats(const PmPlan *p, size_t n_out, const PmTensor *in, size_t n_in, const PmProfile *prof,
			double deadline, PmPlanStats *s, int *n_counted, PmErr *err);

#endif
