/* SPDX-License-Identifier: Apache-2.0 */
/* test_tools.c - an agent's tools that need no child: the table, arguments, the workspace, tasks, graphs,
 * documentation, resources. (tests/agent/test_tools_runs.c has those that work with passes.) */
#include "app/tools/schema.h"
#include "base/sys/io.h"
#include "dataset/store/tasks.h"
#include "ir/core/type.h"
#include "runtime/exec/exec.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/tools/tool_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MODEL "passmith://docs/reference/modelled-times.md"

static void has(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("\"%s\" is not in: %s", part, text ? text : "(nothing)");
}

/* ---- the table ---- */

/* What a language model and a client are told of each tool. */
static void every_tool_is_described(void **state)
{
	const cJSON *row, *a;

	(void)state;
	assert_true(cJSON_GetArraySize(pm_tools_table()) >= 20);
	cJSON_ArrayForEach(row, pm_tools_table())
	{
		const cJSON *in = cJSON_GetObjectItem(row, "inputSchema"),
			    *out = cJSON_GetObjectItem(row, "outputSchema");

		if (strlen(pm_json_str(row, "description", "")) < 20)
			fail_msg("%s has no description", pm_json_str(row, "name", ""));
		assert_true(*pm_json_str(row, "title", "") != 0);
		assert_string_equal(pm_json_str(in, "type", ""), "object");
		assert_string_equal(pm_json_str(out, "type", ""), "object");
		assert_true(cJSON_IsFalse(cJSON_GetObjectItem(in, "additionalProperties")));
		assert_true(cJSON_IsObject(cJSON_GetObjectItem(row, "annotations")));
		cJSON_ArrayForEach(a, cJSON_GetObjectItem(in, "properties"))
		{
			if (!*pm_json_str(a, "description", ""))
				fail_msg("%s.%s has no description", pm_json_str(row, "name", ""), a->string);
		}
	}
}

/* A tool of the table that no function does would be a lie: each is known to the dispatcher. */
static void every_tool_is_there(void **state)
{
	PmTestTools s;
	const cJSON *row;
	PmToolCall *c;
	PmErr err;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	cJSON_ArrayForEach(row, pm_tools_table())
	{
		cJSON *args = cJSON_CreateObject();

		cJSON_AddNullToObject(args, "no_such_argument"); /* nothing is done */
		pm_err_init(&err);
		if (pm_tool_begin(s.t, pm_json_str(row, "name", ""), args, &c, &err))
			fail_msg("%s", err.text);
		assert_true(pm_tool_done(c));
		pm_tool_cancel(c);
		cJSON_Delete(args);
	}
	pm_err_init(&err);
	assert_int_equal(pm_tool_begin(s.t, "no_such_tool", NULL, &c, &err), PM_E_NOT_FOUND);
	has(err.text, "no_such_tool");
	pm_test_tools_end(&s);
}

static void wrong_arguments_are_named(void **state)
{
	PmTestTools s;
	const char *e;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	e = pm_test_refused(&s, "evaluate", "{'pass':'p.c','level':'slow','wait_s':'x','foo':1}");
	has(e, "level is \"slow\", of type string, and must be one of \"quick\", \"full\"");
	has(e, "wait_s is \"x\", of type string, and must be number");
	has(e, "no argument foo");
	has(e, "It takes: pass, task, model");
	has(pm_test_refused(&s, "build", "{}"), "argument pass is missing");
	has(pm_test_refused(&s, "read_file", "{'path':'a','lines':0}"), "at least 1");
	has(pm_test_refused(&s, "read_file", "{'path':'a','lines':1.5}"), "must be integer");
	has(pm_test_refused(&s, "get_run", "{'run':'r1','wait_s':601}"), "at most 600");
	has(pm_test_refused(&s, "read_file", "['path']"), "must be an object");
	has(pm_test_refused(&s, "search_docs", "{'query':''}"), "at least 1");
	pm_test_tools_end(&s);
}

/* ---- the workspace ---- */

