/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - life cycle, values and nodes of the tensor graph. */
#include "ir/core/graph.h"

#include "base/core/str.h"
#include "ir/core/graph_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PmGraph *pm_graph_new(size_t budget)
{
	PmGraph *g = pm_xcalloc(1, sizeof *g);
	PmType unknown;

	g->budget = budget;
	g->arena = pm_arena_new(0);
	g->names = pm_intern_new();
	unknown = pm_type_unknown();
	PM_VEC_PUSH(&g->values, (ValueRec){ .type = pm__graph_type(g, &unknown) });
	PM_VEC_PUSH(&g->nodes, (NodeRec){ .op = PM_OP_NONE });
	PM_VEC_PUSH(&g->slots, (Slot){ 0 });
	return g;
}

void pm_graph_free(PmGraph *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->values.n; i++)
		pm_blob_unref(g->values.v[i].blob);
	for (size_t i = 0; i < g->attrs.v.n; i++)
		pm__attr_release(g, (uint32_t)i);
	pm__shared_release(&g->attrs);
	pm__shared_release(&g->types);
	PM_VEC_RELEASE(&g->attr_ids);
	PM_VEC_RELEASE(&g->values);
	PM_VEC_RELEASE(&g->nodes);
	PM_VEC_RELEASE(&g->slots);
	PM_VEC_RELEASE(&g->order);
	PM_VEC_RELEASE(&g->inputs);
	PM_VEC_RELEASE(&g->outputs);
	PM_VEC_RELEASE(&g->by_name);
	PM_VEC_RELEASE(&g->symbols);
	PM_VEC_RELEASE(&g->symbol_of);
	PM_VEC_RELEASE(&g->meta);
	pm_intern_free(g->names);
	pm_arena_free(g->arena);
	free(g);
}

size_t pm__graph_used(const PmGraph *g)
{
	return sizeof *g + pm_arena_used(g->arena) + g->values.n * sizeof *g->values.v +
	       g->nodes.n * sizeof *g->nodes.v + g->slots.n * sizeof *g->slots.v +
	       g->attr_ids.n * sizeof *g->attr_ids.v;
}

PmStatus pm__graph_check_budget(const PmGraph *g, PmErr *err)
{
	if (g->budget && pm__graph_used(g) > g->budget)
		return pm_err(err, PM_E_LIMIT,
			      "The graph needs more than its budget of %zu bytes; raise the budget or split "
			      "the model.",
			      g->budget);
	return PM_OK;
}

const char *pm__graph_text(PmGraph *g, const char *s)
{
	return pm_intern_text(g->names, pm_intern(g->names, s, strlen(s)));
}

const char *pm_graph_name(const PmGraph *g)
{
	return pm_intern_text(g->names, g->name);
}

PmStatus pm_graph_set_name(PmGraph *g, const char *name, PmErr *err)
{
	if (strlen(name) > PM_MAX_NAME)
		return pm_err(err, PM_E_LIMIT, "A graph name is longer than %d bytes; shorten it.",
			      PM_MAX_NAME);
	g->name = pm_intern(g->names, name, strlen(name));
	return PM_OK;
}

size_t pm_graph_n_meta(const PmGraph *g)
{
	return g->meta.n;
}

void pm_graph_meta_at(const PmGraph *g, size_t i, const char **key, const char **value)
{
	*key = i < g->meta.n ? g->meta.v[i].key : "";
	*value = i < g->meta.n ? g->meta.v[i].value : "";
}

const char *pm_graph_meta(const PmGraph *g, const char *key)
{
	for (size_t i = 0; i < g->meta.n; i++)
		if (!strcmp(g->meta.v[i].key, key))
			return g->meta.v[i].value;
	return NULL;
}

