/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent.c - experiments from end to end: the program, a server that answers from scripts, and the
 * report. */
#include "base/core/json.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "tests/lib/chat/agent_case.h"
#include "tests/lib/chat/chat_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

#define SILU_RULE "@\n" SILU
#define SILU      "Here it is.\n\n```c pass.c\n<<passes/library/activation/silu.c\n```\n"

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

/* ---- iterations ---- */

static void feedback_reaches_the_model(void **state)
{
	char more[] = "--tasks t --mode iterate --iterations 5 --tools text";
	Run r;

	(void)state;
	begin(&r, "iterate",
	      "@ turn=0\n```c pass.c\n<<tests/plugin/wrong_silu.c\n```\n```c "
	      "silu_with.h\n<<tests/plugin/silu_with.h\n```\n"
	      "@ turn=1 contains=INCORRECT\n" SILU "@ turn=2 contains=answer_2_of_5\nI am done.\n",
	      more);
	go(&r);
	is_done(&r);
	assert_int_equal(chat_server_requests(r.server), 3);
	assert_int_equal(pm_json_i64(at(r.report, "tasks", 0), "correct", 0), 1);
	assert_true(pm_json_num(at(r.report, "as_at_iteration", 0), "AS", 9) < 1);
	assert_true(pm_json_num(at(r.report, "as_at_iteration", 1), "AS", 0) > 1);
	assert_true(pm_json_num(at(r.report, "as_at_iteration", 4), "AS", 0) ==
		    pm_json_num(at(r.report, "as_at_iteration", 1), "AS", 1));
	assert_int_equal(pm_json_i64(r.report, "samples_ended", 0), 1);
	finish(&r);
}

