/* SPDX-License-Identifier: Apache-2.0 */
/* test_tools_queue.c - whole evaluations of an agent's session: one runs at a time, what waits is judged as
 * it was, what is finished is told before the end, and the answer says each thing once. */
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "dataset/store/tasks.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/lib/tools/tool_pass.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Needs what stands above. */
#include <cmocka.h>

static void has(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("\"%s\" is not in: %s", part, text ? text : "(nothing)");
}

/* ---- two tasks of four variants ---- */

typedef struct Place {
	PmTestTools s;
	PmStr folder, db;
} Place;

enum { N_VARIANTS = 4 };

/* Their rows. The last one of the large task takes a minute of a processor, and the others a second: what is
 * to be seen while it goes on is seen on a busy machine too. */
static const int small_rows[N_VARIANTS] = { 4, 8, 12, 16 }, large_rows[N_VARIANTS] = { 4, 8, 12, 65536 };

static void make_task(const char *path, const char *name, const char *graph, const int rows[N_VARIANTS])
{
	PmTaskBuilder *b = pm_task_begin(name, "fusible");
	PmDb *db;
	PmErr err;
	int64_t id;

	pm_err_init(&err);
	if (pm_db_open(path, 0, &db, &err))
		fail_msg("%s", err.text);
	for (int i = 0; i < N_VARIANTS; i++) {
		PmStr text = PM_STR_INIT;
		const char *from = graph, *at;
		char label[32], type[32];
		PmGraph *g;

		while ((at = strstr(from, "float[4,64]")) != NULL) {
			snprintf(type, sizeof type, "float[%d,64]", rows[i]);
			pm_str_addn(&text, from, (size_t)(at - from));
			pm_str_add(&text, type);
			from = at + strlen("float[4,64]");
		}
		pm_str_add(&text, from);
		g = pm_test_graph(text.s);
		snprintf(label, sizeof label, "shape %d, float", i);
		if (pm_task_add(b, g, label, i, PM_F32, &err))
			fail_msg("%s", err.text);
		pm_graph_free(g);
		pm_str_release(&text);
	}
	if (pm_task_end(b, db, &id, NULL, &err))
		fail_msg("%s", err.text);
	pm_db_close(db);
}

static void setup(Place *p, int64_t steps)
{
	pm_test_need_device("emu");
	pm_str_init(&p->folder);
	pm_str_init(&p->db);
	assert_int_equal(pm_temp_dir("db", &p->folder, NULL), PM_OK);
	pm_path_join(p->folder.s, "w.db", &p->db);
	make_task(p->db.s, "rms", pm_test_rms_graph, small_rows);
	make_task(p->db.s, "large", pm_test_rms_graph, large_rows);
	pm_test_tools_begin(&p->s, p->db.s, steps);
	pm_test_write(&p->s, "g.gpt", pm_test_rms_graph);
}

static void teardown(Place *p)
{
	pm_test_tools_end(&p->s);
	pm_remove_tree(p->folder.s, NULL);
	pm_str_release(&p->folder);
	pm_str_release(&p->db);
}

static int exists(const Place *p, const char *name)
{
	PmStr path = PM_STR_INIT;
	int is;

	pm_path_join(p->s.folder.s, name, &path);
	is = pm_path_exists(path.s);
	pm_str_release(&path);
	return is;
}

static cJSON *run_of(Place *p, const char *handle, int wait_s)
{
	char args[64];

	snprintf(args, sizeof args, "{'run':'%s','wait_s':%d}", handle, wait_s);
	return pm_test_call(&p->s, "get_run", args);
}

static void cancel(Place *p, const char *handle)
{
	char args[64];
	cJSON *j;

	snprintf(args, sizeof args, "{'run':'%s'}", handle);
	j = pm_test_call(&p->s, "cancel_run", args);
	assert_string_equal(pm_json_str(j, "state", ""), "cancelled");
	cJSON_Delete(j);
}

