/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - reads what the host says of the GPU. */
#include "target.h"

static Target target;

static const char *read(const PmTarget *t)
{
	int kind, half;

	target.is = *t;
	target.full = (int64_t)t->sm_count * t->sm_threads / 2;
	target.l2_bytes_per_us = t->l2_bytes_per_second / 1e6;
#define XX(name)                                                                                             \
	if (!pm_target_number(t, #name, &target.name))                                                       \
		return #name;
	F_COSTS(XX)
#undef XX
	for (kind = 0; kind < PM_N_CALL_KINDS; kind++)
		for (half = 0; half < 2; half++) {
			const char *lacks = pm_call_costs(t, (PmCallKind)kind, half,
							  &target.call[kind][half]);

			if (lacks)
				return lacks;
		}
	return pm_scatter_costs(t, &target.scatter);
}

const char *f_target_read(void)
{
	return read(pm_target());
}

int f_target_try(uint32_t i)
{
	const PmTarget *t = pm_trial(i);

	return t && !read(t);
}

const Target *f_target(void)
{
	return &target;
}
