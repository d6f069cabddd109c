/* SPDX-License-Identifier: Apache-2.0 */
/* score_terms.h - what would change the score of a pass most: the same report with one thing mended at a
 * time, scored anew by the same rule. */
#ifndef BENCH_SCORE_TERMS_H
#define BENCH_SCORE_TERMS_H

#include "base/core/json.h"
#include "bench/eval/runner.h"

/* A list of {what, variants, AS, gain}, the largest AS first; only what would be better. What is wrong, did
 * not match or was not checked is taken as right from t = -5 on, at the mean speedup of what is right (1
 * where nothing is); what is right and slower than the baseline as not rewritten; the slowest variant at that
 * mean. `report` is scored (pm_eval_score). Returns owned. */
cJSON *pm_score_terms_json(const PmEvalReport *report);

#endif
