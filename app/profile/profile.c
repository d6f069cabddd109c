/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c - rewrites a graph, finds the kernels in its plan and has each part of the report made. */
#include "app/profile/profile.h"

#include "app/profile/profile_code.h"
#include "app/profile/profile_count.h"
#include "app/profile/profile_hw.h"
#include "app/profile/profile_time.h"
#include "runtime/device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which alternative each Kernel node uses: number `k` where it has so many, its last one else. */
static int *alternatives(const PmGraph *g, int k, size_t *n, int *most)
{
	int *alts = pm_xcalloc(pm_graph_n_nodes(g) + 1, sizeof *alts);

	*n = 0;
	*most = 0;
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode node = pm_graph_node_at(g, i);
		int have = (int)pm_node_i(g, node, "alts", 1);

		if (pm_node_op(g, node) != PM_OP_Kernel)
			continue;
		*most = have > *most ? have : *most;
		alts[(*n)++] = k < have ? k : have - 1;
	}
	return alts;
}

static void find_kernels(PmProfileReport *r)
{
	for (size_t i = 0, n = pm_plan_n_launches(r->plan); i < n; i++) {
		PmProfileKernel k = { .number = i, .times = 1 };
		size_t at = 0;

		pm_plan_launch(r->plan, i, &k.launch);
		if (!k.launch.fused)
			continue;
		pm_access_time(&k.launch, NULL, r->target, &k.time);
		while (at < r->kernel.n && !pm_plan_launch_alike(r->plan, &r->kernel.v[at].launch, &k.launch))
			at++;
		if (at < r->kernel.n)
			r->kernel.v[at].times++;
		else
			PM_VEC_PUSH(&r->kernel, k);
	}
}

static int by_time(const void *a, const void *b)
{
	const PmProfileKernel *x = a, *y = b;
	double s = x->time.seconds * x->times, t = y->time.seconds * y->times;

	return s != t ? (s < t ? 1 : -1) : x->number < y->number ? -1 : 1;
}

static void sort_kernels(PmProfileReport *r)
{
	if (r->kernel.n)
		qsort(r->kernel.v, r->kernel.n, sizeof *r->kernel.v, by_time);
}

static PmStatus plan(const PmGraph *g, const PmProfileOpts *o, PmProfileReport *r, PmErr *err)
{
	int most;
	PmStatus st = PM_OK;

	r->alts = alternatives(r->g, o->alternative, &r->n_alts, &most);

	if (o->alternative >= most)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "No kernel has an alternative %d; the pass gives %d, counted from 0.",
			    o->alternative, most);
	if (!st)
		st = pm_graph_plan_stats(g, NULL, 0, r->target, &r->base, err);
	if (!st)
		st = pm_plan_new(r->g, r->alts, r->n_alts, &r->plan, err);
	if (st)
		return st;
	pm_plan_stats(r->plan, r->target, &r->stats);
	find_kernels(r);
	sort_kernels(r);
	return PM_OK;
}

/* What was counted says what the kernels take, and so the graph. */
static void take_counted_times(PmProfileReport *r)
{
	for (size_t i = 0; i < r->kernel.n; i++) {
		PmProfileKernel *k = &r->kernel.v[i];
		double was = k->time.seconds;

		if (!k->has_counts)
			continue;
		pm_access_time(&k->launch, &k->counts, r->target, &k->time);
		r->stats.modelled_seconds += k->times * (k->time.seconds - was);
	}
	sort_kernels(r);
}

PmStatus pm_profile_make(const PmGraph *g, const PmProfileOpts *o, PmProfileReport *out, PmErr *err)
{
	PmCandidate c = { 0 };
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->target = o->target;
	out->cc = o->target->cc;
	out->n_sm = o->target->n_sm;
	if (pm_device_kind(o->device) == PM_DEVICE_CUDA) {
		st = pm__profile_gpu(out, err);
		if (st)
			return st;
	}
	st = pm_referee_rewrite(o->so, o->only_rule, g, o->deadline, &c, err);
	if (!st) {
		out->verdict = c.verdict;
		snprintf(out->why, sizeof out->why, "%s", c.why);
		out->g = c.g;
		c.g = NULL;
	}
	pm_candidate_release(&c);
	if (st || out->verdict != PM_VERDICT_OK)
		return st;
	st = plan(g, o, out, err);
	if (!st)
		pm__profile_code(out, o);
	if (!st && pm_device_kind(o->device) == PM_DEVICE_EMU) {
		pm__profile_count(out, o);
		take_counted_times(out);
	}
	if (!st && pm_device_kind(o->device) == PM_DEVICE_CUDA)
		pm__profile_time(out, g, o);
	if (!st && out->has_time)
		pm__profile_hw(out, o);
	return st;
}
