/* SPDX-License-Identifier: Apache-2.0 */
/* eval_task.h - one pass on the variants of a task, resuming what a database holds. */
#ifndef APP_EVAL_TASK_H
#define APP_EVAL_TASK_H

#include "app/eval/events.h"
#include "app/eval/failing.h"
#include "app/eval/hidden.h"
#include "app/eval/replay.h"
#include "bench/eval/runner.h"

typedef struct PmEvalTask {
	PmDb *db;                      /* NULL, or variants of no stored task: nothing is kept */
	const PmVariantList *variants; /* borrowed */
	PmEvalOpts opts;               /* without a secret one is drawn for each pass */
	const PmReplayFile
		*replay;       /* draws what this report says, and neither reads nor stores results; NULL */
	const char *preset;    /* its name, part of a run's key */
	const char *pass_path; /* that is stored for people, where it is another than was loaded; NULL */
	int tf32;              /* likewise */
	int stored_only;       /* evaluate nothing: variants without a stored result get no record */
	int any_machine; /* the same: results of another machine are taken where there are none of this one */
	const char *ranking; /* with any_machine: of those alone that have this pm_run_key_ranking; NULL = of
				all */
	int64_t *run; /* gets the number of the run that results are read from and stored in; NULL = nobody */
	int hidden;   /* hidden shapes to draw (app/eval/hidden.h) */
	/* Processes that evaluate at once; 0 or 1 = this one alone. Where times are measured variants are
	 * alone, one after the other, and hidden shapes share. Records and their order are the same. */
	int jobs;
	int fail_fast;       /* the first failing variant is the last: the report has no more, and no score */
	size_t n_unselected; /* variants of the task that are not in `variants`: with any, no score */
	PmFailing *save;     /* writes failing variants, hidden ones too; NULL = none are written */
	PmEvents *events;    /* gets what is finished, as soon as it is; NULL = nobody */
	int64_t command;     /* the process that this is a part of the work of; 0 = of none but its own */
	/* Before the record of a variant or hidden shape counts or is stored: another status than PM_OK ends
	 * the evaluation with it. NULL = all count. */
	PmStatus (*accept)(void *arg, const PmEvalRecord *rec, PmErr *err);
	void *accept_arg;
	/* Called after each variant, in their order, as PmEvalOpts.step is; may be NULL. */
	void (*step)(void *arg, const char *label);
	/* Called with step_arg for each variant that was evaluated now, as soon as it was, in any order: its
	 * result is stored, where it is kept at all. May be NULL. */
	void (*evaluated)(void *arg);
	void *step_arg;
} PmEvalTask;

/* Fills *r with a record for each variant, in order (fail_fast: up to the first that fails), and scores them.
 * `have` (may be NULL; variants->list.n bytes) says which have one: all, unless stored_only. The caller
 * releases *r with pm_eval_report_release, also after a failure. */
PmStatus pm_eval_task(const PmEvalTask *e, const char *so, PmEvalReport *r, char *have, PmErr *err);

#endif
