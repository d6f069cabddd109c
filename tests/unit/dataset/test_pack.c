/* SPDX-License-Identifier: Apache-2.0 */
/* test_pack.c - tasks as folders, and the leakage checker. */
#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/pack/pack.h"
#include "dataset/select/split.h"
#include "dataset/store/models.h"
#include "dataset/store/subgraphs.h"
#include "dataset/store/tasks.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Box {
	PmStr dir, root;
	PmDb *db;
} Box;

static int set_up(void **state)
{
	static Box b;
	PmStr path = PM_STR_INIT;
	PmErr err;

	pm_str_init(&b.dir);
	pm_str_init(&b.root);
	assert_int_equal(pm_temp_dir("pack", &b.dir, NULL), PM_OK);
	pm_path_join(b.dir.s, "a.db", &path);
	pm_path_join(b.dir.s, "packs", &b.root);
	pm_err_init(&err);
	if (pm_db_open(path.s, 0, &b.db, &err))
		fail_msg("%s", err.text);
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
	pm_str_release(&b->root);
	return 0;
}

/* A chain of n operators of three kinds drawn from `seed`; number `odd` is another one. */
static PmGraph *chain(int n, unsigned seed, int odd, int size)
{
	static const char *const ops[] = { "Relu", "Neg", "Exp" };
	PmStr s = PM_STR_INIT;
	PmGraph *g;

	pm_str_addf(&s, "g (float[%d] x0) => (float[%d] x%d) {\n", size, size, n);
	for (int i = 0; i < n; i++) {
		seed = seed * 1103515245u + 12345u;
		pm_str_addf(&s, "x%d = %s (x%d)\n", i + 1, i == odd ? "Tanh" : ops[(seed >> 16) % 3], i);
	}
	pm_str_addc(&s, '}');
	g = pm_test_graph(s.s);
	pm_str_release(&s);
	return g;
}

/* Stores a task of graphs at these sizes, with the first as its base; frees nothing of the caller's. */
static int64_t put_task(PmDb *db, const char *split, int n, unsigned seed, int odd, int size)
{
	PmTaskBuilder *b = pm_task_begin("chain", "fusible");
	int64_t base = 0, id = 0;

	pm_task_set_about(b, split, "cross-shape 0123", "easy", "ok", "{\"ok\":true,\"mutants\":7}");
	for (int k = 0; k < 3; k++) {
		PmGraph *g = chain(n, seed, odd, size + (k == 2 ? 0 : k + 1));

		if (k == 0) { /* the base is a graph of its own, as it is when a model was in bfloat16 */
			PmGraph *first = chain(n, seed, odd, size);

			assert_int_equal(pm_subgraph_put(db, first, NULL, "fusible", &base, NULL, NULL),
					 PM_OK);
			pm_graph_free(first);
			pm_task_set_base(b, base);
		}
		if (k < 2)
			assert_int_equal(pm_task_add(b, g, k ? "shape 1" : "shape 0", k, PM_F32, NULL),
					 PM_OK);
		pm_graph_free(g);
	}
	assert_int_equal(pm_task_end(b, db, &id, NULL, NULL), PM_OK);
	return id;
}

static void put_source(PmDb *db, int64_t subgraph)
{
	char sha[65];
	PmModelRow m = { 0, sha, "model.onnx", "model.onnx", 17, 9, 0, 1, "", "" };
	PmNode nodes[] = { { 4 }, { 5 } };
	int64_t id;

	snprintf(sha, sizeof sha, "%064x", 0xabcu);
	assert_int_equal(pm_model_put(db, &m, &id, NULL), PM_OK);
	assert_int_equal(pm_occurrence_put(db, id, subgraph, nodes, 2, NULL), PM_OK);
}

/* ---- packs ---- */

static PmStatus name_graph(void *arg, const PmPackGraph *m, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%d %s %zu;", (int)m->ordinal, m->label, pm_graph_n_nodes(m->g));
	return PM_OK;
}

