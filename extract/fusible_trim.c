/* SPDX-License-Identifier: Apache-2.0 */
/* fusible_trim.c - the sets that grown groups give: views at their ends are taken off, parts that hang
 * together are looked at one by one, and what one kernel does already is left out.
 */
#include "extract/fusible_priv.h"

#include <stdlib.h>
#include <string.h>

static int by_dim(const void *a, const void *b)
{
	PmDim x = *(const PmDim *)a, y = *(const PmDim *)b;

	return (x > y) - (x < y);
}

/* Product of the constant dimensions, and the symbols, sorted. */
static int64_t volume(const PmType *t, PmDim symbol[PM_MAX_RANK], int *n)
{
	int64_t p = 1;
	int i;

	*n = 0;
	for (i = 0; i < t->rank; i++) {
		if (t->dim[i] < 0)
			symbol[(*n)++] = t->dim[i];
		else if (!pm_mul_i64(p, t->dim[i], &p))
			return -1;
	}
	qsort(symbol, (size_t)*n, sizeof *symbol, by_dim);
	return p;
}

/* 1 for a view of all elements of a floating point value. */
static int only_relabels(const PmGraph *g, PmNode n)
{
	const PmType *in = pm_value_type(g, pm_node_in(g, n, 0));
	const PmType *out = pm_value_type(g, pm_node_out(g, n, 0));
	PmDim a[PM_MAX_RANK], b[PM_MAX_RANK];
	int na, nb;

	if (!(pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_VIEW) || !pm_dtype_is_float(in->dtype))
		return 0;
	if (volume(in, a, &na) != volume(out, b, &nb) || na != nb)
		return 0;
	return memcmp(a, b, (size_t)na * sizeof *a) == 0;
}

typedef struct Set {
	PmNode *v;
	size_t n;
	uint32_t *reads, *read_by; /* edges inside the set */
	uint32_t *root;            /* union-find */
	char *copied;              /* a view of the set reads it and must copy */
} Set;

static uint32_t root_of(Set *s, uint32_t i)
{
	while (s->root[i] != i) {
		s->root[i] = s->root[s->root[i]];
		i = s->root[i];
	}
	return i;
}

/* Counts the edges inside the set and finds its connected parts. */
static void edges(Grow *w, Set *s)
{
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		w->local[s->v[i].id] = (uint32_t)i + 1;
		s->reads[i] = s->read_by[i] = 0;
		s->root[i] = (uint32_t)i;
	}
	for (i = 0; i < s->n; i++) {
		for (k = 0; k < pm_node_n_in(w->g, s->v[i]); k++) {
			PmNode def = pm_value_def(w->g, pm_node_in(w->g, s->v[i], k), NULL);
			uint32_t from = def.id ? w->local[def.id] : 0;

			if (!from)
				continue;
			s->reads[i]++;
			s->read_by[from - 1]++;
			s->root[root_of(s, (uint32_t)i)] = root_of(s, from - 1);
		}
	}
	for (i = 0; i < s->n; i++)
		w->local[s->v[i].id] = 0;
}

/* Finds the nodes that a view of the set reads and must copy: what makes it copy is the layout of what it
 * reads, such as that of a Transpose. */
static void mark_copied(Grow *w, Set *s)
{
	size_t i;

	memset(s->copied, 0, s->n);
	for (i = 0; i < s->n; i++)
		w->local[s->v[i].id] = (uint32_t)i + 1;
	for (i = 0; i < s->n; i++) {
		PmNode def = pm_value_def(w->g, pm_node_in(w->g, s->v[i], 0), NULL);

		if (def.id && w->local[def.id] && only_relabels(w->g, s->v[i]) &&
		    pm_fusible_launches(w->g, w->launches, s->v[i]))
			s->copied[w->local[def.id] - 1] = 1;
	}
	for (i = 0; i < s->n; i++)
		w->local[s->v[i].id] = 0;
}

/* A view at an end costs nothing where it is. One that must copy what the set makes is work that a kernel of
 * the set could save; at the beginning it copies for a reason outside the set, and is free when cut out. */
static int is_loose(const Grow *w, const Set *s, size_t i)
{
	if ((s->reads[i] && s->read_by[i]) || !only_relabels(w->g, s->v[i]))
		return 0;
	if (pm_fusible_launches(w->g, w->launches, s->v[i]))
		return !s->reads[i];
	return !s->copied[i];
}

/* Taking a first or last node away leaves a convex set convex. */
static void trim(Grow *w, Set *s)
{
	size_t i, n;

	do {
		edges(w, s);
		mark_copied(w, s);
		n = 0;
		for (i = 0; i < s->n; i++) {
			if (!is_loose(w, s, i))
				s->v[n++] = s->v[i];
		}
		i = s->n;
		s->n = n;
	} while (n != i);
}

/* One kernel cannot become fewer, and what has no floating point result is no work for a kernel. */
static int worth_it(const Grow *w, const PmNode *v, size_t n)
{
	size_t i, launches = 0;
	int has_float = 0;

	for (i = 0; i < n; i++) {
		launches += pm_fusible_launches(w->g, w->launches, v[i]);
		has_float |= pm_dtype_is_float(pm_value_type(w->g, pm_node_out(w->g, v[i], 0))->dtype);
	}
	return launches >= w->min_launches && has_float;
}

