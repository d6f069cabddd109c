/* SPDX-License-Identifier: Apache-2.0 */
/* test_gate.c - the task gate: for each rule a graph that breaks it and no rule before it, and graphs that
 * pass. */
#include "bench/gate/gate.h"
#include "ir/text/text.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static PmGateReport judge(const char *text, int honest)
{
	PmGateOpts o = { .seed = 1, .n_honest = honest };
	PmGraph *g = NULL;
	PmGateReport r = { 0 };
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &g, &err) || pm_gate(g, &o, &r, &err))
		fail_msg("%s", err.text);
	pm_graph_free(g);
	return r;
}

static void expect(const char *text, PmGateRule rule, const char *says)
{
	PmGateReport r = judge(text, 0);

	if (r.ok)
		fail_msg("passes: %s", text);
	if (r.broken != rule)
		fail_msg("broke '%s', not '%s': %s (%s)", pm_gate_rule_name(r.broken),
			 pm_gate_rule_name(rule), r.why, text);
	if (!strstr(r.why, says))
		fail_msg("'%s' does not say '%s'", r.why, says);
}

static void expect_ok(const char *text)
{
	PmGateReport r = judge(text, 0);

	if (!r.ok)
		fail_msg("broke '%s': %s (%s)", pm_gate_rule_name(r.broken), r.why, text);
	assert_true(r.n_killed >= r.n_mutants - 2);
	assert_true(r.n_mutants >= 5);
	assert_true(r.found[PM_GATE_TRIVIAL] == 1);
}

static const char mlp[] = "g (float[4,24] x, float[24,40] w, float[40] b) => (float[4,40] y) "
			  "{ t = MatMul (x, w)\n s = Add (t, b)\n y = Sigmoid (s) }";

static void honest_tasks_pass(void **state)
{
	(void)state;
	expect_ok(mlp);
	expect_ok("g (float[5,33] x) => (float[5,33] y) { s = Sigmoid (x)\n y = Mul (x, s) }");
	expect_ok("g (float[3,19] x, float[19] s, float[19] b) => (float[3,19] y) "
		  "{ y0 = LayerNormalization <axis = 1> (x, s, b)\n y = Add (y0, x) }");
	expect_ok("g (float[2,3,9,9] x, float[5,3,3,3] w, float[5] b) => (float[2,5,7,7] y) "
		  "{ c = Conv <strides = [1, 1], dilations = [1, 1], pads = [0, 0, 0, 0]> (x, w, b)\n y = "
		  "Relu (c) }");
	expect_ok("g (float[7,31] x, float[31] m) => (float[7,31] y) { t = Add (x, m)\n y = Softmax <axis = "
		  "1> (t) }");
}

static void what_does_not_run_is_rejected(void **state)
{
	(void)state;
	/* Rows of a table that has fewer: the constant index is out of range. */
	expect("g (float[3,4] x) => (float[2,4] y) <int64[2] i = {1, 7}> "
	       "{ t = Relu (x)\n y = Gather <axis = 0> (t, i) }",
	       PM_GATE_RUNS, "reference");
	expect("g (float[3,40] x) => (float[3,40] y) <float z = {0}> { s = Neg (x)\n t = Exp (s)\n u = Neg "
	       "(t)\n "
	       "y = Sqrt (u) }",
	       PM_GATE_RUNS, "finite");
}

static void work_that_nobody_needs_is_rejected(void **state)
{
	(void)state;
	/* The same product twice. */
	expect("g (float[8,24] x, float[24,40] w) => (float[8,40] y) "
	       "{ t = MatMul (x, w)\n u = MatMul (x, w)\n v = Sigmoid (u)\n y = Mul (t, v) }",
	       PM_GATE_SIMPLE, "of the work");
	/* Two of three nodes do nothing. */
	expect("g (float[9,9] x) => (float[9,9] y) <float one = {1}, float nil = {0}> "
	       "{ t = Tanh (x)\n u = Mul (t, one)\n y = Add (u, nil) }",
	       PM_GATE_SIMPLE, "of the work");
}

static void answers_below_their_tolerance_are_rejected(void **state)
{
	(void)state;
	expect("g (float[6,50] x) => (float[6,50] y) <float tiny = {1e-7}> { t = Tanh (x)\n y = Mul (t, "
	       "tiny) }",
	       PM_GATE_RANGE, "zeros are as good");
}

static void answers_that_do_not_depend_on_values_are_rejected(void **state)
{
	(void)state;
	/* The mean of a softmax is one over its length. */
	expect("g (float[6,50] x) => (float[6,1] y) "
	       "{ t = Softmax <axis = 1> (x)\n y = ReduceMean <axes = [1]> (t) }",
	       PM_GATE_SEEDS, "depend on");
	/* Three quarters of the result are padding. */
	expect("g (float[6,8] x) => (float[6,32] y) { t = Tanh (x)\n y = Pad <pads = [0, 0, 0, 24]> (t) }",
	       PM_GATE_SEEDS, "25.0 %");
}

static void answers_alike_along_an_axis_are_rejected(void **state)
{
	(void)state;
	expect("g (float[6,8] x) => (float[6,8] y) <int64[2] s = {6, 8}> "
	       "{ t = ReduceMax <axes = [1]> (x)\n u = Tanh (t)\n y = Expand (u, s) }",
	       PM_GATE_AXES, "axis 1");
}

