/* SPDX-License-Identifier: Apache-2.0 */
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
#include "extract/fusible_priv.h"
#include "extract/skeleton.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 16 }; /* a node that reads more groups than this opens one */

void pm_node_sets_release(PmNodeSets *s)
{
	free(s->nodes);
	free(s->start);
	*s = (PmNodeSets){ NULL, NULL, 0, 0 };
}

/* ---- growing ---- */

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
		grp = pm__group_root(w, w->group_of[def.id] - 1);
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
		uint32_t id = pm__group_root(w, w->producers.v[i]);

		if (id != into)
			w->groups.v[id].consumed = 1;
	}
	return PM_OK;
}

PmStatus pm_fusible_sets(const PmGraph *g, const PmFusibleOpts *opts, PmNodeSets *out, PmErr *err)
{
	size_t limit = (size_t)pm_graph_node_limit(g) + 1, i;
	PmSkeleton order;
	Grow w;
	PmStatus st;

	*out = (PmNodeSets){ NULL, NULL, 0, 0 };
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
	if (st == PM_OK)
		pm__fusible_finish(&w, out);
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
