/* SPDX-License-Identifier: Apache-2.0 */
/* graph_edit.c - editing, sorting and cloning graphs. */
#include "ir/core/graph.h"
#include "ir/core/graph_priv.h"

#include <stdlib.h>
#include <string.h>

void pm_node_set_operand(PmGraph *g, PmNode n, size_t k, PmValue v)
{
	NodeRec *r = pm__node(g, n);

	if (!r || k >= r->n_in || (v.id && !pm__value(g, v)))
		PM_BUG("operand %zu of node %u cannot be set to value %u", k, n.id, v.id);
	pm__slot_unlink(g, r->slot0 + (uint32_t)k);
	pm__slot_link(g, r->slot0 + (uint32_t)k, v.id);
}

void pm_node_trim_operands(PmGraph *g, PmNode n, size_t count)
{
	NodeRec *r = pm__node(g, n);

	if (!r)
		return;
	while (r->n_in > count)
		pm__slot_unlink(g, r->slot0 + --r->n_in);
}

void pm_graph_replace_uses(PmGraph *g, PmValue from, PmValue to)
{
	ValueRec *f = pm__value(g, from), *t = pm__value(g, to);

	if (!f || !t)
		PM_BUG("uses of value %u cannot become uses of value %u", from.id, to.id);
	if (from.id == to.id)
		return;
	while (f->first_slot) {
		uint32_t s = f->first_slot;

		pm__slot_unlink(g, s);
		pm__slot_link(g, s, to.id);
	}
	for (size_t i = 0; i < g->outputs.n; i++)
		if (g->outputs.v[i] == from.id) {
			g->outputs.v[i] = to.id;
			f->n_outputs--;
			t->n_outputs++;
		}
}

static void kill_value(PmGraph *g, uint32_t id)
{
	ValueRec *r = &g->values.v[id];

	if (r->name && r->name < g->by_name.n)
		g->by_name.v[r->name] = 0;
	pm_blob_unref(r->blob);
	r->blob = NULL;
	r->dead = 1;
}

static void kill_node(PmGraph *g, uint32_t id)
{
	NodeRec *r = &g->nodes.v[id];

	for (uint32_t k = 0; k < r->n_in; k++)
		pm__slot_unlink(g, r->slot0 + k);
	for (uint32_t k = 0; k < r->n_out; k++)
		kill_value(g, r->value0 + k);
	pm__attrs_drop(g, r);
	r->dead = 1;
	g->order_dirty = 1;
}

PmStatus pm_graph_kill_node(PmGraph *g, PmNode n, PmErr *err)
{
	NodeRec *r = pm__node(g, n);

	if (!r)
		return pm_err(err, PM_E_INVALID, "Node handle %u does not exist in the graph.", n.id);
	for (uint32_t k = 0; k < r->n_out; k++) {
		PmValue v = { r->value0 + k };

		if (g->values.v[v.id].n_uses || g->values.v[v.id].n_outputs)
			return pm_err(err, PM_E_INVALID,
				      "Value '%.200s' is still used, so its node cannot be removed.",
				      pm_value_name(g, v));
	}
	kill_node(g, n.id);
	return PM_OK;
}

PmStatus pm_graph_kill_const(PmGraph *g, PmValue v, PmErr *err)
{
	const ValueRec *r = pm__value(g, v);

	if (!r || !r->blob || r->n_uses || r->n_outputs)
		return pm_err(err, PM_E_INVALID,
			      "Value '%.200s' is not an unused constant, so it cannot be removed.",
			      pm_value_name(g, v));
	kill_value(g, v.id);
	return PM_OK;
}

