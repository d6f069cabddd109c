/* SPDX-License-Identifier: Apache-2.0 */
/* import_report.h - what `passmith import` says of a model. */
#ifndef CLI_IMPORT_REPORT_H
#define CLI_IMPORT_REPORT_H

#include "app/model/import_check.h"
#include "base/core/json.h"
#include "ir/onnx/onnx.h"

/* One model to stdout in some lines: what it takes and gives, its operators, weights, and what is special. */
void pm_import_print(const char *path, const PmGraph *g, const PmOnnxReport *r);
/* The same in one line, and one for each kind of opaque node. */
void pm_import_print_line(const char *path, const PmGraph *g, const PmOnnxReport *r);
/* The same as JSON. Returns owned. `check` may be NULL. */
cJSON *pm_import_json(const char *path, const PmGraph *g, const PmOnnxReport *r, const char *hash,
		      const PmImportCheck *check);
/* The counts of the checks, to stdout. */
void pm_import_check_print(const PmImportCheck *c);

#endif
