/* SPDX-License-Identifier: Apache-2.0 */
/* trial_data.c - the operands on which algorithms of library calls are tried. */
#include "runtime/cuda/library/trial_data.h"

#include "base/core/rng.h"

const char pm__trial_data_name[] = "normal operands, seeds 1 to 4";

PmStatus pm__trial_data(PmDType dtype, int operand, PmTensor *out, PmErr *err)
{
	const PmType type = { .dtype = dtype, .rank = 1, .dim = { PM_TRIAL_ELEMENTS } };
	PmStatus st = pm_tensor_init(out, &type, err);
	PmRng rng;

	pm_rng_init(&rng, (uint64_t)operand + 1);
	for (int64_t i = 0; i < PM_TRIAL_ELEMENTS && !st; i++)
		pm_tensor_set(out, i, pm_rng_normal(&rng));
	return st;
}
