/* SPDX-License-Identifier: Apache-2.0 */
/* region.c - sets of nodes that one kernel is to replace: what goes in, what comes out, and whether it can be
 * one node at all. */
#include "matcher/rewrite/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pm__set_clear(PmNodeSet *set)
{
	set->node.n = set->in.n = set->out.n = 0;
}

void pm__set_release(PmNodeSet *set)
{
	PM_VEC_RELEASE(&set->node);
	PM_VEC_RELEASE(&set->in);
	PM_VEC_RELEASE(&set->out);
}

/* A fresh stamp for s->seen, which then has room for every node. */
static uint32_t new_stamp(PmSession *s)
{
	size_t limit = pm_graph_node_limit(s->g);

	if (s->seen.n < limit) {
		PM_VEC_RESERVE(&s->seen, limit);
		memset(s->seen.v + s->seen.n, 0, (limit - s->seen.n) * sizeof *s->seen.v);
		s->seen.n = limit;
	}
	if (++s->stamp == 0) {
		memset(s->seen.v, 0, s->seen.n * sizeof *s->seen.v);
		s->stamp = 1;
	}
	return s->stamp;
}

static int value_in(const PmValue *v, size_t n, PmValue x)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].id == x.id)
			return 1;
	return 0;
}

static int node_in(const PmNode *v, size_t n, PmNode x)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].id == x.id)
			return 1;
	return 0;
}

int pm__set_has(const PmNodeSet *set, PmNode n)
{
	return node_in(set->node.v, set->node.n, n);
}

/* Sorts by execution position; sets are small, and nearly sorted already. */
static void sort_nodes(const PmSession *s, PmNodeSet *set)
{
	for (size_t i = 1; i < set->node.n; i++) {
		PmNode x = set->node.v[i];
		size_t k = i;

		for (; k && s->pos.v[set->node.v[k - 1].id] > s->pos.v[x.id]; k--)
			set->node.v[k] = set->node.v[k - 1];
		set->node.v[k] = x;
	}
}

static int used_outside(const PmSession *s, PmValue v, uint32_t stamp)
{
	if (pm_value_is_output(s->g, v))
		return 1;
	for (PmUse u = pm_value_first_use(s->g, v); u.slot; u = pm_use_next(s->g, u))
		if (s->seen.v[u.node.id] != stamp)
			return 1;
	return 0;
}

void pm__set_close(PmSession *s, const PmNode *node, size_t n, PmValue root, const PmNode *kept,
		   size_t n_kept, PmNodeSet *set)
{
	uint32_t stamp = new_stamp(s);

	pm__set_clear(set);
	set->root = root;
	for (size_t i = 0; i < n; i++) {
		PM_VEC_PUSH(&set->node, node[i]);
		s->seen.v[node[i].id] = stamp;
	}
	sort_nodes(s, set);
	for (size_t i = 0; i < n; i++) {
		PmNode x = set->node.v[i];

		for (size_t k = 0; k < pm_node_n_in(s->g, x); k++) {
			PmValue v = pm_node_in(s->g, x, k);
			PmNode def = pm_value_def(s->g, v, NULL);

			if (v.id && (!def.id || s->seen.v[def.id] != stamp) &&
			    !value_in(set->in.v, set->in.n, v))
				PM_VEC_PUSH(&set->in, v);
		}
		for (size_t k = 0; k < pm_node_n_out(s->g, x); k++) {
			PmValue v = pm_node_out(s->g, x, k);

			if (v.id == root.id || (!node_in(kept, n_kept, x) && used_outside(s, v, stamp)))
				PM_VEC_PUSH(&set->out, v);
		}
	}
}

