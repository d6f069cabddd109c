/* SPDX-License-Identifier: Apache-2.0 */
/* test_kill.c - an evaluation whose processes are killed at random moments: nothing stored is lost, nothing
 * is left behind, and the run goes on to the same results.
 *
 * PASSMITH_KILLS=200 is how often (8); PASSMITH_KILL_SEED fixes the moments. Victims are in turn the referee,
 * and any process that it has started: hosts of passes, compilers and what they start, device workers and
 * processes of kernels. One trial in four begins with an empty cache, so that compilers run.
 */
#include "base/core/json.h"
#include "base/core/rng.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "tests/plugin/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

enum { DEFAULT_KILLS = 8, MAX_VICTIMS = 256, LINGER_MS = 3000 };

typedef struct Place {
	PmStr dir, db, cache, tmp, out, err; /* of one run of the program */
} Place;

static PmStr root, base_db, warm_cache, want;
static size_t nothing_stored; /* length of what stored() says of a database without results */
static double run_seconds[2]; /* of a whole run: warm, cold */

/* What was killed, and how far runs had come. */
static struct {
	int referees, children;
	int none, some, all; /* runs with that much stored after the kill */
} seen;

static void must(PmStatus st, const PmErr *err)
{
	if (st)
		fail_msg("%s", err->text);
}

static void place_open(Place *p, const char *name, const char *cache)
{
	PmErr err;

	pm_err_init(&err);
	memset(p, 0, sizeof *p);
	pm_path_join(root.s, name, &p->dir);
	pm_path_join(p->dir.s, "db", &p->db);
	pm_path_join(p->dir.s, "tmp", &p->tmp);
	pm_path_join(p->dir.s, "out", &p->out);
	pm_path_join(p->dir.s, "err", &p->err);
	pm_path_join(cache ? cache : p->dir.s, cache ? "" : "cache", &p->cache);
	must(pm_mkdirs(p->dir.s, &err), &err);
	must(pm_mkdirs(p->tmp.s, &err), &err);
	must(pm_mkdirs(p->cache.s, &err), &err);
}

static void place_close(Place *p)
{
	pm_remove_tree(p->dir.s, NULL);
	pm_str_release(&p->dir);
	pm_str_release(&p->db);
	pm_str_release(&p->tmp);
	pm_str_release(&p->cache);
	pm_str_release(&p->out);
	pm_str_release(&p->err);
}

/* Starts passmith in a session of its own, its answer in p->out, what it says beside it in p->err. */
static pid_t start(const Place *p, const char *const *argv)
{
	pid_t pid = fork();

	if (pid == 0) {
		int out = open(p->out.s, O_WRONLY | O_CREAT | O_TRUNC, 0666),
		    err = open(p->err.s, O_WRONLY | O_CREAT | O_TRUNC, 0666),
		    null = open("/dev/null", O_RDWR);

		setsid();
		setenv("PASSMITH_CACHE", p->cache.s, 1);
		setenv("TMPDIR", p->tmp.s, 1);
		dup2(null, 0);
		dup2(out, 1);
		dup2(err, 2);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(126);
	}
	assert_true(pid > 0);
	return pid;
}

static int finish(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static pid_t start_eval(const Place *p)
{
	const char *argv[] = { built("passmith"), "eval", "t",       "--db",   p->db.s,
			       "--pass",          NULL,   "--quiet", "--json", NULL };
	PmStr pass = PM_STR_INIT;
	pid_t pid;

	pm_str_add(&pass, built("passes/silu.so"));
	argv[6] = pass.s;
	pid = start(p, argv);
	pm_str_release(&pass);
	return pid;
}

/* ---- processes ---- */

/* The session and the state of a process; -1 when it is gone. */
static pid_t session_of(pid_t pid, char *state)
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
	return end && sscanf(end + 1, " %c %*d %*d %d", state, &session) == 2 ? session : -1;
}

/* Living processes of a session but its leader. */
static int members(pid_t session, pid_t *out)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL && n < MAX_VICTIMS) {
		pid_t pid = (pid_t)atoi(e->d_name);
		char state = 0;

		if (pid > 0 && pid != session && session_of(pid, &state) == session && state != 'Z')
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
		n = members(session, left);
		if (!n)
			return;
		usleep(20000);
	}
	for (int i = 0; i < n; i++)
		kill(left[i], SIGKILL);
	fail_msg("%d processes outlived the referee", n);
}

/* ---- what is stored ---- */

/* What SQLite says of the database, then every stored result in order: without its time, how many calls were
 * rehearsed and checked in the time that there was, and what follows from numbers that each session draws. */
