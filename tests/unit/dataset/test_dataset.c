/* SPDX-License-Identifier: Apache-2.0 */
/* test_dataset.c - the database of models, subgraphs, tasks and results. */
#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/store/db.h"
#include "dataset/store/models.h"
#include "dataset/store/results.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tasks.h"
#include "ir/text/text.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
	assert_int_equal(pm_temp_dir("dataset", &b.dir, NULL), PM_OK);
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

static void exec_raw(const Box *b, const char *sql)
{
	sqlite3 *sq = NULL;

	assert_int_equal(sqlite3_open(b->path.s, &sq), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sq, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sq);
}

/* y = Relu(x) with n elements: another graph for each n. */
static PmGraph *relu(int n)
{
	return pm_test_graphf("g (float[%d] x) => (float[%d] y) { t = Relu (x)\n y = Neg (t) }", n, n);
}

static int64_t put_relu(PmDb *db, int n, int *is_new)
{
	PmGraph *g = relu(n);
	int64_t id = 0;

	assert_int_equal(pm_subgraph_put(db, g, NULL, "fusible", &id, is_new, NULL), PM_OK);
	pm_graph_free(g);
	return id;
}

static char hash_of[65];
static PmModelRow model(int k)
{
	PmModelRow m = { 0, hash_of, "m/a.onnx", "a", 17, 10, 2, 1, "", "" };

	snprintf(hash_of, sizeof hash_of, "%064x", (unsigned)k);
	return m;
}

static PmDbStats stats(PmDb *db)
{
	PmDbStats s;

	assert_int_equal(pm_db_stats(db, &s, NULL), PM_OK);
	return s;
}

/* ---- opening ---- */

static void opening_makes_tables(void **state)
{
	PmDb *db = open_db(*state);
	PmDbStats s = stats(db);

	assert_int_equal(s.version, pm_db_schema_version());
	assert_true(s.version >= 1);
	assert_int_equal(s.models + s.subgraphs + s.tasks + s.runs + s.results + s.occurrences, 0);
	assert_true(s.bytes > 0);
	pm_db_close(db);
	db = open_db(*state); /* again: nothing to migrate */
	pm_db_close(db);
}

static void a_newer_or_foreign_database_is_refused(void **state)
{
	Box *b = *state;
	PmErr err;
	PmDb *db = open_db(b);

	pm_db_close(db);
	exec_raw(b, "PRAGMA user_version = 999");
	assert_int_equal(pm_db_open(b->path.s, 0, &db, &err), PM_E_UNSUPPORTED);
	assert_null(db);
	assert_non_null(strstr(err.text, b->path.s));
	assert_non_null(strstr(err.text, "version 999"));
	exec_raw(b, "PRAGMA user_version = 0; PRAGMA application_id = 0");
	assert_int_equal(pm_db_open(b->path.s, 0, &db, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "another program"));
	assert_int_equal(pm_write_file(b->path.s, "this is no database at all, only text", 37, NULL), PM_OK);
	assert_int_equal(pm_db_open(b->path.s, 0, &db, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, b->path.s));
}

static void a_missing_or_unwritable_path_is_a_sentence(void **state)
{
	Box *b = *state;
	PmStr none = PM_STR_INIT;
	PmErr err;
	PmDb *db;

	pm_str_addf(&none, "%s/no/such.db", b->dir.s);
	assert_int_equal(pm_db_open(none.s, 0, &db, &err), PM_E_NOT_FOUND);
	assert_non_null(strstr(err.text, none.s));
	pm_str_release(&none);
	assert_int_equal(pm_db_open(b->path.s, PM_DB_MUST_EXIST, &db, &err), PM_E_NOT_FOUND);
	assert_int_equal(pm_db_open(b->path.s, PM_DB_READ_ONLY, &db, &err), PM_E_NOT_FOUND);
	assert_non_null(strstr(err.text, b->path.s));
	assert_int_equal(pm_db_open(b->dir.s, 0, &db, &err), PM_E_IO); /* a folder */
	assert_non_null(strstr(err.text, b->dir.s));
}

