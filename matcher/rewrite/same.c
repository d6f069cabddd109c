/* SPDX-License-Identifier: Apache-2.0 */
/* same.c - walking an original and a rewritten graph together. */
#include "matcher/rewrite/same.h"

#include "base/core/vec.h"
#include "ir/core/element.h"
#include "ir/core/kernel.h"
#include "ir/text/text.h"
#include "matcher/rewrite/ksig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Pair {
	PmValue a, b;
} Pair;

typedef struct Walk {
	const PmGraph *a, *b; /* original, result */
	uint32_t *value_of;   /* value of b -> value of a */
	uint32_t *node_of;    /* likewise */
	PM_VEC(Pair) work;
	PmErr *err;
} Walk;

/* ---- attributes, types, constants ---- */

/* 1 when the element at p is a NaN: text keeps that it is one, not which. */
static int is_nan(int dtype, const unsigned char *p)
{
	return pm_dtype_is_float(dtype) && isnan(pm_float_load(dtype, p));
}

static int same_data(int dtype, const unsigned char *x, const unsigned char *y, size_t n)
{
	size_t size = pm_dtype_size(dtype);

	if (x == y || !n || !memcmp(x, y, n))
		return 1;
	for (size_t i = 0; size && i + size <= n; i += size)
		if (memcmp(x + i, y + i, size) && !(is_nan(dtype, x + i) && is_nan(dtype, y + i)))
			return 0;
	return size != 0;
}

static int same_blob(int dtype, const PmBlob *x, const PmBlob *y)
{
	if (!x || !y || x->size != y->size)
		return 0;
	if (x->data && y->data)
		return same_data(dtype, x->data, y->data, x->size);
	return !x->data && !y->data && x->offset == y->offset && pm_str_eq(x->location, y->location);
}

/* 1 when the graph attributes print alike. */
static int same_graph(const PmGraph *x, const PmGraph *y)
{
	PmStr s = PM_STR_INIT, t = PM_STR_INIT;
	int same = pm_graph_print(x, NULL, &s, NULL) == PM_OK && pm_graph_print(y, NULL, &t, NULL) == PM_OK &&
		   s.len == t.len && !memcmp(s.s, t.s, s.len);

	pm_str_release(&s);
	pm_str_release(&t);
	return same;
}

static int same_attr(const PmAttr *x, const PmAttr *y)
{
	if (x->kind != y->kind)
		return 0;
	switch (x->kind) {
	case PM_ATTR_INT:
		return x->i == y->i;
	case PM_ATTR_FLOAT:
		return x->f == y->f || (x->f != x->f && y->f != y->f);
	case PM_ATTR_STRING:
		return x->n == y->n && !memcmp(x->s, y->s, x->n);
	case PM_ATTR_INTS:
		return x->n == y->n && (!x->n || !memcmp(x->ints, y->ints, x->n * sizeof *x->ints));
	case PM_ATTR_FLOATS:
		return x->n == y->n && (!x->n || !memcmp(x->floats, y->floats, x->n * sizeof *x->floats));
	case PM_ATTR_STRINGS:
		if (x->n != y->n)
			return 0;
		for (size_t i = 0; i < x->n; i++)
			if (strcmp(x->strings[i], y->strings[i]))
				return 0;
		return 1;
	case PM_ATTR_TENSOR:
		return pm_type_equal(&x->type, &y->type) && same_blob(x->type.dtype, x->blob, y->blob);
	case PM_ATTR_GRAPH:
		return same_graph(x->graph, y->graph);
	}
	return 0;
}

/* Every attribute of x is in y with the same value, or absent there and at its default. */
static int attrs_within(const PmGraph *gx, PmNode x, const PmGraph *gy, PmNode y)
{
	for (size_t i = 0; i < pm_node_n_attrs(gx, x); i++) {
		const PmAttr *a = pm_node_attr_at(gx, x, i), *b = pm_node_attr(gy, y, a->name);
		const PmAttrDesc *d = pm_op_attr_desc(pm_node_op(gx, x), a->name);
		PmAttr dflt = { 0 };

		if (!b && d && d->has_default) {
			dflt = (PmAttr){ .name = d->name, .kind = d->kind, .i = d->i, .f = d->f, .s = d->s };
			dflt.n = d->kind == PM_ATTR_STRING && d->s ? strlen(d->s) : 0;
			b = &dflt;
		}
		if (!b || !same_attr(a, b))
			return 0;
	}
	return 1;
}

