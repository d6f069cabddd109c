/* SPDX-License-Identifier: Apache-2.0 */
/* chat.c - asking a model, again when that helps. */
#include "app/chat/chat.h"

#include "app/chat/http.h"
#include "base/sys/proc.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { SAID = 400, BYTES_PER_TOKEN = 4 }; /* SAID: bytes of an endpoint's own words in a sentence of ours */

void pm_chat_request(const PmChat *c, const cJSON *messages, const cJSON *tools, PmStr *out)
{
	cJSON *j = cJSON_CreateObject(), *list;
	const cJSON *t;

	cJSON_AddStringToObject(j, "model", c->model);
	cJSON_AddItemReferenceToObject(j, "messages", (cJSON *)(uintptr_t)messages);
	if (c->temperature >= 0)
		cJSON_AddNumberToObject(j, "temperature", c->temperature);
	if (c->seed >= 0)
		pm_json_add_i64(j, "seed", c->seed);
	if (c->max_tokens > 0)
		pm_json_add_i64(j, "max_tokens", c->max_tokens);
	if (tools && cJSON_GetArraySize(tools)) {
		list = cJSON_AddArrayToObject(j, "tools");
		cJSON_ArrayForEach(t, tools)
		{
			cJSON *one = cJSON_CreateObject(), *f;

			cJSON_AddStringToObject(one, "type", "function");
			f = cJSON_AddObjectToObject(one, "function");
			cJSON_AddStringToObject(f, "name", pm_json_str(t, "name", ""));
			cJSON_AddStringToObject(f, "description", pm_json_str(t, "description", ""));
			cJSON_AddItemToObject(
				f, "parameters",
				cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(t, "inputSchema"), 1));
			cJSON_AddItemToArray(list, one);
		}
	}
	pm_json_print(j, 0, out);
	cJSON_Delete(j);
}

/* What an endpoint says went wrong: {"error": {"message": ...}}, {"error": "..."} or the text itself. */
static void said(const PmHttpReply *r, const char *key, PmStr *out)
{
	cJSON *j = NULL, *e;
	const char *text = NULL;

	pm_json_parse(r->body.s, r->body.len, &j, NULL);
	e = cJSON_GetObjectItemCaseSensitive(j, "error");
	text = cJSON_IsString(e) ? e->valuestring
				 : pm_json_str(e, "message", pm_json_str(j, "message", NULL));
	if (text)
		pm_str_add(out, text);
	else
		pm_str_addn(out, r->body.s, r->body.len < 4 * SAID ? r->body.len : 4 * SAID);
	cJSON_Delete(j);
	pm_chat_hide(out, key);
	for (size_t i = 0; i < out->len; i++)
		if (out->s[i] == '\n' || out->s[i] == '\r')
			out->s[i] = ' ';
	if (!out->len)
		pm_str_add(out, "it gives no reason");
}

/* Does an endpoint that refuses a request with tools say that it has none? */
static int refuses_tools(int status, const char *words)
{
	return (status == 400 || status == 404 || status == 422 || status == 501) &&
	       (strcasestr(words, "tool") || strcasestr(words, "function call"));
}

static PmStatus refused(const PmChat *c, const PmHttpReply *r, int with_tools, PmChatReply *out, PmErr *err)
{
	PmStr words = PM_STR_INIT;
	const char *what = r->status == 401 || r->status == 403 ? "; check the key that --key-env names"
			   : r->status == 404                   ? "; check --base-url and --model"
								: "";
	PmStatus st = pm_retry_helps(PM_OK, r->status) ? PM_E_IO : PM_E_INVALID;

	said(r, c->key, &words);
	out->tools_refused = with_tools && refuses_tools(r->status, words.s);
	st = pm_err(err, st, "%.200s answers with status %d, \"%.*s\"%s.", c->base_url, r->status, SAID,
		    words.s, what);
	pm_str_release(&words);
	return st;
}

/* One try. *after is what the server asks to wait. */
static PmStatus try_once(const PmChat *c, const PmHttpPost *post, int with_tools, PmChatReply *out, int *http,
			 double *after, PmErr *err)
{
	PmHttpReply r;
	PmStatus st = pm_http_post(post, &r, err);

	*http = 0;
	*after = -1;
	if (!st) {
		*http = r.status;
		*after = r.retry_after;
		if (r.status != 200) {
			st = refused(c, &r, with_tools, out, err);
		} else {
			st = pm_chat_read(r.body.s, r.body.len, c->key, out, err);
			*http = 0;
			if (st) /* an answer that is cut off or garbled: as if it had not come */
				st = pm_err(err, PM_E_IO, "%.200s: %s", c->base_url, err->text);
		}
	}
	pm_http_reply_release(&r);
	return st;
}

static void pause_for(double seconds)
{
	struct timespec t = { .tv_sec = (time_t)seconds,
			      .tv_nsec = (long)(1e9 * (seconds - floor(seconds))) };

	while (nanosleep(&t, &t))
		;
}

PmStatus pm_chat_ask(const PmChat *c, const cJSON *messages, const cJSON *tools, PmRng *rng, PmChatReply *out,
		     PmErr *err)
{
	PmStr url = PM_STR_INIT, body = PM_STR_INIT;
	PmHttpPost post = { .key = c->key, .seconds = c->seconds };
	double t0 = pm_now(), wait = 0, after;
	PmErr last;
	PmStatus st;
	int http, tried = 0;

	memset(out, 0, sizeof *out);
	pm_str_init(&out->thoughts);
	pm_str_addf(&url, "%s%schat/completions", c->base_url, pm_str_ends(c->base_url, "/") ? "" : "/");
	pm_chat_request(c, messages, tools, &body);
	post.url = url.s;
	post.body = body.s;
	post.body_len = body.len;
	do {
		if (tried && c->waiting)
			c->waiting(c->arg, last.text, wait);
		if (tried)
			pause_for(wait);
		pm_err_init(&last);
		st = try_once(c, &post, tools != NULL, out, &http, &after, &last);
		tried++;
		out->http = http;
		wait = st && !out->tools_refused && pm_retry_helps(st, http)
			       ? pm_retry_wait(&c->retry, tried, after, rng)
			       : -1;
	} while (st && wait >= 0);
	out->tries = tried;
	out->seconds = pm_now() - t0;
	if (out->tokens_in < 0)
		out->tokens_in = (int64_t)(body.len / BYTES_PER_TOKEN) + 1;
	if (st && err)
		*err = last;
	if (st && tried > 1)
		pm_err_ctx(err, "After %d tries", tried);
	pm_str_release(&url);
	pm_str_release(&body);
	return st;
}