static void stored(const Place *p, PmStr *out)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;

	assert_int_equal(sqlite3_open(p->db.s, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &s, NULL), SQLITE_OK);
	while (sqlite3_step(s) ==
	       SQLITE_ROW) /* some versions count columns of tables without rowid wrongly */
		if (strncmp((const char *)sqlite3_column_text(s, 0), "NULL value in", 13) != 0)
			pm_str_addf(out, "%s\n", (const char *)sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	assert_int_equal(sqlite3_prepare_v2(db,
					    "SELECT ordinal, verdict, json_remove(json, '$.wall_seconds', "
					    "'$.calls', '$.secret', '$.inputs', '$.worst', '$.bound', "
					    "'$.smallest_t', '$.outputs', '$.classes') FROM results "
					    "ORDER BY run, task, ordinal",
					    -1, &s, NULL),
			 SQLITE_OK);
	while (sqlite3_step(s) == SQLITE_ROW)
		pm_str_addf(out, "%d %s %s\n", sqlite3_column_int(s, 0),
			    (const char *)sqlite3_column_text(s, 1), (const char *)sqlite3_column_text(s, 2));
	sqlite3_finalize(s);
	sqlite3_close(db);
}

static void no_files_are_left(const char *dir, const char *const *allowed)
{
	PmNames names = { 0 };
	PmErr err;

	pm_err_init(&err);
	must(pm_list_dir(dir, &names, &err), &err);
	for (size_t i = 0; i < names.n; i++) {
		int ok = 0;

		for (int k = 0; allowed[k]; k++)
			ok |= pm_str_ends(names.v[i], allowed[k]);
		if (!ok)
			fail_msg("%s is left in %s", names.v[i], dir);
	}
	pm_names_release(&names);
}

static void nothing_is_left(const Place *p)
{
	static const char *const nothing[] = { NULL }, *const folder[] = { "db",  "tmp",   "out",
									   "err", "cache", NULL },
				 *const compiled[] = { ".so", ".ptx", ".cubin", NULL };
	static const char *const caches[] = { "emu", "nvrtc" };
	PmStr path = PM_STR_INIT;

	no_files_are_left(p->tmp.s, nothing);
	no_files_are_left(p->dir.s, folder);
	for (int i = 0; i < 2; i++) {
		pm_str_clear(&path);
		pm_path_join(p->cache.s, caches[i], &path);
		if (pm_path_exists(path.s))
			no_files_are_left(path.s, compiled);
	}
	pm_str_clear(&path);
	pm_path_join(p->cache.s, "emu-work", &path);
	no_files_are_left(path.s, nothing);
	pm_str_release(&path);
}

/* ---- one kill ---- */

static void copy_db(const Place *p)
{
	PmStr bytes = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	must(pm_read_file(base_db.s, 0, &bytes, &err), &err);
	must(pm_write_file(p->db.s, bytes.s, bytes.len, &err), &err);
	pm_str_release(&bytes);
}

/* 1 when every line of `got` is one of `all`, in the same order: variants are stored as they come, so that
 * one before a stored one may be missing. */
static int is_part(const char *got, const char *all)
{
	for (const char *end; *got; got = end + 1) {
		end = strchr(got, '\n');
		while (*all && strncmp(got, all, (size_t)(end - got) + 1) != 0)
			all = strchr(all, '\n') + 1;
		if (!*all)
			return 0;
		all += end - got + 1;
	}
	return 1;
}

/* What is stored has to be what an undisturbed run stores, or a part of it when it may be `partly`. */
static void same_results(int trial, const char *when, const PmStr *got, int partly)
{
	size_t i = 0, from;

	while (i < got->len && i < want.len && got->s[i] == want.s[i])
		i++;
	if (partly ? is_part(got->s, want.s) : i == got->len && i == want.len)
		return;
	from = i > 60 ? i - 60 : 0;
	fail_msg("trial %d: what is stored %s differs at byte %zu of %zu: '%.120s', undisturbed '%.120s'",
		 trial, when, i, want.len, from < got->len ? got->s + from : "",
		 from < want.len ? want.s + from : "");
}

/* Kills the referee or, when `child`, one of the others. Returns 1 when it was the referee. */
static int shoot(pid_t session, int child, PmRng *rng)
{
	pid_t list[MAX_VICTIMS];
	int n = child ? members(session, list) : 0;

	seen.children += n > 0;
	if (child && !n)
		return 0; /* between two of them */
	kill(n ? list[pm_rng_range(rng, 0, n - 1)] : session, SIGKILL);
	return !n;
}

