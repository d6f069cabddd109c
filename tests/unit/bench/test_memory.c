/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c - what an evaluation needs is known from the graph, and what does not fit is refused before.
 */
#include "base/sys/proc.h"
#include "base/sys/threads.h"
#include "bench/compare/by_rows.h"
#include "bench/eval/memory.h"
#include "bench/inputs/inputs.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static void every_part_is_counted(void **state)
{
	PmGraph *g = pm_test_graph("g (float[100,10] x, float[10] b) => (float[100,10] y) {\n"
				   "s = Sigmoid(x)\n y = Add(s, b) }");
	PmMemoryNeed n;

	(void)state;
	pm_memory_need(g, &n);
	assert_int_equal(n.inputs, 100 * 10 * 4 + 10 * 4);
	assert_int_equal(n.outputs, 100 * 10 * 4);
	assert_true(n.values >= 100 * 10 * 4 && n.values <= 2 * 100 * 10 * 4 + 1024);
	assert_int_equal(n.reference, (100 * 10 + 10 + 100 * 10) * 8); /* of Add */
	assert_int_equal(pm_memory_of_device(&n), n.inputs + n.outputs + n.values);
	assert_int_equal(n.drawing, (100 * 10 + 10 + 100 * 10 + 100 * 10) * 8); /* of Add: s and y */
	assert_int_equal(n.judging, n.reference);                               /* it is judged whole */
	assert_int_equal(pm_memory_of_host(&n, 0), n.inputs + n.drawing);
	assert_int_equal(pm_memory_of_host(&n, 1), pm_memory_of_host(&n, 0) + pm_memory_of_device(&n));
	pm_graph_free(g);
}

static void sums_do_not_wrap(void **state)
{
	PmGraph *g = pm_test_graph("g (float[2000000000,200000000] x) => (float[2000000000,200000000] y) {\n"
				   "s = Sigmoid(x)\n y = Mul(x, s) }");
	PmMemoryNeed n;

	(void)state;
	pm_memory_need(g, &n);
	assert_true(n.inputs == (int64_t)1600000000000000000);
	assert_true(n.reference == INT64_MAX);
	assert_true(pm_memory_of_host(&n, 1) == INT64_MAX);
	pm_graph_free(g);
}

static void the_sentence_has_both_numbers(void **state)
{
	PmMemoryNeed n = {
		.inputs = 3000000000, .outputs = 1000000000, .reference = 20000000000, .judging = 20000000000
	};
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_memory_check(24000000000, 24000000000, "this machine", &n, &err), PM_OK);
	assert_int_equal(pm_memory_check(24000000001, 24000000000, "this machine", &n, &err), PM_E_LIMIT);
	assert_non_null(strstr(err.text, "needs 24.0 GB"));
	assert_non_null(strstr(err.text, "this machine has 24.0 GB"));
	assert_true(pm_memory_available() > 0);
}

/* Three moments, of which the largest counts. */
static void the_largest_moment_counts(void **state)
{
	PmMemoryNeed n = { .inputs = 5, .outputs = 3, .drawing = 11, .judging = 7 };

	(void)state;
	assert_int_equal(pm_memory_of_host(&n, 0), 5 + 5 + 3 * 3);
	n.drawing = 20;
	assert_int_equal(pm_memory_of_host(&n, 0), 5 + 20);
	n.judging = 30;
	assert_int_equal(pm_memory_of_host(&n, 0), 5 + 3 + 30);
}

/* ---- what is said is what is taken ---- */

/* Most memory of this process so far, in bytes. */
static double peak(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss * 1024;
}

typedef struct Job {
	const PmGraph *g;
	int draws;
} Job;

/* In a process of its own, with two threads: draws inputs and runs the reference on them, or judges results
 * that are right. Writes its peak. */
static int draw_or_judge(void *arg, PmStr *out)
{
	const Job *j = arg;
	size_t n_in = pm_graph_n_inputs(j->g);
	PmTensor in[4], y;
	const PmTensor *got = &y;
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	PmByRows by;
	PmReached r;
	PmRows rows;
	double seen;
	PmErr err;

	pm_err_init(&err);
	pm_threads_limit(2);
	if (pm_inputs_make(j->g, 1, PM_INPUTS_NORMAL, in, &err))
		return 1;
	if (j->draws && pm_reach(j->g, in, 0, &r, NULL, &err))
		return 2;
	if (!j->draws && (!pm_is_by_rows(j->g, &rows) ||
			  pm_tensor_init(&y, pm_value_type(j->g, pm_graph_output(j->g, 0)), &err) ||
			  pm_by_rows(j->g, &rows, in, n_in, &got, 1, PM_TIER_STRICT, &rule, &by, &err)))
		return 3;
	seen = peak();
	pm_str_addn(out, &seen, sizeof seen);
	return 0;
}

static void takes_what_is_said(const char *text)
{
	PmLimits lim = { .file_size = -1 };
	PmGraph *g = pm_test_graph(text);
	double base = peak();
	PmMemoryNeed n;

	pm_threads_limit(2);
	pm_memory_need(g, &n);
	pm_threads_limit(0);
	for (int draws = 0; draws < 2; draws++) {
		double seen, said = (double)(draws ? n.inputs + n.drawing : n.inputs + n.outputs + n.judging);
		PmProcResult r;
		PmErr err;

		pm_err_init(&err);
		assert_int_equal(pm_fork_call(draw_or_judge, &(Job){ g, draws }, &lim, &r, &err), PM_OK);
		assert_int_equal(r.end, PM_PROC_EXITED);
		assert_int_equal(r.code, 0);
		assert_int_equal(r.out.len, sizeof seen);
		memcpy(&seen, r.out.s, sizeof seen);
		/* Beside it the process itself, which has a part of `base`, and where arrays lie. */
		if (seen - base > 1.1 * said + (16 << 20) || seen < 0.8 * said)
			fail_msg("%.60s: %s takes %.1f MB, and %.1f are said", text,
				 draws ? "drawing" : "judging", (seen - base) / 1e6, said / 1e6);
		pm_proc_result_release(&r);
	}
	pm_graph_free(g);
}

static void what_is_said_is_taken(void **state)
{
	(void)state;
	takes_what_is_said(
		"g (float[6,1024,1024] x) => (float[6,1024,1024] y) { y = Softmax <axis = 2> (x) }");
	takes_what_is_said(
		"g (float[1024,6144] x) => (float[1024,6144] y) { s = Sigmoid(x)\n y = Mul(x, s) }");
	takes_what_is_said("g (float[1024,6144] a, float[1024,6144] b, float[6144] w, float[6144] c) =>"
			   " (float[1024,6144] y) {\n"
			   "t = Add(a, b)\n y = LayerNormalization <axis = 1> (t, w, c) }");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_part_is_counted),         cmocka_unit_test(sums_do_not_wrap),
		cmocka_unit_test(the_sentence_has_both_numbers), cmocka_unit_test(the_largest_moment_counts),
		cmocka_unit_test(what_is_said_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