/* The same conversation with each kind: what the second request holds. */
static void feedback_is_what_was_asked_for(void **state)
{
	static const struct {
		const char *kind, *rule;
	} kinds[] = {
		{ "E", "@ turn=1 contains=\\\"failure\\\" lacks=\\\"speedup\\\"\n" },
		{ "P", "@ turn=1 contains=\\\"records\\\" lacks=\\\"failure\\\"\n" },
		{ "none", "@ turn=1 contains=were_taken lacks=INCORRECT\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char more[128], script[1024];
		Run r;

		snprintf(more, sizeof more, "--tasks t --iterations 2 --tools text --feedback %s",
			 kinds[i].kind);
		snprintf(script, sizeof script,
			 "@ turn=0\n```c pass.c\n<<tests/plugin/wrong_silu.c\n```\n```c "
			 "silu_with.h\n<<tests/plugin/silu_with.h\n```\n%sdone\n",
			 kinds[i].rule);
		begin(&r, kinds[i].kind, script, more);
		go(&r);
		is_done(&r);
		assert_int_equal(chat_server_requests(r.server), 2);
		assert_int_equal(pm_json_i64(at(r.report, "tasks", 0), "correct", 9), 0);
		finish(&r);
	}
}

static void calls_of_tools_are_made(void **state)
{
	char more[] = "--tasks t --iterations 6 --tools native";
	Run r;

	(void)state;
	begin(&r, "native",
	      "@ turn=0 contains=\"parameters\" kind=tools\n"
	      "write_file {\"path\": \"pass.c\", \"text\": \"@@passes/library/activation/silu.c\"}\n"
	      "build {\"pass\": \"pass.c\"}\n"
	      "@ turn=1 contains=\\\"ok\\\":true kind=tools\n"
	      "evaluate {\"pass\": \"pass.c\", \"task\": \"t\"}\n"
	      "@ turn=2 contains=\\\"verdict\\\":\\\"OK\\\"\nDone.\n"
	      "@ turn=3\nDone, I said.\n@ turn=4\nDone.\n",
	      more);
	go(&r);
	is_done(&r);
	/* A quick evaluation does not score: the driver made the whole one. */
	assert_int_equal(pm_json_i64(at(r.report, "tasks", 0), "correct", 0), 1);
	assert_true(pm_json_num(at(r.report, "tasks", 0), "best_score", 0) > 1);
	finish(&r);
}

static void an_endpoint_without_tools_gets_text(void **state)
{
	char more[] = "--tasks t --iterations 3";
	Run r;

	(void)state;
	begin(&r, "refused",
	      "@ contains=\"parameters\" status=400\n{\"error\": {\"message\": \"tools are not "
	      "supported\"}}\n"
	      "@ turn=0 contains=fenced\n" SILU "@\ndone\n",
	      more);
	go(&r);
	is_done(&r);
	assert_int_equal(chat_server_requests(r.server), 3);
	assert_int_equal(pm_json_i64(at(r.report, "tasks", 0), "correct", 0), 1);
	finish(&r);
}

/* ---- hostile models ---- */

/* How often a text stands in the journals. */
static int answers(const Run *r, const char *text)
{
	char path[512];
	PmNames names = { 0 };
	int n = 0;

	snprintf(path, sizeof path, "%.200s/samples", r->out);
	assert_int_equal(pm_list_dir(path, &names, NULL), PM_OK);
	for (size_t i = 0; i < names.n; i++) {
		PmStr file = PM_STR_INIT, all = PM_STR_INIT;

		pm_path_join(path, names.v[i], &file);
		assert_int_equal(pm_read_file(file.s, 0, &all, NULL), PM_OK);
		for (const char *p = all.s; (p = strstr(p, text)) != NULL; p++)
			n++;
		pm_str_release(&file);
		pm_str_release(&all);
	}
	pm_names_release(&names);
	return n;
}

static void nothing_leaves_the_workspace(void **state)
{
	char more[] = "--tasks t --iterations 3 --tools native";
	char path[512];
	Run r;

	(void)state;
	begin(&r, "hostile",
	      "@ kind=tools\n"
	      "write_file {\"path\": \"../../escaped.c\", \"text\": \"x\"}\n"
	      "write_file {\"path\": \"/tmp/passmith-escaped.c\", \"text\": \"x\"}\n"
	      "write_file {\"path\": 5}\n"
	      "write_file not json\n"
	      "write_file [1]\n"
	      "no_such_tool {}\n"
	      "submit {\"pass\": \"pass.c\", \"task\": \"t\"}\n"
	      "leaderboard {}\n"
	      "evaluate {\"pass\": \"../x.c\", \"task\": \"no such task\", \"level\": \"full\"}\n"
	      "get_run {\"run\": \"r99999\"}\n"
	      "exemplars {\"task\": \"u\"}\n"
	      "exemplars {}\n",
	      more);
	go(&r);
	is_done(&r);
	/* The endless loop ends with the iterations. */
	assert_int_equal(chat_server_requests(r.server), 3);
	assert_int_equal(pm_json_i64(r.report, "samples_ended", 0), 1);
	assert_int_equal(pm_json_i64(at(r.report, "tasks", 0), "compiled", 9), 0);
	snprintf(path, sizeof path, "%.200s/work/escaped.c", r.out);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof path, "%.200s/escaped.c", r.out);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access("/tmp/passmith-escaped.c", F_OK), -1);
	assert_int_equal(answers(&r, "\"error\":\"This is about task"), 6);
	assert_int_equal(answers(&r, "\"error\":\"Give the task"), 3);
	assert_int_equal(answers(&r, "\"error\":\"There is no tool"), 9);
	assert_int_equal(answers(&r, "\"is_error\":true"), 36);
	finish(&r);
}

static void bad_text_is_an_answer(void **state)
{
	char more[] = "--tasks t --mode sample --samples 3 --seed 0";
	Run r;

	(void)state;
	begin(&r, "bad_text",
	      "@ contains=\"seed\":0 kind=raw\n{\"choices\":[{\"message\":{\"content\":\"\\xff\\xfe ```c "
	      "../../../x.c\\n1\\n```\"}}]}\n"
	      "@ contains=\"seed\":1\n```c pass.c\nthis is no C\n```\n"
	      "@ contains=\"seed\":2\nno file at all\n",
	      more);
	go(&r);
	is_done(&r);
	assert_int_equal(chat_server_requests(r.server), 3);
	assert_int_equal(pm_json_i64(at(r.report, "tasks", 0), "ended", 0), 3);
	assert_int_equal(pm_json_i64(at(r.report, "tasks", 0), "compiled", 9), 0);
	assert_true(pm_json_num(at(r.report, "as_at_iteration", 0), "AS", 0) <= 0.12);
	finish(&r);
}

