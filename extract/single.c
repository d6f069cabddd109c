/* SPDX-License-Identifier: Apache-2.0 */
/* single.c - classes of single operators and who stands for them. */
#include "extract/single.h"

#include "base/core/str.h"
#include "base/core/vec.h"
#include "extract/fusible.h"
#include "ir/canon/canon.h"

#include <stdlib.h>
#include <string.h>

typedef struct Class {
	const char *key; /* interned */
	uint32_t family; /* operator and element type */
	PmNode node;
	size_t place;     /* of that node in the execution order */
	int64_t elements; /* of its largest operand or result */
	size_t count;
	int chosen;
} Class;

typedef struct Sort {
	const PmGraph *g;
	PmIntern *keys, *families; /* class k has key id k + 1 */
	PM_VEC(Class) classes;
	PmStr key;
} Sort;

/* 0 for sizes below 16, 1 below 256, ...; -1 for nothing, 99 for a symbol. */
static int size_class(PmDim d)
{
	int c = 0;

	if (d < 0)
		return 99;
	if (!d)
		return -1;
	for (; d >= 16; d /= 16)
		c++;
	return c;
}

/* How an axis of an operand, counted from the last, relates to the result's. */
static char relation(const PmType *t, const PmType *out, int from_end)
{
	PmDim d = t->dim[t->rank - from_end];

	if (from_end <= out->rank && out->dim[out->rank - from_end] == d)
		return '=';
	return d == 1 ? '1' : 'x';
}

static void add_operand(Sort *s, PmValue v, const PmType *out)
{
	const PmType *t = pm_value_type(s->g, v);
	PmNode def = pm_value_def(s->g, v, NULL);
	int i;

	if (!v.id) {
		pm_str_add(&s->key, " -");
		return;
	}
	pm_str_addf(&s->key, " %s%s", pm_dtype_name(t->dtype), pm_value_is_const(s->g, v) ? "c" : "");
	if (def.id && (pm_op_desc(pm_node_op(s->g, def))->flags & PM_OPF_VIEW))
		pm_str_addc(&s->key, 'v');
	for (i = 0; i < t->rank; i++)
		pm_str_addf(&s->key, ",%d%c", size_class(t->dim[i]), relation(t, out, t->rank - i));
}

static int64_t elements_of(const PmGraph *g, PmValue v)
{
	int64_t n;

	return v.id && !pm_type_numel(pm_value_type(g, v), &n, NULL) ? n : 0;
}

static int64_t largest(const PmGraph *g, PmNode n)
{
	int64_t most = 0, e;
	size_t k;

	for (k = 0; k < pm_node_n_in(g, n); k++) {
		e = elements_of(g, pm_node_in(g, n, k));
		most = e > most ? e : most;
	}
	for (k = 0; k < pm_node_n_out(g, n); k++) {
		e = elements_of(g, pm_node_out(g, n, k));
		most = e > most ? e : most;
	}
	return most;
}

static PmStatus add_node(Sort *s, PmNode n, size_t place, PmErr *err)
{
	const PmType *out = pm_value_type(s->g, pm_node_out(s->g, n, 0));
	int64_t elements = largest(s->g, n);
	PmStr family = PM_STR_INIT;
	PmStatus st;
	Class *c;
	size_t k, id;

	pm_str_clear(&s->key);
	st = pm_canon_node_text(s->g, n, PM_CANON_FULL, &s->key, err);
	for (k = 0; k < pm_node_n_in(s->g, n); k++)
		add_operand(s, pm_node_in(s->g, n, k), out);
	pm_str_addf(&s->key, " > %s", pm_dtype_name(out->dtype));
	id = pm_intern(s->keys, s->key.s, s->key.len);
	if (id > s->classes.n) {
		Class fresh = { pm_intern_text(s->keys, (uint32_t)id), 0, n, place, elements, 0, 0 };

		pm_str_addf(&family, "%s %s", pm_node_op_name(s->g, n), pm_dtype_name(out->dtype));
		fresh.family = pm_intern(s->families, family.s, family.len);
		pm_str_release(&family);
		PM_VEC_PUSH(&s->classes, fresh);
	}
	c = &s->classes.v[id - 1];
	c->count++;
	if (elements < c->elements) {
		c->node = n;
		c->place = place;
		c->elements = elements;
	}
	return st;
}

/* ---- choosing ---- */

static int by_size(const void *a, const void *b)
{
	const Class *x = a, *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	if (x->elements != y->elements)
		return x->elements < y->elements ? -1 : 1;
	return strcmp(x->key, y->key);
}

static int by_place(const void *a, const void *b)
{
	const Class *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

static void choose(Class *v, size_t n)
{
	size_t i, most = 0;

	for (i = 1; i < n; i++) {
		if (v[i].count > v[most].count)
			most = i;
	}
	v[0].chosen = v[n / 2].chosen = v[n - 1].chosen = v[most].chosen = 1;
}

static void deliver(Sort *s, PmSingles *out)
{
	size_t i, j, n = s->classes.n;
	Class *v = s->classes.v;

	if (!n)
		return;
	qsort(v, n, sizeof *v, by_size);
	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && v[j].family == v[i].family; j++)
			continue;
		choose(v + i, j - i);
	}
	qsort(v, n, sizeof *v, by_place);
	out->n_classes = n;
	out->v = pm_xcalloc(n, sizeof *out->v);
	for (i = 0; i < n; i++) {
		out->n_nodes += v[i].count;
		if (!v[i].chosen)
			continue;
		out->n_covered += v[i].count;
		out->v[out->n++] = (PmSingle){ v[i].node, v[i].count };
	}
}

PmStatus pm_single_ops(const PmGraph *g, PmSingles *out, PmErr *err)
{
	Sort s = { .g = g, .keys = pm_intern_new(), .families = pm_intern_new(), .key = PM_STR_INIT };
	PmStatus st = PM_OK;
	size_t i;

	memset(out, 0, sizeof *out);
	for (i = 0; i < pm_graph_n_nodes(g) && st == PM_OK; i++) {
		PmNode n = pm_graph_node_at(g, i);

		if (pm_fusible_node(g, n))
			st = add_node(&s, n, i, err);
	}
	if (st == PM_OK)
		deliver(&s, out);
	PM_VEC_RELEASE(&s.classes);
	pm_str_release(&s.key);
	pm_intern_free(s.keys);
	pm_intern_free(s.families);
	return st;
}

void pm_singles_release(PmSingles *s)
{
	free(s->v);
	memset(s, 0, sizeof *s);
}