/* The run is there and works or waits; what it says of its progress. */
static void is_running(Place *p, const char *handle, const char *words)
{
	cJSON *j = run_of(p, handle, 0);

	assert_string_equal(pm_json_str(j, "state", ""), "running");
	if (words)
		has(pm_json_str(j, "progress", ""), words);
	cJSON_Delete(j);
}

/* Waits until the evaluation of a run has begun. */
static void wait_for_start(Place *p, const char *handle)
{
	char name[64];

	snprintf(name, sizeof name, ".runs/%s.progress.jsonl", handle);
	while (!exists(p, name)) {
		is_running(p, handle, NULL);
		poll(NULL, 0, 20);
	}
}

/* ---- the queue ---- */

#define LONG "{'pass':'p.c','task':'large','level':'full','variant':3,'deadline':3600,'wait_s':0}"
#define FULL "{'pass':'p.c','model':'g.gpt','level':'full','wait_s':0}"

static void whole_evaluations_wait_for_each_other(void **state)
{
	Place p;
	cJSON *j;

	(void)state;
	setup(&p, 5);
	pm_test_write_rms(&p.s, "p.c", NULL, NULL);
	cJSON_Delete(pm_test_call(&p.s, "evaluate", LONG));
	wait_for_start(&p, "r1");
	for (int i = 0; i < 3; i++)
		cJSON_Delete(pm_test_call(&p.s, "evaluate", FULL));
	is_running(&p, "r2", "waits for r1");
	is_running(&p, "r3", "waits for r1 and r2");
	/* A quick one does not wait; it is the fifth of five. */
	j = pm_test_finished(&p.s, pm_test_call(&p.s, "evaluate", "{'pass':'p','model':'g.gpt'}"));
	assert_string_equal(pm_json_str(j, "verdict", ""), "OK");
	assert_int_equal(pm_json_i64(j, "steps_remaining", -1), 0);
	cJSON_Delete(j);
	cancel(&p, "r2"); /* which gives its step back */
	is_running(&p, "r3", "waits for r1;");
	j = run_of(&p, "r3", 0);
	assert_int_equal(pm_json_i64(j, "steps_remaining", -1), 1);
	cJSON_Delete(j);
	cancel(&p, "r1");
	for (int i = 3; i <= 4; i++) {
		j = pm_test_finished(&p.s, run_of(&p, i == 3 ? "r3" : "r4", 60));
		assert_string_equal(pm_json_str(j, "verdict", ""), "OK");
		cJSON_Delete(j);
	}
	assert_false(exists(&p, ".runs/r2.progress.jsonl")); /* no child was started for it */
	assert_true(exists(&p, ".runs/r3.progress.jsonl"));
	teardown(&p);
}

/* What waits when the session ends is never begun. */
static void the_end_of_a_session_begins_nothing(void **state)
{
	Place p;
	cJSON *j;

	(void)state;
	setup(&p, -1);
	pm_test_write_rms(&p.s, "p.c", NULL, NULL);
	cJSON_Delete(pm_test_call(&p.s, "evaluate", LONG));
	wait_for_start(&p, "r1");
	cJSON_Delete(pm_test_call(&p.s, "evaluate", FULL));
	is_running(&p, "r2", "waits for r1");
	pm_test_tools_again(&p.s, -1);
	for (int i = 1; i <= 2; i++) {
		j = run_of(&p, i == 1 ? "r1" : "r2", 0);
		assert_string_equal(pm_json_str(j, "state", ""), "cancelled");
		cJSON_Delete(j);
	}
	assert_false(exists(&p, ".runs/r2.progress.jsonl"));
	teardown(&p);
}