static void files_are_written_read_and_edited(void **state)
{
	PmTestTools s;
	cJSON *j;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	pm_test_write(&s, "sub/a.c", "one\ntwo\nthree\n");
	j = pm_test_call(&s, "read_file", "{'path':'sub/a.c','from_line':2,'lines':1}");
	assert_string_equal(pm_json_str(j, "text", ""), "two\n");
	assert_int_equal(pm_json_i64(j, "next_line", 0), 3);
	assert_int_equal(pm_json_i64(j, "lines_in_file", 0), 3);
	cJSON_Delete(j);
	j = pm_test_call(&s, "edit_file", "{'path':'sub/a.c','old_text':'two','new_text':'2'}");
	assert_int_equal(pm_json_i64(j, "at_line", 0), 2);
	cJSON_Delete(j);
	j = pm_test_call(&s, "read_file", "{'path':'sub/a.c'}");
	assert_string_equal(pm_json_str(j, "text", ""), "one\n2\nthree\n");
	assert_null(cJSON_GetObjectItem(j, "next_line"));
	cJSON_Delete(j);
	has(pm_test_refused(&s, "edit_file", "{'path':'sub/a.c','old_text':'e','new_text':''}"),
	    "found 3 times");
	has(pm_test_refused(&s, "edit_file", "{'path':'sub/a.c','old_text':'four','new_text':''}"),
	    "not found");
	has(pm_test_refused(&s, "read_file", "{'path':'sub'}"), "is a folder");
	has(pm_test_refused(&s, "write_file", "{'path':'sub','text':''}"), "is a folder");
	has(pm_test_refused(&s, "read_file", "{'path':'b.c'}"), "There is no file b.c");
	j = pm_test_call(&s, "list_files", "{}");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "files")), 1);
	assert_string_equal(pm_json_str(cJSON_GetObjectItem(j, "files")->child, "path", ""), "sub/a.c");
	cJSON_Delete(j);
	pm_test_tools_end(&s);
}

/* A file of more than one answer comes in parts that make it up. */
static void a_long_file_comes_in_parts(void **state)
{
	PmStr text = PM_STR_INIT, got = PM_STR_INIT;
	PmTestTools s;
	int64_t line = 1;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	for (int i = 0; i < 3000; i++)
		pm_str_addf(&text, "\tx[%d] = \"\\\\\"; // \xc3\xa4\n", i);
	pm_test_write(&s, "long.c", text.s);
	while (line) {
		cJSON *args = cJSON_CreateObject(), *j;

		cJSON_AddStringToObject(args, "path", "long.c");
		pm_json_add_i64(args, "from_line", line);
		j = pm_test_call_json(&s, "read_file", args);
		pm_str_add(&got, pm_json_str(j, "text", ""));
		line = pm_json_i64(j, "next_line", 0);
		cJSON_Delete(j);
	}
	assert_string_equal(got.s, text.s);
	pm_str_release(&text);
	pm_str_release(&got);
	pm_test_tools_end(&s);
}

/* Nothing outside is read, written or told of, whatever the path. */
static void no_path_leaves_the_workspace(void **state)
{
	static const struct {
		const char *path, *why;
	} bad[] = { { "../x.c", "\"..\"" },      { "/etc/passwd", "absolute" },
		    { "a/../../x.c", "\"..\"" }, { "./x.c", "\".\"" },
		    { "-o", "begins with '-'" }, { "link/x.c", "symbolic link" },
		    { "link", "symbolic link" }, { "a\\nb", "control" },
		    { "sub/..", "\"..\"" },      { "file-link.c", "symbolic link" } };
	PmStr outside = PM_STR_INIT, link = PM_STR_INIT, file = PM_STR_INIT, text = PM_STR_INIT;
	PmTestTools s;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_test_tools_begin(&s, NULL, -1);
	assert_int_equal(pm_temp_dir("outside", &outside, &err), PM_OK);
	pm_path_join(outside.s, "x.c", &file);
	assert_int_equal(pm_write_file(file.s, "secret", 6, &err), PM_OK);
	pm_path_join(s.folder.s, "link", &link);
	assert_int_equal(symlink(outside.s, link.s), 0);
	pm_str_clear(&link);
	pm_path_join(s.folder.s, "file-link.c", &link);
	assert_int_equal(symlink(file.s, link.s), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char args[200];

		snprintf(args, sizeof args, "{'path':'%s'}", bad[i].path);
		has(pm_test_refused(&s, "read_file", args), bad[i].why);
		if (!strcmp(bad[i].path, "file-link.c") || !strcmp(bad[i].path, "link"))
			continue; /* a name in the workspace, which may be replaced */
		snprintf(args, sizeof args, "{'path':'%s','text':'mine'}", bad[i].path);
		pm_test_refused(&s, "write_file", args);
		snprintf(args, sizeof args, "{'pass':'%s'}", bad[i].path);
		pm_test_refused(&s, "build", args);
		snprintf(args, sizeof args, "{'model':'%s'}", bad[i].path);
		pm_test_refused(&s, "show_graph", args);
	}
	pm_test_write(&s, "file-link.c", "mine");
	assert_int_equal(pm_read_file(file.s, 0, &text, &err), PM_OK);
	assert_string_equal(text.s, "secret");
	has(pm_test_refused(&s, "write_file", "{'path':'.runs/r1.json','text':''}"), "begins with '.'");
	has(pm_test_refused(&s, "write_file", "{'path':'p.so','text':''}"), "was built");
	pm_remove_tree(outside.s, NULL);
	pm_str_release(&outside);
	pm_str_release(&link);
	pm_str_release(&file);
	pm_str_release(&text);
	pm_test_tools_end(&s);
}

