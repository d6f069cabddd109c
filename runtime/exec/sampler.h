/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.h - single timed samples of plans on a device: what happens around each timed call.
 *
 * Several sides (executors of graphs with the same inputs) are prepared once, each with a pool of bindings. A
 * sample then gets fresh inputs into bindings chosen by its number, poisons what earlier samples left behind
 * (so that no side finds another's results), empties the L2 cache and shared memory, keeps the device busy
 * until everything is enqueued, and times the calls between two events. Protocol and judgement are elsewhere
 * (bench/timing/timer.h).
 */
#ifndef RUNTIME_SAMPLER_H
#define RUNTIME_SAMPLER_H

#include "ir/core/limits.h"
#include "runtime/device/input_pool.h"
#include "runtime/exec/exec.h"

/* Figures that are never mixed. */
typedef enum {
	PM_TIME_COLD,   /* GPU time of one call with nothing of it in the L2 cache: what is scored */
	PM_TIME_REPLAY, /* the same, its launches replayed as one CUDA graph: gaps between launches removed */
	PM_TIME_WALL, /* host time of a batch of calls and the wait for it, per call: what a busy program pays
		       */
	PM_TIME_LATENCY, /* host time of one call and the wait for its result, on an idle device */
	PM_N_TIME_KINDS,
	PM_TIME_NONE = PM_N_TIME_KINDS /* calls without a clock, for any device: seconds are 0 */
} PmTimeKind;

/* One sample: `batch` calls of a side, each on a binding of its own, on inputs number `index` and following.
 */
typedef struct PmSampleAsk {
	int side;
	PmTimeKind kind;
	uint64_t index;
	int batch;
	int graphs; /* calls of every kind replay their launches as one CUDA graph, as PM_TIME_REPLAY always
		       does */
} PmSampleAsk;

typedef struct PmSample {
	double seconds; /* between the marks, their own cost included */
	int disturbed;  /* the device may have waited for the host: take it again */
} PmSample;

/* What a call made: digests under the input pool's keys of its outputs, and of the values between its kernels
 * that are still there (exec.h, pm_bind_inner). */
typedef struct PmMade {
	PmDigest out, inner;
} PmMade;

typedef struct PmSampler PmSampler;

/* Sides: the baseline, every alternative of a candidate, and the baseline again. */
enum { PM_SAMPLER_SIDES = PM_MAX_ALTS + 2, PM_SAMPLER_DEPTH = 64 };

/* Uploads the input pool and makes the bindings, as many per side as memory and `launches` allow; the device
 * is quiet from here on (PmClockOps.quiet) until the sampler is freed. The executors are borrowed. On a
 * device that has no clock only PM_TIME_NONE can be taken; everything else is PM_E_UNSUPPORTED there. */
PmStatus pm_sampler_new(PmDevice *d, PmExec *const *side, int n_sides, const PmInputPool *pool,
			PmSampler **out, PmErr *err);
/* The device is watched again: PM_E_OOB when a timed call wrote outside its buffers. NULL is allowed. */
PmStatus pm_sampler_end(PmSampler *s, PmErr *err);
/* The same, and all of it is given back: a process that ends now needs only the former. */
PmStatus pm_sampler_free(PmSampler *s, PmErr *err);
/* Bindings per side: the longest batch. */
int pm_sampler_depth(const PmSampler *s);
PmStatus pm_sampler_take(PmSampler *s, const PmSampleAsk *ask, PmSample *out, PmErr *err);
/* Two events with nothing between them; some milliseconds of trusted work between two events. */
PmStatus pm_sampler_empty(PmSampler *s, double *seconds, PmErr *err);
PmStatus pm_sampler_warm(PmSampler *s, double *seconds, PmErr *err);
/* Of call number `call` of the last sample: its outputs (tensors initialised here), and what it made. */
PmStatus pm_sampler_outputs(PmSampler *s, int call, PmTensor *out, size_t n_out, PmErr *err);
PmStatus pm_sampler_made(PmSampler *s, int call, PmMade *out, PmErr *err);
/* Of the same, under the key for that: a sketch of each of its n_out outputs. */
PmStatus pm_sampler_sketch(PmSampler *s, int call, PmSketch *out, size_t n_out, PmErr *err);

#endif
