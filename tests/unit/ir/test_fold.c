/* SPDX-License-Identifier: Apache-2.0 */
/* test_fold.c - rules of integer folding: shape arithmetic becomes constants, unknown sizes stay unknown. */
#include "ir/infer/infer.h"

#include "tests/lib/graphs/one_node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One node of a chain: it defines %name (results beyond the first: %name.1, ...). */
typedef struct Step {
	const char *name, *op, *in, *attrs;
	size_t n_out;
} Step;

static PmGraph *build(const Step *s, size_t n)
{
	PmGraph *g = pm_graph_new(0);
	char name[32];
	size_t i, k;
	PmErr err;

	for (i = 0; i < n; i++) {
		PmNode at = one_node_add(g, s[i].op, s[i].in, s[i].attrs, s[i].n_out ? s[i].n_out : 1);

		for (k = 0; k < pm_node_n_out(g, at); k++) {
			if (k)
				snprintf(name, sizeof name, "%s.%zu", s[i].name, k);
			else
				snprintf(name, sizeof name, "%s", s[i].name);
			assert_int_equal(pm_value_set_name(g, pm_node_out(g, at, k), name, NULL), PM_OK);
		}
	}
	pm_err_init(&err);
	/* The last value is the output; folding stops before it. */
	assert_int_equal(pm_graph_add_output(g, pm_graph_find_value(g, s[n - 1].name), NULL), PM_OK);
	if (pm_infer_graph(g, 1, &err))
		fail_msg("%s", err.text);
	assert_int_equal(pm_verify(g, NULL), PM_OK);
	return g;
}

/* The elements of the last value, whose node is an Identity of what is asked, as "1,2,3"; "?" when not known.
 */
static void folded(const PmGraph *g, PmStr *out)
{
	PmNode n = pm_value_def(g, pm_graph_output(g, 0), NULL);
	int64_t v[64];
	size_t i, cnt;

	pm_str_clear(out);
	if (pm_value_const_ints(g, pm_node_in(g, n, 0), v, 64, &cnt) != PM_OK) {
		pm_str_add(out, "?");
		return;
	}
	for (i = 0; i < cnt; i++)
		pm_str_addf(out, i ? ",%lld" : "%lld", (long long)v[i]);
}

/* ---- one operator applied to constants ---- */