/* ---- reading ---- */

static void a_name_is_looked_up(void **state)
{
	static const struct {
		const char *name, *kind, *part;
	} rows[] = { { "Softmax", "operator", "axis (must be given)" },
		     { "Mul", "operator", "may be swapped" },
		     { "Conv", "operator", "place in the padding counts as 0" },
		     { "Conv", "operator", "left out at the end does not count" },
		     { "BatchNormalization", "operator", "sqrt(var + epsilon)" },
		     { "UNWRITTEN", "verdict", "never written" },
		     { "PRECISION", "verdict", "add up partial sums of 16 to 32 terms" },
		     { "UNWRITTEN", "verdict", "broken rule" },
		     { "PRECISION", "verdict", "does not say that the pass is right" },
		     { "PRECISION", "verdict", "docs/design/error-bounds.md" },
		     { "HARNESS_FAIL", "verdict", "left out" },
		     { "COMPILE_FAIL", "verdict", "honest failure" },
		     { "NO_MATCH", "verdict", "as little as for a wrong answer" },
		     { "OK", "verdict", "the speedup counts" },
		     { "OP", "sdk", "#define OP(" },
		     { "pm_decline", "sdk", "Remembers why" },
		     { "PmKernelSpec", "sdk", "grid[3]" },
		     { "ld", "sdk", "__device__" } };
	PmTestTools s;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char args[80];
		cJSON *j, *one;

		snprintf(args, sizeof args, "{'name':'%s'}", rows[i].name);
		j = pm_test_call(&s, "show_api", args);
		one = cJSON_GetObjectItem(j, "found")->child;
		if (!one)
			fail_msg("nothing is found for %s", rows[i].name);
		assert_string_equal(pm_json_str(one, "kind", ""), rows[i].kind);
		has(pm_json_str(one, "text", ""), rows[i].part);
		cJSON_Delete(j);
	}
	{
		cJSON *j = pm_test_call(&s, "show_api", "{'name':'Sofmax'}");

		assert_string_equal(cJSON_GetObjectItem(j, "near")->child->valuestring, "Softmax");
		cJSON_Delete(j);
	}
	pm_test_tools_end(&s);
}

/* The text of the first thing that is found. */
static void api_text(PmTestTools *s, const char *name, PmStr *out)
{
	char args[80];
	cJSON *j;

	snprintf(args, sizeof args, "{'name':'%s'}", name);
	j = pm_test_call(s, "show_api", args);
	pm_str_clear(out);
	if (!cJSON_GetObjectItem(j, "found")->child)
		fail_msg("nothing is found for %s", name);
	pm_str_add(out, pm_json_str(cJSON_GetObjectItem(j, "found")->child, "text", ""));
	cJSON_Delete(j);
}

/* A structure has its comment, also above its forward typedef; a member what that comment says of it. */
static void structures_and_members_have_their_comments(void **state)
{
	static const struct {
		const char *name, *has[3], *lacks;
	} rows[] = {
		{ "PmKernelSpec",
		  { "Outputs are `outs`; when", "typedef struct PmKernelSpec PmKernelSpec;", "*alt;" },
		  "Member of" },
		{ "outs",
		  { "Member of PmKernelSpec:\n\tPmVals outs;", "Outputs are `outs`; when that is empty",
		    "Of the alternatives after the first" },
		  "A single launch" },
		{ "like",
		  { "Member of PmKernelSpec", "PmVal like;", "element type of `like`" },
		  "Inputs must" },
		{ "grid", { "Member of PmLaunch", "uint32_t grid[3];", "0 in the second" }, "smem;" },
		{ "replace_slot", { "Member of PmHost", "one more output", "(*replace_slot)" }, "alloc" },
		{ "order", { "Member of PmHost", "Place of the node of v", "(*order)(PmVal v)" }, "param" },
		{ "PmRewriter", { "collects what a rewrite", "typedef struct PmRewriter", "" }, "PmRegion" },
		{ "PmRegion", { "a set of nodes", "typedef struct PmRegion", "" }, "PmRewriter" },
		{ "PmHost", { "(*param)(PmVal v", "} PmHost;", "" }, "Member of" },
	};
	PmStr text = PM_STR_INIT;
	PmTestTools s;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		api_text(&s, rows[i].name, &text);
		for (int k = 0; k < 3; k++)
			has(text.s, rows[i].has[k]);
		if (strstr(text.s, rows[i].lacks))
			fail_msg("\"%s\" is in: %s", rows[i].lacks, text.s);
	}
	pm_str_release(&text);
	pm_test_tools_end(&s);
}

