/* SPDX-License-Identifier: Apache-2.0 */
/* test_task_graphs.c - show_task of a task with several graphs: each is there with its variants and with what
 * differs, the element type of each input is said, and what was left out is in the resource. */
#include "base/sys/io.h"
#include "dataset/store/tasks.h"
#include "ir/text/text.h"
#include "tests/lib/tools/tool_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Place {
	PmStr folder, db;
	PmTaskBuilder *b;
	PmTestTools tools;
} Place;

static void begin(Place *p)
{
	PmErr err;

	pm_err_init(&err);
	pm_str_init(&p->folder);
	pm_str_init(&p->db);
	if (pm_temp_dir("graphs", &p->folder, &err))
		fail_msg("%s", err.text);
	pm_path_join(p->folder.s, "w.db", &p->db);
	p->b = pm_task_begin("mixed", "fusible");
}

static void variant(Place *p, int shape, int dtype, const char *text)
{
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &g, &err) ||
	    pm_task_add(p->b, g, "a label", shape, dtype, &err))
		fail_msg("%s", err.text);
	pm_graph_free(g);
}

static cJSON *shown(Place *p)
{
	PmErr err;
	PmDb *db = NULL;
	int64_t id;

	pm_err_init(&err);
	if (pm_db_open(p->db.s, 0, &db, &err) || pm_task_end(p->b, db, &id, NULL, &err))
		fail_msg("%s", err.text);
	pm_db_close(db);
	pm_test_tools_begin(&p->tools, p->db.s, -1);
	return pm_test_call(&p->tools, "show_task", "{'task':'mixed'}");
}

static void end(Place *p)
{
	pm_test_tools_end(&p->tools);
	pm_remove_tree(p->folder.s, NULL);
	pm_str_release(&p->folder);
	pm_str_release(&p->db);
}

static const cJSON *graph_at(const cJSON *j, int i)
{
	return cJSON_GetArrayItem(cJSON_GetObjectItem(j, "graphs"), i);
}

static const char *shape_at(const cJSON *graph, int i)
{
	return cJSON_GetArrayItem(cJSON_GetObjectItem(graph, "shapes"), i)->valuestring;
}

/* Rows of a table, half of them in float16, by indices in int64, and a scale that stays in float. */
static void the_type_of_each_input_is_said(void **state)
{
	static const char text[] = "g (%s[%d,8] x, int64[4] i, float[8] s) => (%s[4,8] y, float[8] z)\n"
				   "{\n y = Gather <axis = 0> (x, i)\n z = Relu (s)\n}\n";
	static const struct {
		int dtype;
		const char *name;
	} types[] = { { PM_F32, "float" }, { PM_F16, "float16" }, { PM_BF16, "bfloat16" } };
	Place p;
	cJSON *j;
	const cJSON *g;
	char one[256];

	(void)state;
	begin(&p);
	for (int rows = 5; rows < 7; rows++)
		for (int k = 0; k < 3; k++) {
			snprintf(one, sizeof one, text, types[k].name, rows, types[k].name);
			variant(&p, rows - 5, types[k].dtype, one);
		}
	j = shown(&p);
	assert_int_equal(pm_json_i64(j, "variants", 0), 6);
	g = graph_at(j, 0);
	assert_null(graph_at(j, 1));
	assert_string_equal(pm_json_str(g, "variants", ""), "0-5");
	assert_string_equal(pm_json_str(g, "inputs", ""), "v0: T; v1: int64; v2: float");
	assert_string_equal(pm_json_str(g, "dtypes", ""), "float, float16, bfloat16");
	assert_string_equal(shape_at(g, 0), "0-2: 5x8 4 8");
	assert_string_equal(shape_at(g, 1), "3-5: 6x8 4 8");
	cJSON_Delete(j);
	end(&p);
}