static const struct {
	const char *op, *in, *attrs, *want;
} ops[] = {
	{ "Shape", "float[2,3,4]", "end=3", "2,3,4" },
	{ "Shape", "float[2,3,4]", "start=-2 end=3", "3,4" },
	{ "Shape", "float[2,N]", "end=1", "2" },
	{ "Shape", "float[2,N]", "end=2", "?" },
	{ "Shape", "float", "end=0", "" },
	{ "Gather", "int64{10,20,30} int64{2,0}", "axis=0", "30,10" },
	{ "Gather", "int64{10,20,30} int64=-1", "axis=0", "30" },
	{ "Gather", "int64{10,20,30} int64=3", "axis=0", "?" },
	{ "Gather", "int64{10,20,30} int64=-4", "axis=0", "?" },
	{ "Concat", "int64{1} int64{2,3} int64{}", "axis=0", "1,2,3" },
	{ "Slice", "int64{1,2,3,4,5}", "starts=[1] ends=[4] axes=[0] steps=[2]", "2,4" },
	{ "Slice", "int64{1,2,3,4,5}", "starts=[-1] ends=[-9223372036854775808] axes=[0] steps=[-2]",
	  "5,3,1" },
	{ "Slice", "int64{1,2,3}", "starts=[5] ends=[9] axes=[0] steps=[1]", "" },
	{ "Slice", "int64{1,2,3}", "starts=[-9] ends=[-9] axes=[0] steps=[-1]", "1" },
	{ "Squeeze", "int64{7}", "axes=[0]", "7" },
	{ "Unsqueeze", "int64=7", "axes=[0]", "7" },
	{ "Reshape", "int64{1,2,3,4} int64{2,-1}", "", "1,2,3,4" },
	{ "Flatten", "int64{1,2}", "axis=1", "1,2" },
	{ "Identity", "bool{1,0}", "", "1,0" },
	{ "Expand", "int64{5} int64{3}", "", "5,5,5" },
	{ "Expand", "int64=5 int64{2,2}", "", "5,5,5,5" },
	{ "ConstantOfShape", "int64{3}", "value=int64{-1}", "-1,-1,-1" },
	{ "ConstantOfShape", "int64{2}", "value=int32{-2}", "-2,-2" },
	{ "Add", "int64{1,2} int64=10", "", "11,12" },
	{ "Add", "int64{9223372036854775807} int64=1", "", "-9223372036854775808" },
	{ "Add", "int32{2147483647} int32=1", "", "-2147483648" },
	{ "Add", "uint8{250} uint8=10", "", "4" },
	{ "Sub", "int8{-128} int8=1", "", "127" },
	{ "Mul", "int64{3,-4} int64{5,6}", "", "15,-24" },
	{ "Div", "int64{7,-7,7} int64{2,2,-2}", "", "3,-3,-3" },
	{ "Div", "int64{-9223372036854775808} int64=-1", "", "-9223372036854775808" },
	{ "Div", "int64{7} int64=0", "", "?" },
	{ "Neg", "int64{3,-9223372036854775808}", "", "-3,-9223372036854775808" },
	{ "Abs", "int64{-3,4}", "", "3,4" },
	{ "Max", "int64{1,5} int64{3,2}", "", "3,5" },
	{ "Min", "int64{1,5} int64{3,2}", "", "1,2" },
	{ "Max", "int64{1,5}", "", "1,5" },
	{ "Equal", "int64{1,2} int64{1,3}", "", "1,0" },
	{ "Less", "int64{1,2} int64{2,2}", "", "1,0" },
	{ "LessOrEqual", "int64{1,3} int64{1,2}", "", "1,0" },
	{ "Greater", "int64{1,3} int64{1,2}", "", "0,1" },
	{ "GreaterOrEqual", "int64{1,1} int64{1,2}", "", "1,0" },
	{ "And", "bool{1,1} bool{1,0}", "", "1,0" },
	{ "Or", "bool{0,1} bool{0,0}", "", "0,1" },
	{ "Xor", "bool{1,1} bool{1,0}", "", "0,1" },
	{ "Not", "bool{1,0}", "", "0,1" },
	{ "Where", "bool{1,0} int64{1,2} int64{3,4}", "", "1,4" },
	{ "Cast", "int64{300,-1}", "to=2", "44,255" },
	{ "Cast", "int64{3,0}", "to=9", "1,0" },
	{ "Cast", "int64{4294967297}", "to=6", "1" },
	{ "ReduceProd", "int64{2,3,4}", "axes=[0] keepdims=0", "24" },
	{ "ReduceSum", "int64{2,3,4}", "axes=[0]", "9" },
	{ "Add", "int64[2] int64=1", "", "?" },
};

static void each_operator_is_evaluated(void **state)
{
	PmStr got = PM_STR_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		const Step s[] = { { "y", ops[i].op, ops[i].in, ops[i].attrs, 0 },
				   { "z", "Identity", "%y", "", 0 } };
		PmGraph *g = build(s, 2);

		folded(g, &got);
		if (strcmp(got.s, ops[i].want) != 0)
			fail_msg("%s (%s) {%s} gives %s, not %s", ops[i].op, ops[i].in, ops[i].attrs, got.s,
				 ops[i].want);
		pm_graph_free(g);
	}
	pm_str_release(&got);
}

static void matrices_are_followed_too(void **state)
{
	static const Step s[] = {
		{ "m", "Reshape", "int64{1,2,3,4,5,6} int64{2,3}", "", 0 },
		{ "t", "Transpose", "%m", "perm=[1,0]", 0 },
		{ "g", "Gather", "%t int64{2,0}", "axis=0", 0 }, /* {3,6},{1,4} */
		{ "h", "Gather", "%m int64{-1}", "axis=1", 0 },  /* {3},{6} */
		{ "e", "Expand", "%h int64{2,2}", "", 0 },       /* {3,3},{6,6} */
		{ "c", "Concat", "%g %e", "axis=1", 0 },         /* {3,6,3,3},{1,4,6,6} */
		{ "s", "Split", "%c", "axis=1 split=[1,3]", 2 }, /* {6,3,3},{4,6,6} */
		{ "r", "ReduceSum", "%s.1", "axes=[0] keepdims=0", 0 },
		{ "y", "Identity", "%r", "", 0 },
	};
	PmGraph *g = build(s, sizeof s / sizeof s[0]);
	PmStr got = PM_STR_INIT;

	(void)state;
	folded(g, &got);
	assert_string_equal(got.s, "10,9,9");
	pm_str_release(&got);
	pm_graph_free(g);
}