static void write_pack(Box *b, PmDb *db, const char *root, int64_t task, PmStr *dir)
{
	cJSON *rules = cJSON_CreateObject();
	PmErr err;

	(void)b;
	pm_err_init(&err);
	cJSON_AddNumberToObject(rules, "level", -5);
	if (pm_pack_write(db, task, root, rules, dir, NULL, &err))
		fail_msg("%s", err.text);
	cJSON_Delete(rules);
}

static void read_text(const char *dir, const char *name, PmStr *out)
{
	PmStr path = PM_STR_INIT;

	pm_path_join(dir, name, &path);
	pm_str_clear(out);
	assert_int_equal(pm_read_file(path.s, 0, out, NULL), PM_OK);
	pm_str_release(&path);
}

static void a_pack_reads_back(void **state)
{
	Box *b = *state;
	PmStr dir = PM_STR_INIT, again = PM_STR_INIT, seen = PM_STR_INIT;
	int64_t task = put_task(b->db, "eval", 4, 1, -1, 8);
	cJSON *j = NULL;
	PmErr err;
	int is_new;

	pm_err_init(&err);
	put_source(b->db, 1);
	write_pack(b, b->db, b->root.s, task, &dir);
	assert_true(pm_pack_is(dir.s));
	assert_false(pm_pack_is(b->root.s));
	assert_int_equal(pm_pack_read(dir.s, name_graph, &seen, &j, &err), PM_OK);
	assert_string_equal(seen.s, "-1  4;0 shape 0 4;1 shape 1 4;");
	assert_string_equal(pm_json_str(j, "split", ""), "eval");
	assert_int_equal(pm_json_i64(cJSON_GetObjectItem(j, "rules"), "level", 0), -5);
	assert_non_null(strstr(dir.s, pm_json_str(j, "task", "?")));
	assert_int_equal(pm_pack_write(b->db, task, b->root.s, NULL, &again, &is_new, &err), PM_OK);
	assert_false(is_new);
	assert_string_equal(again.s, dir.s);
	cJSON_Delete(j);
	pm_str_release(&dir);
	pm_str_release(&again);
	pm_str_release(&seen);
}

static void unpacking_and_packing_gives_the_same_bytes(void **state)
{
	Box *b = *state;
	PmStr dir = PM_STR_INIT, dir2 = PM_STR_INIT, root2 = PM_STR_INIT, path = PM_STR_INIT;
	PmStr one = PM_STR_INIT, two = PM_STR_INIT;
	static const char *const files[] = { "task.json", "README.md", "graphs/000.onnx", "graphs/001.onnx",
					     "graphs/base0.onnx" };
	int64_t task = put_task(b->db, "eval", 5, 2, -1, 8), id = 0;
	PmDb *other = NULL;
	PmErr err;
	int is_new = 0;

	pm_err_init(&err);
	put_source(b->db, 1);
	write_pack(b, b->db, b->root.s, task, &dir);
	pm_path_join(b->dir.s, "other.db", &path);
	pm_path_join(b->dir.s, "packs2", &root2);
	assert_int_equal(pm_db_open(path.s, 0, &other, NULL), PM_OK);
	if (pm_pack_unpack(dir.s, other, &id, &is_new, &err))
		fail_msg("%s", err.text);
	assert_true(is_new);
	assert_int_equal(pm_pack_unpack(dir.s, other, &id, &is_new, &err), PM_OK);
	assert_false(is_new);
	write_pack(b, other, root2.s, id, &dir2);
	for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
		read_text(dir.s, files[k], &one);
		read_text(dir2.s, files[k], &two);
		assert_true(one.len > 100);
		assert_int_equal(one.len, two.len);
		assert_memory_equal(one.s, two.s, one.len);
	}
	pm_db_close(other);
	pm_str_release(&dir);
	pm_str_release(&dir2);
	pm_str_release(&root2);
	pm_str_release(&path);
	pm_str_release(&one);
	pm_str_release(&two);
}

