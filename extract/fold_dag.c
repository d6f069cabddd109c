/* SPDX-License-Identifier: Apache-2.0 */
/* fold_dag.c - folding of graphs: joins the most frequent pairs of groups, round by round. */
#include "extract/fold_dag.h"

#include "base/core/hash.h"
#include "base/core/vec.h"

#include <stdlib.h>
#include <string.h>

/* An edge between nodes of different groups. */
typedef struct Edge {
	uint32_t from, to;
	uint16_t operand, slot;
} Edge;

/* All edges between two groups, as one. */
typedef struct Pair {
	uint32_t u, v; /* groups, u is read */
	uint32_t kind; /* its place in Fold.kinds, UINT32_MAX when it may not be joined */
	uint64_t key;
	int anchor; /* the reading node is a contraction */
} Pair;

typedef struct Kind {
	uint64_t key;
	uint32_t count, n_u, n_v; /* pairs, and different groups on either side */
	uint32_t first;           /* its pairs: Fold.sorted[first] and on */
	int anchor;
} Kind;

typedef struct Fold {
	size_t n, max;
	uint32_t support;
	const uint8_t *flags;
	/* by node */
	uint32_t *group, *pos, *next;
	/* by group, which is named by its first node */
	uint32_t *size, *last;
	uint64_t *symbol;
	uint32_t *readers, *reads; /* number of groups */
	uint32_t *stamp;
	uint32_t *count; /* for sorting */
	Edge *edge, *spare;
	size_t n_edges;
	PM_VEC(Pair) pairs;
	PM_VEC(Kind) kinds;
	PM_VEC(uint32_t) sorted; /* pairs, by kind */
	uint32_t *table;         /* open addressing: 1 + place in kinds */
	size_t table_size;
	uint32_t epoch;
} Fold;

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* ---- one round: pairs ---- */

static void sort_by_group(Fold *f, const Edge *in, Edge *out, int reader)
{
	size_t i;

	memset(f->count, 0, (f->n + 1) * sizeof *f->count);
	for (i = 0; i < f->n_edges; i++)
		f->count[f->group[reader ? in[i].to : in[i].from] + 1]++;
	for (i = 0; i < f->n; i++)
		f->count[i + 1] += f->count[i];
	for (i = 0; i < f->n_edges; i++)
		out[f->count[f->group[reader ? in[i].to : in[i].from]]++] = in[i];
}

/* Drops the edges inside groups and puts the others in order of reading, then read group. */
static void sort_edges(Fold *f)
{
	size_t i, m = 0;

	for (i = 0; i < f->n_edges; i++) {
		if (f->group[f->edge[i].from] != f->group[f->edge[i].to])
			f->edge[m++] = f->edge[i];
	}
	f->n_edges = m;
	sort_by_group(f, f->edge, f->spare, 0);
	sort_by_group(f, f->spare, f->edge, 1);
}

/* The hash of a set of edges between two groups, whatever order they come in. */
static uint64_t edges_key(const Fold *f, const Edge *e, size_t n)
{
	uint64_t sum = n;
	size_t i;

	for (i = 0; i < n; i++)
		sum += mix(mix(f->pos[e[i].from], f->pos[e[i].to]), (uint64_t)e[i].operand << 16 | e[i].slot);
	return sum;
}

static int has_anchor(const Fold *f, const Edge *e, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (f->flags[e[i].to] & PM_SKEL_ANCHOR)
			return 1;
	}
	return 0;
}

/* A node that stays alone is a group of one node for ever. */
static int may_fold(const Fold *f, uint32_t group)
{
	return !(f->flags[group] & PM_SKEL_BARRIER);
}

static void find_pairs(Fold *f)
{
	size_t i, j;

	f->pairs.n = 0;
	memset(f->readers, 0, f->n * sizeof *f->readers);
	memset(f->reads, 0, f->n * sizeof *f->reads);
	for (i = 0; i < f->n_edges; i = j) {
		uint32_t u = f->group[f->edge[i].from], v = f->group[f->edge[i].to];
		Pair p = { u, v, UINT32_MAX, 0, 0 };

		for (j = i + 1;
		     j < f->n_edges && f->group[f->edge[j].from] == u && f->group[f->edge[j].to] == v; j++)
			continue;
		f->readers[u]++;
		f->reads[v]++;
		if (!may_fold(f, u) || !may_fold(f, v) || f->size[u] + f->size[v] > f->max)
			continue;
		p.anchor = has_anchor(f, f->edge + i, j - i);
		p.key = mix(mix(f->symbol[u], f->symbol[v]), edges_key(f, f->edge + i, j - i));
		PM_VEC_PUSH(&f->pairs, p);
	}
}

