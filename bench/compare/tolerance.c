/* SPDX-License-Identifier: Apache-2.0 */
/* tolerance.c - the ladder of tolerance levels t = -10..5 and its (atol, rtol) pair per element type. */
#include "bench/compare/tolerance.h"

#include "bench/compare/stats.h"

#include <math.h>

int pm_tol_raw(int dtype, int t, PmTol *out)
{
	const PmFloatType *f = pm_float_type(dtype);

	*out = (PmTol){ 0, 0 };
	if (t < PM_T_MIN || t > PM_T_MAX || !f)
		return 0;
	out->atol = pow(10, f->atol * t);
	out->rtol = pow(10, f->rtol * t);
	return 1;
}

int pm_tol(int dtype, int t, PmTol *out)
{
	/* Rounding goes through decimal text, and scores ask millions of times: each pair is rounded once. */
	static _Thread_local struct {
		int known;
		PmTol tol;
	} kept[PM_N_DTYPES][PM_T_COUNT];
	PmTol raw;
	int has = pm_tol_raw(dtype, t, &raw);

	*out = raw;
	if (!has)
		return 0;
	if (!kept[dtype][t - PM_T_MIN].known) {
		kept[dtype][t - PM_T_MIN].tol.atol = pm_round_sig(raw.atol, 3);
		kept[dtype][t - PM_T_MIN].tol.rtol = pm_round_sig(raw.rtol, 3);
		kept[dtype][t - PM_T_MIN].known = 1;
	}
	*out = kept[dtype][t - PM_T_MIN].tol;
	return 1;
}

int pm_smallest_t(const signed char close[PM_T_COUNT])
{
	int t = PM_T_MAX;

	if (close[PM_T_COUNT - 1] != 1)
		return PM_T_NEVER;
	while (t > PM_T_MIN && close[t - 1 - PM_T_MIN] == 1)
		t--;
	return t;
}
