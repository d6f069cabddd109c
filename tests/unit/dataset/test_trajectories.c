/* SPDX-License-Identifier: Apache-2.0 */
/* test_trajectories.c - tables of trajectories: appending, going on, several writers, processes that are
 * killed, copies that are put together, and databases of the version before. */
#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/store/db_priv.h"
#include "dataset/store/jsonl.h"
#include "dataset/store/trajectories.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct Box {
	PmStr dir, path[3];
} Box;

static int set_up(void **state)
{
	Box *b = calloc(1, sizeof *b);

	pm_str_init(&b->dir);
	assert_int_equal(pm_temp_dir("trajectories", &b->dir, NULL), PM_OK);
	for (int k = 0; k < 3; k++) {
		char name[16];

		snprintf(name, sizeof name, "%d.db", k);
		pm_str_init(&b->path[k]);
		pm_path_join(b->dir.s, name, &b->path[k]);
	}
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	Box *b = *state;

	assert_int_equal(pm_remove_tree(b->dir.s, NULL), PM_OK);
	pm_str_release(&b->dir);
	for (int k = 0; k < 3; k++)
		pm_str_release(&b->path[k]);
	free(b);
	return 0;
}

static PmDb *open_db(const Box *b, int k)
{
	PmErr err;
	PmDb *db = NULL;

	pm_err_init(&err);
	if (pm_db_open(b->path[k].s, 0, &db, &err))
		fail_msg("%s", err.text);
	return db;
}

static int64_t begin(PmDb *db, const char *instance, int *is_new)
{
	PmTrajectoryRow r = {
		.kind = "agent", .model = "m", .seed = UINT64_MAX, .version = "1", .instance = instance
	};
	int64_t id = 0;
	PmErr err;

	pm_err_init(&err);
	if (pm_trajectory_begin(db, &r, &id, is_new, &err))
		fail_msg("%s", err.text);
	return id;
}

static PmStepRow step(int64_t trajectory, const char *json, double score)
{
	return (PmStepRow){ .trajectory = trajectory,
			    .role = "tool",
			    .name = "evaluate",
			    .json = json,
			    .verdict = isnan(score) ? ""
				       : score > 1  ? "OK"
						    : "INCORRECT",
			    .score = score,
			    .at = 100,
			    .seconds = 0.25,
			    .tokens_in = 10,
			    .tokens_out = -1,
			    .money = 0.5 };
}

static void add(PmDb *db, int64_t trajectory, const char *json, double score)
{
	PmStepRow s = step(trajectory, json, score);
	PmErr err;

	pm_err_init(&err);
	if (pm_step_add(db, &s, NULL, &err))
		fail_msg("%s", err.text);
}

static PmStatus take_row(void *arg, const PmTrajectoryRow *row, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%s %s %llu n=%lld ok=%lld best=%g in=%lld out=%lld money=%g %s %s\n", row->kind,
		    row->instance, (unsigned long long)row->seed, (long long)row->n_steps,
		    (long long)row->first_ok, row->best, (long long)row->tokens_in,
		    (long long)row->tokens_out, row->money, row->ended ? "ended" : "open", row->outcome);
	return PM_OK;
}

static PmStatus take_step(void *arg, const PmStepRow *row, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%lld%s ", (long long)row->ordinal, row->json);
	return PM_OK;
}

static void list(PmDb *db, const PmTrajectoryFilter *f, PmStr *out)
{
	pm_str_clear(out);
	assert_int_equal(pm_trajectories_each(db, f, take_row, out, NULL), PM_OK);
}

static void steps(PmDb *db, int64_t id, PmStr *out)
{
	pm_str_clear(out);
	assert_int_equal(pm_steps_each(db, id, take_step, out, NULL), PM_OK);
}

static void export_to(PmDb *db, PmStr *out)
{
	FILE *f = tmpfile();
	char buf[4096];
	size_t n;

	assert_non_null(f);
	pm_str_clear(out);
	assert_int_equal(pm_db_export(db, f, NULL), PM_OK);
	rewind(f);
	while ((n = fread(buf, 1, sizeof buf, f)) > 0)
		pm_str_addn(out, buf, n);
	fclose(f);
}

static PmStatus import_text(PmDb *db, const char *text, PmErr *err)
{
	FILE *f = tmpfile();
	PmStatus st;

	assert_non_null(f);
	fputs(text, f);
	rewind(f);
	st = pm_db_import(db, f, "file.jsonl", NULL, err);
	fclose(f);
	return st;
}

/* ---- cases ---- */