static void graphs_are_told_apart(void **state)
{
	static const char *const texts[] = {
		"g (float[2,8] x) => (float[2,8] y)\n{\n a = LeakyRelu <alpha = 0.25> (x)\n y = Relu "
		"(a)\n}\n",
		"g (float[4,8] x) => (float[4,8] y)\n{\n a = LeakyRelu <alpha = 0.5> (x)\n y = Relu (a)\n}\n",
		"g (float[8,8] x) => (float[8,8] y)\n{\n a = LeakyRelu <alpha = 0.25> (x)\n y = Relu "
		"(a)\n}\n",
		"g (float[2,8] x) => (float[2,8] y)\n{\n a = LeakyRelu (x)\n y = Relu (a)\n}\n",
		"g (float[3,8] x, float[8] b) => (float[3,8] y)\n{\n y = Add (x, b)\n}\n",
	};
	static const char half[] = "g (float16[8,8] x) => (float16[8,8] y)\n"
				   "{\n a = LeakyRelu <alpha = 0.25> (x)\n y = Relu (a)\n}\n";
	static const char *const parts[] = { "# graph 1 of 4: variants 0,2,5; as in variant 0\n",
					     "\n0 float: 2x8\n2 float: 8x8\n5 float16: 8x8\n\n# graph 2",
					     "alpha = 0.5", "# graph 4 of 4: variants 4;",
					     "\n4 float: 3x8 8\n" };
	PmStr text = PM_STR_INIT;
	const char *mime;
	Place p;
	cJSON *j;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	begin(&p);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		variant(&p, (int)i, PM_F32, texts[i]);
	variant(&p, 5, PM_F16, half);
	j = shown(&p);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "graphs")), 4);
	assert_string_equal(pm_json_str(graph_at(j, 0), "variants", ""), "0,2,5");
	assert_null(cJSON_GetObjectItem(graph_at(j, 0), "differs"));
	assert_string_equal(shape_at(graph_at(j, 0), 1), "2,5 (float, float16): 8x8");
	assert_string_equal(cJSON_GetObjectItem(graph_at(j, 1), "differs")->child->valuestring,
			    "v1 LeakyRelu: alpha = 0.5 instead of 0.25");
	assert_string_equal(cJSON_GetObjectItem(graph_at(j, 2), "differs")->child->valuestring,
			    "v1 LeakyRelu: alpha = 0.00999999978 instead of 0.25");
	assert_null(cJSON_GetObjectItem(graph_at(j, 2), "graph"));
	assert_string_equal(pm_json_str(graph_at(j, 3), "variants", ""), "4");
	assert_non_null(strstr(pm_json_str(graph_at(j, 3), "graph", ""), "Add (v0, v1)"));
	assert_int_equal(pm_tools_resource(p.tools.t, "passmith://task/1", &text, &mime, &err), PM_OK);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strstr(text.s, parts[i]))
			fail_msg("\"%s\" is not in: %s", parts[i], text.s);
	pm_str_release(&text);
	cJSON_Delete(j);
	end(&p);
}

/* Constants that follow the shapes, and a Cast to the variant's own type, make no other graph. */
static void what_follows_the_shapes_is_the_same_graph(void **state)
{
	static const char text[] =
		"g (%s[%d,8] x) => (%s[8,%d] y)\n<int64[2] s = {8, %d}>\n"
		"{\n a = Cast <to = 1> (x)\n r = Reshape (a, s)\n y = Cast <to = %d> (r)\n}\n";
	Place p;
	cJSON *j;
	char one[256];

	(void)state;
	begin(&p);
	for (int n = 2; n < 4; n++) {
		snprintf(one, sizeof one, text, "bfloat16", n, "bfloat16", n, n, 16);
		variant(&p, n, PM_BF16, one);
		snprintf(one, sizeof one, text, "float16", n, "float16", n, n, 10);
		variant(&p, n, PM_F16, one);
	}
	j = shown(&p);
	assert_null(graph_at(j, 1));
	assert_string_equal(pm_json_str(graph_at(j, 0), "constants_vary", ""), "v1");
	cJSON_Delete(j);
	end(&p);
}

