/* SPDX-License-Identifier: Apache-2.0 */
/* test_tools_runs.c - an agent's tools that work in children of `passmith`: a pass is written, broken in the
 * ways in which authors break them, and every answer says what to do next. */
#include "app/tools/schema.h"
#include "base/sandbox/sandbox.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
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

static void has(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("\"%s\" is not in: %s", part, text ? text : "(nothing)");
}

static void write_pass(PmTestTools *s, const char *old, const char *new)
{
	pm_test_write_rms(s, "p.c", old, new);
}

static cJSON *evaluate(PmTestTools *s, const char *args)
{
	return pm_test_finished(s, pm_test_call(s, "evaluate", args));
}

static void setup(PmTestTools *s, int64_t steps)
{
	pm_test_need_device("emu");
	pm_test_tools_begin(s, NULL, steps);
	pm_test_write(s, "g.gpt", pm_test_rms_graph);
}

/* ---- right ---- */

/* Three entries in one text are one; so is a text with a define that a match computes. */
static void kernel_texts_are_counted_once(void **state)
{
	static const char *const names[] = { "charbonnier_loss", "few_rows_product" };
	PmTestTools s;

	(void)state;
	setup(&s, -1);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		PmStr text = PM_STR_INIT;
		char path[80];
		cJSON *j;

		snprintf(path, sizeof path, "exemplars/%s.c", names[i]);
		assert_int_equal(pm_read_file(path, 0, &text, NULL), PM_OK);
		pm_test_write(&s, "k.c", text.s);
		j = pm_test_finished(&s, pm_test_call(&s, "build", "{'pass':'k.c'}"));
		assert_int_equal(pm_json_i64(j, "kernels_compiled", -1), 1);
		assert_int_equal(pm_json_i64(j, "kernels_not_known_yet", -1), 0);
		cJSON_Delete(j);
		pm_str_release(&text);
	}
	pm_test_tools_end(&s);
}

static void a_right_pass_is_judged_and_compared(void **state)
{
	PmTestTools s;
	cJSON *j;
	const cJSON *rec;

	(void)state;
	setup(&s, 3);
	write_pass(&s, NULL, NULL);
	j = pm_test_finished(&s, pm_test_call(&s, "build", "{'pass':'p.c'}"));
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(j, "ok")));
	assert_string_equal(pm_json_str(j, "file", ""), "p.so");
	cJSON_Delete(j);
	j = pm_test_finished(&s, pm_test_call(&s, "check", "{'pass':'p'}"));
	assert_string_equal(pm_json_str(j, "verdict", ""), "OK");
	cJSON_Delete(j);
	j = pm_test_finished(&s, pm_test_call(&s, "explain", "{'pass':'p.so','model':'g.gpt'}"));
	assert_int_equal(pm_json_i64(j, "applied", 0), 1);
	cJSON_Delete(j);
	j = pm_test_finished(&s, pm_test_call(&s, "profile", "{'pass':'p.so','model':'g.gpt'}"));
	rec = cJSON_GetObjectItem(j, "kernels")->child;
	assert_string_equal(pm_json_str(rec, "entry", ""), "rms");
	assert_true(cJSON_IsObject(cJSON_GetObjectItem(rec, "counted")));
	cJSON_Delete(j);
	j = pm_test_finished(&s, pm_test_call(&s, "disassemble", "{'pass':'p.so','model':'g.gpt'}"));
	rec = cJSON_GetObjectItem(j, "kernels")->child;
	if (!cJSON_GetObjectItem(rec, "missing")) /* without NVRTC there is no PTX, and it says so */
		has(pm_json_str(rec, "ptx", ""), ".entry rms");
	cJSON_Delete(j);
	j = evaluate(&s, "{'pass':'p.c','model':'g.gpt'}");
	assert_string_equal(pm_json_str(j, "verdict", ""), "OK");
	assert_string_equal(pm_json_str(j, "blame", ""), "none");
	rec = cJSON_GetObjectItem(j, "records")->child;
	assert_int_equal(pm_json_i64(rec, "baseline_launches", 0), 7);
	assert_int_equal(pm_json_i64(rec, "candidate_launches", 0), 1);
	assert_true(pm_json_num(rec, "roofline", 0) > 0.5 && pm_json_num(rec, "roofline", 0) < 1.01);
	assert_int_equal(pm_json_i64(j, "steps_remaining", -1), 2);
	assert_null(cJSON_GetObjectItem(j, "best_so_far"));
	cJSON_Delete(j);
	write_pass(&s, "1e-5f)", "1e-2f)");
	j = evaluate(&s, "{'pass':'p.c','model':'g.gpt'}");
	assert_string_equal(pm_json_str(j, "verdict", ""), "INCORRECT");
	assert_string_equal(pm_json_str(cJSON_GetObjectItem(j, "best_so_far"), "run", ""), "r6");
	cJSON_Delete(j);
	j = pm_test_call(&s, "compare", "{'run':'r7'}");
	has(pm_json_str(j, "summary", ""), "Only the first");
	assert_string_equal(pm_json_str(cJSON_GetObjectItem(j, "variants")->child, "verdict", ""),
			    "INCORRECT");
	cJSON_Delete(j);
	pm_test_tools_end(&s);
}