/* Node ids whose results have no use left, found by following operands backwards. */
size_t pm_graph_sweep(PmGraph *g)
{
	PM_VEC(uint32_t) work = { 0 };
	size_t killed = 0;

	for (size_t i = g->order.n; i-- > 0;)
		PM_VEC_PUSH(&work, g->order.v[i]);
	while (work.n) {
		uint32_t id = work.v[--work.n];
		NodeRec *r = &g->nodes.v[id];
		uint32_t used = 0;

		if (r->dead)
			continue;
		for (uint32_t k = 0; k < r->n_out; k++)
			used += g->values.v[r->value0 + k].n_uses + g->values.v[r->value0 + k].n_outputs;
		if (used)
			continue;
		for (uint32_t k = 0; k < r->n_in; k++) {
			uint32_t v = g->slots.v[r->slot0 + k].value;

			if (v && g->values.v[v].def)
				PM_VEC_PUSH(&work, g->values.v[v].def);
		}
		kill_node(g, id);
		killed++;
	}
	PM_VEC_RELEASE(&work);
	for (uint32_t v = 1; v < g->values.n; v++) {
		ValueRec *r = &g->values.v[v];

		if (!r->dead && r->blob && !r->n_uses && !r->n_outputs)
			kill_value(g, v);
	}
	return killed;
}

/* ---- sorting ---- */

typedef PM_VEC(uint32_t) Heap;

