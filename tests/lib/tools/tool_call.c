/* SPDX-License-Identifier: Apache-2.0 */
/* tool_call.c - calls of an agent's tools in tests. */
#include "tests/lib/tools/tool_call.h"

#include "app/tools/schema.h"
#include "base/core/arena.h"
#include "base/sys/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 16 * 1024 };

static void open_session(PmTestTools *s, const char *db, int64_t steps)
{
	PmToolsOpts o = { .db = db, .workspace = s->folder.s, .device = "emu", .steps = steps };
	PmErr err;

	pm_err_init(&err);
	if (pm_tools_open(&o, &s->t, &err))
		fail_msg("%s", err.text);
}

void pm_test_tools_begin(PmTestTools *s, const char *db, int64_t steps)
{
	PmErr err;

	memset(s, 0, sizeof *s);
	pm_str_init(&s->folder);
	pm_err_init(&err);
	if (pm_temp_dir("tools", &s->folder, &err))
		fail_msg("%s", err.text);
	open_session(s, db, steps);
}

void pm_test_tools_again(PmTestTools *s, int64_t steps)
{
	pm_tools_close(s->t);
	open_session(s, NULL, steps);
}

void pm_test_tools_end(PmTestTools *s)
{
	pm_tools_close(s->t);
	pm_remove_tree(s->folder.s, NULL);
	pm_str_release(&s->folder);
	free(s->error);
}

static cJSON *parse(const char *args)
{
	char *text = pm_xstrdup(args);
	cJSON *j = NULL;
	PmErr err;

	for (char *p = text; *p; p++)
		if (*p == '\'')
			*p = '"';
	pm_err_init(&err);
	if (pm_json_parse(text, strlen(text), &j, &err))
		fail_msg("%s: %s", err.text, text);
	free(text);
	return j;
}

static const cJSON *schema_of(const char *tool)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, pm_tools_table())
	{
		if (!strcmp(pm_json_str(row, "name", ""), tool))
			return cJSON_GetObjectItemCaseSensitive(row, "outputSchema");
	}
	fail_msg("there is no tool %s", tool);
	return NULL;
}

static cJSON *call(PmTestTools *s, const char *tool, cJSON *args, int *is_error)
{
	PmStr why = PM_STR_INIT, text = PM_STR_INIT;
	cJSON *j;
	PmErr err;

	pm_err_init(&err);
	*is_error = 0;
	j = pm_tools_call(s->t, tool, args, is_error, &err);
	cJSON_Delete(args);
	if (!j)
		fail_msg("%s", err.text);
	pm_json_print(j, 0, &text);
	if (!*is_error && !pm_schema_check(schema_of(tool), j, tool, PM_SCHEMA_CLOSED, &why))
		fail_msg("%s\n%s", why.s, text.s);
	if (text.len > MOST + 1)
		fail_msg("an answer of %s has %zu bytes", tool, text.len);
	pm_str_release(&why);
	pm_str_release(&text);
	return j;
}

cJSON *pm_test_call_json(PmTestTools *s, const char *tool, cJSON *args)
{
	int is_error;
	cJSON *j = call(s, tool, args, &is_error);

	if (is_error)
		fail_msg("%s: %s", tool, pm_json_str(j, "error", ""));
	return j;
}

cJSON *pm_test_call(PmTestTools *s, const char *tool, const char *args)
{
	return pm_test_call_json(s, tool, parse(args));
}

const char *pm_test_refused(PmTestTools *s, const char *tool, const char *args)
{
	int is_error;
	cJSON *j = call(s, tool, parse(args), &is_error);

	if (!is_error)
		fail_msg("%s is not refused: %s", tool, args);
	free(s->error);
	s->error = pm_xstrdup(pm_json_str(j, "error", ""));
	cJSON_Delete(j);
	return s->error;
}

void pm_test_write(PmTestTools *s, const char *path, const char *text)
{
	cJSON *args = cJSON_CreateObject();

	cJSON_AddStringToObject(args, "path", path);
	cJSON_AddStringToObject(args, "text", text);
	cJSON_Delete(pm_test_call_json(s, "write_file", args));
}
