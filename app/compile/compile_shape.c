/* SPDX-License-Identifier: Apache-2.0 */
/* compile_shape.c - a model with the sizes of one shape, rewritten and planned. */
#include "app/compile/compile_priv.h"

#include "app/model/model_bound.h"
#include "ir/data/weights.h"

#include <string.h>

static int is_given(const PmCompileShape *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->dim[i].name, name))
			return 1;
	return 0;
}

/* PM_E_SHAPE when a shape leaves a size of an input open. */
static PmStatus check_complete(const PmCompileAsk *ask, const PmGraph *open, const PmCompileShape *s,
			       PmErr *err)
{
	for (size_t i = 0; i < pm_graph_n_inputs(open); i++) {
		const PmType *t = pm_value_type(open, pm_graph_input(open, i));

		for (int k = 0; k < t->rank; k++) {
			const char *name = t->dim[k] < 0 ? pm_graph_symbol_name(open, t->dim[k]) : NULL;

			if (name && !is_given(s, name))
				return pm_err(
					err, PM_E_SHAPE,
					"%s has the open size '%.100s', and a shape does not say what it is; "
					"give --shape %.100s=SIZE (all open sizes in one, with commas).",
					ask->model, name, name);
		}
	}
	return PM_OK;
}

static PmStatus check_weights(const PmCompileAsk *ask, const PmGraph *g, PmErr *err)
{
	for (uint32_t id = 1; id < pm_graph_value_limit(g) && !ask->made_up; id++) {
		PmValue v = { id };
		const PmBlob *b = pm_value_is_const(g, v) ? pm_value_blob(g, v) : NULL;

		if (b && b->size && !b->data)
			return pm_err(
				err, PM_E_NOT_FOUND,
				"Weight '%.120s' of %s has no data here (it lies in '%.120s'); put that file "
				"beside "
				"the model, or give --made-up-weights to pack numbers that are made up.",
				pm_value_name(g, v), ask->model, b->location ? b->location : "another file");
	}
	return PM_OK;
}

PmStatus pm__shape_plan(const PmCompileAsk *ask, size_t shape, PmShapePlan *out, PmErr *err)
{
	static const PmCompileShape none;
	static PmOnnxReport report; /* large */
	const PmCompileShape *s = ask->n_shapes ? &ask->shape[shape] : &none;
	PmGraph *g = NULL;
	PmStatus st = pm_model_load_bound(ask->model, s->dim, s->n, &g, &report, err);

	if (!st) {
		pm_weights_attach(g, NULL);
		st = check_complete(ask, g, s, err);
	}
	if (!st)
		st = check_weights(ask, g, err);
	if (st) {
		pm_graph_free(g);
		return st;
	}
	st = pm_apply(g, ask->pass, ask->n_pass, ask->deadline, &out->apply, err);
	if (!st) {
		st = pm_plan_new(out->apply.after, NULL, 0, &out->plan, err);
		if (st)
			pm_err_ctx(err, "%s", ask->model);
	}
	if (!st)
		pm_plan_export(out->plan, &out->ex);
	return st;
}

void pm__shape_plan_release(PmShapePlan *s)
{
	pm_plan_export_release(&s->ex);
	pm_plan_free(s->plan);
	pm_apply_release(&s->apply);
	memset(s, 0, sizeof *s);
}
