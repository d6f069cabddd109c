/* SPDX-License-Identifier: Apache-2.0 */
/* test_dataset_jsonl.c - JSON Lines out and in, merging, migration, questions in SQL, and plans of queries.
 */
#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/select/split.h"
#include "dataset/store/bucket.h"
#include "dataset/store/db_priv.h"
#include "dataset/store/jsonl.h"
#include "dataset/store/models.h"
#include "dataset/store/results.h"
#include "dataset/store/rewrites.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tags.h"
#include "dataset/store/tasks.h"
#include "dataset/store/trajectories.h"
#include "ir/text/text.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Box {
	PmStr dir;
	PmStr path[3];
} Box;

static int set_up(void **state)
{
	static Box b;

	pm_str_init(&b.dir);
	assert_int_equal(pm_temp_dir("jsonl", &b.dir, NULL), PM_OK);
	for (int k = 0; k < 3; k++) {
		char name[16];

		snprintf(name, sizeof name, "%d.db", k);
		pm_str_init(&b.path[k]);
		pm_path_join(b.dir.s, name, &b.path[k]);
	}
	*state = &b;
	return 0;
}

static int tear_down(void **state)
{
	Box *b = *state;

	assert_int_equal(pm_remove_tree(b->dir.s, NULL), PM_OK);
	pm_str_release(&b->dir);
	for (int k = 0; k < 3; k++)
		pm_str_release(&b->path[k]);
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

/* n different graphs; `swapped` lists inputs and independent nodes in the other order: the same graph. */
static PmGraph *graph(int n, int swapped)
{
	if (swapped)
		return pm_test_graphf("g (float[%d,2] b, float[%d,2] a) => (float[%d,2] y) "
				      "{ u = Tanh (b)\n t = Relu (a)\n y = Sub (t, u) }",
				      n, n, n);
	return pm_test_graphf("g (float[%d,2] a, float[%d,2] b) => (float[%d,2] y) "
			      "{ t = Relu (a)\n u = Tanh (b)\n y = Sub (t, u) }",
			      n, n, n);
}

enum { MODELS = 4, GRAPHS = 9 };

static void put_model(PmDb *db, int k, int other_path)
{
	char sha[65], path[32];
	PmModelRow m = { 0, sha, path,   other_path ? "copy" : "model", 17,
			 5, 1,   k != 3, k == 3 ? "broken" : "",        "arch" };
	int64_t model, sub;

	snprintf(sha, sizeof sha, "%064x", (unsigned)(k * 7919 + 1));
	snprintf(path, sizeof path, "%s/%d.onnx", other_path ? "b" : "a", k);
	assert_int_equal(pm_model_put(db, &m, &model, NULL), PM_OK);
	for (int i = 0; i < GRAPHS; i++) {
		PmGraph *g = graph(1 + (i * (k + 1)) % 11, (i + other_path) & 1);
		PmNode nodes[] = { { (uint32_t)(3 * i + 1) }, { (uint32_t)(3 * i + 2) } };

		assert_int_equal(
			pm_subgraph_put(db, g, NULL, i & 2 ? "classical" : "fusible", &sub, NULL, NULL),
			PM_OK);
		assert_int_equal(pm_occurrence_put(db, model, sub, nodes, 2, NULL), PM_OK);
		pm_graph_free(g);
	}
}

static int64_t put_task(PmDb *db, const char *name, int first)
{
	PmTaskBuilder *b = pm_task_begin(name, "fusible");
	int64_t id = 0;

	for (int k = 0; k < 3; k++) {
		PmGraph *g = graph(first + k, 0);

		assert_int_equal(pm_task_add(b, g, k ? "other" : "first", k, PM_F32, NULL), PM_OK);
		pm_graph_free(g);
	}
	assert_int_equal(pm_task_end(b, db, &id, NULL, NULL), PM_OK);
	return id;
}

static void put_run(PmDb *db, int64_t task)
{
	PmRunRow r = { 0, task, "p.so", "00ff", "emu", 7, "1", "", 1000, 0, "", "", "" };
	PmResultRow res = { 0, task, 1, "correct", "speed", 1.25, "{}", 0 };
	char code[PM_SHA256_HEX];
	const char *sources[] = { "void f(void)", "void g(void)" };
	PmRewriteRow w = { 0, 0, code, "g (float[2] x) => (float[2] y) { y = Relu (x) }" };
	char digest[] = "1111111111111111111111111111111111111111111111111111111111111111";
	PmProfileRow p = { task, 1, digest, "emu", "p.so", "1", "{}" };

	pm_sha256_hex("code", 4, code);
	assert_int_equal(pm_run_put(db, &r, &res.run, NULL, NULL), PM_OK);
	assert_int_equal(pm_rewrite_put(db, res.run, &w, sources, 2, &res.rewrite, NULL), PM_OK);
	assert_int_equal(pm_profile_put(db, &p, NULL), PM_OK);
	assert_int_equal(pm_result_put(db, &res, NULL, NULL), PM_OK);
	res.ordinal = 0;
	res.rewrite = 0;
	res.speedup = NAN;
	assert_int_equal(pm_result_put(db, &res, NULL, NULL), PM_OK);
}

static void put_trajectories(PmDb *db, int reversed)
{
	for (int k = 0; k < 2; k++) {
		PmTrajectoryRow t = { .kind = (k ^ reversed) ? "mcp" : "agent",
				      .instance = "x",
				      .started = 5 };
		PmStepRow s = { .role = "tool",
				.score = 1.5,
				.at = 6,
				.seconds = NAN,
				.tokens_in = -1,
				.tokens_out = 3,
				.money = NAN };

		assert_int_equal(pm_trajectory_begin(db, &t, &s.trajectory, NULL, NULL), PM_OK);
		assert_int_equal(pm_step_add(db, &s, NULL, NULL), PM_OK);
		assert_int_equal(pm_step_add(db, &s, NULL, NULL), PM_OK);
	}
}

/* Fills a database; `reversed` turns every order around. */
static void fill(PmDb *db, int reversed)
{
	int64_t a;

	for (int i = 0; i < 2 * MODELS; i++) {
		int k = reversed ? 2 * MODELS - 1 - i : i;

		put_model(db, k % MODELS, k >= MODELS);
	}
	if (reversed)
		put_task(db, "b", 5);
	a = put_task(db, "a", 2);
	put_run(db, a);
	assert_int_equal(pm_task_tag_set(db, a, reversed ? "level" : "suite", reversed ? "2" : "metr", NULL),
			 PM_OK);
	assert_int_equal(pm_task_tag_set(db, a, reversed ? "suite" : "level", reversed ? "metr" : "2", NULL),
			 PM_OK);
	if (!reversed)
		put_task(db, "b", 5);
	put_trajectories(db, reversed);
}

static void export_to(PmDb *db, PmStr *out)
{
	FILE *f = tmpfile();
	char buf[4096];
	size_t n;
	PmErr err;

	pm_err_init(&err);
	assert_non_null(f);
	if (pm_db_export(db, f, &err))
		fail_msg("%s", err.text);
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

/* The transaction is gone below the batch, as after a full disk: the step does not count as stored. */
static void a_step_that_cannot_be_ended_voids_the_batch(void **state)
{
	for (int fails = 0; fails < 2; fails++) {
		PmDb *db = open_db(*state, fails);
		PmErr err;

		pm_err_init(&err);
		assert_int_equal(pm_db_begin(db, &err), PM_OK);
		assert_int_equal(pm__db_enter(db, &err), PM_OK);
		assert_int_equal(sqlite3_exec(db->sq, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
		assert_int_not_equal(pm__db_leave(db, fails ? PM_E_INVALID : PM_OK, &err), PM_OK);
		assert_int_equal(pm_db_commit(db, &err), PM_E_INVALID);
		assert_non_null(strstr(err.text, "no batch is open"));
		assert_int_equal(pm_db_begin(db, NULL), PM_OK);
		assert_int_equal(pm_db_commit(db, NULL), PM_OK);
		pm_db_close(db);
	}
}

static PmStatus tag_to_text(void *arg, int64_t task, const char *key, const char *value, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%lld %s=%s;", (long long)task, key, value);
	return PM_OK;
}

static void a_task_has_one_value_under_a_key(void **state)
{
	PmDb *db = open_db(*state, 0);
	PmStr text = PM_STR_INIT;
	PmErr err;
	int64_t a = put_task(db, "a", 2), b = put_task(db, "b", 5);

	pm_err_init(&err);
	assert_int_equal(pm_task_tag_set(db, a, "suite", "metr", &err), PM_OK);
	assert_int_equal(pm_task_tag_set(db, a, "level", "1", &err), PM_OK);
	assert_int_equal(pm_task_tag_set(db, a, "level", "3", &err), PM_OK);
	assert_int_equal(pm_task_tag_set(db, b, "level", "2", &err), PM_OK);
	assert_int_equal(pm_task_tags_each(db, a, tag_to_text, &text, &err), PM_OK);
	assert_string_equal(text.s, "1 level=3;1 suite=metr;");
	assert_int_equal(pm_task_tag_set(db, a, "suite", "", &err), PM_OK);
	pm_str_clear(&text);
	assert_int_equal(pm_task_tags_each(db, 0, tag_to_text, &text, &err), PM_OK);
	assert_string_equal(text.s, "1 level=3;2 level=2;");
	assert_int_equal(pm_task_tag_set(db, a, "Level", "1", &err), PM_E_INVALID);
	assert_int_equal(pm_task_tag_set(db, a, "", "1", &err), PM_E_INVALID);
	assert_int_equal(pm_task_tag_set(db, 99, "level", "1", &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "no task 99"));
	pm_str_release(&text);
	pm_db_close(db);
}

static void two_orders_export_the_same_bytes(void **state)
{
	PmDb *a = open_db(*state, 0), *b = open_db(*state, 1);
	PmStr ea = PM_STR_INIT, eb = PM_STR_INIT;

	fill(a, 0);
	fill(b, 1);
	export_to(a, &ea);
	export_to(b, &eb);
	assert_true(ea.len > 2000);
	assert_string_equal(ea.s, eb.s);
	pm_str_release(&ea);
	pm_str_release(&eb);
	pm_db_close(a);
	pm_db_close(b);
}

static void what_is_exported_imports_and_merges_whole(void **state)
{
	PmDb *a = open_db(*state, 0), *b = open_db(*state, 1), *c = open_db(*state, 2);
	PmStr ea = PM_STR_INIT, eb = PM_STR_INIT, ec = PM_STR_INIT;
	PmErr err;
	int64_t n = 0;

	fill(a, 0);
	export_to(a, &ea);
	assert_int_equal(import_text(b, ea.s, &err), PM_OK);
	assert_int_equal(import_text(b, ea.s, &err), PM_OK); /* again: nothing new */
	export_to(b, &eb);
	assert_string_equal(ea.s, eb.s);
	assert_non_null(strstr(eb.s, "\"tags\":{\"level\":\"2\",\"suite\":\"metr\"}"));

	/* Two databases that share half of what they hold. */
	put_model(c, 0, 1);
	put_model(c, 1, 0);
	put_task(c, "a", 2);
	assert_int_equal(pm_db_merge(c, a, &n, &err), PM_OK);
	assert_true(n > 10);
	export_to(c, &ec);
	assert_string_equal(ea.s, ec.s);
	pm_str_release(&ea);
	pm_str_release(&eb);
	pm_str_release(&ec);
	pm_db_close(a);
	pm_db_close(b);
	pm_db_close(c);
}

static void replace_once(PmStr *s, const char *from, const char *to)
{
	char *p = strstr(s->s, from);

	assert_non_null(p);
	assert_int_equal(strlen(from), strlen(to));
	memcpy(p, to, strlen(to));
}

static void a_changed_export_is_refused(void **state)
{
	static const char *const edit[][2] = {
		{ "Tanh", "Relu" }, /* the graph is not what its hash says */
		{ "\"row\":\"task\"", "\"row\":\"tusk\"" },
		{ "\"kind\":\"fusible\"", "\"kind\":\"fusable\"" }, /* the task's hash covers its kind */
		{ "\"nodes\":\"1,2\"", "\"nodes\":\"1;2\"" },
		{ "\"row\":\"subgraph\"", "\"row\":\"sub_raph\"" },
		{ "void f", "void h" },     /* a source is what its digest says, */
		{ "y = Relu", "y = Tanh" }, /* and so is a rewritten graph */
		{ "\"row\":\"source\"", "\"row\":\"sourse\"" },
		{ "\"json\":\"{}\",\"ordinal\":1", "\"json\":\"{}\",\"ordinal\":9" },
	};
	PmDb *a = open_db(*state, 0), *b = open_db(*state, 1);
	PmErr err;

	fill(a, 0);
	for (size_t k = 0; k < sizeof edit / sizeof *edit; k++) {
		PmStr e = PM_STR_INIT;

		export_to(a, &e);
		replace_once(&e, edit[k][0], edit[k][1]);
		assert_int_equal(import_text(b, e.s, &err), PM_E_INVALID);
		assert_non_null(strstr(err.text, "file.jsonl, line "));
		pm_str_release(&e);
	}
	assert_int_equal(import_text(b, "not json\n", &err), PM_E_INVALID);
	assert_int_equal(import_text(b, "{\"row\":\"run\",\"key\":\"x\"}\n", &err), PM_E_INVALID);
	assert_int_equal(import_text(b, "", &err), PM_OK);
	pm_db_close(a);
	pm_db_close(b);
}

static PmStatus join_row(void *arg, size_t n, const char *const *names, const char *const *values, PmErr *err)
{
	(void)err;
	for (size_t k = 0; k < n; k++)
		pm_str_addf(arg, "%s=%s;", names[k], values[k] ? values[k] : "NULL");
	return PM_OK;
}

static void questions_only_read(void **state)
{
	PmDb *db = open_db(*state, 0);
	PmStr s = PM_STR_INIT;
	PmErr err;

	put_model(db, 0, 0);
	assert_int_equal(pm_db_query(db, "SELECT count(*) AS n, NULL AS x FROM models;", join_row, &s, &err),
			 PM_OK);
	assert_string_equal(s.s, "n=1;x=NULL;");
	assert_int_equal(pm_db_query(db, "DELETE FROM models", join_row, &s, &err), PM_E_INVALID);
	assert_int_equal(pm_db_query(db, "SELECT 1; DELETE FROM models", join_row, &s, &err), PM_E_INVALID);
	assert_int_equal(pm_db_query(db, "SELEC 1", join_row, &s, &err), PM_E_INVALID);
	assert_int_equal(pm_db_query(db, "", join_row, &s, &err), PM_E_INVALID);
	pm_str_clear(&s);
	assert_int_equal(pm_db_query(db, "SELECT count(*) AS n FROM models", join_row, &s, &err), PM_OK);
	assert_string_equal(s.s, "n=1;");
	pm_str_release(&s);
	pm_db_close(db);
}

/* Makes a database as version 1 of the program left it. */
static void make_version_1(const Box *b)
{
	PmStr sql = PM_STR_INIT, text = PM_STR_INIT;
	PmGraph *g = graph(300, 0);
	PmGraphKey key;
	char *end;
	sqlite3 *sq = NULL;

	assert_int_equal(pm_graph_key(g, &key, NULL), PM_OK);
	assert_int_equal(pm_graph_print(g, &(PmPrintOpts){ .renumber = 1 }, &text, NULL), PM_OK);
	assert_int_equal(pm_read_file("dataset/store/schema.sql", 0, &sql, NULL), PM_OK);
	end = strstr(sql.s, "-- migration 2");
	assert_non_null(end);
	*end = '\0';
	sql.len = (size_t)(end - sql.s);
	pm_str_addf(&sql,
		    "INSERT INTO op_seqs (text) VALUES ('Relu,Tanh,Sub');"
		    "INSERT INTO subgraphs (hash, structure, shapes, kind, n_nodes, op_seq, text) "
		    "VALUES ('%s', '%s', '%s', 'fusible', 3, 1, '%s');"
		    "INSERT INTO tasks (hash, name, kind) VALUES ('%s', 'old', 'fusible');"
		    "INSERT INTO members (task, ordinal, subgraph, label, shape, dtype) "
		    "VALUES (1, 0, 1, 'x', 0, 'float');"
		    "PRAGMA user_version = 1; PRAGMA application_id = %d;",
		    key.full, key.structure, key.shapes, text.s, key.full, 0x506d4453);
	assert_int_equal(sqlite3_open(b->path[0].s, &sq), SQLITE_OK);
	if (sqlite3_exec(sq, sql.s, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(sq));
	sqlite3_close(sq);
	pm_graph_free(g);
	pm_str_release(&sql);
	pm_str_release(&text);
}

static void a_database_of_version_1_is_brought_up_to_date(void **state)
{
	PmStr s = PM_STR_INIT;
	PmErr err;
	PmDb *db;

	make_version_1(*state);
	assert_int_equal(pm_db_open(((Box *)*state)->path[0].s, PM_DB_READ_ONLY, &db, &err),
			 PM_E_UNSUPPORTED);
	db = open_db(*state, 0);
	assert_int_equal(
		pm_db_query(db,
			    "SELECT k.kind, b.shapes, b.dtypes, q.text, s.category, t.name, t.split, m.base "
			    "FROM subgraphs s JOIN kinds k ON k.subgraph = s.id "
			    "JOIN buckets b ON b.id = s.bucket JOIN op_seqs q ON q.id = b.op_seq "
			    "JOIN members m ON m.subgraph = s.id JOIN tasks t ON t.id = m.task",
			    join_row, &s, &err),
		PM_OK);
	assert_string_equal(s.s, "kind=fusible;shapes=[2,0][2,0];dtypes=float,float;text=Relu,Tanh,Sub;"
				 "category=activation;name=old;split=;base=NULL;");
	pm_str_release(&s);
	pm_db_close(db);
}

static void size_classes_are_exact(void **state)
{
	static const struct {
		int64_t d;
		int b;
	} want[] = { { INT64_MIN, -1 },
		     { -1, -1 },
		     { 0, -1 },
		     { 1, 0 },
		     { 15, 0 },
		     { 16, 1 },
		     { 255, 1 },
		     { 256, 2 },
		     { 4095, 2 },
		     { 4096, 3 },
		     { 65535, 3 },
		     { 65536, 4 },
		     { (1ll << 56) - 1, 13 },
		     { 1ll << 56, 14 },
		     { INT64_MAX, 15 } };

	(void)state;
	for (size_t k = 0; k < sizeof want / sizeof *want; k++)
		assert_int_equal(pm_dim_bucket(want[k].d), want[k].b);
}

static void shrinking_keeps_everything(void **state)
{
	PmDb *db = open_db(*state, 0);
	PmStr before = PM_STR_INIT, after = PM_STR_INIT;
	PmErr err;

	fill(db, 0);
	export_to(db, &before);
	assert_int_equal(pm_db_vacuum(db, &err), PM_OK);
	export_to(db, &after);
	assert_string_equal(before.s, after.s);
	pm_str_release(&before);
	pm_str_release(&after);
	pm_db_close(db);
}

/* ---- plans ---- */

static PmStatus nothing(void *arg, sqlite3_stmt *row, PmErr *err)
{
	(void)arg;
	(void)row;
	(void)err;
	return PM_OK;
}

#define NOTHING(type, name)                                                                                  \
	static PmStatus name(void *arg, const type *row, PmErr *err)                                         \
	{                                                                                                    \
		(void)arg;                                                                                   \
		(void)row;                                                                                   \
		(void)err;                                                                                   \
		return PM_OK;                                                                                \
	}
NOTHING(PmModelRow, no_model)
NOTHING(PmSubgraphRow, no_subgraph)
NOTHING(PmOccurrenceRow, no_occurrence)
NOTHING(PmTaskRow, no_task)
NOTHING(PmVariantRow, no_member)
NOTHING(PmRunRow, no_run)
NOTHING(PmResultRow, no_result)
NOTHING(PmScoreRow, no_score)
NOTHING(PmTrajectoryRow, no_trajectory)
NOTHING(PmStepRow, no_step)
NOTHING(PmRewriteRow, no_rewrite)
NOTHING(PmProfileRow, no_profile)

static PmStatus no_source(void *arg, const char *sha256, const char *text, PmErr *err)
{
	(void)arg;
	(void)err;
	return sha256 && text ? PM_OK : PM_E_INVALID;
}

static PmStatus no_count(void *arg, int64_t model, int64_t subgraph, int64_t count, PmErr *err)
{
	(void)arg;
	(void)err;
	return model && subgraph && count ? PM_OK : PM_E_INVALID;
}

/* Makes the program ask everything it ever asks. */
static void ask_everything(PmDb *db, PmDb *other)
{
	PmDbStats s;
	int64_t id;
	int done;
	PmGraph *g;

	fill(db, 0);
	assert_int_equal(pm_db_merge(db, other, NULL, NULL), PM_OK);
	assert_int_equal(pm_db_merge(other, db, NULL, NULL), PM_OK);
	assert_int_equal(pm_db_stats(db, &s, NULL), PM_OK);
	assert_int_equal(pm_models_each(db, no_model, NULL, NULL), PM_OK);
	for (int k = 0; k < 4; k++)
		assert_int_equal(pm_subgraphs_each(db, k & 1 ? "fusible" : NULL, k & 2 ? 1 : 0, no_subgraph,
						   NULL, NULL),
				 PM_OK);
	assert_int_equal(pm_occurrences_each(db, 1, no_occurrence, NULL, NULL), PM_OK);
	assert_int_equal(pm_subgraph_get(db, 1, &g, NULL), PM_OK);
	pm_graph_free(g);
	pm_subgraph_find(db, "0123456789", &id, NULL);
	assert_int_equal(pm_tasks_each(db, no_task, NULL, NULL), PM_OK);
	assert_int_equal(pm_tasks_of_split(db, "eval", no_task, NULL, NULL), PM_OK);
	assert_int_equal(pm_task_get(db, 1, no_task, NULL, NULL), PM_OK);
	assert_int_equal(pm_leakage_check(db, NULL, NULL, NULL, NULL), PM_OK);
	assert_int_equal(pm_rejected_has(db, "0", &done, NULL), PM_OK);
	pm_task_find(db, "1", &id, NULL);
	pm_task_find(db, "0123456789", &id, NULL);
	assert_int_equal(pm_task_variants_each(db, 1, no_member, NULL, NULL), PM_OK);
	assert_int_equal(pm_provenance_each(db, no_count, NULL, NULL), PM_OK);
	assert_int_equal(pm_scores_each(db, "OK", no_score, NULL, NULL), PM_OK);
	assert_int_equal(pm_runs_each(db, 0, no_run, NULL, NULL), PM_OK);
	assert_int_equal(pm_runs_each(db, 1, no_run, NULL, NULL), PM_OK);
	assert_int_equal(pm_results_each(db, 1, no_result, NULL, NULL), PM_OK);
	assert_int_equal(pm_result_is_done(db, 1, 1, 1, &done, NULL), PM_OK);
	assert_int_equal(pm_run_finish(db, 1, NULL), PM_OK);
	assert_int_equal(pm_rewrites_each(db, 1, no_rewrite, NULL, NULL), PM_OK);
	assert_int_equal(pm_rewrite_sources_each(db, 1, no_source, NULL, NULL), PM_OK);
	assert_int_equal(pm_profiles_each(db, 1, no_profile, NULL, NULL), PM_OK);
	assert_int_equal(pm_trajectories_each(db, NULL, no_trajectory, NULL, NULL), PM_OK);
	assert_int_equal(pm_trajectory_get(db, 1, no_trajectory, NULL, NULL), PM_OK);
	assert_int_equal(pm_steps_each(db, 1, no_step, NULL, NULL), PM_OK);
	pm_trajectory_find(db, "1", &id, NULL);
	pm_trajectory_find(db, "0123456789ab", &id, NULL);
	assert_int_equal(pm_trajectory_end(db, 1, "done", NULL), PM_OK);
	assert_int_equal(pm__subgraphs_fill_buckets(db, NULL), PM_OK);
	assert_int_equal(pm_tasks_drop_splits(db, &id, NULL), PM_OK);
	assert_int_equal(pm__db_each(db, "test", nothing, NULL, NULL, NULL,
				     "SELECT text FROM subgraphs WHERE n_nodes = 3", ""),
			 PM_OK); /* the one that has no index: the test must see it */
}

/* How many steps of a plan read a whole table or index to find some of its rows. */
static int full_scans(sqlite3 *sq, const char *sql)
{
	PmStr ask = PM_STR_INIT, made = PM_STR_INIT;
	sqlite3_stmt *st = NULL;
	int n = 0;

	pm_str_addf(&ask, "EXPLAIN QUERY PLAN %s", sql);
	assert_int_equal(sqlite3_prepare_v2(sq, ask.s, -1, &st, NULL), SQLITE_OK);
	while (sqlite3_step(st) == SQLITE_ROW) {
		const char *step = (const char *)sqlite3_column_text(st, 3);
		char name[64];

		if (sscanf(step, "CO-ROUTINE %60s", name) == 1 || sscanf(step, "MATERIALIZE %60s", name) == 1)
			pm_str_addf(&made, " %s ", name);
		if (sscanf(step, "SCAN %60s", name) == 1) {
			PmStr word = PM_STR_INIT;

			pm_str_addf(&word, " %s ", name); /* rows of an inner query were found by it */
			n += strstr(made.s, word.s) == NULL && strcmp(name, "CONSTANT");
			pm_str_release(&word);
		}
	}
	sqlite3_finalize(st);
	pm_str_release(&ask);
	pm_str_release(&made);
	return n;
}

/* Whether the statement itself, not a part in parentheses, asks for some rows only. */
static int has_condition(const char *sql)
{
	int depth = 0;

	for (; *sql; sql++) {
		depth += (*sql == '(') - (*sql == ')');
		if (depth == 0 && strncmp(sql, "WHERE", 5) == 0)
			return 1;
	}
	return 0;
}

/* A statement without a condition reads its own table whole; what it looks up for each row must be found. */
static void no_query_scans_a_table_for_some_of_its_rows(void **state)
{
	PmDb *db = open_db(*state, 0), *other = open_db(*state, 1);
	int scans = 0, asked = 0;

	put_model(other, 2, 1);
	ask_everything(db, other);
	for (size_t k = 0; k < db->n_cache; k++) {
		const char *sql = db->cache[k].sql;

		if (strncmp(sql, "PRAGMA", 6) == 0)
			continue;
		asked++;
		if (full_scans(db->sq, sql) > !has_condition(sql)) {
			scans++;
			if (!strstr(sql, "n_nodes = 3"))
				fail_msg("scans a whole table: %s", sql);
		}
	}
	assert_true(asked >= 60);
	assert_int_equal(scans, 1);
	assert_true(db->n_cache < PM_DB_CACHE);
	pm_db_close(db);
	pm_db_close(other);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_task_has_one_value_under_a_key),
		CASE(two_orders_export_the_same_bytes),
		CASE(what_is_exported_imports_and_merges_whole),
		CASE(a_changed_export_is_refused),
		CASE(a_step_that_cannot_be_ended_voids_the_batch),
		CASE(questions_only_read),
		CASE(a_database_of_version_1_is_brought_up_to_date),
		CASE(size_classes_are_exact),
		CASE(shrinking_keeps_everything),
		CASE(no_query_scans_a_table_for_some_of_its_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
