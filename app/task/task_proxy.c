/* SPDX-License-Identifier: Apache-2.0 */
/* task_proxy.c - the scaled-down proxy of a graph, and what a graph costs. */
#include "app/task/task_proxy.h"

#include "extract/variants/variants.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PROXY_COST = 300 * 1000, /* operations and elements of a graph that the gate runs some 200 times */
	PROXY_MAX = 50 * PROXY_COST, /* beyond this it would take minutes */
	PROXY_SHAPES = 32,
	PROXY_ELEMENTS = 1 << 14
};

PmStatus pm_task_collect(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	PmGraphVariants *v = arg;
	PmGraphVariant one = { NULL, NULL, shape, dtype };
	PmStatus st = pm_graph_clone(g, &one.g, err);
	int new_shape = 1, new_dtype = 1;

	if (st)
		return st;
	for (size_t i = 0; i < v->list.n; i++) {
		new_shape &= v->list.v[i].shape != shape;
		new_dtype &= v->list.v[i].dtype != dtype;
	}
	v->n_shapes += (size_t)new_shape;
	v->n_dtypes += (size_t)new_dtype;
	one.label = pm_xstrdup(label);
	PM_VEC_PUSH(&v->list, one);
	return PM_OK;
}

void pm_task_variants_release(PmGraphVariants *v)
{
	for (size_t i = 0; i < v->list.n; i++) {
		pm_graph_free(v->list.v[i].g);
		free(v->list.v[i].label);
	}
	PM_VEC_RELEASE(&v->list);
	memset(v, 0, sizeof *v);
}

/* Whether sizes were kept that the rules need: nothing shrunk to one, results of 64 elements. */
static int is_fair(const PmGraph *g, const PmGraph *original)
{
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		const PmType *t = pm_value_type(g, pm_graph_input(g, i));
		const PmType *o = pm_value_type(original, pm_graph_input(original, i));

		for (int k = 0; k < t->rank && k < o->rank; k++)
			if (t->dim[k] == 1 && o->dim[k] != 1)
				return 0;
	}
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++) {
		int64_t n = 0, was = 0;

		if (pm_type_numel(pm_value_type(g, pm_graph_output(g, i)), &n, NULL) ||
		    pm_type_numel(pm_value_type(original, pm_graph_output(original, i)), &was, NULL))
			return 0;
		if (n < 64 && n < was)
			return 0;
	}
	return 1;
}

/* 1 when variant a is better to judge than b: fair, then quick, then large. */
static int better(const PmGraph *a, const PmGraph *b, const PmGraph *original)
{
	int fair_a = is_fair(a, original), fair_b = is_fair(b, original);
	int64_t ca = pm_graph_cost(a), cb = pm_graph_cost(b);

	if (ca > PROXY_MAX || cb > PROXY_MAX)
		return ca < cb;
	if (fair_a != fair_b)
		return fair_a;
	return cb > PROXY_COST ? ca < cb : ca > cb && ca <= PROXY_COST;
}

/* The best of the first's element type; n when there is none. */
static size_t best_proxy(const PmGraphVariants *v)
{
	size_t best = v->list.n ? 0 : v->list.n;

	for (size_t i = 1; i < v->list.n; i++)
		if (v->list.v[i].dtype == v->list.v[0].dtype &&
		    better(v->list.v[i].g, v->list.v[best].g, v->list.v[0].g))
			best = i;
	return best;
}

PmStatus pm_task_proxy(const PmGraph *g, PmGraph **out, char label[96], PmErr *err)
{
	PmVariantOpts few = { .n_shapes = 10, .dtypes = 1u << PM_F32 };
	PmVariantOpts many = { .n_shapes = PROXY_SHAPES,
			       .dtypes = 1u << PM_F32,
			       .max_elements = PROXY_ELEMENTS };
	PmGraphVariants v = { 0 };
	PmStatus st = pm_variants_make(g, &few, pm_task_collect, &v, NULL, err);
	size_t i = st ? 0 : best_proxy(&v);

	if (!st && i < v.list.n &&
	    (pm_graph_cost(v.list.v[i].g) > PROXY_COST || !is_fair(v.list.v[i].g, v.list.v[0].g))) {
		st = pm_variants_make(g, &many, pm_task_collect, &v, NULL, err);
		i = best_proxy(&v);
	}
	if (!st && (i == v.list.n || pm_graph_cost(v.list.v[i].g) > PROXY_MAX))
		st = pm_err(err, PM_E_LIMIT,
			    "No variant of the graph is small enough for the gate, which runs it some 200 "
			    "times.");
	if (!st) {
		snprintf(label, 96, "%s", v.list.v[i].label);
		*out = v.list.v[i].g;
		v.list.v[i].g = NULL;
	}
	pm_task_variants_release(&v);
	return st;
}

int64_t pm_graph_flops(const PmGraph *g)
{
	int64_t sum = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		sum += pm_op_flops(g, pm_graph_node_at(g, i));
	return sum;
}

int64_t pm_graph_cost(const PmGraph *g)
{
	int64_t c = pm_graph_flops(g), e;

	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++)
		if (!pm_type_numel(pm_value_type(g, (PmValue){ id }), &e, NULL))
			c += e;
	return c;
}
