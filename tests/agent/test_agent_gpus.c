/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent_gpus.c - passmith agent --gpus on GPUs that are made up (tests/machine/fake.h): which of them
 * evaluations of samples open.
 *
 * A GPU's `gate` holds whoever opens it, so that the order is known. Kernels do nothing there: no pass is
 * right. */
#include "base/core/json.h"
#include "base/sys/io.h"
#include "tests/lib/chat/agent_case.h"
#include "tests/lib/chat/chat_server.h"
#include "tests/plugin/paths.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SILU "@\nHere it is.\n\n```c pass.c\n<<passes/library/activation/silu.c\n```\n"

enum { N_GPUS = 3, ARGS = 64 };

static const char *const uuid[N_GPUS] = { "GPU-aaaa0000", "GPU-aabb1111", "GPU-cccc2222" };
static AgentCase c;

/* ---- the machine ---- */

static void path_in(PmStr *out, const char *folder, const char *name)
{
	pm_str_clear(out);
	pm_str_addf(out, "%s/%s%s%s", c.dir.s, folder, *name ? "/" : "", name);
}

static void put(const char *folder, const char *name, const char *text)
{
	PmStr path = PM_STR_INIT;

	path_in(&path, folder, "");
	assert_int_equal(pm_mkdirs(path.s, NULL), PM_OK);
	path_in(&path, folder, name);
	assert_int_equal(pm_write_file(path.s, text, strlen(text), NULL), PM_OK);
	pm_str_release(&path);
}

static void set(const char *variable, const char *folder)
{
	PmStr path = PM_STR_INIT;

	path_in(&path, folder, "");
	assert_int_equal(pm_mkdirs(path.s, NULL), PM_OK);
	setenv(variable, path.s, 1);
	pm_str_release(&path);
}

static void gpu_file(int gpu, const char *name, PmStr *out)
{
	PmStr folder = PM_STR_INIT;

	pm_str_addf(&folder, "fake/%s", uuid[gpu]);
	path_in(out, folder.s, name);
	pm_str_release(&folder);
}

static void make_machine(void)
{
	PmStr list = PM_STR_INIT, folder = PM_STR_INIT;
	int cpu = 0;
	cpu_set_t allowed;

	assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	for (int i = 0; i < N_GPUS; i++)
		pm_str_addf(&list, "%d %s 0000:0%d:00.0 %d Fake %s\n", i, uuid[i], i + 1, cpu,
			    i < 2 ? "One" : "Two");
	put("fake", "gpus", list.s);
	put("cuda/include", "cuda_fp16.h", "");
	put("cuda/include", "cuda_bf16.h", "");
	set("FAKE_GPUS", "fake");
	set("CUDA_HOME", "cuda");
	set("PASSMITH_LOCKS", "locks");
	set("PASSMITH_CACHE", "cache");
	setenv("PASSMITH_LIBRARIES", "off", 1); /* whose libraries want a real one */
	pm_str_add(&folder, built("tests/machine"));
	setenv("LD_LIBRARY_PATH", folder.s, 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	pm_str_release(&list);
	pm_str_release(&folder);
}

/* Nothing is the matter with any GPU, and nobody opened one. */
static void fresh(void)
{
	PmStr path = PM_STR_INIT;

	for (int i = 0; i < N_GPUS; i++) {
		gpu_file(i, "", &path);
		pm_remove_tree(path.s, NULL);
		assert_int_equal(pm_mkdirs(path.s, NULL), PM_OK);
	}
	pm_str_release(&path);
}

static void gate(int gpu, int closed)
{
	PmStr path = PM_STR_INIT;

	gpu_file(gpu, "gate", &path);
	if (closed)
		assert_int_equal(pm_write_file(path.s, "", 0, NULL), PM_OK);
	else
		unlink(path.s);
	pm_str_release(&path);
}

/* 1 while the process runs; one that is dead and not yet awaited does not. */
static int is_running(long pid)
{
	char path[64], state = 'X';
	FILE *f;

	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	if (f)
		fclose(f);
	return state != 'X' && state != 'Z';
}

/* How many processes opened the GPU so far, and how many of them still run. */
static int opened(int gpu, int *running)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	int n = 0;

	if (running)
		*running = 0;
	gpu_file(gpu, "log", &path);
	if (!pm_read_file(path.s, 0, &text, NULL))
		for (const char *p = text.s; p && *p; p = strchr(p, '\n'), p += p != NULL) {
			n++;
			if (running)
				*running += is_running(strtol(p, NULL, 10));
		}
	pm_str_release(&path);
	pm_str_release(&text);
	return n;
}

/* ---- an experiment ---- */

typedef struct Run {
	ChatServer *server;
	char *db;
	const char *args[ARGS];
	PmStr out;
	pid_t pid;
	cJSON *report;
	int code;
} Run;

static void begin(Run *r, const char *name, const char *const *more)
{
	int n = 0;

	memset(r, 0, sizeof *r);
	r->server = chat_server_start_text(SILU, NULL);
	r->db = agent_case_db(&c, name);
	path_in(&r->out, name, "");
	const char *const usual[] = { "agent",
				      "--json",
				      "--quiet",
				      "--model",
				      "m",
				      "--base-url",
				      chat_server_url(r->server),
				      "--db",
				      r->db,
				      "--out",
				      r->out.s,
				      "--tasks",
				      "t",
				      "--mode",
				      "sample",
				      "--first-wait",
				      "0.001",
				      NULL };

	for (int i = 0; usual[i]; i++)
		r->args[n++] = usual[i];
	for (int i = 0; more[i]; i++)
		r->args[n++] = more[i];
	r->pid = agent_case_start(&c, name, r->args);
}

