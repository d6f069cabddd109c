/* SPDX-License-Identifier: Apache-2.0 */
/* pass_list.h - the passes that a command is given: one by one, and a folder of them. */
#ifndef CLI_PASS_LIST_H
#define CLI_PASS_LIST_H

#include "base/core/vec.h"
#include "cli/args.h"

typedef struct PmPassList {
	PM_VEC(char *) path; /* owned */
} PmPassList;

/* Those given one by one, then those of the folder (NULL = none) by name: every *.so in it. PM_E_NOT_FOUND
 * when one is not there, or there is none at all. */
PmStatus pm_pass_list_make(const PmStrList *given, const char *folder, PmPassList *out, PmErr *err);
void pm_pass_list_release(PmPassList *l);

#endif
