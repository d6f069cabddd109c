/* SPDX-License-Identifier: Apache-2.0 */
/* group_list.h - a file that says which models are one task. */
#ifndef APP_GROUP_LIST_H
#define APP_GROUP_LIST_H

#include "base/core/err.h"
#include "base/core/vec.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmGroupLine {
	char *name;           /* of the task */
	PM_VEC(char *) model; /* files; what is relative in the list is so to the list's folder */
	int64_t listed;       /* graphs that the group has where it comes from, exported or not */
} PmGroupLine;

typedef struct PmGroupList {
	PM_VEC(PmGroupLine) group;
} PmGroupList;

/* Reads a list: a line is NAME<TAB>MODEL,MODEL,... and may end with <TAB>LISTED; without it LISTED is the
 * number of models. Empty lines and lines that begin with # are none. A line of another form, a name that is
 * there twice and a list without groups are PM_E_INVALID with the number of the line. *out begins as zeros;
 * release it in every case. */
PmStatus pm_group_list_read(const char *path, PmGroupList *out, PmErr *err);
void pm_group_list_release(PmGroupList *l);

#endif
