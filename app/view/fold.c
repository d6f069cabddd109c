/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c - groups by the scopes in names, and by runs of the execution order. */
#include "app/view/fold.h"

#include "base/core/str.h"

#include <stdio.h>
#include <string.h>

/* One node while groups are made: the rest of its name behind the scopes that are used up. */
typedef struct Entry {
	const char *rest;
	uint32_t place;
	size_t len; /* of the first scope in `rest`; 0 when there is none */
} Entry;

/* A group whose nodes, entry[from] to entry[to - 1], have no items yet. */
typedef struct Work {
	uint32_t group;
	size_t from, to;
} Work;

typedef struct Folding {
	PmFold *f;
	Entry *entry;
	PM_VEC(Work) work;
	PM_VEC(PmFoldItem) item; /* of the group that is being made */
	uint32_t *slot;          /* by place: which of these items the node is in */
	uint32_t *stamp;         /* by place: 1 + the group for which that holds */
} Folding;

static uint32_t new_group(PmFold *f, uint32_t parent, const char *name, size_t len, size_t n_nodes)
{
	PmFoldGroup g = { .parent = parent, .n_nodes = n_nodes, .n_same = 1 };

	g.name = pm_xmalloc(len + 1);
	memcpy(g.name, name, len);
	g.name[len] = 0;
	g.same = (uint32_t)f->group.n;
	PM_VEC_PUSH(&f->group, g);
	return g.same;
}

/* ---- items ---- */

/* Makes `item` the items of a group, and says so in each. */
static void set_items(PmFold *f, uint32_t group, const PmFoldItem *item, size_t n)
{
	f->group.v[group].first = f->item.n;
	f->group.v[group].n = n;
	for (size_t i = 0; i < n; i++) {
		PM_VEC_PUSH(&f->item, item[i]);
		if (item[i].is_group) {
			f->group.v[item[i].id].parent = group;
			f->group.v[item[i].id].at = (uint32_t)i;
		} else {
			f->of[item[i].id] = group;
			f->at[item[i].id] = (uint32_t)i;
		}
	}
}

static size_t nodes_of(const PmFold *f, const PmFoldItem *item, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += item[i].is_group ? f->group.v[item[i].id].n_nodes : 1;
	return sum;
}

/* The last item of group w that uses a result of a node. */
static uint32_t last_use(const Folding *s, Work w, PmNode n, uint32_t first)
{
	const PmGraph *g = s->f->g;
	uint32_t last = first;

	for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
		PmUse u = pm_value_first_use(g, pm_node_out(g, n, k));

		for (; u.slot; u = pm_use_next(g, u)) {
			uint32_t place = s->f->place[u.node.id];

			if (s->stamp[place] == w.group + 1 && s->slot[place] > last)
				last = s->slot[place];
		}
	}
	return last;
}

/* How many nodes before item i have results that it or a later item uses, for each i. Returns owned. */
static uint32_t *crossings(const Folding *s, Work w)
{
	uint32_t *sum = pm_xcalloc(s->item.n + 2, sizeof *sum);

	for (size_t i = w.from; i < w.to; i++) {
		uint32_t place = s->entry[i].place, first = s->slot[place];
		uint32_t last = last_use(s, w, pm_graph_node_at(s->f->g, place), first);

		sum[first + 1]++;
		sum[last + 1]--;
	}
	for (size_t i = 1; i < s->item.n; i++)
		sum[i] += sum[i - 1];
	return sum;
}

/* Where part k of n begins: near even parts, where the fewest nodes are used across. */
static size_t cut(const Folding *s, const uint32_t *cross, size_t k, size_t n)
{
	size_t even = s->item.n * k / n, best = even;

	for (size_t d = 1; d <= PM_FOLD_PART / 4 && k && k < n; d++) {
		if (cross[even - d] < cross[best])
			best = even - d;
		if (cross[even + d] < cross[best])
			best = even + d;
	}
	return best;
}

/* Makes the parts items in place of their own items. */
static void make_parts(Folding *s, Work w, const uint32_t *cross)
{
	size_t n = s->item.n, parts = (n + PM_FOLD_PART - 1) / PM_FOLD_PART, from = 0;
	uint32_t *part_of = pm_xcalloc(n + 1, sizeof *part_of);

	for (size_t k = 0; k < parts; k++) {
		size_t to = cut(s, cross, k + 1, parts);
		char name[64];
		int len = snprintf(name, sizeof name, "part %zu of %zu", k + 1, parts);
		uint32_t part = new_group(s->f, w.group, name, (size_t)len,
					  nodes_of(s->f, s->item.v + from, to - from));

		set_items(s->f, part, s->item.v + from, to - from);
		for (; from < to; from++)
			part_of[from] = (uint32_t)k;
		s->item.v[k] = (PmFoldItem){ part, 1 };
	}
	s->item.n = parts;
	for (size_t i = w.from; i < w.to; i++)
		s->slot[s->entry[i].place] = part_of[s->slot[s->entry[i].place]];
	free(part_of);
}

