/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c - what an evaluation needs is known from the graph, and what does not fit is refused before.
 */
#include "bench/eval/memory.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

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
	assert_int_equal(pm_memory_of_host(&n, 0), n.inputs + n.outputs + n.reference);
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
	PmMemoryNeed n = { .inputs = 3000000000, .outputs = 1000000000, .reference = 20000000000 };
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_memory_check(24000000000, 24000000000, "this machine", &n, &err), PM_OK);
	assert_int_equal(pm_memory_check(24000000001, 24000000000, "this machine", &n, &err), PM_E_LIMIT);
	assert_non_null(strstr(err.text, "needs 24.0 GB"));
	assert_non_null(strstr(err.text, "this machine has 24.0 GB"));
	assert_true(pm_memory_available() > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_part_is_counted),
		cmocka_unit_test(sums_do_not_wrap),
		cmocka_unit_test(the_sentence_has_both_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
