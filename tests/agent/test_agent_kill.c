/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent_kill.c - an experiment whose processes are killed at random moments: it goes on to the report of
 * an undisturbed run, nothing is lost, and nothing is paid twice but what was in flight.
 *
 * PASSMITH_KILLS=50 is how often (3), with two kills each; PASSMITH_KILL_SEED fixes the moments. Victims are
 * in turn the driver and one of its workers; what tools have started ends with them (a compiler that is
 * killed alone is the tool's matter). The server's answers depend on the conversation alone, so that each run
 * has the same to tell.
 */
#include "base/core/json.h"
#include "base/core/rng.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "tests/lib/chat/agent_case.h"
#include "tests/lib/chat/chat_server.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { DEFAULT_KILLS = 3, MAX_VICTIMS = 256, LINGER_MS = 5000, SHOTS = 2 };

#define WRONG                                                                                                \
	"```c pass.c\n<<tests/plugin/wrong_silu.c\n```\n```c silu_with.h\n<<tests/plugin/silu_with.h\n```\n"
#define RIGHT "```c pass.c\n<<passes/library/activation/silu.c\n```\n"

/* Sample 0 mends its pass, sample 1 begins with files and tools and never gets one right. */
static const char script[] = "@ turn=0 contains=\"seed\":7 delay=0.05 usage=100,10\n" WRONG
			     "@ turn=1 contains=\"seed\":7 delay=0.05 usage=200,20\n" RIGHT
			     "@ turn=2 contains=\"seed\":7 usage=300,30\nDone.\n"
			     "@ turn=0 contains=\"seed\":8 delay=0.1 usage=100,11\n```tool\n{\"name\": "
			     "\"list_files\"}\n```\n" WRONG
			     "@ turn=1 contains=\"seed\":8 delay=0.02 usage=200,22\nNo file.\n"
			     "@ turn=2 contains=\"seed\":8 usage=400,33\n```c pass.c\nthis is no C\n```\n";

static AgentCase c;
static char *want, *want_steps;
static int want_paid;
static double run_seconds;

/* ---- one run ---- */

static pid_t start(const char *name, const char *db, const ChatServer *s)
{
	PmStr out = PM_STR_INIT;
	const char *args[] = { "agent", "--json",      "--quiet", "--model",      "m",    "--base-url",
			       NULL,    "--db",        db,        "--out",        NULL,   "--tasks",
			       "t",     "--samples",   "2",       "--iterations", "3",    "--tools",
			       "text",  "--seed",      "7",       "--parallel",   "2",    "--price-in",
			       "10",    "--price-out", "20",      "--first-wait", "0.01", NULL };
	pid_t pid;

	pm_str_addf(&out, "%s/%s", c.dir.s, name);
	args[6] = chat_server_url(s);
	args[10] = out.s;
	pid = agent_case_start(&c, name, args);
	pm_str_release(&out);
	return pid;
}

static int finish(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* The report without what differs from run to run: seconds, and what was in flight. */
static char *told(const char *name, int *lost)
{
	cJSON *j = agent_case_json(&c, name), *t;
	PmStr text = PM_STR_INIT;

	*lost = (int)pm_json_i64(j, "requests_lost", -1);
	cJSON_DeleteItemFromObjectCaseSensitive(j, "requests_lost");
	cJSON_DeleteItemFromObjectCaseSensitive(j, "seconds");
	cJSON_ArrayForEach(t, cJSON_GetObjectItemCaseSensitive(j, "tasks"))
	{
		cJSON_DeleteItemFromObjectCaseSensitive(t, "seconds");
		cJSON_DeleteItemFromObjectCaseSensitive(t, "requests_lost");
	}
	pm_json_print(j, 1, &text);
	cJSON_Delete(j);
	return pm_str_detach(&text, NULL);
}

/* The trajectories: for each step, who and what; and how each ended. */
static char *steps(const char *db)
{
	static const char sql[] =
		"SELECT t.instance || ' ' || t.outcome || ' ' || s.ordinal || ' ' || s.role || ' ' || "
		"s.name || ' ' || s.verdict || ' ' || length(s.files) FROM trajectories t JOIN steps s "
		"ON s.trajectory = t.id ORDER BY t.instance, s.ordinal";
	sqlite3 *h = NULL;
	sqlite3_stmt *s = NULL;
	PmStr out = PM_STR_INIT;

	assert_int_equal(sqlite3_open(db, &h), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(h, sql, -1, &s, NULL), SQLITE_OK);
	while (sqlite3_step(s) == SQLITE_ROW)
		pm_str_addf(&out, "%s\n", (const char *)sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	sqlite3_close(h);
	return pm_str_detach(&out, NULL);
}

/* ---- processes ---- */

static pid_t session_of(pid_t pid, char *state, pid_t *parent)
{
	char path[64], text[512];
	const char *end;
	int session = -1;
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
	f = fopen(path, "r");
	if (!f)
		return -1;
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')');
	return end && sscanf(end + 1, " %c %d %*d %d", state, parent, &session) == 3 ? session : -1;
}

/* Living processes of a session but its leader; or only those that the leader has started. */
static int members(pid_t session, int workers, pid_t *out)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL && n < MAX_VICTIMS) {
		pid_t pid = (pid_t)atoi(e->d_name);
		pid_t parent = 0;
		char state = 0;

		if (pid > 0 && pid != session && session_of(pid, &state, &parent) == session &&
		    state != 'Z' && (!workers || parent == session))
			out[n++] = pid;
	}
	closedir(d);
	return n;
}

