/* dims.c - which dimensions of a graph's inputs change together.
 *
 * For a dimension, first it alone is doubled; when that gives no valid graph, all dimensions of the same size
 * are doubled with it, then all whose size is a multiple or a divisor; from a set that works, every member
 * that is not needed is taken out again. What remains is its class. A dimension of size 1 is looked at only
 * as the outermost one of inputs of two dimensions or more (a batch of one), all of them together.
 */
#include "extract/variants_priv.h"

#include <stdlib.h>
#include <string.h>

typedef struct Search {
	const PmGraph *base;
	int64_t max_elements;
	PmType *types; /* of the inputs: as they are, and changed */
	PmType *trial;
	PmSubst *subst;
	PM_VEC(PmSlot) slots;
	unsigned char *done; /* by slot: in a class, or fixed */
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
	pm__resize_any(r, &g, &why);
	pm_graph_free(g);
	return why == PM_VARIANT_SIZE ? 0 : g != NULL;
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

static void look_at(Search *s, size_t leader)
{
	int64_t d = slot_size(s, leader), e;
	int wide;
	size_t k;

	for (wide = 0; wide < 3; wide++) {
		size_t n = 0;

		for (k = 0; k < s->slots.n; k++) {
			e = slot_size(s, k);
			s->set[k] = k == leader;
			if (wide == 1)
				s->set[k] |= !s->done[k] && e == d;
			else if (wide == 2)
				s->set[k] |= !s->done[k] && e > 1 && (e % d == 0 || d % e == 0);
			n += s->set[k];
		}
		if ((wide && n == 1) || !can_scale(s, leader))
			continue;
		if (wide)
			shrink(s, leader);
		add_class(s, leader);
		return;
	}
	s->done[leader] = 1; /* fixed */
}

/* Batches of one. */
static void look_at_ones(Search *s)
{
	size_t k, first = SIZE_MAX;

	for (k = 0; k < s->slots.n; k++) {
		s->set[k] = slot_size(s, k) == 1 && s->slots.v[k].axis == 0 &&
			    s->types[s->slots.v[k].input].rank > 1 &&
			    pm_dtype_is_float(s->types[s->slots.v[k].input].dtype);
		if (s->set[k] && first == SIZE_MAX)
			first = k;
	}
	if (first != SIZE_MAX && works(s, 2, 1))
		add_class(s, first);
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
	for (k = 0; k < s.slots.n; k++) {
		if (!s.done[k] && slot_size(&s, k) > 1)
			look_at(&s, k);
	}
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
