/* SPDX-License-Identifier: Apache-2.0 */
/* test_mine.c - ranking structures, and the passes proposed for them. */
#include "base/core/str.h"
#include "base/sys/io.h"
#include "bench/report/mine.h"
#include "dataset/store/models.h"
#include "dataset/store/results.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tasks.h"
#include "matcher/pattern/propose.h"
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
	PmDb *db;
} Box;

static int set_up(void **state)
{
	static Box b;
	PmStr path = PM_STR_INIT;

	pm_str_init(&b.dir);
	assert_int_equal(pm_temp_dir("mine", &b.dir, NULL), PM_OK);
	pm_path_join(b.dir.s, "a.db", &path);
	assert_int_equal(pm_db_open(path.s, 0, &b.db, NULL), PM_OK);
	pm_str_release(&path);
	*state = &b;
	return 0;
}

static int tear_down(void **state)
{
	Box *b = *state;

	pm_db_close(b->db);
	assert_int_equal(pm_remove_tree(b->dir.s, NULL), PM_OK);
	pm_str_release(&b->dir);
	return 0;
}

/* Structure 0: silu; structure 1: a longer chain. */
static PmGraph *graph(int structure, int n)
{
	return structure ? pm_test_graphf("g (float[%d] x) => (float[%d] y) { a = Relu (x)\n b = Exp (a)\n "
					  "c = Neg (b)\n y = Tanh (c) }",
					  n, n)
			 : pm_test_graphf(
				   "g (float[%d] x) => (float[%d] y) { s = Sigmoid (x)\n y = Mul (x, s) }", n,
				   n);
}

static void put_places(PmDb *db, int model, int structure, int n, int count)
{
	char sha[65];
	PmModelRow m = { 0, sha, "m", "m", 17, 9, 0, 1, "", "" };
	PmGraph *g = graph(structure, n);
	int64_t mid, sid;

	snprintf(sha, sizeof sha, "%064x", (unsigned)model + 1);
	assert_int_equal(pm_model_put(db, &m, &mid, NULL), PM_OK);
	assert_int_equal(pm_subgraph_put(db, g, NULL, "fusible", &sid, NULL, NULL), PM_OK);
	for (int k = 0; k < count; k++) {
		PmNode node = { (uint32_t)(100 * structure + k + 1) };

		assert_int_equal(pm_occurrence_put(db, mid, sid, &node, 1, NULL), PM_OK);
	}
	pm_graph_free(g);
}

static PmMine mine(PmDb *db)
{
	PmMine m;
	PmErr err;

	pm_err_init(&err);
	if (pm_mine(db, NULL, NULL, &m, &err))
		fail_msg("%s", err.text);
	return m;
}

static void clones_count_once(void **state)
{
	PmDb *db = ((Box *)*state)->db;
	PmMine m;

	/* Models 0, 1, 2 are clones (other sizes do not matter); model 3 differs in a number. */
	for (int k = 0; k < 3; k++) {
		put_places(db, k, 0, 1000 + k, 2);
		put_places(db, k, 1, 64, 1);
	}
	put_places(db, 3, 0, 1000, 3);
	put_places(db, 3, 1, 64, 1);
	m = mine(db);
	assert_int_equal(m.n, 2);
	assert_int_equal(m.models, 4);
	assert_int_equal(m.distinct_models, 2);
	/* Two places without clones that can lose three launches each, against five that can lose one. */
	assert_string_equal(m.v[0].ops, "Relu,Exp,Neg,Tanh");
	assert_string_equal(m.v[1].ops, "Sigmoid,Mul");
	assert_int_equal(m.v[0].occurrences, 4);
	assert_int_equal(m.v[1].n_graphs, 3);
	assert_int_equal(m.v[1].occurrences, 9);
	assert_int_equal(m.v[1].models, 4);
	assert_int_equal(m.v[1].support, 2);
	assert_true(m.v[0].at_stake > 0 && m.v[0].at_stake < m.v[0].seconds);
	assert_true(fabs(m.v[0].seconds + m.v[1].seconds - m.seconds) < 1e-12);
	assert_string_equal(m.v[0].best_pass, "");
	assert_false(m.v[0].measured);
	pm_mine_release(&m);
}

