/* SPDX-License-Identifier: Apache-2.0 */
/* union.c - both graphs of a difference as one graph. */
#include "app/view/union.h"

#include "base/core/str.h"

#include <string.h>

typedef struct Joining {
	const PmDiff *d;
	PmGraph *g;
	PmValue *a, *b; /* by value id: the value of g */
	char *alone;    /* by value id of a: its definition is in a alone */
	PmErr *err;
} Joining;

static PmType copy_type(const PmGraph *from, const PmType *t, PmGraph *to)
{
	PmType r = *t;

	for (int k = 0; k < r.rank; k++) {
		const char *name = r.dim[k] < 0 ? pm_graph_symbol_name(from, r.dim[k]) : NULL;

		if (name)
			r.dim[k] = pm_graph_symbol(to, name);
	}
	return r;
}

static int is_taken(const Joining *j, const PmGraph *from, const char *name)
{
	return pm_graph_find_value(j->g, name).id ||
	       (from == j->d->a && pm_graph_find_value(j->d->b, name).id);
}

/* A name that is still free: the value's, or that with "(removed)" behind it, or one that is made up. */
static void free_name(const Joining *j, const PmGraph *from, PmValue v, PmStr *name)
{
	pm_str_clear(name);
	pm_str_add(name, pm_value_name(from, v));
	if (is_taken(j, from, name->s))
		pm_str_add(name, " (removed)");
	if (name->len > PM_MAX_NAME || is_taken(j, from, name->s))
		pm_str_clear(name);
}

/* Adds an input or a constant. */
static PmStatus add_source(Joining *j, const PmGraph *from, PmValue v, PmValue *out)
{
	PmType t = copy_type(from, pm_value_type(from, v), j->g);
	PmStr name = PM_STR_INIT;
	PmStatus st;

	free_name(j, from, v, &name);
	if (pm_value_is_const(from, v))
		st = pm_graph_add_const(j->g, name.s, &t, pm_value_blob_ref(from, v), out, j->err);
	else
		st = pm_graph_add_input(j->g, name.s, &t, out, j->err);
	pm_str_release(&name);
	return st;
}

static PmStatus add_inputs(Joining *j)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_inputs(j->d->b) && !st; i++) {
		PmValue v = pm_graph_input(j->d->b, i);

		st = add_source(j, j->d->b, v, &j->b[v.id]);
	}
	for (size_t i = 0; i < pm_graph_n_inputs(j->d->a) && !st; i++) {
		PmValue v = pm_graph_input(j->d->a, i);
		uint32_t pair = j->d->input_to_b[i];

		if (pair != PM_DIFF_NONE)
			j->a[v.id] = j->b[pm_graph_input(j->d->b, pair).id];
		else
			st = add_source(j, j->d->a, v, &j->a[v.id]);
	}
	return st;
}

static PmStatus operand(Joining *j, const PmGraph *from, PmValue v, PmValue *map, PmValue *out)
{
	PmStatus st = PM_OK;

	if (v.id && !map[v.id].id && pm_value_is_const(from, v))
		st = add_source(j, from, v, &map[v.id]);
	*out = v.id ? map[v.id] : v;
	return st;
}

typedef PM_VEC(PmValue) Operands;

static PmStatus operands(Joining *j, const PmGraph *from, PmNode n, PmValue *map, Operands *in)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < pm_node_n_in(from, n) && !st; k++) {
		PmValue v;

		st = operand(j, from, pm_node_in(from, n, k), map, &v);
		PM_VEC_PUSH(in, v);
	}
	return st;
}

/* What was removed and went into a node that is still there. */
static void removed_operands(const Joining *j, PmNode n, Operands *in)
{
	for (size_t k = 0; k < pm_node_n_in(j->d->a, n); k++) {
		PmValue v = pm_node_in(j->d->a, n, k);

		if (j->alone[v.id])
			PM_VEC_PUSH(in, j->a[v.id]);
	}
}

static PmStatus set_results(Joining *j, const PmGraph *from, PmNode n, PmNode copy, PmValue *map)
{
	PmStr name = PM_STR_INIT;
	PmStatus st = PM_OK;

	for (size_t k = 0; k < pm_node_n_out(from, n) && !st; k++) {
		PmValue v = pm_node_out(from, n, k), w = pm_node_out(j->g, copy, k);
		PmType t = copy_type(from, pm_value_type(from, v), j->g);

		map[v.id] = w;
		pm_value_set_type(j->g, w, &t);
		free_name(j, from, v, &name);
		st = pm_value_set_name(j->g, w, name.s, j->err);
	}
	pm_str_release(&name);
	return st;
}

static PmStatus copy_node(Joining *j, const PmGraph *from, PmNode n, PmValue *map, const Operands *in)
{
	PmNode copy;
	PmStatus st = pm_graph_add_node(j->g, pm_node_op(from, n), in->v, in->n, pm_node_n_out(from, n),
					&copy, j->err);

	if (!st && pm_node_op(from, n) == PM_OP_Opaque)
		st = pm_node_set_opaque(j->g, copy, pm_node_domain(from, n), pm_node_op_name(from, n),
					j->err);
	if (!st)
		st = pm_node_copy_attrs(j->g, copy, from, n, j->err);
	if (!st)
		st = pm_node_set_name(j->g, copy, pm_node_name(from, n), j->err);
	return st ? st : set_results(j, from, n, copy, map);
}

