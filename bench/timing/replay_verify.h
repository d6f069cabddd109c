/* SPDX-License-Identifier: Apache-2.0 */
/* replay_verify.h - was every timed call a real one? Checked when the candidate's process has ended.
 *
 * A clock leaves a list of calls, each with the number of its inputs and the digest of what it made, and the
 * outputs of some (clock.h). Then, in processes of their own:
 *
 * 1. the candidate makes all calls again, untimed, in another order, at other addresses and over other
 *    poison. Its kernels must be determined (the correctness stage saw to it), so the bits must be the same:
 * a call that was not the same was special.
 * 2. beside it the baseline makes them again. Its bits must be those of the baseline and of the control of
 * the timed run, or the candidate disturbed them. (A baseline that differs from itself here is let off.) The
 * kept outputs are compared with its outputs, element by element: not a verdict, but it says which are the
 *    furthest off. Of calls whose outputs were not kept sketches are compared (runtime/device/sketch.h): of
 * those that are much further off than others the candidate makes the outputs once more.
 * 3. the reference, in processes that hold no device, judges special calls, the furthest ones, and others
 * drawn at random, as long as there is time; where there is no step 2, kept calls at random. It begins with
 * kept ones at random while 1 and 2 go on, for half of its time at most; as many of the furthest come next.
 *
 * So a call that is special is found whatever it did. A call that is wrong in the same way every time it gets
 * these inputs is found if its outputs were kept, or if it is wrong by more than rounding is over all
 * elements.
 */
#ifndef BENCH_REPLAY_VERIFY_H
#define BENCH_REPLAY_VERIFY_H

#include "bench/compare/bound/bound.h"
#include "bench/compare/failure.h"
#include "bench/timing/clock.h"

typedef struct PmReplayOpts {
	double deadline; /* of a request to the worker, to which 10 times what its calls took is added; 0 = 60
			  */
	double reference_seconds; /* of processors for step 3, which judges one call at least; 0 = 2 */
	int special_only;         /* step 3 judges special calls only */
	const PmSecret *secret;   /* what is drawn follows from it; borrowed */
	PmPrecisionTier tier;     /* of step 3 */
	const PmWork *baseline;   /* NULL: no step 2 */
} PmReplayOpts;

typedef enum {
	PM_REPLAY_OK,
	PM_REPLAY_WRONG,    /* a call's outputs are not the reference's */
	PM_REPLAY_SPECIAL,  /* a call's outputs are not those of the same kernels on the same inputs */
	PM_REPLAY_DISTURBED /* the baseline's outputs changed beside the candidate */
} PmReplayState;

typedef struct PmReplayResult {
	PmReplayState state;
	char why[256];     /* one sentence unless OK */
	PmFailure failure; /* the same of a call that is wrong, as fields; `alternative` counts candidates */
	int calls;         /* of the candidate that were timed */
	int replayed;      /* of those, made again */
	int special;       /* of those, with other bits */
	int compared;      /* with the baseline's outputs */
	int projected;     /* with the baseline's by sketches */
	int fetched;       /* of those, far off, and made a third time for the reference */
	int referenced;    /* with the reference, */
	int beside;        /* of those, while calls were made again */
	int baseline;      /* calls of baseline and control that were made again */
	int undetermined;  /* of those, calls in which the baseline differs from itself */
} PmReplayResult;

/* Processes that make calls again. Those that were prepared (pm_worker_prepare) open sooner; more of these
 * stay for what comes next. */
enum { PM_REPLAY_PROCESSES = 2 };

/* Replaces the worker's process. `candidate`: the n_alts that the clock was given. PM_E_ENV when they are
 * not, by their digests, what the clock timed. A status other than PM_OK is the worker's, as in clock.h: the
 * candidate may fault here too. */
PmStatus pm_replay_verify(PmWorker *w, const PmGraph *original, const PmWork *candidate, int n_alts,
			  const PmClockResult *c, const PmReplayOpts *opts, PmReplayResult *out, PmErr *err);

#endif
