/* SPDX-License-Identifier: Apache-2.0 */
/* cell.h - what a record of an evaluation says in a table of systems (bench/report/systems.h). */
#ifndef APP_CELL_H
#define APP_CELL_H

#include "bench/eval/runner.h"
#include "bench/report/systems.h"

/* The status, whether the system changed the graph, and the strictest level at which it is right. */
void pm_cell_set_status(PmSysCell *c, const char *status, int matched, int smallest_t);
/* Of the eager run, which is what answers are compared with: right by definition. The first record that has
 * its time counts. */
void pm_cell_take_eager(PmSysCell *c, const PmEvalRecord *r);
/* Of the pass, by record i; the report's hidden shapes count, too. A pass that declined has no times: its
 * cell is filled by pm_cell_fill_declined. */
void pm_cell_take_pass(PmSysCell *c, const PmEvalReport *report, size_t i);
/* What a pass declined runs as it did before. */
void pm_cell_fill_declined(PmSysCell *c, const PmSysCell *eager);

#endif
