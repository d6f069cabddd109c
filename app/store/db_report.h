/* SPDX-License-Identifier: Apache-2.0 */
/* db_report.h - a database on one page of HTML. */
#ifndef APP_DB_REPORT_H
#define APP_DB_REPORT_H

#include "base/core/str.h"
#include "dataset/store/db.h"

/* Appends a page with bar charts (inline SVG, nothing is loaded from elsewhere): what the database holds,
 * operators, sizes, shapes, element types, redundancy, tasks, rejections, and how far speedups lie apart that
 * several nodes measured. The same content gives the same bytes. */
PmStatus pm_db_report(PmDb *db, PmStr *out, PmErr *err);

#endif
