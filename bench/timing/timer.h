/* SPDX-License-Identifier: Apache-2.0 */
/* timer.h - the clock's protocol: what is timed, in which order, and what the times say.
 *
 * Nothing here knows a device: a PmClock takes single samples, this module decides which, and judges them. So
 * the protocol is tested on a simulated clock (tests/unit/timing/test_timer.c) and runs the same on a GPU
 * (runtime/exec/sampler.h behind bench/timing/clock.h).
 *
 * - Sides: side 0 is the baseline, the others are compared with it. One of them, the control, is the baseline
 * a second time: its true ratio is 1, and a run in which the clock does not find that is void.
 * - A block takes every side twice, in a random order and then in its reverse (two sides: ABBA or BAAB). What
 *   drifts steadily cancels in a block's ratios. All sides of half a block get the same inputs, which no
 * other half block gets.
 * - A time is what lies between two marks, less the median of 200 pairs of marks with nothing between. Calls
 *   shorter than 20 ticks of the marks are taken in batches, chosen for a call from cold caches and for a
 * replayed one apart.
 * - A time below what the marks resolve (their tick or the spread of empty pairs, over the calls of a batch)
 * is not a time: it is reported as that bound.
 * - Where there are several alternatives of the candidate, short rounds choose one before the first block:
 * one that is slower than the best by more than three standard errors is not asked again.
 * - speedup = the centre of the blocks' ratios (baseline / side), in logarithms and by signed ranks
 *   (bench/compare/signed_rank.h), with the interval that holds the true one in 99 of 100 runs. A block's
 *   order is drawn, so that of two equal sides each is as likely to come out the faster by any amount: the
 *   interval leaves out 1 in at most 1 % of runs, whatever the times' distribution is and however the device
 *   changes meanwhile. Where the calls of a side are not of one kind (two groups, or a wide middle half) the
 *   mean of the logarithms counts too: the lower of the two, and what either interval holds.
 * - Blocks are added, a quarter at a time, until half the interval is at most 1.3 % of the ratio (1 % of a
 *   95 % interval) and 0.8 of what the control may be off by. Since that depends on how wide the interval is
 *   and not on where it lies, looking many times makes no claim more likely. A ratio far from 1 needs less: a
 *   twentieth of its logarithm, up to 2.5 %, which no run of equal sides comes near.
 * - No sample is dropped because of its value. A block in which the clock was disturbed from outside (the
 * host was held up while it enqueued) is taken again, for all sides alike, at most once in ten.
 */
#ifndef BENCH_TIMER_H
#define BENCH_TIMER_H

#include "base/core/err.h"
#include "bench/compare/stats.h"
#include "runtime/exec/sampler.h"

#include <stdint.h>

/* Sides that can be asked for; 0, the candidate's and the control are compared. */
enum { PM_MAX_SIDES = PM_SAMPLER_SIDES, PM_MAX_BATCH = PM_SAMPLER_DEPTH };

/* "cold", "replay", "wall", "latency". */
const char *pm_time_kind_name(PmTimeKind kind);

/* What takes samples. Errors end the run and are passed on. */
typedef struct PmClock {
	PmStatus (*sample)(void *arg, const PmSampleAsk *ask, PmSample *out, PmErr *err);
	/* Two marks with nothing between them. */
	PmStatus (*empty)(void *arg, double *seconds, PmErr *err);
	/* A fixed amount of trusted work of some milliseconds; its duration says how fast the device runs
	 * now. */
	PmStatus (*warm)(void *arg, double *seconds, PmErr *err);
	double (*now)(void *arg); /* host seconds, for limits */
	void *arg;
} PmClock;

enum { PM_CLOCK_SECONDS = 20 };

typedef struct PmTimerOpts {
	int n_sides;      /* 2 .. PM_MAX_SIDES */
	int control;      /* the side that is the baseline again; 0 = none */
	int alternatives; /* sides 1 to that many are alternatives, of which one is chosen and compared. The
			   * control, the last side, is then side 2 of the results; 0 = all sides are compared
			   */
	int max_train;    /* buffers there are; 0 = PM_MAX_BATCH */
	int blocks;       /* to begin with; 0 = 16. At most 25 times as many are taken */
	int replay, wall; /* blocks of these kinds (wall: and of latency); 0 = 8 and 5, -1 = none */
	int exact;        /* so many blocks, however wide the interval still is */
	int graphs;       /* all sides run as recorded CUDA graphs (PmSampleAsk.graphs) */
	int warm;         /* the clock is steady from a run just before: no warm-up */
	double seconds;   /* no block begins after that many, twice as many while there are fewer than 8; 0 =
			     PM_CLOCK_SECONDS */
	uint64_t seed;    /* of orders, inputs and resampling */
	/* A time below floor[side] is not to be believed (0 = no floor), nor a speedup above max_speedup (0 =
	 * 10). */
	double floor[PM_MAX_SIDES], max_speedup;
	double host_bound; /* seconds; 0 = 10 us */
} PmTimerOpts;

