/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - the verbs of passmith task: what they share, and where each is. */
#ifndef CLI_TASK_H
#define CLI_TASK_H

#include "base/core/vec.h"
#include "cli/cmds.h"
#include "dataset/store/db.h"

typedef struct PmTaskCmd {
	PmDb *db;        /* NULL for verbs that work on packs alone */
	const char *arg; /* the argument after the verb, or NULL */
	const char *out, *split, *category;
	/* make */
	const char *for_pass, *name;
	int64_t top, shapes, max_elements, max_mflop;
	int even;
	PmStrList hashes;
	/* from: model files, and KEY=VALUE */
	PmStrList models, tags;
	const char *groups; /* a file that says which models are one task, in place of `models` */
	/* build */
	int64_t n_eval, ratio, stride, seed, honest, jobs;
	int rebuild;
	int whole;             /* show */
	int filters;           /* gate */
	const char *torch_dir; /* export */
	int64_t max_check;
	int no; /* the answer is no: exit code 1 */
} PmTaskCmd;

typedef PmStatus (*PmTaskVerb)(PmTaskCmd *c, PmErr *err);
PmStatus pm_task_verb_make(PmTaskCmd *c, PmErr *err);   /* task_make.c */
PmStatus pm_task_verb_from(PmTaskCmd *c, PmErr *err);   /* task_from.c */
PmStatus pm_task_verb_list(PmTaskCmd *c, PmErr *err);   /* cmd_task.c */
PmStatus pm_task_verb_show(PmTaskCmd *c, PmErr *err);   /* cmd_task.c */
PmStatus pm_task_verb_build(PmTaskCmd *c, PmErr *err);  /* task_build.c */
PmStatus pm_task_verb_check(PmTaskCmd *c, PmErr *err);  /* task_check.c */
PmStatus pm_task_verb_gate(PmTaskCmd *c, PmErr *err);   /* task_check.c */
PmStatus pm_task_verb_pack(PmTaskCmd *c, PmErr *err);   /* task_pack.c */
PmStatus pm_task_verb_unpack(PmTaskCmd *c, PmErr *err); /* task_pack.c */
PmStatus pm_task_verb_verify(PmTaskCmd *c, PmErr *err); /* task_pack.c */
PmStatus pm_task_verb_export(PmTaskCmd *c, PmErr *err); /* task_export.c */

#endif
