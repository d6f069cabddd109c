/* SPDX-License-Identifier: Apache-2.0 */
/* test_outside.c - what is left of a graph when the kernels that replace parts of it are taken away. */
#include "bench/eval/outside.h"
#include "integrity/referee/referee.h"
#include "ir/infer/infer.h"
#include "ir/text/text.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The text of what silu leaves of the graph; "" for nothing. */
static void left(const char *text, PmStr *out)
{
	PmGraph *g = NULL, *o = NULL;
	PmCandidate c;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &g, &err) ||
	    pm_referee_rewrite(built("passes/silu.so"), NULL, g, 60, &c, &err))
		fail_msg("%s", err.text);
	if (c.verdict != PM_VERDICT_OK)
		fail_msg("%s", c.why);
	if (pm_outside(c.g, &o, &err))
		fail_msg("%s", err.text);
	if (o) {
		if (pm_verify(o, &err))
			fail_msg("%s", err.text);
		assert_int_equal(pm_graph_print(o, NULL, out, NULL), PM_OK);
	}
	pm_candidate_release(&c);
	pm_graph_free(o);
	pm_graph_free(g);
}

static void kernels_alone_leave_nothing(void **state)
{
	PmStr s = PM_STR_INIT;

	(void)state;
	left("g (float[4,8] x) => (float[4,8] y) { s = Sigmoid(x)\n y = Mul(x, s) }", &s);
	assert_int_equal(s.len, 0);
	pm_str_release(&s);
}

/* A kernel's result that is read becomes an input, and what it reads an output. */
static void results_come_in_and_operands_go_out(void **state)
{
	static const char *const there[] = { "Tanh (", "Relu (", "Mul (", "Add (" };
	PmStr s = PM_STR_INIT;
	const char *arrow, *end;
	int in = 0, out = 0;

	(void)state;
	left("g (float[4,8] x) => (float[4,8] w)\n<float k = {2}>\n{ t = Tanh(x)\n s = Sigmoid(t)\n"
	     " y = Mul(t, s)\n r = Relu(y)\n q = Mul(r, k)\n w = Add(q, x) }",
	     &s);
	for (size_t i = 0; i < sizeof there / sizeof *there; i++)
		if (!strstr(s.s, there[i]))
			fail_msg("'%s' is not in:\n%s", there[i], s.s);
	assert_null(strstr(s.s, "Kernel"));
	assert_null(strstr(s.s, "Sigmoid"));
	/* x and the kernel's result go in; what the kernel reads and w come out. */
	arrow = strstr(s.s, "=>");
	assert_non_null(arrow);
	end = strchr(arrow, ')');
	for (const char *p = s.s; (p = strstr(p, "float[4,8]")) != NULL && p < end; p++)
		p < arrow ? in++ : out++;
	assert_int_equal(in, 2);
	assert_int_equal(out, 2);
	pm_str_release(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_alone_leave_nothing),
		cmocka_unit_test(results_come_in_and_operands_go_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
