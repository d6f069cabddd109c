/* SPDX-License-Identifier: Apache-2.0 */
/* test_simplify.c - each clean-up pass on a small graph; all of them keep what random and bundled models
 * compute. */
#include "base/core/str.h"
#include "base/sys/io.h"
#include "bench/inputs/inputs.h"
#include "ir/infer/infer.h"
#include "ir/text/text.h"
#include "runtime/ref/ref.h"
#include "simplify/simplify.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static size_t run_one(PmGraph *g, const char *name)
{
	PmSimplifyPass p = pm_simplify_find(name);
	PmSimplifyOpts opts = { .passes = 1u << p };
	PmSimplifyReport r;
	PmErr err;

	assert_int_not_equal(p, PM_N_SIMPLIFY);
	pm_err_init(&err);
	if (pm_simplify(g, &opts, &r, &err))
		fail_msg("%s: %s", name, err.text);
	return r.changes[p];
}

/* One pass alone turns `before` into `after`; constants and nodes that are left over are swept. */
static void becomes(const char *pass, const char *before, const char *after)
{
	PmGraph *g = pm_test_graph(before), *want = pm_test_graph(after);
	PmPrintOpts opts = { .renumber = 1 };
	PmStr a = PM_STR_INIT, b = PM_STR_INIT;
	size_t changes = run_one(g, pass);

	run_one(g, "dead-code");
	run_one(want, "dead-code");
	assert_int_equal(pm_graph_print(g, &opts, &a, NULL), PM_OK);
	assert_int_equal(pm_graph_print(want, &opts, &b, NULL), PM_OK);
	if (strcmp(a.s, b.s) != 0)
		fail_msg("%s gives\n%s\nnot\n%s", pass, a.s, b.s);
	assert_int_equal(changes > 0, strcmp(before, after) != 0);
	pm_str_release(&a);
	pm_str_release(&b);
	pm_graph_free(g);
	pm_graph_free(want);
}

static void stays(const char *pass, const char *text)
{
	becomes(pass, text, text);
}

static void copies_go(void **state)
{
	(void)state;
	becomes("identity", "m (float[2] x) => (float[2] y) { a = Identity (x)\n y = Relu (a) }",
		"m (float[2] x) => (float[2] y) { y = Relu (x) }");
	becomes("identity", "m (float[2] x) => (float[2] y) { a = Relu (x)\n y = Identity (a) }",
		"m (float[2] x) => (float[2] y) { y = Relu (x) }");
	/* An output is not an input, and one value is not two outputs. */
	stays("identity", "m (float[2] x) => (float[2] y) { y = Identity (x) }");
	stays("identity", "m (float[2] x) => (float[2] a, float[2] y) { a = Relu (x)\n y = Identity (a) }");
	becomes("noop-cast", "m (float[2] x) => (float[2] y) { a = Cast <to = 1> (x)\n y = Relu (a) }",
		"m (float[2] x) => (float[2] y) { y = Relu (x) }");
	stays("noop-cast",
	      "m (float[2] x) => (float[2] y) { a = Exp (x)\n b = Cast <to = 1> (a)\n y = Neg (b) }");
	stays("noop-cast", "m (float[2] x) => (double[2] y) { a = Cast <to = 11> (x)\n y = Neg (a) }");
}

