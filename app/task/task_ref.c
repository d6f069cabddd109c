/* SPDX-License-Identifier: Apache-2.0 */
/* task_ref.c - runs variants on the reference, as they are or scaled down. */
#include "app/task/task_ref.h"

#include "app/task/task_proxy.h"
#include "bench/inputs/inputs.h"
#include "extract/variants/variants.h"
#include "simplify/simplify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pm_ref_how_name(PmRefHow how)
{
	static const char *const names[] = { "", "whole", "proxy", "failed" };

	return names[how];
}

static void fail(PmRefCase *c, const char *why)
{
	c->how = PM_REF_FAILED;
	snprintf(c->why, sizeof c->why, "%.159s", why);
}

/* ---- indices that are known without running ---- */

/* The extent that element i of an index operand must stay below; 0 when the operator takes no indices. */
static int64_t index_bound(const PmGraph *g, PmNode n, int64_t i)
{
	PmOp op = pm_node_op(g, n);
	const PmType *t = pm_value_type(g, pm_node_in(g, n, 0)), *it = pm_value_type(g, pm_node_in(g, n, 1));
	int64_t axis;

	if (op == PM_OP_Gather || op == PM_OP_GatherElements || op == PM_OP_ScatterElements)
		axis = pm_node_i(g, n, "axis", 0);
	else if ((op == PM_OP_GatherND || op == PM_OP_ScatterND) && it->rank > 0 && it->dim[it->rank - 1] > 0)
		axis = pm_node_i(g, n, "batch_dims", 0) + i % it->dim[it->rank - 1];
	else
		return 0;
	axis += axis < 0 ? t->rank : 0;
	return axis >= 0 && axis < t->rank ? t->dim[axis] : 0;
}

static int stays(const PmGraph *g, PmNode n, char why[160])
{
	PmValue v = pm_node_n_in(g, n) > 1 ? pm_node_in(g, n, 1) : (PmValue){ 0 };
	int64_t k = 0, bound = 1;
	size_t count = 0, i;
	int64_t *ints;

	if (!v.id || !index_bound(g, n, 0) || !pm_value_is_const(g, v) ||
	    pm_type_numel(pm_value_type(g, v), &k, NULL) || k <= 0)
		return 1;
	ints = pm_xcalloc((size_t)k, sizeof *ints);
	if (pm_value_const_ints(g, v, ints, (size_t)k, &count))
		count = 0;
	for (i = 0; i < count; i++) {
		bound = index_bound(g, n, (int64_t)i);
		if (bound && (ints[i] >= bound || ints[i] < -bound))
			break;
	}
	if (i < count)
		snprintf(why, 160, "%s reads element %lld of an axis of %lld.", pm_node_op_name(g, n),
			 (long long)ints[i], (long long)bound);
	free(ints);
	return i == count;
}

static int takes_computed_indices(const PmGraph *g)
{
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		if (pm_node_n_in(g, n) > 1 && index_bound(g, n, 0) &&
		    !pm_value_is_input(g, pm_node_in(g, n, 1)))
			return 1;
	}
	return 0;
}

/* Constants are computed ahead, so that indices that follow from them are seen. */
static void check_indices(PmRefCase *c)
{
	PmGraph *g = NULL;
	char why[160];

	if (!takes_computed_indices(c->g) || pm_graph_clone(c->g, &g, NULL))
		return;
	if (!pm_simplify(g, NULL, NULL, NULL))
		for (size_t i = 0; i < pm_graph_n_nodes(g) && c->how != PM_REF_FAILED; i++)
			if (!stays(g, pm_graph_node_at(g, i), why))
				fail(c, why);
	pm_graph_free(g);
}

/* ---- running ---- */

/* NULL, or why it does not run: nine results of ten must be finite, as the gate has it. */
static const char *run(const PmGraph *g, uint64_t seed, char why[160])
{
	size_t n_in = pm_graph_n_inputs(g), n_out = pm_graph_n_outputs(g), finite = 0, total = 0;
	PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in), *out = pm_xcalloc(n_out + 1, sizeof *out);
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = pm_inputs_make(g, seed, PM_INPUTS_NORMAL, in, &err);
	if (!st)
		st = pm_ref_run(g, in, n_in, out, n_out, &err);
	for (size_t o = 0; o < n_out && !st; o++)
		for (int64_t i = 0; i < pm_tensor_numel(&out[o]); i++, total++)
			finite += isfinite(pm_tensor_get(&out[o], i)) != 0;
	pm_tensors_release(in, n_in);
	pm_tensors_release(out, n_out);
	free(in);
	free(out);
	if (st)
		snprintf(why, 160, "%.159s", err.text);
	else
		snprintf(why, 160, "Only %zu of %zu results are finite.", finite, total);
	return st || 10 * finite < 9 * total ? why : NULL;
}