/* ---- budgets and failures ---- */

static void a_budget_stops_and_more_goes_on(void **state)
{
	char less[] = "--tasks t --mode sample --samples 3 --budget-tokens 100";
	Run r;

	(void)state;
	begin(&r, "budget", "@ usage=100,50\nno file\n", less);
	go(&r);
	is_done(&r);
	assert_int_equal(chat_server_requests(r.server), 1);
	assert_int_equal(pm_json_i64(r.report, "samples_open", 0), 2);
	assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(at(r.report, "at_k", 1), "pass")));
	r.args[r.n - 1] = "301";
	go(&r);
	assert_int_equal(chat_server_requests(r.server), 3);
	assert_int_equal(pm_json_i64(r.report, "samples_open", 9), 0);
	assert_int_equal(pm_json_i64(r.report, "tokens_in", 0), 300);
	finish(&r);
}

static void money_is_a_budget(void **state)
{
	char more[] = "--tasks t --mode sample --samples 4 --budget-usd 0.003 --price-in 10 --price-out 10";
	Run r;

	(void)state;
	begin(&r, "money", "@ usage=100,100\nno file\n", more);
	go(&r);
	is_done(&r);
	/* 0.002 each: the second is begun, since something is left. */
	assert_int_equal(chat_server_requests(r.server), 2);
	finish(&r);
}

static void a_refusal_ends_the_run_and_not_the_experiment(void **state)
{
	char more[] = "--tasks t --mode single --key-env PASSMITH_TEST_KEY";
	Run r;

	(void)state;
	begin(&r, "refusal",
	      "@ times=1 status=401\n{\"error\": {\"message\": \"wrong key " KEY "\"}}\n"
	      "@ times=1 status=429 header=Retry-After: 0\n"
	      "@ times=1 close=1\n" SILU_RULE,
	      more);
	setenv("PASSMITH_TEST_KEY", KEY, 1);
	go(&r);
	assert_int_equal(r.code, 4);
	assert_non_null(strstr(pm_json_str(r.report, "error", ""), "401"));
	assert_int_equal(chat_server_requests(r.server), 1);
	go(&r);
	is_done(&r);
	assert_int_equal(chat_server_requests(r.server), 4);
	assert_int_equal(pm_json_i64(at(r.report, "tasks", 0), "correct", 0), 1);
	assert_int_equal(pm_json_i64(r.report, "requests_lost", 9), 0);
	finish(&r);
}

static void another_experiment_is_refused(void **state)
{
	char more[] = "--tasks t --mode single";
	Run r;

	(void)state;
	begin(&r, "other", "@\nno file\n", more);
	go(&r);
	is_done(&r);
	add(&r, "--seed");
	add(&r, "5");
	go(&r);
	assert_int_equal(r.code, 4);
	assert_non_null(strstr(pm_json_str(r.report, "error", ""), "'seed'"));
	finish(&r);
}

/* ---- the key ---- */

/* No file of the folder holds it. */
static void is_nowhere(const char *folder, const char *secret)
{
	const char *argv[] = { "grep", "-rlF", "-e", secret, folder, NULL };
	PmProcResult g = { 0 };
	PmLimits lim = { .seconds = 60, .file_size = -1 };

	assert_int_equal(pm_run(argv, NULL, 0, &lim, &g, NULL), PM_OK);
	if (g.out.len || g.code != 1)
		fail_msg("the key stands in %s", g.out.s);
	pm_proc_result_release(&g);
}