typedef enum {
	PM_TIMING_OK,
	PM_TIMING_UNSTABLE,   /* the times vary too much to say anything, or the control is not 1 */
	PM_TIMING_IMPLAUSIBLE /* the times cannot be: needs a second look */
} PmTimingState;
/* Name in reports. Static. */
const char *pm_timing_state_name(PmTimingState s);

/* Why times cannot be, as bits. The last may be true all the same: a run in a new process confirms it or does
 * not. */
enum { PM_DOUBT_ZERO = 1, PM_DOUBT_FLOOR = 2, PM_DOUBT_SPEEDUP = 4 };

/* Half of an interval that is more than this share of the speedup: what lies within it is not said to be so
 * (bench/eval/runner.c). */
#define PM_TIMER_UNCERTAIN 0.03

/* What the interval of a speedup says. */
typedef enum {
	PM_CLAIM_SAME, /* it covers 1: the two are not distinguishable, which is a result */
	PM_CLAIM_FASTER,
	PM_CLAIM_SLOWER
} PmClaim;
/* "not distinguishable", "faster", "slower". Static. */
const char *pm_claim_name(PmClaim c);
/* Of an interval that is not known (NaN): the same. */
PmClaim pm_timer_claim(double lo, double hi);

typedef struct PmTimes {
	int blocks;                 /* taken and used; 0 = this kind was not measured */
	int batch;                  /* calls per sample */
	double resolution;          /* seconds of a call below which the marks cannot tell it from nothing */
	PmStats side[PM_MAX_SIDES]; /* seconds per call, as they were measured */
	PmInterval ratio[PM_MAX_SIDES]; /* baseline / side; [0] is 1; NaN when replayed and below the
					   resolution */
} PmTimes;

typedef struct PmTiming {
	PmTimingState state;
	char why[256];   /* one sentence unless OK */
	unsigned doubts; /* PM_DOUBT_... */
	int chosen;      /* the side that was asked for what stands as side 1: of alternatives the fastest */
	/* On the host's clock a call of the baseline and of the candidate takes over a tenth and host_bound
	 * of PmTimerOpts longer than on the device: launching is what it waits for. */
	int host_bound[2];
	PmTimes kind[PM_N_TIME_KINDS];
	int batch;             /* calls per sample of the first kind */
	int repeated;          /* blocks taken again after a disturbance */
	double overhead, tick; /* of a pair of marks; 0 when no tick showed */
	double warm_seconds;   /* until the clock was steady */
	int steady;            /* it became so */
	double loaded;         /* seconds before that: inputs are drawn, and all goes to the device */
} PmTiming;

/* Runs the whole protocol: warm-up, marks, estimate, blocks of each kind, judgement. PM_OK whatever the times
 * say; errors are the clock's. */
PmStatus pm_timer_run(const PmClock *clock, const PmTimerOpts *opts, PmTiming *out, PmErr *err);

/* The median of a side, or NaN when it is below the resolution: all that is known then is that the call takes
 * less than t->resolution. */
double pm_timer_seconds(const PmTimes *t, int side);

/* How far from 1 the control may be found, by the length of a call: 0.3 % from 200 us on, 1 % from 20 us on,
 * 2 % below. */
double pm_timer_control_bound(double seconds);

/* Which of the speedups that n runs (2 or 3) in processes of their own found is to be published: the second
 * of two that agree within PM_CONFIRM_WITHIN, the middle one of three that has another so near. -1: they do
 * not agree; after two, a third decides. */
#define PM_CONFIRM_WITHIN 0.03
int pm_timer_confirm(const double *speedup, int n);

/* 1 when the ordered times split in two: a gap of more than 25 % with at least a tenth of them on each side.
 */
int pm_timer_bimodal(const double *x, size_t n);

#endif