static void nobody_is_left(pid_t session)
{
	pid_t left[MAX_VICTIMS];
	int n = 0;

	for (int ms = 0; ms < LINGER_MS; ms += 20) {
		n = members(session, 0, left);
		if (!n)
			return;
		usleep(20000);
	}
	for (int i = 0; i < n; i++)
		kill(left[i], SIGKILL);
	fail_msg("%d processes outlived the driver", n);
}

/* ---- a trial ---- */

static void shoot(pid_t session, int child, PmRng *rng)
{
	pid_t list[MAX_VICTIMS];
	int n = child ? members(session, 1, list) : 0;

	if (!child)
		kill(session, SIGKILL);
	else if (n)
		kill(list[pm_rng_range(rng, 0, n - 1)], SIGKILL);
}

/* What differs is shown from the line before it on: a message has room for a thousand characters. */
static void same(int trial, const char *what, const char *got, const char *wanted)
{
	size_t n = 0, from;

	if (!strcmp(got, wanted))
		return;
	while (got[n] && got[n] == wanted[n])
		n++;
	for (from = n; from > 0 && n - from < 60; from--)
		;
	fail_msg("trial %d: %s differs:\n%.300s\nundisturbed:\n%.300s", trial, what, got + from,
		 wanted + from);
}

static void trial(int i, PmRng *rng)
{
	ChatServer *s = chat_server_start_text(script, NULL);
	int kills = 0, lost = 0, status = -1;
	char name[32], *db, *got;

	snprintf(name, sizeof name, "trial%d", i);
	db = agent_case_db(&c, name);
	for (int shot = 0; shot < SHOTS; shot++) {
		int child = (i + shot) % 2;
		pid_t pid = start(name, db, s);

		usleep((useconds_t)(pm_rng_uniform(rng) * run_seconds * 0.8 * 1e6));
		shoot(pid, child, rng);
		kills++;
		finish(pid);
		nobody_is_left(pid);
	}
	status = finish(start(name, db, s));
	if (status)
		fail_msg("trial %d: it does not go on (status 0x%x)", i, (unsigned)status);
	got = told(name, &lost);
	same(i, "the report", got, want);
	free(got);
	got = steps(db);
	same(i, "the trajectory", got, want_steps);
	free(got);
	if (chat_server_paid(s) > want_paid + lost)
		fail_msg("trial %d: %d answers were paid, undisturbed %d, and %d were in flight", i,
			 chat_server_paid(s), want_paid, lost);
	if (lost > 2 * kills)
		fail_msg("trial %d: %d requests were in flight at %d kills", i, lost, kills);
	chat_server_stop(s);
	free(db);
}

static void it_goes_on_after_any_kill(void **state)
{
	const char *kills = getenv("PASSMITH_KILLS"), *seed = getenv("PASSMITH_KILL_SEED");
	int n = kills ? atoi(kills) : DEFAULT_KILLS;
	uint64_t s = seed ? strtoull(seed, NULL, 10) : pm_rng_secure_seed() % 1000000;
	PmRng rng;

	(void)state;
	print_message("# %d trials of %d kills, PASSMITH_KILL_SEED=%llu; a run takes %.2f s\n", n, SHOTS,
		      (unsigned long long)s, run_seconds);
	pm_rng_init(&rng, s);
	for (int i = 0; i < n; i++)
		trial(i, &rng);
}

static int prepare(void **state)
{
	ChatServer *s;
	char *db;
	int lost;

	(void)state;
	agent_case_open(&c);
	for (int i = 0; i < 2; i++) { /* the first fills the cache of kernels */
		char name[32];
		double t0 = pm_now();

		free(want);
		free(want_steps);
		snprintf(name, sizeof name, "first%d", i);
		s = chat_server_start_text(script, NULL);
		db = agent_case_db(&c, name);
		assert_int_equal(finish(start(name, db, s)), 0);
		run_seconds = pm_now() - t0;
		want = told(name, &lost);
		want_steps = steps(db);
		want_paid = chat_server_paid(s);
		assert_int_equal(lost, 0);
		assert_int_equal(want_paid, 6);
		chat_server_stop(s);
		free(db);
	}
	return 0;
}

static int clean(void **state)
{
	(void)state;
	agent_case_close(&c);
	free(want);
	free(want_steps);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_goes_on_after_any_kill),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