static void run_whole(PmRefCase *c, uint64_t seed)
{
	char why[160];

	if (run(c->g, seed, why))
		fail(c, why);
	else
		c->how = PM_REF_WHOLE;
}

/* ---- scaled-down proxies ---- */

typedef struct Proxy {
	PmGraph *g;
	char label[96];
} Proxy;

static PmStatus take_proxy(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	Proxy *t = arg;

	(void)shape;
	(void)dtype;
	snprintf(t->label, sizeof t->label, "%s", label);
	return pm_graph_clone(g, &t->g, err);
}

/* A variant made for the purpose, where no variant of the element type is small enough. */
static void run_made(const PmGraph *base, PmRefCase *c, uint64_t seed)
{
	PmVariantOpts same = { .n_shapes = 1, .dtypes = 1u << c->dtype };
	Proxy t = { NULL, "" };
	PmGraph *small = NULL;
	char label[96], why[160];
	PmErr err;

	pm_err_init(&err);
	if (pm_task_proxy(base, &small, label, &err) ||
	    pm_variants_make(small, &same, take_proxy, &t, NULL, &err) || !t.g)
		fail(c, *err.text ? err.text : "It has no variant that is small enough to run.");
	else if (run(t.g, seed, why))
		fail(c, why);
	else {
		c->how = PM_REF_PROXY;
		snprintf(c->why, sizeof c->why, "%.100s", t.label);
	}
	pm_graph_free(t.g);
	pm_graph_free(small);
}

/* The largest of the same element type that ran, n when there is none. */
static size_t best_proxy(const PmRefCase *v, size_t n, const PmRefCase *c)
{
	size_t best = n;

	for (size_t i = 0; i < n; i++)
		if (v[i].how == PM_REF_WHOLE && v[i].dtype == c->dtype &&
		    (best == n || pm_graph_cost(v[i].g) > pm_graph_cost(v[best].g)))
			best = i;
	return best;
}

static void stand_for(const PmGraph *base, PmRefCase *v, size_t n, PmRefCase *c, uint64_t seed)
{
	size_t k = best_proxy(v, n, c);

	/* One that was made for another variant of the type is as good. */
	for (size_t i = 0; i < n && k == n; i++)
		if (v[i].dtype == c->dtype && v[i].how == PM_REF_PROXY) {
			c->how = PM_REF_PROXY;
			memcpy(c->why, v[i].why, sizeof c->why);
			return;
		}
	if (k == n) {
		run_made(base, c, seed);
		return;
	}
	c->how = PM_REF_PROXY;
	snprintf(c->why, sizeof c->why, "%s", v[k].label);
}

void pm_task_ref(const PmGraph *base, int eval, uint64_t seed, PmRefCase *v, size_t n)
{
	int last = n ? v[n - 1].shape : 0;

	for (size_t i = 0; i < n; i++) {
		v[i].how = PM_REF_ASKED_NOT;
		*v[i].why = '\0';
		check_indices(&v[i]);
	}
	for (size_t i = 0; i < n; i++) {
		/* The first proposals have the least sizes; the last are drawn. */
		int asked = eval || v[i].shape == 1 || v[i].shape == last;

		if (v[i].how != PM_REF_FAILED && asked &&
		    pm_graph_cost(v[i].g) <= (eval ? PM_REF_COST : PM_REF_COST_TRAIN))
			run_whole(&v[i], seed);
	}
	for (size_t i = 0; i < n && eval; i++)
		if (v[i].how == PM_REF_ASKED_NOT)
			stand_for(base, v, n, &v[i], seed);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if (v[k].shape == v[i].shape && v[k].how == PM_REF_FAILED &&
			    v[i].how != PM_REF_FAILED)
				fail(&v[i], v[k].why);
}