static int same_type(const Walk *w, PmValue a, PmValue b)
{
	const PmType *x = pm_value_type(w->a, a), *y = pm_value_type(w->b, b);
	int exact = !pm_value_def(w->a, a, NULL).id;

	if (x->dtype != y->dtype || x->rank != y->rank)
		return 0;
	for (int k = 0; k < x->rank; k++) {
		if ((x->dim[k] < 0) != (y->dim[k] < 0))
			return 0;
		if (x->dim[k] >= 0 ? x->dim[k] != y->dim[k]
				   : exact && !pm_str_eq(pm_graph_symbol_name(w->a, x->dim[k]),
							 pm_graph_symbol_name(w->b, y->dim[k])))
			return 0;
	}
	return 1;
}

/* ---- the walk ---- */

static PmStatus differ(const Walk *w, PmValue a, const char *how)
{
	return pm_err(w->err, PM_E_INVALID,
		      "The rewritten graph does not mean the same as the original: at value '%.200s' of the "
		      "original, "
		      "%s.",
		      pm_value_name(w->a, a), how);
}

static PmStatus meet_nodes(Walk *w, PmNode na, PmNode nb, PmValue at)
{
	size_t n_in = pm_node_n_in(w->a, na), n_out = pm_node_n_out(w->a, na);

	if (w->node_of[nb.id])
		return w->node_of[nb.id] == na.id ? PM_OK : differ(w, at, "two nodes were made one");
	w->node_of[nb.id] = na.id;
	if (pm_node_op(w->a, na) != pm_node_op(w->b, nb) ||
	    strcmp(pm_node_op_name(w->a, na), pm_node_op_name(w->b, nb)) ||
	    strcmp(pm_node_domain(w->a, na), pm_node_domain(w->b, nb)))
		return differ(w, at, "the operator is another one");
	if (n_in != pm_node_n_in(w->b, nb) || n_out != pm_node_n_out(w->b, nb))
		return differ(w, at, "the node has another number of operands or results");
	if (!attrs_within(w->a, na, w->b, nb) || !attrs_within(w->b, nb, w->a, na))
		return differ(w, at, "the attributes of the node differ");
	for (size_t k = 0; k < n_in; k++) {
		Pair p = { pm_node_in(w->a, na, k), pm_node_in(w->b, nb, k) };

		if (!p.a.id != !p.b.id)
			return differ(w, at, "an operand is omitted on one side");
		if (p.a.id)
			PM_VEC_PUSH(&w->work, p);
	}
	return PM_OK;
}

static PmStatus meet(Walk *w, Pair p)
{
	size_t ka = 0, kb = 0;
	PmNode na = pm_value_def(w->a, p.a, &ka), nb = pm_value_def(w->b, p.b, &kb);

	if (w->value_of[p.b.id])
		return w->value_of[p.b.id] == p.a.id ? PM_OK
						     : differ(w, p.a, "another value is used in its place");
	w->value_of[p.b.id] = p.a.id;
	if (!same_type(w, p.a, p.b))
		return differ(w, p.a, "the type differs");
	if (pm_value_is_const(w->a, p.a))
		return pm_value_is_const(w->b, p.b) &&
				       same_blob(pm_value_type(w->a, p.a)->dtype, pm_value_blob(w->a, p.a),
						 pm_value_blob(w->b, p.b))
			       ? PM_OK
			       : differ(w, p.a, "the constant differs");
	if (pm_value_is_const(w->b, p.b) || !na.id != !nb.id)
		return differ(w, p.a, "a value of another kind stands in its place");
	if (!na.id) {
		/* Graph inputs were paired by position before the walk: this one is not its counterpart. */
		return differ(w, p.a, "another graph input is used");
	}
	if (ka != kb)
		return differ(w, p.a, "another result of the node is used");
	return meet_nodes(w, na, nb, p.a);
}

static PmStatus walk(Walk *w)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_inputs(w->b) && !st; i++) {
		PmValue a = pm_graph_input(w->a, i), b = pm_graph_input(w->b, i);

		w->value_of[b.id] = a.id;
		if (!same_type(w, a, b))
			st = differ(w, a, "the type of the graph input differs");
	}
	for (size_t i = 0; i < pm_graph_n_outputs(w->b) && !st; i++) {
		PM_VEC_PUSH(&w->work, ((Pair){ pm_graph_output(w->a, i), pm_graph_output(w->b, i) }));
	}
	while (!st && w->work.n) {
		Pair p = w->work.v[--w->work.n];

		st = meet(w, p);
	}
	return st;
}

/* ---- fused nodes ---- */

