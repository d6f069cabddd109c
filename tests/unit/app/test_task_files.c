/* SPDX-License-Identifier: Apache-2.0 */
/* test_task_files.c - tasks as packs and as PyTorch modules, one graph judged again, and a pass proposed for
 * a structure: what is written, what is counted, and what bad input leaves alone. */
#include "app/eval/task_export.h"
#include "app/mine/mine_pass.h"
#include "app/task/task_gate.h"
#include "app/task/task_make.h"
#include "app/task/task_pack.h"

#include "base/core/arena.h"
#include "base/sys/io.h"
#include "dataset/store/subgraphs.h"
#include "ir/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const texts[] = {
	"g (float[24,67] x) => (float[24,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }",
	"g (float[24,64] x) => (float[24,64] y) { t = Tanh(x)\n y = Mul(t, x) }",
};

enum { N_TEXTS = sizeof texts / sizeof *texts };

typedef struct Set {
	PmStr dir;
	PmDb *db;
	int64_t graph[N_TEXTS], task[N_TEXTS];
} Set;

static PmGraph *parse(const char *text)
{
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &g, &err))
		fail_msg("%s", err.text);
	return g;
}

static void below(const Set *s, const char *name, PmStr *out)
{
	pm_str_init(out);
	pm_path_join(s->dir.s, name, out);
}

/* A database of two graphs and the task of each: two shapes in three types. */
static void begin(Set *s)
{
	PmTaskMakeOpts o = { .shapes = 2 };
	PmStr path;
	PmErr err;

	pm_err_init(&err);
	pm_str_init(&s->dir);
	assert_int_equal(pm_temp_dir("files", &s->dir, NULL), PM_OK);
	below(s, "set.db", &path);
	assert_int_equal(pm_db_open(path.s, 0, &s->db, &err), PM_OK);
	o.db = s->db;
	for (int i = 0; i < N_TEXTS; i++) {
		PmGraph *g = parse(texts[i]);
		PmTaskNew made;

		assert_int_equal(pm_subgraph_put(s->db, g, NULL, "fusible", &s->graph[i], NULL, &err), PM_OK);
		if (pm_task_make(&o, s->graph[i], &made, &err))
			fail_msg("%s", err.text);
		s->task[i] = made.id;
		pm_str_release(&made.name);
		pm_graph_free(g);
	}
	pm_str_release(&path);
}

static void end(Set *s)
{
	pm_db_close(s->db);
	pm_remove_tree(s->dir.s, NULL);
	pm_str_release(&s->dir);
}

/* ---- packs ---- */

static void tasks_travel_as_packs(void **state)
{
	PmTaskPackOpts o = { 0 };
	PmStr out, other_path, broken;
	PmTaskPacked p;
	PmDb *other = NULL;
	int64_t n = 0;
	PmErr err;
	Set s;

	(void)state;
	pm_err_init(&err);
	begin(&s);
	below(&s, "packs", &out);
	o.db = s.db;
	o.out = out.s;
	if (pm_task_pack(&o, &p, &err))
		fail_msg("%s", err.text);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.n_new, 2);
	pm_str_release(&p.dir);
	assert_int_equal(pm_task_pack(&o, &p, &err), PM_OK);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.n_new, 0); /* they were there, with the same bytes */
	assert_int_equal(pm_task_unpack(NULL, out.s, &n, &err), PM_OK);
	assert_int_equal(n, 2);
	below(&s, "other.db", &other_path);
	assert_int_equal(pm_db_open(other_path.s, 0, &other, &err), PM_OK);
	assert_int_equal(pm_task_unpack(other, out.s, &n, &err), PM_OK);
	assert_int_equal(n, 2);
	/* A pack whose description is cut short is told, and the packs that are right stay as they were. */
	pm_str_init(&broken);
	pm_path_join(p.dir.s, "task.json", &broken);
	assert_int_equal(pm_write_file(broken.s, "{", 1, NULL), PM_OK);
	assert_int_not_equal(pm_task_unpack(NULL, out.s, &n, &err), PM_OK);
	assert_true(*err.text);
	assert_int_equal(pm_remove_tree(p.dir.s, NULL), PM_OK);
	assert_int_equal(pm_task_unpack(NULL, out.s, &n, &err), PM_OK);
	assert_int_equal(n, 1);
	pm_db_close(other);
	pm_str_release(&p.dir);
	pm_str_release(&out);
	pm_str_release(&other_path);
	pm_str_release(&broken);
	end(&s);
}

static void nothing_to_pack_or_unpack_is_said(void **state)
{
	PmTaskPackOpts o = { .split = "eval" };
	PmTaskPacked p;
	PmStr out;
	int64_t n = 7;
	PmErr err;
	Set s;

	(void)state;
	pm_err_init(&err);
	begin(&s);
	below(&s, "packs", &out);
	o.db = s.db;
	o.out = out.s;
	assert_int_equal(pm_task_pack(&o, &p, &err), PM_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "holds no task of split eval"));
	pm_str_release(&p.dir);
	o.task = "no such task";
	assert_int_not_equal(pm_task_pack(&o, &p, &err), PM_OK);
	pm_str_release(&p.dir);
	assert_false(pm_path_exists(out.s));
	assert_int_equal(pm_task_unpack(s.db, s.dir.s, &n, &err), PM_E_NOT_FOUND);
	assert_int_equal(n, 0);
	assert_non_null(strstr(err.text, "no folder there holds a task.json"));
	pm_str_release(&out);
	end(&s);
}

/* ---- PyTorch ---- */

static void took_export(void *arg, const char *member, const char *folder, const char *refused)
{
	PmStr file = PM_STR_INIT;

	assert_true(*member);
	pm_path_join(folder, "model.py", &file);
	assert_int_equal(pm_path_exists(file.s), !*refused);
	++*(int *)arg;
	pm_str_release(&file);
}

