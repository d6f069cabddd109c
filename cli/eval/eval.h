/* SPDX-License-Identifier: Apache-2.0 */
/* eval.h - what the parts of passmith eval share: one target, and several, each by a process of its own. */
#ifndef CLI_EVAL_H
#define CLI_EVAL_H

#include "app/eval/eval_task.h"
#include "app/eval/heartbeat.h"
#include "app/eval/record.h"
#include "base/sys/progress.h"
#include "cli/device_lock.h"
#include "cli/gpus.h"

#include <stdatomic.h>

/* The command's options, and what is known of its targets so far. */
typedef struct PmEvalCmd {
	const char *target, *db_path, *json_out, *preset, *reference, *replay_path, *record_path, *key_path;
	const char *tier, *dtype, *save_dir, *progress_path;
	PmStrList only, targets;
	PmFailing save;
	PmEvents *events;
	PmReplayFile replay;
	PmEmuAhead *ahead; /* of what every kernel needs */
	PmLook *look;      /* at the device; NULL = not yet */
	PmStrList passes;
	PmEvalOpts opts;
	int64_t seed, hidden, shape, jobs;
	size_t n_unselected;
	PmDeviceInfo device;
	const char *gpus;              /* --gpus, or NULL */
	PmSeats *seats;                /* the same */
	PmRwlock *clocks[PM_GPUS_MAX]; /* of each of them */
	int share;                     /* processes of one target's evaluation */
	int64_t command;               /* the process that evaluates several targets; 0 = there is one */
	int variants, summary, tf32, confirm, fail_fast, strong, weak;
	PmDb *db;
	PmVariantList variant_list;
	PmProgress bar;
	atomic_int
		*answered; /* shared by the processes that evaluate: the first answer on this pass was told */
} PmEvalCmd;

/* ---- eval_target.c ---- */

/* 1 when parts of the variants are asked for by number or type. */
int pm__eval_is_part(const PmEvalCmd *e);
/* Reads e->target and chooses its variants; PM_E_NOT_FOUND when none is left. */
PmStatus pm__eval_find_selected(PmEvalCmd *e, PmErr *err);
/* Finds out what is to be known of the device before anything runs there, and the lock for it; and ends that.
 */
PmStatus pm__eval_look_at_device(PmEvalCmd *e, PmErr *err);
void pm__eval_leave_device(PmEvalCmd *e);
/* Evaluates every pass on the target's variants: r has room for each pass, `have` for each variant; *done
 * passes have a report, also after an error. */
PmStatus pm__eval_passes(PmEvalCmd *e, PmEvalReport *r, char *have, size_t *done, PmErr *err);
/* The target from its reading to its answer; *all_ok: every pass was right on all variants. */
PmStatus pm__eval_target(PmEvalCmd *e, int *all_ok, PmErr *err);
int pm__eval_is_all_ok(const PmEvalReport *r, size_t n);
/* A report as the answer has it, owned; and the tables of n reports, appended. */
cJSON *pm__eval_report_json(const PmEvalCmd *e, const PmEvalReport *r);
void pm__eval_add_tables(const PmEvalCmd *e, const PmEvalReport *r, size_t n, PmStr *table);
/* PmEvalOpts.found: a line on stderr for each variant that is not OK. `arg` is the PmEvalCmd. */
void pm__eval_say_found(void *arg, const char *kind, const char *label, const char *why);
/* Has the first answer on each pass told as soon as there is one. */
void pm__eval_want_first_answer(PmEvalCmd *e);

/* ---- eval_many.c ---- */

/* All targets, each by a process of its own; *code: the command's exit code where PM_OK is returned. */
PmStatus pm__eval_many(PmEvalCmd *e, int *code, PmErr *err);

#endif