static void sections_are_found(void **state)
{
	PmTestTools s;
	cJSON *j, *one;
	PmStr text = PM_STR_INIT;
	const char *mime;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_test_tools_begin(&s, NULL, -1);
	j = pm_test_call(&s, "search_docs", "{'query':'tolerance level presets AS','limit':3}");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "sections")), 3);
	one = cJSON_GetObjectItem(j, "sections")->child;
	has(pm_json_str(one, "file", ""), "docs/");
	/* The page that it names can be read whole. */
	assert_int_equal(pm_tools_resource(s.t, pm_json_str(one, "uri", ""), &text, &mime, &err), PM_OK);
	assert_string_equal(mime, "text/markdown");
	cJSON_Delete(j);
	j = pm_test_call(&s, "search_docs", "{'query':'zzzqqqxxx'}");
	assert_null(cJSON_GetObjectItem(j, "sections")->child);
	has(pm_json_str(j, "next", ""), "try others");
	cJSON_Delete(j);
	has(pm_test_refused(&s, "search_docs", "{'query':'?!'}"), "no word");
	pm_str_release(&text);
	pm_test_tools_end(&s);
}

/* What a pass of the library says of itself, and pages of the design: what is found can be read. */
static void passes_and_the_design_are_found(void **state)
{
	static const struct {
		const char *query, *file;
		int whole;
	} rows[] = { { "Sigmoid reads x and writes a temporary, Mul reads both",
		       "passes/library/activation/silu.c", 0 },
		     { "error bound standard deviation correlation reference", "docs/design/error-bounds.md",
		       0 },
		     { "peak element type tensor cores modelled operations",
		       "docs/reference/modelled-times.md", 1 } };
	PmTestTools s;
	PmErr err;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		PmStr text = PM_STR_INIT;
		const char *mime;
		char args[160];
		const cJSON *x;
		cJSON *j;

		snprintf(args, sizeof args, "{'query':'%s','limit':3}", rows[i].query);
		j = pm_test_call(&s, "search_docs", args);
		cJSON_ArrayForEach(
			x, cJSON_GetObjectItem(j, "sections")) if (!strcmp(rows[i].file,
									   pm_json_str(x, "file", ""))) break;
		if (!x)
			fail_msg("%s is not found by: %s", rows[i].file, rows[i].query);
		assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(x, "whole")), rows[i].whole);
		pm_err_init(&err);
		if (pm_tools_resource(s.t, pm_json_str(x, "uri", ""), &text, &mime, &err))
			fail_msg("%s", err.text);
		has(text.s, rows[i].whole ? pm_json_str(x, "text", "") : "\n");
		assert_true(text.len > strlen(pm_json_str(x, "text", "")));
		cJSON_Delete(j);
		pm_str_release(&text);
	}
	pm_test_tools_end(&s);
}

/* "Pattern words" stands in a guide and in the reference, and the members of evaluate are those of submit. */
static void a_text_is_found_once(void **state)
{
	static const char *const queries[] = { "pattern words",
					       "evaluate submit verdict score steps_remaining",
					       "passmith bench --device --target --view" };
	PmTestTools s;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
		char args[160];
		const cJSON *x, *y;
		int pattern_words = 0, members = 0;
		cJSON *j;

		snprintf(args, sizeof args, "{'query':'%s','limit':20}", queries[i]);
		j = pm_test_call(&s, "search_docs", args);
		cJSON_ArrayForEach(x, cJSON_GetObjectItem(j, "sections"))
		{
			const char *heading = pm_json_str(x, "heading", "");

			pattern_words += strstr(heading, "> Pattern words") != NULL;
			members += strstr(heading, "> submit") || strstr(heading, "> evaluate");
			for (y = x->next; y; y = y->next)
				assert_string_not_equal(pm_json_str(x, "text", ""),
							pm_json_str(y, "text", ""));
		}
		assert_int_equal(pattern_words, i == 0);
		assert_int_equal(members, i == 1);
		cJSON_Delete(j);
	}
	pm_test_tools_end(&s);
}