/* Sixty shapes: some are listed, and the last line says where the others are. */
static void many_shapes_are_cut_and_said_to_be(void **state)
{
	PmStr text = PM_STR_INIT;
	const char *mime;
	const cJSON *shapes;
	Place p;
	cJSON *j;
	char one[256];
	PmErr err;

	(void)state;
	pm_err_init(&err);
	begin(&p);
	for (int n = 1; n <= 60; n++) {
		snprintf(one, sizeof one, "g (float[%d] x) => (float[%d] y)\n{\n y = Relu (x)\n}\n", n, n);
		variant(&p, n, PM_F32, one);
	}
	j = shown(&p);
	shapes = cJSON_GetObjectItem(graph_at(j, 0), "shapes");
	assert_int_equal(cJSON_GetArraySize(shapes), 41);
	assert_string_equal(shape_at(graph_at(j, 0), 40), "20 shapes more, in passmith://task/1");
	assert_int_equal(pm_tools_resource(p.tools.t, "passmith://task/1", &text, &mime, &err), PM_OK);
	assert_non_null(strstr(text.s, "# graph 1 of 1: variants 0-59; as in variant 0\n"));
	for (int n = 1; n <= 60; n++) {
		snprintf(one, sizeof one, "\n%d float: %d\n", n - 1, n);
		assert_non_null(strstr(text.s, one));
	}
	/* The graph itself stands there once. */
	assert_non_null(strstr(text.s, "Relu"));
	assert_null(strstr(strstr(text.s, "Relu") + 1, "Relu"));
	pm_str_release(&text);
	cJSON_Delete(j);
	end(&p);
}

/* A launch's cost weighs most in small variants: what is possible there is told too. */
static void what_it_is_worth_is_told_of_all_variants(void **state)
{
	static const int sizes[] = { 8192, 16, 256 };
	const cJSON *worth, *all;
	Place p;
	cJSON *j;
	char one[256];

	(void)state;
	begin(&p);
	for (int i = 0; i < 3; i++) {
		snprintf(one, sizeof one,
			 "g (float[%d,%d] x, float[%d,64] w) => (float[%d,64] y)\n{\n a = MatMul (x, w)\n"
			 " b = Relu (a)\n y = Tanh (b)\n}\n",
			 sizes[i], sizes[i], sizes[i], sizes[i]);
		variant(&p, i, PM_F32, one);
	}
	j = shown(&p);
	worth = cJSON_GetObjectItem(j, "worth");
	all = cJSON_GetObjectItem(worth, "speedup_at_most_of_all");
	assert_int_equal(pm_json_i64(worth, "variant", -1), 0);
	assert_int_equal(pm_json_i64(all, "variants", 0), 3);
	/* Three launches become one, which starts sooner; and the first of them is a library's call, which
	 * takes longer. */
	assert_true(pm_json_num(all, "least", 0) == pm_json_num(worth, "speedup_at_most", 0));
	assert_true(pm_json_num(all, "most", 0) > 4 && pm_json_num(all, "most", 0) < 5);
	assert_true(pm_json_num(all, "least", 0) < pm_json_num(all, "mean", 0));
	assert_true(pm_json_num(all, "mean", 0) < pm_json_num(all, "most", 0));
	assert_non_null(strstr(pm_json_str(j, "notation", ""), "starts, ends, axes and steps of Slice"));
	cJSON_Delete(j);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_type_of_each_input_is_said),
		cmocka_unit_test(graphs_are_told_apart),
		cmocka_unit_test(what_follows_the_shapes_is_the_same_graph),
		cmocka_unit_test(what_it_is_worth_is_told_of_all_variants),
		cmocka_unit_test(many_shapes_are_cut_and_said_to_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
