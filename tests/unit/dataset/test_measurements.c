/* SPDX-License-Identifier: Apache-2.0 */
/* test_measurements.c - measurements: which one counts, merges in any order, databases of version 13. */
#include "base/core/rng.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/store/db_priv.h"
#include "dataset/store/jsonl.h"
#include "dataset/store/measurements.h"
#include "dataset/store/tasks.h"
#include "matcher/host/verdict.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PARTS = 5, PATHS = 16, VARIANTS = 3, RUNS = 2 };

typedef struct Box {
	PmStr dir;
	PmStr path[PATHS];
} Box;

static int set_up(void **state)
{
	static Box b;

	pm_str_init(&b.dir);
	assert_int_equal(pm_temp_dir("measure", &b.dir, NULL), PM_OK);
	for (int k = 0; k < PATHS; k++) {
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
	for (int k = 0; k < PATHS; k++)
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

static int64_t put_task(PmDb *db)
{
	PmTaskBuilder *t = pm_task_begin("t", "fusible");
	int64_t id = 0;

	for (int k = 0; k < VARIANTS; k++) {
		PmGraph *g = pm_test_graphf("g (float[%d] x) => (float[%d] y) { y = Relu (x) }", k + 2,
					    k + 2);

		assert_int_equal(pm_task_add(t, g, k ? "other" : "first", k, PM_F32, NULL), PM_OK);
		pm_graph_free(g);
	}
	assert_int_equal(pm_task_end(t, db, &id, NULL, NULL), PM_OK);
	return id;
}

static int64_t put_run(PmDb *db, int64_t task, int k)
{
	PmRunRow r = { .task = task,
		       .pass_path = "p.so",
		       .pass_sha256 = k ? "01" : "00",
		       .device = "emu",
		       .version = "1",
		       .options = "o",
		       .started = 7 };
	int64_t id = 0;

	assert_int_equal(pm_run_put(db, &r, &id, NULL, NULL), PM_OK);
	return id;
}

static int store(PmDb *db, int64_t run, int64_t task, const char *verdict, double speedup, const char *json,
		 const char *node)
{
	PmMeasurement m = { .result = { run, task, 0, verdict, "speed", speedup, json, 0 },
			    .origin = { .node = node, .element = -1 },
			    .at = 100 };
	int is_new = -1;

	assert_int_equal(pm_measurement_put(db, &m, &is_new, NULL), PM_OK);
	return is_new;
}

static PmStatus join_row(void *arg, size_t n, const char *const *names, const char *const *values, PmErr *err)
{
	(void)names;
	(void)err;
	for (size_t k = 0; k < n; k++)
		pm_str_addf(arg, "%s%s", k ? " " : "", values[k] ? values[k] : "NULL");
	pm_str_add(arg, "\n");
	return PM_OK;
}

static void ask(PmDb *db, const char *sql, PmStr *out)
{
	PmErr err;

	pm_err_init(&err);
	pm_str_clear(out);
	if (pm_db_query(db, sql, join_row, out, &err))
		fail_msg("%s", err.text);
}

static void counts(PmDb *db, const char *want)
{
	PmStr s = PM_STR_INIT;

	ask(db, "SELECT verdict, speedup, json FROM results", &s);
	assert_string_equal(s.s, want);
	pm_str_release(&s);
}

/* ---- the rule ---- */

static int is_broken_rule(PmVerdict v)
{
	return v != PM_VERDICT_HARNESS_FAIL && !strcmp(pm_verdict_score_status(v), pm_verdict_name(v));
}

static void each_verdict_has_its_place(void **state)
{
	int unknown = pm_severity("no verdict"), honest = 0;
	char *seen = calloc((size_t)unknown + 1, 1);

	(void)state;
	assert_int_equal(unknown, PM_N_VERDICTS);
	assert_true(pm_verdict_is_decided("no verdict"));
	for (int v = 0; v < PM_N_VERDICTS; v++) {
		int k = pm_severity(pm_verdict_name((PmVerdict)v));

		if (k == unknown)
			fail_msg("severity.def has no row for %s.", pm_verdict_name((PmVerdict)v));
		assert_int_equal(seen[k]++, 0);
		if (!is_broken_rule((PmVerdict)v) && k > honest)
			honest = k;
	}
	for (int v = 0; v < PM_N_VERDICTS; v++)
		if (is_broken_rule((PmVerdict)v))
			assert_true(pm_severity(pm_verdict_name((PmVerdict)v)) > honest);
	assert_true(pm_severity("OK") < pm_severity("NO_MATCH"));
	assert_true(pm_severity("NO_MATCH") < pm_severity("INCORRECT"));
	assert_true(pm_severity("INCORRECT") < pm_severity("COMPILE_FAIL"));
	assert_true(pm_severity("NOT_CHECKED") < pm_severity("OK"));
	assert_false(pm_verdict_is_decided("NOT_CHECKED") || pm_verdict_is_decided("TIMING_UNSTABLE"));
	assert_true(pm_verdict_is_decided("OK") && pm_verdict_is_decided("INCORRECT"));
	free(seen);
}

static void the_worst_verdict_and_the_median_count(void **state)
{
	PmDb *db = open_db(*state, 0);
	int64_t task = put_task(db), run = put_run(db, task, 0);

	assert_true(store(db, run, task, "NOT_CHECKED", NAN, "a", ""));
	counts(db, "NOT_CHECKED NULL a\n");
	assert_true(store(db, run, task, "OK", 2, "b", ""));
	counts(db, "OK 2.0 b\n"); /* what was found out counts before what could not be */
	assert_true(store(db, run, task, "OK", 4, "c", ""));
	counts(db, "OK 2.0 b\n"); /* the lower one of two */
	assert_true(store(db, run, task, "OK", 3, "d", ""));
	counts(db, "OK 3.0 d\n"); /* the median */
	assert_true(store(db, run, task, "OK", NAN, "e", ""));
	counts(db, "OK 3.0 d\n"); /* one without a time is none of them */
	assert_true(store(db, run, task, "INCORRECT", NAN, "f", ""));
	counts(db, "INCORRECT NULL f\n");
	assert_true(store(db, run, task, "REJECT_PTX", NAN, "g", ""));
	assert_true(store(db, run, task, "INCORRECT", NAN, "h", ""));
	counts(db, "REJECT_PTX NULL g\n");
	pm_db_close(db);
}

static void the_same_measurement_is_one(void **state)
{
	PmDb *db = open_db(*state, 0);
	int64_t task = put_task(db), run = put_run(db, task, 0), other = put_run(db, task, 1);
	PmMeasurement m = { .result = { run, task, 0, "OK", "speed", 2, "b", 0 },
			    .origin = { .node = "n1", .element = -1 } };
	PmStr s = PM_STR_INIT;

	assert_true(store(db, run, task, "OK", 2, "b", "n1"));
	assert_false(store(db, run, task, "OK", 2, "b", "n1"));
	assert_true(store(db, run, task, "OK", 2, "b", "n2")); /* on another node it is another */
	assert_true(store(db, other, task, "OK", 2, "b", "n1"));
	assert_true(store(db, run, task, "OK", nextafter(2, 3), "b", "n1")); /* no digit is lost */
	ask(db, "SELECT count(*), count(DISTINCT key), count(DISTINCT origin) FROM measurements", &s);
	assert_string_equal(s.s, "4 4 2\n");

	m.at = 50; /* the earliest time stays, whatever is stored last */
	assert_int_equal(pm_measurement_put(db, &m, NULL, NULL), PM_OK);
	m.at = 70;
	assert_int_equal(pm_measurement_put(db, &m, NULL, NULL), PM_OK);
	m.at = 0;
	assert_int_equal(pm_measurement_put(db, &m, NULL, NULL), PM_OK);
	ask(db, "SELECT min(at), max(at), count(*) FROM measurements", &s);
	assert_string_equal(s.s, "50 100 4\n");
	pm_str_release(&s);
	pm_db_close(db);
}

static void a_connection_says_where_it_measures(void **state)
{
	PmDb *db = open_db(*state, 0);
	int64_t task = put_task(db), run = put_run(db, task, 0);
	PmOrigin o = { "n1", "4711", 3, 2, "NVIDIA H200", "GPU-1", "580.1", "SM 1980 MHz" };
	PmResultRow r = { run, task, 0, "OK", "speed", 2, "b", 0 };
	PmStr s = PM_STR_INIT;

	pm_db_set_origin(db, &o);
	assert_int_equal(pm_result_put(db, &r, NULL, NULL), PM_OK);
	assert_int_equal(pm_run_set_hidden(db, run, "OK", "{}", NULL), PM_OK);
	pm_db_set_origin(db, NULL);
	r.ordinal = 1;
	assert_int_equal(pm_result_put(db, &r, NULL, NULL), PM_OK);
	ask(db,
	    "SELECT ordinal, node, job, element, restarts, gpu, gpu_id, driver, clocks FROM measurements m "
	    "LEFT JOIN origins o ON o.id = m.origin WHERE at > 1000000000",
	    &s);
	assert_string_equal(s.s, "0 n1 4711 3 2 NVIDIA H200 GPU-1 580.1 SM 1980 MHz\n"
				 "1 NULL NULL NULL NULL NULL NULL NULL NULL\n");
	ask(db, "SELECT node FROM hidden_measurements h JOIN origins o ON o.id = h.origin", &s);
	assert_string_equal(s.s, "n1\n");
	assert_int_equal(pm_db_vacuum(db, NULL), PM_OK);
	ask(db, "SELECT count(*) FROM origins", &s);
	assert_string_equal(s.s, "1\n");
	pm_str_release(&s);
	pm_db_close(db);
}

static void hidden_verdicts_are_all_kept(void **state)
{
	PmDb *db = open_db(*state, 0);
	int64_t task = put_task(db), run = put_run(db, task, 0);
	PmStr s = PM_STR_INIT;

	assert_int_equal(pm_run_set_hidden(db, run, "OK", "a", NULL), PM_OK);
	assert_int_equal(pm_run_set_hidden(db, run, "INCORRECT", "b", NULL), PM_OK);
	assert_int_equal(pm_run_set_hidden(db, run, "NOT_CHECKED", "c", NULL), PM_OK);
	assert_int_equal(pm_run_set_hidden(db, run, "OK", "a", NULL), PM_OK);
	ask(db, "SELECT hidden, hidden_json, (SELECT count(*) FROM hidden_measurements) FROM runs", &s);
	assert_string_equal(s.s, "INCORRECT b 3\n");
	pm_str_release(&s);
	pm_db_close(db);
}

/* ---- merging in any order ---- */

/* Which variants, nodes and results there are is drawn; some parts hold the same. */
static void fill_part(PmDb *db, PmRng *rng)
{
	static const char *const verdicts[] = { "OK", "OK", "OK", "INCORRECT", "NOT_CHECKED", "REJECT_PTX" };
	static const char *const nodes[] = { "", "n1", "n2" };
	int64_t task = put_task(db);

	for (int k = 0; k < 12; k++) {
		uint64_t x = pm_rng_u64(rng);
		const char *verdict = verdicts[x % 6];
		PmMeasurement m = {
			.result = { put_run(db, task, (int)(x >> 8 & 1)), task, (int64_t)(x >> 16) % VARIANTS,
				    verdict, "speed",
				    strcmp(verdict, "OK") ? NAN : 1 + (double)(x >> 24 & 3) / 3,
				    x >> 32 & 1 ? "{}" : "{\"a\":1}", 0 },
			.origin = { .node = nodes[(x >> 40) % 3], .element = -1, .restarts = x >> 48 & 1 },
			.at = (int64_t)(x >> 52 & 3),
		};
		PmHiddenMeasurement h = {
			.run = m.result.run, .verdict = verdict, .json = "{}", .origin = m.origin, .at = m.at
		};

		assert_int_equal(pm_measurement_put(db, &m, NULL, NULL), PM_OK);
		if (x >> 60 & 1)
			assert_int_equal(pm_hidden_put(db, &h, NULL), PM_OK);
		if (x >> 61 & 1)
			assert_int_equal(pm_run_finish(db, m.result.run, NULL), PM_OK);
	}
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

static void merge(PmDb *to, PmDb *from)
{
	PmErr err;

	pm_err_init(&err);
	if (pm_db_merge(to, from, NULL, &err))
		fail_msg("%s", err.text);
}

/* All that a database holds, and what `results` and `runs` show. */
static void hold(PmDb *db, PmStr *out)
{
	PmStr s = PM_STR_INIT;

	export_to(db, out);
	ask(db,
	    "SELECT r.key, s.hash, x.verdict, x.speedup, x.json FROM results x JOIN runs r ON r.id = x.run "
	    "JOIN variants v USING (task, ordinal) JOIN subgraphs s ON s.id = v.subgraph ORDER BY 1, 2",
	    &s);
	pm_str_add(out, s.s);
	ask(db, "SELECT key, hidden, hidden_json, started, finished IS NULL FROM runs ORDER BY key", &s);
	pm_str_add(out, s.s);
	pm_str_release(&s);
}

/* The parts in one order, each merged into `to`, some by way of another database. */
static void merge_all(const Box *b, PmRng *rng, int to_path)
{
	PmDb *to = open_db(b, to_path), *between = open_db(b, to_path + 1);
	int order[PARTS];

	for (int k = 0; k < PARTS; k++)
		order[k] = k;
	for (int k = PARTS - 1; k > 0; k--) {
		int at = (int)(pm_rng_u64(rng) % (uint64_t)(k + 1)), was = order[k];

		order[k] = order[at];
		order[at] = was;
	}
	for (int k = 0; k < PARTS; k++) {
		PmDb *part = open_db(b, order[k]);
		int how = (int)(pm_rng_u64(rng) % 4);

		merge(how & 1 ? between : to, part);
		if (how == 2) /* twice is once */
			merge(to, part);
		if (how == 3)
			merge(to, between);
		pm_db_close(part);
	}
	merge(to, between);
	pm_db_close(between);
	pm_db_close(to);
}

static void the_order_of_merges_does_not_matter(void **state)
{
	const Box *b = *state;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		PmStr first = PM_STR_INIT, other = PM_STR_INIT;
		PmRng rng;
		PmDb *db;

		pm_rng_init(&rng, seed);
		for (int k = 0; k < PATHS; k++)
			remove(b->path[k].s);
		for (int k = 0; k < PARTS; k++) {
			db = open_db(b, k);
			fill_part(db, &rng);
			pm_db_close(db);
		}
		for (int k = PARTS; k + 1 < PATHS; k += 2) {
			merge_all(b, &rng, k);
			db = open_db(b, k);
			pm_str_clear(&other);
			hold(db, k == PARTS ? &first : &other);
			pm_db_close(db);
			if (k > PARTS)
				assert_string_equal(first.s, other.s);
		}
		assert_true(first.len > 3000);
		pm_str_release(&first);
		pm_str_release(&other);
	}
}

/* Two databases may number the variants of a task differently: results are of graphs. */
static void variants_are_found_by_their_graphs(void **state)
{
	PmDb *a = open_db(*state, 0), *b = open_db(*state, 1);
	int64_t task = put_task(a), run = put_run(a, task, 0);
	const char *query = "SELECT s.text, x.json FROM results x JOIN variants v USING (task, ordinal) "
			    "JOIN subgraphs s ON s.id = v.subgraph";
	PmStr want = PM_STR_INIT, is = PM_STR_INIT;

	assert_true(store(a, run, task, "OK", 2, "{}", "n1"));
	put_task(b);
	assert_int_equal(sqlite3_exec(b->sq,
				      "UPDATE variants SET ordinal = ordinal + 10;"
				      "UPDATE variants SET ordinal = 12 - ordinal",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	merge(b, a);
	ask(a, query, &want);
	ask(b, query, &is);
	assert_true(want.len > 10);
	assert_string_equal(want.s, is.s);
	ask(a, "SELECT key FROM measurements", &want);
	ask(b, "SELECT key FROM measurements", &is);
	assert_string_equal(want.s, is.s);
	pm_str_release(&want);
	pm_str_release(&is);
	pm_db_close(a);
	pm_db_close(b);
}

/* ---- databases of before ---- */

/* As version 13 of the tables left it: a run with hidden shapes, and two results. */
static void make_version_13(const char *path)
{
	PmStr sql = PM_STR_INIT;
	sqlite3 *sq = NULL;
	char *end, zeros[65], ones[65];

	memset(zeros, '0', 64);
	memset(ones, '1', 64);
	zeros[64] = ones[64] = 0;
	assert_int_equal(pm_read_file("dataset/store/schema.sql", 0, &sql, NULL), PM_OK);
	end = strstr(sql.s, "-- migration 14");
	assert_non_null(end);
	*end = '\0';
	sql.len = (size_t)(end - sql.s);
	pm_str_addf(&sql,
		    "INSERT INTO op_seqs (text) VALUES ('Relu');"
		    "INSERT INTO subgraphs (hash, structure, shapes, n_nodes, op_seq, text) VALUES "
		    "('%s', '%s', '%s', 1, 1, 'a'), ('%s', '%s', '%s', 1, 1, 'b');"
		    "INSERT INTO tasks (hash, name, kind) VALUES ('%s', 'old', 'fusible');"
		    "INSERT INTO variants (task, ordinal, subgraph, label, shape, dtype) "
		    "VALUES (1, 0, 1, 'x', 0, 'float'), (1, 1, 2, 'y', 1, 'float');"
		    "INSERT INTO runs (key, task, pass_path, pass_sha256, device, seed, version, options, "
		    "started, hidden, hidden_json) "
		    "VALUES ('%s', 1, 'p.so', '00', 'cuda', '0', '0.3.0', 'o', 5, 'OK', '{}');"
		    "INSERT INTO results (run, task, ordinal, verdict, stage, speedup, json) VALUES "
		    "(1, 1, 0, 'OK', 'speed', 2.0, '{}'), (1, 1, 1, 'INCORRECT', 'correctness', NULL, '{}');"
		    "PRAGMA user_version = 13; PRAGMA application_id = %d;",
		    zeros, zeros, zeros, ones, ones, ones, zeros, zeros, 0x506d4453);
	assert_int_equal(sqlite3_open(path, &sq), SQLITE_OK);
	if (sqlite3_exec(sq, sql.s, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(sq));
	sqlite3_close(sq);
	pm_str_release(&sql);
}

static void results_of_version_13_are_measurements(void **state)
{
	const Box *b = *state;
	PmMeasurement m = { .result = { 1, 1, 0, "OK", "speed", 2, "{}", 0 }, .origin = PM_ORIGIN_UNKNOWN };
	PmHiddenMeasurement h = { .run = 1, .verdict = "OK", .json = "{}", .origin = PM_ORIGIN_UNKNOWN };
	PmStr s = PM_STR_INIT;
	int is_new = -1;
	PmDb *db;

	make_version_13(b->path[0].s);
	db = open_db(b, 0);
	ask(db, "SELECT run, task, ordinal, verdict, stage, speedup, json, rewrite FROM results", &s);
	assert_string_equal(s.s, "1 1 0 OK speed 2.0 {} NULL\n1 1 1 INCORRECT correctness NULL {} NULL\n");
	ask(db, "SELECT count(DISTINCT key), min(length(key)), count(at), count(origin) FROM measurements",
	    &s);
	assert_string_equal(s.s, "2 64 0 0\n");
	/* Their keys are those that the same rows get today. */
	assert_int_equal(pm_measurement_put(db, &m, &is_new, NULL), PM_OK);
	assert_int_equal(is_new, 0);
	assert_int_equal(pm_hidden_put(db, &h, NULL), PM_OK);
	ask(db, "SELECT count(*), min(length(key)) FROM hidden_measurements", &s);
	assert_string_equal(s.s, "1 64\n");
	pm_str_release(&s);
	pm_db_close(db);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_verdict_has_its_place),
		CASE(the_worst_verdict_and_the_median_count),
		CASE(the_same_measurement_is_one),
		CASE(a_connection_says_where_it_measures),
		CASE(hidden_verdicts_are_all_kept),
		CASE(the_order_of_merges_does_not_matter),
		CASE(variants_are_found_by_their_graphs),
		CASE(results_of_version_13_are_measurements),
	};

	return cmocka_run_group_tests_name("measurements", tests, NULL, NULL);
}