/* Says which item each node of a group is in; entries of one item stand side by side. */
static void set_slots(Folding *s, Work w)
{
	for (uint32_t i = 0; i < s->item.n; i++) {
		const PmFoldItem *item = &s->item.v[i];
		size_t n = item->is_group ? s->f->group.v[item->id].n_nodes : 1;
		size_t at = item->is_group ? s->f->group.v[item->id].first : 0;

		for (size_t k = 0; k < n; k++) {
			uint32_t place = item->is_group ? s->entry[at + k].place : item->id;

			s->slot[place] = i;
			s->stamp[place] = w.group + 1;
		}
	}
}

/* Puts runs of a list that is too long into groups, until it is not. */
static void set_items_in_parts(Folding *s, Work w)
{
	if (s->item.n > PM_FOLD_MOST)
		set_slots(s, w);
	while (s->item.n > PM_FOLD_MOST) {
		uint32_t *cross = crossings(s, w);

		make_parts(s, w, cross);
		free(cross);
	}
	set_items(s->f, w.group, s->item.v, s->item.n);
}

/* ---- scopes ---- */

/* Names of exporters are paths with '/'; where they have none, with '.'. A leading '/' is no scope. */
static void next_scope(Entry *e)
{
	const char *end;

	while (*e->rest == '/' || *e->rest == '.')
		e->rest++;
	end = strchr(e->rest, '/');
	if (!end)
		end = strchr(e->rest, '.');
	e->len = end && end[strspn(end, "/.")] ? (size_t)(end - e->rest) : 0;
}

/* By scope; those without one first; by place. */
static int by_scope(const void *a, const void *b)
{
	const Entry *x = a, *y = b;
	size_t least = x->len < y->len ? x->len : y->len;
	int d = memcmp(x->rest, y->rest, least);

	if (d)
		return d;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static int same_scope(const Entry *a, const Entry *b)
{
	return a->len == b->len && !memcmp(a->rest, b->rest, a->len);
}

static void use_up(Entry *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		e[i].rest += e[i].len;
		next_scope(&e[i]);
	}
}

/* Where an item begins, for sorting. */
typedef struct Start {
	PmFoldItem item;
	uint32_t place;
} Start;