/* Source, object and graph may change while it waits. */
static void what_waits_is_judged_as_it_was(void **state)
{
	Place p;
	cJSON *j;

	(void)state;
	setup(&p, -1);
	pm_test_write_rms(&p.s, "p.c", NULL, NULL);
	pm_test_write(&p.s, "other.c", "int other;\n");
	cJSON_Delete(pm_test_call(&p.s, "evaluate", LONG));
	wait_for_start(&p, "r1");
	cJSON_Delete(pm_test_call(&p.s, "evaluate", FULL));
	is_running(&p, "r2", "waits for r1");
	pm_test_write_rms(&p.s, "p.c", "1e-5f)", "1e-2f)");
	j = pm_test_finished(&p.s, pm_test_call(&p.s, "evaluate", "{'pass':'p','model':'g.gpt'}"));
	assert_string_equal(pm_json_str(j, "verdict", ""), "INCORRECT"); /* the object is another one */
	cJSON_Delete(j);
	pm_test_write(&p.s, "g.gpt", "g (float[8] x) => (float[8] y)\n{\n y = Exp (x)\n}\n");
	cancel(&p, "r1");
	j = pm_test_finished(&p.s, run_of(&p, "r2", 60));
	assert_string_equal(pm_json_str(j, "verdict", ""), "OK");
	cJSON_Delete(j);
	assert_true(exists(&p, ".runs/r2.pass/p.c") && exists(&p, ".runs/r2.pass/p.so"));
	assert_false(exists(&p, ".runs/r2.pass/other.c"));
	teardown(&p);
}

static void copy(const Place *p, const char *from, const char *to)
{
	PmStr a = PM_STR_INIT, b = PM_STR_INIT, bytes = PM_STR_INIT;

	pm_path_join(p->s.folder.s, from, &a);
	pm_path_join(p->s.folder.s, to, &b);
	assert_int_equal(pm_read_file(a.s, 0, &bytes, NULL), PM_OK);
	assert_int_equal(pm_write_file(b.s, bytes.s, bytes.len, NULL), PM_OK);
	pm_str_release(&a);
	pm_str_release(&b);
	pm_str_release(&bytes);
}

/* Another build of the pass may end before the object of the first is read. */
static void an_object_is_of_its_own_build(void **state)
{
	cJSON *args = cJSON_Parse("{\"pass\":\"p.c\",\"model\":\"g.gpt\",\"level\":\"full\"}"), *j;
	PmToolCall *c;
	Place p;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	setup(&p, -1);
	pm_test_write_rms(&p.s, "w.c", "1e-5f)", "1e-2f)");
	cJSON_Delete(pm_test_finished(&p.s, pm_test_call(&p.s, "build", "{'pass':'w.c'}")));
	pm_test_write_rms(&p.s, "p.c", NULL, NULL);
	assert_int_equal(pm_tool_begin(p.s.t, "evaluate", args, &c, &err), PM_OK);
	while (!exists(&p, "p.so") && !exists(&p, ".runs/r2.pass/p.so"))
		poll(NULL, 0, 20);
	copy(&p, "w.so", "p.so");
	j = pm_test_finished(&p.s, run_of(&p, "r2", 60));
	assert_string_equal(pm_json_str(j, "verdict", ""), "OK");
	cJSON_Delete(j);
	pm_tool_cancel(c);
	/* Its object is the pass's again, of the source that is there. */
	j = pm_test_finished(&p.s, pm_test_call(&p.s, "evaluate", "{'pass':'p.so','model':'g.gpt'}"));
	assert_string_equal(pm_json_str(j, "verdict", ""), "OK");
	cJSON_Delete(j);
	cJSON_Delete(args);
	teardown(&p);
}

/* ---- before the end ---- */

/* Waits until all variants but the one that takes long are judged. */
static cJSON *partly(Place *p, const char *handle)
{
	for (;;) {
		cJSON *j = run_of(p, handle, 0);

		assert_string_equal(pm_json_str(j, "state", ""), "running");
		if (pm_json_num(pm_json_get(j, "so_far"), "variants", 0) >= N_VARIANTS - 1)
			return j;
		cJSON_Delete(j);
		poll(NULL, 0, 20);
	}
}