static void steps_are_appended_and_summed(void **state)
{
	PmDb *db = open_db(*state, 0);
	PmStr s = PM_STR_INIT;
	PmTrajectoryFilter f = { .above = 1.2 };
	int is_new = 0;
	int64_t id = begin(db, "a", &is_new), other;
	PmStepRow late = step(id, "{}", NAN), bad = step(id, "{}", NAN);
	PmErr err;

	assert_int_equal(is_new, 1);
	add(db, id, "{\"a\":1}", 0.1);
	add(db, id, "{\"a\":2}", 1.5);
	add(db, id, "{\"a\":3}", 1.25);
	add(db, id, "{\"a\":4}", NAN);
	bad.role = "robot";
	assert_int_equal(pm_step_add(db, &bad, NULL, &err), PM_E_CONFLICT);
	bad = step(99, "{}", NAN);
	assert_int_equal(pm_step_add(db, &bad, NULL, &err), PM_E_NOT_FOUND);
	assert_int_equal(begin(db, "a", &is_new), id); /* goes on */
	assert_int_equal(is_new, 0);
	other = begin(db, "", NULL);
	assert_int_not_equal(begin(db, "", NULL), other); /* drawn: always another one */
	list(db, NULL, &s);
	assert_non_null(
		strstr(s.s, "agent a 18446744073709551615 n=4 ok=1 best=1.5 in=40 out=0 money=2 open \n"));
	assert_int_equal(pm_trajectory_end(db, id, "done", NULL), PM_OK);
	assert_int_equal(pm_trajectory_end(db, id, "failed", NULL), PM_OK); /* the first end stays */
	assert_int_equal(pm_trajectory_end(db, 99, "done", &err), PM_E_NOT_FOUND);
	assert_int_equal(pm_step_add(db, &late, NULL, &err), PM_E_INVALID);
	list(db, &f, &s);
	assert_string_equal(
		s.s, "agent a 18446744073709551615 n=4 ok=1 best=1.5 in=40 out=0 money=2 ended done\n");
	f.above = 1.5;
	list(db, &f, &s);
	assert_string_equal(s.s, "");
	steps(db, id, &s);
	assert_string_equal(s.s, "0{\"a\":1} 1{\"a\":2} 2{\"a\":3} 3{\"a\":4} ");
	pm_str_release(&s);
	pm_db_close(db);
}

static void a_trajectory_is_found_by_number_or_key(void **state)
{
	PmDb *db = open_db(*state, 0);
	int64_t id = begin(db, "a", NULL), found = 0;
	PmStr key = PM_STR_INIT;
	PmErr err;

	assert_int_equal(pm__db_i64(db, "test", &found, NULL, "SELECT count(*) FROM trajectories", ""),
			 PM_OK);
	export_to(db, &key);
	memmove(key.s, strstr(key.s, "\"key\":\"") + 7, 64);
	key.s[64] = '\0';
	assert_int_equal(pm_trajectory_find(db, key.s, &found, &err), PM_OK);
	assert_int_equal(found, id);
	key.s[6] = '\0';
	found = 0;
	if (strspn(key.s, "0123456789") < 6) {
		assert_int_equal(pm_trajectory_find(db, key.s, &found, &err), PM_OK);
		assert_int_equal(found, id);
	}
	assert_int_equal(pm_trajectory_find(db, "1", &found, &err), PM_OK);
	assert_int_equal(pm_trajectory_find(db, "2", &found, &err), PM_E_NOT_FOUND);
	assert_int_equal(pm_trajectory_find(db, "x", &found, &err), PM_E_NOT_FOUND);
	pm_str_release(&key);
	pm_db_close(db);
}

static void copies_are_put_together(void **state)
{
	PmDb *a = open_db(*state, 0), *b = open_db(*state, 1), *c = open_db(*state, 2);
	PmStr ea = PM_STR_INIT, eb = PM_STR_INIT, s = PM_STR_INIT;
	int64_t id = begin(a, "a", NULL);
	PmErr err;

	add(a, id, "{\"a\":1}", 0.1);
	assert_int_equal(pm_db_merge(b, a, NULL, &err), PM_OK); /* cut off, in b */
	assert_int_equal(pm_db_merge(c, a, NULL, &err), PM_OK);
	add(a, id, "{\"a\":\"\\u00e9 \\\\ \"}", 1.0 / 3);
	assert_int_equal(pm_trajectory_end(a, id, "done", NULL), PM_OK);
	assert_int_equal(pm_db_merge(b, a, NULL, &err), PM_OK); /* goes on, in b */
	assert_int_equal(pm_db_merge(a, b, NULL, &err), PM_OK); /* nothing new */
	export_to(a, &ea);
	export_to(b, &eb);
	assert_string_equal(ea.s, eb.s);
	add(c, 1, "{\"a\":\"another\"}", 2);
	assert_int_equal(pm_db_merge(c, a, NULL, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "goes on in another way"));
	steps(c, 1, &s);
	assert_string_equal(s.s, "0{\"a\":1} 1{\"a\":\"another\"} ");
	pm_str_release(&ea);
	pm_str_release(&eb);
	pm_str_release(&s);
	pm_db_close(a);
	pm_db_close(b);
	pm_db_close(c);
}