PmStatus pm__graph_set_meta(PmGraph *g, const char *key, size_t n_key, const char *value, size_t n_value,
			    PmErr *err)
{
	/* Keys are few and interned: the same key is the same pointer. */
	const char *k = pm_intern_text(g->names, pm_intern(g->names, key, n_key));
	char *v = pm_arena_strndup(g->arena, value, n_value);

	for (size_t i = 0; i < g->meta.n; i++)
		if (g->meta.v[i].key == k) {
			g->meta.v[i].value = v;
			return pm__graph_check_budget(g, err);
		}
	PM_VEC_PUSH(&g->meta, ((Meta){ k, v }));
	return pm__graph_check_budget(g, err);
}

PmStatus pm_graph_set_meta(PmGraph *g, const char *key, const char *value, PmErr *err)
{
	return pm__graph_set_meta(g, key, strlen(key), value, strlen(value), err);
}

void pm_graph_drop_meta(PmGraph *g, const char *key)
{
	size_t n = 0;

	for (size_t i = 0; i < g->meta.n; i++)
		if (strcmp(g->meta.v[i].key, key) != 0)
			g->meta.v[n++] = g->meta.v[i];
	g->meta.n = n;
}

/* ---- symbols ---- */

PmDim pm_graph_symbol(PmGraph *g, const char *name)
{
	uint32_t id = pm_intern(g->names, name, strlen(name));

	for (; g->symbol_of.n <= id; g->symbol_steps++)
		PM_VEC_PUSH(&g->symbol_of, 0u);
	g->symbol_steps++;
	if (!g->symbol_of.v[id]) {
		PM_VEC_PUSH(&g->symbols, id);
		g->symbol_of.v[id] = (uint32_t)g->symbols.n;
	}
	return -(PmDim)g->symbol_of.v[id];
}

const char *pm_graph_symbol_name(const PmGraph *g, PmDim d)
{
	if (d >= 0 || (uint64_t)(-(d + 1)) >= g->symbols.n)
		return NULL;
	return pm_intern_text(g->names, g->symbols.v[-(d + 1)]);
}

PmDim pm_graph_fresh_symbol(PmGraph *g)
{
	char name[32];
	size_t before = g->symbols.n;
	PmDim d;

	do {
		snprintf(name, sizeof name, "_d%u", g->n_fresh++);
		d = pm_graph_symbol(g, name);
	} while (g->symbols.n == before);
	return d;
}

/* ---- names of values ---- */

static uint32_t name_owner(const PmGraph *g, uint32_t name)
{
	return name < g->by_name.n ? g->by_name.v[name] : 0;
}

static void set_name_owner(PmGraph *g, uint32_t name, uint32_t value)
{
	while (g->by_name.n <= name)
		PM_VEC_PUSH(&g->by_name, 0u);
	g->by_name.v[name] = value;
}

static void give_name(PmGraph *g, uint32_t value, uint32_t name, int made_up)
{
	ValueRec *r = &g->values.v[value];

	if (r->name)
		set_name_owner(g, r->name, 0);
	r->name = name;
	r->auto_named = made_up != 0;
	if (name)
		set_name_owner(g, name, value);
}

/* "v" and the number of the value, and one more number where that is taken. */
static void make_up_name(PmGraph *g, uint32_t value)
{
	char name[48];
	uint32_t id;

	give_name(g, value, 0, 0);
	for (int k = 0;; k++) {
		if (k)
			snprintf(name, sizeof name, "v%u_%d", value, k);
		else
			snprintf(name, sizeof name, "v%u", value);
		id = pm_intern(g->names, name, strlen(name));
		if (!name_owner(g, id))
			break;
	}
	give_name(g, value, id, 1);
}