/* By node id: 1 for what an output needs. Owned. */
static uint8_t *needed(const PmGraph *g)
{
	PM_VEC(PmValue) work = { 0 };
	uint8_t *seen = pm_xcalloc(pm_graph_node_limit(g) + 1, 1);

	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		PM_VEC_PUSH(&work, pm_graph_output(g, i));
	while (work.n) {
		PmNode n = pm_value_def(g, work.v[--work.n], NULL);

		if (!n.id || seen[n.id])
			continue;
		seen[n.id] = 1;
		for (size_t k = 0; k < pm_node_n_in(g, n); k++)
			PM_VEC_PUSH(&work, pm_node_in(g, n, k));
	}
	PM_VEC_RELEASE(&work);
	return seen;
}

static size_t count_dead(const PmGraph *g)
{
	uint8_t *seen = needed(g);
	size_t dead = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		dead += !seen[pm_graph_node_at(g, i).id];
	free(seen);
	return dead;
}

/* A body is what the reference runs and the error bound knows: operators, no kernels again. */
static int has_kernel_inside(const PmGraph *g, PmNode n)
{
	const PmAttr *body = pm_node_attr(g, n, "body");

	for (size_t i = 0; body && body->graph && i < pm_graph_n_nodes(body->graph); i++)
		if (pm_node_op(body->graph, pm_graph_node_at(body->graph, i)) == PM_OP_Kernel)
			return 1;
	return 0;
}

/* Every fused node is needed by an output, has a body of operators, and its arguments fit its source. */
static PmStatus check_kernels(const PmGraph *g, PmErr *err)
{
	uint8_t *seen = needed(g);
	PmStatus st = PM_OK;

	for (size_t i = 0; i < pm_graph_n_nodes(g) && !st; i++) {
		PmNode n = pm_graph_node_at(g, i);

		if (pm_node_op(g, n) != PM_OP_Kernel)
			continue;
		if (has_kernel_inside(g, n))
			st = pm_err(err, PM_E_INVALID,
				    "Fused node %u of the rewritten graph has a fused node in its body.",
				    n.id);
		else
			st = seen[n.id] ? pm_ksig_check_node(g, n, err)
					: pm_err(err, PM_E_INVALID,
						 "Fused node %u of the rewritten graph is not needed by any "
						 "output.",
						 n.id);
	}
	free(seen);
	return st;
}

/* Replacing never adds operators that nothing needs; the original may have some. */
static PmStatus check_dead(const PmGraph *before, const PmGraph *after, PmErr *err)
{
	size_t was = count_dead(before), is = count_dead(after);

	if (is <= was)
		return PM_OK;
	return pm_err(err, PM_E_INVALID,
		      "The rewritten graph has %zu nodes that no output needs, the original %zu.", is, was);
}

PmStatus pm_rewrite_check(const PmGraph *before, const PmGraph *after, PmErr *err)
{
	PmGraph *a = NULL, *b = NULL;
	Walk w = { .err = err };
	PmStatus st = check_kernels(after, err);

	if (!st)
		st = check_dead(before, after, err);
	if (st)
		return st;
	if (pm_graph_n_inputs(before) != pm_graph_n_inputs(after) ||
	    pm_graph_n_outputs(before) != pm_graph_n_outputs(after))
		return pm_err(err, PM_E_INVALID,
			      "The rewritten graph has %zu inputs and %zu outputs, the original %zu and %zu.",
			      pm_graph_n_inputs(after), pm_graph_n_outputs(after), pm_graph_n_inputs(before),
			      pm_graph_n_outputs(before));
	/* Names before cloning: a clone gives values without names other ones. */
	for (size_t i = 0; i < pm_graph_n_inputs(before); i++)
		if (strcmp(pm_value_name(before, pm_graph_input(before, i)),
			   pm_value_name(after, pm_graph_input(after, i))))
			return pm_err(err, PM_E_INVALID, "Input %zu of the rewritten graph has another name.",
				      i);
	for (size_t i = 0; i < pm_graph_n_outputs(before); i++)
		if (strcmp(pm_value_name(before, pm_graph_output(before, i)),
			   pm_value_name(after, pm_graph_output(after, i))))
			return pm_err(err, PM_E_INVALID,
				      "Output %zu of the rewritten graph has another name.", i);
	st = pm_graph_clone(before, &a, err);
	if (!st)
		st = pm_graph_clone(after, &b, err);
	if (!st)
		st = pm_graph_inline_kernels(a, err);
	if (!st)
		st = pm_graph_inline_kernels(b, err);
	if (!st) {
		w.a = a;
		w.b = b;
		w.value_of = pm_xcalloc(pm_graph_value_limit(b) + 1, sizeof *w.value_of);
		w.node_of = pm_xcalloc(pm_graph_node_limit(b) + 1, sizeof *w.node_of);
		st = walk(&w);
	}
	free(w.value_of);
	free(w.node_of);
	PM_VEC_RELEASE(&w.work);
	pm_graph_free(a);
	pm_graph_free(b);
	return st;
}