/* What a full evaluation adds: the score, hidden shapes, and nothing that is not there. */
static void a_full_evaluation_has_a_score(void **state)
{
	PmTestTools s;
	cJSON *j;

	(void)state;
	setup(&s, -1);
	write_pass(&s, NULL, NULL);
	j = evaluate(&s, "{'pass':'p.c','model':'g.gpt','level':'full'}");
	assert_string_equal(pm_json_str(j, "verdict", ""), "OK");
	assert_true(pm_json_num(j, "score", 0) > 1);
	assert_null(cJSON_GetObjectItem(j, "steps_remaining"));
	cJSON_Delete(j);
	pm_test_tools_end(&s);
}

/* ---- wrong ---- */

/* A pass that does not compile: where, in the author's file. */
static void errors_have_their_place(void **state)
{
	static const struct {
		const char *old, *new, *message;
		int line;
	} rows[] = { { "pm_decline(m", "pm_declin(m", "pm_declin", 26 },
		     { "rsqrtf", "rsqrttf", "rsqrttf", 18 },
		     { "float s = 0.f;", "float s = 0.f", "", 9 } };
	PmTestTools s;

	(void)state;
	setup(&s, -1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		cJSON *j;
		const cJSON *m;
		int found = 0;

		write_pass(&s, rows[i].old, rows[i].new);
		j = pm_test_finished(&s, pm_test_call(&s, "build", "{'pass':'p.c'}"));
		cJSON_ArrayForEach(m, cJSON_GetObjectItem(j, "messages"))
		{
			found |= pm_json_i64(m, "line", 0) == rows[i].line &&
				 strstr(pm_json_str(m, "text", ""), rows[i].message) != NULL;
			assert_string_equal(pm_json_str(m, "file", ""), "p.c");
		}
		if (!found) {
			PmStr text = PM_STR_INIT;

			pm_json_print(j, 0, &text);
			fail_msg("line %d has no \"%s\": %s", rows[i].line, rows[i].message, text.s);
		}
		cJSON_Delete(j);
	}
	/* A call of what does not exist compiles, and must not be taken for a mistake of the machine. */
	write_pass(&s, "rsqrtf", "rsqrttf");
	{
		cJSON *j = evaluate(&s, "{'pass':'p.c','model':'g.gpt'}");

		assert_string_equal(pm_json_str(j, "stage", ""), "build");
		assert_string_equal(pm_json_str(j, "blame", ""), "pass");
		assert_int_equal(pm_json_i64(cJSON_GetObjectItem(j, "messages")->child, "line", 0), 18);
		cJSON_Delete(j);
	}
	pm_test_tools_end(&s);
}

