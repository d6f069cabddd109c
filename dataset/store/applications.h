/* SPDX-License-Identifier: Apache-2.0 */
/* applications.h - whole models that passes rewrote: what was found, and the graphs before and after. */
#ifndef DATASET_APPLICATIONS_H
#define DATASET_APPLICATIONS_H

#include "dataset/store/db.h"

enum { PM_APPLICATION_TEXT = 1 << 20 /* bytes of the text of a graph, at most */ };

/* Strings are borrowed: from the caller when storing, until the callback returns when reading. */
typedef struct PmApplicationRow {
	int64_t id;                           /* ignored when storing */
	const char *model_sha256;             /* of the model's file */
	const char *name, *path;              /* of that file; the path is no part of the key */
	const char *version;                  /* of the program */
	const char *record;                   /* a JSON object (app/apply/apply.h) */
	const char *before_text, *after_text; /* graphs in text form; both "" when one is longer than
					       * PM_APPLICATION_TEXT */
} PmApplicationRow;

/* Stores a row; one that says the same under another path is there already, and stays. *is_new may be NULL.
 * PM_E_LIMIT when a text is too long. */
PmStatus pm_application_put(PmDb *db, const PmApplicationRow *row, int *is_new, PmErr *err);

typedef PmStatus (*PmApplicationFn)(void *arg, const PmApplicationRow *row, PmErr *err);
/* Calls fn for each row, by name and then by key, so that the order of storing does not matter. A status
 * other than PM_OK stops the walk and is returned. */
PmStatus pm_applications_each(PmDb *db, PmApplicationFn fn, void *arg, PmErr *err);

#endif
