/* SPDX-License-Identifier: Apache-2.0 */
/* section.h - the sections of a report, in one table (sections.c): to add one, write a module that puts it
 * and give it a row. */
#ifndef APP_REPORT_SECTION_H
#define APP_REPORT_SECTION_H

#include "app/report/board/board.h"
#include "base/core/json.h"
#include "bench/report/mine.h"
#include "draw/html/html.h"

/* What a section is made of. */
typedef struct PmReportInput {
	PmDb *db;         /* NULL: the report is of a file of times */
	const char *name; /* of what it is a report: the file */
	const PmBoards *boards;
	int64_t n_sessions;     /* of agents */
	int64_t n_applications; /* of passes to whole models */
	int64_t n_places;       /* of extracted graphs in models */
	const PmMine *mine;     /* of the database; empty without fusible subgraphs */
	const cJSON *data;      /* of all of it (report_data.h): where figures are looked up (figures.h) */
	const char *pages; /* folder of the tasks' pages beside this page, "report.tasks"; NULL = tasks are in
			      it */
	const char *index; /* in a page of a task: the way back, "../report.html"; else NULL */
	int details;       /* there is room: tables of every time */
	size_t *room;      /* bytes that this page has left for drawings and sources (made.h) */
} PmReportInput;

typedef struct PmReportSection {
	const char *id, *title; /* constants; the id is part of permanent links */
	/* 0 when the database has nothing for it: then it is not in the report. */
	int (*has)(const PmReportInput *in);
	/* Writes what stands below its heading. */
	PmStatus (*put)(const PmReportInput *in, PmHtml *h, PmErr *err);
} PmReportSection;

/* The table, in the order of the page. */
extern const PmReportSection pm_report_sections[];
extern const size_t pm_n_report_sections;

/* Rankings: one for each board. */
int pm_report_has_boards(const PmReportInput *in);
PmStatus pm_report_put_boards(const PmReportInput *in, PmHtml *h, PmErr *err);
/* The list of tasks, and each of them. */
int pm_report_has_tasks(const PmReportInput *in);
PmStatus pm_report_put_tasks(const PmReportInput *in, PmHtml *h, PmErr *err);
/* One task: all boards that have it. `t` is its place in boards->tasks. */
PmStatus pm_report_put_task(const PmReportInput *in, size_t t, PmHtml *h, PmErr *err);
/* What agents did, step by step. */
int pm_report_has_trajectories(const PmReportInput *in);
PmStatus pm_report_put_trajectories(const PmReportInput *in, PmHtml *h, PmErr *err);
/* Whole models before and after passes. */
int pm_report_has_models(const PmReportInput *in);
PmStatus pm_report_put_models(const PmReportInput *in, PmHtml *h, PmErr *err);
/* What extraction found. */
int pm_report_has_dataset(const PmReportInput *in);
PmStatus pm_report_put_dataset(const PmReportInput *in, PmHtml *h, PmErr *err);

#endif
