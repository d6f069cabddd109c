/* SPDX-License-Identifier: Apache-2.0 */
/* field_read.h - problems and attempts out of a database (bench/report/field.h). */
#ifndef APP_FIELD_READ_H
#define APP_FIELD_READ_H

#include "app/eval/bench_read.h"
#include "bench/report/field.h"

/* The category of a graph; borrowed, constant. */
typedef const char *(*PmGraphCategoryFn)(const PmGraph *g);

/* Adds a problem: the task's tags, and the category of its first graph where it has no tag `category`. */
PmStatus pm_field_add_problem(PmField *f, PmDb *db, int64_t task, PmGraphCategoryFn category, PmErr *err);

/* *yes is 1 when the task's tag `suite` is this one. */
PmStatus pm_task_is_of_suite(PmDb *db, int64_t task, const char *suite, int *yes, PmErr *err);

/* Adds the systems of a table that was filled (baselines: eager, torch-NAME), and then each trajectory as an
 * attempt of its language model at each problem that it evaluated as a whole: compiled or right when one of
 * its evaluations was, with the greatest speedup of those that were right. Their speedups are over eager, by
 * cold times or modelled ones: where the table has another reference or clock they are counted in n_left_out.
 */
PmStatus pm_field_read(PmField *f, const PmBench *b, PmSysClock clock, PmErr *err);

/* Adds the newest finished run of each pass (by its bytes) on each problem as an attempt, under the name of
 * the pass's file; after pm_field_read. Runs of passes that the table has by name are not added again.
 * Speedups of runs are over eager: they are left out as those of trajectories are. */
PmStatus pm_field_read_runs(PmField *f, const PmBench *b, PmErr *err);

#endif
