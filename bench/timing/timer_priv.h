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
	double shortest;     /* call of any side, roughly */
	uint64_t next_index; /* of the inputs: each is used once */
	double began;
} Run;

/* Blocks of one kind: value[side][block], seconds per call, mean of the two samples. */
typedef struct Blocks {
	PmTimeKind kind;
	int batch, n, cap;
	double *value[PM_MAX_SIDES];
	double *sample[PM_MAX_SIDES]; /* 2 n single samples */
} Blocks;

#define PM_TIMER_HALF_WIDTH 0.01 /* of a ratio, at most: what every result must reach */

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