static void the_key_is_sent_and_not_kept(void **state)
{
	char more[] = "--tasks t --iterations 2 --tools text --key-env PASSMITH_TEST_KEY";
	char log[512];
	PmStr sent = PM_STR_INIT;
	Run r;

	(void)state;
	begin(&r, "key", "@\n", more);
	chat_server_stop(r.server);
	snprintf(log, sizeof log, "%.200s.requests", c.dir.s);
	r.server = chat_server_start_text("@ turn=0\nYour key is " KEY ".\n\n" SILU "@\ndone " KEY "\n", log);
	r.args[8] = chat_server_url(r.server);
	setenv("PASSMITH_TEST_KEY", KEY, 1);
	go(&r);
	is_done(&r);
	assert_int_equal(pm_json_i64(at(r.report, "tasks", 0), "correct", 0), 1);
	assert_int_equal(pm_read_file(log, 0, &sent, NULL), PM_OK);
	assert_non_null(strstr(sent.s, "Authorization: Bearer " KEY "\r\n"));
	is_nowhere(c.dir.s, KEY);
	unlink(log);
	pm_str_release(&sent);
	finish(&r);
}

/* ---- many ---- */

static void samples_run_side_by_side(void **state)
{
	char more[] = "--tasks t,u --mode sample --samples 3 --parallel 3 --seed 0";
	const cJSON *k;
	Run r;

	(void)state;
	begin(&r, "parallel", "@ contains=\"seed\":1\nno file\n" SILU_RULE, more);
	go(&r);
	is_done(&r);
	assert_int_equal(chat_server_requests(r.server), 6);
	assert_int_equal(pm_json_i64(at(r.report, "tasks", 0), "correct", 0), 2);
	assert_int_equal(pm_json_i64(at(r.report, "tasks", 1), "correct", 9), 0);
	/* Two of three, and none of three: (1 - 1/3)/2, (1 - 0)/2, 1/2. */
	k = at(r.report, "at_k", 0);
	assert_true(pm_json_num(k, "pass", 0) > 0.3333 && pm_json_num(k, "pass", 0) < 0.3334);
	assert_true(pm_json_num(at(r.report, "at_k", 1), "pass", 0) == 0.5);
	assert_true(pm_json_num(at(r.report, "at_k", 2), "k", 0) == 3);
	finish(&r);
}

static void the_best_is_submitted(void **state)
{
	char more[] = "--tasks t --mode best-of --samples 2 --seed 0";
	PmNames names = { 0 };
	char path[512];
	Run r;

	(void)state;
	begin(&r, "best",
	      "@ contains=\"seed\":0\n```c pass.c\n<<tests/plugin/wrong_silu.c\n```\n```c "
	      "silu_with.h\n<<tests/plugin/silu_with.h\n```\n" SILU_RULE,
	      more);
	go(&r);
	is_done(&r);
	assert_true(pm_json_num(at(r.report, "tasks", 0), "best_sample", -1) == 1);
	snprintf(path, sizeof path, "%.200s/best", r.out);
	assert_int_equal(pm_list_dir(path, &names, NULL), PM_OK);
	assert_int_equal(names.n, 1);
	assert_true(pm_str_ends(names.v[0], "-1.json"));
	pm_names_release(&names);
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
		cmocka_unit_test(feedback_reaches_the_model),
		cmocka_unit_test(feedback_is_what_was_asked_for),
		cmocka_unit_test(calls_of_tools_are_made),
		cmocka_unit_test(an_endpoint_without_tools_gets_text),
		cmocka_unit_test(nothing_leaves_the_workspace),
		cmocka_unit_test(bad_text_is_an_answer),
		cmocka_unit_test(a_budget_stops_and_more_goes_on),
		cmocka_unit_test(money_is_a_budget),
		cmocka_unit_test(a_refusal_ends_the_run_and_not_the_experiment),
		cmocka_unit_test(another_experiment_is_refused),
		cmocka_unit_test(the_key_is_sent_and_not_kept),
		cmocka_unit_test(samples_run_side_by_side),
		cmocka_unit_test(the_best_is_submitted),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