/* Every way in which a pass comes to nothing has its reason. */
static void what_does_not_match_says_where(void **state)
{
	static const struct {
		const char *old, *new, *part;
	} rows[] = { { "OP(Sqrt", "OP(Exp", "the pattern wants (Exp" },
		     { "NUM(1e-5)", "NUM(1e-6)", "the pattern wants the constant 1e-06" },
		     { "OP(Mul, TYPED(V(W)", "OP(Div, TYPED(V(W)",
		       "no node with the operator of the pattern's root" },
		     { "!= pm_numel(m->v[W])", "== pm_numel(m->v[W])", "w has another size than a row" },
		     { "TYPED(V(W), FLOATS, 1)", "TYPED(V(W), FLOATS, 2)", "\"field\":\"rank\"" } };
	PmTestTools s;

	(void)state;
	setup(&s, -1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		PmStr text = PM_STR_INIT;
		cJSON *j;

		write_pass(&s, rows[i].old, rows[i].new);
		j = evaluate(&s, "{'pass':'p.c','model':'g.gpt'}");
		assert_string_equal(pm_json_str(j, "verdict", ""), "NO_MATCH");
		pm_json_print(cJSON_GetObjectItem(j, "rules"), 0, &text);
		has(text.s, rows[i].part);
		pm_str_release(&text);
		cJSON_Delete(j);
	}
	pm_test_tools_end(&s);
}

static int has_nvrtc(void)
{
	PmStr version = PM_STR_INIT;
	int has = !pm_nvrtc_version(&version, NULL);

	pm_str_release(&version);
	return has;
}

static void what_is_wrong_says_how(void **state)
{
	static const struct {
		const char *old, *new, *verdict, *why;
	} rows[] = {
		{ "1e-5f)", "1e-2f)", "INCORRECT", "Too far off" },
		{ "		y[row * n + i] =", "		if (i != 3) y[row * n + i] =", "UNWRITTEN",
		  "Element 3" },
		{ ".grid = { rows }", ".grid = { rows + 1 }", "OOB", "past the end" },
		{ "int64_t n = pm_dim", "int64_t n = *(volatile int64_t *)8 + pm_dim", "PASS_CRASH",
		  "signal 11" },
		{ "I64(rows), ", "", "REJECT_API", "5 parameters, but 4 arguments" },
		{ "rsqrtf(", "(float)clock() * rsqrtf(", "REJECT_PTX", "time" },
		{ "const T *w", "const double *w", "OOB", "argument 1" },
	};
	PmTestTools s;

	(void)state;
	setup(&s, -1);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		/* Without NVRTC there is no PTX, and the emulated device has no such function. */
		int is_ptx = !strcmp(rows[i].verdict, "REJECT_PTX") && !has_nvrtc();
		const char *verdict = is_ptx ? "COMPILE_FAIL" : rows[i].verdict;
		cJSON *j;

		write_pass(&s, rows[i].old, rows[i].new);
		j = evaluate(&s, "{'pass':'p.c','model':'g.gpt'}");
		if (strcmp(pm_json_str(j, "verdict", ""), verdict))
			fail_msg("%s is %s: %s", rows[i].new, pm_json_str(j, "verdict", ""),
				 pm_json_str(j, "why", ""));
		has(pm_json_str(j, "why", ""), is_ptx ? "compile" : rows[i].why);
		assert_string_equal(pm_json_str(j, "blame", ""), "pass");
		assert_true(*pm_json_str(j, "next", "") != 0);
		if (!strcmp(rows[i].verdict, "INCORRECT")) {
			const cJSON *f = cJSON_GetObjectItem(j, "failure"),
				    *first = cJSON_GetObjectItem(f, "first");

			assert_true(pm_json_num(f, "times_what_rounding_explains", 0) > 1);
			assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(first, "at")), 2);
			assert_true(cJSON_IsNumber(cJSON_GetObjectItem(first, "got")));
		}
		cJSON_Delete(j);
	}
	pm_test_tools_end(&s);
}