static void reading_only_refuses_to_store(void **state)
{
	Box *b = *state;
	PmErr err;
	PmDb *db = open_db(b);
	PmModelRow m = model(1);
	int64_t id;

	assert_int_equal(pm_model_put(db, &m, &id, NULL), PM_OK);
	pm_db_close(db);
	assert_int_equal(pm_db_open(b->path.s, PM_DB_READ_ONLY, &db, NULL), PM_OK);
	assert_int_equal(stats(db).models, 1);
	m = model(2);
	assert_int_equal(pm_model_put(db, &m, &id, &err), PM_E_IO);
	assert_non_null(strstr(err.text, b->path.s));
	pm_db_close(db);
}

/* As somebody who may write neither the file nor its folder: 0 when the database is read, and says why not
 * when it is written to. */
static int use_what_is_not_ours(const char *dir)
{
	PmModelRow m = model(1);
	PmDb *db = NULL;
	PmDbStats s;
	int64_t id;
	PmErr err;

	pm_err_init(&err);
	if (chdir(dir) || chmod("set.db", 0444) || chmod(".", 0555))
		return 1;
	if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
		return 2;
	if (pm_db_open("set.db", PM_DB_MUST_EXIST, &db, &err) || pm_db_stats(db, &s, &err))
		return 3;
	if (pm_model_put(db, &m, &id, &err) != PM_E_IO || !strstr(err.text, "may be written"))
		return 4;
	pm_db_close(db);
	return 0;
}

/* In a folder that others can reach, which the tests' own is not. */
static void what_may_not_be_written_is_read(void **state)
{
	char dir[] = "/tmp/passmith-XXXXXX";
	PmStr path = PM_STR_INIT;
	PmDb *db;
	int status;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(dir));
	pm_path_join(dir, "set.db", &path);
	assert_int_equal(pm_db_open(path.s, 0, &db, NULL), PM_OK);
	pm_db_close(db);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(use_what_is_not_ours(dir));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(pm_remove_tree(dir, NULL), PM_OK);
	pm_str_release(&path);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- rows ---- */

static PmStatus see_model(void *arg, const PmModelRow *row, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%s %d %lld %s%s;", row->name, row->ok, (long long)row->n_opaque, row->error,
		    row->category);
	return PM_OK;
}

static void models_are_named_by_content_and_resume(void **state)
{
	PmDb *db = open_db(*state);
	PmModelRow m = model(1);
	PmStr seen = PM_STR_INIT;
	int64_t a, b;
	int done;

	assert_int_equal(pm_model_is_done(db, m.sha256, &done, NULL), PM_OK);
	assert_false(done);
	m.ok = 0;
	m.error = "it's broken";
	m.category = "arch";
	assert_int_equal(pm_model_put(db, &m, &a, NULL), PM_OK);
	assert_int_equal(pm_model_is_done(db, m.sha256, &done, NULL), PM_OK);
	assert_false(done);
	assert_int_equal(stats(db).models_failed, 1);
	m.ok = 1;
	m.path = "elsewhere.onnx";
	m.category = ""; /* from where it is not known: what is stored stays */
	assert_int_equal(pm_model_put(db, &m, &b, NULL), PM_OK);
	assert_int_equal(a, b);
	assert_int_equal(pm_model_is_done(db, m.sha256, &done, NULL), PM_OK);
	assert_true(done);
	assert_int_equal(pm_models_each(db, see_model, &seen, NULL), PM_OK);
	assert_string_equal(seen.s, "a 1 2 arch;");
	pm_str_release(&seen);
	pm_db_close(db);
}

static PmStatus see_subgraph(void *arg, const PmSubgraphRow *row, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%s %s %lld %lld;", row->kind, row->ops, (long long)row->n_nodes,
		    (long long)row->n_found);
	return PM_OK;
}

