/* SPDX-License-Identifier: Apache-2.0 */
/* timer_priv.h - one run of the protocol, for what takes the times (timer.c) and what judges them
 * (timer_judge.c). */
#ifndef BENCH_TIMER_PRIV_H
#define BENCH_TIMER_PRIV_H

#include "bench/timing/timer.h"

typedef struct Run {
	const PmClock *clock;
	const PmTimerOpts *o;
	PmTiming *out;
	PmRng rng;
	double spread;       /* of the middle half of empty pairs of marks, seconds */
	uint64_t next_index; /* of the inputs: each is used once */
	double began;
	double half[PM_MAX_SIDES]; /* of the intervals of each side's ratios, the wider one, as a share */
	/* What is compared now: sides that are asked for, of which `control` is the place of the control. */
	int side[PM_MAX_SIDES], n_sides, control;
} Run;

/* Samples of a side in a block: its order and its reverse, twice. */
enum { QUARTERS = 4 };

/* Blocks of one kind: value[side][block], seconds per call, mean of the samples. */
typedef struct Blocks {
	PmTimeKind kind;
	int batch, n, cap;
	double *value[PM_MAX_SIDES];
	double *sample[PM_MAX_SIDES]; /* QUARTERS * n single samples */
} Blocks;

#define PM_TIMER_CONFIDENCE 0.99
/* Half an interval of that confidence over half of one of 95 %: 2.576 / 1.960 standard errors. */
#define PM_TIMER_WIDER      1.314
#define PM_TIMER_HALF_WIDTH (0.01 * PM_TIMER_WIDER) /* of a ratio: what every result is to reach, and */
#define PM_TIMER_WIDEST     0.1                     /* at most, or nothing is said */
#define PM_TIMER_MARKS      0.5e-6                  /* seconds: from there on marks that vary may matter */

/* States a finding: the worst stays, of equals the first. */
void pm__timer_say(PmTiming *t, PmTimingState s, const char *fmt, ...) PM_PRINTF(3, 4);
/* Half of each interval is at most this share of its ratio. */
int pm__timer_precise(const Run *r, double half_width);
/* The baseline over `side`, from all blocks so far (timer.h, speedup); r->half[side] is noted. */
PmInterval pm__timer_speedup(Run *r, const Blocks *b, int side);
/* The side's calls are not of one kind: in two groups, or the middle half of its times spreads over 20 % of
 * their median and 1.5 us. */
int pm__timer_scattered(const Blocks *b, int side);
/* What the blocks of the first kind say about every side and about the control. */
void pm__timer_judge(Run *r, const Blocks *b);

/* Whether the host holds up the device. */
void pm__timer_judge_host(Run *r);

#endif
