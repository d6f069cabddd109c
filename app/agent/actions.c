/* SPDX-License-Identifier: Apache-2.0 */
/* actions.c - calls of tools, and files in plain text. */
#include "app/agent/actions.h"

#include "app/chat/fenced.h"

#include <string.h>

static cJSON *add(cJSON *list, const char *tool)
{
	cJSON *a = cJSON_CreateObject();

	cJSON_AddStringToObject(a, "tool", tool);
	cJSON_AddItemToArray(list, a);
	return a;
}

static void add_call(cJSON *list, const cJSON *call)
{
	const cJSON *f = cJSON_GetObjectItemCaseSensitive(call, "function");
	const char *text = pm_json_str(f, "arguments", "");
	cJSON *a = add(list, pm_json_str(f, "name", "")), *args = NULL;
	PmErr err;

	pm_err_init(&err);
	cJSON_AddStringToObject(a, "id", pm_json_str(call, "id", ""));
	if (!text[strspn(text, " \t\r\n")]) {
		cJSON_AddItemToObject(a, "arguments", cJSON_CreateObject());
		return;
	}
	if (!pm_json_parse(text, strlen(text), &args, &err) && !cJSON_IsObject(args))
		pm_err(&err, PM_E_INVALID, "they are no object.");
	if (!*err.text) {
		cJSON_AddItemToObject(a, "arguments", args);
		return;
	}
	pm_err_ctx(&err, "The arguments of the call are no JSON object; write them again");
	cJSON_AddStringToObject(a, "error", err.text);
	cJSON_Delete(args);
}

cJSON *pm_actions_of(const cJSON *message)
{
	cJSON *list = cJSON_CreateArray(), *files, *calls, *a;
	const cJSON *j, *native = cJSON_GetObjectItemCaseSensitive(message, "tool_calls");

	cJSON_ArrayForEach(j, native) add_call(list, j);
	if (native)
		return list;
	files = cJSON_CreateArray();
	calls = cJSON_CreateArray();
	pm_fenced_read(pm_json_str(message, "content", ""), files, calls);
	cJSON_ArrayForEach(j, files)
	{
		a = cJSON_AddObjectToObject(add(list, "write_file"), "arguments");
		cJSON_AddStringToObject(a, "path", pm_json_str(j, "path", ""));
		cJSON_AddStringToObject(a, "text", pm_json_str(j, "content", ""));
	}
	while ((a = cJSON_DetachItemFromArray(calls, 0)) != NULL) {
		cJSON_AddStringToObject(a, "tool", pm_json_str(a, "name", ""));
		cJSON_AddItemToArray(list, a);
	}
	if (cJSON_GetArraySize(files))
		cJSON_AddTrueToObject(add(list, "evaluate"), "auto");
	cJSON_Delete(files);
	cJSON_Delete(calls);
	return list;
}