static void changed_lines_are_refused(void **state)
{
	static const char *const edit[][2] = {
		{ "\"kind\":\"agent\"", "\"kind\":\"atent\"" },
		{ "\"seed\":\"18", "\"seed\":\"19" },
		{ "\"instance\":\"a\"", "\"instance\":\"b\"" },
		{ "\"score\":1.5", "\"score\":2.5" },
		{ "\"verdict\":\"OK\"", "\"verdict\":\"KO\"" },
		{ "\\\"a\\\":2", "\\\"a\\\":3" },
		{ "\"ordinal\":1", "\"ordinal\":2" },
		{ "\"tokens_in\":10", "\"tokens_in\":11" },
		{ "\"money\":0.5", "\"money\":0.6" },
		{ "\"files\":\"[]\"", "\"files\":\"{}\"" },
		{ "\"role\":\"tool\"", "\"role\":\"user\"" },
		{ "\"row\":\"trajectory\"", "\"row\":\"trajektory\"" },
	};
	PmDb *a = open_db(*state, 0), *b = open_db(*state, 1);
	int64_t id = begin(a, "a", NULL), n = -1;
	PmStr e = PM_STR_INIT;
	PmErr err;

	add(a, id, "{\"a\":1}", 0.1);
	add(a, id, "{\"a\":2}", 1.5);
	for (size_t k = 0; k < sizeof edit / sizeof *edit; k++) {
		char *at;

		export_to(a, &e);
		at = strstr(e.s, edit[k][0]);
		assert_non_null(at);
		memcpy(at, edit[k][1], strlen(edit[k][0]));
		pm_err_init(&err);
		if (import_text(b, e.s, &err) != PM_E_INVALID)
			fail_msg("%s: %s", edit[k][1], err.text);
	}
	assert_int_equal(pm__db_i64(b, "test", &n, NULL, "SELECT count(*) FROM trajectories", ""), PM_OK);
	assert_int_equal(n, 0);
	pm_str_release(&e);
	pm_db_close(a);
	pm_db_close(b);
}

/* ---- processes ---- */

enum { WRITERS = 3, EACH = 60, KILLS = 12 };

/* Appends without end; after each step that is stored its number goes into the pipe. */
static void append_for_ever(const Box *b, int fd)
{
	PmDb *db = open_db(b, 0);
	int64_t id = begin(db, "killed", NULL);
	PmStepRow s = step(id, "{\"what\": \"a step that is long enough to take more than one page\"}", 0.5);
	PmStr files = PM_STR_INIT;

	for (int k = 0; k < 3000; k++)
		pm_str_addf(&files, "%s%d", k ? "," : "[", k);
	pm_str_addc(&files, ']');
	s.files = files.s;
	for (;;) {
		int64_t n = 0;

		if (pm_step_add(db, &s, &n, NULL) || write(fd, &n, sizeof n) != sizeof n)
			_exit(1);
	}
}