static PmStatus add_node(Joining *j, uint32_t at)
{
	const PmDiff *d = j->d;
	uint32_t x = at & PM_DIFF_IN_A ? at & ~PM_DIFF_IN_A : d->to_a[at];
	PmNode p = x == PM_DIFF_NONE ? (PmNode){ 0 } : pm_graph_node_at(d->a, x), q;
	Operands in = { 0 };
	PmStatus st;

	if (at & PM_DIFF_IN_A) {
		st = operands(j, d->a, p, j->a, &in);
		if (!st)
			st = copy_node(j, d->a, p, j->a, &in);
		for (size_t k = 0; k < pm_node_n_out(d->a, p); k++)
			j->alone[pm_node_out(d->a, p, k).id] = 1;
	} else {
		q = pm_graph_node_at(d->b, at);
		st = operands(j, d->b, q, j->b, &in);
		if (x != PM_DIFF_NONE)
			removed_operands(j, p, &in);
		if (!st)
			st = copy_node(j, d->b, q, j->b, &in);
		for (size_t k = 0; k < pm_node_n_out(d->a, p) && k < pm_node_n_out(d->b, q); k++)
			j->a[pm_node_out(d->a, p, k).id] = j->b[pm_node_out(d->b, q, k).id];
	}
	PM_VEC_RELEASE(&in);
	return st;
}

static PmStatus add_outputs(Joining *j)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_outputs(j->d->b) && !st; i++) {
		PmValue v;

		st = operand(j, j->d->b, pm_graph_output(j->d->b, i), j->b, &v);
		st = st ? st : pm_graph_add_output(j->g, v, j->err);
	}
	for (size_t i = 0; i < pm_graph_n_outputs(j->d->a) && !st; i++) {
		PmValue v = pm_graph_output(j->d->a, i);

		if (j->alone[v.id])
			st = pm_graph_add_output(j->g, j->a[v.id], j->err);
	}
	return st;
}

static PmStatus join(Joining *j)
{
	PmStatus st = pm_graph_set_name(j->g, pm_graph_name(j->d->b), j->err);

	st = st ? st : add_inputs(j);
	for (size_t i = 0; i < j->d->order.n && !st; i++)
		st = add_node(j, j->d->order.v[i]);
	return st ? st : add_outputs(j);
}

/* ---- marks ---- */

static void mark(const PmDiff *d, PmUnion *u)
{
	uint32_t *of_a = pm_xcalloc(pm_graph_n_nodes(d->a) + 1, sizeof *of_a);
	uint32_t *of_b = pm_xcalloc(pm_graph_n_nodes(d->b) + 1, sizeof *of_b);

	for (size_t i = 0; i < d->change.n; i++) {
		const PmDiffChange *c = &d->change.v[i];

		if (c->subject == PM_DIFF_NODE && c->b != PM_DIFF_NONE)
			of_b[c->b] = (uint32_t)i + 1;
		else if (c->subject == PM_DIFF_NODE)
			of_a[c->a] = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < d->order.n; i++) {
		uint32_t at = d->order.v[i];

		u->change[i] = at & PM_DIFF_IN_A ? of_a[at & ~PM_DIFF_IN_A] : of_b[at];
		if (u->change[i])
			u->kind[i] = (unsigned char)(1 + d->change.v[u->change[i] - 1].kind);
	}
	free(of_a);
	free(of_b);
}

PmStatus pm_union(const PmDiff *d, PmUnion *u, PmErr *err)
{
	Joining j = { .d = d, .g = pm_graph_new(0), .err = err };
	PmStatus st;

	*u = (PmUnion){ .g = j.g };
	u->change = pm_xcalloc(d->order.n + 1, sizeof *u->change);
	u->kind = pm_xcalloc(d->order.n + 1, 1);
	j.a = pm_xcalloc((size_t)pm_graph_value_limit(d->a) + 1, sizeof *j.a);
	j.b = pm_xcalloc((size_t)pm_graph_value_limit(d->b) + 1, sizeof *j.b);
	j.alone = pm_xcalloc((size_t)pm_graph_value_limit(d->a) + 1, 1);
	st = join(&j);
	if (!st)
		mark(d, u);
	free(j.a);
	free(j.b);
	free(j.alone);
	return st;
}

void pm_union_release(PmUnion *u)
{
	pm_graph_free(u->g);
	free(u->change);
	free(u->kind);
}

/* ---- what stands alone ---- */

/* One step outwards along values, in both directions. */
static void widen(const PmGraph *g, const uint32_t *place, const unsigned char *from, unsigned char *to)
{
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
			PmNode def = pm_value_def(g, pm_node_in(g, n, k), NULL);

			if (!def.id)
				continue;
			to[i] |= from[place[def.id]];
			to[place[def.id]] |= from[i];
		}
	}
}

/* Items of the first level: nodes that stand alone, and runs of others. */
static size_t n_items(const unsigned char *alone, size_t n)
{
	size_t items = 0;

	for (size_t i = 0; i < n; i++)
		items += alone[i] || !i || alone[i - 1];
	return items;
}

unsigned char *pm_union_alone(const PmUnion *u)
{
	size_t n = pm_graph_n_nodes(u->g);
	unsigned char *now = pm_xcalloc(n + 1, 1), *next = pm_xcalloc(n + 1, 1);
	uint32_t *place = pm_xcalloc((size_t)pm_graph_node_limit(u->g) + 1, sizeof *place);
	int fits;

	for (size_t i = 0; i < n; i++) {
		place[pm_graph_node_at(u->g, i).id] = (uint32_t)i;
		now[i] = u->kind[i] != 0;
	}
	fits = n_items(now, n) <= PM_FOLD_MOST;
	for (int step = 0; step < 2 && fits; step++) {
		memcpy(next, now, n);
		widen(u->g, place, now, next);
		if (n_items(next, n) > PM_FOLD_MOST)
			break;
		memcpy(now, next, n);
	}
	free(next);
	free(place);
	if (!fits) {
		free(now);
		now = NULL;
	}
	return now;
}
