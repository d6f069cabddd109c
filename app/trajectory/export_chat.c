/* SPDX-License-Identifier: Apache-2.0 */
/* export_chat.c - a session as a conversation for training. */
#include "app/trajectory/export.h"

#include <math.h>
#include <string.h>

static void add_text(cJSON *j, const char *key, const cJSON *value)
{
	PmStr text = PM_STR_INIT;

	if (cJSON_IsString(value)) {
		pm_str_add(&text, value->valuestring);
	} else {
		pm_json_print(value, 0, &text);
		text.s[--text.len] = '\0';
	}
	cJSON_AddStringToObject(j, key, text.s);
	pm_str_release(&text);
}

static void add_call(cJSON *calls, const PmSessionStep *answer)
{
	cJSON *c = cJSON_CreateObject(), *f;

	cJSON_AddStringToObject(c, "id", pm_json_str(answer->json, "id", ""));
	cJSON_AddStringToObject(c, "type", "function");
	f = cJSON_AddObjectToObject(c, "function");
	cJSON_AddStringToObject(f, "name", answer->row.name);
	add_text(f, "arguments", cJSON_GetObjectItemCaseSensitive(answer->json, "arguments"));
	cJSON_AddItemToArray(calls, c);
}

static void add_answer(cJSON *messages, const PmSessionStep *answer)
{
	cJSON *m = cJSON_CreateObject();

	cJSON_AddStringToObject(m, "role", "tool");
	cJSON_AddStringToObject(m, "tool_call_id", pm_json_str(answer->json, "id", ""));
	cJSON_AddStringToObject(m, "name", answer->row.name);
	add_text(m, "content", cJSON_GetObjectItemCaseSensitive(answer->json, "answer"));
	cJSON_AddItemToArray(messages, m);
}

static void add_turn(cJSON *messages, const PmSession *s, const PmTurn *t)
{
	const char *content = t->message ? pm_json_str(t->message->json, "content", "") : "";
	const char *reasoning = t->message ? pm_json_str(t->message->json, "reasoning", "") : "";
	cJSON *m, *calls;

	/* What the driver called by itself, the model never saw: it was told in the next message. */
	if ((!*content && !*reasoning && !t->n) || (!t->message && strcmp(s->row.kind, "agent") == 0))
		return;
	m = cJSON_CreateObject();
	cJSON_AddStringToObject(m, "role", t->message ? t->message->row.role : "assistant");
	cJSON_AddStringToObject(m, "content", content);
	if (*reasoning)
		cJSON_AddStringToObject(m, "reasoning_content", reasoning);
	calls = t->n ? cJSON_AddArrayToObject(m, "tool_calls") : NULL;
	for (size_t k = 0; k < t->n; k++)
		add_call(calls, &s->steps.v[t->first + k]);
	cJSON_AddItemToArray(messages, m);
	for (size_t k = 0; k < t->n; k++)
		add_answer(messages, &s->steps.v[t->first + k]);
}

cJSON *pm_export_chat(const PmSession *s)
{
	cJSON *j = cJSON_CreateObject(), *messages;

	cJSON_AddStringToObject(j, "id", s->row.key);
	cJSON_AddStringToObject(j, "task", s->row.task);
	cJSON_AddStringToObject(j, "task_name", s->row.task_name);
	cJSON_AddStringToObject(j, "model", s->row.model);
	if (isnan(s->row.best))
		cJSON_AddNullToObject(j, "as");
	else
		cJSON_AddNumberToObject(j, "as", s->row.best);
	if (s->row.first_ok < 0)
		cJSON_AddNullToObject(j, "first_success");
	else
		pm_json_add_i64(j, "first_success", s->row.first_ok);
	messages = cJSON_AddArrayToObject(j, "messages");
	for (size_t i = 0; i < s->steps.n;) {
		size_t next;
		PmTurn t = pm_session_turn(s, i, &next);

		add_turn(messages, s, &t);
		i = next;
	}
	return j;
}
