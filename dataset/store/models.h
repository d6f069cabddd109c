/* SPDX-License-Identifier: Apache-2.0 */
/* models.h - the models a dataset was made from, and which of them are done. */
#ifndef DATASET_MODELS_H
#define DATASET_MODELS_H

#include "dataset/store/db.h"

#include <stddef.h>

/* One model. Strings are borrowed: from the caller when storing, until the callback returns when reading. */
typedef struct PmModelRow {
	int64_t id; /* ignored when storing */
	const char *sha256, *path, *name;
	int64_t opset, n_nodes, n_opaque;
	int ok;               /* 1: extracted; 0: it failed with `error` */
	const char *error;    /* "" when ok */
	const char *category; /* by ir/category/category.h; "" or NULL: not known, and what is stored stays */
} PmModelRow;

/* SHA-256 of a file's bytes as hexadecimal text. */
PmStatus pm_model_hash(const char *path, char hex[65], PmErr *err);
/* Stores a model, or updates the row of the same hash; *id receives its key. Of several paths
 * the least stays, with its name, so that the order of storing does not matter. */
PmStatus pm_model_put(PmDb *db, const PmModelRow *row, int64_t *id, PmErr *err);
/* *done is 1 when a model of this hash is stored and was extracted without an error. */
PmStatus pm_model_is_done(PmDb *db, const char *sha256, int *done, PmErr *err);
/* Calls fn for every model in the order stored; a status other than PM_OK stops the walk and is returned. */
typedef PmStatus (*PmModelFn)(void *arg, const PmModelRow *row, PmErr *err);
PmStatus pm_models_each(PmDb *db, PmModelFn fn, void *arg, PmErr *err);

#endif
