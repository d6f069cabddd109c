/* SPDX-License-Identifier: Apache-2.0 */
/* test_running.c - work that goes on, as rows that a process writes again and takes away. */
#include "base/core/str.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "dataset/store/running.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct Box {
	PmStr dir, path;
} Box;

static int set_up(void **state)
{
	static Box b;

	pm_str_init(&b.dir);
	pm_str_init(&b.path);
	assert_int_equal(pm_temp_dir("running", &b.dir, NULL), PM_OK);
	pm_path_join(b.dir.s, "set.db", &b.path);
	*state = &b;
	return 0;
}

static int tear_down(void **state)
{
	Box *b = *state;

	assert_int_equal(pm_remove_tree(b->dir.s, NULL), PM_OK);
	pm_str_release(&b->dir);
	pm_str_release(&b->path);
	return 0;
}

static PmDb *open_db(const Box *b)
{
	PmErr err;
	PmDb *db = NULL;

	pm_err_init(&err);
	if (pm_db_open(b->path.s, 0, &db, &err))
		fail_msg("%s", err.text);
	return db;
}

static PmRunningRow row(const char *host, int64_t pid, double began, int64_t parent)
{
	return (PmRunningRow){ .host = host,
			       .pid = pid,
			       .began = began,
			       .parent = parent,
			       .pass_path = "p.so",
			       .device = "emu",
			       .stage = "variants",
			       .total = 9,
			       .heartbeat = began };
}

static void put(PmDb *db, PmRunningRow r)
{
	PmErr err;

	pm_err_init(&err);
	if (pm_running_put(db, &r, &err))
		fail_msg("%s", err.text);
}

static PmStatus add_row(void *arg, const PmRunningRow *r, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%s.%lld/%lld:%lld@%g ", r->host, (long long)r->pid, (long long)r->parent,
		    (long long)r->done, r->heartbeat);
	return PM_OK;
}

static void has(PmDb *db, const char *wanted)
{
	PmStr s = PM_STR_INIT;

	assert_int_equal(pm_running_each(db, add_row, &s, NULL), PM_OK);
	assert_string_equal(s.s, wanted);
	pm_str_release(&s);
}

static void a_row_is_written_again_and_taken_away(void **state)
{
	PmDb *db = open_db(*state);
	PmRunningRow r = row("a", 7, 100, 0);

	has(db, "");
	put(db, r);
	r.done = 3;
	r.heartbeat = 105;
	put(db, r);
	has(db, "a.7/0:3@105 ");
	put(db, row("a", 7, 200, 0)); /* the number came again: other work */
	has(db, "a.7/0:3@105 a.7/0:0@200 ");
	assert_int_equal(pm_running_drop(db, &r, NULL), PM_OK);
	has(db, "a.7/0:0@200 ");
	assert_int_equal(pm_running_drop(db, &r, NULL), PM_OK);
	pm_db_close(db);
}

static void a_command_stands_before_its_parts(void **state)
{
	PmDb *db = open_db(*state);

	put(db, row("b", 1, 1, 0));
	put(db, row("a", 30, 5, 20));
	put(db, row("a", 25, 6, 20));
	put(db, row("a", 20, 4, 0));
	put(db, row("a", 10, 9, 0));
	has(db, "a.10/0:0@9 a.20/0:0@4 a.30/20:0@5 a.25/20:0@6 b.1/0:0@1 ");
	pm_db_close(db);
}

static void what_was_silent_for_long_is_forgotten(void **state)
{
	PmDb *db = open_db(*state);

	put(db, row("a", 1, 10, 0));
	put(db, row("a", 2, 20, 0));
	assert_int_equal(pm_running_forget(db, 20, NULL), PM_OK);
	has(db, "a.2/0:0@20 ");
	pm_db_close(db);
}

/* The work itself must not wait for somebody who writes: the answer is there at once, and the next writer
 * waits again as all do. */
static void a_heartbeat_does_not_wait(void **state)
{
	const Box *b = *state;
	PmDb *db = open_db(b);
	PmRunningRow r = row("a", 1, 10, 0);
	sqlite3 *other = NULL;
	PmErr err;

	assert_int_equal(sqlite3_open(b->path.s, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	pm_err_init(&err);
	alarm(PM_DB_WAIT_SECONDS / 2); /* one that waits as writers do ends this program */
	assert_int_equal(pm_running_put(db, &r, &err), PM_E_TIMEOUT);
	assert_non_null(strstr(err.text, "another process is writing"));
	assert_int_equal(pm_running_forget(db, 1, NULL), PM_E_TIMEOUT);
	alarm(0);
	assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	put(db, r);
	has(db, "a.1/0:0@10 ");
	sqlite3_close(other);
	pm_db_close(db);
}

/* Who asks again by itself is told that it is locked, also for reading. */
static void an_impatient_reader_is_told(void **state)
{
	const Box *b = *state;
	PmDb *db = open_db(b);
	sqlite3 *other = NULL;
	PmErr err;

	pm_db_close(db);
	assert_int_equal(sqlite3_open(b->path.s, &other), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(other, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", NULL, NULL, NULL),
		SQLITE_OK);
	pm_err_init(&err);
	assert_int_equal(pm_db_open(b->path.s, PM_DB_READ_ONLY | PM_DB_IMPATIENT, &db, &err), PM_E_TIMEOUT);
	assert_null(db);
	sqlite3_close(other);
	assert_int_equal(pm_db_open(b->path.s, PM_DB_READ_ONLY | PM_DB_IMPATIENT, &db, &err), PM_OK);
	pm_db_close(db);
}

static void a_database_of_version_9_is_brought_up_to_date(void **state)
{
	const Box *b = *state;
	PmStr sql = PM_STR_INIT;
	sqlite3 *sq = NULL;
	char *end;
	PmDb *db;

	assert_int_equal(pm_read_file("dataset/store/schema.sql", 0, &sql, NULL), PM_OK);
	end = strstr(sql.s, "-- migration 9");
	assert_non_null(end);
	end = strstr(end, "\n-- migration");
	assert_non_null(end);
	*end = '\0';
	sql.len = (size_t)(end - sql.s);
	pm_str_addf(&sql, "\nPRAGMA user_version = 9; PRAGMA application_id = %d;", 0x506d4453);
	assert_int_equal(sqlite3_open(b->path.s, &sq), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sq, sql.s, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sq);
	assert_int_equal(pm_db_open(b->path.s, PM_DB_READ_ONLY, &db, NULL), PM_E_UNSUPPORTED);
	db = open_db(b);
	put(db, row("a", 1, 10, 0));
	has(db, "a.1/0:0@10 ");
	pm_db_close(db);
	pm_str_release(&sql);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_row_is_written_again_and_taken_away),
		CASE(a_command_stands_before_its_parts),
		CASE(what_was_silent_for_long_is_forgotten),
		CASE(a_heartbeat_does_not_wait),
		CASE(an_impatient_reader_is_told),
		CASE(a_database_of_version_9_is_brought_up_to_date),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
