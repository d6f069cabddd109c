/* clock.h - measured times of a candidate against its baseline, in the candidate's own device worker.
 *
 * Joins the protocol (timer.h) with the device (runtime/worker.h): the baseline, the candidate and the
 * baseline again as control run in one process on fresh inputs. Some timed calls, chosen after they ran, have
 * their outputs brought back, so that what was timed is also what is checked.
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include "bench/timer.h"
#include "runtime/worker.h"

enum { PM_CLOCK_CHECKED = 4 }; /* timed calls of the candidate that are brought back */

typedef struct PmClockOpts {
	uint64_t seed;
	double deadline; /* of each request to the worker; 0 = 60 */
	/* For judging plausibility: bytes that each side must move at least once, and the memory's peak rate.
	 * 0 = not judged. */
	int64_t bytes[2];
	double bytes_per_second;
	double max_speedup; /* 0 = 10 */
	double seconds;     /* budget; 0 = 20 */
	int blocks;         /* to begin with; 0 = 50 */
	int graphs;         /* both sides run as recorded CUDA graphs (timer.h) */
	/* Of pm_clock_time: a quick look with exactly `blocks` blocks of each kind, not judged by its
	 * interval; and no warm-up, since the worker timed something just before. */
	int quick, warm;
} PmClockOpts;

/* A timed call whose outputs were brought back. */
typedef struct PmChecked {
	PmTensor *in, *out; /* owned: its inputs and what the candidate made of them */
} PmChecked;

typedef struct PmClockResult {
	PmTiming t; /* side 0 the baseline, 1 the candidate, 2 the control */
	size_t n_in, n_out, n_checked;
	PmChecked checked[PM_CLOCK_CHECKED];
} PmClockResult;

enum { PM_SIDE_BASELINE, PM_SIDE_CANDIDATE, PM_SIDE_CONTROL, PM_N_SIDES };

/* Times `candidate` against `baseline`, which have the same inputs and outputs. A status other than PM_OK is
 * the worker's (see worker.h): a kernel's error, a timeout; or PM_E_UNSUPPORTED on a device without a clock.
 */
PmStatus pm_clock_compare(PmWorker *w, const PmWork *baseline, const PmWork *candidate,
			  const PmClockOpts *opts, PmClockResult *out, PmErr *err);
void pm_clock_release(PmClockResult *r);

/* Times a graph by itself: side 0 is the graph, side 1 the graph again as control. */
PmStatus pm_clock_time(PmWorker *w, const PmWork *work, const PmClockOpts *opts, PmTiming *out, PmErr *err);

#endif
