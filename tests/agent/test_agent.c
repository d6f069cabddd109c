/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent.c - experiments from end to end: the program, a server that answers from scripts, and the
 * report. */
#include "base/core/json.h"
#include "tests/lib/chat/agent_case.h"
#include "tests/lib/chat/chat_server.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KEY "sk-test-key-0123456789"

static AgentCase c;

/* The options of every run: endpoint, database, folder. */
typedef struct Run {
	ChatServer *server;
	char *db, out[256];
	const char *args[48];
	int n;
	cJSON *report;
	int code;
} Run;

static void add(Run *r, const char *a)
{
	r->args[r->n++] = a;
	r->args[r->n] = NULL;
}

/* A run `name` against this script; `more` are options with blanks between them. */
static void begin(Run *r, const char *name, const char *script, char *more)
{
	char *save = NULL;

	memset(r, 0, sizeof *r);
	r->server = chat_server_start_text(script, NULL);
	r->db = agent_case_db(&c, name);
	snprintf(r->out, sizeof r->out, "%.200s/%s", c.dir.s, name);
	add(r, "agent");
	add(r, "--json");
	add(r, "--quiet");
	add(r, "--model");
	add(r, "m");
	add(r, "--first-wait");
	add(r, "0.001");
	add(r, "--base-url");
	add(r, chat_server_url(r->server));
	add(r, "--db");
	add(r, r->db);
	add(r, "--out");
	add(r, r->out);
	for (char *w = strtok_r(more, " ", &save); w; w = strtok_r(NULL, " ", &save))
		add(r, w);
}

static void go(Run *r)
{
	cJSON_Delete(r->report);
	r->code = agent_case_run(&c, "run", r->args);
	r->report = agent_case_json(&c, "run");
}

static void finish(Run *r)
{
	chat_server_stop(r->server);
	cJSON_Delete(r->report);
	free(r->db);
}

static void is_done(const Run *r)
{
	if (r->code)
		fail_msg("exit code %d: %s", r->code, pm_json_str(r->report, "error", "?"));
}

static const cJSON *at(const cJSON *j, const char *list, int i)
{
	return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, list), i);
}

#define SILU "Here it is.\n\n```c pass.c\n<<passes/library/activation/silu.c\n```\n"

static void a_right_pass_in_one_answer(void **state)
{
	char more[] = "--tasks t --mode single --price-in 10 --price-out 100";
	Run r;

	(void)state;
	begin(&r, "single", "@ usage=1000,200\n" SILU, more);
	go(&r);
	is_done(&r);
	assert_int_equal(chat_server_requests(r.server), 1);
	assert_true(pm_json_num(at(r.report, "at_k", 0), "pass", -1) == 1);
	assert_true(pm_json_num(at(r.report, "at_k", 0), "compile", -1) == 1);
	assert_true(pm_json_num(at(at(r.report, "at_k", 0), "fast", 1), "value", -1) == 1);
	assert_true(pm_json_num(at(r.report, "tasks", 0), "best_speedup", 0) > 1);
	assert_true(pm_json_num(at(r.report, "as_at_iteration", 0), "AS", 0) > 1);
	assert_int_equal(pm_json_i64(r.report, "tokens_in", 0), 1000);
	assert_int_equal(pm_json_i64(r.report, "tokens_out", 0), 200);
	assert_true(pm_json_num(r.report, "usd", 0) > 0.0299 && pm_json_num(r.report, "usd", 0) < 0.0301);
	/* Once more: all is done, nothing is asked. */
	go(&r);
	is_done(&r);
	assert_int_equal(chat_server_requests(r.server), 1);
	finish(&r);
}

static int prepare(void **state)
{
	(void)state;
	agent_case_open(&c);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	agent_case_close(&c);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_pass_in_one_answer),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
