/* SPDX-License-Identifier: Apache-2.0 */
/* test_renamed.c - a database and JSON Lines of the last version, whose words were others, through the
 * commands. */
#include "base/core/json.h"
#include "base/core/renamed.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "dataset/store/db.h"
#include "tests/plugin/paths.h"

#include <sqlite3.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Needs what stands above. */
#include <cmocka.h>

#include <string.h>

static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";

/* Tables as version 0.2 left them, with one task of one graph. */
static void make_old(const char *path)
{
	PmStr sql = PM_STR_INIT;
	sqlite3 *sq;
	char *end;

	assert_int_equal(pm_read_file("dataset/store/schema.sql", 0, &sql, NULL), PM_OK);
	end = strstr(sql.s, "-- migration 5");
	assert_non_null(end);
	*end = '\0';
	sql.len = (size_t)(end - sql.s);
	pm_str_addf(&sql,
		    "INSERT INTO op_seqs (text) VALUES ('Relu');"
		    "INSERT INTO subgraphs (hash, structure, shapes, n_nodes, op_seq, text) "
		    "VALUES ('%s', '%s', '%s', 1, 1, 'g (float[8] x) => (float[8] y) { y = Relu (x) }');"
		    "INSERT INTO tasks (hash, name, kind) VALUES ('%s', 'old', 'fusible');"
		    "INSERT INTO members (task, ordinal, subgraph, label, shape, dtype) "
		    "VALUES (1, 0, 1, 'x', 0, 'float');"
		    "INSERT INTO runs (key, task, pass_path, pass_sha256, device, seed, version, options, "
		    "started) "
		    "VALUES ('%s', 1, 'p.so', '00', 'cuda', '0', '0.2.0', 'o', 5);"
		    "INSERT INTO results (run, task, ordinal, verdict, stage, speedup, json) "
		    "VALUES (1, 1, 0, 'OK', 'speed', 2.0, '{}');"
		    "INSERT INTO ref_runs (subgraph, how, why) VALUES (1, 'twin', 'two rows');"
		    "PRAGMA user_version = 4; PRAGMA application_id = %d;",
		    zeros, zeros, zeros, zeros, zeros, 0x506d4453);
	assert_int_equal(sqlite3_open(path, &sq), SQLITE_OK);
	if (sqlite3_exec(sq, sql.s, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(sq));
	sqlite3_close(sq);
	pm_str_release(&sql);
}

/* The answer of `passmith A B C --db PATH --json`; c may be NULL. */
static cJSON *answer(const char *a, const char *b, const char *c, const char *path)
{
	const char *argv[8] = { built("passmith"), a, b };
	PmLimits lim = { .seconds = 60, .file_size = -1 };
	PmProcResult r = { 0 };
	cJSON *j = NULL;
	PmErr err;
	int n = 3;

	if (c)
		argv[n++] = c;
	argv[n++] = "--db";
	argv[n++] = path;
	argv[n++] = "--json";
	pm_err_init(&err);
	if (pm_run(argv, NULL, 0, &lim, &r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(pm_json_parse(r.out.s, r.out.len, &j, &err), PM_OK);
	if (r.code || !cJSON_IsNull(cJSON_GetObjectItem(j, "error")))
		fail_msg("passmith %s %s: %.1000s", a, b, r.out.s);
	pm_proc_result_release(&r);
	return j;
}

/* What only reads does not change a file: it says how to bring it up to date, and that does it. */
static void the_sentence_for_a_reader_helps(void **state)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmErr err;
	PmDb *db;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_temp_dir("renamed", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "old.db", &path);
	make_old(path.s);
	assert_int_equal(pm_db_open(path.s, PM_DB_READ_ONLY, &db, &err), PM_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "passmith db vacuum --db FILE"));
	cJSON_Delete(answer("db", "vacuum", NULL, path.s));
	assert_int_equal(pm_db_open(path.s, PM_DB_READ_ONLY, &db, &err), PM_OK);
	pm_db_close(db);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
}

static void a_database_of_the_last_version_opens(void **state)
{
	static const char question[] =
		"SELECT v.label, m.label AS old, r.verdict FROM variants v "
		"JOIN members m USING (task, ordinal) JOIN results r USING (task, ordinal)";
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	const cJSON *row;
	cJSON *j;

	(void)state;
	assert_int_equal(pm_temp_dir("renamed", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "old.db", &path);
	make_old(path.s);
	j = answer("task", "list", NULL, path.s);
	row = cJSON_GetArrayItem(cJSON_GetObjectItem(j, "results"), 0);
	assert_int_equal(pm_json_i64(row, "variants", -1), 1);
	assert_int_equal(pm_json_i64(row, "members", -1), 1);
	cJSON_Delete(j);
	j = answer("db", "query", question, path.s);
	row = cJSON_GetArrayItem(cJSON_GetObjectItem(j, "results"), 0);
	assert_string_equal(pm_json_str(row, "label", ""), "x");
	assert_string_equal(pm_json_str(row, "old", ""), "x");
	assert_string_equal(pm_json_str(row, "verdict", ""), "OK");
	cJSON_Delete(j);
	j = answer("db", "query", "SELECT how, why FROM ref_runs", path.s);
	row = cJSON_GetArrayItem(cJSON_GetObjectItem(j, "results"), 0);
	assert_string_equal(pm_json_str(row, "how", ""), "proxy");
	assert_string_equal(pm_json_str(row, "why", ""), "two rows");
	cJSON_Delete(j);
	j = answer("db", "stats", NULL, path.s);
	assert_int_equal(pm_json_i64(j, "variants", -1), 1);
	assert_int_equal(pm_json_i64(j, "members", -1), 1);
	cJSON_Delete(j);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
}

/* Records, packs and rows are read under either name; the new one wins. */
static void either_key_is_read(void **state)
{
	cJSON *j = cJSON_CreateObject();

	(void)state;
	cJSON_AddStringToObject(j, "lane", "tf32");
	assert_string_equal(pm_json_key(j, "precision"), "lane");
	cJSON_AddStringToObject(j, "precision", "bf16");
	assert_string_equal(pm_json_key(j, "precision"), "precision");
	cJSON_Delete(j);
	assert_null(pm_renamed_option("bench", "--lane", 6));
	assert_null(pm_renamed_option("eval", "--lane", 5));
	assert_string_equal(pm_renamed_option("eval", "--lane=x", 6)->now, "--precision");
}

/* A row of the table that no schema knows of would be a promise that nothing keeps. */
static void each_old_key_is_in_a_schema(void **state)
{
	static const char *const schemas[] = { "eval", "task", "db" };
	PmStr text = PM_STR_INIT, path = PM_STR_INIT, key = PM_STR_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
		PmStr one = PM_STR_INIT;

		pm_str_clear(&path);
		pm_str_addf(&path, "docs/reference/json/%s.schema.json", schemas[i]);
		assert_int_equal(pm_read_file(path.s, 0, &one, NULL), PM_OK);
		pm_str_add(&text, one.s);
		pm_str_release(&one);
	}
	for (size_t k = 0; pm_renamed(k); k++) {
		const PmRenamed *r = pm_renamed(k);

		if (r->command)
			continue;
		pm_str_clear(&key);
		pm_str_addf(&key, "old name of %s, gone in %s", r->now, r->version);
		if (!strstr(text.s, key.s))
			fail_msg("no schema says of '%s': %s", r->old, key.s);
	}
	pm_str_release(&text);
	pm_str_release(&path);
	pm_str_release(&key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_database_of_the_last_version_opens),
		cmocka_unit_test(the_sentence_for_a_reader_helps),
		cmocka_unit_test(either_key_is_read),
		cmocka_unit_test(each_old_key_is_in_a_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