static void a_graph_is_shown(void **state)
{
	static const char graph[] =
		"g (float[2,3] x) => (float[2,3] y)\n<float c = {0.5}>\n{\n a = Mul (x, c)\n y = "
		"Softmax <axis = 1> (a)\n}\n";
	PmTestTools s;
	cJSON *j, *node;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	pm_test_write(&s, "g.gpt", graph);
	j = pm_test_call(&s, "show_graph", "{'model':'g.gpt'}");
	node = cJSON_GetArrayItem(cJSON_GetObjectItem(j, "nodes"), 1);
	assert_string_equal(pm_json_str(node, "op", ""), "Softmax");
	assert_string_equal(cJSON_GetObjectItem(node, "out")->child->valuestring, "y: float[2,3]");
	assert_string_equal(pm_json_str(cJSON_GetObjectItem(node, "attributes"), "axis", ""), "1");
	assert_string_equal(cJSON_GetObjectItem(j, "constants")->child->valuestring, "c: float = {0.5}");
	cJSON_Delete(j);
	j = pm_test_call(&s, "show_graph", "{'model':'g.gpt','form':'text'}");
	has(pm_json_str(j, "text", ""), "y = Softmax <axis = 1> (a)");
	cJSON_Delete(j);
	j = pm_test_call(&s, "show_graph", "{'model':'models/llama_block.gpt','from':3,'count':2}");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "nodes")), 2);
	assert_int_equal(pm_json_i64(j, "next_from", 0), 5);
	cJSON_Delete(j);
	has(pm_test_refused(&s, "show_graph", "{'model':'none.gpt'}"), "models/llama_block.gpt");
	has(pm_test_refused(&s, "show_graph", "{}"), "either task");
	has(pm_test_refused(&s, "show_graph", "{'task':'1'}"), "no database");
	pm_test_write(&s, "bad.gpt", "g (float[2] x) => (float[2] y)\n{\n y = Sofmax (x)\n}\n");
	has(pm_test_refused(&s, "show_graph", "{'model':'bad.gpt'}"), "Softmax");
	pm_test_tools_end(&s);
}

/* ---- tasks ---- */

static void make_task(const char *path, const char *name, const char *split, const char *text)
{
	PmTaskBuilder *b = pm_task_begin(name, "fusible");
	PmGraph *g = pm_test_graph(text);
	PmDb *db;
	PmErr err;
	int64_t id;

	pm_err_init(&err);
	if (pm_db_open(path, 0, &db, &err) || pm_task_add(b, g, "shape 0, float", 0, PM_F32, &err))
		fail_msg("%s", err.text);
	pm_task_set_about(b, split, NULL, "easy", NULL, NULL);
	if (pm_task_end(b, db, &id, NULL, &err))
		fail_msg("%s", err.text);
	pm_db_close(db);
	pm_graph_free(g);
}

static void tasks_are_listed_and_shown(void **state)
{
	PmStr folder = PM_STR_INIT, db = PM_STR_INIT, text = PM_STR_INIT;
	const char *mime;
	PmTestTools s;
	cJSON *j, *worth;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_temp_dir("db", &folder, &err), PM_OK);
	pm_path_join(folder.s, "w.db", &db);
	make_task(db.s, "scaled_softmax", "train",
		  "g (float[2,3] x) => (float[2,3] y)\n<float c = {0.5}>\n{\n a = Mul (x, c)\n y = Softmax "
		  "<axis = 1> "
		  "(a)\n}\n");
	make_task(db.s, "gate", "eval",
		  "g (float[64] x) => (float[64] y)\n{\n s = Sigmoid (x)\n y = Mul (x, s)\n}\n");
	pm_test_tools_begin(&s, db.s, -1);
	j = pm_test_call(&s, "list_tasks", "{}");
	assert_int_equal(pm_json_i64(j, "found", 0), 2);
	cJSON_Delete(j);
	j = pm_test_call(&s, "list_tasks", "{'split':'eval','category':'activation','filter':'GATE'}");
	assert_int_equal(pm_json_i64(j, "found", 0), 1);
	assert_int_equal(pm_json_i64(cJSON_GetObjectItem(j, "tasks")->child, "task", 0), 2);
	cJSON_Delete(j);
	j = pm_test_call(&s, "list_tasks", "{'limit':1}");
	assert_int_equal(pm_json_i64(j, "next_offset", 0), 1);
	cJSON_Delete(j);
	j = pm_test_call(&s, "show_task", "{'task':'gate'}");
	has(pm_json_str(j, "graph", ""), "Sigmoid");
	worth = cJSON_GetObjectItem(j, "worth");
	/* Two launches become one, which moves 512 bytes. */
	assert_int_equal(pm_json_i64(worth, "plain_launches", 0), 2);
	assert_int_equal(pm_json_i64(worth, "least_bytes", 0), 512);
	assert_true(pm_json_num(worth, "saves_us", 0) > 2.6 && pm_json_num(worth, "saves_us", 0) < 2.8);
	assert_int_equal(pm_tools_resource(s.t, pm_json_str(j, "all_graphs", ""), &text, &mime, &err), PM_OK);
	has(text.s, "Sigmoid");
	/* Where the model of time is explained is told, and can be read. */
	has(pm_json_str(j, "hardware", ""), MODEL);
	pm_str_clear(&text);
	assert_int_equal(pm_tools_resource(s.t, MODEL, &text, &mime, &err), PM_OK);
	has(text.s, "max(bytes / bandwidth, operations / peak)");
	cJSON_Delete(j);
	has(pm_test_refused(&s, "show_task", "{'task':'77'}"), "list_tasks");
	j = pm_test_call(&s, "leaderboard", "{}");
	assert_null(cJSON_GetObjectItem(j, "rows")->child);
	cJSON_Delete(j);
	pm_test_tools_end(&s);
	pm_remove_tree(folder.s, NULL);
	pm_str_release(&folder);
	pm_str_release(&db);
	pm_str_release(&text);
}