static void type_is(const PmGraph *g, const char *name, const char *want)
{
	PmStr got = PM_STR_INIT;

	one_node_print_type(g, pm_value_type(g, pm_graph_find_value(g, name)), &got);
	assert_string_equal(got.s, want);
	pm_str_release(&got);
}

/* x.view(x.shape[0], -1, 4) as exporters write it. */
static void a_reshape_sees_the_sizes_it_is_given(void **state)
{
	static const Step s[] = {
		{ "x", "Identity", "float[6,8]", "", 0 },         { "s", "Shape", "%x", "end=2", 0 },
		{ "d", "Gather", "%s int64=0", "axis=0", 0 },     { "u", "Unsqueeze", "%d", "axes=[0]", 0 },
		{ "c", "Concat", "%u int64{-1,4}", "axis=0", 0 }, { "y", "Reshape", "%x %c", "", 0 },
	};
	PmGraph *g = build(s, sizeof s / sizeof s[0]);

	(void)state;
	type_is(g, "y", "float[6,2,4]");
	assert_int_equal(pm_graph_sweep(g), 4);
	assert_int_equal(pm_graph_n_nodes(g), 2);
	assert_int_equal(pm_verify(g, NULL), PM_OK);
	pm_graph_free(g);
}

/* The same with symbols: the element that is picked is known, or is the symbol itself. */
static void symbols_are_carried_through(void **state)
{
	static const Step s[] = {
		{ "x", "Identity", "float[N,S,64]", "", 0 },
		{ "s", "Shape", "%x", "end=3", 0 },
		{ "n", "Slice", "%s", "starts=[0] ends=[1] axes=[0] steps=[1]", 0 },
		{ "k", "Gather", "%s int64{2}", "axis=0", 0 },
		{ "q", "Div", "%k int64=4", "", 0 },
		{ "one", "Mul", "%n int64=1", "", 0 },
		{ "c", "Concat", "%one int64{-1,4} %q", "axis=0", 0 },
		{ "y", "Reshape", "%x %c", "", 0 },
	};
	PmGraph *g = build(s, sizeof s / sizeof s[0]);
	PmValue q = pm_node_in(g, pm_value_def(g, pm_graph_find_value(g, "c"), NULL), 2);
	int64_t v = 0;
	size_t n;

	(void)state;
	type_is(g, "y", "float[N,S,4,16]");
	assert_int_equal(pm_value_const_ints(g, q, &v, 1, &n), PM_OK);
	assert_int_equal(v, 16);
	/* The concatenation has an element that is not a number, so it stays a node. */
	assert_int_equal(
		pm_value_is_const(g, pm_node_in(g, pm_value_def(g, pm_graph_find_value(g, "y"), NULL), 1)),
		0);
	pm_graph_free(g);
}

/* torch's expand(): where(shape == -1, ones, shape). */
static void the_expand_idiom_is_resolved(void **state)
{
	static const Step s[] = {
		{ "x", "Identity", "float[N,1]", "", 0 },
		{ "s", "Shape", "%x", "end=1", 0 },
		{ "c", "Concat", "%s int64{5}", "axis=0", 0 },
		{ "o", "ConstantOfShape", "int64{2}", "value=int64{1}", 0 },
		{ "m", "Mul", "%o int64=-1", "", 0 },
		{ "e", "Equal", "%c %m", "", 0 },
		{ "w", "Where", "%e %o %c", "", 0 },
		{ "y", "Expand", "%x %w", "", 0 },
	};
	PmGraph *g = build(s, sizeof s / sizeof s[0]);

	(void)state;
	type_is(g, "y", "float[N,5]");
	pm_graph_free(g);
}

