/* SPDX-License-Identifier: Apache-2.0 */
/* test_mcp.c - passmith mcp as a client sees it: cancelled calls and vanished clients leave no process, and
 * two clients share a database. */
#include "base/core/arena.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "tests/lib/mcp_client.h"
#include "tests/lib/need.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Needs what stands above. */
#include <cmocka.h>

/* A workspace with a pass whose kernel never ends, and one that is right. */
typedef struct Place {
	PmStr dir, work, db;
	const char *words[8];
} Place;

#define HANG                                                                                                 \
	"{\"pass\":\"hanging_silu.so\",\"model\":\"models/"                                                  \
	"llama_block.gpt\",\"level\":\"quick\",\"wait_s\":60}"

static void copy(const char *from, const PmStr *dir)
{
	PmStr text = PM_STR_INIT, to = PM_STR_INIT;

	pm_path_join(dir->s, pm_path_base(from), &to);
	assert_int_equal(pm_read_file(from, 0, &text, NULL), PM_OK);
	assert_int_equal(pm_write_file(to.s, text.s, text.len, NULL), PM_OK);
	pm_str_release(&text);
	pm_str_release(&to);
}

static int setup(void **state)
{
	Place *p = pm_xcalloc(1, sizeof *p);

	mcp_adopt();
	pm_str_init(&p->dir);
	pm_str_init(&p->work);
	pm_str_init(&p->db);
	assert_int_equal(pm_temp_dir("mcp", &p->dir, NULL), PM_OK);
	pm_path_join(p->dir.s, "work", &p->work);
	pm_path_join(p->dir.s, "w.db", &p->db);
	assert_int_equal(pm_mkdirs(p->work.s, NULL), PM_OK);
	copy(built("tests/plugin/hanging_silu.so"), &p->work);
	copy(built("passes/silu.so"), &p->work);
	p->words[0] = "--workspace";
	p->words[1] = p->work.s;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	Place *p = *state;

	pm_remove_tree(p->dir.s, NULL);
	pm_str_release(&p->dir);
	pm_str_release(&p->work);
	pm_str_release(&p->db);
	free(p);
	return 0;
}

static void nap(long ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* Waits until the call's evaluation runs, and for a while more. */
static void wait_for_children(const McpClient *c, long ms)
{
	while (!mcp_descendants(c->pid, "hanging_silu"))
		nap(5);
	nap(ms);
}

/* How long an evaluation goes on before it is ended: it has other processes then. */
static const long moments[] = { 0, 30, 150, 600 };
enum { N_MOMENTS = sizeof moments / sizeof *moments };

/* The server answers, and what it answers is nothing of another call. */
static void still_there(McpClient *c)
{
	char line[96];

	snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", ++c->ids);
	mcp_say(c, line);
	cJSON_Delete(mcp_answer(c, c->ids));
}

static void a_cancelled_call_leaves_no_process(void **state)
{
	Place *p = *state;
	McpClient c;
	int id;

	pm_test_need_device("emu");
	mcp_start(&c, p->words);
	mcp_initialize(&c);
	mcp_cancel(&c, 1); /* before it is asked */
	id = mcp_begin(&c, "evaluate", HANG);
	mcp_cancel(&c, id); /* before its child says anything */
	still_there(&c);
	mcp_all_gone("hanging_silu");
	for (int i = 0; i < N_MOMENTS; i++) {
		id = mcp_begin(&c, "evaluate", HANG);
		wait_for_children(&c, moments[i]);
		mcp_cancel(&c, id); /* while it runs */
		mcp_all_gone("hanging_silu");
		still_there(&c);
	}
	cJSON_Delete(mcp_call(&c, "list_files", "{}"));
	mcp_cancel(&c, c.ids); /* after its answer */
	still_there(&c);
	mcp_finish(&c);
	mcp_none_left();
}

static void a_client_that_vanishes_leaves_no_process(void **state)
{
	enum { INPUT, OUTPUT, TERM, KILL, WAYS };
	Place *p = *state;

	pm_test_need_device("emu");
	for (int how = 0; how < WAYS * N_MOMENTS; how++) {
		McpClient c;

		mcp_start(&c, p->words);
		mcp_initialize(&c);
		mcp_begin(&c, "evaluate", HANG);
		wait_for_children(&c, moments[how / WAYS]);
		if (how % WAYS == INPUT)
			mcp_close(&c.to);
		else if (how % WAYS == OUTPUT)
			mcp_close(&c.from);
		else
			kill(c.pid, how % WAYS == TERM ? SIGTERM : SIGKILL);
		assert_int_equal(mcp_ended(&c), how % WAYS == KILL ? -1 : 0);
		mcp_none_left();
	}
}

/* A run outlives the call that began it, but not the server. */
static void a_run_ends_with_the_server(void **state)
{
	Place *p = *state;
	McpClient c;
	cJSON *run;

	pm_test_need_device("emu");
	mcp_start(&c, p->words);
	mcp_initialize(&c);
	run = mcp_call(
		&c, "evaluate",
		"{\"pass\":\"hanging_silu.so\",\"model\":\"models/llama_block.gpt\",\"level\":\"quick\","
		"\"wait_s\":0}");
	assert_string_equal(pm_json_str(run, "state", ""), "running");
	cJSON_Delete(run);
	wait_for_children(&c, 0);
	mcp_finish(&c);
	mcp_none_left();
}

/* passmith ARGS... must succeed. */
static void run(const char *const *argv)
{
	PmLimits lim = { .seconds = 300, .file_size = -1 };
	PmProcResult r = { 0 };

	assert_int_equal(pm_run(argv, NULL, 0, &lim, &r, NULL), PM_OK);
	if (r.end != PM_PROC_EXITED || r.code)
		fail_msg("passmith %s: %s", argv[1], r.errtext.s);
	pm_proc_result_release(&r);
}

static void two_clients_share_a_database(void **state)
{
	static const char submit[] = "{\"pass\":\"silu.so\",\"task\":\"silu\",\"wait_s\":60}";
	Place *p = *state;
	McpClient c[2];
	cJSON *board;
	int ids[2];

	pm_test_need_device("emu");
	pm_test_need_sandbox(built("passmith"));
	run((const char *const[]){ built("passmith"), "extract", "models/llama_block.gpt", "--db", p->db.s,
				   "-j", "1", NULL });
	run((const char *const[]){ built("passmith"), "task", "make", "--db", p->db.s, "--for",
				   built("passes/silu.so"), "--top", "1", "--name", "silu", "--shapes", "2",
				   "--max-elements", "2000", NULL });
	p->words[2] = "--db";
	p->words[3] = p->db.s;
	p->words[4] = "--steps";
	p->words[5] = "3";
	for (int i = 0; i < 2; i++) {
		mcp_start(&c[i], p->words);
		mcp_initialize(&c[i]);
	}
	for (int i = 0; i < 2; i++)
		ids[i] = mcp_begin(&c[i], "submit", submit);
	for (int i = 0; i < 2; i++) {
		cJSON *j = mcp_answer(&c[i], ids[i]), *r = cJSON_GetObjectItemCaseSensitive(j, "result"),
		      *s = cJSON_GetObjectItemCaseSensitive(r, "structuredContent");

		assert_string_equal(pm_json_str(s, "verdict", ""), "OK");
		assert_int_equal(pm_json_i64(s, "steps_remaining", -1), 2);
		assert_true(cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(s, "score_terms")));
		cJSON_Delete(j);
	}
	for (int i = 0; i < 2; i++) { /* each sees what was handed in */
		board = mcp_call(&c[i], "leaderboard", "{}");
		assert_true(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(board, "rows")) > 0);
		cJSON_Delete(board);
		mcp_finish(&c[i]);
	}
}