/* The most similar comes whole, the others by name; one that gives the graph away comes in no way. */
static void exemplars_are_asked_for(void **state)
{
	static const char elu[] =
		"g (float[1,4,6,6] x, float[4,4,3,3] w, float[4] a, float[4] b, float[4] c, float[4] d) "
		"=> (float[1,4,6,6] y)\n{\n"
		" u = Conv <strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w)\n"
		" v = BatchNormalization (u, a, b, c, d)\n y = %s (v)\n}\n";
	char text[400];
	PmTestTools s;
	const cJSON *x;
	cJSON *j;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	snprintf(text, sizeof text, elu, "LeakyRelu");
	pm_test_write(&s, "leaky.gpt", text);
	snprintf(text, sizeof text, elu, "Elu");
	pm_test_write(&s, "elu.gpt", text);
	j = pm_test_call(&s, "exemplars", "{'model':'leaky.gpt'}");
	x = cJSON_GetObjectItem(j, "exemplars")->child;
	assert_string_equal(pm_json_str(x, "name", ""), "conv_bn_elu");
	assert_null(x->next);
	assert_true(pm_json_num(x, "similarity", 0) == 0.6);
	has(pm_json_str(x, "what", ""), "any 2-D convolution");
	has(pm_json_str(x, "pass", ""), "PM_PLUGIN(\"conv_bn_elu\"");
	assert_null(strstr(pm_json_str(x, "thoughts", ""), "<!--"));
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(j, "others")) >= 13);
	cJSON_Delete(j);
	j = pm_test_call(&s, "exemplars", "{'model':'leaky.gpt','name':'depthwise_hardswish'}");
	x = cJSON_GetObjectItem(j, "exemplars")->child;
	assert_string_equal(pm_json_str(x, "name", ""), "depthwise_hardswish");
	cJSON_Delete(j);
	j = pm_test_call(&s, "exemplars", "{'model':'leaky.gpt','limit':4}");
	assert_null(cJSON_GetObjectItem(j, "left_out"));
	assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(j, "exemplars")) +
			    cJSON_GetArraySize(cJSON_GetObjectItem(j, "others")) >=
		    14);
	cJSON_Delete(j);
	has(pm_test_refused(&s, "exemplars", "{'model':'elu.gpt','name':'conv_bn_elu'}"),
	    "give the graph away");
	has(pm_test_refused(&s, "exemplars", "{'name':'conv_bn_elu'}"), "Name the task");
	pm_test_tools_end(&s);
}

/* Where none of those that may be shown is like the graph, no source comes; and what is withheld is counted.
 */
static void exemplars_that_are_not_like_it_have_no_source(void **state)
{
	PmTestTools s;
	const cJSON *x, *all;
	cJSON *j, *every;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	pm_test_write(&s, "product.gpt",
		      "g (float[64,32] x, float[32,16] w) => (float[64,16] y)\n{\n y = MatMul (x, w)\n}\n");
	every = pm_test_call(&s, "exemplars", "{}");
	all = cJSON_GetObjectItem(every, "exemplars");
	assert_null(cJSON_GetObjectItem(every, "withheld"));
	j = pm_test_call(&s, "exemplars", "{'model':'product.gpt','limit':4}");
	cJSON_ArrayForEach(x, cJSON_GetObjectItem(j, "exemplars"))
		assert_true(pm_json_num(x, "similarity", 0) >= 0.1);
	assert_null(cJSON_GetObjectItem(j, "exemplars")->child);
	has(pm_json_str(j, "next", ""), "None of those that may be shown is like this graph");
	assert_true(pm_json_i64(j, "withheld", 0) >= 2);
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "others")) + pm_json_i64(j, "withheld", 0),
			 cJSON_GetArraySize(all));
	cJSON_ArrayForEach(x, cJSON_GetObjectItem(j, "others"))
	{
		assert_null(cJSON_GetObjectItem(x, "pass"));
		assert_true(*pm_json_str(x, "what", "") != 0 && pm_json_num(x, "similarity", 1) < 0.1);
	}
	cJSON_Delete(j);
	j = pm_test_call(&s, "exemplars", "{'model':'product.gpt','name':'row_range'}");
	has(pm_json_str(cJSON_GetObjectItem(j, "exemplars")->child, "pass", ""), "PM_PLUGIN(\"row_range\"");
	cJSON_Delete(j);
	cJSON_Delete(every);
	pm_test_tools_end(&s);
}

