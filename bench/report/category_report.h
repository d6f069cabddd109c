/* SPDX-License-Identifier: Apache-2.0 */
/* category_report.h - figures of the evaluations of several graphs or tasks, by category and pass.
 *
 * Reports are as pm_eval_report_json makes them, each with the member "category" (a name of
 * ir/category/categories.def). A variant is right when its verdict is OK and the pass was right on all hidden
 * shapes; what was not judged (HARNESS_FAIL) is in no share and no mean.
 */
#ifndef BENCH_CATEGORY_REPORT_H
#define BENCH_CATEGORY_REPORT_H

#include "base/core/json.h"
#include "base/core/str.h"

/* An array of {"category", "pass", "graphs", "variants", "not_judged", "matched", "correct", "speedup",
 * "fast_1"}, owned by the caller: categories in the order of categories.def, of each the passes in the order
 * of `reports`. "graphs" counts reports, "variants" what was judged of them. "speedup" is the geometric mean
 * over the variants that are right and have one (null: none has); "fast_1" the share of "variants" that are
 * right and credited with a speedup above 1, as in a report, and absent where a report has no score. */
cJSON *pm_category_report_json(const cJSON *reports);

/* Appends that list as a table; nothing when it has fewer than two categories. */
void pm_category_report_table(const cJSON *list, PmStr *out);

#endif