static void moves_that_move_nothing_go(void **state)
{
	(void)state;
	becomes("noop-transpose",
		"m (float[2,2] x) => (float[2,2] y) { a = Transpose <perm = [0, 1]> (x)\n y = Relu (a) }",
		"m (float[2,2] x) => (float[2,2] y) { y = Relu (x) }");
	stays("noop-transpose",
	      "m (float[2,2] x) => (float[2,2] y) { a = Transpose <perm = [1, 0]> (x)\n y = Relu (a) }");
	becomes("noop-reshape",
		"m (float[2,3] x) => (float[2,3] y) <int64[2] s = {2, -1}> { a = Reshape (x, s)\n y = Relu "
		"(a) }",
		"m (float[2,3] x) => (float[2,3] y) { y = Relu (x) }");
	becomes("noop-reshape",
		"m (float[N,3] x) => (float[N,3] y) <int64[2] s = {1, 3}> { a = Expand (x, s)\n y = Relu (a) "
		"}",
		"m (float[N,3] x) => (float[N,3] y) { y = Relu (x) }");
	stays("noop-reshape", "m (float[2,3] x) => (float[3,2] y) <int64[2] s = {3, 2}> { a = Reshape (x, "
			      "s)\n y = Relu (a) }");
	becomes("noop-slice",
		"m (float[4] x) => (float[4] y) { a = Slice <starts = [0], ends = [9], axes = [0], steps = "
		"[1]> "
		"(x)\n b = Concat <axis = 0> (a)\n c = Pad <pads = [0, 0]> (b)\n y = Relu (c) }",
		"m (float[4] x) => (float[4] y) { y = Relu (x) }");
	stays("noop-slice",
	      "m (float[4] x) => (float[4] y) { a = Slice <starts = [3], ends = [-9], axes = [0], "
	      "steps = [-1]> (x)\n y = Relu (a) }");
	stays("noop-slice", "m (float[4] x) => (float[4] y) { a = Pad <pads = [1, -1]> (x)\n y = Relu (a) }");
}

static void arithmetic_with_one_goes(void **state)
{
	(void)state;
	becomes("noop-arithmetic",
		"m (float[2] x) => (float[2] y) <float one = {1}, float[1] zero = {0}> { a = Mul (x, one)\n "
		"b = Div "
		"(a, one)\n c = Sub (b, zero)\n y = Relu (c) }",
		"m (float[2] x) => (float[2] y) { y = Relu (x) }");
	/* -0.0 + 0.0 is 0.0, and so is -0.0 - (-0.0). */
	stays("noop-arithmetic",
	      "m (float[2] x) => (float[2] y) <float z = {0}> { a = Add (x, z)\n y = Relu (a) }");
	stays("noop-arithmetic",
	      "m (float[2] x) => (float[2] y) <float z = {-0}> { a = Sub (x, z)\n y = Relu (a) }");
	stays("noop-arithmetic",
	      "m (float[1] x) => (float[2] y) <float[2] one = {1, 1}> { a = Mul (x, one)\n y = Relu (a) }");
}

static void what_is_done_is_not_done_again(void **state)
{
	(void)state;
	becomes("repeated", "m (float[2] x) => (float[2] y) { a = Relu (x)\n b = Relu (a)\n y = Neg (b) }",
		"m (float[2] x) => (float[2] y) { a = Relu (x)\n y = Neg (a) }");
	becomes("repeated",
		"m (float[2] x) => (float[2] y) { a = Round (x)\n b = Round (a)\n y = Round (b) }",
		"m (float[2] x) => (float[2] y) { y = Round (x) }");
	stays("repeated", "m (float[2] x) => (float[2] y) { a = Neg (x)\n y = Neg (a) }");
	stays("repeated", "m (float[2] x) => (float[2] y) { a = Relu (x)\n b = Abs (a)\n y = Relu (b) }");
	stays("repeated", "m (float[2] x) => (float[2] y) { y = Relu (x) }");
}