enum { REQUESTS = 10000 };

/* All at once: a child of the test says them while the test reads. */
static void ten_thousand_requests_are_answered_each_once(void **state)
{
	Place *p = *state;
	char *seen = pm_xcalloc(REQUESTS + 1, 1);
	McpClient c;
	pid_t writer;
	int status;

	mcp_start(&c, p->words);
	mcp_initialize(&c);
	writer = fork();
	assert_true(writer >= 0);
	if (!writer) {
		for (int i = 0; i < REQUESTS; i++)
			mcp_begin(&c, "list_files", "{}");
		_exit(0);
	}
	for (int i = 0; i < REQUESTS; i++) {
		cJSON *j = mcp_message(&c);
		int64_t id = pm_json_i64(j, "id", 0);

		assert_true(id > 0 && id <= REQUESTS && !seen[id]);
		assert_non_null(cJSON_GetObjectItemCaseSensitive(j, "result"));
		seen[id] = 1;
		cJSON_Delete(j);
	}
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
	mcp_finish(&c); /* nothing more was said */
	free(seen);
}

static void what_a_tool_refuses_is_an_answer(void **state)
{
	Place *p = *state;
	McpClient c;
	cJSON *j, *r;
	int id;

	mcp_start(&c, p->words);
	mcp_initialize(&c);
	id = mcp_begin(&c, "read_file", "{\"path\":\"/etc/passwd\"}");
	j = mcp_answer(&c, id);
	r = cJSON_GetObjectItemCaseSensitive(j, "result");
	assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(r, "isError")));
	cJSON_Delete(j);
	id = mcp_begin(&c, "no_such_tool", "{}");
	j = mcp_answer(&c, id);
	assert_int_equal(pm_json_i64(cJSON_GetObjectItemCaseSensitive(j, "error"), "code", 0), -32602);
	cJSON_Delete(j);
	mcp_finish(&c);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_cancelled_call_leaves_no_process),
		CASE(a_client_that_vanishes_leaves_no_process),
		CASE(a_run_ends_with_the_server),
		CASE(two_clients_share_a_database),
		CASE(ten_thousand_requests_are_answered_each_once),
		CASE(what_a_tool_refuses_is_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
