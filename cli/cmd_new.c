/* cmd_new.c - passmith new and passmith build: the first two steps of a pass's author. */
#include "cli/cmds.h"

#include "base/str.h"
#include "matcher/build.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

int pm_cmd_build(const PmCmd *cmd, int argc, char **argv)
{
	const char *out = NULL;
	const PmOpt opts[] = {
		{ "-o", PM_OPT_STR, &out,
		  "shared object to write (default: PASS.so beside PASS.c, or beside the folder PASS)" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmStr messages = PM_STR_INIT, so = PM_STR_INIT;
	PmStatus st;
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (!pm_args_parse(cmd, opts, argc, argv, &files, &code))
		goto done;
	if (files.list.n != 1) {
		code = pm_cli_usage(cmd, "build takes one pass.");
		goto done;
	}
	if (out)
		pm_str_add(&so, out);
	else
		pm_str_addf(&so, "%.*s.so",
			    (int)(strlen(files.list.v[0]) - (pm_str_ends(files.list.v[0], ".c") ? 2 : 0)),
			    files.list.v[0]);
	pm_cli_stage("compiling");
	st = pm_pass_build(files.list.v[0], so.s, &messages, &err);
	fputs(messages.s, stderr);
	if (st) {
		/* A pass that does not compile is the answer "no", not a broken input of ours. */
		pm_cli_complain("%s", err.text);
		/* An object of the source before would be taken for one of this source. */
		if (st == PM_E_INVALID && !unlink(so.s))
			fprintf(stderr, "%s of an earlier build is removed.\n", so.s);
		code = st == PM_E_INVALID ? 1 : pm_status_exit_code(st);
	}
	if (pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		cJSON_AddBoolToObject(j, "ok", st == PM_OK);
		cJSON_AddStringToObject(j, "file", so.s);
		cJSON_AddStringToObject(j, "messages", messages.s);
		pm_cli_put_json(j);
	} else if (!st) {
		printf("%s\nnext: passmith check %s\n", so.s, so.s);
	}
done:
	pm_str_release(&messages);
	pm_str_release(&so);
	PM_VEC_RELEASE(&files.list);
	return code;
}