static void pairs_become_one(void **state)
{
	(void)state;
	becomes("merge-transposes",
		"m (float[2,3,4] x) => (float[4,3,2] y) { a = Transpose <perm = [1, 2, 0]> (x)\n b = "
		"Transpose <perm "
		"= [1, 0, 2]> (a)\n y = Relu (b) }",
		"m (float[2,3,4] x) => (float[4,3,2] y) { b = Transpose <perm = [2, 1, 0]> (x)\n y = Relu "
		"(b) }");
	becomes("merge-reshapes",
		"m (float[2,6] x) => (float[3,4] y) <int64[2] s = {4, 3}, int64[2] t = {3, -1}> { a = "
		"Reshape (x, "
		"s)\n b = Reshape (a, t)\n y = Relu (b) }",
		"m (float[2,6] x) => (float[3,4] y) <int64[2] t = {3, -1}> { b = Reshape (x, t)\n y = Relu "
		"(b) }");
	/* A 0 copies a size of the first one's result. */
	stays("merge-reshapes", "m (float[2,6] x) => (float[4,3] y) <int64[2] s = {4, 3}, int64[2] t = {0, "
				"3}> { a = Reshape (x, s)\n b "
				"= Reshape (a, t)\n y = Relu (b) }");
	becomes("common-subexpressions",
		"m (float[2] x) => (float[2] y) { a = Exp (x)\n b = Exp (x)\n c = Neg (a)\n d = Neg (b)\n y "
		"= Add "
		"(c, d) }",
		"m (float[2] x) => (float[2] y) { a = Exp (x)\n c = Neg (a)\n y = Add (c, c) }");
	becomes("common-subexpressions",
		"m (float[2] x) => (float[2] y) <float[1] k = {3}, float[1] l = {3}, float[1] o = {4}> { a = "
		"Mul (x, "
		"k)\n b = Mul (x, l)\n c = Mul (x, o)\n d = Add (a, b)\n y = Add (d, c) }",
		"m (float[2] x) => (float[2] y) <float[1] k = {3}, float[1] o = {4}> { a = Mul (x, k)\n c = "
		"Mul (x, "
		"o)\n d = Add (a, a)\n y = Add (d, c) }");
	stays("common-subexpressions",
	      "m (float[2] x) => (float[2] y, float[2] z) { y = Exp (x)\n z = Exp (x) }");
	stays("common-subexpressions",
	      "m (float[2] x) => (float[2] y) { a = \"d:R\" (x)\n b = \"d:R\" (x)\n y = "
	      "\"d:S\" (a, b) }");
}

static void constants_are_computed_where_nothing_is_rounded(void **state)
{
	(void)state;
	becomes("fold-constants",
		"m (float[2] x) => (float[2] y) <float[2] k = {1, 2}, float[2] l = {0.5, 3}> { a = Add (k, "
		"l)\n y = "
		"Mul (x, a) }",
		"m (float[2] x) => (float[2] y) <float[2] a = {1.5, 5}> { y = Mul (x, a) }");
	/* One third is no float: the reference would see the difference. */
	stays("fold-constants",
	      "m (float[2] x) => (float[2] y) <float[1] k = {1}, float[1] l = {3}> { a = Div (k, "
	      "l)\n y = Mul (x, a) }");
	/* An index out of range is for whoever runs it. */
	stays("fold-constants",
	      "m (float[2] x) => (float[2] y) <float[2] k = {1, 2}, int64[1] i = {7}> { a = Gather "
	      "<axis = 0> (k, i)\n y = Mul (x, a) }");
	becomes("fold-shapes",
		"m (float[2,6] x) => (float[6,2] y) <int64 i = {1}, int64[1] z = {0}, int64[1] r = {-1}> { s "
		"= Shape <end = 9> "
		"(x)\n a = Gather <axis = 0> (s, i)\n b = Unsqueeze <axes = [0]> (a)\n c = Concat <axis = 0> "
		"(b, "
		"r)\n y = Reshape (x, c) }",
		"m (float[2,6] x) => (float[6,2] y) <int64[2] c = {6, -1}> { y = Reshape (x, c) }");
}

/* ---- whatever the graph ---- */

static void compare(const PmRefTensor *a, const PmRefTensor *b, const char *what)
{
	int64_t i;

	assert_true(pm_type_equal(&a->type, &b->type));
	for (i = 0; i < a->numel; i++) {
		int same = a->f ? (a->f[i] != a->f[i] && b->f[i] != b->f[i]) ||
					   memcmp(&a->f[i], &b->f[i], sizeof *a->f) == 0
				: a->i[i] == b->i[i];

		if (!same)
			fail_msg("%s: element %lld was %.17g and is %.17g", what, (long long)i,
				 a->f ? a->f[i] : (double)a->i[i], b->f ? b->f[i] : (double)b->i[i]);
	}
}

static size_t n_run, n_changes;

