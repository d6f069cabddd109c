/* SPDX-License-Identifier: Apache-2.0 */
/* score.h - from the records of one task to S(t), ES(t) and the AS number.
 *
 * A record is the outcome of one variant (graph + shapes + dtypes) of a task: a status, one verdict per
 * output and tolerance level, and a speedup. N is fixed: the caller passes one record per variant, also
 * for those that never ran (status "missing").
 *
 *   rect(s) = s for s >= 1, s^(p+1) below.      c(t) = all outputs close at t (or equal, for element
 *   types without tolerance) and status "correct".
 *   S(t)    = gmean over records of: rect(s) if c(t), else b.
 *   ES(t)   = S(t) for t <= 0; for t >= 1 gmean of: rect(s) if c(1); else 1 if the error is forgiven at t;
 *             else b.
 *   AS      = prod over t of ES(t)^(W_t / sum W), W = 0.001 (t <= -6, t = 4), 1 (-5..-3), 0.8^(t+3) (-2..3).
 *   gmean(v) = exp(mean(log v)); a zero anywhere gives exactly 0.
 *
 * PM_PRESET_PASSNET reproduces the published scorer (semantics: PassNet / GraphNet, sections 4 to 7 of the
 * analysis summarised in docs/reference/scoring.md): p = 0, b = 0.1, error numbers by substring of the
 * status, eager_fail and reference_fail never forgiven, speedups taken as they are. It fails where the
 * reference fails: a record that is correct at some t but has no speedup is PM_E_INVALID; no records give
 * NaN.
 *
 * PM_PRESET_SOUND differs in what a speedup is worth, and never fails:
 *   interval  an interval that covers 1 credits 1; one above 1 credits its lower end.
 *   clamp     s is kept within [1e-3, 1e3] (a median rounded to nothing must not zero the whole mean).
 *   strict    s > 1 counts only for a record that is correct at some t <= -2: a constant that passes
 *             at loose levels is worth 1 there, never its speed.
 *   loose     s is at most 1 at levels where an output of the record has rtol >= 0.5 (t >= 0 for every
 *             float type); records whose outputs are all compared by equality are not affected.
 *   floor     rect(s) >= min(1, 2 b): correct but slow is worth more than a crash.
 *   untimed   correct without a usable speedup (NaN or infinite: quarantined or not measured) credits 1.
 *   nothing   a record without outputs is not correct; no records at all are worth b.
 *   errors    by exact name: 1 "accuracy" "no_match" "pass_miss"; 2 "compile_fail"; 3 "runtime_fail"
 *             "timeout" "crash" "type_mismatch" "shape_mismatch"; error c is forgiven at t >= c. Any other
 *             status (a broken integrity rule, "missing", a failing reference) is worth b at every t.
 */
#ifndef BENCH_SCORE_H
#define BENCH_SCORE_H

#include "base/core/err.h"
#include "bench/compare/tolerance.h"

#include <stddef.h>

typedef struct PmScoreOutput {
	int dtype;                     /* PmDType of the expected output */
	int equal;                     /* the only verdict for element types without tolerance */
	signed char close[PM_T_COUNT]; /* 1 passes; anything else does not */
} PmScoreOutput;

typedef struct PmScoreRecord {
	const char *status;            /* "correct", or what went wrong; NULL is an unknown error */
	double speedup;                /* baseline time / candidate time; NaN = none */
	double speedup_lo, speedup_hi; /* interval; used when 0 < lo <= hi, both finite (0, 0 = none) */
	size_t n_outputs;
	const PmScoreOutput *outputs; /* borrowed */
} PmScoreRecord;

typedef enum PmErrorMode {
	PM_ERRORS_DEFAULT,  /* published default: 1 accuracy (t >= 1), 3 compile_fail, 2 the rest (t >= 3) */
	PM_ERRORS_EXTENDED, /* published "mismatch_extended": 1 accuracy, 2 nan inf type shape, 3 the rest,
			     * 4 compile_fail; c is forgiven at t >= c; t runs to 5, so there is no AS */
	PM_ERRORS_EXACT     /* ours, see above */
} PmErrorMode;

typedef struct PmScoreRule {
	PmErrorMode mode;
	double p, b;
	int forgive_eager_fail; /* GraphNet's newer default mode: eager_fail is an ordinary error 2 */
	int total;              /* our rules for untimed, empty and output-less records */
	double s_min, s_max;    /* clamp; 0 and INFINITY = off */
	double cap_rtol;        /* INFINITY = off */
	int need_t;             /* PM_T_MAX = off */
	double floor;           /* in units of b; 0 = off */
} PmScoreRule;

