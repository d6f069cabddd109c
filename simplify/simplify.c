/* SPDX-License-Identifier: Apache-2.0 */
/* simplify.c - the passes by name, and the driver that runs them to a fixed point. */
#include "simplify/simplify_priv.h"

#include "ir/infer/infer.h"

#include <string.h>

/* Each round that goes on has removed or changed something, so this is never reached by a sound pass. */
enum { MAX_ROUNDS = 1000 };

static const struct {
	PmSimplifyFn fn;
	const char *name, *what;
} passes[PM_N_SIMPLIFY] = {
#define XX(fn, name, what) { pm__simplify_##fn, name, what },
#include "simplify/passes.def"
#undef XX
};

const char *pm_simplify_name(PmSimplifyPass p)
{
	return p < PM_N_SIMPLIFY ? passes[p].name : "";
}

const char *pm_simplify_what(PmSimplifyPass p)
{
	return p < PM_N_SIMPLIFY ? passes[p].what : "";
}

PmSimplifyPass pm_simplify_find(const char *name)
{
	int p = 0;

	while (p < PM_N_SIMPLIFY && strcmp(passes[p].name, name) != 0)
		p++;
	return (PmSimplifyPass)p;
}

PmStatus pm__simplify_dead_code(PmGraph *g, size_t *changes, PmErr *err)
{
	(void)err;
	*changes += pm_graph_sweep(g);
	return PM_OK;
}

static PmStatus one_round(PmGraph *g, const PmSimplifyOpts *o, PmSimplifyReport *r, size_t *total, PmErr *err)
{
	PmStatus st = PM_OK;
	int p;

	*total = 0;
	for (p = 0; p < PM_N_SIMPLIFY && !st; p++) {
		size_t changes = 0;

		if (o->passes && !(o->passes >> p & 1))
			continue;
		st = passes[p].fn(g, &changes, err);
		if (!st)
			st = pm_graph_sort(g, err);
		r->changes[p] += changes;
		*total += changes;
		if (!st && changes && o->after)
			o->after(o->arg, (PmSimplifyPass)p, r->rounds, changes, g);
	}
	return st;
}

PmStatus pm_simplify(PmGraph *g, const PmSimplifyOpts *opts, PmSimplifyReport *report, PmErr *err)
{
	static const PmSimplifyOpts all;
	PmSimplifyReport unused;
	size_t changes = 1;
	PmStatus st = PM_OK;

	if (!opts)
		opts = &all;
	if (!report)
		report = &unused;
	memset(report, 0, sizeof *report);
	while (changes && !st) {
		if (report->rounds++ == MAX_ROUNDS)
			PM_BUG("simplification did not end after %d rounds", MAX_ROUNDS);
		st = one_round(g, opts, report, &changes, err);
	}
	return st ? st : pm_verify(g, err);
}
