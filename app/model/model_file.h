/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.h - models as files: read and written by the ending of their names. */
#ifndef APP_MODEL_FILE_H
#define APP_MODEL_FILE_H

#include "base/sys/io.h"
#include "ir/core/graph.h"
#include "ir/onnx/onnx.h"

/* How this process reads ONNX models whose stated types their definitions contradict: 0 refuses them, 1 takes
 * the definition's type (PmOnnxOpts.types_infer) and says so, once for each value, on stderr. */
extern int pm_model_types_infer;
/* Says on stderr which stated types of the model at `path` were dropped; nothing when none were. */
void pm_model_say_overruled(const char *path, const PmOnnxReport *r);

/* Reads a model by its ending: .onnx, or IR text otherwise. Weights that are not at hand are made up when
 * they are needed (ir/data/weights.h). `report` may be NULL; it is filled for text too. Returns owned in
 * *out. PM_E_INVALID for bytes that are no text under another name. */
PmStatus pm_model_load(const char *path, PmGraph **out, PmOnnxReport *report, PmErr *err);
/* The same for a model whose file the caller has at hand: it is not opened again, only data beside it is.
 * `report` may not be NULL. PM_E_LIMIT for text of more than 1 GiB. */
PmStatus pm_model_load_read(const char *path, const PmMap *file, PmGraph **out, PmOnnxReport *report,
			    PmErr *err);
/* Writes a model by the ending of the path: .onnx, or IR text otherwise. */
PmStatus pm_model_save(const PmGraph *g, const char *path, PmErr *err);

#endif
