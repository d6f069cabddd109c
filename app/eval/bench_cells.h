/* SPDX-License-Identifier: Apache-2.0 */
/* bench_cells.h - rows and cells of a table of systems (bench/report/systems.h), made of graphs and of stored
 * records. */
#ifndef APP_BENCH_CELLS_H
#define APP_BENCH_CELLS_H

#include "app/eval/variant_list.h"
#include "bench/eval/runner.h"
#include "bench/report/systems.h"

/* Appends a row for each variant, with its roofline on the profile's device; the cells are empty. */
PmStatus pm_bench_add_rows(PmSystems *t, const PmVariantList *m, const char *profile, PmErr *err);
/* Where nothing is measured, the eager run's time is its plan's: no evaluation is needed to know it. Fills
 * the empty cells of this system in the rows from `first` on, which pm_bench_add_rows made of m. */
PmStatus pm_bench_model_eager(PmSystems *t, size_t system, size_t first, const PmVariantList *m,
			      const char *profile, PmErr *err);

/* The eager run that a pass was measured against; a cell that has a result keeps it. */
void pm_bench_cell_eager(PmSysCell *c, const PmEvalRecord *r);
/* A pass: record i of a report, whose hidden shapes count, too. */
void pm_bench_cell_pass(PmSysCell *c, const PmEvalReport *report, size_t i);
/* A result that `results import` stored; a cell that has one keeps it. */
PmStatus pm_bench_cell_external(PmSysCell *c, const char *json, const char *machine, PmErr *err);
/* What a pass declined runs as the eager run does. */
void pm_bench_cell_decline(PmSysCell *c, const PmSysCell *eager);

#endif