static void check_so_far(const cJSON *j)
{
	const cJSON *far = pm_json_get(j, "so_far"), *first = pm_json_get(far, "first_failing");

	assert_int_equal(pm_json_i64(far, "variants", 0), N_VARIANTS - 1);
	assert_int_equal(pm_json_i64(far, "of", 0), N_VARIANTS);
	assert_int_equal(cJSON_GetArraySize(pm_json_get(far, "verdicts")), 2);
	assert_string_equal(pm_json_str(first, "verdict", ""), "INCORRECT");
	assert_int_equal(pm_json_i64(first, "number", -1), 1);
	assert_true(cJSON_IsObject(pm_json_get(pm_json_get(first, "failure"), "first")));
	has(pm_json_str(first, "next", ""), "formula");
	has(pm_json_str(j, "progress", ""), "3 of 4 variants are judged (2 OK, 1 INCORRECT)");
}

/* Adds the first two lines of a run's file to it once more: a beginning and a variant. */
static void begin_again(Place *p, const char *handle)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT, twice = PM_STR_INIT;
	const char *second;

	pm_str_addf(&path, "%s/.runs/%s.progress.jsonl", p->s.folder.s, handle);
	assert_int_equal(pm_read_file(path.s, 0, &text, NULL), PM_OK);
	second = strchr(text.s, '\n') + 1;
	pm_str_addn(&twice, text.s, text.len);
	pm_str_addn(&twice, text.s, (size_t)(strchr(second, '\n') + 1 - text.s));
	assert_int_equal(pm_write_file(path.s, twice.s, twice.len, NULL), PM_OK);
	pm_str_release(&path);
	pm_str_release(&text);
	pm_str_release(&twice);
}

static void what_is_finished_is_told_before_the_end(void **state)
{
	static const char lost[] = "{\"run\":\"r1\",\"tool\":\"evaluate\",\"state\":\"running\",\"args\":{}}";
	PmStr path = PM_STR_INIT;
	Place p;
	cJSON *j;

	(void)state;
	setup(&p, -1);
	pm_test_write_rms(&p.s, "p.c", "1e-5f)", "(rows == 8 ? 1e-1f : 1e-5f))");
	cJSON_Delete(pm_test_call(&p.s, "evaluate",
				  "{'pass':'p.c','task':'large','level':'full','deadline':3600,'wait_s':0}"));
	j = partly(&p, "r1");
	check_so_far(j);
	assert_true(pm_json_num(j, "seconds_left", -1) >= 0);
	assert_int_equal(pm_json_i64(j, "done", 0), 3);
	cJSON_Delete(j);
	j = pm_test_call(&p.s, "cancel_run", "{'run':'r1'}");
	assert_string_equal(pm_json_str(j, "state", ""), "cancelled");
	check_so_far(j);
	cJSON_Delete(j);
	j = run_of(&p, "r1", 0);
	assert_string_equal(pm_json_str(j, "state", ""), "cancelled");
	check_so_far(j);
	assert_null(pm_json_get(j, "seconds_left"));
	cJSON_Delete(j);
	/* In a later session, and when the first had no time to say anything. */
	pm_test_tools_again(&p.s, -1);
	j = run_of(&p, "r1", 0);
	check_so_far(j);
	cJSON_Delete(j);
	pm_path_join(p.s.folder.s, ".runs/r1.json", &path);
	assert_int_equal(pm_write_file(path.s, lost, sizeof lost - 1, NULL), PM_OK);
	j = run_of(&p, "r1", 0);
	assert_string_equal(pm_json_str(j, "state", ""), "lost");
	check_so_far(j);
	cJSON_Delete(j);
	/* Where its GPU was left, the pass began again on another one. */
	begin_again(&p, "r1");
	j = run_of(&p, "r1", 0);
	assert_int_equal(pm_json_i64(pm_json_get(j, "so_far"), "variants", 0), 1);
	assert_int_equal(pm_json_i64(pm_json_get(j, "so_far"), "of", 0), N_VARIANTS);
	cJSON_Delete(j);
	pm_str_release(&path);
	teardown(&p);
}

/* ---- the answer ---- */