static void arithmetic_on_symbols_says_only_what_is_true(void **state)
{
	static const struct {
		const char *op, *in, *want;
	} cases[] = {
		{ "Add", "%s int64=0", "float[N]" },  { "Add", "%s int64=1", "float[N + 1]" },
		{ "Mul", "int64=1 %s", "float[N]" },  { "Mul", "%s int64=0", "float[0]" },
		{ "Mul", "%s %s", "float[N*N]" },     { "Sub", "%s %s", "float[0]" },
		{ "Sub", "%s int64=0", "float[N]" },  { "Div", "%s int64=1", "float[N]" },
		{ "Div", "%s int64=2", "float[?]" },  { "Sub", "%s int64=1", "float[?]" },
		{ "Add", "%s int64=-1", "float[?]" }, { "Max", "%s int64=0", "float[N]" },
		{ "Max", "%s int64=1", "float[?]" },  { "Min", "%s %s", "float[N]" },
		{ "Abs", "%s", "float[N]" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const Step s[] = {
			{ "x", "Identity", "float[N]", "", 0 },
			{ "s", "Shape", "%x", "end=1", 0 },
			{ "a", cases[i].op, cases[i].in, "", 0 },
			{ "y", "ConstantOfShape", "%a", "value=float{0}", 0 },
		};
		PmGraph *g = build(s, 4);

		type_is(g, "y", cases[i].want);
		pm_graph_free(g);
	}
}

static void outputs_and_large_values_are_left_alone(void **state)
{
	static const Step out[] = { { "s", "Shape", "float[2]", "end=1", 0 } };
	static const Step large[] = {
		{ "b", "ConstantOfShape", "int64{4097}", "value=int64{1}", 0 },
		{ "y", "Identity", "%b", "", 0 },
	};
	static const Step fits[] = {
		{ "b", "ConstantOfShape", "int64{4096}", "value=int64{1}", 0 },
		{ "y", "Identity", "%b", "", 0 },
	};
	PmGraph *g = build(out, 1);

	(void)state;
	assert_false(pm_value_is_const(g, pm_graph_output(g, 0)));
	assert_string_equal(pm_value_name(g, pm_graph_output(g, 0)), "s");
	pm_graph_free(g);
	g = build(large, 2);
	assert_int_equal(pm_value_n_uses(g, pm_graph_find_value(g, "b")), 1);
	pm_graph_free(g);
	g = build(fits, 2);
	assert_int_equal(pm_value_n_uses(g, pm_graph_find_value(g, "b")), 0);
	pm_graph_free(g);
}

/* Where inference cannot tell a dimension the result keeps the one it had: no reason to believe it. */
static void a_type_that_does_not_follow_is_not_trusted(void **state)
{
	static const struct {
		const char *op, *in, *attrs;
	} cases[] = {
		{ "Reshape", "int64{1,2} int64[1]", "" },
		{ "Expand", "int64{7} int64[1]", "" },
		{ "ConstantOfShape", "int64[1]", "value=int64{1}" },
	};
	static const int64_t sizes[] = { 4000, 2 };
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		PmGraph *g = pm_graph_new(0);
		PmNode n = one_node_add(g, cases[i / 2].op, cases[i / 2].in, cases[i / 2].attrs, 1), use;
		PmType t = pm_type(PM_I64, 1, &sizes[i % 2]);
		PmValue v = pm_node_out(g, n, 0);

		pm_value_set_type(g, v, &t);
		assert_int_equal(pm_graph_add_node(g, PM_OP_Identity, &v, 1, 1, &use, NULL), PM_OK);
		assert_int_equal(pm_infer_graph(g, 1, NULL), PM_OK);
		assert_int_equal(pm_value_type(g, v)->dim[0], sizes[i % 2]);
		assert_false(pm_value_is_const(g, pm_node_in(g, use, 0)));
		pm_graph_free(g);
	}
}

static void without_fold_the_graph_keeps_its_nodes(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmNode s = one_node_add(g, "Shape", "float[2]", "end=1", 1);
	PmValue v = pm_node_out(g, s, 0);
	PmNode use;

	(void)state;
	assert_int_equal(pm_graph_add_node(g, PM_OP_Identity, &v, 1, 1, &use, NULL), PM_OK);
	assert_int_equal(pm_infer_graph(g, 0, NULL), PM_OK);
	assert_int_equal(pm_node_in(g, use, 0).id, v.id);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_operator_is_evaluated),
		cmocka_unit_test(matrices_are_followed_too),
		cmocka_unit_test(a_reshape_sees_the_sizes_it_is_given),
		cmocka_unit_test(symbols_are_carried_through),
		cmocka_unit_test(the_expand_idiom_is_resolved),
		cmocka_unit_test(arithmetic_on_symbols_says_only_what_is_true),
		cmocka_unit_test(outputs_and_large_values_are_left_alone),
		cmocka_unit_test(a_type_that_does_not_follow_is_not_trusted),
		cmocka_unit_test(without_fold_the_graph_keeps_its_nodes),
	};

	return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
