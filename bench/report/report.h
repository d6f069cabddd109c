/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - evaluation results for people (tables) and for programs (JSON). */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "base/core/json.h"
#include "bench/eval/runner.h"

/* One record as JSON, and back: what is read back scores the same. Returns owned / fills *out, which the
 * caller releases with pm_eval_record_release. */
cJSON *pm_eval_record_json(const PmEvalRecord *r);
PmStatus pm_eval_record_from_json(const cJSON *j, PmEvalRecord *out, PmErr *err);

/* The same of what became of a pass on hidden shapes. */
cJSON *pm_eval_hidden_json(const PmEvalHidden *h);
PmStatus pm_eval_hidden_from_json(const cJSON *j, PmEvalHidden *out, PmErr *err);

/* A whole report: pass, options, records, score. Returns owned. */
cJSON *pm_eval_report_json(const PmEvalReport *r, const char *task);

/* Appends the table of one pass, a line per variant, with the sentences of what went wrong below. */
void pm_eval_report_table(const PmEvalReport *r, PmStr *out);
/* Appends where the time of this report's evaluations went (stages_report.h). */
void pm_eval_timings_table(const PmEvalReport *r, PmStr *out);
/* Appends one line per report: match, correctness, speed, ES, AS, verdict. */
void pm_eval_summary_table(const PmEvalReport *r, size_t n, PmStr *out);

/* The stage a record reached: "inputs" (not to the pass), "match", "correctness" or "speed". */
const char *pm_eval_stage(const PmEvalRecord *r);

#endif
