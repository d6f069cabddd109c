/* SPDX-License-Identifier: Apache-2.0 */
/* sim_clock.h - a simulated device for the clock's protocol, whose true times are known.
 *
 * Everything that goes wrong with a device's times can be switched on, each by itself. The same seed gives
 * the same samples, whoever asks for them.
 */
#ifndef TESTS_LIB_SIM_CLOCK_H
#define TESTS_LIB_SIM_CLOCK_H

#include "bench/timing/timer.h"

enum { PM_SIM_ASKS = 20000 }; /* that are written down */

/* What decides whether a sample takes `mode_gap` longer (PmSim). */
typedef enum {
	PM_SIM_NO_MODES,
	PM_SIM_MODE_BY_SAMPLE, /* a coin for each sample */
	PM_SIM_MODE_BY_TIME,   /* the device is in it, and changes with a chance of mode_switch a sample */
	PM_SIM_MODE_BY_SIDE,   /* the same for each side by itself: it stays with the side */
	PM_SIM_MODE_BY_BLOCK,  /* a coin for each side and block: both samples are alike */
	PM_SIM_MODE_OPPOSITE,  /* a coin for each block: odd sides are in it, or the others are */
	PM_SIM_MODE_PERIODIC,  /* half of mode_period samples in a row, and as many not */
	PM_SIM_N_MODES
} PmSimMode;

typedef struct PmSim {
	double t[PM_MAX_SIDES]; /* true seconds of a call */
	double cold;            /* a call from cold caches takes so much longer */
	double noise;           /* deviation of the logarithm */
	int heavy;              /* noise has the tails of Student's t with two degrees of freedom */
	double drift;           /* share by which it slows down per second */
	double walk;            /* deviation of the logarithm's step between two samples */
	double outliers;        /* share of samples that take five times as long */
	double overhead, tick;  /* of the marks */
	int rough_pairs;        /* empty pairs, the first, that take up to twice as long */
	double second_mode;     /* share of samples that take 1.5 times as long */
	double slow_calls;      /* share of samples of one side that take three times as long: */
	int slow_side;          /* that side's */
	PmSimMode mode;
	double mode_gap, mode_switch;
	int mode_period;     /* of a periodic mode, which begins anywhere in it, and */
	int mode_step;       /* how many samples of it one of the candidate's is; 0 = 1 */
	int at_step;         /* so far */
	double disturbed;    /* share */
	double ramp;         /* seconds until it runs at full speed */
	int restless;        /* every other piece of warm-up work takes a tenth longer */
	double pause;        /* host seconds per sample */
	double launching;    /* host seconds per call, which only the host's clock sees */
	int fail_after;      /* samples until an error; 0 = never */
	double clock;        /* host time */
	double first_sample; /* when the first sample was taken */
	double level;        /* of the walk */
	int in_mode[PM_MAX_SIDES];
	uint64_t seed;
	PmRng rng;
	size_t n, n_warm;
	PmSampleAsk ask[PM_SIM_ASKS];
} PmSim;

/* A good device like the one whose figures stand in docs/results/clock.md: noise of 1 %, sides 0 and 2 of
 * `baseline` seconds and side 1 of `candidate`. */
void pm_sim_init(PmSim *s, double baseline, double candidate, uint64_t seed);
/* Its clock; `s` is borrowed. */
PmClock pm_sim_clock(PmSim *s);

#endif
