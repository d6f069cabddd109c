/* fusible.c - grows fusible sets of nodes.
 *
 * Nodes are visited in canonical order (extract/skeleton.h), so that storage does not matter. A contraction
 * opens a group; any other fusible node joins the group of one of its producers when that is safe, else it
 * opens a group too. Each group has a level, and every edge between two groups goes strictly upwards, so no
 * cycle through groups can arise and each group is convex. A group that no other group reads yet can be
 * lifted; so a node may join group g when each of its other producers' groups
 *   - is below g, or can be below g because g can be lifted, or
 *   - is read by nothing but this node, and then becomes one with g.
 */
#include "extract/fusible.h"

#include "base/vec.h"
#include "extract/skeleton.h"

#include <stdlib.h>
#include <string.h>

typedef struct Group {
	uint32_t size, level;
	uint8_t open;     /* nodes may join */
	uint8_t anchored; /* begins with a contraction */
	uint8_t consumed; /* a node of another group reads it */
	uint32_t into;    /* the group it became one with; itself at first */
} Group;

enum { MANY = 16 }; /* a node that reads more groups than this opens one */

typedef struct Grow {
	const PmGraph *g;
	size_t min_nodes, max_nodes, min_launches;
	const uint32_t *launches;
	int keep_ends;
	uint32_t *group_of; /* by node id: 1 + group */
	PM_VEC(Group) groups;
	PM_VEC(uint32_t) stamp;     /* by group: 1 + node place that saw it last */
	PM_VEC(uint32_t) producers; /* groups that the node at hand reads */
	PM_VEC(PmNode) nodes;       /* result */
	PM_VEC(size_t) start;
	uint32_t *local; /* by node id, while trimming: 1 + place in the group */
} Grow;

void pm_node_sets_release(PmNodeSets *s)
{
	free(s->nodes);
	free(s->start);
	*s = (PmNodeSets){ NULL, NULL, 0 };
}

/* ---- what may be fused ---- */

static int known(const PmType *t)
{
	return t->dtype >= 0 && t->rank >= 0;
}

static int has_dim(const PmType *t, PmDim d)
{
	int i;

	for (i = 0; i < t->rank; i++) {
		if (t->dim[i] == d)
			return 1;
	}
	return 0;
}

/* Sizes that depend on data cannot be planned: every symbol of a result must be an operand's. */
static int symbols_given(const PmGraph *g, PmNode n, const PmType *t)
{
	size_t k;
	int i;

	for (i = 0; i < t->rank; i++) {
		if (t->dim[i] >= 0)
			continue;
		for (k = 0; k < pm_node_n_in(g, n); k++) {
			if (has_dim(pm_value_type(g, pm_node_in(g, n, k)), t->dim[i]))
				break;
		}
		if (k == pm_node_n_in(g, n))
			return 0;
	}
	return 1;
}

/* Operand 1 of these is a shape or a count; computed by other nodes, it cannot be planned either. */
static int sizes_given(const PmGraph *g, PmNode n, PmOp op)
{
	static const PmOp reads[] = { PM_OP_Reshape, PM_OP_Expand, PM_OP_Tile, PM_OP_TopK, PM_OP_OneHot };
	size_t i;

	for (i = 0; i < sizeof reads / sizeof reads[0]; i++) {
		if (reads[i] == op)
			return pm_value_is_const(g, pm_node_in(g, n, 1));
	}
	return 1;
}

int pm_fusible_node(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);
	uint32_t flags = pm_op_desc(op)->flags;
	size_t k;

	if (op == PM_OP_NONE ||
	    flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_SHAPE | PM_OPF_DATA | PM_OPF_RANDOM))
		return 0;
	if (!sizes_given(g, n, op))
		return 0;
	for (k = 0; k < pm_node_n_in(g, n); k++) {
		PmValue v = pm_node_in(g, n, k);

		if (v.id && !known(pm_value_type(g, v)))
			return 0;
	}
	for (k = 0; k < pm_node_n_out(g, n); k++) {
		const PmType *t = pm_value_type(g, pm_node_out(g, n, k));

		if (!known(t) || !symbols_given(g, n, t))
			return 0;
	}
	return 1;
}

