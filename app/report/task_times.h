/* SPDX-License-Identifier: Apache-2.0 */
/* task_times.h - the times of systems on a task, against what the hardware allows. */
#ifndef APP_REPORT_TASK_TIMES_H
#define APP_REPORT_TASK_TIMES_H

#include "app/report/board/board.h"
#include "draw/html/html.h"

/* A figure: for each system the geometric mean of its times over the variants that it has right, measured
 * ones with their interval (the mean of its ends); lines at the roofline and at one launch. Rows first to
 * first + n - 1 are the task's. Nothing where no system has times. */
void pm_put_task_times(const PmBoard *b, size_t first, size_t n, PmSysClock clock, PmHtml *h);
/* A table of every time, with the 99 % interval of its speedup where it was measured, launches and bytes. */
void pm_put_task_details(const PmBoard *b, size_t first, size_t n, PmSysClock clock, PmHtml *h);

#endif
