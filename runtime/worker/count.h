/* SPDX-License-Identifier: Apache-2.0 */
/* count.h - a run of a graph on "emu+counts" in processes of its own, for what its kernels do. */
#ifndef RUNTIME_COUNT_H
#define RUNTIME_COUNT_H

#include "runtime/device/tensor.h"
#include "runtime/exec/exec.h"
#include "runtime/profile/counts.h"

/* Runs the plan on inputs `in`, and counts the launches that c->of names (PmLaunchCounts.launch, with the
 * sources of their kernels in c->source). A kernel's error, a crash (PM_E_CRASH) or more than `deadline`
 * seconds (PM_E_TIMEOUT) is an error; c is then not to be used. */
PmStatus pm_count_run(const PmPlan *p, size_t n_out, const PmTensor *in, size_t n_in, double deadline,
		      PmCounts *c, PmErr *err);

#endif