static PmStatus see_occurrence(void *arg, const PmOccurrenceRow *row, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%s %s;", row->model_name, row->nodes);
	return PM_OK;
}

static void subgraphs_and_occurrences_are_stored_once(void **state)
{
	PmDb *db = open_db(*state);
	PmStr seen = PM_STR_INIT;
	PmNode nodes[] = { { 7 }, { 3 } };
	PmModelRow m = model(1);
	int64_t mid, a, b;
	int is_new, k;

	assert_int_equal(pm_model_put(db, &m, &mid, NULL), PM_OK);
	a = put_relu(db, 4, &is_new);
	assert_true(is_new);
	b = put_relu(db, 4, &is_new);
	assert_false(is_new);
	assert_int_equal(a, b);
	put_relu(db, 5, &is_new);
	assert_true(is_new);
	for (k = 0; k < 2; k++)
		assert_int_equal(pm_occurrence_put(db, mid, a, nodes, 2, NULL), PM_OK);
	nodes[0].id = 9;
	assert_int_equal(pm_occurrence_put(db, mid, a, nodes, 2, NULL), PM_OK);
	assert_int_equal(pm_occurrence_put(db, mid, a, nodes, 0, NULL), PM_E_INVALID);
	assert_int_equal(pm_occurrence_put(db, 99, a, nodes, 2, NULL), PM_E_CONFLICT);
	assert_int_equal(stats(db).occurrences, 2);
	assert_int_equal(stats(db).structures, 1);
	assert_int_equal(stats(db).op_seqs, 1);
	assert_int_equal(pm_subgraphs_each(db, NULL, 0, see_subgraph, &seen, NULL), PM_OK);
	assert_string_equal(seen.s, "fusible Relu,Neg 2 2;fusible Relu,Neg 2 0;");
	pm_str_clear(&seen);
	assert_int_equal(pm_subgraphs_each(db, "fusible", mid, see_subgraph, &seen, NULL), PM_OK);
	assert_string_equal(seen.s, "fusible Relu,Neg 2 2;");
	pm_str_clear(&seen);
	assert_int_equal(pm_subgraphs_each(db, "variant", 0, see_subgraph, &seen, NULL), PM_OK);
	assert_string_equal(seen.s, "");
	assert_int_equal(pm_occurrences_each(db, a, see_occurrence, &seen, NULL), PM_OK);
	assert_string_equal(seen.s, "a 3,7;a 3,9;");
	pm_str_release(&seen);
	pm_db_close(db);
}

static void a_subgraph_is_read_back_and_found_by_hash(void **state)
{
	PmDb *db = open_db(*state);
	PmGraph *g = relu(6), *back = NULL;
	PmGraphKey key, again;
	PmErr err;
	int64_t id = put_relu(db, 6, NULL), found = 0;

	assert_int_equal(pm_graph_key(g, &key, NULL), PM_OK);
	assert_int_equal(pm_subgraph_get(db, id, &back, NULL), PM_OK);
	assert_int_equal(pm_graph_key(back, &again, NULL), PM_OK);
	assert_string_equal(key.full, again.full);
	assert_int_equal(pm_subgraph_find(db, key.full, &found, NULL), PM_OK);
	assert_int_equal(found, id);
	key.full[10] = '\0';
	found = 0;
	assert_int_equal(pm_subgraph_find(db, key.full, &found, NULL), PM_OK);
	assert_int_equal(found, id);
	assert_int_equal(pm_subgraph_find(db, "abc", &found, &err), PM_E_INVALID);
	assert_int_equal(pm_subgraph_find(db, "'; DROP TABLE models; --", &found, &err), PM_E_INVALID);
	assert_int_equal(pm_subgraph_find(db, "0123456789abcdef", &found, &err), PM_E_NOT_FOUND);
	pm_graph_free(back);
	assert_int_equal(pm_subgraph_get(db, 12345, &back, &err), PM_E_NOT_FOUND);
	assert_null(back);
	pm_graph_free(g);
	pm_db_close(db);
}

