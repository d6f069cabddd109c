/* SPDX-License-Identifier: Apache-2.0 */
/* profile_hw.c - runs of the rewritten graph with the GPU's counters on. */
#include "app/profile/profile_hw.h"

#include "bench/inputs/inputs.h"
#include "runtime/worker/hwcount.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CUPTI takes seconds to begin with, and each pass some more: not the candidate's. */
enum { SECONDS = 120 };

void pm__profile_hw(PmProfileReport *r, const PmProfileOpts *o)
{
	size_t n_in = pm_graph_n_inputs(r->g),
	       n = r->kernel.n < PM_COUNT_LAUNCHES ? r->kernel.n : PM_COUNT_LAUNCHES;
	PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in);
	PmHwCounters *c = pm_xcalloc(1, sizeof *c);
	size_t measured = 0;
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	c->n = n;
	for (size_t i = 0; i < n; i++)
		c->of[i].launch = (uint32_t)r->kernel.v[i].number;
	st = pm_inputs_make(r->g, o->seed, PM_INPUTS_NORMAL, in, &why);
	if (!st)
		st = pm_hw_count_run(r->plan, o->device, in, n_in, o->deadline + SECONDS, c, &why);
	if (st)
		snprintf(r->why_no_hw, sizeof r->why_no_hw, "%s", why.text);
	for (size_t i = 0; i < n && !st; i++) {
		measured += c->of[i].measured;
		r->kernel.v[i].has_hw = c->of[i].measured;
		memcpy(r->kernel.v[i].hw, c->of[i].v, sizeof c->of[i].v);
	}
	if (!st) {
		r->hw_version = c->version;
		r->hw_passes = c->passes;
		memcpy(r->hw_lacks, c->lacks, sizeof r->hw_lacks);
	}
	if (!st && measured < r->kernel.n)
		snprintf(r->why_no_hw, sizeof r->why_no_hw,
			 "Hardware counters are of %zu of the %zu kernels, those that take most of the "
			 "modelled "
			 "time.",
			 measured, r->kernel.n);
	pm_tensors_release(in, n_in);
	free(in);
	free(c);
}
