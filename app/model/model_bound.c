/* SPDX-License-Identifier: Apache-2.0 */
/* model_bound.c - models with open sizes, read with sizes given. */
#include "app/model/model_bound.h"

#include "ir/infer/infer.h"

#include <string.h>

int pm_model_has_symbol(PmGraph *g, const char *name)
{
	const PmDimSize probe = { name, 1 };

	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		const PmType *t = pm_value_type(g, (PmValue){ id });

		for (int k = 0; k < t->rank; k++)
			if (t->dim[k] < 0 && pm_dim_bind(g, t->dim[k], &probe, 1) != t->dim[k])
				return 1;
	}
	return 0;
}

void pm_model_input_symbols(const PmGraph *g, PmStr *out)
{
	PmIntern *seen = pm_intern_new();

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		const PmType *t = pm_value_type(g, pm_graph_input(g, i));

		for (int k = 0; k < t->rank; k++) {
			const char *name = t->dim[k] < 0 ? pm_graph_symbol_name(g, t->dim[k]) : NULL;

			if (!name || pm_intern_find(seen, name, strlen(name)) != UINT32_MAX)
				continue;
			pm_intern(seen, name, strlen(name));
			pm_str_addf(out, "%s%.100s", out->len ? ", " : "", name);
		}
	}
	pm_intern_free(seen);
}

/* Every name must be one of the model's. */
static PmStatus check_names(const char *path, PmGraph *g, const PmDimSize *dims, size_t n, PmErr *err)
{
	PmStr open = PM_STR_INIT;
	PmStatus st = PM_OK;

	pm_model_input_symbols(g, &open);
	for (size_t i = 0; i < n && !st; i++) {
		if (pm_model_has_symbol(g, dims[i].name))
			continue;
		if (open.len)
			st = pm_err(err, PM_E_NOT_FOUND,
				    "%s has no open size '%.100s'; its inputs have: %.300s.", path,
				    dims[i].name, open.s);
		else
			st = pm_err(err, PM_E_NOT_FOUND,
				    "%s has no open size '%.100s': all sizes of its inputs are fixed.", path,
				    dims[i].name);
	}
	pm_str_release(&open);
	return st;
}

PmStatus pm_model_load_bound(const char *path, const PmDimSize *dims, size_t n, PmGraph **out,
			     PmOnnxReport *report, PmErr *err)
{
	PmOnnxOpts opts = { .dims = dims, .n_dims = n, .types_infer = pm_model_types_infer };
	PmGraph *g = NULL;
	PmStatus st = pm_model_load(path, &g, report, err);

	if (!st)
		st = check_names(path, g, dims, n, err);
	if (!st && n && pm_str_ends(path, ".onnx")) {
		pm_graph_free(g);
		g = NULL;
		st = pm_onnx_import(path, &opts, &g, report, err);
	}
	/* Symbols that the model states nothing about, and files of our own, which are read as they are. */
	if (!st) {
		st = pm_graph_bind_dims(g, dims, n, err);
		if (!st)
			st = pm_verify(g, err);
		if (st)
			pm_err_ctx(err, "%s", path);
	}
	if (st) {
		pm_graph_free(g);
		return st;
	}
	*out = g;
	return PM_OK;
}
