/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - runs of passes and what came out, one row for each member of a task. */
#ifndef DATASET_RESULTS_H
#define DATASET_RESULTS_H

#include "dataset/store/db.h"

#include <stdint.h>

/* One run: what decides its outcome. Strings are borrowed. */
typedef struct PmRunRow {
	int64_t id;              /* ignored when storing */
	int64_t task;            /* 0: not of one task */
	const char *pass_path;   /* for people; not part of the key */
	const char *pass_sha256; /* of the plugin's bytes; "" when there is no pass (a baseline) */
	const char *device;      /* "emu", "cuda:NVIDIA H200", ... */
	uint64_t seed;
	const char *version;       /* of the program: release or commit */
	const char *options;       /* whatever else decides the outcome, as text; may be "" */
	int64_t started, finished; /* seconds since 1970; started 0 = now; finished 0 = not yet */
	const char *machine;       /* what of it decides the outcome; NULL or "" = nothing is known of it */
	/* What became of the pass on hidden shapes: the verdict, "OK" or one by which no result of the run
	 * counts as right, and details; "" = not tried. Ignored when storing a run. */
	const char *hidden, *hidden_json;
} PmRunRow;

/* *id is the run that has the same task, pass, device, seed, version, options and machine; 0 when there is
 * none. */
PmStatus pm_run_find(PmDb *db, const PmRunRow *row, int64_t *id, PmErr *err);
/* Stores a run, or finds it as pm_run_find does, so that its missing results can be filled in. *is_new may be
 * NULL. */
PmStatus pm_run_put(PmDb *db, const PmRunRow *row, int64_t *id, int *is_new, PmErr *err);
/* Stores what became of a pass on hidden shapes, measured now at the database's origin
 * (dataset/store/measurements.h); of several the worst counts. */
PmStatus pm_run_set_hidden(PmDb *db, int64_t run, const char *verdict, const char *json, PmErr *err);
/* Marks a run as complete, now. */
PmStatus pm_run_finish(PmDb *db, int64_t run, PmErr *err);
typedef PmStatus (*PmRunFn)(void *arg, const PmRunRow *row, PmErr *err);
/* Runs of one task, or all (0), in the order stored. */
PmStatus pm_runs_each(PmDb *db, int64_t task, PmRunFn fn, void *arg, PmErr *err);
/* 1 when both are of one pass, device, seed, version and options: what decides beside task and machine. */
int pm_run_row_is_like(const PmRunRow *a, const PmRunRow *b);

/* The result of one member. Strings are borrowed. */
typedef struct PmResultRow {
	int64_t run, task, ordinal;
	const char *verdict; /* "correct", "wrong", "crash", ... */
	const char *stage;   /* the last stage reached: "match", "correctness", "speed" */
	double speedup;      /* NaN when it was not measured */
	const char *json;    /* everything else */
	int64_t rewrite;     /* what the pass made of it (dataset/store/rewrites.h); 0 = not known */
} PmResultRow;

/* Stores a result as a measurement that was made now at the database's origin (pm_db_set_origin). One that
 * is stored for this run and member stays beside it; dataset/store/measurements.h says which counts. *is_new
 * may be NULL. */
PmStatus pm_result_put(PmDb *db, const PmResultRow *row, int *is_new, PmErr *err);
/* *done is 1 when this result is stored. */
PmStatus pm_result_is_done(PmDb *db, int64_t run, int64_t task, int64_t ordinal, int *done, PmErr *err);
/* Results of a run, by task and member: the measurement that counts. */
typedef PmStatus (*PmResultFn)(void *arg, const PmResultRow *row, PmErr *err);
PmStatus pm_results_each(PmDb *db, int64_t run, PmResultFn fn, void *arg, PmErr *err);

/* What passes did on graphs of one structure: every result with this verdict, with the pass that gave it;
 * those of runs that were wrong on a hidden shape are left out.
 * `graph` is the member it was measured on. */
typedef struct PmScoreRow {
	const char *structure, *pass_path, *json;
	int64_t graph;
	double speedup;
} PmScoreRow;
typedef PmStatus (*PmScoreFn)(void *arg, const PmScoreRow *row, PmErr *err);
/* A status of fn other than PM_OK stops the walk and is returned. Strings are borrowed until fn returns. */
PmStatus pm_scores_each(PmDb *db, const char *verdict, PmScoreFn fn, void *arg, PmErr *err);

#endif
