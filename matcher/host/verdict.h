/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.h - the named ways in which the evaluation of a pass can end (matcher/host/verdicts.def). */
#ifndef MATCHER_VERDICT_H
#define MATCHER_VERDICT_H

typedef enum PmVerdict {
#define XX(name, score, stage, meaning, advice) PM_VERDICT_##name,
#include "matcher/host/verdicts.def"
#undef XX
	PM_N_VERDICTS
} PmVerdict;

/* What a score takes a verdict for, and how far an evaluation that ends so has come: the columns of
 * verdicts.def, which says what each means. */
typedef enum PmVerdictScore {
	PM_VERDICT_SCORE_CORRECT,
	PM_VERDICT_SCORE_NO_MATCH,
	PM_VERDICT_SCORE_COMPILE_FAIL,
	PM_VERDICT_SCORE_CRASH,
	PM_VERDICT_SCORE_TIMEOUT,
	PM_VERDICT_SCORE_RUNTIME_FAIL,
	PM_VERDICT_SCORE_BROKEN
} PmVerdictScore;
typedef enum PmVerdictStage {
	PM_VERDICT_STAGE_SPEED,
	PM_VERDICT_STAGE_INPUTS,
	PM_VERDICT_STAGE_REACHED,
	PM_VERDICT_STAGE_RUNNING
} PmVerdictStage;

/* "PASS_TIMEOUT"; "UNKNOWN" for a number that is none. Static storage. */
const char *pm_verdict_name(PmVerdict v);
/* One line for the author of a pass. */
const char *pm_verdict_meaning(PmVerdict v);
/* What an author does about it, in one sentence or more without the last full stop. */
const char *pm_verdict_advice(PmVerdict v);
/* PM_N_VERDICTS when there is none of that name. */
PmVerdict pm_verdict_from_name(const char *name);
/* The status by which a verdict is scored (bench/score/score.h): "correct" for OK, INCORRECT and PRECISION
 * (the tolerance ladder decides those) and TIMING_UNSTABLE (whose speedup counts as at most 1), "no_match"
 * for NO_MATCH and NO_CREDIT, an error class for honest failures, the verdict's own name, which is never
 * forgiven, for broken integrity rules. Static storage. */
const char *pm_verdict_score_status(PmVerdict v);
/* REACHED for a number that is no verdict. */
PmVerdictStage pm_verdict_stage(PmVerdict v);
/* 1 when the verdict says something against kernels that have run, so that it may come from what was drawn
 * for them: nothing is drawn for a pass before its first launch. */
int pm_verdict_may_be_drawn(PmVerdict v);

#endif
