/* SPDX-License-Identifier: Apache-2.0 */
/* test_chat.c - asking a model: right answers, and all that an endpoint can do instead of one. */
#include "app/chat/chat.h"
#include "app/chat/http.h"
#include "tests/lib/chat/chat_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEY "sk-secret-0123456789"

typedef struct Asked {
	PmStatus st;
	PmChatReply r;
	PmErr err;
	int requests, waits;
	double longest; /* wait that was announced */
} Asked;

static void waiting(void *arg, const char *why, double seconds)
{
	Asked *a = arg;

	assert_true(*why);
	a->waits++;
	a->longest = seconds > a->longest ? seconds : a->longest;
}

static cJSON *question(void)
{
	cJSON *list = cJSON_CreateArray(), *m = cJSON_CreateObject();

	cJSON_AddStringToObject(m, "role", "user");
	cJSON_AddStringToObject(m, "content", "write a pass");
	cJSON_AddItemToArray(list, m);
	return list;
}

static cJSON *one_tool(void)
{
	cJSON *list = cJSON_CreateArray(), *t = cJSON_CreateObject();

	cJSON_AddStringToObject(t, "name", "build");
	cJSON_AddStringToObject(t, "description", "builds");
	cJSON_AddItemToObject(t, "inputSchema", cJSON_CreateObject());
	cJSON_AddItemToArray(list, t);
	return list;
}

/* Asks a server with this script once, with a tool when `tools`. */
static void ask_for(const char *script, double seconds, int tools, Asked *a)
{
	ChatServer *s = chat_server_start_text(script, NULL);
	PmChat c = { .base_url = chat_server_url(s),
		     .model = "m",
		     .key = KEY,
		     .temperature = -1,
		     .seed = -1,
		     .seconds = seconds,
		     .retry = { .tries = 3, .first = 0.001 },
		     .waiting = waiting,
		     .arg = a };
	cJSON *q = question(), *t = tools ? one_tool() : NULL;
	PmRng rng;

	memset(a, 0, sizeof *a);
	pm_err_init(&a->err);
	pm_rng_init(&rng, 1);
	a->st = pm_chat_ask(&c, q, t, &rng, &a->r, &a->err);
	a->requests = chat_server_requests(s);
	if (a->st)
		assert_true(*a->err.text && a->err.text[strlen(a->err.text) - 1] == '.');
	else
		assert_false(*a->err.text);
	assert_null(strstr(a->err.text, KEY));
	cJSON_Delete(q);
	cJSON_Delete(t);
	chat_server_stop(s);
}

static void ask(const char *script, Asked *a)
{
	ask_for(script, 20, 0, a);
}

static const char *content(const Asked *a)
{
	return pm_json_str(a->r.message, "content", NULL);
}

static const cJSON *call(const Asked *a, int i)
{
	return cJSON_GetObjectItemCaseSensitive(
		cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(a->r.message, "tool_calls"), i),
		"function");
}

static void an_answer_is_read(void **state)
{
	Asked a;

	(void)state;
	ask("@ usage=1234,56\nhello\nworld\n", &a);
	assert_int_equal(a.st, PM_OK);
	assert_string_equal(content(&a), "hello\nworld");
	assert_string_equal(a.r.finish, "stop");
	assert_int_equal(a.r.tokens_in, 1234);
	assert_int_equal(a.r.tokens_out, 56);
	assert_int_equal(a.r.estimated, 0);
	assert_int_equal(a.r.tries, 1);
	pm_chat_reply_release(&a.r);
}

static void tokens_that_nobody_counted_are_estimated(void **state)
{
	Asked a;

	(void)state;
	ask("@ usage=-1,-1\nhello\n", &a);
	assert_int_equal(a.st, PM_OK);
	assert_int_equal(a.r.estimated, 1);
	assert_in_range(a.r.tokens_in, 10, 60);
	assert_in_range(a.r.tokens_out, 20, 60);
	pm_chat_reply_release(&a.r);
	/* Numbers that are none. */
	ask("@ kind=raw\n{\"choices\":[{\"message\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":-5,"
	    "\"completion_tokens\":1e300}}\n",
	    &a);
	assert_int_equal(a.st, PM_OK);
	assert_int_equal(a.r.estimated, 1);
	assert_true(a.r.tokens_in > 0 && a.r.tokens_out > 0 && a.r.tokens_out < 1000);
	pm_chat_reply_release(&a.r);
}

static void calls_of_tools_are_read(void **state)
{
	Asked a;

	(void)state;
	ask_for("@ kind=tools contains=\"parameters\"\nbuild {\"path\": \"pass.c\"}\nbuild not json\n", 20, 1,
		&a);
	assert_int_equal(a.st, PM_OK);
	assert_string_equal(pm_json_str(call(&a, 0), "name", ""), "build");
	assert_string_equal(pm_json_str(call(&a, 0), "arguments", ""), "{\"path\": \"pass.c\"}");
	assert_string_equal(pm_json_str(call(&a, 1), "arguments", ""), "not json");
	pm_chat_reply_release(&a.r);
}

