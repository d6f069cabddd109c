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
	double spread;       /* of the middle half of empty pairs of marks */
	uint64_t next_index; /* of the inputs: each is used once */
	double began;
	/* What is compared now: sides that are asked for, of which `control` is the place of the control. */
	int side[PM_MAX_SIDES], n_sides, control;
} Run;

/* Blocks of one kind: value[side][block], seconds per call, mean of the two samples. */
typedef struct Blocks {
	PmTimeKind kind;
	int batch, n, cap;
	double *value[PM_MAX_SIDES];
	double *sample[PM_MAX_SIDES]; /* 2 n single samples */
} Blocks;

#define PM_TIMER_CONFIDENCE 0.99
/* Half an interval of that confidence over half of one of 95 %: 2.576 / 1.960 standard errors. */
#define PM_TIMER_WIDER      1.314
#define PM_TIMER_HALF_WIDTH (0.01 * PM_TIMER_WIDER) /* of a ratio: what every result is to reach, and */
#define PM_TIMER_WIDEST     0.03                    /* at most, or nothing is said */

/* Orders doubles for qsort. */
int pm__timer_ascending(const void *a, const void *b);
/* States a finding: the worst stays, of equals the first. */
void pm__timer_say(PmTiming *t, PmTimingState s, const char *fmt, ...) PM_PRINTF(3, 4);
/* Half of each interval of a kind is at most this share of its ratio. */
int pm__timer_precise(const Run *r, PmTimeKind kind, double half_width);
/* What the blocks of the first kind say about every side and about the control. */
void pm__timer_judge(Run *r, const Blocks *b);

/* Whether the host holds up the device. */
void pm__timer_judge_host(Run *r);

#endif