static void each_thing_is_said_once(void **state)
{
	Place p;
	cJSON *j;
	const cJSON *rec;

	(void)state;
	setup(&p, 3);
	pm_test_write_rms(&p.s, "p.c", "1e-5f)", "(rows % 8 ? 1e-5f : 1e-1f))");
	j = pm_test_finished(&p.s,
			     pm_test_call(&p.s, "evaluate", "{'pass':'p.c','task':'rms','level':'full'}"));
	assert_string_equal(pm_json_str(j, "verdict", ""), "INCORRECT");
	assert_int_equal(cJSON_GetArraySize(pm_json_get(j, "records")), 2);
	rec = pm_json_get(j, "records")->child;
	assert_string_equal(pm_json_str(rec, "verdict", ""), "INCORRECT");
	assert_string_equal(pm_json_str(rec, "variants", ""), "1, 3");
	assert_int_equal(pm_json_i64(rec, "number", -1), 1);
	rec = rec->next;
	assert_string_equal(pm_json_str(rec, "verdict", ""), "OK");
	assert_string_equal(pm_json_str(rec, "variants", ""), "0, 2");
	assert_null(pm_json_get(rec, "baseline_launches"));
	rec = pm_json_get(j, "slowest_variant");
	assert_string_equal(pm_json_str(rec, "verdict", ""), "OK");
	assert_int_equal(pm_json_i64(rec, "baseline_launches", 0), 7);
	assert_string_equal(pm_json_str(j, "all_records", ""), "passmith://run/r1");
	/* What is documented arrives. */
	assert_true(pm_json_num(j, "score", 0) > 0);
	assert_true(pm_json_num(pm_json_get(j, "score_terms")->child, "gain", 0) > 0);
	assert_int_equal(pm_json_i64(j, "steps_remaining", -1), 2);
	cJSON_Delete(j);
	teardown(&p);
}

/* Numbers of one variant are none of a task, and what another run may give is no change. */
static void the_best_is_of_the_same(void **state)
{
	Place p;
	cJSON *j;

	(void)state;
	setup(&p, -1);
	pm_test_write_rms(&p.s, "p.c", NULL, NULL);
	j = pm_test_finished(&p.s, pm_test_call(&p.s, "evaluate",
						"{'pass':'p.c','task':'rms','level':'full','variant':3}"));
	assert_string_equal(pm_json_str(j, "verdict", ""), "OK");
	assert_string_equal(pm_json_str(j, "of", ""), "task 1, variant 3");
	assert_null(pm_json_get(j, "score"));
	assert_int_equal(pm_json_i64(pm_json_get(j, "records")->child, "number", -1), 3);
	cJSON_Delete(j);
	for (int i = 0; i < 2; i++) {
		const cJSON *best;

		j = pm_test_finished(
			&p.s, pm_test_call(&p.s, "evaluate", "{'pass':'p.c','task':'rms','level':'full'}"));
		best = pm_json_get(j, "best_so_far");
		assert_int_equal(best != NULL, i); /* that of the variant is another thing's */
		if (best) {
			assert_string_equal(pm_json_str(best, "run", ""), "r2");
			assert_string_equal(pm_json_str(best, "number", ""), "score");
			assert_string_equal(pm_json_str(best, "this_is", ""), "same");
			assert_true(cJSON_IsFalse(pm_json_get(best, "this_is_better")));
		}
		cJSON_Delete(j);
	}
	j = pm_test_call(&p.s, "compare", "{'run':'r3'}");
	has(pm_json_str(j, "summary", ""), "the same");
	assert_null(pm_json_get(j, "variants")->child);
	cJSON_Delete(j);
	j = pm_test_call(&p.s, "compare", "{'run':'r3','with':'r1'}");
	has(pm_json_str(j, "summary", ""), "cannot be compared");
	cJSON_Delete(j);
	teardown(&p);
}

/* An element each, read and written once: a launch can do no less. */
static const char gate_graph[] =
	"gate (float[4,64] x) => (float[4,64] y)\n{\n s = Sigmoid (x)\n y = Mul (x, s)\n}\n";
