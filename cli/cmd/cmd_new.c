/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_new.c - passmith new: the first step of a pass's author. */
#include "cli/cmds.h"

#include "base/core/str.h"
#include "matcher/host/build.h"

#include <stdio.h>

int pm_cmd_new(const PmCmd *cmd, int argc, char **argv)
{
	const char *dir = ".";
	const PmOpt opts[] = {
		{ "--dir", PM_OPT_STR, &dir, "folder to write to (default .)" },
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
		} else if (pm_pass_new(names.list.v[0], dir, &path, &err)) {
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
