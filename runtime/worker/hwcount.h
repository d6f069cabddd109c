/* SPDX-License-Identifier: Apache-2.0 */
/* hwcount.h - runs of a graph on a GPU in a process of its own, for what the hardware's counters say. */
#ifndef RUNTIME_HWCOUNT_H
#define RUNTIME_HWCOUNT_H

#include "runtime/device/tensor.h"
#include "runtime/exec/exec.h"
#include "runtime/profile/hwcounters.h"

/* Counts the launches that c->of names (PmHwLaunch.launch), one after the other: of each, the plan runs up to
 * it on inputs `in` as often as the counters need (44 times for all metrics of sm_90), each time from cold
 * caches. No other launch is begun with after half of `deadline`: it is not `measured` then. The driver, the
 * kernels and CUPTI are in a process of their own, which ends then. A kernel's error, a crash (PM_E_CRASH),
 * more than `deadline` seconds (PM_E_TIMEOUT) or a machine without counters (PM_E_ENV, with how to get them)
 * is an error; c is then not to be used. */
PmStatus pm_hw_count_run(const PmPlan *p, const char *device, const PmTensor *in, size_t n_in,
			 double deadline, PmHwCounters *c, PmErr *err);

#endif