/* The rule that a preset stands for. */
PmScoreRule pm_score_rule(PmPreset preset);

enum { PM_SCORE_T_MAX = 4, PM_N_ERRNO = 5 };

typedef struct PmScore {
	int n_t; /* levels -10..4 (15), or -10..5 (16) in extended mode; arrays are indexed by t + 10 */
	double es[PM_T_COUNT], s[PM_T_COUNT];
	double as;           /* NaN in extended mode and for an empty passnet list */
	size_t n, n_untimed; /* records; those correct at some level without a usable speedup (sound) */
	size_t n_correct[PM_T_COUNT];
} PmScore;

/* S, ES and AS of n records. PM_E_INVALID (passnet only) when the reference would crash; `out` then holds
 * NaN scores. */
PmStatus pm_score(const PmScoreRule *rule, const PmScoreRecord *rec, size_t n, PmScore *out, PmErr *err);

/* 1 when the record counts as correct at level t. */
int pm_score_correct_at(const PmScoreRule *rule, const PmScoreRecord *r, int t);
/* The speedup after the rules for intervals and for the range it is kept in, before those of levels; the one
 * given under passnet, 1 where the sound preset has none. */
double pm_score_speedup(const PmScoreRule *rule, const PmScoreRecord *r);
/* The lowest level from which on it does, or PM_T_NEVER: the accuracy figure to print beside the speed. */
int pm_score_smallest_t(const PmScoreRule *rule, const PmScoreRecord *r);
/* Error number of a status under the rule: 1..4, or 0 for one that exact mode does not know. */
int pm_score_errno(const PmScoreRule *rule, const char *status);
/* 1 when a status other than "correct" is worth 1 instead of b at level t. */
int pm_score_forgiven(const PmScoreRule *rule, const char *status, int t);

/* AS from the 15 values ES(-10)..ES(4). */
double pm_score_as(const double *es);
/* The other aggregate in use, GraphNet's: the mean of log10 ES(t) weighted with 0.001 (-10..-8), 0.13 (-7),
 * 0.40 (-6), 0.48 (-5..4); -infinity when some ES(t) is 0. Not comparable with AS. */
double pm_score_graphnet_log10(const double *es);

/* The factored form that the reference prints beside the score:
 *   S(t) = alpha^lambda * beta^(lambda eta p) * b^(1 - lambda), ES(t) with gamma(t) in place of b.
 * lambda = share of correct records, eta = share of slow ones among them, alpha and beta their geometric
 * mean speedups, gamma(t) = b^(share of errors not yet forgiven at t). Frozen at t = 1 from there on. It
 * does not know errors that are never forgiven: where it differs from pm_score, pm_score is the score. */
typedef struct PmScoreMacro {
	int n_t;
	double alpha[PM_T_COUNT], beta[PM_T_COUNT], gamma[PM_T_COUNT], lambda[PM_T_COUNT], eta[PM_T_COUNT];
	double s[PM_T_COUNT], es[PM_T_COUNT];
	size_t n_correct[PM_T_COUNT];
	double pi[PM_N_ERRNO]; /* share of each error number among the errors at t = 1 */
} PmScoreMacro;

/* PM_E_INVALID (passnet only) as for pm_score, but levels above 1 are never looked at. */
PmStatus pm_score_macro(const PmScoreRule *rule, const PmScoreRecord *rec, size_t n, PmScoreMacro *out,
			PmErr *err);
/* The reference's own cross-check: |ES - ES'| <= 1e-3 + 1e-3 |ES'| at every level. */
int pm_score_agrees(const PmScore *micro, const PmScoreMacro *macro);

/* The status that the reference derives from what a run printed: 1 for each kind of line that was seen. */
typedef struct PmLogFlags {
	int datatype_eager, datatype_compiled, shape_match, datatype_match, all_close, error_text;
	int no_passes_modified; /* looked at by PassNet, not by GraphNet: set 0 for the latter */
} PmLogFlags;
/* The first fault in the order of the reference's own tests: "eager_fail" ... "pass_miss", "correct".
 * Static. */
const char *pm_status_from_log(const PmLogFlags *f);

#endif
