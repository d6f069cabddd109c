/* SPDX-License-Identifier: Apache-2.0 */
/* agree.c - agreement of two devices in units of the graph's own conditioning. */
#include "bench/compare/agree.h"

#include "base/core/rng.h"
#include "bench/inputs/inputs.h"
#include "runtime/ref/ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double pm_nrms(const PmTensor *got, const PmTensor *expected)
{
	double num = 0, den = 0;
	int64_t n = pm_tensor_numel(expected);

	if (!pm_type_equal(&got->type, &expected->type))
		return NAN;
	for (int64_t i = 0; i < n; i++) {
		double a = pm_tensor_get(got, i), b = pm_tensor_get(expected, i);

		if (isnan(a) && isnan(b))
			continue;
		if (!isfinite(a) || !isfinite(b)) {
			if (!(a == b))
				return INFINITY;
			continue;
		}
		num += (a - b) * (a - b);
		den += b * b;
	}
	return num == 0 ? 0 : sqrt(num / den);
}

/* Distance of 1 to the next larger value. */
static double ulp_of(int dtype)
{
	return 2 * pm_float_type(dtype)->roundoff;
}

static PmStatus move_inputs(const PmTensor *in, size_t n, uint64_t seed, PmTensor *out, PmErr *err)
{
	PmRng r;

	pm_rng_init_named(&r, seed, "one ulp");
	memset(out, 0, n * sizeof *out);
	for (size_t i = 0; i < n; i++) {
		PmStatus st = pm_tensor_copy(&out[i], &in[i], err);

		if (st)
			return st;
		if (!pm_dtype_is_float(in[i].type.dtype))
			continue;
		for (int64_t k = 0; k < pm_tensor_numel(&in[i]); k++) {
			double sign = pm_rng_u64(&r) & 1 ? 1 : -1;

			pm_tensor_set(&out[i], k,
				      pm_tensor_get(&in[i], k) * (1 + sign * ulp_of(in[i].type.dtype)));
		}
	}
	return PM_OK;
}

PmTensorView pm_view_of(const PmTensor *t)
{
	return (PmTensorView){ t->type.dtype, t->type.rank, t->type.dim, t->data };
}

/* Judges the outputs that are not close by what one ulp does to the reference. */
static PmStatus judge_by_conditioning(const PmGraph *g, const PmTensor *in, const PmTensor *expected,
				      size_t n_out, uint64_t seed, PmAgreement *out, PmErr *err)
{
	size_t n_in = pm_graph_n_inputs(g);
	PmTensor *moved = pm_xcalloc(n_in + 1, sizeof *moved), *res = pm_xcalloc(n_out + 1, sizeof *res);
	PmStatus st = move_inputs(in, n_in, seed, moved, err);
	int ran = 0;

	if (!st) {
		st = pm_ref_run(g, moved, n_in, res, n_out, err);
		ran = !st;
	}
	for (size_t i = 0; i < n_out && !st; i++) {
		out[i].one_ulp = pm_nrms(&res[i], &expected[i]);
		if (out[i].agrees)
			continue;
		out[i].ill_conditioned = !(out[i].one_ulp <= PM_AGREE_MAX_ULP);
		out[i].by_conditioning = !out[i].ill_conditioned &&
					 out[i].nrms <= PM_AGREE_FACTOR * out[i].one_ulp;
		out[i].agrees = out[i].by_conditioning;
	}
	if (ran)
		pm_tensors_release(res, n_out);
	pm_tensors_release(moved, n_in);
	free(moved);
	free(res);
	return st;
}

PmStatus pm_agree(const PmGraph *g, const PmTensor *in, const PmTensor *got, const PmTensor *expected,
		  size_t n_out, uint64_t seed, PmAgreement *out, PmErr *err)
{
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	int all = 1;

	for (size_t i = 0; i < n_out; i++) {
		PmTensorView e = pm_view_of(&expected[i]), y = pm_view_of(&got[i]);

		memset(&out[i], 0, sizeof out[i]);
		out[i].one_ulp = NAN;
		pm_compare(&e, &y, &rule, &out[i].c);
		out[i].nrms = out[i].c.comparable ? pm_nrms(&got[i], &expected[i]) : NAN;
		out[i].agrees = out[i].c.comparable && (out[i].c.equal || out[i].c.smallest_t <= -5);
		all = all && out[i].agrees;
	}
	return all ? PM_OK : judge_by_conditioning(g, in, expected, n_out, seed, out, err);
}