/* What kernels print reaches the author. */
static void kernels_print(void **state)
{
	PmTestTools s;
	cJSON *j;
	const cJSON *line;
	int found = 0;

	(void)state;
	setup(&s, -1);
	write_pass(&s, "	float r = rsqrtf",
		   "	if (row == 2 && threadIdx.x == 0) printf(\"row %d\\n\", (int)row);\n	"
		   "float r = rsqrtf");
	j = evaluate(&s, "{'pass':'p.c','model':'g.gpt','debug_print':true}");
	cJSON_ArrayForEach(line, cJSON_GetObjectItem(j, "printed"))
		found |= strstr(line->valuestring, "thread (0,0,0): row 2") != NULL;
	assert_true(found);
	cJSON_Delete(j);
	has(pm_test_refused(&s, "evaluate",
			    "{'pass':'p.c','model':'g.gpt','debug_print':true,'level':'full'}"),
	    "level quick");
	pm_test_tools_end(&s);
}

/* A source may name any file; the compiler can read the SDK and the pass's own folder. */
static void the_compiler_reads_no_other_file(void **state)
{
	static const char *const ways[] = {
		"#include \"%s\"\n#include \"passmith/dsl.h\"\n",
		"#include \"passmith/dsl.h\"\n__asm__(\".incbin \\\"%s\\\"\");\n"
	};
	PmStr outside = PM_STR_INIT, file = PM_STR_INIT;
	PmTestTools s;
	unsigned layers = 0;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_sandbox_probe(&layers, NULL) || !(layers & PM_BOX_LANDLOCK))
		pm_test_skip("this kernel has no landlock, which keeps the compiler from other files");
	setup(&s, -1);
	assert_int_equal(pm_temp_dir("outside", &outside, &err), PM_OK);
	pm_path_join(outside.s, "x.h", &file);
	assert_int_equal(pm_write_file(file.s, "int stranger;\n", 14, &err), PM_OK);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		PmStr text = PM_STR_INIT;
		cJSON *j;

		pm_str_addn(&text, ways[i], (size_t)(strstr(ways[i], "%s") - ways[i]));
		pm_str_add(&text, file.s);
		pm_str_add(&text, strstr(ways[i], "%s") + 2);
		pm_test_write(&s, "q.c", text.s);
		j = pm_test_finished(&s, pm_test_call(&s, "build", "{'pass':'q.c'}"));
		assert_true(cJSON_IsFalse(cJSON_GetObjectItem(j, "ok")));
		cJSON_Delete(j);
		pm_str_release(&text);
	}
	pm_remove_tree(outside.s, NULL);
	pm_str_release(&outside);
	pm_str_release(&file);
	pm_test_tools_end(&s);
}

/* ---- runs ---- */

static const char hang[] = "k /= 1";

/* A call that takes long gives its handle at once; the run is there in the next session. */
static void long_work_has_a_handle(void **state)
{
	PmTestTools s;
	cJSON *j;
	PmStr text = PM_STR_INIT;
	const char *mime;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	setup(&s, 5);
	write_pass(&s, "k /= 2", hang);
	j = pm_test_call(&s, "evaluate", "{'pass':'p.c','model':'g.gpt'}");
	assert_string_equal(pm_json_str(j, "state", ""), "running");
	assert_string_equal(pm_json_str(j, "run", ""), "r1");
	cJSON_Delete(j);
	j = pm_test_call(&s, "get_run", "{'run':'r1','wait_s':0}");
	assert_string_equal(pm_json_str(j, "state", ""), "running");
	cJSON_Delete(j);
	assert_int_equal(pm_tools_resource(s.t, "passmith://run/r1", &text, &mime, &err), PM_OK);
	has(text.s, "\"running\"");
	j = pm_test_call(&s, "cancel_run", "{'run':'r1'}");
	assert_string_equal(pm_json_str(j, "state", ""), "cancelled");
	cJSON_Delete(j);
	j = pm_test_call(&s, "get_run", "{'run':'r1'}");
	assert_string_equal(pm_json_str(j, "state", ""), "cancelled");
	cJSON_Delete(j);
	has(pm_test_refused(&s, "get_run", "{'run':'r9'}"), "no run r9");
	has(pm_test_refused(&s, "get_run", "{'run':'../x'}"), "no run");
	pm_test_tools_again(&s, 1);
	j = pm_test_call(&s, "get_run", "{'run':'r1'}");
	assert_string_equal(pm_json_str(j, "state", ""), "cancelled");
	cJSON_Delete(j);
	/* Numbers go on, and the budget is the session's. */
	write_pass(&s, NULL, NULL);
	j = evaluate(&s, "{'pass':'p.c','model':'g.gpt'}");
	assert_string_equal(pm_json_str(j, "run", ""), "r2");
	assert_int_equal(pm_json_i64(j, "steps_remaining", -1), 0);
	cJSON_Delete(j);
	has(pm_test_refused(&s, "evaluate", "{'pass':'p.c','model':'g.gpt'}"), "No evaluation is left");
	pm_str_release(&text);
	pm_test_tools_end(&s);
}