/* ---- growing ---- */

static uint32_t group_root(Grow *w, uint32_t id)
{
	while (w->groups.v[id].into != id) {
		w->groups.v[id].into = w->groups.v[w->groups.v[id].into].into;
		id = w->groups.v[id].into;
	}
	return id;
}

static PmStatus collect_producers(Grow *w, PmNode at, uint32_t place, PmErr *err)
{
	size_t k;

	w->producers.n = 0;
	for (k = 0; k < pm_node_n_in(w->g, at); k++) {
		PmNode def = pm_value_def(w->g, pm_node_in(w->g, at, k), NULL);
		uint32_t grp;

		if (!def.id)
			continue;
		if (!w->group_of[def.id])
			return pm_err(err, PM_E_INVALID,
				      "Node %u of graph '%s' comes before a node it depends on; sort the "
				      "graph first.",
				      (unsigned)at.id, pm_graph_name(w->g));
		grp = group_root(w, w->group_of[def.id] - 1);
		if (w->stamp.v[grp] == place)
			continue;
		w->stamp.v[grp] = place;
		PM_VEC_PUSH(&w->producers, grp);
	}
	return PM_OK;
}

/* Whether group a is the better one to join; numbers are canonical, the order of operands need not be. */
static int better(const Grow *w, uint32_t a, uint32_t b)
{
	const Group *x = &w->groups.v[a], *y = &w->groups.v[b];

	if (x->level != y->level)
		return x->level > y->level;
	if (x->anchored != y->anchored)
		return x->anchored > y->anchored;
	return a < b;
}

/* Whether the node at hand can join group `into`. *level is what its level becomes; bit i of *merge is set
 * when producer i's group becomes one with it. */
static int can_join(const Grow *w, uint32_t into, uint32_t *level, uint32_t *merge)
{
	const Group *g = &w->groups.v[into];
	uint32_t size = g->size + 1;
	int anchored = g->anchored;
	size_t i;

	*level = g->level;
	*merge = 0;
	if (!g->open || size > w->max_nodes)
		return 0;
	for (i = 0; i < w->producers.n; i++) {
		const Group *h = &w->groups.v[w->producers.v[i]];

		if (h == g)
			continue;
		if (h->open && !h->consumed && !(anchored && h->anchored) && size + h->size <= w->max_nodes &&
		    (!g->consumed || h->level <= g->level)) {
			*merge |= (uint32_t)1 << i;
			size += h->size;
			anchored |= h->anchored;
			if (h->level > *level)
				*level = h->level;
		} else if (h->level >= *level) {
			*level = h->level + 1;
		}
	}
	return !g->consumed || *level == g->level;
}

/* The group that the node at hand joins, UINT32_MAX when there is none. */
static uint32_t choose(Grow *w)
{
	uint32_t best = UINT32_MAX, level = 0, merge = 0, l, m;
	Group *g;
	size_t i;

	if (w->producers.n > MANY)
		return UINT32_MAX;
	for (i = 0; i < w->producers.n; i++) {
		uint32_t id = w->producers.v[i];

		if (best != UINT32_MAX && !better(w, id, best))
			continue;
		if (!can_join(w, id, &l, &m))
			continue;
		best = id;
		level = l;
		merge = m;
	}
	if (best == UINT32_MAX)
		return best;
	g = &w->groups.v[best];
	g->level = level;
	for (i = 0; i < w->producers.n; i++) {
		Group *h = &w->groups.v[w->producers.v[i]];

		if (!(merge >> i & 1))
			continue;
		g->size += h->size;
		g->anchored |= h->anchored;
		h->size = 0;
		h->open = 0;
		h->into = best;
	}
	return best;
}