static int64_t make_task(PmDb *db, const char *name, int first, int n, int *is_new)
{
	PmTaskBuilder *b = pm_task_begin(name, "fusible");
	int64_t id = 0;
	int k;

	for (k = 0; k < n; k++) {
		PmGraph *g = relu(first + k);
		char label[32];

		snprintf(label, sizeof label, "shape %d", k);
		assert_int_equal(pm_task_add(b, g, label, k, PM_F32, NULL), PM_OK);
		assert_int_equal(pm_task_add(b, g, "the same again", k, PM_F32, NULL), PM_OK);
		pm_graph_free(g);
	}
	assert_int_equal(pm_task_end(b, db, &id, is_new, NULL), PM_OK);
	return id;
}

static PmStatus see_member(void *arg, const PmVariantRow *row, PmErr *err)
{
	PmGraph *g = NULL;
	PmStatus st = pm_graph_parse(row->text, strlen(row->text), &g, err);

	pm_str_addf(arg, "%lld %s %lld %s;", (long long)row->ordinal, row->label, (long long)row->shape,
		    pm_dtype_name(row->dtype));
	pm_graph_free(g);
	return st;
}

static void tasks_are_named_by_their_members(void **state)
{
	PmDb *db = open_db(*state);
	PmTaskBuilder *none;
	PmStr seen = PM_STR_INIT;
	PmErr err;
	int64_t a, b, found = 0;
	int is_new;

	a = make_task(db, "relu", 3, 3, &is_new);
	assert_true(is_new);
	b = make_task(db, "other name", 3, 3, &is_new);
	assert_false(is_new);
	assert_int_equal(a, b);
	b = make_task(db, "relu", 4, 3, &is_new); /* shares two variants */
	assert_true(is_new);
	assert_int_equal(stats(db).members, 6);
	assert_int_equal(stats(db).subgraphs, 4);
	assert_int_equal(pm_task_variants_each(db, a, see_member, &seen, NULL), PM_OK);
	assert_string_equal(seen.s, "0 shape 0 0 float;1 shape 1 1 float;2 shape 2 2 float;");
	assert_int_equal(pm_task_find(db, "2", &found, NULL), PM_OK);
	assert_int_equal(found, b);
	assert_int_equal(pm_task_find(db, "relu", &found, &err), PM_E_INVALID);
	assert_int_equal(pm_task_find(db, "nothing", &found, &err), PM_E_NOT_FOUND);
	none = pm_task_begin("empty", "fusible");
	assert_int_equal(pm_task_end(none, db, &found, &is_new, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "no variants"));
	pm_task_drop(pm_task_begin("dropped", "fusible"));
	pm_str_release(&seen);
	pm_db_close(db);
}

static PmStatus see_result(void *arg, const PmResultRow *row, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%lld %s %s %d;", (long long)row->ordinal, row->verdict, row->stage,
		    isnan(row->speedup) ? -1 : (int)(row->speedup * 100));
	return PM_OK;
}