static void failures_that_pass_are_tried_again(void **state)
{
	static const char *const first[] = {
		"@ times=1 status=429 header=Retry-After: 0\n",
		"@ times=1 status=429 header=retry-after:   0  \n",
		"@ times=1 status=429\n",
		"@ times=1 status=429 header=Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\n",
		"@ times=1 status=500\n",
		"@ times=1 status=503\n",
		"@ times=1 status=529\n",
		"@ times=1 close=1\n",
		"@ times=1 cut=20\nan answer that is cut off\n",
		"@ times=1 kind=raw\n{\"choices\": [\n",
		"@ times=1 kind=raw\nnot JSON at all\n",
		"@ times=1 kind=raw\n{\"error\": \"overloaded\"}\n",
		"@ times=1 kind=raw\n[1, 2]\n",
		"@ times=1 kind=raw\n\\x00\\x00\n",
		"@ times=1 kind=raw\n",
		"@ times=1 kind=nest repeat=100000\n",
	};
	char script[512];
	Asked a;

	(void)state;
	for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
		snprintf(script, sizeof script, "%s@\nat last\n", first[i]);
		ask(script, &a);
		if (a.st || strcmp(content(&a), "at last") != 0)
			fail_msg("after '%s': status %d, %s", first[i], (int)a.st, a.err.text);
		assert_int_equal(a.requests, 2);
		assert_int_equal(a.r.tries, 2);
		assert_int_equal(a.waits, 1);
		pm_chat_reply_release(&a.r);
	}
}

static void slow_answers_end_at_the_deadline(void **state)
{
	Asked a;

	(void)state;
	ask_for("@ hang=1\n", 0.2, 0, &a);
	assert_int_equal(a.st, PM_E_TIMEOUT);
	assert_int_equal(a.r.tries, 3);
	assert_non_null(strstr(a.err.text, "After 3 tries"));
	pm_chat_reply_release(&a.r);
}

static void tries_end(void **state)
{
	Asked a;

	(void)state;
	ask("@ status=503\n{\"error\": {\"message\": \"no room\"}}\n", &a);
	assert_int_equal(a.st, PM_E_IO);
	assert_int_equal(a.requests, 3);
	assert_non_null(strstr(a.err.text, "503"));
	assert_non_null(strstr(a.err.text, "no room"));
	pm_chat_reply_release(&a.r);
	/* A wait that is too long is none. */
	ask("@ status=429 header=Retry-After: 100000\n", &a);
	assert_int_equal(a.st, PM_E_IO);
	assert_int_equal(a.requests, 1);
	pm_chat_reply_release(&a.r);
}

static void what_cannot_go_better_is_not_tried_again(void **state)
{
	static const int refused[] = { 301, 400, 401, 403, 404, 413, 422, 501, 302 };
	char script[256];
	Asked a;

	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		snprintf(script, sizeof script,
			 "@ status=%d header=Location: http://127.0.0.1:1/\n{\"error\": {\"message\": "
			 "\"no, " KEY "\"}}\n",
			 refused[i]);
		ask(script, &a);
		assert_int_equal(a.st, PM_E_INVALID);
		assert_int_equal(a.requests, 1);
		assert_non_null(strstr(a.err.text, "[key]"));
		assert_false(a.r.tools_refused);
		pm_chat_reply_release(&a.r);
	}
	/* Over the limit: the same again would be as large. */
	ask("@ kind=big repeat=17000000\n", &a);
	assert_int_equal(a.st, PM_E_LIMIT);
	assert_int_equal(a.requests, 1);
	pm_chat_reply_release(&a.r);
}

static void an_endpoint_without_tools_is_known(void **state)
{
	Asked a;

	(void)state;
	ask_for("@ status=400\n{\"error\": {\"message\": \"m does not support tools\"}}\n", 20, 1, &a);
	assert_int_equal(a.st, PM_E_INVALID);
	assert_true(a.r.tools_refused);
	assert_int_equal(a.requests, 1);
	pm_chat_reply_release(&a.r);
	ask_for("@ status=400\n{\"error\": {\"message\": \"context too long\"}}\n", 20, 1, &a);
	assert_false(a.r.tools_refused);
	pm_chat_reply_release(&a.r);
}