PmStatus pm_value_set_name(PmGraph *g, PmValue v, const char *name, PmErr *err)
{
	ValueRec *r = pm__value(g, v);
	uint32_t id, owner;

	if (!r)
		return pm_err(err, PM_E_INVALID, "Value handle %u does not exist in the graph.", v.id);
	if (!name || !*name) {
		make_up_name(g, v.id);
		return PM_OK;
	}
	if (strlen(name) > PM_MAX_NAME)
		return pm_err(err, PM_E_LIMIT, "A value name is longer than %d bytes; shorten it.",
			      PM_MAX_NAME);
	id = pm_intern(g->names, name, strlen(name));
	owner = name_owner(g, id);
	if (owner && owner != v.id && !g->values.v[owner].auto_named)
		return pm_err(err, PM_E_INVALID,
			      "The value name '%.200s' is defined twice; every value needs a name of "
			      "its own.",
			      name);
	if (owner == v.id)
		owner = 0;
	if (owner) /* its name was made up, and is now another's */
		g->values.v[owner].name = 0;
	give_name(g, v.id, id, 0);
	if (owner)
		make_up_name(g, owner);
	return PM_OK;
}

const char *pm_value_name(const PmGraph *g, PmValue v)
{
	const ValueRec *r = pm__value(g, v);

	return r ? pm_intern_text(g->names, r->name) : "";
}

PmValue pm_graph_find_value(const PmGraph *g, const char *name)
{
	uint32_t id = pm_intern_find(g->names, name, strlen(name));

	return (PmValue){ id == UINT32_MAX || !*name ? 0 : name_owner(g, id) };
}

PmValue pm_graph_find_given(const PmGraph *g, const char *name)
{
	PmValue v = pm_graph_find_value(g, name);

	return (PmValue){ v.id && g->values.v[v.id].auto_named ? 0 : v.id };
}

/* ---- building ---- */

void pm__node_name_results(PmGraph *g, PmNode n)
{
	const NodeRec *r = pm__node(g, n);

	for (uint32_t k = 0; r && k < r->n_out; k++)
		if (!g->values.v[r->value0 + k].name)
			make_up_name(g, r->value0 + k);
}

void pm__graph_reserve(PmGraph *g, size_t n_nodes, size_t n_values, size_t n_operands, size_t n_names)
{
	PM_VEC_RESERVE(&g->nodes, g->nodes.n + n_nodes);
	PM_VEC_RESERVE(&g->order, g->order.n + n_nodes);
	PM_VEC_RESERVE(&g->values, g->values.n + n_values);
	PM_VEC_RESERVE(&g->slots, g->slots.n + n_operands);
	pm_intern_reserve(g->names, n_names);
	PM_VEC_RESERVE(&g->by_name, n_names);
}

static PmStatus new_value(PmGraph *g, const char *name, const PmType *t, PmValue *out, PmErr *err)
{
	PmValue v = { (uint32_t)g->values.n };
	PmStatus st;

	if (g->values.n >= PM_MAX_VALUES)
		return pm_err(err, PM_E_LIMIT, "The graph has more than %d values; split the model.",
			      PM_MAX_VALUES);
	PM_VEC_PUSH(&g->values, ((ValueRec){ .type = t ? pm__graph_type(g, t) : 0, .auto_named = 1 }));
	st = pm__graph_check_budget(g, err);
	if (!st && (!g->names_later || (name && *name)))
		st = pm_value_set_name(g, v, name, err);
	if (st) {
		g->values.v[v.id].dead = 1;
		return st;
	}
	*out = v;
	return PM_OK;
}

PmStatus pm_graph_add_input(PmGraph *g, const char *name, const PmType *t, PmValue *out, PmErr *err)
{
	PmStatus st = new_value(g, name, t, out, err);

	if (st)
		return st;
	g->values.v[out->id].is_input = 1;
	PM_VEC_PUSH(&g->inputs, out->id);
	return PM_OK;
}

static PmStatus check_blob(const PmType *t, const PmBlob *blob, const char *name, PmErr *err)
{
	int64_t bytes;
	PmStatus st = pm_type_bytes(t, &bytes, err);

	if (st)
		return st;
	if ((uint64_t)bytes != blob->size)
		return pm_err(err, PM_E_INVALID,
			      "Constant '%.200s' holds %zu bytes but its type needs %lld; fix the model.",
			      name ? name : "", blob->size, (long long)bytes);
	return PM_OK;
}

