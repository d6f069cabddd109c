/* SPDX-License-Identifier: Apache-2.0 */
/* tags.h - what is known of a task besides its content: "suite" and "level" of a published benchmark, for
 * example.
 *
 * A task has at most one value under a key. Tags are no part of a task's name (dataset/store/tasks.h).
 */
#ifndef DATASET_TAGS_H
#define DATASET_TAGS_H

#include "dataset/store/db.h"

/* Sets a tag, instead of the value that was there. The empty string and NULL take the tag away. `key` is a
 * word of lower-case letters, digits, '-' and '_': PM_E_INVALID when it is not, or when the task is not
 * there. */
PmStatus pm_task_tag_set(PmDb *db, int64_t task, const char *key, const char *value, PmErr *err);

/* One tag of one task. Strings are borrowed until the callback returns. */
typedef PmStatus (*PmTaskTagFn)(void *arg, int64_t task, const char *key, const char *value, PmErr *err);
/* Calls fn for each tag, by task and then by key. task 0: those of all tasks. A status other than PM_OK stops
 * the walk and is returned. */
PmStatus pm_task_tags_each(PmDb *db, int64_t task, PmTaskTagFn fn, void *arg, PmErr *err);

#endif
