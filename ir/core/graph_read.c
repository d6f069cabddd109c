/* SPDX-License-Identifier: Apache-2.0 */
/* graph_read.c - read access to graphs, and constants as numbers. */
#include "base/core/str.h"
#include "ir/core/element.h"
#include "ir/core/graph.h"
#include "ir/core/graph_priv.h"

#include <string.h>

size_t pm_graph_n_inputs(const PmGraph *g)
{
	return g->inputs.n;
}

PmValue pm_graph_input(const PmGraph *g, size_t i)
{
	return (PmValue){ i < g->inputs.n ? g->inputs.v[i] : 0 };
}

size_t pm_graph_n_outputs(const PmGraph *g)
{
	return g->outputs.n;
}

PmValue pm_graph_output(const PmGraph *g, size_t i)
{
	return (PmValue){ i < g->outputs.n ? g->outputs.v[i] : 0 };
}

/* Drops dead nodes from the order; the order's meaning does not change. */
static void compact(const PmGraph *cg)
{
	PmGraph *g = (PmGraph *)(uintptr_t)cg;
	size_t w = 0;

	if (!g->order_dirty)
		return;
	for (size_t i = 0; i < g->order.n; i++)
		if (!g->nodes.v[g->order.v[i]].dead)
			g->order.v[w++] = g->order.v[i];
	g->order.n = w;
	g->order_dirty = 0;
}

size_t pm_graph_n_nodes(const PmGraph *g)
{
	compact(g);
	return g->order.n;
}

PmNode pm_graph_node_at(const PmGraph *g, size_t i)
{
	compact(g);
	return (PmNode){ i < g->order.n ? g->order.v[i] : 0 };
}

uint32_t pm_graph_node_limit(const PmGraph *g)
{
	return (uint32_t)g->nodes.n;
}

uint32_t pm_graph_value_limit(const PmGraph *g)
{
	return (uint32_t)g->values.n;
}

PmOp pm_node_op(const PmGraph *g, PmNode n)
{
	const NodeRec *r = pm__node(g, n);

	return r ? (PmOp)r->op : PM_OP_NONE;
}

const char *pm_node_name(const PmGraph *g, PmNode n)
{
	const NodeRec *r = pm__node(g, n);

	return r && r->name ? r->name : "";
}

PmStatus pm_node_set_name(PmGraph *g, PmNode n, const char *name, PmErr *err)
{
	NodeRec *r = pm__node(g, n);

	if (!r)
		return pm_err(err, PM_E_INVALID, "Node handle %u does not exist in the graph.", n.id);
	if (strlen(name) > PM_MAX_NAME)
		return pm_err(err, PM_E_LIMIT, "A node name is longer than %d bytes; shorten it.",
			      PM_MAX_NAME);
	if (strcmp(pm_node_name(g, n), name) != 0)
		r->name = *name ? pm_arena_strdup(g->arena, name) : NULL;
	return pm__graph_check_budget(g, err);
}

PmStatus pm_node_set_opaque(PmGraph *g, PmNode n, const char *domain, const char *op_type, PmErr *err)
{
	NodeRec *r = pm__node(g, n);

	if (!r || !(pm_op_desc((PmOp)r->op)->flags & PM_OPF_OPAQUE))
		return pm_err(err, PM_E_INVALID, "Node handle %u is not an opaque node.", n.id);
	if (strlen(domain) > PM_MAX_NAME || strlen(op_type) > PM_MAX_NAME)
		return pm_err(err, PM_E_LIMIT, "An operator name is longer than %d bytes; shorten it.",
			      PM_MAX_NAME);
	r->domain = pm_intern(g->names, domain, strlen(domain));
	r->op_type = pm_intern(g->names, op_type, strlen(op_type));
	return PM_OK;
}

const char *pm_node_op_name(const PmGraph *g, PmNode n)
{
	const NodeRec *r = pm__node(g, n);

	if (!r)
		return "";
	return r->op_type ? pm_intern_text(g->names, r->op_type) : pm_op_desc((PmOp)r->op)->name;
}

const char *pm_node_domain(const PmGraph *g, PmNode n)
{
	const NodeRec *r = pm__node(g, n);

	return pm_intern_text(g->names, r ? r->domain : 0);
}

size_t pm_node_n_in(const PmGraph *g, PmNode n)
{
	const NodeRec *r = pm__node(g, n);

	return r ? r->n_in : 0;
}

PmValue pm_node_in(const PmGraph *g, PmNode n, size_t k)
{
	const NodeRec *r = pm__node(g, n);

	return (PmValue){ r && k < r->n_in ? g->slots.v[r->slot0 + k].value : 0 };
}

size_t pm_node_n_out(const PmGraph *g, PmNode n)
{
	const NodeRec *r = pm__node(g, n);

	return r ? r->n_out : 0;
}

PmValue pm_node_out(const PmGraph *g, PmNode n, size_t k)
{
	const NodeRec *r = pm__node(g, n);

	return (PmValue){ r && k < r->n_out ? r->value0 + (uint32_t)k : 0 };
}

const PmType *pm_value_type(const PmGraph *g, PmValue v)
{
	const ValueRec *r = pm__value(g, v);

	return pm__type_of(g, r ? r : &g->values.v[0]);
}

