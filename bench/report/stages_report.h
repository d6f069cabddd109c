/* SPDX-License-Identifier: Apache-2.0 */
/* stages_report.h - where the time of evaluations went, as a table and as JSON. */
#ifndef BENCH_STAGES_REPORT_H
#define BENCH_STAGES_REPORT_H

#include "base/core/json.h"
#include "bench/eval/runner.h"

/* Sums the records of a report that were evaluated now, and what the hidden shapes took; returns how many
 * records that are. One that was stored before adds nothing. */
size_t pm_eval_stage_times(const PmEvalReport *r, PmStageTimes *out);

/* The same of a whole report: with "jobs" (processes that took these seconds, together) and "wall_seconds".
 */
cJSON *pm_eval_timings_json(const PmEvalReport *r);
/* {"seconds": total, "stages": {key: seconds, ...}, "classes": {name: seconds, ...}}. Returns owned. */
cJSON *pm_stage_times_json(const PmStageTimes *t);

/* {"on_device": n, "refused": n, "seconds": s}: large products of the reference (runtime/worker/products.h).
 * Returns owned. */
cJSON *pm_products_json(const PmProductsDone *p);
/* Appends a line that says the same of all records; nothing where the processor computed everything. */
void pm_products_line(const PmEvalReport *r, PmStr *out);

/* Appends two tables, seconds and share: a line per stage that took time, the longest first, and a line per
 * class of inputs. `n`: evaluations that they are of. */
void pm_stage_times_table(const PmStageTimes *t, size_t n, PmStr *out);

/* A line of such a table. */
typedef struct PmStageLine {
	const char *name, *what;
	double seconds;
} PmStageLine;
/* Appends a table of n lines, which it sorts, without those that took no time. `total`: what shares are of.
 */
void pm_stage_lines(PmStageLine *line, int n, double total, const char *head, PmStr *out);

#endif
