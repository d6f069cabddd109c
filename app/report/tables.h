/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h - tables below a ranking. `bench`: its figures (figures.h). */
#ifndef APP_REPORT_TABLES_H
#define APP_REPORT_TABLES_H

#include "app/report/board/board.h"
#include "base/core/json.h"
#include "draw/html/html.h"

/* The best system of each category and element type, by AS and the main clock. */
void pm_put_groups(const PmBoard *b, const cJSON *bench, PmHtml *h);
/* How many times as fast each system is as each other, with intervals; rows and columns in the order given.
 */
void pm_put_pairs(const PmBoard *b, const size_t *order, PmHtml *h);
/* The share of graphs that are right at each level. */
void pm_put_ladder(const PmBoard *b, const cJSON *bench, const size_t *order, PmHtml *h);

#endif