static PmStatus place_node(Grow *w, PmNode at, uint32_t place, PmErr *err)
{
	int fusible = pm_fusible_node(w->g, at);
	int anchor = fusible && (pm_op_desc(pm_node_op(w->g, at))->flags & PM_OPF_DOT) != 0;
	PmStatus st = collect_producers(w, at, place, err);
	uint32_t into = UINT32_MAX;
	size_t i;

	if (st)
		return st;
	if (fusible && !anchor)
		into = choose(w);
	if (into == UINT32_MAX) {
		Group fresh = { 0, 0, (uint8_t)fusible, (uint8_t)anchor, 0, 0 };

		for (i = 0; i < w->producers.n; i++) {
			uint32_t l = w->groups.v[w->producers.v[i]].level;

			if (l >= fresh.level)
				fresh.level = l + 1;
		}
		fresh.into = into = (uint32_t)w->groups.n;
		PM_VEC_PUSH(&w->groups, fresh);
		PM_VEC_PUSH(&w->stamp, 0);
	}
	w->groups.v[into].size++;
	w->group_of[at.id] = into + 1;
	for (i = 0; i < w->producers.n; i++) {
		uint32_t id = group_root(w, w->producers.v[i]);

		if (id != into)
			w->groups.v[id].consumed = 1;
	}
	return PM_OK;
}

/* ---- trimming ---- */

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

/* Taking a first or last node away leaves a convex set convex. */
static void trim(Grow *w, Set *s)
{
	size_t i, n;

	do {
		edges(w, s);
		n = 0;
		for (i = 0; i < s->n; i++) {
			if ((s->reads[i] && s->read_by[i]) || !only_relabels(w->g, s->v[i]))
				s->v[n++] = s->v[i];
		}
		i = s->n;
		s->n = n;
	} while (n != i);
}

uint32_t pm_fusible_launches(const PmGraph *g, const uint32_t *launches, PmNode n)
{
	return launches ? launches[n.id] : !(pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_VIEW);
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
			v[at[group_root(w, w->group_of[node.id] - 1) + 1]++] = node;
	}
	*start = at; /* filling moved each start to the next one: at[k] is the start of group k */
	return v;
}

static void finish(Grow *w)
{
	size_t *start, i;
	PmNode *v = by_group(w, &start);
	size_t cap = w->max_nodes + 1;
	Set s = { NULL, 0, pm_xcalloc(cap, sizeof *s.reads), pm_xcalloc(cap, sizeof *s.read_by),
		  pm_xcalloc(cap, sizeof *s.root) };

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
	free(start);
	free(v);
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

PmStatus pm_fusible_sets(const PmGraph *g, const PmFusibleOpts *opts, PmNodeSets *out, PmErr *err)
{
	size_t limit = (size_t)pm_graph_node_limit(g) + 1, i;
	PmSkeleton order;
	Grow w;
	PmStatus st;

	*out = (PmNodeSets){ NULL, NULL, 0 };
	st = pm_skeleton_make(g, &order, err);
	if (st)
		return st;
	memset(&w, 0, sizeof w);
	w.g = g;
	w.min_nodes = opts && opts->min_nodes ? opts->min_nodes : 2;
	w.max_nodes = opts && opts->max_nodes ? opts->max_nodes : 35;
	w.min_launches = opts && opts->min_launches ? opts->min_launches : 2;
	w.launches = opts ? opts->launches : NULL;
	w.keep_ends = opts && opts->keep_ends;
	w.group_of = pm_xcalloc(limit, sizeof *w.group_of);
	w.local = pm_xcalloc(limit, sizeof *w.local);
	for (i = 0; i < order.n && st == PM_OK; i++)
		st = place_node(&w, order.node[i], (uint32_t)i + 1, err);
	if (st == PM_OK) {
		finish(&w);
		deliver(&w, out);
	}
	pm_skeleton_release(&order);
	free(w.group_of);
	free(w.local);
	PM_VEC_RELEASE(&w.groups);
	PM_VEC_RELEASE(&w.stamp);
	PM_VEC_RELEASE(&w.producers);
	PM_VEC_RELEASE(&w.nodes);
	PM_VEC_RELEASE(&w.start);
	return st;
}
