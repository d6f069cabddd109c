/* SPDX-License-Identifier: Apache-2.0 */
/* prompts.c - prompts that a client offers to its user: their texts are files, each with one place to fill
 * in.
 */
#include "app/mcp/mcp_priv.h"

#include "app/exemplar/prompt.h"

#include <string.h>

enum { VALUE_MAX = 1000 };

/* A file of prompts/ is the text; its one field has the argument's name. */
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
	} else if (pm_prompt(r->m->o.root, prompts[at].file, &(PmField){ prompts[at].argument, value }, 1,
			     &text, &err)) {
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
