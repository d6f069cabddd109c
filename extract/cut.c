/* SPDX-License-Identifier: Apache-2.0 */
/* cut.c - cuts a set of nodes out of a graph. */
#include "extract/cut.h"

#include "base/core/str.h"
#include "base/core/vec.h"
#include "ir/infer/infer.h"

#include <stdlib.h>
#include <string.h>

struct PmCutter {
	const PmGraph *g;
	PmCutOpts opts;
	uint32_t *pos;    /* by node id: 1 + place in the execution order */
	uint32_t *inside; /* by node id: epoch of the set it is in */
	uint32_t *seen;   /* by node id: epoch of the search that met it */
	uint32_t *local;  /* by node id: place in the set */
	uint32_t *mapped; /* by value id: epoch in which `to` holds */
	PmValue *to;      /* by value id: the value in the graph being made */
	uint32_t epoch;
	PmCutFault fault;
	PM_VEC(uint32_t) stack;
	PM_VEC(uint32_t) root; /* union-find over the set */
	PM_VEC(PmNode) sorted;
};

PmStatus pm_cutter_new(const PmGraph *g, const PmCutOpts *opts, PmCutter **out, PmErr *err)
{
	size_t i, n = pm_graph_n_nodes(g), k, limit = pm_graph_node_limit(g);
	PmCutter *c = pm_xcalloc(1, sizeof *c);

	*out = NULL;
	c->g = g;
	c->opts = opts ? *opts : (PmCutOpts){ 0, 0, 0 };
	if (!c->opts.max_const)
		c->opts.max_const = 64;
	if (!c->opts.max_float_const)
		c->opts.max_float_const = 1;
	if (!c->opts.budget)
		c->opts.budget = (size_t)64 << 20;
	c->pos = pm_xcalloc(limit + 1, sizeof *c->pos);
	c->inside = pm_xcalloc(limit + 1, sizeof *c->inside);
	c->seen = pm_xcalloc(limit + 1, sizeof *c->seen);
	c->local = pm_xcalloc(limit + 1, sizeof *c->local);
	c->mapped = pm_xcalloc((size_t)pm_graph_value_limit(g) + 1, sizeof *c->mapped);
	c->to = pm_xcalloc((size_t)pm_graph_value_limit(g) + 1, sizeof *c->to);
	for (i = 0; i < n; i++) {
		PmNode at = pm_graph_node_at(g, i);

		for (k = 0; k < pm_node_n_in(g, at); k++) {
			PmNode def = pm_value_def(g, pm_node_in(g, at, k), NULL);

			if (def.id && !c->pos[def.id]) {
				pm_cutter_free(c);
				return pm_err(
					err, PM_E_INVALID,
					"Node %u of graph '%s' comes before a node it depends on; sort the "
					"graph before cutting it.",
					(unsigned)at.id, pm_graph_name(g));
			}
		}
		c->pos[at.id] = (uint32_t)i + 1;
	}
	*out = c;
	return PM_OK;
}

void pm_cutter_free(PmCutter *c)
{
	if (!c)
		return;
	free(c->pos);
	free(c->inside);
	free(c->seen);
	free(c->local);
	free(c->mapped);
	free(c->to);
	PM_VEC_RELEASE(&c->stack);
	PM_VEC_RELEASE(&c->root);
	PM_VEC_RELEASE(&c->sorted);
	free(c);
}

/* ---- checks ---- */

static PmStatus mark(PmCutter *c, const PmNode *nodes, size_t n, PmErr *err)
{
	size_t i;

	if (n == 0)
		return pm_err(err, PM_E_INVALID, "A cut of graph '%s' has no nodes; name at least one.",
			      pm_graph_name(c->g));
	if (++c->epoch == 0)
		PM_BUG("over four billion cuts by one cutter");
	c->root.n = 0;
	for (i = 0; i < n; i++) {
		if (nodes[i].id >= pm_graph_node_limit(c->g) || !c->pos[nodes[i].id])
			return pm_err(err, PM_E_INVALID, "Node %u of the cut is not in graph '%s'.",
				      (unsigned)nodes[i].id, pm_graph_name(c->g));
		if (c->inside[nodes[i].id] == c->epoch)
			return pm_err(err, PM_E_INVALID, "Node %u is twice in a cut of graph '%s'.",
				      (unsigned)nodes[i].id, pm_graph_name(c->g));
		c->inside[nodes[i].id] = c->epoch;
		c->local[nodes[i].id] = (uint32_t)i;
		PM_VEC_PUSH(&c->root, (uint32_t)i);
	}
	return PM_OK;
}

static uint32_t find(PmCutter *c, uint32_t i)
{
	while (c->root.v[i] != i) {
		c->root.v[i] = c->root.v[c->root.v[i]];
		i = c->root.v[i];
	}
	return i;
}