/* ---- one round: kinds of pairs ---- */

static uint32_t kind_of(Fold *f, const Pair *p)
{
	size_t at = p->key & (f->table_size - 1);
	Kind fresh = { p->key, 0, 0, 0, 0, p->anchor };

	for (; f->table[at]; at = (at + 1) & (f->table_size - 1)) {
		if (f->kinds.v[f->table[at] - 1].key == p->key)
			return f->table[at] - 1;
	}
	PM_VEC_PUSH(&f->kinds, fresh);
	f->table[at] = (uint32_t)f->kinds.n;
	return (uint32_t)f->kinds.n - 1;
}

/* How many different groups the pairs of each kind have on either side: a group read by a thousand others can
 * be joined with one of them only. */
static void count_sides(Fold *f)
{
	size_t k, i;
	int side;

	for (side = 0; side < 2; side++) {
		for (k = 0; k < f->kinds.n; k++) {
			Kind *kind = &f->kinds.v[k];
			uint32_t *n = side ? &kind->n_v : &kind->n_u;

			f->epoch++;
			for (i = kind->first; i < kind->first + kind->count; i++) {
				const Pair *p = &f->pairs.v[f->sorted.v[i]];
				uint32_t group = side ? p->v : p->u;

				*n += f->stamp[group] != f->epoch;
				f->stamp[group] = f->epoch;
			}
		}
	}
}

/* Gathers the pairs that may be joined by kind. */
static void find_kinds(Fold *f)
{
	size_t i, k, at = 0;

	f->kinds.n = 0;
	memset(f->table, 0, f->table_size * sizeof *f->table);
	for (i = 0; i < f->pairs.n; i++) {
		Pair *p = &f->pairs.v[i];

		if (f->readers[p->u] != 1 && f->reads[p->v] != 1)
			continue;
		p->kind = kind_of(f, p);
		f->kinds.v[p->kind].count++;
	}
	for (k = 0; k < f->kinds.n; k++) {
		f->kinds.v[k].first = (uint32_t)at;
		at += f->kinds.v[k].count;
		f->kinds.v[k].count = 0;
	}
	PM_VEC_RESERVE(&f->sorted, at);
	for (i = 0; i < f->pairs.n; i++) {
		Kind *kind = f->pairs.v[i].kind == UINT32_MAX ? NULL : &f->kinds.v[f->pairs.v[i].kind];

		if (kind)
			f->sorted.v[kind->first + kind->count++] = (uint32_t)i;
	}
	count_sides(f);
}

static uint32_t support(const Kind *k)
{
	return k->n_u < k->n_v ? k->n_u : k->n_v;
}

static uint64_t weight(const Kind *k)
{
	return (uint64_t)support(k) * (k->anchor ? 1 : 4);
}