PmStatus pm__set_convex(PmSession *s, const PmNodeSet *set, const PmValue *out, size_t n_out, PmErr *err)
{
	PM_VEC(PmValue) work = { 0 };
	uint32_t stamp, first;
	int cycle = 0;

	if (n_out < 2) /* a path from the only output back in would be a cycle already */
		return PM_OK;
	if (s->pos_stale) {
		PmStatus st = pm__session_order(s, err);
		if (st)
			return st;
	}
	first = UINT32_MAX;
	for (size_t i = 0; i < set->node.n; i++)
		if (s->pos.v[set->node.v[i].id] < first)
			first = s->pos.v[set->node.v[i].id];
	stamp = new_stamp(s);
	for (size_t i = 0; i < set->in.n; i++)
		PM_VEC_PUSH(&work, set->in.v[i]);
	while (work.n && !cycle) {
		PmValue v = work.v[--work.n];
		PmNode def = pm_value_def(s->g, v, NULL);

		if (!def.id || s->pos.v[def.id] < first)
			continue;
		cycle = value_in(out, n_out, v);
		if (s->seen.v[def.id] == stamp)
			continue;
		s->seen.v[def.id] = stamp;
		for (size_t k = 0; k < pm_node_n_in(s->g, def); k++)
			if (pm_node_in(s->g, def, k).id)
				PM_VEC_PUSH(&work, pm_node_in(s->g, def, k));
	}
	PM_VEC_RELEASE(&work);
	if (!cycle)
		return PM_OK;
	snprintf(s->why, sizeof s->why,
		 "an operand of the matched nodes depends on one of the replaced values");
	return PM_DECLINED;
}

static int may_fuse(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);

	return op != PM_OP_NONE && !(pm_op_desc(op)->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_RANDOM));
}

/* Connected through values that a member makes and a member uses, or through a shared operand. */
static size_t reached(PmSession *s, const PmRegion *r)
{
	PM_VEC(PmNode) work = { 0 };
	uint32_t stamp = new_stamp(s);
	size_t count = 1;

	PM_VEC_PUSH(&work, r->node.v[0]);
	s->seen.v[r->node.v[0].id] = stamp;
	while (work.n) {
		PmNode n = work.v[--work.n];
		size_t n_in = pm_node_n_in(s->g, n), n_out = pm_node_n_out(s->g, n);

		for (size_t k = 0; k < n_in + n_out; k++) {
			PmValue v = k < n_in ? pm_node_in(s->g, n, k) : pm_node_out(s->g, n, k - n_in);
			PmNode def = pm_value_def(s->g, v, NULL);

			/* Sharing a constant ties nothing together. */
			if (!v.id || pm_value_is_const(s->g, v))
				continue;
			if (def.id && def.id < r->has.n && r->has.v[def.id] && s->seen.v[def.id] != stamp) {
				s->seen.v[def.id] = stamp;
				count++;
				PM_VEC_PUSH(&work, def);
			}
			for (PmUse u = pm_value_first_use(s->g, v); u.slot; u = pm_use_next(s->g, u))
				if (u.node.id < r->has.n && r->has.v[u.node.id] &&
				    s->seen.v[u.node.id] != stamp) {
					s->seen.v[u.node.id] = stamp;
					count++;
					PM_VEC_PUSH(&work, u.node);
				}
		}
	}
	PM_VEC_RELEASE(&work);
	return count;
}

PmStatus pm__region_check(PmSession *s, const PmRegion *r)
{
	if (!r->node.n) {
		snprintf(s->why, sizeof s->why, "the proposed region is empty");
		return PM_DECLINED;
	}
	for (size_t i = 0; i < r->node.n; i++)
		if (!may_fuse(s->g, r->node.v[i])) {
			snprintf(s->why, sizeof s->why,
				 "the proposed region holds a %.40s node, which cannot be fused",
				 pm_node_op_name(s->g, r->node.v[i]));
			return PM_DECLINED;
		}
	if (reached(s, r) != r->node.n) {
		snprintf(s->why, sizeof s->why, "the proposed region is not connected");
		return PM_DECLINED;
	}
	return PM_OK;
}
