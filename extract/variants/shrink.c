/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.c - makes dimensions smaller, class by class, until a graph is within limits or nothing helps. */
#include "extract/variants/shrink.h"

#include "extract/variants/variants_priv.h"

#include <stdlib.h>
#include <string.h>

typedef struct Shrink {
	PmGraph *base, *now; /* with the original's sizes, and with the sizes chosen so far; both owned */
	const PmShrinkOpts *opts;
	PmDimClasses classes;
	int64_t size[PM_MAX_DIM_CLASSES]; /* of each class, in `now` */
	PmType *types;
	PmSubst *subst;
} Shrink;

static int64_t largest(const PmGraph *g)
{
	int64_t most = 0, n;

	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++)
		if (!pm_type_numel(pm_value_type(g, (PmValue){ id }), &n, NULL) && n > most)
			most = n;
	return most;
}

/* How far a graph is over the limits: 0 when it is within them. A sum, so that each value that becomes
 * smaller is a step forward. */
static double excess(const Shrink *s, const PmGraph *g)
{
	int64_t n, cost = s->opts->max_cost ? s->opts->cost(g) : 0;
	double sum = 0;

	for (uint32_t id = 1; s->opts->max_elements && id < pm_graph_value_limit(g); id++)
		if (!pm_type_numel(pm_value_type(g, (PmValue){ id }), &n, NULL) && n > s->opts->max_elements)
			sum += (double)n / (double)s->opts->max_elements;
	return sum + (cost > s->opts->max_cost ? (double)cost / (double)s->opts->max_cost : 0);
}

/* The graph with class c at another size, or NULL when that is no valid graph. */
static PmGraph *with_size(Shrink *s, size_t c, int64_t size)
{
	int64_t was = s->size[c];
	PmGraph *g;

	s->size[c] = size;
	g = pm__with_sizes(s->base, &s->classes, s->size, 0, s->types, s->subst);
	s->size[c] = was;
	return g;
}

/* Tries smaller sizes of class c, about half first. Returns the graph, owned, with its size in *size, or
 * NULL. */
static PmGraph *smaller(Shrink *s, size_t c, int64_t least, int64_t *size)
{
	static const int64_t part[][2] = { { 1, 2 }, { 1, 3 }, { 2, 3 }, { 3, 4 }, { 1, 4 }, { 1, 5 },
					   { 3, 5 }, { 1, 7 }, { 4, 7 }, { 1, 8 }, { 1, 16 } };
	int64_t was = s->size[c];

	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		int64_t to = was / part[i][1] * part[i][0];
		PmGraph *g;

		if (!i) /* odd sizes have a half too */
			to = was / 2;
		else if (was % part[i][1])
			continue;
		g = to >= least && to < was ? with_size(s, c, to) : NULL;
		if (g) {
			*size = to;
			return g;
		}
	}
	return NULL;
}

/* Takes one step: of the classes that help, the one with the largest size. Returns 0 when none helps. */
static int step(Shrink *s, int64_t least)
{
	double over = excess(s, s->now);
	PmGraph *best = NULL;
	size_t which = 0;
	int64_t best_size = 0, size = 0;

	for (size_t c = 0; c < s->classes.n; c++) {
		PmGraph *g = best && s->size[c] <= s->size[which] ? NULL : smaller(s, c, least, &size);

		if (g && excess(s, g) < 0.95 * over) {
			pm_graph_free(best);
			best = g;
			which = c;
			best_size = size;
			g = NULL;
		}
		pm_graph_free(g);
	}
	if (!best)
		return 0;
	pm_graph_free(s->now);
	s->now = best;
	s->size[which] = best_size;
	return 1;
}

static PmStatus take(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	(void)label;
	(void)shape;
	(void)dtype;
	return pm_graph_clone(g, (PmGraph **)arg, err);
}

static PmStatus shrink(Shrink *s, PmErr *err)
{
	PmStatus st = pm_graph_clone(s->base, &s->now, err);
	int more = !st && excess(s, s->now) > 0;

	if (more)
		pm__dim_classes(s->base, INT64_MAX, &s->classes);
	for (size_t c = 0; c < s->classes.n; c++)
		s->size[c] = s->classes.v[c].size;
	while (more && excess(s, s->now) > 0)
		more = step(s, 2) || step(s, 1);
	return st;
}

PmStatus pm_shrink(const PmGraph *g, const PmShrinkOpts *opts, PmGraph **out, PmShrinkReport *report,
		   PmErr *err)
{
	const PmVariantOpts own = { .n_shapes = 1, .own_dtype = 1 };
	Shrink s = { .opts = opts };
	PmGraph *live = NULL;
	PmStatus st = pm_graph_clone(g, &live, err);

	memset(report, 0, sizeof *report);
	*out = NULL;
	if (!st) { /* nodes whose results nobody uses would be taken for a change */
		pm_graph_sweep(live);
		st = pm_variants_make(live, &own, take, &s.base, NULL, err);
	}
	pm_graph_free(live);
	if (st)
		return st;
	s.types = pm_xcalloc(pm_graph_n_inputs(s.base) + 1, sizeof *s.types);
	s.subst = pm_xcalloc(PM_MAX_SLOTS + 1, sizeof *s.subst);
	st = shrink(&s, err);
	if (!st) {
		report->elements_before = largest(s.base);
		report->elements = largest(s.now);
		report->is_over = excess(&s, s.now) > 0;
		report->cost_before = opts->cost ? opts->cost(s.base) : 0;
		report->cost = opts->cost ? opts->cost(s.now) : 0;
		for (size_t c = 0; c < s.classes.n; c++)
			report->is_cut |= s.size[c] != s.classes.v[c].size;
		*out = s.now;
		s.now = NULL;
	}
	pm_graph_free(s.now);
	pm_graph_free(s.base);
	pm__dim_classes_release(&s.classes);
	free(s.types);
	free(s.subst);
	return st;
}