/* Heaviest first; by key among equals, so that the order of graphs does not matter. */
static int by_weight(const void *a, const void *b)
{
	const Kind *x = a, *y = b;

	if (weight(x) != weight(y))
		return weight(x) > weight(y) ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

/* Puts the kinds that weigh at least half of the heaviest to the front, in order; returns how many. */
static size_t choose_kinds(Fold *f)
{
	uint64_t best = 0;
	size_t k, m = 0;

	for (k = 0; k < f->kinds.n; k++) {
		if (support(&f->kinds.v[k]) >= f->support && weight(&f->kinds.v[k]) > best)
			best = weight(&f->kinds.v[k]);
	}
	for (k = 0; k < f->kinds.n; k++) {
		if (support(&f->kinds.v[k]) >= f->support && 2 * weight(&f->kinds.v[k]) >= best)
			f->kinds.v[m++] = f->kinds.v[k];
	}
	if (m)
		qsort(f->kinds.v, m, sizeof *f->kinds.v, by_weight);
	return m;
}

/* ---- one round: joining ---- */

static void join(Fold *f, uint32_t u, uint32_t v, uint64_t symbol)
{
	uint32_t i, shift = f->size[u];

	for (i = v;; i = f->next[i]) {
		f->group[i] = u;
		f->pos[i] += shift;
		if (i == f->last[v])
			break;
	}
	f->next[f->last[u]] = v;
	f->last[u] = f->last[v];
	f->size[u] += f->size[v];
	f->size[v] = 0;
	f->symbol[u] = symbol;
}

/* Joins what does not touch what was joined in this round; returns how many pairs. */
static size_t join_kind(Fold *f, const Kind *k)
{
	size_t i, joined = 0;

	for (i = k->first; i < k->first + k->count; i++) {
		const Pair *p = &f->pairs.v[f->sorted.v[i]];

		if (f->stamp[p->u] == f->epoch || f->stamp[p->v] == f->epoch)
			continue;
		f->stamp[p->u] = f->stamp[p->v] = f->epoch;
		join(f, p->u, p->v, p->key);
		joined++;
	}
	return joined;
}

static size_t one_round(Fold *f)
{
	size_t i, n, joined = 0;

	sort_edges(f);
	find_pairs(f);
	find_kinds(f);
	n = choose_kinds(f);
	f->epoch++;
	for (i = 0; i < n; i++)
		joined += join_kind(f, &f->kinds.v[i]);
	return joined;
}

/* ---- all graphs as one ---- */

typedef struct Order {
	uint64_t hash;
	uint32_t graph;
} Order;

static int by_hash(const void *a, const void *b)
{
	const Order *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->graph > y->graph) - (x->graph < y->graph);
}

/* Gives each graph the number of its structure and lists one graph of each in `of`. */
static size_t find_structures(const PmSkeleton *const *s, size_t n, uint32_t *structure, uint32_t *of)
{
	Order *order = pm_xcalloc(n + 1, sizeof *order);
	size_t i, j, m = 0;

	for (i = 0; i < n; i++)
		order[i] = (Order){ pm_skeleton_hash(s[i]), (uint32_t)i };
	qsort(order, n, sizeof *order, by_hash);
	for (i = 0; i < n; i++) {
		uint32_t g = order[i].graph;

		structure[g] = UINT32_MAX;
		for (j = i; j-- > 0 && order[j].hash == order[i].hash && structure[g] == UINT32_MAX;) {
			if (pm_skeleton_same(s[g], s[order[j].graph]))
				structure[g] = structure[order[j].graph];
		}
		if (structure[g] != UINT32_MAX)
			continue;
		of[m] = g;
		structure[g] = (uint32_t)m++;
	}
	free(order);
	return m;
}

static void fold_init(Fold *f, const PmSkeleton *const *s, const uint32_t *of, size_t n, uint8_t *flags)
{
	size_t i, k, e, at = 0;

	f->flags = flags;
	for (i = 0; i < n; i++) {
		const PmSkeleton *g = s[of[i]];

		for (k = 0; k < g->n; k++) {
			uint32_t id = (uint32_t)(at + k);

			f->group[id] = f->last[id] = id;
			f->size[id] = 1;
			flags[id] = g->flags[k];
			f->symbol[id] = mix(g->label[k], g->flags[k]);
			for (e = g->first[k]; e < g->first[k + 1]; e++)
				f->edge[f->n_edges++] = (Edge){ (uint32_t)(at + g->edge[e].from), id,
								g->edge[e].operand, g->edge[e].slot };
		}
		at += g->n;
	}
}

static void fold_allocate(Fold *f, size_t n, size_t n_edges)
{
	f->n = n;
	f->group = pm_xcalloc(n + 1, sizeof *f->group);
	f->pos = pm_xcalloc(n + 1, sizeof *f->pos);
	f->next = pm_xcalloc(n + 1, sizeof *f->next);
	f->size = pm_xcalloc(n + 1, sizeof *f->size);
	f->last = pm_xcalloc(n + 1, sizeof *f->last);
	f->symbol = pm_xcalloc(n + 1, sizeof *f->symbol);
	f->readers = pm_xcalloc(n + 1, sizeof *f->readers);
	f->reads = pm_xcalloc(n + 1, sizeof *f->reads);
	f->stamp = pm_xcalloc(n + 1, sizeof *f->stamp);
	f->count = pm_xcalloc(n + 2, sizeof *f->count);
	f->edge = pm_xcalloc(n_edges + 1, sizeof *f->edge);
	f->spare = pm_xcalloc(n_edges + 1, sizeof *f->spare);
	for (f->table_size = 64; f->table_size < 2 * n_edges + 2; f->table_size *= 2)
		continue;
	f->table = pm_xcalloc(f->table_size, sizeof *f->table);
}

