/* SPDX-License-Identifier: Apache-2.0 */
/* prompts.c - prompts that a client offers to its user: their texts are files, each with one place to fill
 * in.
 */
#include "app/mcp/mcp_priv.h"

#include "base/sys/io.h"

#include <string.h>

enum { PROMPT_MAX = 1 << 20, VALUE_MAX = 1000 };

/* The file's text is the prompt, where {{argument}} stands for the argument's value. */
static const struct {
	const char *name, *title, *description, *file, *argument, *meaning;
} prompts[] = {
	{ "write_a_pass", "Write a pass", "Write a pass for a task, from reading it to handing the pass in.",
	  "mcp-write-a-pass.md", "task", "The task, as list_tasks names it." },
	{ "why_is_it_slow", "Why is it slow?",
	  "Find out what limits the kernels of a run, and what to change.", "mcp-why-is-it-slow.md", "run",
	  "The run, as evaluate or profile named it." },
};
enum { N_PROMPTS = sizeof prompts / sizeof *prompts };

void pm__mcp_prompts_list(const PmMcpRequest *r)
{
	cJSON *result, *list;

	if (pm__mcp_has_cursor(r))
		return;
	result = cJSON_CreateObject();
	list = cJSON_AddArrayToObject(result, "prompts");
	for (int i = 0; i < N_PROMPTS; i++) {
		cJSON *p = cJSON_CreateObject(), *a = cJSON_CreateObject();

		cJSON_AddItemToArray(list, p);
		cJSON_AddStringToObject(p, "name", prompts[i].name);
		cJSON_AddStringToObject(p, "title", prompts[i].title);
		cJSON_AddStringToObject(p, "description", prompts[i].description);
		cJSON_AddItemToArray(cJSON_AddArrayToObject(p, "arguments"), a);
		cJSON_AddStringToObject(a, "name", prompts[i].argument);
		cJSON_AddStringToObject(a, "description", prompts[i].meaning);
		cJSON_AddTrueToObject(a, "required");
	}
	pm__mcp_cacheable(r, result, 3600 * 1000, "public");
	pm__mcp_result(r->m, r->rpc->id, r->modern, result);
}

/* The file of a prompt: beside the sources, or where an installation has it. */
static PmStatus find_file(const char *folder, int at, PmStr *out, PmErr *err)
{
	PmStr root = PM_STR_INIT;
	PmStatus st = folder ? PM_OK : pm_root_dir(&root, err);

	if (folder) {
		pm_path_join(folder, prompts[at].file, out);
	} else if (!st) {
		pm_str_addf(out, "%s/prompts/%s", root.s, prompts[at].file);
		if (!pm_path_exists(out->s)) {
			pm_str_clear(out);
			pm_str_addf(out, "%s/../../share/passmith/prompts/%s", root.s, prompts[at].file);
		}
	}
	pm_str_release(&root);
	return st;
}

/* The file's text with the value in its places. */
static PmStatus fill_in(const char *folder, int at, const char *value, PmStr *out, PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT, mark = PM_STR_INIT;
	PmStatus st = find_file(folder, at, &path, err);
	const char *p, *next;

	pm_str_addf(&mark, "{{%s}}", prompts[at].argument);
	if (!st)
		st = pm_read_file(path.s, PROMPT_MAX, &text, err);
	for (p = text.s; !st && (next = strstr(p, mark.s)) != NULL; p = next + mark.len) {
		pm_str_addn(out, p, (size_t)(next - p));
		pm_str_add(out, value);
	}
	if (!st)
		pm_str_add(out, p);
	pm_str_release(&path);
	pm_str_release(&text);
	pm_str_release(&mark);
	return st;
}

void pm__mcp_prompts_get(const PmMcpRequest *r)
{
	const char *name = pm__mcp_text_param(r, r->rpc->params, "name"), *value;
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(r->rpc->params, "arguments");
	PmStr text = PM_STR_INIT;
	cJSON *result, *message, *content;
	PmErr err;
	int at = 0;

	if (!name)
		return;
	pm_err_init(&err);
	while (at < N_PROMPTS && strcmp(prompts[at].name, name) != 0)
		at++;
	value = at < N_PROMPTS ? pm_json_str(args, prompts[at].argument, NULL) : NULL;
	if (at == N_PROMPTS) {
		pm__mcp_error(r->m, r->rpc->id, PM_RPC_INVALID_PARAMS, NULL,
			      "There is no prompt '%.60s'; prompts/list names them.", name);
	} else if (!value || !*value || strlen(value) > VALUE_MAX) {
		pm__mcp_error(r->m, r->rpc->id, PM_RPC_INVALID_PARAMS, NULL,
			      "The prompt %s needs the argument \"%s\", a text of at most %d bytes.", name,
			      prompts[at].argument, VALUE_MAX);
	} else if (fill_in(r->m->o.prompts, at, value, &text, &err)) {
		pm__mcp_error(r->m, r->rpc->id, PM_RPC_INTERNAL, NULL, "%s", err.text);
	} else {
		result = cJSON_CreateObject();
		cJSON_AddStringToObject(result, "description", prompts[at].description);
		message = cJSON_CreateObject();
		cJSON_AddItemToArray(cJSON_AddArrayToObject(result, "messages"), message);
		cJSON_AddStringToObject(message, "role", "user");
		content = cJSON_AddObjectToObject(message, "content");
		cJSON_AddStringToObject(content, "type", "text");
		cJSON_AddStringToObject(content, "text", text.s);
		pm__mcp_result(r->m, r->rpc->id, r->modern, result);
	}
	pm_str_release(&text);
}
