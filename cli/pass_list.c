/* SPDX-License-Identifier: Apache-2.0 */
/* pass_list.c - the passes that a command is given: one by one, and a folder of them. */
#include "cli/pass_list.h"

#include "base/sys/io.h"

#include <stdlib.h>

PmStatus pm_pass_list_make(const PmStrList *given, const char *folder, PmPassList *out, PmErr *err)
{
	PmNames names = { 0 };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < given->list.n && !st; i++) {
		st = pm_cli_pass_is_there(given->list.v[i], err);
		PM_VEC_PUSH(&out->path, pm_xstrdup(given->list.v[i]));
	}
	if (folder && !st)
		st = pm_list_dir(folder, &names, err);
	for (size_t i = 0; i < names.n && !st; i++) {
		PmStr path = PM_STR_INIT;

		pm_path_join(folder, names.v[i], &path);
		if (pm_str_ends(names.v[i], ".so"))
			PM_VEC_PUSH(&out->path, pm_xstrdup(path.s));
		pm_str_release(&path);
	}
	pm_names_release(&names);
	if (!st && !out->path.n)
		st = pm_err(err, PM_E_NOT_FOUND, "There is no pass (a file named *.so) in %s.",
			    folder ? folder : "what was given");
	return st;
}

void pm_pass_list_release(PmPassList *l)
{
	for (size_t i = 0; i < l->path.n; i++)
		free(l->path.v[i]);
	PM_VEC_RELEASE(&l->path);
}
