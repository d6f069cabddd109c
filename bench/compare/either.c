/* SPDX-License-Identifier: Apache-2.0 */
/* either.c - results that are right as one reference has it here and as the other has it there. */
#include "bench/compare/either.h"

#include "bench/compare/agree.h"
#include "bench/compare/bound/bound_priv.h"

#include <math.h>
#include <stdlib.h>

/* Of two values the one that g is nearer to, the first when both are as near. One of another class (NaN, an
 * infinity) is near only to its like. */
static double nearer(double a, double b, double g)
{
	if (a == g || (isnan(a) && isnan(g)))
		return a;
	if (b == g || (isnan(b) && isnan(g)))
		return b;
	return !isfinite(a) || fabs(b - g) < fabs(a - g) ? b : a;
}

/* Arithmetic in float explains what element i is off the exact reference. */
static int explained(const PmBound *kept, int64_t i, double g)
{
	int dtype = kept->y.type.dtype;
	double y = kept->y.f[i], e = kept->unit ? kept->unit[i] : 0;
	double round = kept->rounds ? pm__bound_ud(dtype) * fabs(y) * (1 + 0x1p-20) + pm__bound_tiny(dtype)
				    : 0;

	return isfinite(e) && isfinite(g) && fabs(y) <= pm__bound_largest(dtype) &&
	       fabs(g - y) <= pm__bound_reach((double)kept->y.numel) * e + round;
}

/* Is `got` nearer to what is wanted than half of what the best constant is off? */
static int beats_any_constant(const double *want, const PmTensor *got)
{
	double n = 0, sum = 0, square = 0, off = 0, spread;

	for (int64_t i = 0; i < pm_tensor_numel(got); i++) {
		double d = pm_tensor_get(got, i) - want[i];

		if (!isfinite(want[i]) || !isfinite(d))
			continue;
		n++;
		sum += want[i];
		square += want[i] * want[i];
		off += d * d;
	}
	spread = n > 0 ? square - sum * sum / n : 0;
	return n >= 2 && spread > 0x1p-40 * square && off < spread / 2;
}

/* Fills `want` with what each element is compared with, in the type of `got`: the nearer reference's value,
 * or its own where that is explained. `full` gets the reference's also there. */
static void choose(const PmBound *b, const PmBound *kept, const PmTensor *got, PmTensor *want, double *full)
{
	int dtype = got->type.dtype;

	for (int64_t i = 0; i < pm_tensor_numel(got); i++) {
		double g = pm_tensor_get(got, i), y = pm__bound_round(dtype, b->y.f[i]);

		full[i] = b->eager.numel ? nearer(y, pm__bound_round(dtype, b->eager.f[i]), g) : y;
		if (kept && explained(kept, i, g))
			full[i] = y;
		pm_tensor_set(want, i, kept && explained(kept, i, g) ? g : full[i]);
	}
}

static PmStatus compare(const PmBound *b, const PmBound *kept, const PmTensor *got, const PmCloseRule *rule,
			int t, int *near, PmErr *err)
{
	double *full = pm_xcalloc((size_t)b->y.numel + 1, sizeof *full);
	PmTensor want;
	PmStatus st = pm_tensor_init(&want, &got->type, err);

	if (!st) {
		PmTensorView w, g = pm_view_of(got);
		PmComparison c;

		choose(b, kept, got, &want, full);
		w = pm_view_of(&want);
		pm_compare(&w, &g, rule, &c);
		*near = c.comparable && c.smallest_t <= t && beats_any_constant(full, got);
	}
	pm_tensor_release(&want);
	free(full);
	return st;
}

PmStatus pm_near_either(const PmGraph *body, const PmTensor *ops, size_t n_in, size_t i, const PmBound *b,
			const PmTensor *got, const PmCloseRule *rule, int t, int *near, PmErr *err)
{
	size_t n_out = pm_graph_n_outputs(body);
	PmBoundFit f = { 0 };
	PmBound *kept;
	PmStatus st;

	*near = 0;
	if (!b->y.f || !b->y.numel || !pm_type_equal(&b->y.type, &got->type))
		return PM_OK;
	kept = pm_xcalloc(n_out + 1, sizeof *kept);
	st = pm_bound_kept(body, ops, n_in, kept, n_out, err);
	if (!st && kept[i].known)
		pm_bound_fit(&kept[i], got, &f);
	if (!st)
		st = compare(b, f.tells ? &kept[i] : NULL, got, rule, t, near, err);
	pm_bounds_release(kept, n_out);
	free(kept);
	return st;
}
