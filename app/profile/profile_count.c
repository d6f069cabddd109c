/* SPDX-License-Identifier: Apache-2.0 */
/* profile_count.c - one run of the rewritten graph with counting on. */
#include "app/profile/profile_count.h"

#include "bench/inputs/inputs.h"
#include "runtime/worker/count.h"

#include <stdio.h>
#include <stdlib.h>

void pm__profile_count(PmProfileReport *r, const PmProfileOpts *o)
{
	size_t n_in = pm_graph_n_inputs(r->g),
	       n = r->kernel.n < PM_COUNT_LAUNCHES ? r->kernel.n : PM_COUNT_LAUNCHES;
	PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in);
	PmCounts *c = pm_xcalloc(1, sizeof *c);
	const PmSource *src;
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	pm_plan_sources(r->plan, &src);
	c->n = n;
	for (size_t i = 0; i < n; i++) {
		c->of[i].launch = (uint32_t)r->kernel.v[i].number;
		c->source[i] = src[r->kernel.v[i].launch.source].source;
	}
	st = pm_inputs_make(r->g, o->seed, PM_INPUTS_NORMAL, in, &why);
	if (!st)
		st = pm_count_run(r->plan, pm_graph_n_outputs(r->g), in, n_in, o->deadline, c, &why);
	if (st)
		snprintf(r->why_not_counted, sizeof r->why_not_counted, "%s", why.text);
	for (size_t i = 0; i < n && !st; i++) {
		r->kernel.v[i].counts = c->of[i];
		r->kernel.v[i].has_counts = c->of[i].blocks > 0;
	}
	pm_tensors_release(in, n_in);
	free(in);
	free(c);
}