static void finish(Run *r, const char *name)
{
	int status = 0;

	while (r->pid && waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	assert_true(WIFEXITED(status));
	r->code = WEXITSTATUS(status);
	r->report = agent_case_json(&c, name);
}

static void drop(Run *r)
{
	chat_server_stop(r->server);
	cJSON_Delete(r->report);
	pm_str_release(&r->out);
	free(r->db);
}

/* Both samples were evaluated, on kernels that do nothing. */
static void is_evaluated(const Run *r, int samples)
{
	const cJSON *t = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(r->report, "tasks"), 0);

	if (r->code)
		fail_msg("exit code %d: %s", r->code, pm_json_str(r->report, "error", "?"));
	assert_int_equal(pm_json_i64(t, "ended", -1), samples);
	assert_int_equal(pm_json_i64(t, "compiled", -1), samples);
	assert_int_equal(pm_json_i64(t, "correct", -1), 0);
}

static void evaluations_open_the_gpu_that_is_named(void **state)
{
	const char *const more[] = { "--samples", "1", "--device", "cuda", "--gpus", "1", NULL };
	Run r;

	(void)state;
	fresh();
	begin(&r, "one", more);
	finish(&r, "one");
	is_evaluated(&r, 1);
	assert_true(opened(1, NULL) > 0);
	assert_int_equal(opened(0, NULL), 0);
	assert_int_equal(opened(2, NULL), 0);
	drop(&r);
}

/* Without --parallel there is a sample for each GPU at a time. Both GPUs are held: the second sample's
 * evaluation can begin only on the one that the first has not. */
static void samples_go_to_the_gpu_that_is_free(void **state)
{
	const char *const more[] = { "--samples", "2", "--device", "cuda", "--gpus", "0,1", NULL };
	const struct timespec nap = { 0, 5000000 };
	int running[2] = { 0, 0 };
	Run r;

	(void)state;
	fresh();
	gate(0, 1);
	gate(1, 1);
	begin(&r, "two", more);
	for (;;) {
		int first = opened(0, &running[0]), second = opened(1, &running[1]);

		if ((first && second) || running[0] > 1 || running[1] > 1 || waitpid(r.pid, NULL, WNOHANG))
			break;
		nanosleep(&nap, NULL);
	}
	gate(0, 0);
	gate(1, 0);
	if (running[0] > 1 || running[1] > 1)
		fail_msg("two evaluations are on one GPU, and none is on the other");
	finish(&r, "two");
	is_evaluated(&r, 2);
	assert_true(opened(0, NULL) > 0 && opened(1, NULL) > 0);
	assert_int_equal(opened(2, NULL), 0);
	drop(&r);
}

static void wrong_gpus_cost_no_request(void **state)
{
	static const struct {
		const char *gpus, *why;
	} wrong[] = {
		{ "7", "there is no GPU 7 for this command; it can use 0, 1, 2" },
		{ "all", "GPU 0 is Fake One and GPU 2 is Fake Two" },
	};

	(void)state;
	fresh();
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		const char *const more[] = { "--device", "cuda", "--gpus", wrong[i].gpus, NULL };
		Run r;

		begin(&r, "wrong", more);
		finish(&r, "wrong");
		assert_int_equal(r.code, 4);
		assert_non_null(strstr(pm_json_str(r.report, "error", ""), wrong[i].why));
		assert_int_equal(chat_server_requests(r.server), 0);
		drop(&r);
	}
}

/* An evaluation that no GPU is left for is nobody's answer: the sentence says why. */
static void the_reason_of_a_gpu_that_is_left_is_told(void **state)
{
	const char *const more[] = { "--samples", "1", "--device", "cuda", "--gpus", "0", NULL };
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmNames names = { 0 };
	Run r;

	(void)state;
	fresh();
	gpu_file(0, "slowed", &path);
	assert_int_equal(pm_write_file(path.s, "64\n", 3, NULL), PM_OK);
	begin(&r, "left", more);
	finish(&r, "left");
	path_in(&path, "left", "samples");
	assert_int_equal(pm_list_dir(path.s, &names, NULL), PM_OK);
	assert_int_equal(names.n, 1);
	pm_str_addf(&path, "/%s", names.v[0]);
	assert_int_equal(pm_read_file(path.s, 0, &text, NULL), PM_OK);
	assert_non_null(strstr(text.s, "No GPU is left for it: GPU 0: it is slowed down (hardware heat "
				       "slowdown)"));
	assert_non_null(strstr(text.s, "\"is_error\":true"));
	assert_int_equal(opened(0, NULL), 0);
	pm_names_release(&names);
	pm_str_release(&path);
	pm_str_release(&text);
	drop(&r);
}

static int prepare(void **state)
{
	(void)state;
	agent_case_open(&c);
	make_machine();
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
		cmocka_unit_test(evaluations_open_the_gpu_that_is_named),
		cmocka_unit_test(samples_go_to_the_gpu_that_is_free),
		cmocka_unit_test(wrong_gpus_cost_no_request),
		cmocka_unit_test(the_reason_of_a_gpu_that_is_left_is_told),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