int pm_value_is_input(const PmGraph *g, PmValue v)
{
	const ValueRec *r = pm__value(g, v);

	return r && r->is_input;
}

int pm_value_is_const(const PmGraph *g, PmValue v)
{
	const ValueRec *r = pm__value(g, v);

	return r && r->blob != NULL;
}

int pm_value_is_output(const PmGraph *g, PmValue v)
{
	const ValueRec *r = pm__value(g, v);

	return r && r->n_outputs > 0;
}

PmBlob *pm_value_blob_ref(const PmGraph *g, PmValue v)
{
	const ValueRec *r = pm__value(g, v);

	return r ? pm_blob_ref(r->blob) : NULL;
}

const PmBlob *pm_value_blob(const PmGraph *g, PmValue v)
{
	const ValueRec *r = pm__value(g, v);

	return r ? r->blob : NULL;
}

PmNode pm_value_def(const PmGraph *g, PmValue v, size_t *result_index)
{
	const ValueRec *r = pm__value(g, v);

	if (result_index)
		*result_index = r && r->def ? v.id - g->nodes.v[r->def].value0 : 0;
	return (PmNode){ r ? r->def : 0 };
}

size_t pm_value_n_uses(const PmGraph *g, PmValue v)
{
	const ValueRec *r = pm__value(g, v);

	return r ? r->n_uses : 0;
}

static PmUse use_at(const PmGraph *g, uint32_t slot)
{
	const Slot *s = &g->slots.v[slot];

	return (PmUse){ slot, { s->node }, slot ? slot - g->nodes.v[s->node].slot0 : 0 };
}

PmUse pm_value_first_use(const PmGraph *g, PmValue v)
{
	const ValueRec *r = pm__value(g, v);

	return use_at(g, r ? r->first_slot : 0);
}

PmUse pm_use_next(const PmGraph *g, PmUse u)
{
	return use_at(g, u.slot < g->slots.n ? g->slots.v[u.slot].next : 0);
}

/* ---- constants as numbers ---- */

/* The constant's data and element count, when it is one of at most `max` elements. */
static const unsigned char *const_data(const PmGraph *g, PmValue v, size_t max, size_t *n, int *dtype)
{
	const ValueRec *r = pm__value(g, v);
	int64_t numel;

	if (!r || !r->blob || (!r->blob->data && r->blob->size) ||
	    pm_type_numel(pm__type_of(g, r), &numel, NULL) || (uint64_t)numel > max)
		return NULL;
	*n = (size_t)numel;
	*dtype = pm__type_of(g, r)->dtype;
	return numel ? r->blob->data : (const unsigned char *)"";
}

PmStatus pm_value_const_ints(const PmGraph *g, PmValue v, int64_t *out, size_t max, size_t *n)
{
	int dtype;
	const unsigned char *p = const_data(g, v, max, n, &dtype);

	if (!p || pm_dtype_is_float(dtype))
		return PM_DECLINED;
	for (size_t i = 0; i < *n; i++) {
		out[i] = pm_int_load(dtype, p + pm_dtype_size(dtype) * i);
		if (dtype == PM_U64 && out[i] < 0)
			return PM_DECLINED;
	}
	return PM_OK;
}

PmStatus pm_value_const_floats(const PmGraph *g, PmValue v, double *out, size_t max, size_t *n)
{
	int dtype;
	const unsigned char *p = const_data(g, v, max, n, &dtype);

	if (!p)
		return PM_DECLINED;
	for (size_t i = 0; i < *n && !pm_dtype_is_float(dtype); i++)
		out[i] = pm_int_to_f64(dtype, pm_int_load(dtype, p + pm_dtype_size(dtype) * i));
	if (!pm_dtype_is_float(dtype))
		return PM_OK;
	for (size_t i = 0; i < *n; i++)
		out[i] = pm_float_load(dtype, p + pm_dtype_size(dtype) * i);
	return PM_OK;
}

void pm_node_describe(const PmGraph *g, PmNode n, PmStr *out)
{
	const char *name = pm_node_name(g, n);
	PmValue v = pm_node_out(g, n, 0);

	pm_str_addf(out, "node %u (%s", n.id, pm_node_op_name(g, n));
	if (*name)
		pm_str_addf(out, " '%.120s'", name);
	else if (v.id)
		pm_str_addf(out, " -> '%.120s'", pm_value_name(g, v));
	pm_str_addc(out, ')');
}

void pm_graph_describe_type(const PmGraph *g, const PmType *t, PmStr *out)
{
	pm_str_add(out, t->dtype < 0 ? "unknown" : pm_dtype_name(t->dtype));
	if (t->rank < 0) {
		pm_str_add(out, "[...]");
		return;
	}
	pm_str_addc(out, '[');
	for (int k = 0; k < t->rank; k++) {
		if (k)
			pm_str_addc(out, ',');
		if (t->dim[k] >= 0)
			pm_str_addi(out, t->dim[k]);
		else
			pm_str_add(out, pm_graph_symbol_name(g, t->dim[k]));
	}
	pm_str_addc(out, ']');
}
