/* SPDX-License-Identifier: Apache-2.0 */
/* chat_script.c - rules, and the bodies of their answers. */
#include "tests/lib/chat/chat_script.h"

#include "base/core/json.h"
#include "base/sys/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void copy_blanks(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
	for (; *to; to++)
		if (*to == '_')
			*to = ' ';
}

static void read_word(ChatRule *r, const char *key, const char *value)
{
	struct {
		const char *key;
		int *to;
	} numbers[] = { { "turn", &r->turn },     { "times", &r->times }, { "status", &r->status },
			{ "close", &r->close },   { "hang", &r->hang },   { "cut", &r->cut },
			{ "repeat", &r->repeat }, { NULL, NULL } };

	for (int i = 0; numbers[i].key; i++)
		if (!strcmp(key, numbers[i].key)) {
			*numbers[i].to = atoi(value);
			return;
		}
	if (!strcmp(key, "delay"))
		r->delay = atof(value);
	else if (!strcmp(key, "usage"))
		assert_int_equal(sscanf(value, "%d,%d", &r->tokens_in, &r->tokens_out), 2);
	else if (!strcmp(key, "kind"))
		snprintf(r->kind, sizeof r->kind, "%s", value);
	else if (!strcmp(key, "contains"))
		copy_blanks(r->contains, sizeof r->contains, value);
	else if (!strcmp(key, "lacks"))
		copy_blanks(r->lacks, sizeof r->lacks, value);
	else
		fail_msg("A rule of a script has the word '%s'.", key);
}

static void read_rule(char *line, ChatRule *r)
{
	char *header = strstr(line, "header="), *save = NULL;

	*r = (ChatRule){ .turn = -1, .status = 200, .tokens_in = 100, .tokens_out = 50, .kind = "content" };
	pm_str_init(&r->text);
	if (header) {
		snprintf(r->header, sizeof r->header, "%s", header + 7);
		*header = '\0';
	}
	for (char *w = strtok_r(line + 1, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');

		if (!value)
			fail_msg("A rule of a script has the word '%s' without a value.", w);
		*value = '\0';
		read_word(r, w, value + 1);
	}
}

static void add_line(ChatRule *r, const char *line)
{
	PmErr err;

	pm_err_init(&err);
	if (strncmp(line, "<<", 2) != 0)
		pm_str_addf(&r->text, "%s\n", line);
	else if (pm_read_file(line + 2, 0, &r->text, &err))
		fail_msg("%s", err.text);
}

void chat_script_read(const char *text, ChatScript *out)
{
	char *line = NULL;

	memset(out, 0, sizeof *out);
	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		free(line);
		line = strndup(p, strcspn(p, "\n"));
		if (*line == '@') {
			assert_true(out->n < CHAT_RULES);
			read_rule(line, &out->rule[out->n++]);
		} else if (out->n) {
			add_line(&out->rule[out->n - 1], line);
		}
	}
	free(line);
	/* The end of the last line belongs to the script. */
	for (size_t i = 0; i < out->n; i++)
		if (out->rule[i].text.len)
			out->rule[i].text.s[--out->rule[i].text.len] = '\0';
}

void chat_script_release(ChatScript *s)
{
	for (size_t i = 0; i < s->n; i++)
		pm_str_release(&s->rule[i].text);
}

int chat_rule_fits(const ChatRule *r, const char *request)
{
	int turns = 0;

	if (*r->contains && !strstr(request, r->contains))
		return 0;
	if (*r->lacks && strstr(request, r->lacks))
		return 0;
	for (const char *p = request; (p = strstr(p, "\"role\":\"assistant\"")) != NULL; p++)
		turns++;
	return r->turn < 0 || r->turn == turns;
}

/* Arguments as they are, but for a member "text" of "@@FILE", which becomes what that file holds. */
static void add_arguments(cJSON *f, const char *args)
{
	cJSON *j = NULL, *t;
	PmStr text = PM_STR_INIT;

	if (!strstr(args, "@@") || pm_json_parse(args, strlen(args), &j, NULL)) {
		cJSON_AddStringToObject(f, "arguments", args);
		return;
	}
	t = cJSON_GetObjectItemCaseSensitive(j, "text");
	assert_true(cJSON_IsString(t));
	assert_int_equal(pm_read_file(t->valuestring + 2, 0, &text, NULL), PM_OK);
	cJSON_SetValuestring(t, text.s);
	pm_str_clear(&text);
	pm_json_print(j, 0, &text);
	cJSON_AddStringToObject(f, "arguments", text.s);
	pm_str_release(&text);
	cJSON_Delete(j);
}

static void add_calls(const char *text, cJSON *message)
{
	cJSON *list = cJSON_AddArrayToObject(message, "tool_calls");
	char *copy = strdup(text), *save = NULL, id[32];
	int n = 0;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *args = strchr(line, ' ');
		cJSON *one = cJSON_CreateObject(), *f;

		snprintf(id, sizeof id, "id%d", n++);
		if (args)
			*args = '\0';
		cJSON_AddStringToObject(one, "id", id);
		cJSON_AddStringToObject(one, "type", "function");
		f = cJSON_AddObjectToObject(one, "function");
		cJSON_AddStringToObject(f, "name", line);
		add_arguments(f, args ? args + 1 : "{}");
		cJSON_AddItemToArray(list, one);
	}
	free(copy);
}

static void completion(const ChatRule *r, PmStr *out)
{
	cJSON *j = cJSON_CreateObject(), *choices = cJSON_AddArrayToObject(j, "choices"),
	      *choice = cJSON_CreateObject(), *message, *usage;
	int tools = !strcmp(r->kind, "tools");

	cJSON_AddItemToArray(choices, choice);
	message = cJSON_AddObjectToObject(choice, "message");
	cJSON_AddStringToObject(choice, "finish_reason", tools ? "tool_calls" : "stop");
	cJSON_AddStringToObject(message, "role", "assistant");
	if (tools) {
		cJSON_AddNullToObject(message, "content");
		add_calls(r->text.s, message);
	} else {
		cJSON_AddStringToObject(message, "content", r->text.s);
	}
	if (r->tokens_in >= 0) {
		usage = cJSON_AddObjectToObject(j, "usage");
		cJSON_AddNumberToObject(usage, "prompt_tokens", r->tokens_in);
		cJSON_AddNumberToObject(usage, "completion_tokens", r->tokens_out);
	}
	pm_json_print(j, 0, out);
	cJSON_Delete(j);
}

static void raw(const ChatRule *r, PmStr *out)
{
	for (const char *p = r->text.s; *p; p++) {
		unsigned byte;

		if (p[0] == '\\' && p[1] == 'x' && sscanf(p + 2, "%2x", &byte) == 1) {
			pm_str_addc(out, (char)byte);
			p += 3;
		} else {
			pm_str_addc(out, *p);
		}
	}
}

void chat_rule_body(const ChatRule *r, PmStr *out)
{
	if (!r)
		pm_str_add(out, "{\"error\": \"no rule of the script fits\"}");
	else if (!strcmp(r->kind, "raw"))
		raw(r, out);
	else if (!strcmp(r->kind, "nest"))
		for (int i = 0; i < r->repeat; i++)
			pm_str_add(out, "[");
	else if (!strcmp(r->kind, "big"))
		for (int i = 0; i < r->repeat; i += 16)
			pm_str_add(out, "0123456789abcdef");
	else
		completion(r, out);
}
