/* SPDX-License-Identifier: Apache-2.0 */
/* test_task.c - which variants the reference runs, which one the gate judges, and a benchmark that is built
 * of a database, once. */
#include "app/task/task_build.h"
#include "app/task/task_make.h"
#include "app/task/task_one.h"
#include "app/task/task_proxy.h"
#include "app/task/task_ref.h"

#include "base/sys/io.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tasks.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/killed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char silu[] = "g (float[3,67] x) => (float[3,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";

static void a_task_is_named_by_what_it_does(void **state)
{
	PmGraph *g = pm_test_graph(silu);
	PmStr name = PM_STR_INIT;

	(void)state;
	pm_task_default_name(g, "0123456789abcdef", &name);
	assert_string_equal(name.s, "Sigmoid_Mul-01234567");
	pm_str_release(&name);
	pm_graph_free(g);
}

/* The cost is the operations and the elements of all values. */
static void a_graph_costs_what_it_computes_and_holds(void **state)
{
	PmGraph *g = pm_test_graph(silu);

	(void)state;
	assert_true(pm_graph_flops(g) >= 2 * 3 * 67);
	assert_int_equal(pm_graph_cost(g), pm_graph_flops(g) + 3 * 3 * 67);
	pm_graph_free(g);
}

/* Element 4 of an axis of 3: the shape is taken out in every element type, the other stays. */
static void an_index_outside_takes_its_shape_along(void **state)
{
	static const char gather[] =
		"g (%s[%d,8] x) => (%s[1,8] y) { a = Constant <value: tensor = int64[1] {%d}> "
		"()\n y = Gather <axis: int = 0> (x, a) }";
	char text[4][256];
	PmGraph *g[4];
	PmRefCase c[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		const char *dtype = i % 2 ? "float16" : "float";

		/* Of the last shape the float variant alone is outside. */
		snprintf(text[i], sizeof text[i], gather, dtype, i == 2 ? 3 : 5, dtype, 4);
		g[i] = pm_test_graph(text[i]);
		c[i] = (PmRefCase){
			.g = g[i], .label = "v", .shape = i / 2, .dtype = i % 2 ? PM_F16 : PM_F32
		};
	}
	pm_task_ref(g[0], 1, 1, c, 4);
	assert_string_equal(pm_ref_how_name(c[0].how), "whole");
	assert_string_equal(pm_ref_how_name(c[1].how), "whole");
	assert_string_equal(pm_ref_how_name(c[2].how), "failed");
	assert_string_equal(pm_ref_how_name(c[3].how), "failed");
	assert_true(*c[2].why);
	assert_string_equal(c[3].why, c[2].why);
	for (int i = 0; i < 4; i++)
		pm_graph_free(g[i]);
}

/* What is large is judged by a variant that is quick, and no axis of it is shrunk to one. */
static void the_gate_judges_a_small_variant_of_what_is_large(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[4096,4096] x) => (float[4096,4096] y) { s = Sigmoid(x)\n y = Mul(x, s) }");
	PmGraph *proxy = NULL;
	char label[96];
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_task_proxy(g, &proxy, label, &err))
		fail_msg("%s", err.text);
	assert_true(pm_graph_cost(proxy) < pm_graph_cost(g) / 100);
	for (int k = 0; k < 2; k++)
		assert_true(pm_value_type(proxy, pm_graph_input(proxy, 0))->dim[k] > 1);
	assert_true(*label);
	pm_graph_free(proxy);
	pm_graph_free(g);
}

/* ---- a benchmark ---- */

static void open_db(PmStr *dir, PmDb **db, const char *const *texts, size_t n)
{
	PmStr path = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	pm_str_init(dir);
	assert_int_equal(pm_temp_dir("task", dir, NULL), PM_OK);
	pm_path_join(dir->s, "set.db", &path);
	assert_int_equal(pm_db_open(path.s, 0, db, &err), PM_OK);
	for (size_t i = 0; i < n; i++) {
		PmGraph *g = pm_test_graph(texts[i]);
		int64_t id;

		if (pm_subgraph_put(*db, g, NULL, "fusible", &id, NULL, &err))
			fail_msg("%s", err.text);
		pm_graph_free(g);
	}
	pm_str_release(&path);
}

static void close_db(PmStr *dir, PmDb *db)
{
	pm_db_close(db);
	pm_remove_tree(dir->s, NULL);
	pm_str_release(dir);
}

static void nothing_is_built_of_nothing(void **state)
{
	PmTaskBuildOpts o = { .n_eval = 1, .ratio = 1, .stride = 1, .shapes = 5, .seed = 1, .jobs = 1 };
	PmTaskBuilt b;
	PmStr dir;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	open_db(&dir, &o.db, NULL, 0);
	assert_int_equal(pm_task_build(&o, NULL, &b, &err), PM_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "passmith extract"));
	pm_task_built_release(&b);
	close_db(&dir, o.db);
}

static void count_step(void *arg, const char *item)
{
	assert_null(item);
	++*(int *)arg;
}

