/* SPDX-License-Identifier: Apache-2.0 */
/* apply_store.h - storing what apply found in a database. */
#ifndef APP_APPLY_APPLY_STORE_H
#define APP_APPLY_APPLY_STORE_H

#include "app/apply/apply.h"
#include "dataset/store/db.h"

/* Stores an application of passes to the model file at `path`: the record with names in place of paths, and
 * both graphs as text without data and sources of kernels, unless one is longer than PM_APPLICATION_TEXT. The
 * same result is stored once; *is_new may be NULL. */
PmStatus pm_apply_store(PmDb *db, const PmApply *a, const char *path, int *is_new, PmErr *err);

#endif