/* Replaces `from` by `to` in a file of the pack and says what the reader finds. */
static void spoil(Box *b, int64_t task, const char *file, const char *from, const char *to, PmErr *err)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT, text = PM_STR_INIT, root = PM_STR_INIT;
	size_t n = strlen(from), at = 0;

	pm_err_init(err);
	pm_path_join(b->dir.s, "spoilt", &root);
	assert_int_equal(pm_remove_tree(root.s, NULL), PM_OK);
	write_pack(b, b->db, root.s, task, &dir);
	read_text(dir.s, file, &text);
	while (at + n < text.len && memcmp(text.s + at, from, n))
		at++;
	assert_true(at + n < text.len);
	memcpy(text.s + at, to, n);
	assert_int_equal(strlen(to), n);
	pm_path_join(dir.s, file, &path);
	assert_int_equal(pm_write_file(path.s, text.s, text.len, NULL), PM_OK);
	assert_int_equal(pm_pack_read(dir.s, NULL, NULL, NULL, err), PM_E_INVALID);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_str_release(&text);
	pm_str_release(&root);
}

static void a_changed_pack_is_refused(void **state)
{
	Box *b = *state;
	int64_t task = put_task(b->db, "eval", 4, 1, -1, 8);
	PmErr err;

	spoil(b, task, "graphs/001.onnx", "v1", "w1", &err);
	assert_non_null(strstr(err.text, "001.onnx"));
	spoil(b, task, "task.json", "graphs/000", "../../x000", &err);
	assert_non_null(strstr(err.text, "graphs/NAME"));
	spoil(b, task, "task.json", "graphs/000", "graphs/.00", &err);
	spoil(b, task, "task.json", "\"kind\": \"fusible\"", "\"kind\": \"fusable\"", &err);
	assert_non_null(strstr(err.text, "hash"));
	spoil(b, task, "task.json", "\"dtype\": \"float\"", "\"dtype\": \"flout\"", &err);
	assert_int_equal(pm_pack_read(b->dir.s, NULL, NULL, NULL, &err), PM_E_NOT_FOUND);
}

/* Changes a key of task.json and reads the pack again. */
static PmStatus read_without(const char *path, const char *dir, const char *key, const char *other)
{
	PmStr text = PM_STR_INIT;
	PmStatus st;
	char *at;

	assert_int_equal(pm_read_file(path, 0, &text, NULL), PM_OK);
	at = strstr(text.s, key);
	assert_non_null(at);
	memcpy(at, other, strlen(key));
	assert_int_equal(pm_write_file(path, text.s, text.len, NULL), PM_OK);
	st = pm_pack_read(dir, NULL, NULL, NULL, NULL);
	pm_str_release(&text);
	return st;
}

/* It has its graphs under the old name of the key alone; without that there are none. */
static void a_pack_of_the_last_version_is_read(void **state)
{
	Box *b = *state;
	int64_t task = put_task(b->db, "eval", 4, 1, -1, 8);
	PmStr root = PM_STR_INIT, dir = PM_STR_INIT, path = PM_STR_INIT;

	pm_path_join(b->dir.s, "old", &root);
	write_pack(b, b->db, root.s, task, &dir);
	pm_path_join(dir.s, "task.json", &path);
	assert_int_equal(read_without(path.s, dir.s, "\"variants\"", "\"wariants\""), PM_OK);
	assert_int_equal(read_without(path.s, dir.s, "\"members\"", "\"nembers\""), PM_E_INVALID);
	pm_str_release(&root);
	pm_str_release(&dir);
	pm_str_release(&path);
}

/* ---- leakage ---- */

typedef struct Leaks {
	int n;
	PmLeak last;
} Leaks;

static PmStatus count_leak(void *arg, const PmLeak *leak, PmErr *err)
{
	Leaks *l = arg;

	(void)err;
	l->n++;
	l->last = *leak;
	return PM_OK;
}

