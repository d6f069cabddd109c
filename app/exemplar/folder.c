/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - where texts lie that are read while the program runs. */
#include "app/exemplar/folder.h"

#include "base/sys/io.h"

#include <string.h>

PmStatus pm_text_folder(const char *root, const char *name, PmStr *out, PmErr *err)
{
	PmStr found = PM_STR_INIT, share = PM_STR_INIT, first = PM_STR_INIT;
	PmStatus st = PM_OK;

	if (root)
		pm_str_add(&found, root);
	else
		st = pm_root_dir(&found, err);
	if (!st) {
		pm_path_join(found.s, name, &first);
		pm_path_join(found.s, "../../share", &share);
		if (!strncmp(name, "docs/", 5))
			pm_str_addf(&share, "/doc/passmith/%s", name + 5);
		else
			pm_str_addf(&share, "/passmith/%s", name);
		if (pm_path_is_dir(first.s))
			pm_str_add(out, first.s);
		else if (pm_path_is_dir(share.s))
			pm_str_add(out, share.s);
		else
			st = pm_err(
				err, PM_E_NOT_FOUND,
				"There is no folder %s, neither %s nor %s; install Passmith again, or point "
				"PASSMITH_ROOT at its source folder.",
				name, first.s, share.s);
	}
	pm_str_release(&found);
	pm_str_release(&share);
	pm_str_release(&first);
	return st;
}