static int by_start(const void *a, const void *b)
{
	const Start *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

/* Groups of the scopes of work w, whose entries are sorted by them, and nodes without one. */
static void scope_items(Folding *s, Work w)
{
	PM_VEC(Start) start = { 0 };
	size_t j;

	for (size_t i = w.from; i < w.to; i = j) {
		const Entry *e = &s->entry[i];

		for (j = i + 1; j < w.to && e->len && same_scope(e, &s->entry[j]); j++)
			;
		if (j - i == 1) {
			PM_VEC_PUSH(&start, ((Start){ { e->place, 0 }, e->place }));
		} else {
			uint32_t group = new_group(s->f, w.group, e->rest, e->len, j - i);

			PM_VEC_PUSH(&start, ((Start){ { group, 1 }, e->place }));
			s->f->group.v[group].first = i; /* of its entries, until it has items */
			use_up(s->entry + i, j - i);
			PM_VEC_PUSH(&s->work, ((Work){ group, i, j }));
		}
	}
	qsort(start.v, start.n, sizeof *start.v, by_start);
	s->item.n = 0;
	for (size_t i = 0; i < start.n; i++)
		PM_VEC_PUSH(&s->item, start.v[i].item);
	PM_VEC_RELEASE(&start);
}

/* A scope that all nodes share makes no level. */
static void skip_common(Folding *s, Work w)
{
	size_t i;

	for (;;) {
		for (i = w.from; i < w.to; i++) {
			if (!s->entry[i].len || !same_scope(&s->entry[w.from], &s->entry[i]))
				return;
		}
		use_up(s->entry + w.from, w.to - w.from);
	}
}

static int by_place(const void *a, const void *b)
{
	const Entry *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

/* The first level around nodes that stand alone: each run of others is a group. */
static void items_around(Folding *s, Work w, const unsigned char *alone)
{
	size_t j;

	s->item.n = 0;
	for (size_t i = w.from; i < w.to; i = j) {
		uint32_t group;

		for (j = i + 1; j < w.to && !alone[i] && !alone[j]; j++)
			;
		if (j - i == 1) {
			PM_VEC_PUSH(&s->item, ((PmFoldItem){ (uint32_t)i, 0 }));
			continue;
		}
		group = new_group(s->f, w.group, "unchanged", strlen("unchanged"), j - i);
		s->f->group.v[group].first = i;
		PM_VEC_PUSH(&s->item, ((PmFoldItem){ group, 1 }));
		PM_VEC_PUSH(&s->work, ((Work){ group, i, j }));
	}
}

static void make_group(Folding *s, Work w, int flat)
{
	if (flat || w.to - w.from <= PM_FOLD_PART || (!w.group && w.to - w.from <= PM_FOLD_ALL)) {
		qsort(s->entry + w.from, w.to - w.from, sizeof *s->entry, by_place);
		s->item.n = 0;
		for (size_t i = w.from; i < w.to; i++)
			PM_VEC_PUSH(&s->item, ((PmFoldItem){ s->entry[i].place, 0 }));
	} else {
		skip_common(s, w);
		qsort(s->entry + w.from, w.to - w.from, sizeof *s->entry, by_scope);
		scope_items(s, w);
	}
	if (flat || (!w.group && s->item.n <= PM_FOLD_ALL))
		set_items(s->f, w.group, s->item.v, s->item.n);
	else
		set_items_in_parts(s, w);
}

static PmStatus fold(const PmGraph *g, int flat, const PmFoldMarks *marks, PmFold *f, PmErr *err)
{
	Folding s = { .f = f };
	size_t n = pm_graph_n_nodes(g), first = 0;
	PmStatus st;

	memset(f, 0, sizeof *f);
	f->g = g;
	f->n_nodes = n;
	f->kind = marks ? marks->kind : NULL;
	f->place = pm_xcalloc(pm_graph_node_limit(g) + 1, sizeof *f->place);
	f->of = pm_xcalloc(n + 1, sizeof *f->of);
	f->at = pm_xcalloc(n + 1, sizeof *f->at);
	s.entry = pm_xcalloc(n + 1, sizeof *s.entry);
	s.slot = pm_xcalloc(n + 1, sizeof *s.slot);
	s.stamp = pm_xcalloc(n + 1, sizeof *s.stamp);
	for (size_t i = 0; i < n; i++) {
		PmNode node = pm_graph_node_at(g, i);

		f->place[node.id] = (uint32_t)i;
		s.entry[i] = (Entry){ pm_node_name(g, node), (uint32_t)i, 0 };
		next_scope(&s.entry[i]);
	}
	new_group(f, PM_FOLD_NONE, pm_graph_name(g), strlen(pm_graph_name(g)), n);
	PM_VEC_PUSH(&s.work, ((Work){ 0, 0, n }));
	if (marks && marks->alone && n > PM_FOLD_ALL) {
		items_around(&s, s.work.v[first++], marks->alone);
		set_items(f, 0, s.item.v, s.item.n);
	}
	for (size_t i = first; i < s.work.n; i++)
		make_group(&s, s.work.v[i], flat);
	free(s.entry);
	free(s.slot);
	free(s.stamp);
	PM_VEC_RELEASE(&s.work);
	PM_VEC_RELEASE(&s.item);
	st = pm__fold_same(f, err);
	f->kind = NULL;
	return st;
}

PmStatus pm_fold(const PmGraph *g, int flat, PmFold *f, PmErr *err)
{
	return fold(g, flat, NULL, f, err);
}

PmStatus pm_fold_marked(const PmGraph *g, const PmFoldMarks *marks, PmFold *f, PmErr *err)
{
	return fold(g, 0, marks, f, err);
}

void pm_fold_release(PmFold *f)
{
	for (size_t i = 0; i < f->group.n; i++)
		free(f->group.v[i].name);
	free(f->place);
	free(f->of);
	free(f->at);
	PM_VEC_RELEASE(&f->group);
	PM_VEC_RELEASE(&f->item);
}

/* ---- reading ---- */

uint32_t pm_fold_item_of(const PmFold *f, uint32_t within, uint32_t place)
{
	uint32_t group = f->of[place], at = f->at[place];

	while (group != within && group) {
		at = f->group.v[group].at;
		group = f->group.v[group].parent;
	}
	return group == within ? at : PM_FOLD_NONE;
}

void pm_fold_places(const PmFold *f, uint32_t group, PmPlaces *out)
{
	PmPlaces todo = { 0 };

	PM_VEC_PUSH(&todo, group);
	while (todo.n) {
		const PmFoldGroup *g = &f->group.v[todo.v[--todo.n]];

		for (size_t i = 0; i < g->n; i++) {
			const PmFoldItem *item = &f->item.v[g->first + i];

			if (item->is_group)
				PM_VEC_PUSH(&todo, item->id);
			else
				PM_VEC_PUSH(out, item->id);
		}
	}
	PM_VEC_RELEASE(&todo);
}
