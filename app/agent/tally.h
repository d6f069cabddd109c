/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - what the journal of a sample comes to. */
#ifndef AGENT_TALLY_H
#define AGENT_TALLY_H

#include "base/core/err.h"

#include <stdint.h>

#define PM_AS_NOTHING 0.1 /* AS where nothing runs (bench/score/score.h: b) */

typedef struct PmTally {
	int ended;
	int evaluated; /* files of it were evaluated as a whole, at least once */
	int compiled, correct;
	double best_score;   /* AS; PM_AS_NOTHING without an evaluation */
	double best_speedup; /* of its right evaluations: the greatest geometric mean over variants; 0 = none
			      */
	int64_t turns, tokens_in, tokens_out,
		lost; /* lost: requests that were in flight when it was killed */
	int estimated;
	double money, seconds; /* of the model and of tools */
	char outcome[16];      /* "" = goes on */
} PmTally;

/* The evaluations of a sample in order: the turn and the best AS from then on. */
typedef void (*PmBestFn)(void *arg, int64_t turn, double best);

/* Reads a journal; one that is not there is a sample that has not begun. `best` may be NULL. */
PmStatus pm_tally_read(const char *path, PmBestFn best, void *arg, PmTally *out, PmErr *err);

#endif