/* Launches decide of the first, bytes of the last: one is the slowest by far. */
static const int gate_rows[N_VARIANTS] = { 4, 512, 2048, 8192 };
static const char gate_pass[] =
	"#include \"passmith/dsl.h\"\n"
	"enum { X };\n"
	"static const char SRC[] = PM_CUDA(\n"
	"extern \"C\" __global__ void gate(const T *x, T *y, int n)\n"
	"{\n"
	"	int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < n) {\n"
	"		float v = ld(x[i]);\n"
	"		y[i] = st(v / (1.f + expf(-v)));\n"
	"	}\n"
	"}\n"
	");\n"
	"static PmStatus rewrite(PmRewriter *rw, PmMatch *m)\n"
	"{\n"
	"	int64_t n = pm_numel(m->v[X]);\n"
	"	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = \"gate\", .source = SRC, .grid = { "
	"pm_blocks(n, 128) },\n"
	"		.block = { 128 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(IN(0), OUT(0), "
	"I32((int32_t)n)));\n"
	"}\n"
	"PM_RULE(gate, .pattern = OP(Mul, V(X), OP(Sigmoid, V(X))), .rewrite = rewrite);\n"
	"PM_PLUGIN(\"gate\", \"1\", &gate)\n";

/* The slowest is as fast as it can be, and so no gain is told of it. */
static void what_is_at_its_roofline_has_nothing_left(void **state)
{
	PmStr path = PM_STR_INIT, file = PM_STR_INIT;
	Place p;
	cJSON *j;

	(void)state;
	setup(&p, -1);
	make_task(p.db.s, "gate", gate_graph, gate_rows);
	pm_test_write(&p.s, "p.c", gate_pass);
	j = pm_test_finished(&p.s,
			     pm_test_call(&p.s, "evaluate", "{'pass':'p.c','task':'gate','level':'full'}"));
	assert_string_equal(
		pm_json_str(j, "next", ""),
		"every variant is at its roofline in the model: nothing is left there; submit (it is "
		"judged anew then, with other inputs and hidden shapes).");
	assert_int_equal(cJSON_GetArraySize(pm_json_get(j, "score_terms")), 0);
	pm_path_join(p.s.folder.s, ".runs/r1.json", &path);
	assert_int_equal(pm_read_file(path.s, 0, &file, NULL), PM_OK);
	has(file.s, "the slowest variant"); /* the report has it */
	cJSON_Delete(j);
	pm_str_release(&path);
	pm_str_release(&file);
	teardown(&p);
}

/* A first answer says which classes of inputs it has not seen, in one place. */
static void a_quick_answer_says_what_it_has_not_seen(void **state)
{
	Place p;
	cJSON *j;
	const cJSON *m;
	int n = 0;

	(void)state;
	setup(&p, -1);
	pm_test_write_rms(&p.s, "p.c", NULL, NULL);
	j = pm_test_finished(&p.s, pm_test_call(&p.s, "evaluate", "{'pass':'p.c','model':'g.gpt'}"));
	cJSON_ArrayForEach(m, pm_json_get(j, "classes_not_looked_at"))
		n += strcmp(m->valuestring, "normal") != 0;
	assert_int_equal(n, cJSON_GetArraySize(pm_json_get(j, "classes_not_looked_at")));
	assert_true(n > 3);
	cJSON_ArrayForEach(m, pm_json_get(pm_json_get(j, "not_checked"), "what"))
	{
		if (!strncmp(m->valuestring, "inputs ", 7) && !strstr(m->valuestring, "edited"))
			fail_msg("%s", m->valuestring);
	}
	cJSON_Delete(j);
	teardown(&p);
}

/* ---- the deadline ---- */