/* Emits the connected parts of a trimmed group (parts of a convex set are convex). */
static void emit(Grow *w, Set *s)
{
	size_t i, j;

	for (i = 0; i < s->n; i++) {
		size_t first = w->nodes.n;
		uint32_t part = root_of(s, (uint32_t)i);

		for (j = 0; j < i && root_of(s, (uint32_t)j) != part; j++)
			continue;
		if (j < i)
			continue; /* emitted already */
		for (; j < s->n; j++) {
			if (root_of(s, (uint32_t)j) == part)
				PM_VEC_PUSH(&w->nodes, s->v[j]);
		}
		if (w->nodes.n - first < w->min_nodes || !worth_it(w, w->nodes.v + first, w->nodes.n - first))
			w->nodes.n = first;
		else
			PM_VEC_PUSH(&w->start, first);
	}
}

/* Node ids by group, in execution order. */
static PmNode *by_group(Grow *w, size_t **start)
{
	size_t i, n = pm_graph_n_nodes(w->g);
	size_t *at = pm_xcalloc(w->groups.n + 2, sizeof *at);
	PmNode *v = pm_xcalloc(n + 1, sizeof *v);

	for (i = 0; i < w->groups.n; i++)
		at[i + 2] = at[i + 1] + w->groups.v[i].size;
	for (i = 0; i < n; i++) {
		PmNode node = pm_graph_node_at(w->g, i);

		if (w->group_of[node.id]) /* else nothing depends on it */
			v[at[pm__group_root(w, w->group_of[node.id] - 1) + 1]++] = node;
	}
	*start = at; /* filling moved each start to the next one: at[k] is the start of group k */
	return v;
}

static int by_key(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Moves the sets into *out, ordered by the place of their first node. */
static void deliver(Grow *w, PmNodeSets *out)
{
	size_t i, n = w->start.n, at = 0;
	uint32_t *place = w->local; /* all zero by now */
	uint64_t(*key)[2] = pm_xcalloc(n + 1, sizeof *key);

	for (i = 0; i < pm_graph_n_nodes(w->g); i++)
		place[pm_graph_node_at(w->g, i).id] = (uint32_t)i;
	for (i = 0; i < n; i++) {
		key[i][0] = place[w->nodes.v[w->start.v[i]].id];
		key[i][1] = i;
	}
	qsort(key, n, sizeof *key, by_key);
	PM_VEC_PUSH(&w->start, w->nodes.n);
	out->n = n;
	out->nodes = pm_xcalloc(w->nodes.n + 1, sizeof *out->nodes);
	out->start = pm_xcalloc(n + 1, sizeof *out->start);
	for (i = 0; i < n; i++) {
		size_t from = w->start.v[key[i][1]], len = w->start.v[key[i][1] + 1] - from;

		out->start[i] = at;
		memcpy(out->nodes + at, w->nodes.v + from, len * sizeof *out->nodes);
		at += len;
	}
	out->start[n] = at;
	free(key);
}

/* The set that all readers of a view belong to, 0 when there is no such set. */
static uint32_t only_reader(const PmGraph *g, const uint32_t *set_of, PmNode view)
{
	PmValue v = pm_node_out(g, view, 0);
	uint32_t set = 0;
	PmUse u;

	if (pm_value_is_output(g, v))
		return 0;
	for (u = pm_value_first_use(g, v); u.node.id; u = pm_use_next(g, u)) {
		uint32_t other = set_of[u.node.id];

		if (!other || (set && other != set))
			return 0;
		set = other;
	}
	return set;
}

/* Counts the views at the ends of the sets: what a set makes seen otherwise, and what only it reads. */
static size_t count_ends(const Grow *w, const PmNodeSets *s)
{
	uint32_t *set_of = w->group_of; /* not needed any more */
	size_t i, j, n = pm_graph_n_nodes(w->g), ends = 0;

	memset(set_of, 0, ((size_t)pm_graph_node_limit(w->g) + 1) * sizeof *set_of);
	for (i = 0; i < s->n; i++)
		for (j = s->start[i]; j < s->start[i + 1]; j++)
			set_of[s->nodes[j].id] = (uint32_t)i + 1;
	for (i = 0; i < 2 * n; i++) { /* forward, then backward */
		PmNode node = pm_graph_node_at(w->g, i < n ? i : 2 * n - 1 - i), def;

		if (set_of[node.id] || !only_relabels(w->g, node) ||
		    pm_fusible_launches(w->g, w->launches, node))
			continue;
		def = pm_value_def(w->g, pm_node_in(w->g, node, 0), NULL);
		set_of[node.id] = i >= n ? only_reader(w->g, set_of, node) : def.id ? set_of[def.id] : 0;
		ends += set_of[node.id] != 0;
	}
	return ends;
}

void pm__fusible_finish(Grow *w, PmNodeSets *out)
{
	size_t *start, i;
	PmNode *v = by_group(w, &start);
	size_t cap = w->max_nodes + 1;
	Set s = { NULL,
		  0,
		  pm_xcalloc(cap, sizeof *s.reads),
		  pm_xcalloc(cap, sizeof *s.read_by),
		  pm_xcalloc(cap, sizeof *s.root),
		  pm_xcalloc(cap, 1) };

	for (i = 0; i < w->groups.n; i++) {
		if (!w->groups.v[i].open)
			continue;
		s.v = v + start[i];
		s.n = w->groups.v[i].size;
		if (w->keep_ends)
			edges(w, &s);
		else
			trim(w, &s);
		emit(w, &s);
	}
	free(s.reads);
	free(s.read_by);
	free(s.root);
	free(s.copied);
	free(start);
	free(v);
	deliver(w, out);
	out->n_ends = count_ends(w, out);
}

uint32_t pm__group_root(Grow *w, uint32_t id)
{
	while (w->groups.v[id].into != id) {
		w->groups.v[id].into = w->groups.v[w->groups.v[id].into].into;
		id = w->groups.v[id].into;
	}
	return id;
}