static void results_name_the_best_pass_and_measured_times(void **state)
{
	PmDb *db = ((Box *)*state)->db;
	PmTaskBuilder *b = pm_task_begin("silu", "fusible");
	static const struct {
		const char *pass, *verdict;
		double speedup;
	} results[] = { { "slow.so", "OK", 1.1 }, { "fast.so", "OK", 2.5 }, { "wrong.so", "INCORRECT", 9 } };
	PmGraph *g = graph(0, 1000);
	int64_t task;
	PmMine m;
	double modelled;

	put_places(db, 0, 0, 1000, 1);
	m = mine(db);
	modelled = m.seconds;
	pm_mine_release(&m);
	assert_int_equal(pm_task_add(b, g, "x", 0, PM_F32, NULL), PM_OK);
	assert_int_equal(pm_task_end(b, db, &task, NULL, NULL), PM_OK);
	pm_graph_free(g);
	for (int k = 0; k < 3; k++) {
		char sha[8];
		PmRunRow r = { 0, task, results[k].pass, sha, "cuda", 1, "1", "", 1, 0, "", "", "" };
		PmResultRow x = { 0,
				  task,
				  0,
				  results[k].verdict,
				  "speed",
				  results[k].speedup,
				  k == 1 ? "{\"time\":\"measured\",\"baseline_seconds\":0.5}"
					 : "{\"time\":\"modelled\"}",
				  0 };

		snprintf(sha, sizeof sha, "%d", k);
		assert_int_equal(pm_run_put(db, &r, &x.run, NULL, NULL), PM_OK);
		assert_int_equal(pm_result_put(db, &x, NULL, NULL), PM_OK);
	}
	m = mine(db);
	assert_int_equal(m.n, 1);
	assert_string_equal(m.v[0].best_pass, "fast.so");
	assert_true(fabs(m.v[0].best_speedup - 2.5) < 1e-9);
	assert_int_equal(m.v[0].measured, 1);
	assert_true(fabs(m.seconds - 0.5) < 1e-12 && modelled < 1e-3);
	pm_mine_release(&m);
}

/* ---- proposals ---- */

static void proposals_say_the_graph(void **state)
{
	PmStr s = PM_STR_INIT;
	PmErr err;
	PmGraph *g = pm_test_graph("g (float[3,4] x) => (float[3,4] y) <float h = {0.5}> "
				   "{ a = Add (x, h)\n s = Softmax <axis = 1> (a)\n y = Mul (s, x) }");

	(void)state;
	assert_int_equal(pm_propose_pass(g, "p", "doc", &s, &err), PM_OK);
	assert_non_null(strstr(s.s, "WITH(OP(Softmax, "));
	assert_non_null(strstr(s.s, "INT(axis, 1LL)"));
	assert_non_null(strstr(s.s, "NUM(0.5)"));
	assert_non_null(strstr(s.s, "TYPED(V(X0), FLOATS, -1)"));
	assert_non_null(strstr(s.s, ", V(X0))"));
	assert_non_null(strstr(s.s, "enum { X0 };"));
	pm_graph_free(g);
	pm_str_clear(&s);
	/* A value read twice, and one that is a result too, have names; the second result of a node is asked
	 * for. */
	g = pm_test_graph(
		"g (float[4,6] x) => (float[4,3] t, float[4,3] y) "
		"{ a, b = Split <axis = 1, split = [3, 3]> (x)\n t = Relu (a)\n u = Sub (t, b)\n y = Mul "
		"(u, t) }");
	assert_int_equal(pm_propose_pass(g, "p", "doc", &s, &err), PM_OK);
	assert_non_null(strstr(s.s, "AS(T"));
	assert_non_null(strstr(s.s, "RESULT(1, "));
	pm_graph_free(g);
	pm_str_release(&s);
}

static void what_patterns_cannot_say_is_refused(void **state)
{
	static const char *const texts[] = {
		"g (float[4] x) => (float[4] y, float[4] z) { y = Relu (x)\n z = Exp (x) }",
		"g (float[4] x) => (float[4] y) <float hi = {2}> { t = Neg (x)\n y = Clip (t, , hi) }",
	};
	PmStr s = PM_STR_INIT;
	PmErr err;

	(void)state;
	for (int k = 0; k < 2; k++) {
		PmGraph *g = pm_test_graph(texts[k]);

		assert_int_equal(pm_propose_pass(g, "p", "doc", &s, &err), PM_E_UNSUPPORTED);
		assert_non_null(strstr(err.text, k ? "omitted" : "several results"));
		assert_int_equal(s.len, 0);
		pm_graph_free(g);
	}
	pm_str_release(&s);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(clones_count_once),
		CASE(results_name_the_best_pass_and_measured_times),
		CASE(proposals_say_the_graph),
		CASE(what_patterns_cannot_say_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
