/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - a database as pages: one file, or an index with a page for each task. */
#ifndef APP_REPORT_REPORT_H
#define APP_REPORT_REPORT_H

#include "dataset/store/db.h"

#include <stddef.h>
#include <stdint.h>

enum { PM_REPORT_MOST = 5000000 }; /* bytes of one file; a larger report has a page for each task */

typedef struct PmReportOpts {
	const char *out;   /* NAME.html */
	const char *times; /* a file of times (board_times.h) in place of the database; NULL = none */
	int pages;         /* a page for each task, however small it is */
	void (*step)(void *arg, const char *item); /* after each task that was read; may be NULL */
	void *arg;
} PmReportOpts;

typedef struct PmReportDone {
	size_t n_boards, n_tasks, n_systems; /* systems of the largest ranking, without the eager run */
	size_t n_pages;                      /* beside the index */
	int64_t bytes;                       /* of all files */
} PmReportDone;

/* Writes the report; `db` is NULL where opts->times is given. What is in it follows from the database alone:
 * the same gives the same bytes. Pages of tasks go into the folder NAME.tasks beside NAME.html.
 * PM_E_NOT_FOUND where the database has nothing for any section. */
PmStatus pm_report_write(PmDb *db, const PmReportOpts *opts, PmReportDone *done, PmErr *err);

#endif
