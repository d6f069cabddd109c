/* SPDX-License-Identifier: Apache-2.0 */
/* import_check.h - `passmith import --check`: what the reader says of itself, held against the model. */
#ifndef APP_IMPORT_CHECK_H
#define APP_IMPORT_CHECK_H

#include "ir/onnx/onnx.h"

typedef struct PmImportCheck {
	size_t n_models;
	size_t n_text; /* print, parse, print gives the same text */
	size_t n_onnx; /* export, import, print gives the same text; and exporting again the same bytes */
	PmOnnxStated stated;
} PmImportCheck;

/* Adds the counts of one to those of *sum. */
void pm_import_check_add(PmImportCheck *sum, const PmImportCheck *one);
/* Checks one model and adds to the counts. A round trip that changes something, a stated type that differs,
 * or one that inference cannot tell, is PM_DECLINED with a sentence that names the model. */
PmStatus pm_import_check(const char *path, const PmGraph *g, PmImportCheck *sum, PmErr *err);

#endif
