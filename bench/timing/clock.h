/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - measured times of a candidate against its baseline, in the candidate's own device worker.
 *
 * Joins the protocol (timer.h) with the device (runtime/worker/worker.h): the baseline, every alternative of
 * the candidate and the baseline again as control run in one process on inputs of their own for each call.
 * Which alternative is compared is found out there, by calls like all others. What every single call
 * made is written down as a digest, at once and in this process, and as many outputs of the candidate as fit
 * are kept, so that what was timed can be checked when the candidate is gone (replay_verify.h).
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include "base/core/vec.h"
#include "base/secret/secret.h"
#include "bench/timing/timer.h"
#include "runtime/device/gpu_watch.h"
#include "runtime/worker/worker.h"

typedef struct PmClockOpts {
	const PmSecret *secret; /* what is drawn follows from it; borrowed, never sent to the worker */
	double deadline;        /* of each request to the worker; 0 = 60 */
	/* For judging plausibility: bytes that each side must move at least once, and the memory's peak rate.
	 * 0 = not judged. */
	int64_t bytes[2];
	double bytes_per_second;
	double max_speedup; /* 0 = 10 */
	double seconds;     /* budget; 0 = 20 */
	int blocks;         /* to begin with; 0 = 16 */
	int keep;           /* write down what calls made */
	int64_t keep_bytes; /* of outputs, at most, but for PM_CLOCK_KEPT calls; 0 = 128 MiB */
	int graphs;         /* both sides run as recorded CUDA graphs (timer.h) */
	int beside;         /* processes of this program that keep the device open and do nothing there */
	/* Of pm_clock_time: a quick look with exactly `blocks` blocks of each kind, not judged by its
	 * interval; and no warm-up, since the worker timed something just before. */
	int quick, warm;
	int cold_only; /* exactly `blocks` blocks from cold caches, and none of another kind */
} PmClockOpts;

enum { PM_CLOCK_KEPT = 4 };

/* One call of one sample. */
typedef struct PmTimedCall {
	int side; /* PM_SIDE_... */
	int alt;  /* of the candidate: which of those that were given */
	PmTimeKind kind;
	uint64_t index; /* of its inputs */
	PmMade made;
	int altered; /* the outputs that were brought back have another digest: somebody wrote there after it
		      */
	PmTensor *out; /* owned; NULL = not kept */
} PmTimedCall;

typedef struct PmClockResult {
	PmTiming t; /* side 0 the baseline, 1 the candidate, 2 the control; unstable when others used the GPU
		     */
	int alt;    /* which of the candidates that were given was compared */
	PmGpuSeen gpu;
	size_t n_out;
	char plan[PM_MAX_ALTS][PM_CHAIN_HEX]; /* pm_exec_digest of each that made calls */
	PmInputPool pool;                     /* of which the calls had their inputs; owned */
	PM_VEC(PmTimedCall) calls;            /* of all sides, in the order they ran */
	double slowest; /* seconds that one of them took with all that is done around it */
} PmClockResult;

enum { PM_SIDE_BASELINE, PM_SIDE_CANDIDATE, PM_SIDE_CONTROL, PM_N_SIDES };

/* Times the fastest of n_alts candidates, 1 to PM_MAX_ALTS, against `baseline`, all of which have the same
 * inputs and outputs. A status other than PM_OK is the worker's (see worker.h): a kernel's error, a timeout;
 * or PM_E_UNSUPPORTED on a device without a clock.
 */
PmStatus pm_clock_compare(PmWorker *w, const PmWork *baseline, const PmWork *candidate, int n_alts,
			  const PmClockOpts *opts, PmClockResult *out, PmErr *err);
/* The same calls without a clock, of the candidate alone, on any device: `calls` of them, fewer when they
 * take longer than opts->seconds, on inputs made for `original`. `t` stays empty. */
PmStatus pm_clock_rehearse(PmWorker *w, const PmGraph *original, const PmWork *candidate, int calls,
			   const PmClockOpts *opts, PmClockResult *out, PmErr *err);
/* With others on the GPU times say nothing: unstable. */
void pm_clock_judge_gpu(const PmGpuSeen *seen, PmTiming *t);
void pm_clock_release(PmClockResult *r); /* times stay */

/* Times a graph by itself: side 0 is the graph, side 1 the graph again as control. */
PmStatus pm_clock_time(PmWorker *w, const PmWork *work, const PmClockOpts *opts, PmTiming *out, PmErr *err);

#endif
