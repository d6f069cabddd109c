/* SPDX-License-Identifier: Apache-2.0 */
/* dims.c - which dimensions of a graph's inputs change together.
 *
 * A set of dimensions is a class when the graph stays valid with all of them doubled. Sets are tried from
 * small to large: single dimensions; two and three of the same size; all of the same size; two, then all, of
 * which one size divides the other. What is found leaves the search, so that the larger sets see only what is
 * still open; from the sets of all, every member that is not needed is taken out again. A dimension of size 1
 * is looked at only as the outermost one of inputs of two dimensions or more (a batch of one), all of them
 * together.
 */
#include "extract/variants/variants_priv.h"

#include <stdlib.h>
#include <string.h>

typedef struct Search {
	const PmGraph *base;
	int64_t max_elements;
	PmType *types; /* of the inputs: as they are, and changed */
	PmType *trial;
	PmSubst *subst;
	PM_VEC(PmSlot) slots;
	unsigned char *done; /* by slot: in a class */
	unsigned char *set;  /* by slot: in the set being tried */
	PmDimClasses *out;
} Search;

static int64_t slot_size(const Search *s, size_t k)
{
	return s->types[s->slots.v[k].input].dim[s->slots.v[k].axis];
}

/* 1 when the graph is valid with every slot of the set scaled to mul/div of its size. */
static int works(Search *s, int64_t mul, int64_t div)
{
	PmResize r = { s->base, s->trial, s->subst, 0, s->max_elements, 0 };
	PmVariantReason why;
	PmGraph *g = NULL;
	PmStatus st;
	size_t k, n_in = pm_graph_n_inputs(s->base);

	if (s->out->tried >= PM_MAX_CLASS_TRIES)
		return 0;
	s->out->tried++;
	memcpy(s->trial, s->types, n_in * sizeof *s->trial);
	for (k = 0; k < s->slots.n; k++) {
		int64_t from = slot_size(s, k), to;

		if (!s->set[k])
			continue;
		if (!pm_mul_i64(from, mul, &to) || to % div)
			return 0;
		s->subst[r.n_subst++] = (PmSubst){ from, to / div };
		s->trial[s->slots.v[k].input].dim[s->slots.v[k].axis] = to / div;
	}
	st = pm__resize_any(r, &g, &why);
	pm_graph_free(g);
	return st == PM_OK;
}

/* Doubling may run over the size limit where halving does not. */
static int can_scale(Search *s, size_t k)
{
	if (works(s, 2, 1))
		return 1;
	return slot_size(s, k) % 2 == 0 && slot_size(s, k) > 2 && works(s, 1, 2);
}

static void shrink(Search *s, size_t keep)
{
	size_t k;

	for (k = 0; k < s->slots.n; k++) {
		if (!s->set[k] || k == keep)
			continue;
		s->set[k] = 0;
		if (!can_scale(s, keep))
			s->set[k] = 1;
	}
}

static void add_class(Search *s, size_t leader)
{
	PmDimClass *c;
	size_t k;
	int outer = 1;

	if (s->out->n == PM_MAX_DIM_CLASSES)
		return;
	c = &s->out->v[s->out->n++];
	memset(c, 0, sizeof *c);
	c->size = slot_size(s, leader);
	PM_VEC_PUSH(&c->slots, s->slots.v[leader]);
	for (k = 0; k < s->slots.n; k++) {
		if (!s->set[k])
			continue;
		s->done[k] = 1;
		outer &= s->slots.v[k].axis == 0 && s->types[s->slots.v[k].input].rank > 1;
		if (k != leader)
			PM_VEC_PUSH(&c->slots, s->slots.v[k]);
	}
	c->batch = outer;
}

enum { SINGLE, PAIR, TRIPLE, ALL, RELATED_PAIR, RELATED, N_STAGES };
enum { MAX_TRIPLE = 12 }; /* dimensions of one size among which threes are tried */

/* Open dimensions that may belong to the leader's class, itself left out. */
static size_t candidates(const Search *s, size_t leader, int related, size_t *out)
{
	int64_t d = slot_size(s, leader);
	size_t k, n = 0;

	for (k = 0; k < s->slots.n; k++) {
		int64_t e = slot_size(s, k);

		if (k != leader && !s->done[k] && e > 1 &&
		    (e == d || (related && (e % d == 0 || d % e == 0))))
			out[n++] = k;
	}
	return n;
}

static int try_set(Search *s, size_t leader, const size_t *more, size_t n)
{
	size_t k;

	memset(s->set, 0, s->slots.n);
	s->set[leader] = 1;
	for (k = 0; k < n; k++)
		s->set[more[k]] = 1;
	return can_scale(s, leader);
}

