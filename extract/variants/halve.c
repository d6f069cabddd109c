/* SPDX-License-Identifier: Apache-2.0 */
/* halve.c - halves classes of dimensions until a graph costs little. */
#include "extract/variants/halve.h"

#include "extract/variants/variants_priv.h"

#include <stdlib.h>

enum { BATCHES, OTHERS, ALL, N_PASSES };
enum { LEAST_BATCH = 4, LEAST = 8 }; /* sizes that are not halved further go below these */

typedef struct Halving {
	const PmGraph *base;
	const PmHalving *how;
	PmDimClasses classes;
	int64_t size[PM_MAX_DIM_CLASSES];
	int stuck[PM_MAX_DIM_CLASSES];
	PmType *types;
	PmSubst *subst;
	PmGraph *now;
} Halving;

/* The class to halve next in this pass; classes.n when there is none. */
static size_t largest(const Halving *s, int pass)
{
	size_t best = s->classes.n;

	for (size_t c = 0; c < s->classes.n; c++) {
		int64_t least = pass == BATCHES ? LEAST_BATCH : LEAST;

		if (s->stuck[c] || (pass == BATCHES && !s->classes.v[c].batch) || s->size[c] % 2 ||
		    s->size[c] / 2 < least)
			continue;
		if (best == s->classes.n || s->size[c] > s->size[best])
			best = c;
	}
	return best;
}

/* Halves what this pass may. Returns 1 when a dimension was halved. */
static int halve(Halving *s, int pass)
{
	int64_t goal = pass == ALL ? s->how->most : s->how->wanted;
	int halved = 0;
	size_t c;

	for (c = 0; c < s->classes.n; c++)
		s->stuck[c] = 0;
	while (s->how->cost(s->now) > goal && (c = largest(s, pass)) < s->classes.n) {
		PmGraph *g;

		s->size[c] /= 2;
		g = pm__with_sizes(s->base, &s->classes, s->size, 1, s->types, s->subst);
		if (g && (pass == ALL || s->how->keeps(s->base, g)) &&
		    s->how->cost(g) < s->how->cost(s->now)) {
			pm_graph_free(s->now);
			s->now = g;
			halved = 1;
			continue;
		}
		pm_graph_free(g);
		s->size[c] *= 2;
		s->stuck[c] = 1;
	}
	return halved;
}

PmStatus pm_variant_halve(const PmGraph *g, const PmHalving *how, PmGraph **out, int *kept, PmErr *err)
{
	Halving s = { .base = g, .how = how };
	PmStatus st = pm_graph_clone(g, &s.now, err);

	*kept = 1;
	*out = NULL;
	if (st)
		return st;
	if (how->cost(g) > how->wanted) {
		s.types = pm_xcalloc(pm_graph_n_inputs(g) + 1, sizeof *s.types);
		s.subst = pm_xcalloc(PM_MAX_SLOTS + 1, sizeof *s.subst);
		pm__dim_classes(g, INT64_MAX, &s.classes);
		for (size_t c = 0; c < s.classes.n; c++)
			s.size[c] = s.classes.v[c].size;
		halve(&s, BATCHES);
		halve(&s, OTHERS);
		*kept = !halve(&s, ALL);
		pm__dim_classes_release(&s.classes);
		free(s.types);
		free(s.subst);
	}
	*out = s.now;
	return PM_OK;
}