static PmStatus check_connected(PmCutter *c, const PmNode *nodes, size_t n, PmErr *err)
{
	size_t i, k, parts = n;

	for (i = 0; i < n; i++) {
		for (k = 0; k < pm_node_n_in(c->g, nodes[i]); k++) {
			PmNode def = pm_value_def(c->g, pm_node_in(c->g, nodes[i], k), NULL);
			uint32_t a, b;

			if (!def.id || c->inside[def.id] != c->epoch)
				continue;
			a = find(c, (uint32_t)i);
			b = find(c, c->local[def.id]);
			if (a != b) {
				c->root.v[a] = b;
				parts--;
			}
		}
	}
	if (parts == 1)
		return PM_OK;
	return pm_err(err, PM_E_INVALID,
		      "A cut of graph '%s' around node %u falls into %zu parts; cut them one by one.",
		      pm_graph_name(c->g), (unsigned)nodes[0].id, parts);
}

/* Searches backwards from what the set reads: a path to a node of the set is a way out and back in. Values
 * have many readers but nodes have few operands, so backwards is the cheap direction. */
static PmStatus check_convex(PmCutter *c, const PmNode *nodes, size_t n, PmErr *err)
{
	uint32_t least = UINT32_MAX;
	size_t i, k;

	c->stack.n = 0;
	for (i = 0; i < n; i++) {
		if (c->pos[nodes[i].id] < least)
			least = c->pos[nodes[i].id];
		PM_VEC_PUSH(&c->stack, nodes[i].id);
	}
	while (c->stack.n) {
		PmNode at = { c->stack.v[--c->stack.n] };
		int out = c->inside[at.id] != c->epoch;

		for (k = 0; k < pm_node_n_in(c->g, at); k++) {
			PmNode def = pm_value_def(c->g, pm_node_in(c->g, at, k), NULL);

			if (!def.id || c->pos[def.id] < least)
				continue;
			if (c->inside[def.id] == c->epoch) {
				if (out)
					return pm_err(
						err, PM_E_INVALID,
						"A cut of graph '%s' leaves at node %u and comes back "
						"through node %u, which is outside; add what lies between.",
						pm_graph_name(c->g), (unsigned)def.id, (unsigned)at.id);
			} else if (c->seen[def.id] != c->epoch) {
				c->seen[def.id] = c->epoch;
				PM_VEC_PUSH(&c->stack, def.id);
			}
		}
	}
	return PM_OK;
}

PmStatus pm_cutter_check(PmCutter *c, const PmNode *nodes, size_t n, PmErr *err)
{
	PmStatus st = mark(c, nodes, n, err);

	c->fault = st ? PM_CUT_NO_SET : PM_CUT_FINE;
	if (st == PM_OK) {
		st = check_connected(c, nodes, n, err);
		c->fault = st ? PM_CUT_NOT_CONNECTED : PM_CUT_FINE;
	}
	if (st == PM_OK) {
		st = check_convex(c, nodes, n, err);
		c->fault = st ? PM_CUT_NOT_CONVEX : PM_CUT_FINE;
	}
	return st;
}

PmCutFault pm_cutter_fault(const PmCutter *c)
{
	return c->fault;
}

/* ---- building ---- */

static PmType translate(const PmCutter *c, PmGraph *to, PmValue v)
{
	PmType t = *pm_value_type(c->g, v);
	int i;

	for (i = 0; i < t.rank; i++) {
		const char *name = pm_graph_symbol_name(c->g, t.dim[i]);

		if (name)
			t.dim[i] = pm_graph_symbol(to, name);
	}
	return t;
}

static void map(PmCutter *c, PmValue from, PmValue to)
{
	c->mapped[from.id] = c->epoch;
	c->to[from.id] = to;
}

static int is_mapped(const PmCutter *c, PmValue v)
{
	return c->mapped[v.id] == c->epoch;
}

/* 1 when the set reads v as sizes: scales of a Resize are as much part of what is computed as integer sizes.
 */
static int gives_sizes(const PmCutter *c, PmValue v)
{
	PmUse u;

	for (u = pm_value_first_use(c->g, v); u.slot; u = pm_use_next(c->g, u)) {
		if (c->inside[u.node.id] == c->epoch && pm_node_op(c->g, u.node) == PM_OP_Resize && u.operand)
			return 1;
	}
	return 0;
}

static int stays_constant(const PmCutter *c, PmValue v)
{
	const PmBlob *b = pm_value_blob(c->g, v);
	const PmType *t = pm_value_type(c->g, v);
	int64_t n;

	if (!b || (!b->data && b->size) || pm_type_numel(t, &n, NULL))
		return 0;
	if (!pm_dtype_is_float(t->dtype) || (n > c->opts.max_float_const && gives_sizes(c, v)))
		return n <= c->opts.max_const;
	return n <= c->opts.max_float_const;
}

/* A value that comes from outside: an input, or a copied constant. */
static PmStatus add_outside(PmCutter *c, PmGraph *sub, PmValue v, PmErr *err)
{
	PmType t = translate(c, sub, v);
	PmValue made;
	PmStatus st;

	if (stays_constant(c, v))
		st = pm_graph_add_const(sub, pm_value_name(c->g, v), &t, pm_value_blob_ref(c->g, v), &made,
					err);
	else
		st = pm_graph_add_input(sub, pm_value_name(c->g, v), &t, &made, err);
	if (st == PM_OK)
		map(c, v, made);
	return st;
}

