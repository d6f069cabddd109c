/* SPDX-License-Identifier: Apache-2.0 */
/* fold_same.c - groups that differ in names and weights alone: one drawing serves all of them.
 *
 * Two groups are the same when their trees of items are, node for node: operator, attributes, types of
 * results, and for each operand the node of the group that makes it, or that it comes from outside. Compared
 * are hashes of 64 bits of that.
 */
#include "app/view/fold.h"
#include "base/core/hash.h"
#include "base/core/str.h"
#include "ir/canon/canon.h"

typedef struct Same {
	PmFold *f;
	uint64_t *label;  /* by place */
	uint32_t *number; /* by place: its number in the group that is hashed */
	uint32_t *stamp;  /* by place: 1 + the group in which that number holds */
	PmStr text;
} Same;

static PmStatus label(Same *s, PmErr *err)
{
	const PmGraph *g = s->f->g;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < s->f->n_nodes && !st; i++) {
		PmNode n = pm_graph_node_at(g, i);

		pm_str_clear(&s->text);
		st = pm_canon_node_text(g, n, PM_CANON_FULL, &s->text, err);
		for (size_t k = 0; k < pm_node_n_out(g, n); k++)
			pm_type_describe(pm_value_type(g, pm_node_out(g, n, k)), &s->text);
		if (s->f->kind)
			pm_str_addc(&s->text, (char)s->f->kind[i]);
		s->label[i] = pm_hash_bytes(s->text.s, s->text.len);
	}
	return st;
}

/* Numbers the nodes of a group in the order of its items, and says in `text` what the tree is. */
static void walk(Same *s, uint32_t group, PmPlaces *order)
{
	const PmFold *f = s->f;
	PM_VEC(uint64_t) shape = { 0 };
	PmPlaces todo = { 0 };

	PM_VEC_PUSH(&todo, group);
	while (todo.n) {
		const PmFoldGroup *g = &f->group.v[todo.v[--todo.n]];

		PM_VEC_PUSH(&shape, g->n);
		for (size_t i = 0; i < g->n; i++) {
			const PmFoldItem *item = &f->item.v[g->first + i];

			PM_VEC_PUSH(&shape, (uint64_t)item->is_group);
			if (item->is_group) {
				PM_VEC_PUSH(&todo, item->id);
				continue;
			}
			s->number[item->id] = (uint32_t)order->n;
			s->stamp[item->id] = group + 1;
			PM_VEC_PUSH(order, item->id);
		}
	}
	pm_str_clear(&s->text);
	pm_str_addn(&s->text, shape.v, shape.n * sizeof *shape.v);
	PM_VEC_RELEASE(&shape);
	PM_VEC_RELEASE(&todo);
}

static void add_number(PmStr *out, uint64_t v)
{
	pm_str_addn(out, &v, sizeof v);
}

/* What an operand is for the group: a node's result, a constant, left out, or from outside. */
static uint64_t source(const Same *s, uint32_t group, PmValue v)
{
	enum { OUTSIDE, CONSTANT, MISSING, INSIDE };
	const PmGraph *g = s->f->g;
	size_t result = 0;
	PmNode def = pm_value_def(g, v, &result);
	uint32_t place;

	if (!v.id || !def.id)
		return !v.id ? MISSING : pm_value_is_const(g, v) ? CONSTANT : OUTSIDE;
	place = s->f->place[def.id];
	if (s->stamp[place] != group + 1)
		return OUTSIDE;
	return INSIDE + ((uint64_t)s->number[place] << 16) + (result & 0xffff);
}

static uint64_t hash_group(Same *s, uint32_t group)
{
	const PmGraph *g = s->f->g;
	PmPlaces order = { 0 };
	uint64_t hash;

	walk(s, group, &order);
	for (size_t i = 0; i < order.n; i++) {
		PmNode n = pm_graph_node_at(g, order.v[i]);

		add_number(&s->text, s->label[order.v[i]]);
		for (size_t k = 0; k < pm_node_n_in(g, n); k++)
			add_number(&s->text, source(s, group, pm_node_in(g, n, k)));
	}
	hash = pm_hash_bytes(s->text.s, s->text.len);
	PM_VEC_RELEASE(&order);
	return hash;
}

typedef struct Key {
	uint64_t hash;
	uint32_t group;
} Key;

static int by_hash(const void *a, const void *b)
{
	const Key *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

static void join(PmFold *f, Key *key)
{
	size_t n = f->group.n, j;

	qsort(key, n, sizeof *key, by_hash);
	for (size_t i = 0; i < n; i = j) {
		for (j = i; j < n && key[j].hash == key[i].hash; j++)
			f->group.v[key[j].group].same = key[i].group;
		f->group.v[key[i].group].n_same = j - i;
	}
}

PmStatus pm__fold_same(PmFold *f, PmErr *err)
{
	Same s = { .f = f, .text = PM_STR_INIT };
	Key *key = pm_xcalloc(f->group.n + 1, sizeof *key);
	PmStatus st = PM_OK;

	s.label = pm_xcalloc(f->n_nodes + 1, sizeof *s.label);
	s.number = pm_xcalloc(f->n_nodes + 1, sizeof *s.number);
	s.stamp = pm_xcalloc(f->n_nodes + 1, sizeof *s.stamp);
	if (f->group.n > 1)
		st = label(&s, err);
	for (uint32_t i = 0; i < f->group.n && !st; i++)
		key[i] = (Key){ f->group.n > 1 ? hash_group(&s, i) : 0, i };
	if (!st)
		join(f, key);
	free(key);
	free(s.label);
	free(s.number);
	free(s.stamp);
	pm_str_release(&s.text);
	return st;
}