static void failed(const Place *p, int trial, const char *what, int status)
{
	PmStr said = PM_STR_INIT;

	pm_read_file(p->err.s, 0, &said, NULL);
	fail_msg("trial %d: %s (status 0x%x): %s", trial, what, status, said.s);
}

static void trial(int i, PmRng *rng)
{
	int cold = i % 4 == 3, child = i % 2, status;
	PmStr before = PM_STR_INIT, after = PM_STR_INIT;
	char name[32];
	Place p;
	pid_t pid;

	snprintf(name, sizeof name, "trial%d", i);
	place_open(&p, name, cold ? NULL : warm_cache.s);
	copy_db(&p);
	pid = start_eval(&p);
	usleep((useconds_t)(pm_rng_uniform(rng) * run_seconds[cold] * 1e6));
	child = !shoot(pid, child, rng);
	status = finish(pid);
	seen.referees += WIFSIGNALED(status);
	nobody_is_left(pid);
	stored(&p, &before);
	if (child && (!WIFEXITED(status) || WEXITSTATUS(status)))
		failed(&p, i, "the referee did not survive the end of a child", status);
	same_results(i, "after the kill", &before, !child);
	seen.all += before.len == want.len;
	seen.none += before.len == nothing_stored;
	seen.some += before.len != want.len && before.len != nothing_stored;
	pid = start_eval(&p);
	status = finish(pid);
	if (status)
		failed(&p, i, "it does not go on", status);
	nobody_is_left(pid);
	stored(&p, &after);
	same_results(i, "in the end", &after, 0);
	nothing_is_left(&p);
	pm_str_release(&before);
	pm_str_release(&after);
	place_close(&p);
}

static void any_process_may_be_killed_at_any_moment(void **state)
{
	const char *kills = getenv("PASSMITH_KILLS"), *seed = getenv("PASSMITH_KILL_SEED");
	int n = kills ? atoi(kills) : DEFAULT_KILLS;
	uint64_t s = seed ? strtoull(seed, NULL, 10) : pm_rng_secure_seed() % 1000000;
	PmRng rng;

	(void)state;
	print_message("# %d kills, PASSMITH_KILL_SEED=%llu; a run takes %.2f s, %.2f s with an empty cache\n",
		      n, (unsigned long long)s, run_seconds[0], run_seconds[1]);
	pm_rng_init(&rng, s);
	for (int i = 0; i < n; i++)
		trial(i, &rng);
	print_message(
		"# killed: %d referees, %d of their processes; nobody was there to kill at %d moments\n",
		seen.referees, seen.children, n - seen.referees - seen.children);
	print_message("# stored by then: nothing in %d runs, some of the results in %d, all in %d; in the "
		      "end every "
		      "run had all, the same\n",
		      seen.none, seen.some, seen.all);
}

/* ---- a task, and what comes of it undisturbed ---- */

static void run_to_end(const Place *p, const char *const *argv)
{
	int status = finish(start(p, argv));

	if (status)
		fail_msg("%s %s ends with status 0x%x", argv[0], argv[1], status);
}

static int prepare(void **state)
{
	PmStr model = PM_STR_INIT, pass = PM_STR_INIT;
	Place p;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	must(pm_temp_dir("kill", &root, &err), &err);
	place_open(&p, "first", NULL);
	pm_str_add(&model, built("models/llama_block.onnx"));
	pm_str_add(&pass, built("passes/silu.so"));
	run_to_end(&p, (const char *[]){ built("passmith"), "extract", model.s, "--db", p.db.s, "--quiet",
					 NULL });
	run_to_end(&p, (const char *[]){ built("passmith"), "task", "make", "--db", p.db.s, "--for", pass.s,
					 "--top", "1", "--shapes", "2", "--max-elements", "2000", "--name",
					 "t", "--quiet", NULL });
	pm_path_join(root.s, "base.db", &base_db);
	stored(&p, &want);
	nothing_stored = want.len;
	pm_str_clear(&want);
	must(rename(p.db.s, base_db.s) ? PM_E_IO : PM_OK, &err);
	for (int cold = 1; cold >= 0; cold--) {
		double t0 = pm_now();

		copy_db(&p);
		assert_int_equal(finish(start_eval(&p)), 0);
		run_seconds[cold] = pm_now() - t0;
	}
	stored(&p, &want);
	pm_str_add(&warm_cache, p.cache.s);
	pm_str_release(&model);
	pm_str_release(&pass);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	pm_remove_tree(root.s, NULL);
	pm_str_release(&root);
	pm_str_release(&base_db);
	pm_str_release(&warm_cache);
	pm_str_release(&want);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_process_may_be_killed_at_any_moment),
	};

	return cmocka_run_group_tests_name("kill", tests, prepare, clean);
}
