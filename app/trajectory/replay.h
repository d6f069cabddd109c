/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - the submissions of a trajectory, run again with the sources as they were then.
 *
 * A submission is a call of `submit` or of `evaluate`, with the answer in which its verdict stands (its own,
 * or that of get_run). Each runs in an empty workspace that has the author's files as they were when it was
 * called, through the same tool (app/tools/tools.h); nothing is stored, so that `submit` becomes an
 * evaluation of all variants. Secrets and paths that were taken out of a source are not there again.
 */
#ifndef TRAJECTORY_REPLAY_H
#define TRAJECTORY_REPLAY_H

#include "app/trajectory/session.h"

/* How much a score may differ and be the same: inputs are drawn anew, and a GPU's times differ. */
#define PM_REPLAY_TOLERANCE 0.05

typedef struct PmSessionReplayOpts {
	const char *db;     /* the database file, which has the tasks */
	const char *device; /* NULL = the one that the answer names, "emu" when it names none */
	double tolerance;   /* relative difference of two scores that are the same */
	int quick;          /* evaluations without a score too */
} PmSessionReplayOpts;

/* One submission. */
typedef struct PmReplayedCall {
	int64_t ordinal;         /* the step that called */
	const char *tool, *pass; /* borrowed from the session */
	const char *verdict;     /* recorded, borrowed */
	double score;            /* recorded; NaN = none */
	char *now_verdict;       /* owned; "" when it could not be run */
	double now_score;
	char *why; /* owned: why it could not be run, or what differs; "" when it is the same */
	int same;
} PmReplayedCall;
typedef struct PmSessionReplay {
	PM_VEC(PmReplayedCall) list;
	size_t n_different;
} PmSessionReplay;
/* Frees all; *r is then empty. */
void pm_session_replay_free(PmSessionReplay *r);

/* Called before each submission, for people who wait: how many there are, which it is. May be NULL. */
typedef void (*PmSessionReplayStep)(void *arg, size_t n, size_t i);

/* Runs the submissions of *s again; what cannot be run is in the list with the reason. Errors: the files of a
 * step do not fit together, or no temporary folder can be made. Free *out also after a failure. */
PmStatus pm_session_replay(const PmSession *s, const PmSessionReplayOpts *o, PmSessionReplayStep step,
			   void *arg, PmSessionReplay *out, PmErr *err);

#endif