static void a_task_is_written_for_pytorch(void **state)
{
	PmTaskExportOpts o = { .seed = 1 };
	PmVariantList v = { 0 };
	PmTaskExported done;
	PmStr out;
	int told = 0;
	PmErr err;
	Set s;

	(void)state;
	pm_err_init(&err);
	begin(&s);
	below(&s, "torch", &out);
	o.dir = out.s;
	assert_int_equal(pm_variant_list_of_task(s.db, "1", &v, &err), PM_OK);
	assert_int_equal(v.list.n, 6);
	o.shapes = 1;
	if (pm_task_export(&v, "1", &o, took_export, &told, &done, &err))
		fail_msg("%s", err.text);
	assert_int_equal(done.written, 3); /* one shape in three types */
	assert_int_equal(done.refused, 0);
	assert_int_equal(told, 3);
	pm_variant_list_release(&v);
	pm_str_release(&out);
	end(&s);
}

/* One that PyTorch has no words for is told with its sentence; when that leaves none, it is an error. */
static void what_pytorch_cannot_say_is_left_out(void **state)
{
	PmGraph *g = parse("g (float[8] x) => (float[8] y) { y = Hardmax <axis: int = 0> (x) }");
	PmTaskExportOpts o = { .seed = 1 };
	PmVariantList v = { 0 };
	PmTaskExported done;
	PmStr out;
	int told = 0;
	PmErr err;
	Set s;

	(void)state;
	pm_err_init(&err);
	begin(&s);
	below(&s, "torch", &out);
	o.dir = out.s;
	assert_int_equal(pm_variant_list_of_graph(g, 0, 0, &v, &err), PM_OK);
	assert_int_equal(pm_task_export(&v, "that.gpt", &o, took_export, &told, &done, &err),
			 PM_E_UNSUPPORTED);
	assert_string_equal(err.text, "No graph of that.gpt could be written for PyTorch.");
	assert_int_equal(done.written, 0);
	assert_int_equal(done.refused, 1);
	assert_int_equal(told, 1);
	pm_variant_list_release(&v);
	pm_graph_free(g);
	pm_str_release(&out);
	end(&s);
}

/* ---- one graph judged ---- */

static void a_stored_graph_is_found_by_task_and_by_hash(void **state)
{
	PmGraph *g = NULL;
	PmErr err;
	Set s;

	(void)state;
	pm_err_init(&err);
	begin(&s);
	assert_int_equal(pm_task_stored_graph(s.db, "2", &g, &err), PM_OK);
	assert_int_equal(pm_graph_n_nodes(g), 2);
	pm_graph_free(g);
	assert_int_equal(pm_task_stored_graph(s.db, "feedbeef", &g, &err), PM_E_NOT_FOUND);
	assert_null(g);
	assert_non_null(strstr(err.text, "'feedbeef' is no model file, and no task or subgraph of "));
	end(&s);
}

static void the_gate_says_which_rule_is_broken(void **state)
{
	PmGraph *good = parse(texts[0]), *bad = parse("g (float[8,64] x) => (float[8,64] y) { z = Sub(x, x)\n"
						      " y = Mul(z, x) }");
	PmTaskGated t;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_task_gate(good, 1, 0, &t, &err))
		fail_msg("%s", err.text);
	assert_true(t.report.ok);
	assert_true(*t.label);
	if (pm_task_gate(bad, 1, 0, &t, &err))
		fail_msg("%s", err.text);
	assert_false(t.report.ok);
	assert_true(*t.report.why);
	pm_graph_free(good);
	pm_graph_free(bad);
}

/* ---- a pass to start from ---- */

static void a_structure_gets_a_pass_and_its_graph(void **state)
{
	char ops[] = "Sigmoid,Mul";
	PmMined x = { .structure = "0123456789", .ops = ops, .occurrences = 3, .models = 2 };
	PmStr out, c, gpt;
	PmMinePass p;
	PmErr err;
	Set s;

	(void)state;
	pm_err_init(&err);
	begin(&s);
	x.example = s.graph[0];
	below(&s, "mined", &out);
	below(&s, "mined/mined_01234567.c", &c);
	below(&s, "mined/mined_01234567.gpt", &gpt);
	if (pm_mine_pass(s.db, &x, &p, &err))
		fail_msg("%s", err.text);
	assert_string_equal(p.name, "mined_01234567");
	assert_non_null(strstr(p.source.s, "Sigmoid,Mul: 3 occurrences in 2 models"));
	assert_int_equal(p.why.len, 0);
	assert_int_equal(pm_mine_pass_write(s.db, &x, &p, out.s, &err), PM_OK);
	assert_true(pm_path_exists(c.s) && pm_path_exists(gpt.s));
	pm_mine_pass_release(&p);
	x.example = 12345;
	assert_int_not_equal(pm_mine_pass(s.db, &x, &p, &err), PM_OK);
	assert_true(*err.text);
	assert_int_equal(p.source.len, 0);
	pm_mine_pass_release(&p);
	pm_str_release(&out);
	pm_str_release(&c);
	pm_str_release(&gpt);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_travel_as_packs),
		cmocka_unit_test(nothing_to_pack_or_unpack_is_said),
		cmocka_unit_test(a_task_is_written_for_pytorch),
		cmocka_unit_test(what_pytorch_cannot_say_is_left_out),
		cmocka_unit_test(a_stored_graph_is_found_by_task_and_by_hash),
		cmocka_unit_test(the_gate_says_which_rule_is_broken),
		cmocka_unit_test(a_structure_gets_a_pass_and_its_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