/* A second run decides nothing anew and finds the same; other options are another benchmark. */
static void a_benchmark_is_built_once(void **state)
{
	static const char *const texts[] = { silu };
	int steps = 0;
	const PmWatch watch = { .step = count_step, .arg = &steps };
	PmTaskBuildOpts o = { .n_eval = 1, .stride = 1, .shapes = 5, .seed = 1, .jobs = 1 };
	PmTaskBuilt first, again, other;
	PmStr dir;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	open_db(&dir, &o.db, texts, 1);
	if (pm_task_build(&o, &watch, &first, &err))
		fail_msg("%s", err.text);
	assert_int_equal(first.subgraphs, 1);
	assert_int_equal(first.groups, 1);
	assert_int_equal(first.n[0] + first.rejected, 1);
	assert_int_equal(steps, first.n[0]);
	assert_int_equal(first.variants[0], 15 * first.n[0]); /* five shapes in three types */
	assert_int_equal(first.whole[0] + first.proxy[0], first.variants[0]);
	assert_int_equal(first.before, 0);
	assert_int_equal(first.leaks, 0);
	assert_int_equal(first.held_out, first.n[0]);
	assert_int_equal(first.short_of_tasks, first.n[0] < 1);
	assert_int_equal(first.reason.n, first.rejected);
	if (pm_task_build(&o, NULL, &again, &err))
		fail_msg("%s", err.text);
	assert_int_equal(again.before, 1);
	assert_int_equal(again.n[0], first.n[0]);
	assert_int_equal(again.variants[0], first.variants[0]);
	assert_int_equal(again.reason.n, 0);
	assert_int_equal(first.n[0], 1);
	o.seed = 2;
	assert_int_equal(pm_task_build(&o, NULL, &other, &err), PM_E_CONFLICT);
	assert_non_null(strstr(err.text, "--rebuild"));
	pm_task_built_release(&first);
	pm_task_built_release(&again);
	pm_task_built_release(&other);
	close_db(&dir, o.db);
}

static void build(PmTaskBuildOpts *o, const char *const *texts, size_t n, PmTaskBuilt *b)
{
	PmStr dir;
	PmErr err;

	pm_err_init(&err);
	open_db(&dir, &o->db, texts, n);
	if (pm_task_build(o, NULL, b, &err))
		fail_msg("%s", err.text);
	close_db(&dir, o->db);
}

/* What a killed process was judging, to train on, is judged by the caller. */
static void killed_processes_cost_no_task(void **state)
{
	enum { N = 4 };
	static const char *const last[N] = { "Relu", "Tanh", "Sigmoid", "Neg" };
	PmTaskBuildOpts o = { .n_eval = 1, .ratio = 3, .stride = 1, .shapes = 5, .seed = 1, .jobs = 2 };
	char text[N][160];
	const char *texts[N];
	PmTaskBuilt b[2];
	int killed = 0;

	(void)state;
	for (int i = 0; i < N; i++) {
		snprintf(text[i], sizeof text[i],
			 "g (float[160,640] x, float[640,160] w) => (float[160,160] y) { m = MatMul(x, w)\n "
			 "y = "
			 "%s(m) }",
			 last[i]);
		texts[i] = text[i];
	}
	build(&o, texts, N, &b[0]);
	assert_true(b[0].n[1] > 0);
	/* A process that ends within a tick of the timer is not killed. */
	for (int i = 0; i < 50 && !killed; i++) {
		pm_test_kill_pool(1000, 0);
		build(&o, texts, N, &b[1]);
		killed = pm_test_kill_pool_end();
		assert_int_equal(b[1].subgraphs, N);
		assert_int_equal(b[1].n[1], b[0].n[1]);
		assert_int_equal(b[1].variants[1], b[0].variants[1]);
		assert_int_equal(b[1].rejected, b[0].rejected);
		pm_task_built_release(&b[1]);
	}
	assert_true(killed > 0);
	pm_task_built_release(&b[0]);
}

/* The same variants are one task, whatever it is asked to be called. */
static void tasks_are_made_of_what_is_chosen(void **state)
{
	static const char *const texts[] = {
		silu, "g (float[64,64] x) => (float[64,64] y) { t = Tanh(x)\n u = Mul(t, x)\n"
		      " y = Add(u, x) }"
	};
	PmTaskMakeOpts o = { .top = 10, .shapes = 3 };
	PmTaskChosen all = { 0 }, none = { 0 };
	PmTaskNew one, again;
	PmStr dir;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	open_db(&dir, &o.db, texts, 2);
	assert_int_equal(pm_task_choose(&o, &all, &err), PM_OK);
	assert_int_equal(all.id.n, 2);
	pm_task_chosen_release(&all);
	o.top = 1;
	assert_int_equal(pm_task_choose(&o, &all, &err), PM_OK);
	assert_int_equal(all.id.n, 1);
	assert_int_equal(pm_task_make(&o, all.id.v[0], &one, &err), PM_OK);
	assert_true(one.is_new);
	assert_int_equal(one.variants.n_shapes, 3);
	assert_int_equal(one.variants.n_made, 9);
	o.name = "mine";
	assert_int_equal(pm_task_make(&o, all.id.v[0], &again, &err), PM_OK);
	assert_false(again.is_new);
	assert_int_equal(again.id, one.id);
	assert_string_equal(again.name.s, one.name.s);
	o.hashes = (const char *const[]){ "0123456789" };
	o.n_hashes = 1;
	assert_int_equal(pm_task_choose(&o, &none, &err), PM_E_NOT_FOUND);
	assert_int_equal(none.id.n, 0);
	pm_str_release(&one.name);
	pm_str_release(&again.name);
	pm_task_chosen_release(&all);
	pm_task_chosen_release(&none);
	close_db(&dir, o.db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_is_named_by_what_it_does),
		cmocka_unit_test(a_graph_costs_what_it_computes_and_holds),
		cmocka_unit_test(an_index_outside_takes_its_shape_along),
		cmocka_unit_test(the_gate_judges_a_small_variant_of_what_is_large),
		cmocka_unit_test(nothing_is_built_of_nothing),
		cmocka_unit_test(a_benchmark_is_built_once),
		cmocka_unit_test(killed_processes_cost_no_task),
		cmocka_unit_test(tasks_are_made_of_what_is_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