static void fold_release(Fold *f)
{
	free(f->group);
	free(f->pos);
	free(f->next);
	free(f->size);
	free(f->last);
	free(f->symbol);
	free(f->readers);
	free(f->reads);
	free(f->stamp);
	free(f->count);
	free(f->edge);
	free(f->spare);
	free(f->table);
	PM_VEC_RELEASE(&f->pairs);
	PM_VEC_RELEASE(&f->kinds);
	PM_VEC_RELEASE(&f->sorted);
}

static int by_symbol(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t count_symbols(const PmMotif *m, size_t n)
{
	uint64_t *v = pm_xcalloc(n + 1, sizeof *v);
	size_t i, different = n > 0;

	for (i = 0; i < n; i++)
		v[i] = m[i].symbol;
	qsort(v, n, sizeof *v, by_symbol);
	for (i = 1; i < n; i++)
		different += v[i] != v[i - 1];
	free(v);
	return different;
}

static void deliver(const Fold *f, const PmSkeleton *const *s, const uint32_t *of, size_t min, PmFoldDag *out)
{
	size_t i, k, base = 0, at = 0, m = 0;

	for (i = 0; i < f->n; i++)
		m += f->size[i] >= min;
	out->start = pm_xcalloc(out->n_structures + 1, sizeof *out->start);
	out->motif = pm_xcalloc(m + 1, sizeof *out->motif);
	out->node = pm_xcalloc(f->n + 1, sizeof *out->node);
	m = 0;
	for (i = 0; i < out->n_structures; i++) {
		out->start[i] = m;
		for (k = base; k < base + s[of[i]]->n; k++) {
			uint32_t j = (uint32_t)k, left = f->size[k];

			if (left < min)
				continue;
			out->motif[m++] = (PmMotif){ (uint32_t)at, left, f->symbol[k] };
			for (; left; left--, j = f->next[j])
				out->node[at++] = (uint32_t)(j - base);
		}
		base += s[of[i]]->n;
	}
	out->start[i] = m;
	out->n_symbols = count_symbols(out->motif, m);
}

void pm_fold_dag(const PmSkeleton *const *s, size_t n, const PmFoldDagOpts *opts, PmFoldDag *out)
{
	uint32_t *of = pm_xcalloc(n + 1, sizeof *of);
	size_t i, nodes = 0, edges = 0;
	uint8_t *flags;
	Fold f;

	memset(out, 0, sizeof *out);
	memset(&f, 0, sizeof f);
	out->n_graphs = n;
	out->structure = pm_xcalloc(n + 1, sizeof *out->structure);
	out->n_structures = find_structures(s, n, out->structure, of);
	for (i = 0; i < out->n_structures; i++) {
		nodes += s[of[i]]->n;
		edges += s[of[i]]->n_edges;
	}
	flags = pm_xcalloc(nodes + 1, 1);
	fold_allocate(&f, nodes, edges);
	f.max = opts && opts->max_nodes ? opts->max_nodes : 62;
	f.support = (uint32_t)(opts && opts->min_support ? opts->min_support : 2);
	fold_init(&f, s, of, out->n_structures, flags);
	while (one_round(&f))
		out->rounds++;
	deliver(&f, s, of, opts && opts->min_nodes ? opts->min_nodes : 4, out);
	fold_release(&f);
	free(flags);
	free(of);
}

void pm_fold_dag_release(PmFoldDag *f)
{
	free(f->structure);
	free(f->start);
	free(f->motif);
	free(f->node);
	memset(f, 0, sizeof *f);
}

void pm_fold_dag_sets(const PmFoldDag *f, size_t i, const PmSkeleton *s, PmNodeSets *out)
{
	size_t from = f->start[f->structure[i]], to = f->start[f->structure[i] + 1], k, j, at = 0;

	out->n = to - from;
	out->start = pm_xcalloc(out->n + 1, sizeof *out->start);
	out->nodes = pm_xcalloc(s->n + 1, sizeof *out->nodes);
	for (k = from; k < to; k++) {
		out->start[k - from] = at;
		for (j = 0; j < f->motif[k].size; j++)
			out->nodes[at++] = s->node[f->node[f->motif[k].first + j]];
	}
	out->start[out->n] = at;
}