static PmStatus add_outsides(PmCutter *c, PmGraph *sub, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i, k;

	for (i = 0; i < c->sorted.n; i++) {
		PmNode at = c->sorted.v[i];

		for (k = 0; k < pm_node_n_in(c->g, at) && st == PM_OK; k++) {
			PmValue v = pm_node_in(c->g, at, k);
			PmNode def = pm_value_def(c->g, v, NULL);

			if (!v.id || is_mapped(c, v) || (def.id && c->inside[def.id] == c->epoch))
				continue;
			st = add_outside(c, sub, v, err);
		}
	}
	return st;
}

static PmStatus add_node(PmCutter *c, PmGraph *sub, PmNode at, PmErr *err)
{
	size_t k, n_in = pm_node_n_in(c->g, at), n_out = pm_node_n_out(c->g, at);
	PmValue *in = pm_xcalloc(n_in + 1, sizeof *in);
	PmNode made = { 0 };
	PmStatus st;

	for (k = 0; k < n_in; k++) {
		PmValue v = pm_node_in(c->g, at, k);

		if (v.id)
			in[k] = c->to[v.id];
	}
	st = pm_graph_add_node(sub, pm_node_op(c->g, at), in, n_in, n_out, &made, err);
	free(in);
	if (st == PM_OK && pm_node_op(c->g, at) == PM_OP_Opaque)
		st = pm_node_set_opaque(sub, made, pm_node_domain(c->g, at), pm_node_op_name(c->g, at), err);
	if (st == PM_OK)
		st = pm_node_copy_attrs(sub, made, c->g, at, err);
	for (k = 0; k < n_out && st == PM_OK; k++) {
		PmValue from = pm_node_out(c->g, at, k), to = pm_node_out(sub, made, k);
		PmType t = translate(c, sub, from);

		map(c, from, to);
		pm_value_set_type(sub, to, &t);
		st = pm_value_set_name(sub, to, pm_value_name(c->g, from), err);
	}
	return st;
}

static int leaves(const PmCutter *c, PmValue v)
{
	PmUse u;

	if (pm_value_is_output(c->g, v))
		return 1;
	for (u = pm_value_first_use(c->g, v); u.slot; u = pm_use_next(c->g, u)) {
		if (c->inside[u.node.id] != c->epoch)
			return 1;
	}
	return 0;
}

static PmStatus add_outputs(PmCutter *c, PmGraph *sub, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i, k;

	for (i = 0; i < c->sorted.n; i++) {
		PmNode at = c->sorted.v[i];

		for (k = 0; k < pm_node_n_out(c->g, at) && st == PM_OK; k++) {
			PmValue v = pm_node_out(c->g, at, k);

			if (leaves(c, v))
				st = pm_graph_add_output(sub, c->to[v.id], err);
		}
	}
	if (st == PM_OK && pm_graph_n_outputs(sub) == 0)
		return pm_err(
			err, PM_E_INVALID,
			"Nothing uses the results of the nodes around node %u of graph '%s'; sweep the graph "
			"before cutting it.",
			(unsigned)c->sorted.v[0].id, pm_graph_name(c->g));
	return st;
}

/* qsort has no argument for the positions: sort keys of position and id. */
static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sort_nodes(PmCutter *c, const PmNode *nodes, size_t n)
{
	uint64_t *key = pm_xcalloc(n, sizeof *key);
	size_t i;

	for (i = 0; i < n; i++)
		key[i] = (uint64_t)c->pos[nodes[i].id] << 32 | nodes[i].id;
	qsort(key, n, sizeof *key, by_key);
	c->sorted.n = 0;
	for (i = 0; i < n; i++) {
		PmNode at = { (uint32_t)key[i] };

		PM_VEC_PUSH(&c->sorted, at);
	}
	free(key);
}

PmStatus pm_cutter_cut(PmCutter *c, const PmNode *nodes, size_t n, PmGraph **out, PmErr *err)
{
	PmGraph *sub;
	PmStatus st = pm_cutter_check(c, nodes, n, err);
	size_t i;

	*out = NULL;
	if (st)
		return st;
	sort_nodes(c, nodes, n);
	sub = pm_graph_new(c->opts.budget);
	st = pm_graph_set_name(sub, "subgraph", err);
	if (st == PM_OK)
		st = add_outsides(c, sub, err);
	for (i = 0; i < n && st == PM_OK; i++)
		st = add_node(c, sub, c->sorted.v[i], err);
	if (st == PM_OK)
		st = add_outputs(c, sub, err);
	if (st == PM_OK)
		st = pm_infer_graph(sub, 0, err);
	if (st == PM_OK)
		st = pm_verify(sub, err);
	if (st) {
		pm_graph_free(sub);
		if (err)
			pm_err_ctx(err, "In a cut of graph '%s'", pm_graph_name(c->g));
		return st;
	}
	*out = sub;
	return PM_OK;
}
