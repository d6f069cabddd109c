/* SPDX-License-Identifier: Apache-2.0 */
/* monitor.h - what a database says of evaluations as of now: those that go on, and how passes rank. */
#ifndef MONITOR_MONITOR_H
#define MONITOR_MONITOR_H

#include "app/monitor/ranking.h"
#include "base/core/json.h"

/* A process that is at work, as it says (dataset/store/running.h). Texts are owned. */
typedef struct PmMonitorWork {
	char *host, *pass_path, *device, *stage, *task_name;
	int64_t pid, parent, task, done, total;
	double began, heartbeat; /* seconds since 1970, by the clock of the host */
	/* Seconds without a heartbeat. While a board is read again and again by the clock here, as it saw
	 * heartbeats come; what it saw once only by the difference of the two clocks, and not below 0. */
	double silent;
	/* By pm_now(): when the board saw the work first, and the heartbeat. */
	double seen, heard;
	int64_t done_then; /* when it was seen first */
	int was_heard;     /* the heartbeat has changed since */
} PmMonitorWork;

typedef struct PmMonitor {
	PM_VEC(PmMonitorWork) work; /* of a host, and a command before its parts */
	PmRankings rankings;
	int64_t version; /* of the data that rankings are of (PRAGMA data_version); 0 = none */
	double next;     /* by pm_now(): rankings are not read again before */
	int is_read;
} PmMonitor;

/* Reads again what is new. now: pm_now(), wall: pm_wall_clock(). Begin with { 0 }. After an error, and when
 * b->rankings.stop said so (PM_DECLINED), the board is as it was. Rankings take a tenth of a processor at
 * most: of a large database they are read less often.
 */
PmStatus pm_monitor_read(PmMonitor *b, PmDb *db, double now, double wall, PmErr *err);
/* Time goes on without reading: `silent` of all work. */
void pm_monitor_age(PmMonitor *b, double now, double wall);
/* 1 when nothing was heard for PM_HEARTBEAT_SILENT seconds: the process may be gone, or its host. */
int pm_monitor_is_silent(const PmMonitorWork *w);
/* Commands that go on: work that is no part of other work, and is not silent. */
size_t pm_monitor_n_running(const PmMonitor *b);
/* Seconds until the work is done if it goes on as it went since it was seen; NaN when that is not known. */
double pm_monitor_left(const PmMonitorWork *w, double now);
/* Frees all; *b is then empty. */
void pm_monitor_release(PmMonitor *b);

/* {"running": [...], "rankings": [...]}; owned. */
cJSON *pm_monitor_json(const PmMonitor *b);

#endif
