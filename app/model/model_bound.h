/* SPDX-License-Identifier: Apache-2.0 */
/* model_bound.h - models with open sizes, read with sizes given. */
#ifndef APP_MODEL_MODEL_BOUND_H
#define APP_MODEL_MODEL_BOUND_H

#include "app/model/model_file.h"
#include "ir/infer/dim_expr.h"

/* Reads a model as pm_model_load does, with sizes put in for names. ONNX is read again with the sizes, since
 * many nodes become simpler when they are known; constants without data then have no maker
 * (pm_weights_attach). PM_E_NOT_FOUND for a name that is none of the model's, with those that its inputs
 * have. Returns owned in *out. */
PmStatus pm_model_load_bound(const char *path, const PmDimSize *dims, size_t n, PmGraph **out,
			     PmOnnxReport *report, PmErr *err);
/* Appends the names of the open sizes of a graph's inputs, ", " between them. */
void pm_model_input_symbols(const PmGraph *g, PmStr *out);
/* 1 when the name occurs in a type of the graph, alone or in a formula. */
int pm_model_has_symbol(PmGraph *g, const char *name);

#endif