static void trivial_answers_are_rejected(void **state)
{
	(void)state;
	expect("g (float[6,8] x) => (float[6,8] y) <float lo = {-100}, float hi = {100}> "
	       "{ t = Max (x, lo)\n y = Min (t, hi) }",
	       PM_GATE_TRIVIAL, "copied");
	/* Whole numbers survive bfloat16. */
	expect("g (float[6,8] x) => (float[6,8] y) { t = Round (x)\n y = Neg (t) }", PM_GATE_TRIVIAL,
	       "bfloat16");
	/* One output of two is an input in another shape. */
	expect("g (float[6,8] x) => (float[48] z, float[6,8] y) <int64[1] s = {48}> "
	       "{ z = Reshape (x, s)\n t = Exp (x)\n y = Tanh (t) }",
	       PM_GATE_TRIVIAL, "'z'");
}

static void inputs_that_do_not_matter_are_rejected(void **state)
{
	(void)state;
	expect("g (float[6,8] x, float[6,8] z) => (float[6,8] y) <float tiny = {1e-8}> "
	       "{ t = Mul (z, tiny)\n u = Exp (x)\n y = Add (u, t) }",
	       PM_GATE_INPUTS, "'z'");
	/* A softmax does not see what is added to a whole row. */
	expect("g (float[7,31] x, float[7,1] m) => (float[7,31] y) { t = Add (x, m)\n y = Softmax <axis = 1> "
	       "(t) }",
	       PM_GATE_INPUTS, "'m'");
	/* One element of two hundred depends on the second input. */
	expect("g (float[8,199] x, float[8,1] z) => (float[8,200] y) { t = Concat <axis = 1> (x, z)\n y = "
	       "Exp "
	       "(t) }",
	       PM_GATE_INPUTS, "reaches 0.5 %");
}

static void sampling_is_rejected(void **state)
{
	(void)state;
	/* Reads every eighth column. */
	expect("g (float[6,64] x) => (float[6,8] y) "
	       "{ t = Slice <starts = [0], ends = [64], axes = [1], steps = [8]> (x)\n y = Exp (t) }",
	       PM_GATE_ELEMENTS, "trials only");
}

static void tasks_that_cannot_tell_wrong_kernels_are_rejected(void **state)
{
	(void)state;
	/* The bias is lost below the tolerance of what it is added to: leaving it out is not seen. The first
	 * output depends on everything. */
	PmGateReport r = judge("g (float[6,32] x, float[32] b) => (float[6,32] z, float[6,32] y) "
			       "<float tiny = {1e-7}, float big = {1000}> "
			       "{ z0 = Tanh (x)\n z = Add (z0, b)\n a = Mul (b, tiny)\n c = Mul (a, tiny)\n "
			       "d = Mul (c, big)\n e = Sigmoid (x)\n y = Add (e, d) }",
			       0);

	assert_false(r.ok);
	assert_int_equal(r.broken, PM_GATE_MUTANTS);
	assert_true(r.n_killed < r.n_mutants);
	assert_non_null(strstr(r.why, "wrong versions pass"));
}

static void plain_kernels_pass(void **state)
{
	PmGateReport r;

	(void)state;
	pm_test_need_device("emu");
	r = judge(mlp, 3);
	assert_true(r.ok);
	assert_true(r.found[PM_GATE_HONEST] == 1);
	/* A difference of large numbers: float has no digits left for it, so honest kernels fail. */
	r = judge("g (float[6,8] x, float[6,8] z) => (float[6,8] y) <float big = {1e9}> "
		  "{ s = Add (z, big)\n t = Mul (s, x)\n u = Mul (x, big)\n y = Sub (t, u) }",
		  2);
	assert_false(r.ok);
	assert_int_equal(r.broken, PM_GATE_HONEST);
}

/* Large numbers that cancel when added one after the other, and swallow the small ones in most other orders.
 */
static void another_order_of_adding_up_must_agree_too(void **state)
{
	static const char text[] = "g (float[6,1] x, float[6,8] z, float[8,5] v) => (float[6,5] y)\n"
				   "<float big = {1e9}, float[2,5] one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}> {\n"
				   " b = Mul (x, big)\n n = Neg (b)\n c = Concat <axis = 1> (b, n, z)\n"
				   " w = Concat <axis = 0> (one, v)\n y = MatMul (c, w) }";
	PmGateOpts o = { .seed = 1, .n_honest = 20, .ask_all = 1 };
	PmGateReport r;
	PmGraph *g = NULL;

	(void)state;
	pm_test_need_device("emu");
	g = pm_test_graph(text);
	assert_int_equal(pm_gate(g, &o, &r, NULL), PM_OK);
	assert_true(r.found[PM_GATE_HONEST] < 0.5);
	pm_graph_free(g);
	/* more seeds than the gate's own, and nothing that cancels */
	r = judge(mlp, 20);
	assert_true(r.ok);
	assert_true(r.found[PM_GATE_HONEST] == 1);
}

static void the_same_seed_gives_the_same_report(void **state)
{
	PmGateReport a = judge(mlp, 0), b = judge(mlp, 0);

	(void)state;
	assert_memory_equal(a.found, b.found, sizeof a.found);
	assert_int_equal(a.n_mutants, b.n_mutants);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_tasks_pass),
		cmocka_unit_test(what_does_not_run_is_rejected),
		cmocka_unit_test(work_that_nobody_needs_is_rejected),
		cmocka_unit_test(answers_below_their_tolerance_are_rejected),
		cmocka_unit_test(answers_that_do_not_depend_on_values_are_rejected),
		cmocka_unit_test(answers_alike_along_an_axis_are_rejected),
		cmocka_unit_test(trivial_answers_are_rejected),
		cmocka_unit_test(inputs_that_do_not_matter_are_rejected),
		cmocka_unit_test(sampling_is_rejected),
		cmocka_unit_test(tasks_that_cannot_tell_wrong_kernels_are_rejected),
		cmocka_unit_test(plain_kernels_pass),
		cmocka_unit_test(another_order_of_adding_up_must_agree_too),
		cmocka_unit_test(the_same_seed_gives_the_same_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
