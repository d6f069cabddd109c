/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - run a graph on a device by name, in a worker process that may be killed. */
#ifndef RUNTIME_RUN_H
#define RUNTIME_RUN_H

#include "runtime/worker/worker.h"

typedef struct PmRunOpts {
	const char *device; /* "ref", "emu" or "cuda" */
	double deadline;    /* seconds; 0 = 60 */
	uint32_t poison;    /* pattern outputs and scratch are filled with */
	const int *alts;    /* see pm_plan_new */
	size_t n_alts;
	uint64_t layout;     /* PmWork.layout, for runs in a worker */
	PmSampled sampled;   /* PmDeviceOps.sample; zeros = all blocks */
	const char *profile; /* modelled clock; NULL = default */
	PmWorker *worker;    /* runs there, if the device is the worker's; NULL: in a process of its own */
} PmRunOpts;

typedef struct PmRunResult {
	PmTensor *out; /* owned, n_out of them */
	size_t n_out;
	PmPlanStats stats;
	double wall_seconds; /* of the run itself, compilation excluded */
} PmRunResult;

/* Runs `g` on opts->device. `emu` and `cuda` run in opts->worker, or in a worker forked for this run alone: a
 * crash is PM_E_CRASH, a hang PM_E_TIMEOUT, a named kernel error PM_E_DEVICE; the caller is never harmed.
 * `ref` runs in this process. */
PmStatus pm_run_graph(const PmGraph *g, const PmTensor *in, size_t n_in, const PmRunOpts *opts,
		      PmRunResult *out, PmErr *err);
void pm_run_result_release(PmRunResult *r);

#endif
