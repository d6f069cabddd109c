/* SPDX-License-Identifier: Apache-2.0 */
/* trajectories.h - what agents did, step by step: sessions of the protocol server, samples of the driver.
 *
 * A trajectory is begun, steps are appended, and it ends. Each append is a transaction of its own: a process
 * that is killed loses no step that was appended, and leaves a trajectory without an end, which is listed as
 * cut off. Several processes may write at once, also to one trajectory: a step gets the next number when it
 * is stored. Steps never change. Each has the hash of itself and of the step before it, so that a copy that
 * was changed is found out, and so that two copies of one trajectory can be put together.
 *
 * Texts come here as they shall be stored: app/trajectory/recorder.h takes secrets and paths out before.
 */
#ifndef DATASET_TRAJECTORIES_H
#define DATASET_TRAJECTORIES_H

#include "base/core/json.h"
#include "dataset/store/db.h"

/* Strings are borrowed: from the caller when storing, until the callback returns when reading. NULL is ""
 * when storing. */
typedef struct PmTrajectoryRow {
	/* What it is; all of these together are its key. */
	const char *kind; /* "mcp" or "agent" */
	/* Hash of the task; "" for a session that chooses its own. When reading, such a session has the only
	 * task that its steps are of, if there is one. */
	const char *task;
	const char *model; /* name of the language model, or of a session's client */
	uint64_t seed;
	const char *version;    /* of the program */
	const char *machine;    /* what of it decides results, as in runs */
	const char *experiment; /* of the driver, or "" */
	const char *instance;   /* which of several alike, "sample 3"; "" = drawn: never found again */
	/* What is known besides. */
	const char *options;   /* JSON object of mode, budget, ...; "" = {} */
	double started, ended; /* seconds since 1970; started 0 = now; ended 0 = goes on, or was cut off */
	const char *outcome;   /* "done", "budget", "cancelled", "failed"; "" without an end */
	/* When reading. */
	int64_t id;
	const char *key, *task_name;   /* the name is "" when the database does not have the task */
	int64_t n_steps, first_ok;     /* number of the first step with verdict "OK" and a score; -1 = none */
	double best;                   /* greatest score of all steps; NaN = none */
	int64_t tokens_in, tokens_out; /* sums of what is known */
	double money, last;            /* sum of what is known; when its last step was over */
} PmTrajectoryRow;

/* Begins a trajectory and gives its number, or finds the one that has the same key (*is_new 0; may be NULL),
 * to go on where it was. PM_E_CONFLICT: a kind that there is not. */
PmStatus pm_trajectory_begin(PmDb *db, const PmTrajectoryRow *row, int64_t *id, int *is_new, PmErr *err);
/* Ends it, now; one that ended stays as it is. PM_E_NOT_FOUND: there is no such trajectory. */
PmStatus pm_trajectory_end(PmDb *db, int64_t id, const char *outcome, PmErr *err);

typedef struct PmStepRow {
	int64_t trajectory, ordinal; /* ordinal: when reading */
	const char *role;            /* "system", "user", "assistant", "tool" */
	const char *name;            /* the tool, "" for a message */
	const char *task;            /* hash of the task that a tool worked on, or "" */
	/* A message: {"content", "reasoning", "tool_calls": [{"id", "name", "arguments"}]}, as far as it has
	 * them. A call: {"id", "arguments", "answer", "is_error"}. */
	const char *json;
	/* [{"path", "sha256", "diff" or "text" or "deleted"}], the files that changed; "" = []. The digest is
	 * of the whole file as it is then; the diff is against the file as the steps before left it. */
	const char *files;
	const char *report;            /* SHA-256 of the report of an evaluation, or "" */
	const char *verdict;           /* of an evaluation, or "" */
	double score;                  /* AS of a whole task; NaN = none */
	double at, seconds;            /* when it began (0 = now) and how long it took (NaN = not known) */
	int64_t tokens_in, tokens_out; /* -1 = not known */
	double money;                  /* US dollars; NaN = not known */
	const char *hash;              /* when reading */
} PmStepRow;

/* Appends a step; *ordinal (may be NULL) is its number. PM_E_NOT_FOUND: there is no such trajectory;
 * PM_E_CONFLICT: a role that there is not; PM_E_INVALID: the trajectory has ended. */
PmStatus pm_step_add(PmDb *db, const PmStepRow *row, int64_t *ordinal, PmErr *err);

/* Which trajectories to walk; a member that is NULL, "" or NaN asks nothing. */
typedef struct PmTrajectoryFilter {
	const char *kind, *model, *experiment;
	const char *task; /* hash: the trajectory's, or that of one of its steps */
	double above;     /* best AS is greater */
} PmTrajectoryFilter;

/* Trajectories by the time they began, then by key. NULL filter = all. A status of fn other than PM_OK stops
 * the walk and is returned. */
typedef PmStatus (*PmTrajectoryFn)(void *arg, const PmTrajectoryRow *row, PmErr *err);
PmStatus pm_trajectories_each(PmDb *db, const PmTrajectoryFilter *filter, PmTrajectoryFn fn, void *arg,
			      PmErr *err);
/* One trajectory. PM_E_NOT_FOUND when there is none of this number. */
PmStatus pm_trajectory_get(PmDb *db, int64_t id, PmTrajectoryFn fn, void *arg, PmErr *err);
/* The number of a trajectory named by its number, or by the first 6 digits or more of its key.
 * PM_E_NOT_FOUND, or PM_E_INVALID when several begin so. */
PmStatus pm_trajectory_find(PmDb *db, const char *name, int64_t *id, PmErr *err);

/* Steps of a trajectory, in order. */
typedef PmStatus (*PmStepFn)(void *arg, const PmStepRow *row, PmErr *err);
PmStatus pm_steps_each(PmDb *db, int64_t trajectory, PmStepFn fn, void *arg, PmErr *err);

#endif