PmStatus pm_graph_add_const(PmGraph *g, const char *name, const PmType *t, PmBlob *blob, PmValue *out,
			    PmErr *err)
{
	PmStatus st = check_blob(t, blob, name, err);

	if (!st)
		st = new_value(g, name, t, out, err);
	if (st) {
		pm_blob_unref(blob);
		return st;
	}
	g->values.v[out->id].blob = blob;
	return PM_OK;
}

void pm__slot_link(PmGraph *g, uint32_t slot, uint32_t value)
{
	Slot *s = &g->slots.v[slot];
	ValueRec *r = &g->values.v[value];

	s->value = value;
	s->prev = 0;
	s->next = 0;
	if (!value)
		return;
	s->next = r->first_slot;
	if (r->first_slot)
		g->slots.v[r->first_slot].prev = slot;
	r->first_slot = slot;
	r->n_uses++;
}

void pm__slot_unlink(PmGraph *g, uint32_t slot)
{
	Slot *s = &g->slots.v[slot];
	ValueRec *r = &g->values.v[s->value];

	if (!s->value)
		return;
	if (s->prev)
		g->slots.v[s->prev].next = s->next;
	else
		r->first_slot = s->next;
	if (s->next)
		g->slots.v[s->next].prev = s->prev;
	r->n_uses--;
	s->value = s->next = s->prev = 0;
}

PmStatus pm_graph_add_node(PmGraph *g, PmOp op, const PmValue *in, size_t n_in, size_t n_out, PmNode *out,
			   PmErr *err)
{
	PmNode n = { (uint32_t)g->nodes.n };
	NodeRec rec = { .op = (uint16_t)op, .n_in = (uint32_t)n_in, .n_out = (uint32_t)n_out };

	if (op <= PM_OP_NONE || op >= PM_N_OPS)
		return pm_err(err, PM_E_INVALID, "Operator number %d is not in the table.", (int)op);
	if (g->nodes.n > PM_MAX_NODES)
		return pm_err(err, PM_E_LIMIT, "The graph has more than %d nodes; split the model.",
			      PM_MAX_NODES);
	if (n_in > PM_MAX_NODE_OPERANDS || n_out > PM_MAX_NODE_OPERANDS)
		return pm_err(err, PM_E_LIMIT,
			      "A node has %zu operands and %zu results; at most %d are supported.", n_in,
			      n_out, PM_MAX_NODE_OPERANDS);
	for (size_t k = 0; k < n_in; k++)
		if (in[k].id && !pm__value(g, in[k]))
			return pm_err(err, PM_E_INVALID,
				      "Operand %zu of a new %s node is not a value of the graph.", k,
				      pm_op_desc(op)->name);
	rec.slot0 = (uint32_t)g->slots.n;
	for (size_t k = 0; k < n_in; k++) {
		PM_VEC_PUSH(&g->slots, ((Slot){ .node = n.id }));
		pm__slot_link(g, rec.slot0 + (uint32_t)k, in[k].id);
	}
	rec.value0 = (uint32_t)g->values.n;
	PM_VEC_PUSH(&g->nodes, rec);
	PM_VEC_PUSH(&g->order, n.id);
	for (size_t k = 0; k < n_out; k++) {
		PmValue v;
		PmStatus st = new_value(g, NULL, NULL, &v, err);

		if (st) {
			g->nodes.v[n.id].n_out = (uint32_t)k;
			return st;
		}
		g->values.v[v.id].def = n.id;
	}
	*out = n;
	return pm__graph_check_budget(g, err);
}

PmStatus pm_graph_add_output(PmGraph *g, PmValue v, PmErr *err)
{
	ValueRec *r = pm__value(g, v);

	if (!r)
		return pm_err(err, PM_E_INVALID,
			      "A graph output names value handle %u, which does not exist.", v.id);
	PM_VEC_PUSH(&g->outputs, v.id);
	r->n_outputs++;
	return PM_OK;
}

void pm_value_set_type(PmGraph *g, PmValue v, const PmType *t)
{
	ValueRec *r = pm__value(g, v);

	if (r)
		r->type = pm__graph_type(g, t);
}