/* ---- resources ---- */

/* The figures of the page are those of the model. */
/* The text says a constant of the default target, between these words. */
static void has_number(const char *text, const char *before, const char *constant, const char *behind)
{
	char said[96];

	snprintf(said, sizeof said, "%s%g%s", before, pm_target_cost(pm_target_find("h200"), constant),
		 behind);
	has(text, said);
}

static void the_page_of_times_has_the_profiles(void **state)
{
	static const char *const names[] = { "h200", "h100", "a100", "rtx4090", "l4" };
	PmStr text = PM_STR_INIT;
	PmTestTools s;
	const char *mime;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_test_tools_begin(&s, NULL, -1);
	assert_int_equal(pm_tools_resource(s.t, MODEL, &text, &mime, &err), PM_OK);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const PmProfile *p = pm_profile(names[i]);
		char row[160];

		assert_non_null(strstr(pm_target_names(), names[i]));
		snprintf(row, sizeof row,
			 "| `%s`%s | %.2f us | %.2f TB/s | %.3g T/s | %.3g T/s | %.3g T/s | %.3g T/s |",
			 p->name, i ? "" : " (default)", p->launch_seconds * 1e6, p->bytes_per_second * 1e-12,
			 p->flops_per_second[PM_PEAK_DOUBLE] * 1e-12,
			 p->flops_per_second[PM_PEAK_SINGLE] * 1e-12,
			 p->flops_per_second[PM_PEAK_HALF] * 1e-12,
			 p->flops_per_second[PM_PEAK_INTEGER] * 1e-12);
		has(text.s, row);
	}
	assert_int_equal(strlen(pm_target_names()), strlen(" h200 h100 a100 rtx4090 l4"));
	has_number(text.s, "Start is ", "start_us", " us of a run of one launch,");
	has_number(text.s, " and up to ", "several_us", " us more of a run of several:");
	has_number(text.s, ": ", "wait_request_cycles", " cycles for each request to global memory,");
	has_number(text.s, " ", "wait_barrier_cycles", " for each barrier,");
	has_number(text.s, " ", "wait_collective_cycles", " for each collective;");
	pm_str_release(&text);
	pm_test_tools_end(&s);
}

static int listed(const cJSON *list, const char *uri)
{
	const cJSON *r;
	int n = 0;

	cJSON_ArrayForEach(r, list) n += !strcmp(pm_json_str(r, "uri", ""), uri);
	return n;
}

static const char *title_of(const cJSON *list, const char *uri)
{
	const cJSON *r;

	cJSON_ArrayForEach(r, list) if (!strcmp(pm_json_str(r, "uri", ""), uri)) return pm_json_str(
		r, "title", "");
	return "";
}

/* Each complete pass of the library, what they share, and the pages of the design; always in the same order.
 */