static void hostile_text_is_cleaned(void **state)
{
	Asked a;
	const char *s;

	(void)state;
	ask("@ "
	    "kind=raw\n{\"choices\":[{\"finish_reason\":\"\\x1b[2J\",\"message\":{\"content\":"
	    "\"a\\xff\\xc0\\x80 " KEY " b\",\"reasoning_content\":\"my " KEY
	    "\",\"tool_calls\":[{\"id\":7,\"function\":{\"name\":\"../x\","
	    "\"arguments\":{\"k\":\"" KEY "\"}}},5,{\"function\":{\"arguments\":3}}]}}]}\n",
	    &a);
	assert_int_equal(a.st, PM_OK);
	assert_string_equal(content(&a), "a??? [key] b");
	assert_string_equal(a.r.thoughts.s, "my [key]");
	assert_null(strchr(a.r.finish, '\x1b'));
	assert_string_equal(pm_json_str(call(&a, 0), "name", ""), "___x");
	s = pm_json_str(call(&a, 0), "arguments", "");
	assert_null(strstr(s, KEY));
	assert_string_equal(pm_json_str(call(&a, 1), "name", ""), "none");
	assert_string_equal(pm_json_str(call(&a, 2), "arguments", ""), "{}");
	pm_chat_reply_release(&a.r);
	/* The key behind an escape of JSON. */
	ask("@ kind=raw\n{\"choices\":[{\"message\":{\"content\":\"\\u0073k-secret-0123456789\"}}]}\n", &a);
	assert_int_equal(a.st, PM_OK);
	assert_string_equal(content(&a), "[key]");
	pm_chat_reply_release(&a.r);
}

static void there_are_bounds_of_calls(void **state)
{
	PmStr script = PM_STR_INIT;
	Asked a;

	(void)state;
	pm_str_add(&script, "@ kind=tools\n");
	for (int i = 0; i < 100; i++)
		pm_str_add(&script, "build {}\n");
	ask(script.s, &a);
	assert_int_equal(a.st, PM_OK);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(a.r.message, "tool_calls")),
			 PM_CHAT_CALLS);
	assert_int_equal(a.r.cut, 100 - PM_CHAT_CALLS);
	pm_chat_reply_release(&a.r);
	pm_str_release(&script);
}

static void nobody_listens(void **state)
{
	PmChat c = { .base_url = "http://127.0.0.1:1/v1",
		     .model = "m",
		     .temperature = -1,
		     .seed = -1,
		     .retry = { .tries = 2, .first = 0.001 } };
	static const char *const bad[] = { "file:///etc/passwd", "ftp://127.0.0.1/", "127.0.0.1 x", "" };
	cJSON *q = question();
	PmChatReply r;
	PmErr err;
	PmRng rng;

	(void)state;
	pm_err_init(&err);
	pm_rng_init(&rng, 1);
	setenv("no_proxy", "127.0.0.1", 1);
	assert_int_equal(pm_chat_ask(&c, q, NULL, &rng, &r, &err), PM_E_IO);
	assert_int_equal(r.tries, 2);
	pm_chat_reply_release(&r);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		c.base_url = bad[i];
		assert_int_equal(pm_chat_ask(&c, q, NULL, &rng, &r, &err), PM_E_INVALID);
		assert_int_equal(r.tries, 1);
		pm_chat_reply_release(&r);
	}
	cJSON_Delete(q);
}

static void retry_after_is_read(void **state)
{
	(void)state;
	assert_true(pm_retry_after("0", 1000) == 0);
	assert_true(pm_retry_after("120", 1000) == 120);
	assert_true(pm_retry_after("Thu, 01 Jan 1970 00:20:00 GMT", 1000) == 200);
	assert_true(pm_retry_after("Thursday, 01-Jan-70 00:20:00 GMT", 1000) == 200);
	assert_true(pm_retry_after("Thu Jan  1 00:20:00 1970", 1000) == 200);
	assert_true(pm_retry_after("Thu, 01 Jan 1970 00:00:00 GMT", 1000) == 0);
	assert_true(pm_retry_after("soon", 1000) < 0);
	assert_true(pm_retry_after("", 1000) < 0);
	assert_true(pm_retry_after("-3", 1000) < 0);
	assert_true(pm_retry_after("99999999999999999999", 1000) < 0);
}

static void waits_grow_and_are_bounded(void **state)
{
	PmRetry r = { .tries = 50, .first = 1 };
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 3);
	for (int i = 1; i < 50; i++) {
		double most = i < 7 ? (double)(1 << (i - 1)) : PM_RETRY_MOST,
		       w = pm_retry_wait(&r, i, -1, &rng);

		most = most < PM_RETRY_MOST ? most : PM_RETRY_MOST;
		assert_true(w >= most / 2 && w <= most);
	}
	assert_true(pm_retry_wait(&r, 50, -1, &rng) < 0);
	assert_true(pm_retry_wait(&r, 50, 1, &rng) < 0);
	assert_true(pm_retry_wait(&r, 1, 7, &rng) == 7);
	assert_true(pm_retry_wait(&r, 1, PM_RETRY_AFTER_MOST + 1, &rng) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_read),
		cmocka_unit_test(tokens_that_nobody_counted_are_estimated),
		cmocka_unit_test(calls_of_tools_are_read),
		cmocka_unit_test(failures_that_pass_are_tried_again),
		cmocka_unit_test(slow_answers_end_at_the_deadline),
		cmocka_unit_test(tries_end),
		cmocka_unit_test(what_cannot_go_better_is_not_tried_again),
		cmocka_unit_test(an_endpoint_without_tools_is_known),
		cmocka_unit_test(hostile_text_is_cleaned),
		cmocka_unit_test(there_are_bounds_of_calls),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(retry_after_is_read),
		cmocka_unit_test(waits_grow_and_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
