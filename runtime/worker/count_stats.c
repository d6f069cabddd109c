/* SPDX-License-Identifier: Apache-2.0 */
/* count_stats.c - modelled times of a plan whose kernels of a pass were counted. */
#include "runtime/worker/count.h"

#include "base/core/vec.h"

#include <stdlib.h>

/* Launches that are alike. */
typedef struct Kind {
	PmPlanLaunch launch; /* the first; borrowed from the plan */
	size_t number;
	int times;
	double seconds; /* of all, by the formula */
} Kind;
typedef PM_VEC(Kind) Kinds;

static void find_kinds(const PmPlan *p, const PmProfile *prof, Kinds *out)
{
	for (size_t i = 0, n = pm_plan_n_launches(p); i < n; i++) {
		Kind k = { .number = i };
		size_t at = 0;

		pm_plan_launch(p, i, &k.launch);
		if (!k.launch.fused)
			continue;
		while (at < out->n && !pm_plan_launch_alike(p, &out->v[at].launch, &k.launch))
			at++;
		if (at == out->n)
			PM_VEC_PUSH(out, k);
		out->v[at].times++;
		out->v[at].seconds += pm_plan_launch_seconds(&k.launch, prof);
	}
}

static int longest_first(const void *a, const void *b)
{
	const Kind *x = a, *y = b;

	return x->seconds != y->seconds ? (x->seconds < y->seconds ? 1 : -1)
					: (x->number > y->number) - (x->number < y->number);
}

static void take_times(const Kinds *kinds, const PmCounts *c, const PmProfile *prof, PmPlanStats *s,
		       int *n_counted)
{
	for (size_t i = 0; i < c->n; i++) {
		const Kind *k = &kinds->v[i];
		PmAccessTime t;
		double more;

		if (!c->of[i].blocks)
			continue;
		pm_access_time(&k->launch, &c->of[i], prof, &t);
		more = k->times * (t.seconds - pm_plan_launch_seconds(&k->launch, prof));
		s->modelled_seconds += more;
		s->fused_seconds += more;
		*n_counted += k->times;
	}
}

PmStatus pm_count_stats(const PmPlan *p, size_t n_out, const PmTensor *in, size_t n_in, const PmProfile *prof,
			double deadline, PmPlanStats *s, int *n_counted, PmErr *err)
{
	PmCounts *c = pm_xcalloc(1, sizeof *c);
	Kinds kinds = { 0 };
	const PmSource *src;
	PmStatus st = PM_OK;

	*n_counted = 0;
	pm_plan_sources(p, &src);
	find_kinds(p, prof, &kinds);
	if (kinds.n)
		qsort(kinds.v, kinds.n, sizeof *kinds.v, longest_first);
	c->n = kinds.n < PM_COUNT_LAUNCHES ? kinds.n : PM_COUNT_LAUNCHES;
	for (size_t i = 0; i < c->n; i++) {
		c->of[i].launch = (uint32_t)kinds.v[i].number;
		c->source[i] = src[kinds.v[i].launch.source].source;
	}
	if (c->n)
		st = pm_count_run(p, n_out, in, n_in, deadline, c, err);
	if (!st)
		take_times(&kinds, c, prof, s, n_counted);
	PM_VEC_RELEASE(&kinds);
	free(c);
	return st;
}
