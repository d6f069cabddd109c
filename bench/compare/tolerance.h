/* SPDX-License-Identifier: Apache-2.0 */
/* tolerance.h - the ladder of tolerance levels t = -10..5 and its (atol, rtol) pair per element type.
 *
 * rtol = 10^(k t) with k = 0.6 (f16), 0.3592 (bf16), 1.1772 (f32), 1.4 (f64); atol = 10^t, and 10^(1.4 t)
 * for f64; both rounded to 3 significant decimal digits, as the published harness hands them to its
 * comparison (PassNet / GraphNet scoring semantics, section 2). Every other element type has no tolerance
 * at any level: its values must be equal.
 */
#ifndef BENCH_TOLERANCE_H
#define BENCH_TOLERANCE_H

#include "ir/core/type.h"

enum {
	PM_T_MIN = -10,
	PM_T_MAX = 5,
	PM_T_COUNT = 16, /* arrays over t are indexed by t - PM_T_MIN */
	PM_T_NEVER = 99  /* "passes at no level" */
};

typedef struct PmTol {
	double atol, rtol;
} PmTol;

/* How a comparison and a score are computed. */
typedef enum PmPreset {
	PM_PRESET_PASSNET, /* reproduces the published numbers, weaknesses included */
	PM_PRESET_SOUND /* ours: see bench/compare/allclose.h and bench/score/score.h for each difference */
} PmPreset;

/* The pair for element type `dtype` (PmDType) at level t. Returns 1; returns 0 and the pair (0, 0) when the
 * type has no tolerance or t is outside the ladder. */
int pm_tol(int dtype, int t, PmTol *out);
/* The same before rounding; only for labels. */
int pm_tol_raw(int dtype, int t, PmTol *out);

/* The lowest t from which on `close` (one verdict per level, 1 = passes) passes, or PM_T_NEVER. */
int pm_smallest_t(const signed char close[PM_T_COUNT]);

#endif
