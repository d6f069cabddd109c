/* SPDX-License-Identifier: Apache-2.0 */
/* report_data.h - what a report is made of as JSON, in the page. */
#ifndef APP_REPORT_REPORT_DATA_H
#define APP_REPORT_REPORT_DATA_H

#include "app/report/section.h"
#include "base/core/json.h"

/* 1 when the times of all boards fit into one page. */
int pm_report_is_small(const PmBoards *b);

/* {"boards": [{"name", "gpu", "version", "options", "machines", "first", "last", "clock", "bench"}]}: "bench"
 * has the schema of `passmith bench --json`, with numbers of six digits. Owned. */
PmStatus pm_report_data(const PmBoards *b, cJSON **out, PmErr *err);
/* The part that one page shows: without the lists "tasks" and "graphs" of each bench, which "left_out" says;
 * or of one task what these lists have of it, and no figures over all. Owned. */
cJSON *pm_report_data_part(const cJSON *data, int64_t task);

#endif
