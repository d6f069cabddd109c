/* SPDX-License-Identifier: Apache-2.0 */
/* running.h - work that goes on now, as the processes that do it say.
 *
 * A process has one row, which it writes again as its heartbeat, and takes away when it is done. A row says
 * that its process was at work when the heartbeat was written, by the clock of its host, and nothing of what
 * came after: who reads it judges by the age.
 */
#ifndef DATASET_RUNNING_H
#define DATASET_RUNNING_H

#include "dataset/store/db.h"

/* Strings are borrowed: from the caller when storing, until the callback returns when reading. */
typedef struct PmRunningRow {
	const char *host;
	int64_t pid;
	double began;          /* seconds since 1970; with host and pid the row's key */
	int64_t parent;        /* process of the command that this is a part of; 0 = it is the command */
	int64_t task;          /* 0: of several */
	const char *pass_path; /* "": of several */
	const char *device;
	const char *stage; /* what is counted: "tasks", "graphs", "variants", "hidden shapes" */
	int64_t done, total;
	double heartbeat;      /* seconds since 1970, by the clock of `host` */
	const char *task_name; /* when reading; "" without a task */
} PmRunningRow;

/* Stores the row, or writes it again. It never waits for another writer: PM_E_TIMEOUT when there is one, for
 * whom the work itself is not to wait. */
PmStatus pm_running_put(PmDb *db, const PmRunningRow *row, PmErr *err);
/* Takes the row away; waits as other writers do. PM_OK also when there is none. */
PmStatus pm_running_drop(PmDb *db, const PmRunningRow *row, PmErr *err);
/* Takes rows away whose last heartbeat is before `before`. Never waits, as pm_running_put. */
PmStatus pm_running_forget(PmDb *db, double before, PmErr *err);

typedef PmStatus (*PmRunningFn)(void *arg, const PmRunningRow *row, PmErr *err);
/* Calls fn for each row: by host, then by the command and its parts, then by when they began. A status other
 * than PM_OK stops the walk and is returned. */
PmStatus pm_running_each(PmDb *db, PmRunningFn fn, void *arg, PmErr *err);

#endif