static Leaks check(PmDb *db)
{
	Leaks l = { 0 };
	size_t n = 0;
	PmErr err;

	pm_err_init(&err);
	if (pm_leakage_check(db, count_leak, &l, &n, &err))
		fail_msg("%s", err.text);
	assert_int_equal(l.n, n);
	return l;
}

static void a_planted_clone_is_found_and_nothing_else(void **state)
{
	/* What is planted: the length, seed, changed operator and size of the copy. */
	static const struct {
		PmLeakKind kind;
		int n, odd, size;
	} planted[] = { { PM_LEAK_HASH, 100, -1, 8 },
			{ PM_LEAK_STRUCTURE, 100, -1, 77 },
			{ PM_LEAK_NEAR, 100, 50, 8 } };
	Box *b = *state;
	PmDb *db = b->db;
	int64_t eval, train;
	Leaks l;

	for (size_t k = 0; k < 3; k++) {
		assert_int_equal(pm_tasks_drop_splits(db, NULL, NULL), PM_OK);
		eval = put_task(db, "eval", 100, 1, -1, 8);
		put_task(db, "eval", 90, 2, -1, 8);
		put_task(db, "train", 80, 3, -1, 8);
		put_task(db, "train", 70, 4, -1, 8);
		assert_int_equal(check(db).n, 0);
		if (planted[k].kind == PM_LEAK_HASH) { /* one member in common */
			PmTaskBuilder *t = pm_task_begin("planted", "fusible");
			PmGraph *g = chain(100, 1, -1, 9);

			pm_task_set_about(t, "train", "", "", "", "");
			assert_int_equal(pm_task_add(t, g, "x", 0, PM_F32, NULL), PM_OK);
			assert_int_equal(pm_task_end(t, db, &train, NULL, NULL), PM_OK);
			pm_graph_free(g);
		} else {
			train = put_task(db, "train", planted[k].n, 1, planted[k].odd, planted[k].size);
		}
		l = check(db);
		assert_int_equal(l.n, 1);
		assert_int_equal(l.last.kind, planted[k].kind);
		assert_int_equal(l.last.eval_task, eval);
		assert_int_equal(l.last.train_task, train);
		assert_true(l.last.likeness >= PM_ALIKE);
	}
}

static void the_same_operators_wired_otherwise_are_found(void **state)
{
	static const char *const texts[] = {
		"g (float[4] a, float[4] b) => (float[4] y) { t = Relu (a)\n u = Relu (b)\n v = Sub (t, u)\n "
		"y = Sub (v, a) }",
		"g (float[4] a, float[4] b) => (float[4] y) { t = Relu (a)\n u = Relu (t)\n v = Sub (b, u)\n "
		"y = Sub (v, v) }",
	};
	Box *b = *state;
	Leaks l;

	for (int k = 0; k < 2; k++) {
		PmTaskBuilder *t = pm_task_begin("ops", "fusible");
		PmGraph *g = pm_test_graph(texts[k]);
		int64_t id;

		pm_task_set_about(t, k ? "train" : "eval", "", "", "", "");
		assert_int_equal(pm_task_add(t, g, "x", 0, PM_F32, NULL), PM_OK);
		assert_int_equal(pm_task_end(t, b->db, &id, NULL, NULL), PM_OK);
		pm_graph_free(g);
	}
	l = check(b->db);
	assert_int_equal(l.n, 1);
	assert_int_equal(l.last.kind, PM_LEAK_OPERATORS);
	assert_true(l.last.likeness < PM_ALIKE);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_pack_reads_back),
		CASE(unpacking_and_packing_gives_the_same_bytes),
		CASE(a_changed_pack_is_refused),
		CASE(a_pack_of_the_last_version_is_read),
		CASE(a_planted_clone_is_found_and_nothing_else),
		CASE(the_same_operators_wired_otherwise_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