static void the_deadline_is_an_argument(void **state)
{
	PmToolsOpts o = { .device = "emu", .steps = -1, .deadline_s = 5 };
	PmTools *t;
	Place p;
	cJSON *j, *args;
	int is_error = 0;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	setup(&p, -1);
	pm_test_write_rms(&p.s, "p.c", "k /= 2", "k /= 1"); /* never ends */
	j = pm_test_finished(
		&p.s, pm_test_call(&p.s, "evaluate",
				   "{'pass':'p.c','task':'rms','level':'full','variant':1,'deadline':1}"));
	assert_string_equal(pm_json_str(j, "verdict", ""), "NOT_CHECKED");
	has(pm_json_str(j, "why", ""), "deadline of 1 s");
	has(pm_json_str(j, "next", ""), "variant 1");
	has(pm_json_str(j, "next", ""), "deadline more than 1");
	cJSON_Delete(j);
	o.workspace = p.s.folder.s;
	assert_int_equal(pm_tools_open(&o, &t, &err), PM_OK);
	args = cJSON_Parse("{\"pass\":\"p.c\",\"model\":\"g.gpt\",\"deadline\":6}");
	j = pm_tools_call(t, "evaluate", args, &is_error, &err);
	assert_true(is_error);
	has(pm_json_str(j, "error", ""), "5 s at most");
	cJSON_Delete(j);
	cJSON_Delete(args);
	pm_tools_close(t);
	teardown(&p);
}

/* ---- submit ---- */

static void what_is_submitted_has_a_place_when_it_has_ended(void **state)
{
	Place p;
	cJSON *j;
	double took;

	(void)state;
	pm_test_need_sandbox(built("passmith"));
	setup(&p, -1);
	pm_test_write_rms(&p.s, "p.c", NULL, NULL);
	j = pm_test_finished(&p.s,
			     pm_test_call(&p.s, "evaluate", "{'pass':'p.c','task':'rms','level':'full'}"));
	assert_string_equal(pm_json_str(j, "verdict", ""), "OK");
	has(pm_json_str(j, "next", ""), "judged anew");
	cJSON_Delete(j);
	cJSON_Delete(
		pm_test_call(&p.s, "submit", "{'pass':'p.c','task':'large','deadline':3600,'wait_s':0}"));
	cJSON_Delete(partly(&p, "r2"));
	j = pm_test_call(&p.s, "submit", "{'pass':'p.c','task':'rms','wait_s':0}");
	has(pm_json_str(j, "progress", ""), "waits for r2");
	has(pm_json_str(j, "note", ""), "anew");
	took = pm_json_num(j, "expected_seconds", 0);
	assert_true(took > 0);
	cJSON_Delete(j);
	cancel(&p, "r2");
	j = pm_test_finished(&p.s, run_of(&p, "r3", 60));
	assert_string_equal(pm_json_str(j, "verdict", ""), "OK");
	has(pm_json_str(j, "note", ""), "anew");
	assert_true(cJSON_IsObject(pm_json_get(j, "best_so_far")));
	assert_null(pm_json_get(pm_json_get(j, "best_so_far"), "this_is"));
	assert_null(pm_json_get(pm_json_get(j, "best_so_far"), "this_is_better"));
	cJSON_Delete(j);
	j = pm_test_call(&p.s, "compare", "{'run':'r3','with':'r3'}");
	has(pm_json_str(j, "summary", ""), "r3 is compared with itself");
	cJSON_Delete(j);
	j = pm_test_call(&p.s, "leaderboard", "{}");
	assert_int_equal(cJSON_GetArraySize(pm_json_get(j, "rows")), 1);
	assert_int_equal(pm_json_i64(pm_json_get(j, "rows")->child, "task", 0), 1);
	assert_string_equal(pm_json_str(pm_json_get(j, "rows")->child, "pass", ""), "p.so");
	assert_int_equal(pm_json_i64(j, "unfinished", 0), 1);
	cJSON_Delete(j);
	teardown(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_evaluations_wait_for_each_other),
		cmocka_unit_test(the_end_of_a_session_begins_nothing),
		cmocka_unit_test(what_waits_is_judged_as_it_was),
		cmocka_unit_test(an_object_is_of_its_own_build),
		cmocka_unit_test(what_is_finished_is_told_before_the_end),
		cmocka_unit_test(each_thing_is_said_once),
		cmocka_unit_test(the_best_is_of_the_same),
		cmocka_unit_test(what_is_at_its_roofline_has_nothing_left),
		cmocka_unit_test(a_quick_answer_says_what_it_has_not_seen),
		cmocka_unit_test(the_deadline_is_an_argument),
		cmocka_unit_test(what_is_submitted_has_a_place_when_it_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