static void a_killed_writer_loses_nothing_that_was_stored(void **state)
{
	const Box *b = *state;
	int64_t last = -1;
	PmStr s = PM_STR_INIT;
	PmDb *db;

	for (int k = 0; k < KILLS; k++) {
		int fd[2], status;
		int64_t n = -1, stored = -1;
		pid_t pid;

		assert_int_equal(pipe(fd), 0);
		pid = fork();
		if (pid == 0) {
			close(fd[0]);
			append_for_ever(b, fd[1]);
		}
		close(fd[1]);
		for (int i = 0; i <= k; i++) /* after some steps, in the middle of the next one */
			assert_int_equal(read(fd[0], &n, sizeof n), sizeof n);
		usleep((useconds_t)(137 * k));
		kill(pid, SIGKILL);
		while (read(fd[0], &n, sizeof n) == sizeof n)
			;
		close(fd[0]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_true(n >= last + 1 + k);
		db = open_db(b, 0);
		assert_int_equal(pm__db_i64(db, "test", &stored, NULL, "SELECT max(ordinal) FROM steps", ""),
				 PM_OK);
		assert_in_range(stored, n, n + 1); /* the one in flight may be there */
		assert_int_equal(pm__db_i64(db, "test", &n, NULL, "SELECT count(*) FROM steps", ""), PM_OK);
		assert_int_equal(n, stored + 1);
		last = stored;
		pm_db_close(db);
	}
	db = open_db(b, 0);
	list(db, NULL, &s);
	assert_non_null(strstr(s.s, " open "));
	export_to(db, &s); /* the hashes hold: a copy can be made */
	pm_db_close(db);
	db = open_db(b, 1);
	assert_int_equal(import_text(db, s.s, NULL), PM_OK);
	pm_db_close(db);
	pm_str_release(&s);
}

static void writers_wait_for_each_other(void **state)
{
	const Box *b = *state;
	PmDb *db = open_db(b, 0);
	int64_t n = 0, id = begin(db, "shared", NULL), own;
	pid_t pid[WRITERS];
	PmStr s = PM_STR_INIT, e = PM_STR_INIT;

	pm_db_close(db);
	for (int k = 0; k < WRITERS; k++) {
		pid[k] = fork();
		if (pid[k])
			continue;
		db = open_db(b, 0);
		own = begin(db, k == 0 ? "0" : k == 1 ? "1" : "2", NULL);
		for (int i = 0; i < EACH; i++) {
			PmStepRow mine = step(own, "{}", NAN), shared = step(id, "{}", NAN);

			if (pm_step_add(db, &mine, NULL, NULL) || pm_step_add(db, &shared, NULL, NULL))
				_exit(1);
		}
		if (pm_trajectory_end(db, own, "done", NULL))
			_exit(1);
		pm_db_close(db);
		_exit(0);
	}
	for (int k = 0; k < WRITERS; k++) {
		int status = -1;

		assert_int_equal(waitpid(pid[k], &status, 0), pid[k]);
		assert_int_equal(status, 0);
	}
	db = open_db(b, 0);
	assert_int_equal(
		pm__db_i64(db, "test", &n, NULL, "SELECT count(*) FROM steps WHERE trajectory = ?", "i", id),
		PM_OK);
	assert_int_equal(n, WRITERS * EACH);
	assert_int_equal(pm__db_i64(db, "test", &n, NULL,
				    "SELECT count(*) FROM trajectories WHERE outcome = 'done'", ""),
			 PM_OK);
	assert_int_equal(n, WRITERS);
	export_to(db, &e);
	pm_db_close(db);
	db = open_db(b, 1);
	assert_int_equal(import_text(db, e.s, NULL), PM_OK);
	export_to(db, &s);
	assert_string_equal(s.s, e.s);
	pm_db_close(db);
	pm_str_release(&s);
	pm_str_release(&e);
}

/* ---- the version before ---- */

static void a_database_of_version_6_is_brought_up_to_date(void **state)
{
	const Box *b = *state;
	PmStr sql = PM_STR_INIT, s = PM_STR_INIT;
	sqlite3 *sq = NULL;
	int64_t n = 0;
	char *end;
	PmDb *db;

	assert_int_equal(pm_read_file("dataset/store/schema.sql", 0, &sql, NULL), PM_OK);
	end = strstr(sql.s, "-- migration 7");
	assert_non_null(end);
	*end = '\0';
	sql.len = (size_t)(end - sql.s);
	pm_str_addf(&sql,
		    "INSERT INTO models (sha256, path, name, status) VALUES ('%064d', 'a', 'b', 'done');"
		    "PRAGMA user_version = 6; PRAGMA application_id = %d;",
		    0, 0x506d4453);
	assert_int_equal(sqlite3_open(b->path[0].s, &sq), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sq, sql.s, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sq);
	assert_int_equal(pm_db_open(b->path[0].s, PM_DB_READ_ONLY, &db, NULL), PM_E_UNSUPPORTED);
	db = open_db(b, 0);
	add(db, begin(db, "a", NULL), "{}", 1.5);
	list(db, NULL, &s);
	assert_non_null(strstr(s.s, "n=1 ok=0 best=1.5"));
	assert_int_equal(pm__db_i64(db, "test", &n, NULL, "SELECT count(*) FROM models", ""), PM_OK);
	assert_int_equal(n, 1);
	pm_db_close(db);
	pm_str_release(&sql);
	pm_str_release(&s);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(steps_are_appended_and_summed),
		CASE(a_trajectory_is_found_by_number_or_key),
		CASE(copies_are_put_together),
		CASE(changed_lines_are_refused),
		CASE(a_killed_writer_loses_nothing_that_was_stored),
		CASE(writers_wait_for_each_other),
		CASE(a_database_of_version_6_is_brought_up_to_date),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
