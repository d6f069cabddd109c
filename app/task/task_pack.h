/* SPDX-License-Identifier: Apache-2.0 */
/* task_pack.h - tasks of a database as folders (dataset/pack/pack.h), and folders as tasks. */
#ifndef APP_TASK_PACK_H
#define APP_TASK_PACK_H

#include "app/watch/watch.h"
#include "base/core/str.h"
#include "dataset/store/db.h"

typedef struct PmTaskPackOpts {
	PmDb *db;             /* borrowed, as all here */
	const char *task;     /* this one, by id, name or hash; NULL = */
	const char *split;    /* those of this split; NULL = all */
	const char *out;      /* the folder below which packs are written */
	const PmWatch *watch; /* may be NULL; told about more than one task only */
} PmTaskPackOpts;

typedef struct PmTaskPacked {
	size_t n, n_new; /* tasks to pack; of them, packs that were written and not there before */
	PmStr dir;       /* the last pack; release it in every case */
} PmTaskPacked;

/* Packs tasks, each with the rules it is judged by today. PM_E_NOT_FOUND when there is none. The first that
 * fails ends it; packs that were written stay, and *out counts them. */
PmStatus pm_task_pack(const PmTaskPackOpts *o, PmTaskPacked *out, PmErr *err);

/* Stores every pack in `dir`, which is one or has some at most three folders down; with db NULL they are only
 * read and verified. *n: how many. PM_E_NOT_FOUND when there is none; the first that is wrong ends it. */
PmStatus pm_task_unpack(PmDb *db, const char *dir, int64_t *n, PmErr *err);

#endif