static void runs_and_results_resume(void **state)
{
	PmDb *db = open_db(*state);
	int64_t task = make_task(db, "relu", 3, 2, NULL), run, again;
	PmRunRow r = { 0, task, "p.so", "00ff", "emu", UINT64_MAX, "1.0", "", 0, 0, "", "", "" };
	PmResultRow res = { 0, task, 1, "correct", "speed", 1.25, "{}", 0 };
	PmStr seen = PM_STR_INIT;
	PmErr err;
	int is_new, done;

	assert_int_equal(pm_run_put(db, &r, &run, &is_new, NULL), PM_OK);
	assert_true(is_new);
	r.pass_path = "elsewhere/p.so";
	assert_int_equal(pm_run_put(db, &r, &again, &is_new, NULL), PM_OK);
	assert_false(is_new);
	assert_int_equal(run, again);
	r.seed--;
	assert_int_equal(pm_run_put(db, &r, &again, &is_new, NULL), PM_OK);
	assert_true(is_new && again != run);
	r.task = 77;
	assert_int_equal(pm_run_put(db, &r, &again, &is_new, &err), PM_E_NOT_FOUND);

	res.run = run;
	assert_int_equal(pm_result_is_done(db, run, task, 1, &done, NULL), PM_OK);
	assert_false(done);
	assert_int_equal(pm_result_put(db, &res, &is_new, NULL), PM_OK);
	assert_true(is_new);
	assert_int_equal(pm_result_put(db, &res, &is_new, NULL), PM_OK);
	assert_false(is_new);
	res.verdict = "wrong"; /* both are kept; of verdicts that are not known the least counts */
	assert_int_equal(pm_result_put(db, &res, &is_new, NULL), PM_OK);
	assert_true(is_new);
	assert_int_equal(pm_result_is_done(db, run, task, 1, &done, NULL), PM_OK);
	assert_true(done);
	assert_int_equal(pm_result_is_done(db, run, task, 0, &done, NULL), PM_OK);
	assert_false(done);
	res.ordinal = 0;
	res.stage = "correctness";
	res.speedup = NAN;
	assert_int_equal(pm_result_put(db, &res, &is_new, NULL), PM_OK);
	res.ordinal = 2; /* no such variant */
	assert_int_equal(pm_result_put(db, &res, &is_new, &err), PM_E_CONFLICT);
	assert_int_equal(pm_results_each(db, run, see_result, &seen, NULL), PM_OK);
	assert_string_equal(seen.s, "0 wrong correctness -1;1 correct speed 125;");
	assert_int_equal(pm_run_finish(db, run, NULL), PM_OK);
	assert_int_equal(pm_run_finish(db, 1234, &err), PM_E_NOT_FOUND);
	pm_str_release(&seen);
	pm_db_close(db);
}

static PmStatus see_run(void *arg, const PmRunRow *row, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%llu %d;", (unsigned long long)row->seed, row->finished > 0);
	return PM_OK;
}

static void runs_keep_all_64_bits_of_the_seed(void **state)
{
	PmDb *db = open_db(*state);
	PmRunRow r = { 0, 0, "", "", "emu", UINT64_MAX, "1.0", "", 0, 0, "", "", "" };
	PmStr seen = PM_STR_INIT;
	int64_t run;

	assert_int_equal(pm_run_put(db, &r, &run, NULL, NULL), PM_OK);
	assert_int_equal(pm_run_finish(db, run, NULL), PM_OK);
	assert_int_equal(pm_runs_each(db, 0, see_run, &seen, NULL), PM_OK);
	assert_string_equal(seen.s, "18446744073709551615 1;");
	pm_str_release(&seen);
	pm_db_close(db);
}

/* ---- batches ---- */

static void a_batch_is_all_or_nothing(void **state)
{
	PmDb *db = open_db(*state);
	PmModelRow m = model(1);
	PmErr err;
	int64_t id;

	assert_int_equal(pm_db_begin(db, NULL), PM_OK);
	assert_int_equal(pm_model_put(db, &m, &id, NULL), PM_OK);
	put_relu(db, 3, NULL);
	pm_db_rollback(db);
	assert_int_equal(stats(db).models + stats(db).subgraphs, 0);
	assert_int_equal(pm_db_commit(db, &err), PM_E_INVALID);

	assert_int_equal(pm_db_begin(db, NULL), PM_OK);
	assert_int_equal(pm_db_begin(db, NULL), PM_OK);
	assert_int_equal(pm_model_put(db, &m, &id, NULL), PM_OK);
	assert_int_equal(pm_db_commit(db, NULL), PM_OK);
	put_relu(db, 3, NULL);
	assert_int_equal(pm_db_commit(db, NULL), PM_OK);
	pm_db_close(db);

	db = open_db(*state);
	assert_int_equal(stats(db).models + stats(db).subgraphs, 2);
	assert_int_equal(pm_db_begin(db, NULL), PM_OK);
	put_relu(db, 4, NULL);
	pm_db_close(db); /* without a commit */
	db = open_db(*state);
	assert_int_equal(stats(db).subgraphs, 1);
	pm_db_close(db);
}

