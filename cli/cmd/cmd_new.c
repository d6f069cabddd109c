/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_new.c - passmith new: the first step of a pass's author. */
#include "cli/cmds.h"

#include "app/exemplar/exemplar.h"
#include "base/core/str.h"
#include "matcher/host/build.h"

#include <stdio.h>
#include <string.h>

/* From an exemplar, whose name becomes the author's: without the licence line, which is not his. */
static PmStatus from_exemplar(const char *like, const char *name, const char *dir, PmStr *path, PmErr *err)
{
	PmExemplars all;
	const PmExemplar *e;
	PmStatus st = pm_exemplars_list(NULL, &all, err);

	if (!st) {
		e = pm_exemplars_find(&all, like);
		if (!e)
			st = pm_err(
				err, PM_E_NOT_FOUND,
				"There is no exemplar and no category '%.80s'; docs/reference/exemplars.md "
				"lists both.",
				like);
		else
			st = pm_pass_new_from(e->pass + strcspn(e->pass, "\n") + 1, e->name, name, dir, path,
					      err);
	}
	pm_exemplars_release(&all);
	return st;
}

int pm_cmd_new(const PmCmd *cmd, int argc, char **argv)
{
	const char *dir = ".", *like = NULL;
	const PmOpt opts[] = {
		{ "--dir", PM_OPT_STR, &dir, "folder to write to (default .)" },
		{ "--like", PM_OPT_STR, &like,
		  "start from the exemplar of this name or category (reduce) in place of the template" },
		{ 0 },
	};
	PmStrList names = { 0 };
	PmStr path = PM_STR_INIT;
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &names, &code)) {
		if (names.list.n != 1) {
			code = pm_cli_usage(cmd, "new takes one name.");
		} else if (like ? from_exemplar(like, names.list.v[0], dir, &path, &err)
				: pm_pass_new(names.list.v[0], dir, &path, &err)) {
			code = pm_cli_fail(&err);
		} else if (pm_cli_json) {
			cJSON *j = cJSON_CreateObject();

			cJSON_AddStringToObject(j, "file", path.s);
			pm_cli_put_json(j);
		} else {
			printf("%s\nnext: passmith build %s\n", path.s, path.s);
		}
	}
	pm_str_release(&path);
	PM_VEC_RELEASE(&names.list);
	return code;
}