static void heap_push(Heap *h, uint32_t x)
{
	size_t i = h->n;

	PM_VEC_PUSH(h, x);
	while (i && h->v[(i - 1) / 2] > x) {
		h->v[i] = h->v[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->v[i] = x;
}

static uint32_t heap_pop(Heap *h)
{
	uint32_t top = h->v[0], x = h->v[--h->n];
	size_t i = 0, c;

	while ((c = 2 * i + 1) < h->n) {
		if (c + 1 < h->n && h->v[c + 1] < h->v[c])
			c++;
		if (h->v[c] >= x)
			break;
		h->v[i] = h->v[c];
		i = c;
	}
	if (h->n)
		h->v[i] = x;
	return top;
}

static void release_dependants(const PmGraph *g, uint32_t id, uint32_t *waiting, Heap *ready)
{
	const NodeRec *r = &g->nodes.v[id];

	for (uint32_t k = 0; k < r->n_out; k++)
		for (uint32_t s = g->values.v[r->value0 + k].first_slot; s; s = g->slots.v[s].next)
			if (--waiting[g->slots.v[s].node] == 0)
				heap_push(ready, g->slots.v[s].node);
}

PmStatus pm_graph_sort(PmGraph *g, PmErr *err)
{
	uint32_t *waiting = pm_xcalloc(g->nodes.n, sizeof *waiting);
	Heap ready = { 0 };
	size_t live = 0, placed = 0;
	PmStatus st = PM_OK;

	for (uint32_t id = 1; id < g->nodes.n; id++) {
		const NodeRec *r = &g->nodes.v[id];

		if (r->dead)
			continue;
		live++;
		for (uint32_t k = 0; k < r->n_in; k++) {
			uint32_t v = g->slots.v[r->slot0 + k].value;

			waiting[id] += v && g->values.v[v].def;
		}
		if (!waiting[id])
			heap_push(&ready, id);
	}
	PM_VEC_RESERVE(&g->order, live);
	g->order.n = 0;
	g->order_dirty = 0;
	while (ready.n) {
		uint32_t id = heap_pop(&ready);

		g->order.v[g->order.n++] = id;
		placed++;
		release_dependants(g, id, waiting, &ready);
	}
	if (placed < live) {
		PmStr what = PM_STR_INIT;

		for (uint32_t id = 1; id < g->nodes.n; id++)
			if (!g->nodes.v[id].dead && waiting[id]) {
				if (!what.len)
					pm_node_describe(g, (PmNode){ id }, &what);
				g->order.v[g->order.n++] = id;
			}
		st = pm_err(err, PM_E_INVALID,
			    "The graph has a cycle through or before %s, so no execution order exists; fix "
			    "the model.",
			    what.s);
		pm_str_release(&what);
	}
	PM_VEC_RELEASE(&ready);
	free(waiting);
	return st;
}

/* ---- cloning ---- */

static PmStatus clone_value(const PmGraph *g, PmValue v, PmGraph *c, uint32_t *map, PmErr *err)
{
	const ValueRec *r = pm__value(g, v);
	PmValue to;
	const char *name = r->auto_named ? NULL : pm_intern_text(g->names, r->name);
	PmStatus st;

	if (map[v.id])
		return PM_OK;
	if (r->blob)
		st = pm_graph_add_const(c, name, pm__type_of(g, r), pm_blob_ref(r->blob), &to, err);
	else
		st = pm_graph_add_input(c, name, pm__type_of(g, r), &to, err);
	if (!st)
		map[v.id] = to.id;
	return st;
}

static PmStatus clone_node(const PmGraph *g, PmNode n, PmGraph *c, uint32_t *map, PmErr *err)
{
	const NodeRec *r = pm__node(g, n);
	PmValue *in = pm_xcalloc(r->n_in + 1, sizeof *in);
	PmStatus st = PM_OK;
	PmNode to;

	for (uint32_t k = 0; k < r->n_in && !st; k++) {
		PmValue v = pm_node_in(g, n, k);

		if (v.id && !map[v.id] && pm_value_is_const(g, v))
			st = clone_value(g, v, c, map, err);
		if (!st && v.id && !map[v.id])
			st = pm_err(err, PM_E_INVALID,
				    "Value '%.200s' is used before it is defined; sort the graph first.",
				    pm_value_name(g, v));
		in[k].id = map[v.id];
	}
	if (!st)
		st = pm_graph_add_node(c, (PmOp)r->op, in, r->n_in, r->n_out, &to, err);
	free(in);
	if (st)
		return st;
	c->nodes.v[to.id].domain = pm_intern(c->names, pm_node_domain(g, n), strlen(pm_node_domain(g, n)));
	if (r->op_type)
		c->nodes.v[to.id].op_type = pm_intern(c->names, pm_node_op_name(g, n),
						      strlen(pm_node_op_name(g, n)));
	st = pm_node_set_name(c, to, pm_node_name(g, n), err);
	if (!st)
		st = pm_node_copy_attrs(c, to, g, n, err);
	for (uint32_t k = 0; k < r->n_out && !st; k++) {
		const ValueRec *from = &g->values.v[r->value0 + k];
		PmValue v = pm_node_out(c, to, k);

		map[r->value0 + k] = v.id;
		pm_value_set_type(c, v, pm__type_of(g, from));
		if (!from->auto_named)
			st = pm_value_set_name(c, v, pm_intern_text(g->names, from->name), err);
	}
	return st;
}

PmStatus pm_graph_clone(const PmGraph *g, PmGraph **out, PmErr *err)
{
	PmGraph *c = pm_graph_new(g->budget);
	uint32_t *map = pm_xcalloc(g->values.n, sizeof *map);
	PmStatus st = pm_graph_set_name(c, pm_graph_name(g), err);

	for (size_t k = 0; k < g->symbols.n; k++)
		pm_graph_symbol(c, pm_intern_text(g->names, g->symbols.v[k]));
	c->n_fresh = g->n_fresh;
	for (size_t i = 0; i < g->meta.n && !st; i++)
		st = pm_graph_set_meta(c, g->meta.v[i].key, g->meta.v[i].value, err);
	for (size_t i = 0; i < g->inputs.n && !st; i++)
		st = clone_value(g, (PmValue){ g->inputs.v[i] }, c, map, err);
	/* Constants in their own order, so that a clone prints like its original. */
	for (uint32_t v = 1; v < g->values.n && !st; v++)
		if (!g->values.v[v].dead && g->values.v[v].blob)
			st = clone_value(g, (PmValue){ v }, c, map, err);
	for (size_t i = 0; i < pm_graph_n_nodes(g) && !st; i++)
		st = clone_node(g, pm_graph_node_at(g, i), c, map, err);
	for (size_t i = 0; i < g->outputs.n && !st; i++)
		st = pm_graph_add_output(c, (PmValue){ map[g->outputs.v[i]] }, err);
	free(map);
	if (st) {
		pm_graph_free(c);
		return st;
	}
	*out = c;
	return PM_OK;
}