static void a_failed_call_inside_a_batch_undoes_only_itself(void **state)
{
	PmDb *db = open_db(*state);
	PmModelRow m = model(1);
	PmErr err;
	int64_t id;

	assert_int_equal(pm_db_begin(db, NULL), PM_OK);
	assert_int_equal(pm_model_put(db, &m, &id, NULL), PM_OK);
	m.sha256 = "short";
	assert_int_equal(pm_model_put(db, &m, &id, &err), PM_E_CONFLICT);
	put_relu(db, 3, NULL);
	assert_int_equal(pm_db_commit(db, NULL), PM_OK);
	assert_int_equal(stats(db).models, 1);
	assert_int_equal(stats(db).subgraphs, 1);
	pm_db_close(db);
}

/* ---- several processes ---- */

enum { ROWS = 150, WRITERS = 2 };

/* What one writer stores: the same models, subgraphs and task as every other, some in batches. Returns 0 when
 * all calls succeeded. */
static int write_all(const Box *b, int who)
{
	PmDb *db = NULL;
	int bad = 0, k;

	if (pm_db_open(b->path.s, 0, &db, NULL))
		return 1;
	for (k = 0; k < ROWS; k++) {
		int n = 1 + (who ? ROWS - 1 - k : k), batch = k % 3 == who;
		PmNode node = { (uint32_t)n };
		PmModelRow m = model(n);
		PmGraph *g = relu(n);
		int64_t mid = 0, sid = 0;

		if (batch)
			bad |= pm_db_begin(db, NULL);
		bad |= pm_model_put(db, &m, &mid, NULL);
		bad |= pm_subgraph_put(db, g, NULL, "fusible", &sid, NULL, NULL);
		bad |= pm_occurrence_put(db, mid, sid, &node, 1, NULL);
		if (batch)
			bad |= pm_db_commit(db, NULL);
		pm_graph_free(g);
	}
	make_task(db, "shared", 1, 5, NULL);
	pm_db_close(db);
	return bad != 0;
}

static void two_writers_at_once_both_succeed(void **state)
{
	PmDb *db;
	pid_t pid[WRITERS];
	int k, status;

	for (k = 0; k < WRITERS; k++) {
		pid[k] = fork();
		assert_true(pid[k] >= 0);
		if (pid[k] == 0)
			_exit(write_all(*state, k)); /* both make the file and its tables */
	}
	for (k = 0; k < WRITERS; k++) {
		assert_int_equal(waitpid(pid[k], &status, 0), pid[k]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	db = open_db(*state);
	assert_int_equal(stats(db).models, ROWS);
	assert_int_equal(stats(db).subgraphs, ROWS);
	assert_int_equal(stats(db).occurrences, ROWS);
	assert_int_equal(stats(db).tasks, 1);
	assert_int_equal(stats(db).members, 5);
	pm_db_close(db);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(opening_makes_tables),
		CASE(a_newer_or_foreign_database_is_refused),
		CASE(a_missing_or_unwritable_path_is_a_sentence),
		CASE(what_may_not_be_written_is_read),
		CASE(reading_only_refuses_to_store),
		CASE(models_are_named_by_content_and_resume),
		CASE(subgraphs_and_occurrences_are_stored_once),
		CASE(a_subgraph_is_read_back_and_found_by_hash),
		CASE(tasks_are_named_by_their_members),
		CASE(runs_and_results_resume),
		CASE(runs_keep_all_64_bits_of_the_seed),
		CASE(a_batch_is_all_or_nothing),
		CASE(a_failed_call_inside_a_batch_undoes_only_itself),
		CASE(two_writers_at_once_both_succeed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
