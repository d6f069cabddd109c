/* SPDX-License-Identifier: Apache-2.0 */
/* task_export.h - writes the graphs of a task for PyTorch, one folder each. */
#ifndef APP_TASK_EXPORT_H
#define APP_TASK_EXPORT_H

#include "app/eval/variant_list.h"

typedef struct PmTaskExportOpts {
	const char *dir;
	int64_t seed, max_check; /* see PmTorchOpts (bench/torch/torch_export.h) */
	int64_t shapes;          /* only members of fewer shapes than this; 0 = all */
} PmTaskExportOpts;

typedef struct PmTaskExported {
	size_t written, refused; /* graphs */
} PmTaskExported;

/* One graph was written to `folder`, or left out because PyTorch has no words for it: `refused` is then the
 * sentence, else "". Texts are borrowed until it returns. */
typedef void PmTaskExportFn(void *arg, const char *member, const char *folder, const char *refused);

/* Writes the variants that `o` asks for (it drops the others of *v). A graph that PyTorch has no words for is
 * left out; PM_E_UNSUPPORTED, which names `what`, when that leaves none. Other errors end the export: *out
 * says what was written. `fn` may be NULL. */
PmStatus pm_task_export(PmVariantList *v, const char *what, const PmTaskExportOpts *o, PmTaskExportFn *fn,
			void *arg, PmTaskExported *out, PmErr *err);

#endif