/* 1 when a class of the leader was found. */
static int look_at(Search *s, size_t leader, int stage, size_t *cand)
{
	size_t i, j, n = candidates(s, leader, stage >= RELATED_PAIR, cand), two[2];

	if (stage == SINGLE)
		return try_set(s, leader, NULL, 0);
	if (stage == ALL || stage == RELATED) {
		if (n == 0 || !try_set(s, leader, cand, n))
			return 0;
		shrink(s, leader);
		return 1;
	}
	if (stage == TRIPLE && n > MAX_TRIPLE)
		return 0;
	for (i = 0; i < n; i++) {
		if (stage != TRIPLE && try_set(s, leader, cand + i, 1))
			return 1;
		for (j = i + 1; stage == TRIPLE && j < n; j++) {
			two[0] = cand[i];
			two[1] = cand[j];
			if (try_set(s, leader, two, 2))
				return 1;
		}
	}
	return 0;
}

static void search(Search *s)
{
	size_t *cand = pm_xcalloc(s->slots.n + 1, sizeof *cand), k;
	int stage;

	for (stage = 0; stage < N_STAGES; stage++) {
		for (k = 0; k < s->slots.n; k++) {
			if (!s->done[k] && slot_size(s, k) > 1 && look_at(s, k, stage, cand))
				add_class(s, k);
		}
	}
	free(cand);
}

/* Batches of one: of all inputs, failing that of the floating point ones. */
static void look_at_ones(Search *s)
{
	int only_float;

	for (only_float = 0; only_float < 2; only_float++) {
		size_t k, first = SIZE_MAX;

		for (k = 0; k < s->slots.n; k++) {
			const PmType *t = &s->types[s->slots.v[k].input];

			s->set[k] = slot_size(s, k) == 1 && s->slots.v[k].axis == 0 && t->rank > 1 &&
				    (!only_float || pm_dtype_is_float(t->dtype));
			if (s->set[k] && first == SIZE_MAX)
				first = k;
		}
		if (first != SIZE_MAX && works(s, 2, 1)) {
			add_class(s, first);
			return;
		}
	}
}

void pm__dim_classes(const PmGraph *base, int64_t max_elements, PmDimClasses *out)
{
	size_t i, k, n_in = pm_graph_n_inputs(base);
	Search s;

	memset(&s, 0, sizeof s);
	memset(out, 0, sizeof *out);
	s.base = base;
	s.max_elements = max_elements;
	s.out = out;
	s.types = pm_xcalloc(n_in + 1, sizeof *s.types);
	s.trial = pm_xcalloc(n_in + 1, sizeof *s.trial);
	for (i = 0; i < n_in; i++) {
		s.types[i] = *pm_value_type(base, pm_graph_input(base, i));
		for (k = 0; k < (size_t)s.types[i].rank && s.slots.n < PM_MAX_SLOTS; k++) {
			PmSlot slot = { (uint32_t)i, (uint32_t)k };

			PM_VEC_PUSH(&s.slots, slot);
		}
	}
	s.done = pm_xcalloc(s.slots.n + 1, 1);
	s.set = pm_xcalloc(s.slots.n + 1, 1);
	s.subst = pm_xcalloc(s.slots.n + 1, sizeof *s.subst);
	look_at_ones(&s);
	search(&s);
	free(s.types);
	free(s.trial);
	free(s.done);
	free(s.set);
	free(s.subst);
	PM_VEC_RELEASE(&s.slots);
}

void pm__dim_classes_release(PmDimClasses *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		PM_VEC_RELEASE(&c->v[i].slots);
	c->n = 0;
}

int pm__dim_class_set(const PmGraph *base, const PmDimClass *c, int64_t size, PmType *in, PmSubst *subst)
{
	size_t k;

	for (k = 0; k < c->slots.n; k++) {
		PmSlot s = c->slots.v[k];
		int64_t from = pm_value_type(base, pm_graph_input(base, s.input))->dim[s.axis], to;

		if (!pm_mul_i64(from, size, &to) || to % c->size || to == 0)
			return -1;
		subst[k] = (PmSubst){ from, to / c->size };
		in[s.input].dim[s.axis] = to / c->size;
	}
	return (int)c->slots.n;
}

int pm__dim_classes_set(const PmGraph *base, const PmDimClasses *c, const int64_t *size, int all, PmType *in,
			PmSubst *subst)
{
	size_t n = 0;

	for (size_t i = 0; i < pm_graph_n_inputs(base); i++)
		in[i] = *pm_value_type(base, pm_graph_input(base, i));
	for (size_t k = 0; k < c->n; k++) {
		int made = pm__dim_class_set(base, &c->v[k], size[k], in, subst + n);

		if (made < 0)
			return -1;
		n += all || size[k] != c->v[k].size ? (size_t)made : 0;
	}
	return (int)n;
}

PmGraph *pm__with_sizes(const PmGraph *base, const PmDimClasses *c, const int64_t *size, int all, PmType *in,
			PmSubst *subst)
{
	int n = pm__dim_classes_set(base, c, size, all, in, subst);
	PmVariantReason why;
	PmGraph *g = NULL;

	if (n < 0 || pm__resize_any((PmResize){ base, in, subst, (size_t)n, INT64_MAX, 0 }, &g, &why))
		return NULL;
	return g;
}
