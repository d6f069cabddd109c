/* SPDX-License-Identifier: Apache-2.0 */
/* renamed.h - old names of options, JSON keys and categories that still work (renamed.def). */
#ifndef BASE_RENAMED_H
#define BASE_RENAMED_H

#include "base/core/json.h"

typedef struct PmRenamed {
	const char *command; /* of an option; NULL of a key */
	const char *old, *now;
	const char *version; /* that drops the old name: "0.4" */
} PmRenamed;

/* Row k of the options and then of the keys, from 0; NULL behind the last. */
const PmRenamed *pm_renamed(size_t k);
/* The row of an old option of that command (the first n bytes of arg), or NULL. */
const PmRenamed *pm_renamed_option(const char *command, const char *arg, size_t n);
/* What a category of graphs of that name is called now: `name` where it was never renamed. Borrowed. */
const char *pm_renamed_category(const char *name);

/* Gives object j, which has a member `now`, the same under the old key. The key has a row. */
void pm_json_add_old(cJSON *j, const char *now);
/* The key under which object j has what is called `now` today: `now`, or the old one where j was written by
 * an older version. The key has a row. */
const char *pm_json_key(const cJSON *j, const char *now);

#endif
