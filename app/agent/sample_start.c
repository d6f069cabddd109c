/* SPDX-License-Identifier: Apache-2.0 */
/* sample_start.c - what a model is told first, and after an answer in plain text. */
#include "app/agent/observe.h"
#include "app/agent/sample_priv.h"
#include "app/exemplar/prompt.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER = 32 };

/* The answer of a tool about the task; NULL where there is none. The caller's. */
static cJSON *ask_tool(PmSample *s, const char *tool, const char *task)
{
	cJSON *args = cJSON_CreateObject(), *answer;
	int is_error = 0;
	PmErr err;

	pm_err_init(&err);
	cJSON_AddStringToObject(args, "task", task);
	answer = pm_tools_call(s->tools, tool, args, &is_error, &err);
	cJSON_Delete(args);
	if (!is_error)
		return answer;
	cJSON_Delete(answer);
	return NULL;
}

/* The task: its graph as it is written, and what else is known as JSON. */
static PmStatus describe_task(PmSample *s, const char *number, const char *exemplars, PmStr *out, PmErr *err)
{
	cJSON *answer = ask_tool(s, "show_task", number),
	      *graph = cJSON_DetachItemFromObjectCaseSensitive(answer, "graph");
	PmStr facts = PM_STR_INIT;
	PmStatus st;

	if (answer)
		pm_json_print(answer, 0, &facts);
	const PmField fields[] = { { "graph", cJSON_IsString(graph) ? graph->valuestring : "" },
				   { "facts", facts.s },
				   { "exemplars", exemplars } };
	st = answer ? pm_prompt(NULL, "agent-task.md", fields, sizeof fields / sizeof *fields, out, err)
		    : pm_err(err, PM_E_INVALID,
			     "The task %s of the database cannot be shown to a model; "
			     "passmith task show says what it holds.",
			     number);
	cJSON_Delete(graph);
	cJSON_Delete(answer);
	pm_str_release(&facts);
	return st;
}

/* Passes to learn from; there may be none. */
static PmStatus describe_exemplars(PmSample *s, const char *number, PmStr *out, PmErr *err)
{
	cJSON *answer = ask_tool(s, "exemplars", number);
	const cJSON *x;
	PmStatus st = PM_OK;

	cJSON_ArrayForEach(x, cJSON_GetObjectItemCaseSensitive(answer, "exemplars"))
	{
		const PmField fields[] = { { "name", pm_json_str(x, "name", "") },
					   { "thoughts", pm_json_str(x, "thoughts", "") },
					   { "graph", pm_json_str(x, "graph", "") },
					   { "pass", pm_json_str(x, "pass", "") } };

		st = st ? st
			: pm_prompt(NULL, "agent-exemplar.md", fields, sizeof fields / sizeof *fields, out,
				    err);
	}
	cJSON_Delete(answer);
	return st;
}

static cJSON *add_message(cJSON *list, const char *role, const char *text)
{
	cJSON *m = cJSON_CreateObject();

	cJSON_AddStringToObject(m, "role", role);
	cJSON_AddStringToObject(m, "content", text);
	cJSON_AddItemToArray(list, m);
	return m;
}

PmStatus pm__sample_start(PmSample *s, int text, PmErr *err)
{
	PmStr author = PM_STR_INIT, exemplars = PM_STR_INIT, tools = PM_STR_INIT, system = PM_STR_INIT,
	      user = PM_STR_INIT;
	char number[NUMBER], iterations[NUMBER];
	cJSON *e = pm__event("start"), *list = cJSON_AddArrayToObject(e, "messages");
	PmStatus st = pm_prompt(NULL, "system.md", NULL, 0, &author, err);

	snprintf(number, sizeof number, "%lld", (long long)s->setup->task_id);
	snprintf(iterations, sizeof iterations, "%lld", (long long)s->o->iterations);
	st = st ? st : describe_exemplars(s, number, &exemplars, err);
	st = st ? st : describe_task(s, number, exemplars.s, &user, err);
	if (s->o->iterations > 1)
		pm_offered_text(s->o->feedback, &tools);
	{
		const PmField places[] = { { "author", author.s },
					   { "number", number },
					   { "tools", tools.s },
					   { "iterations", iterations } };
		const size_t n = sizeof places / sizeof *places;
		const char *file = !text                  ? "agent-native.md"
				   : s->o->iterations > 1 ? "agent-text.md"
							  : "agent-single.md";

		st = st ? st : pm_prompt(NULL, file, places, n, &system, err);
	}
	add_message(list, "system", system.s);
	add_message(list, "user", user.s);
	cJSON_AddBoolToObject(e, "text", text);
	if (st)
		cJSON_Delete(e);
	else
		st = pm__sample_add(s, e, err);
	pm_str_release(&author);
	pm_str_release(&exemplars);
	pm_str_release(&tools);
	pm_str_release(&system);
	pm_str_release(&user);
	return st;
}

PmStatus pm__sample_tell(PmSample *s, PmErr *err)
{
	char done[NUMBER], all[NUMBER];
	const PmField places[] = { { "observed", s->observed.s },
				   { "iteration", done },
				   { "iterations", all } };
	const char *file = s->cut                               ? "agent-cut.md"
			   : !s->observed.len                   ? "agent-nothing.md"
			   : s->o->feedback == PM_FEEDBACK_NONE ? "agent-again.md"
								: "agent-feedback.md";
	PmStr text = PM_STR_INIT;
	PmStatus st;
	cJSON *e, *list;

	snprintf(done, sizeof done, "%lld", (long long)s->turns);
	snprintf(all, sizeof all, "%lld", (long long)s->o->iterations);
	st = pm_prompt(NULL, file, places, sizeof places / sizeof *places, &text, err);
	if (!st) {
		e = pm__event("message");
		list = cJSON_CreateArray();
		add_message(list, "user", text.s);
		cJSON_AddItemToObject(e, "message", cJSON_DetachItemFromArray(list, 0));
		cJSON_Delete(list);
		st = pm__sample_add(s, e, err);
	}
	pm_str_release(&text);
	return st;
}