static void passes_are_resources(void **state)
{
	PmStr a = PM_STR_INIT, b = PM_STR_INIT;
	PmNames topics = { 0 };
	PmTestTools s;
	const cJSON *r;
	cJSON *list, *again;
	size_t n = 0;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	list = pm_tools_resources(s.t);
	again = pm_tools_resources(s.t);
	assert_int_equal(pm_list_dir("passes/library", &topics, NULL), PM_OK);
	for (size_t i = 0; i < topics.n; i++) {
		PmStr folder = PM_STR_INIT;
		PmNames names = { 0 };

		pm_str_addf(&folder, "passes/library/%s", topics.v[i]);
		assert_int_equal(pm_list_dir(folder.s, &names, NULL), PM_OK);
		for (size_t k = 0; k < names.n; k++, n++) {
			char uri[200];

			snprintf(uri, sizeof uri, "passmith://%s/%s", folder.s, names.v[k]);
			if (listed(list, uri) != 1)
				fail_msg("%s is not a resource", uri);
		}
		pm_names_release(&names);
		pm_str_release(&folder);
	}
	assert_true(n >= 28);
	assert_int_equal(listed(list, "passmith://passes/common/norm_rows.cu"), 1);
	assert_int_equal(listed(list, "passmith://docs/design/error-bounds.md"), 1);
	assert_int_equal(listed(list, "passmith://docs/design/integrity.md"), 0);
	assert_string_equal(title_of(list, "passmith://passes/library/activation/silu.c"),
			    "silu.c: x * sigmoid(x) as one kernel");
	assert_string_equal(
		title_of(list, "passmith://passes/library/activation/geglu.c"),
		"geglu.c: gelu(x) * u, the gate of T5's and many diffusion models' feed-forward blocks, "
		"as one ...");
	/* Over two lines; up to the end of the sentence; a heading. */
	assert_string_equal(
		title_of(list, "passmith://passes/common/gated.h"),
		"gated.h: act(gate) * up, with the two as separate values or as the halves of one "
		"tensor");
	assert_string_equal(
		title_of(list, "passmith://passes/library/norm/add_layer_norm.c"),
		"add_layer_norm.c: residual addition and layer normalisation as one kernel, also when "
		"the sum is ...");
	assert_string_equal(
		title_of(list, "passmith://passes/library/attention/split_heads.c"),
		"split_heads.c: queries and keys of attention: bias, heads in front of the sequence, "
		"scale, as ...");
	assert_string_equal(title_of(list, MODEL), "modelled-times.md: How times are modelled");
	cJSON_ArrayForEach(r, list)
	{
		const char *title = pm_json_str(r, "title", ""), *name = pm_json_str(r, "name", "");

		if (strlen(title) > 100 || strlen(title) < 12 ||
		    (strcmp(name, "template.c") != 0 && strncmp(title, name, strlen(name)) != 0))
			fail_msg("the title of %s is \"%s\"", name, title);
	}
	pm_json_print(list, 0, &a);
	pm_json_print(again, 0, &b);
	assert_string_equal(a.s, b.s);
	cJSON_Delete(list);
	cJSON_Delete(again);
	pm_names_release(&topics);
	pm_str_release(&a);
	pm_str_release(&b);
	pm_test_tools_end(&s);
}

static void resources_are_read(void **state)
{
	static const char *const none[] = { "passmith://docs/guide/../README.md",
					    "passmith://sdk/",
					    "passmith://docs/design/integrity.md",
					    "passmith://passes/library/norm/../layout/grn.c",
					    "passmith://run/r1",
					    "file:///etc/passwd",
					    "passmith://run/../x",
					    "passmith://docs/guide/.x.md" };
	PmTestTools s;
	cJSON *list;
	const cJSON *r;
	PmErr err;

	(void)state;
	pm_test_tools_begin(&s, NULL, -1);
	list = pm_tools_resources(s.t);
	assert_true(cJSON_GetArraySize(list) > 20);
	cJSON_ArrayForEach(r, list)
	{
		PmStr text = PM_STR_INIT;
		const char *mime = NULL;

		pm_err_init(&err);
		if (pm_tools_resource(s.t, pm_json_str(r, "uri", ""), &text, &mime, &err))
			fail_msg("%s", err.text);
		assert_true(text.len > 0);
		assert_string_equal(mime, pm_json_str(r, "mimeType", ""));
		pm_str_release(&text);
	}
	cJSON_Delete(list);
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		PmStr text = PM_STR_INIT;
		const char *mime;

		pm_err_init(&err);
		assert_int_equal(pm_tools_resource(s.t, none[i], &text, &mime, &err), PM_E_NOT_FOUND);
		pm_str_release(&text);
	}
	pm_test_tools_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tool_is_described),
		cmocka_unit_test(every_tool_is_there),
		cmocka_unit_test(wrong_arguments_are_named),
		cmocka_unit_test(files_are_written_read_and_edited),
		cmocka_unit_test(a_long_file_comes_in_parts),
		cmocka_unit_test(no_path_leaves_the_workspace),
		cmocka_unit_test(a_name_is_looked_up),
		cmocka_unit_test(structures_and_members_have_their_comments),
		cmocka_unit_test(sections_are_found),
		cmocka_unit_test(passes_and_the_design_are_found),
		cmocka_unit_test(a_text_is_found_once),
		cmocka_unit_test(a_graph_is_shown),
		cmocka_unit_test(tasks_are_listed_and_shown),
		cmocka_unit_test(exemplars_are_asked_for),
		cmocka_unit_test(exemplars_that_are_not_like_it_have_no_source),
		cmocka_unit_test(the_page_of_times_has_the_profiles),
		cmocka_unit_test(passes_are_resources),
		cmocka_unit_test(resources_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
