/* SPDX-License-Identifier: Apache-2.0 */
/* task_export.h - writes the graphs of a task for PyTorch, one folder each (passmith task export). */
#ifndef CLI_TASK_EXPORT_H
#define CLI_TASK_EXPORT_H

#include "base/core/json.h"
#include "dataset/store/db.h"

typedef struct PmTaskExport {
	const char *dir;
	int64_t seed, max_check; /* see PmTorchOpts */
	int64_t shapes;          /* only members of fewer shapes than this; 0 = all */
	size_t written, refused; /* out */
	cJSON *list;             /* internal */
} PmTaskExport;

/* The members of task `what` of `db`, or of the model file `what` when db is NULL. Graphs that PyTorch has no
 * words for are told on stderr (or in the JSON) and left out; PM_E_UNSUPPORTED when that leaves none. */
PmStatus pm_task_export(PmDb *db, const char *what, PmTaskExport *e, PmErr *err);

#endif
