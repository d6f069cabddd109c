/* SPDX-License-Identifier: Apache-2.0 */
/* test_tools_graphs.c - an agent's tools on a task of several graphs: explain answers for each of them, and a
 * quick evaluation says which it has not seen. */
#include "base/sys/io.h"
#include "dataset/store/tasks.h"
#include "ir/text/text.h"
#include "tests/lib/need.h"
#include "tests/lib/tools/tool_pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char exp_graph[] = "g (float[%d,8] x) => (float[%d,8] y)\n{\n y = Exp (x)\n}\n";

typedef struct Place {
	PmTestTools s;
	PmStr folder, db;
} Place;

static void add(PmTaskBuilder *b, int shape, const char *text)
{
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &g, &err) || pm_task_add(b, g, "a label", shape, PM_F32, &err))
		fail_msg("%s", err.text);
	pm_graph_free(g);
}

/* Variant 0 has the graph that the pass is for, 1 and 2 another one. */
static void make_task(const char *path, const char *name, int others)
{
	PmTaskBuilder *b = pm_task_begin(name, "fusible");
	PmDb *db;
	char text[128];
	PmErr err;
	int64_t id;

	pm_err_init(&err);
	add(b, 0, pm_test_rms_graph);
	for (int i = 1; i <= others; i++) {
		snprintf(text, sizeof text, exp_graph, i, i);
		add(b, i, text);
	}
	if (pm_db_open(path, 0, &db, &err) || pm_task_end(b, db, &id, NULL, &err))
		fail_msg("%s", err.text);
	pm_db_close(db);
}

static void setup(Place *p)
{
	pm_test_need_device("emu");
	pm_str_init(&p->folder);
	pm_str_init(&p->db);
	assert_int_equal(pm_temp_dir("db", &p->folder, NULL), PM_OK);
	pm_path_join(p->folder.s, "w.db", &p->db);
	make_task(p->db.s, "mixed", 2);
	make_task(p->db.s, "single", 0);
	pm_test_tools_begin(&p->s, p->db.s, -1);
	pm_test_write_rms(&p->s, "p.c", NULL, NULL);
}

static void teardown(Place *p)
{
	pm_test_tools_end(&p->s);
	pm_remove_tree(p->folder.s, NULL);
	pm_str_release(&p->folder);
	pm_str_release(&p->db);
}

static void is_text(const cJSON *j, const char *name, const char *text)
{
	assert_string_equal(pm_json_str(j, name, "(none)"), text);
}

static void each_graph_is_explained(void **state)
{
	Place p;
	cJSON *j;
	const cJSON *x;

	(void)state;
	setup(&p);
	j = pm_test_finished(&p.s, pm_test_call(&p.s, "explain", "{'pass':'p.c','task':'mixed'}"));
	is_text(j, "verdict", "NO_MATCH");
	is_text(j, "variant", "1 (a label)");
	assert_null(pm_json_get(j, "rules"));
	assert_int_equal(cJSON_GetArraySize(pm_json_get(j, "graphs")), 2);
	assert_non_null(strstr(pm_json_str(j, "looked_at", ""), "it has 2"));
	x = pm_json_get(j, "graphs")->child; /* the worst */
	assert_int_equal(pm_json_i64(x, "graph", -1), 1);
	is_text(x, "variants", "1-2");
	is_text(x, "verdict", "NO_MATCH");
	assert_int_equal(pm_json_i64(pm_json_get(x, "rules")->child, "roots", -1), 0);
	x = x->next;
	assert_int_equal(pm_json_i64(x, "graph", -1), 0);
	is_text(x, "variants", "0");
	is_text(x, "variant", "0 (a label)");
	is_text(x, "verdict", "OK");
	assert_int_equal(pm_json_i64(pm_json_get(x, "rules")->child, "applied", 0), 1);
	cJSON_Delete(j);
	/* A variant that is named is the only one. */
	j = pm_test_finished(&p.s,
			     pm_test_call(&p.s, "explain", "{'pass':'p.c','task':'mixed','variant':0}"));
	is_text(j, "verdict", "OK");
	assert_null(pm_json_get(j, "graphs"));
	assert_null(pm_json_get(j, "looked_at"));
	assert_int_equal(pm_json_i64(pm_json_get(j, "rules")->child, "applied", 0), 1);
	cJSON_Delete(j);
	teardown(&p);
}

static void a_quick_evaluation_says_which_graphs_it_has_not_seen(void **state)
{
	Place p;
	cJSON *j;

	(void)state;
	setup(&p);
	j = pm_test_finished(&p.s, pm_test_call(&p.s, "evaluate", "{'pass':'p.c','task':'mixed'}"));
	is_text(j, "looked_at",
		"Only variant 0 (a label) was looked at, of graph 0 (variants 0). Graphs that were not "
		"looked "
		"at: 1 (variants 1-2).");
	cJSON_Delete(j);
	j = pm_test_finished(&p.s, pm_test_call(&p.s, "evaluate", "{'pass':'p.c','task':'single'}"));
	is_text(j, "looked_at",
		"Only variant 0 (a label) was looked at, of graph 0 (variants 0). The task has no other "
		"graph.");
	cJSON_Delete(j);
	j = pm_test_finished(&p.s,
			     pm_test_call(&p.s, "evaluate", "{'pass':'p.c','task':'mixed','variant':0}"));
	assert_null(pm_json_get(j, "looked_at"));
	cJSON_Delete(j);
	teardown(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_graph_is_explained),
		cmocka_unit_test(a_quick_evaluation_says_which_graphs_it_has_not_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
