/* SPDX-License-Identifier: Apache-2.0 */
/* renamed.c - old names of options, JSON keys and categories that still work. */
#include "base/core/renamed.h"

#include "base/core/arena.h"

#include <string.h>

static const PmRenamed rows[] = {
#define OPTION(command, old, now, version) { #command, old, now, version },
#define KEY(old, now, version, where)      { NULL, old, now, version },
#include "base/core/renamed.def"
};
enum { N_ROWS = sizeof rows / sizeof *rows };

const PmRenamed *pm_renamed(size_t k)
{
	return k < N_ROWS ? &rows[k] : NULL;
}

const PmRenamed *pm_renamed_option(const char *command, const char *arg, size_t n)
{
	for (size_t k = 0; k < N_ROWS; k++)
		if (rows[k].command && !strcmp(rows[k].command, command) && strlen(rows[k].old) == n &&
		    !strncmp(rows[k].old, arg, n))
			return &rows[k];
	return NULL;
}

const char *pm_renamed_category(const char *name)
{
#define CATEGORY(old, now, version)                                                                          \
	if (!strcmp(name, old))                                                                              \
		return now;
#include "base/core/renamed.def"
	return name;
}

static const char *old_key(const char *now)
{
	for (size_t k = 0; k < N_ROWS; k++)
		if (!rows[k].command && !strcmp(rows[k].now, now))
			return rows[k].old;
	PM_BUG("the key \"%s\" has no old name in renamed.def", now);
}

void pm_json_add_old(cJSON *j, const char *now)
{
	const char *old = old_key(now);
	cJSON *same = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(j, now), 1);

	if (!same)
		PM_BUG("an object lacks the key \"%s\"", now);
	cJSON_AddItemToObject(j, old, same);
}

const char *pm_json_key(const cJSON *j, const char *now)
{
	const char *old = old_key(now);

	return cJSON_GetObjectItemCaseSensitive(j, now) ? now : old;
}
