/* SPDX-License-Identifier: Apache-2.0 */
/* heartbeat.h - an evaluation says in the database that it goes on, and how far it is.
 *
 * For those who look (`passmith watch`), and never for the evaluation: what cannot be written now, since
 * another process writes or the file is not writable, is written later or not at all. A heartbeat belongs to
 * the process that began it, and to the connection of that process.
 */
#ifndef APP_HEARTBEAT_H
#define APP_HEARTBEAT_H

#include "dataset/store/running.h"

#define PM_HEARTBEAT_SECONDS 5.0 /* between two heartbeats of work that goes on */
/* Without one for so long work is silent: several heartbeats, of which others that write may hold up some. */
#define PM_HEARTBEAT_SILENT 30.0
/* Rows that are silent for so long are taken away by whoever begins next. */
#define PM_HEARTBEAT_FORGOTTEN 3600.0

/* Begin with { 0 }: nobody is told. */
typedef struct PmHeartbeat {
	PmDb *db; /* borrowed; NULL = nobody is told */
	PmRunningRow row;
	char host[65];
	double next; /* on pm_now()'s clock: not before */
	int stored;  /* the row may be there */
} PmHeartbeat;

/* What is done, at the beginning: `what` has parent, task, pass_path, device, stage, done and total; its
 * texts are borrowed until pm_heartbeat_end. *b must not move. A database of which db is NULL is told
 * nothing.
 */
void pm_heartbeat_begin(PmHeartbeat *b, PmDb *db, const PmRunningRow *what);
/* Something else is counted from now on. `stage` is borrowed. */
void pm_heartbeat_stage(PmHeartbeat *b, const char *stage, int64_t done, int64_t total);
/* One more is done. */
void pm_heartbeat_step(PmHeartbeat *b);
/* Writes when it is time. May be called as often as one likes; `b` is a PmHeartbeat. */
void pm_heartbeat_tick(void *b);
/* The work is done, or given up by itself. */
void pm_heartbeat_end(PmHeartbeat *b);

#endif
