/* SPDX-License-Identifier: Apache-2.0 */
/* tolerance.c - the ladder of tolerance levels t = -10..5 and its (atol, rtol) pair per element type. */
#include "bench/compare/tolerance.h"

#include "bench/compare/stats.h"

#include <math.h>

/* Decades of atol and rtol per level. */
static int decades(int dtype, double *atol, double *rtol)
{
	*atol = 1;
	switch (dtype) {
	case PM_F16:
		*rtol = 0.6;
		return 1;
	case PM_BF16:
		*rtol = 0.3592;
		return 1;
	case PM_F32:
		*rtol = 1.1772;
		return 1;
	case PM_F64:
		*rtol = *atol = 1.4;
		return 1;
	default:
		return 0;
	}
}

int pm_tol_raw(int dtype, int t, PmTol *out)
{
	double a, r;

	*out = (PmTol){ 0, 0 };
	if (t < PM_T_MIN || t > PM_T_MAX || !decades(dtype, &a, &r))
		return 0;
	out->atol = pow(10, a * t);
	out->rtol = pow(10, r * t);
	return 1;
}

int pm_tol(int dtype, int t, PmTol *out)
{
	if (!pm_tol_raw(dtype, t, out))
		return 0;
	out->atol = pm_round_sig(out->atol, 3);
	out->rtol = pm_round_sig(out->rtol, 3);
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