/* Simplified, it computes the same to the bit, keeps its interface, and has nothing left to simplify. */
static void keeps_its_meaning(PmGraph *g, uint64_t seed, const char *what)
{
	size_t n_in = pm_graph_n_inputs(g), n_out = pm_graph_n_outputs(g), k, p, again = 0;
	PmTensor *in = calloc(n_in + 1, sizeof *in);
	PmRefTensor *before = calloc(n_out + 1, sizeof *before), *after = calloc(n_out + 1, sizeof *after);
	PmStr names = PM_STR_INIT, names_after = PM_STR_INIT;
	PmSimplifyReport r;
	PmErr err;
	int runs;

	pm_err_init(&err);
	for (k = 0; k < n_out; k++)
		pm_str_addf(&names, "%s,", pm_value_name(g, pm_graph_output(g, k)));
	runs = pm_inputs_make(g, seed, PM_INPUTS_NORMAL, in, &err) == PM_OK &&
	       pm_ref_run_exact(g, in, n_in, before, n_out, &err) == PM_OK;
	pm_err_init(&err);
	if (pm_simplify(g, NULL, &r, &err))
		fail_msg("%s: %s", what, err.text);
	for (p = 0; p < PM_N_SIMPLIFY; p++)
		n_changes += r.changes[p];
	for (k = 0; k < pm_graph_n_outputs(g); k++)
		pm_str_addf(&names_after, "%s,", pm_value_name(g, pm_graph_output(g, k)));
	assert_string_equal(names.s, names_after.s);
	if (runs) {
		if (pm_ref_run_exact(g, in, n_in, after, n_out, &err))
			fail_msg("%s: %s", what, err.text);
		for (k = 0; k < n_out; k++)
			compare(&before[k], &after[k], what);
		n_run++;
	}
	assert_int_equal(pm_simplify(g, NULL, &r, &err), PM_OK);
	for (p = 0; p < PM_N_SIMPLIFY; p++)
		again += r.changes[p];
	assert_int_equal(again, 0);
	for (k = 0; k < n_in; k++)
		pm_tensor_release(&in[k]);
	for (k = 0; k < n_out; k++) {
		pm_ref_tensor_release(&before[k]);
		pm_ref_tensor_release(&after[k]);
	}
	pm_str_release(&names);
	pm_str_release(&names_after);
	free(in);
	free(before);
	free(after);
}

static void random_graphs_keep_their_meaning(void **state)
{
	enum { SEEDS = 1500 };

	(void)state;
	n_run = n_changes = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		GenOpts o = { .seed = seed,
			      .n_nodes = 30,
			      .max_dim = 4,
			      .zero_dims = seed % 5 == 0,
			      .symbols = seed % 7 == 0 };
		PmGraph *g = gen_graph(&o);
		char what[32];

		snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
		keeps_its_meaning(g, seed, what);
		pm_graph_free(g);
	}
	printf("# %zu of %d random graphs were run before and after, %zu changes\n", n_run, (int)SEEDS,
	       n_changes);
	assert_true(n_run > SEEDS / 2 && n_changes > SEEDS);
}

static void bundled_models_keep_their_meaning(void **state)
{
	static const char *const models[] = { "bert_encoder_layer",   "bge_pooling_head",  "llama_block",
					      "mobilenetv3_se_block", "resnet_bottleneck", "swin_block" };

	(void)state;
	n_run = 0;
	for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
		PmStr path = PM_STR_INIT, text = PM_STR_INIT;
		PmGraph *g;

		pm_str_addf(&path, "models/%s.gpt", models[i]);
		assert_int_equal(pm_read_file(path.s, 0, &text, NULL), PM_OK);
		g = pm_test_graph(text.s);
		keeps_its_meaning(g, i, models[i]);
		pm_graph_free(g);
		pm_str_release(&path);
		pm_str_release(&text);
	}
	assert_true(n_run >= 4); /* the others need weights, or are too large for a test */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_go),
		cmocka_unit_test(moves_that_move_nothing_go),
		cmocka_unit_test(arithmetic_with_one_goes),
		cmocka_unit_test(what_is_done_is_not_done_again),
		cmocka_unit_test(pairs_become_one),
		cmocka_unit_test(constants_are_computed_where_nothing_is_rounded),
		cmocka_unit_test(random_graphs_keep_their_meaning),
		cmocka_unit_test(bundled_models_keep_their_meaning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
