/* SPDX-License-Identifier: Apache-2.0 */
/* chat_read.c - an endpoint's answer, bounded and cleaned. */
#include "app/chat/chat.h"

#include "base/core/clean.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 64, BYTES_PER_TOKEN = 4 };

/* The bytes of the character at s; 0 for what is no UTF-8 (or a NUL byte). */
static size_t utf8(const unsigned char *s, size_t left)
{
	static const uint32_t least[] = { 0, 1, 0x80, 0x800, 0x10000 };
	size_t len = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
	uint32_t c = len <= 1 ? s[0] : s[0] & (0x7fu >> len);

	if (!len || len > left)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : len;
}

void pm_chat_hide(PmStr *s, const char *key)
{
	size_t n = key ? strlen(key) : 0, len;
	PmStr out = PM_STR_INIT;

	for (size_t i = 0; i < s->len; i += len) {
		len = utf8((const unsigned char *)s->s + i, s->len - i);
		if (n >= PM_CHAT_KEY_SHOWN && s->len - i >= n && !memcmp(s->s + i, key, n)) {
			pm_str_add(&out, "[key]");
			len = n;
		} else if (len) {
			pm_str_addn(&out, s->s + i, len);
		} else {
			pm_str_addc(&out, '?');
			len = 1;
		}
	}
	pm_str_release(s);
	*s = out;
}

/* A member that is text, hidden as above; a part of an array of {"type": "text", "text"} too. */
static void text_of(const cJSON *j, const char *key, PmStr *out)
{
	const cJSON *part;

	if (cJSON_IsString(j))
		pm_str_add(out, j->valuestring);
	else if (cJSON_IsArray(j))
		cJSON_ArrayForEach(part, j) pm_str_add(out, pm_json_str(part, "text", ""));
	pm_chat_hide(out, key);
}

static void add_hidden(cJSON *to, const char *member, const cJSON *text, const char *dflt, const char *key)
{
	PmStr s = PM_STR_INIT;

	text_of(text, key, &s);
	cJSON_AddStringToObject(to, member, s.len || cJSON_IsString(text) ? s.s : dflt);
	pm_str_release(&s);
}

/* A name as endpoints take it back: letters, digits, "_" and "-". */
static void add_name(cJSON *to, const char *member, const char *text, const char *dflt)
{
	char s[NAME];
	size_t n = 0;

	for (; text && *text && n + 1 < sizeof s; text++)
		s[n++] = strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", *text)
				 ? *text
				 : '_';
	s[n] = '\0';
	cJSON_AddStringToObject(to, member, n ? s : dflt);
}

/* Calls of tools in the form in which they are sent back; returns how many were left out. */
static int read_calls(const cJSON *calls, const char *key, cJSON *message)
{
	cJSON *list;
	const cJSON *call;
	char id[32];
	int n = 0;

	if (!cJSON_IsArray(calls) || !cJSON_GetArraySize(calls))
		return 0;
	list = cJSON_AddArrayToObject(message, "tool_calls");
	cJSON_ArrayForEach(call, calls)
	{
		const cJSON *f = cJSON_GetObjectItemCaseSensitive(call, "function"),
			    *args = cJSON_GetObjectItemCaseSensitive(f, "arguments");
		cJSON *one, *to;
		PmStr text = PM_STR_INIT;

		if (++n > PM_CHAT_CALLS)
			continue;
		snprintf(id, sizeof id, "call_%d", n);
		one = cJSON_CreateObject();
		add_name(one, "id", pm_json_str(call, "id", NULL), id);
		cJSON_AddStringToObject(one, "type", "function");
		to = cJSON_AddObjectToObject(one, "function");
		add_name(to, "name", pm_json_str(f, "name", NULL), "none");
		if (cJSON_IsObject(args)) { /* some endpoints give them unpacked */
			pm_json_print(args, 0, &text);
			pm_chat_hide(&text, key);
			cJSON_AddStringToObject(to, "arguments", text.s);
		} else {
			add_hidden(to, "arguments", args, "{}", key);
		}
		pm_str_release(&text);
		cJSON_AddItemToArray(list, one);
	}
	return n > PM_CHAT_CALLS ? n - PM_CHAT_CALLS : 0;
}

static int64_t tokens(const cJSON *usage, const char *name)
{
	double v = pm_json_num(usage, name, -1);

	return v >= 0 && v < 1e12 ? (int64_t)v : -1;
}

static void read_usage(const cJSON *j, size_t bytes, PmChatReply *out)
{
	const cJSON *usage = cJSON_GetObjectItemCaseSensitive(j, "usage");

	out->tokens_in = tokens(usage, "prompt_tokens");
	out->tokens_out = tokens(usage, "completion_tokens");
	out->estimated = out->tokens_in < 0 || out->tokens_out < 0;
	if (out->tokens_out < 0)
		out->tokens_out = (int64_t)(bytes / BYTES_PER_TOKEN) + 1;
}

PmStatus pm_chat_read(const char *text, size_t n, const char *key, PmChatReply *out, PmErr *err)
{
	const cJSON *choice, *m, *content, *thoughts;
	PmStr clean = PM_STR_INIT;
	cJSON *j = NULL;
	PmStatus st;

	pm_str_addn(&clean, text, n);
	pm_chat_hide(&clean, NULL);
	st = pm_json_parse(clean.s, clean.len, &j, err);
	pm_str_release(&clean);
	if (st)
		return pm_err_ctx(err, "The answer is no JSON");
	choice = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "choices"), 0);
	m = cJSON_GetObjectItemCaseSensitive(choice, "message");
	if (!cJSON_IsObject(m)) {
		cJSON_Delete(j);
		return pm_err(
			err, PM_E_INVALID,
			"The answer is no chat completion: it has no choices[0].message; check --base-url.");
	}
	content = cJSON_GetObjectItemCaseSensitive(m, "content");
	out->message = cJSON_CreateObject();
	cJSON_AddStringToObject(out->message, "role", "assistant");
	add_hidden(out->message, "content", content, "", key);
	out->cut = read_calls(cJSON_GetObjectItemCaseSensitive(m, "tool_calls"), key, out->message);
	thoughts = cJSON_GetObjectItemCaseSensitive(m, "reasoning_content");
	text_of(thoughts ? thoughts : cJSON_GetObjectItemCaseSensitive(m, "reasoning"), key, &out->thoughts);
	snprintf(out->finish, sizeof out->finish, "%.31s", pm_json_str(choice, "finish_reason", ""));
	pm_clean(out->finish, out->finish, sizeof out->finish, 0);
	read_usage(j, n, out);
	cJSON_Delete(j);
	return PM_OK;
}

void pm_chat_reply_release(PmChatReply *r)
{
	cJSON_Delete(r->message);
	r->message = NULL;
	pm_str_release(&r->thoughts);
}
