/* SPDX-License-Identifier: Apache-2.0 */
/* time_file.h - the file of passmith time: written as the run goes on, and taken up again. */
#ifndef APP_TIME_FILE_H
#define APP_TIME_FILE_H

#include "app/gpus/seats.h"
#include "app/time/time_stages.h"
#include "base/core/err.h"
#include "base/core/json.h"
#include "ir/core/graph.h"
#include "runtime/worker/worker.h"

/* A run of the command: its options, and what it has so far. */
typedef struct PmTime {
	const char *device, *db_path, *json_out, *pass;
	const char *target; /* the one at hand */
	char system[80];    /* what the pass's times are stored as */
	int64_t seed, shapes, blocks;
	double seconds; /* no graph is begun after that many */
	int variants, tf32, graphs, resume, left_out;
	int timed, failed, unread;          /* graphs; targets */
	double begin, last, kept;           /* of the run, of the last graph that was timed, of the file */
	double rewritten, opened, compiled; /* seconds of the pass, of waiting for the device, of compiling */
	int timings;                        /* --timings */
	PmTimeStages stages;
	PmWorker *worker;
	PmDeviceInfo info; /* of the worker's device, once it is open */
	int has_info;
	PmSeats *seats; /* --gpus, or NULL: then each target is timed by a process at one of them */
	int code;       /* with them: the exit code of the first target that was not timed; 0 = all were */
	PmStr *said;    /* gets the lines for the terminal; NULL = they are printed at once */
	cJSON *records;
} PmTime;

/* The times so far, as the file of -o holds them; owned. */
cJSON *pm_time_file_json(PmTime *t);
/* Writes them as the file of -o, where there is one and the device is known. */
PmStatus pm_time_file_write(const PmTime *t, const cJSON *times, PmErr *err);
/* Writes the times so far, unless ten seconds have not gone since it did. */
PmStatus pm_time_file_keep(PmTime *t, PmErr *err);
/* Takes over the records of the file that have times. PM_E_INVALID when it is no such file, or was made on
 * another device or with other options that change times. */
PmStatus pm_time_file_resume(PmTime *t, PmErr *err);
/* 1 when the run resumes and has all times of the graph under the target at hand. */
int pm_time_file_has(const PmTime *t, const PmGraph *g);

#endif