/* Processes of this user whose command line has the folder in it. */
static int children_of(const char *folder)
{
	const char *argv[] = { "pgrep", "-f", "-c", folder, NULL };
	PmLimits lim = { .seconds = 30, .file_size = -1 };
	PmProcResult r = { 0 };
	int n = -1;

	if (!pm_run(argv, NULL, 0, &lim, &r, NULL))
		n = atoi(r.out.s);
	pm_proc_result_release(&r);
	return n;
}

/*
 * Waits until there are such processes, or until there are none. The system shows the command line of a
 * process only some time after its start, and a killed group ends when its processes are scheduled.
 */
static void wait_for_children(const char *folder, int some)
{
	double until = pm_now() + 30;

	while ((children_of(folder) > 0) != some && pm_now() < until)
		poll(NULL, 0, 20);
	assert_int_equal(children_of(folder) > 0, some);
}

/* Nothing that a call or a session began outlives it. */
static void children_end_with_what_began_them(void **state)
{
	cJSON *args = cJSON_Parse(
		"{\"pass\":\"p.c\",\"model\":\"models/llama_block.gpt\",\"level\":\"full\",\"wait_s\":60}");
	PmTestTools s;
	PmToolCall *c;
	struct pollfd fds[16];
	const char *words;
	double done, total;
	int wait, n;
	PmErr err;

	(void)state;
	pm_test_need_program("pgrep");
	pm_err_init(&err);
	setup(&s, -1);
	write_pass(&s, NULL, NULL);
	cJSON_Delete(pm_test_finished(&s, pm_test_call(&s, "build", "{'pass':'p.c'}")));
	for (int round = 0; round < 2; round++) {
		PmStr where = PM_STR_INIT;

		cJSON_DeleteItemFromObject(args, "model");
		pm_test_write(&s, "unlike_any_other.gpt", pm_test_rms_graph);
		cJSON_AddStringToObject(args, "model", "unlike_any_other.gpt");
		assert_int_equal(pm_tool_begin(s.t, "evaluate", args, &c, &err), PM_OK);
		n = pm_tools_fds(s.t, fds, 16, &wait);
		assert_true(n >= 2);
		pm_tools_step(s.t);
		assert_false(pm_tool_done(c));
		pm_tool_progress(c, &done, &total, &words);
		pm_path_join(s.folder.s, "unlike_any_other.gpt", &where);
		wait_for_children(where.s, 1);
		if (round == 0)
			pm_tool_cancel(c);
		else
			pm_test_tools_again(&s, -1);
		wait_for_children(where.s, 0);
		pm_str_release(&where);
	}
	cJSON_Delete(args);
	pm_test_tools_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_texts_are_counted_once),
		cmocka_unit_test(a_right_pass_is_judged_and_compared),
		cmocka_unit_test(a_full_evaluation_has_a_score),
		cmocka_unit_test(errors_have_their_place),
		cmocka_unit_test(what_does_not_match_says_where),
		cmocka_unit_test(what_is_wrong_says_how),
		cmocka_unit_test(kernels_print),
		cmocka_unit_test(the_compiler_reads_no_other_file),
		cmocka_unit_test(long_work_has_a_handle),
		cmocka_unit_test(children_end_with_what_began_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
