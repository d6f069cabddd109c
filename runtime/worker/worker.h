/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - a process that holds a device and serves many runs: kernels of candidates never run in this one.
 *
 * Starting a worker costs a fork and the opening of the device (0.3 s on a GPU), so one serves run after run.
 * It is killed, and the next request gets a fresh one, when it hangs (PM_E_TIMEOUT), dies (PM_E_CRASH) or
 * reports any error, since a kernel error spoils a device for good. It has never held a reference output. One
 * worker is for one candidate: call pm_worker_renew before the next.
 */
#ifndef RUNTIME_WORKER_H
#define RUNTIME_WORKER_H

#include "runtime/exec/sampler.h"

typedef struct PmWorker PmWorker;

/* For "emu" or "cuda"; nothing is started before the first request. Returns owned. */
PmWorker *pm_worker_new(const char *device);
void pm_worker_free(PmWorker *w); /* NULL is allowed */
/* Ends the process; the next request starts another. What a GPU still does to take back what it had is over
 * before anything is checked or timed on the next one; calls without a clock (PM_TIME_NONE) do not wait. */
void pm_worker_renew(PmWorker *w);
const char *pm_worker_device(const PmWorker *w);
/* With PM_DEVICE_PRINT: what kernels print from now on is added there (borrowed), of failed runs too unless
 * the process was lost. NULL, as at first: nowhere. */
void pm_worker_print_to(PmWorker *w, PmPrint *to);
/* Processes started so far. */
int pm_worker_starts(const PmWorker *w);

/* Starts its process, which opens the device while the caller does other things. Not needed: the first
 * request does so too, and is the one that fails when there is no such device. */
void pm_worker_begin(PmWorker *w);

/* Starts processes that open the device and wait, until there are n of them (at most PM_WORKER_SPARE): those
 * that the next n renewals would start, in that order. They hold what the caller holds now, and no kernel.
 * What cannot be started is not there, and nobody is told. */
enum { PM_WORKER_SPARE = 5 };
void pm_worker_prepare(PmWorker *w, int n);
/* Waits until all of them have opened the device, and ends those that could not: nothing of this program
 * happens on it from then on until the next request. */
void pm_worker_settle(PmWorker *w);
/* Another worker for the same device, with one of the processes of pm_worker_prepare when there is one.
 * Owned.
 */
PmWorker *pm_worker_second(PmWorker *w);
/* Ends what a second worker has, and frees it: those of its processes that the device still takes back are
 * w's from then on, which waits for them as for its own. Not while anything runs on either. */
void pm_worker_join(PmWorker *w, PmWorker *second);
/* Processes that this worker has now, prepared ones and those that are ending included. */
int pm_worker_processes(const PmWorker *w);

/* 1 when the last request failed because something outside killed the process (SIGKILL), which says nothing
 * of the work. info and run try again by themselves; whoever has a clock open begins anew. */
int pm_worker_killed(const PmWorker *w);

/* Whether a device is there, and facts about it, without a worker: a process finds out while the caller does
 * other things. Of a GPU it asks the driver alone, which takes a part of the time of opening it; max_scratch
 * is 0 then. The process keeps the driver awake until it is ended: others that open the device meanwhile do
 * so in less time (on an H100 0.01 s instead of 0.1 s until the driver answers). It has no context there, and
 * takes no memory. `device` is borrowed until the end. */
typedef struct PmLook PmLook;
PmLook *pm_look_begin(const char *device);
/* Waits for what it found; out may be NULL. PM_E_ENV with what is missing. */
PmStatus pm_look_info(PmLook *l, PmDeviceInfo *out, PmErr *err);
void pm_look_end(PmLook *l); /* NULL is allowed */
/* The three of them. */
PmStatus pm_worker_look(const char *device, PmDeviceInfo *out, PmErr *err);

/* Facts about the device. */
PmStatus pm_worker_info(PmWorker *w, PmDeviceInfo *out, PmErr *err);

/* What is run: a graph and the alternatives of its kernels (see pm_plan_new). Borrowed. */
typedef struct PmWork {
	const PmGraph *g;
	const int *alts;
	size_t n_alts;
	uint64_t layout;   /* where buffers of a run lie: PmDeviceOps.layout. A clock has its own */
	PmSampled sampled; /* the blocks of a run that run: PmDeviceOps.sample. Of a clock all do */
} PmWork;

/* Plans and runs as pm_exec_run does; running has `deadline` seconds, compiling a minute if that is more. The
 * worker keeps what it was given last, so that the same work again sends inputs only. *seconds (may be NULL):
 * of the run alone.
 */
PmStatus pm_worker_run(PmWorker *w, const PmWork *work, const PmTensor *in, uint32_t poison, double deadline,
		       PmTensor *out, double *seconds, PmErr *err);

/* The digest (pm_exec_digest) of what ran last, or of a side of the clock that is open: said by the process
 * before a kernel of a candidate ran in it. "" = nothing has run. */
const char *pm_worker_digest(const PmWorker *w, int side);

/* Timed samples in the worker (sampler.h). Between open and close only the calls of this group are allowed;
 * each has the deadline given to open. An error closes. *depth: the longest batch. */
PmStatus pm_worker_clock_open(PmWorker *w, const PmWork *side, int n_sides, const PmInputPool *pool,
			      double deadline, int *depth, PmErr *err);
/* *made (may be NULL; room for ask->batch) gets what each call made. */
PmStatus pm_worker_clock_take(PmWorker *w, const PmSampleAsk *ask, PmSample *out, PmMade *made, PmErr *err);
PmStatus pm_worker_clock_empty(PmWorker *w, double *seconds, PmErr *err);
PmStatus pm_worker_clock_warm(PmWorker *w, double *seconds, PmErr *err);
/* Outputs of call number `call` of the last sample, which was of a side that computes `g`. */
PmStatus pm_worker_clock_outputs(PmWorker *w, const PmGraph *g, int call, PmTensor *out, PmErr *err);
/* Of the same call a sketch of each of its n_out outputs, under the input pool's key for that. */
PmStatus pm_worker_clock_sketch(PmWorker *w, int call, PmSketch *out, size_t n_out, PmErr *err);
PmStatus pm_worker_clock_close(PmWorker *w, PmErr *err);
/* The same for a process that is not needed any more: it looks at what lies around its buffers, and ends
 * (pm_worker_renew) instead of giving them back one by one. */
PmStatus pm_worker_clock_end(PmWorker *w, PmErr *err);

#endif
