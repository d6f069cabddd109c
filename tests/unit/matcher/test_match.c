/* SPDX-License-Identifier: Apache-2.0 */
/* test_match.c - one pattern at one value: what matches, what does not, and the sentence about why. */
#include "matcher/pattern/match.h"

#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct Case {
	const char *pattern;
	const char *graph; /* the root is the value r */
	const char *miss;  /* NULL: matches; else a part of the sentence */
} Case;

#define G(inputs, outputs, body) "g (" inputs ") => (" outputs ")\n{\n" body "}\n"
#define X                        "float[2,3] x"
#define XY                       "float[2,3] x, float[2,3] y"
#define R                        "float[2,3] r"

static PmPattern *pattern(const char *text)
{
	PmPattern *p = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_pattern_parse(text, strlen(text), &p, &err) != PM_OK)
		fail_msg("%s\n%s", err.text, text);
	return p;
}

static void run(const Case *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		PmGraph *g = pm_test_graph(c[i].graph);
		PmPattern *p = pattern(c[i].pattern);
		PmMatched m;
		PmMiss miss;
		PmStr s = PM_STR_INIT;
		int found = pm_match(g, p, pm_graph_find_value(g, "r"), &m, &miss);

		if (!found)
			pm_miss_describe(g, p, &miss, &s);
		if (found != !c[i].miss || (c[i].miss && !strstr(s.s, c[i].miss)))
			fail_msg("%s on\n%s%s %s", c[i].pattern, c[i].graph,
				 found ? "matched" : "did not match:", s.s);
		pm_str_release(&s);
		pm_pattern_free(p);
		pm_graph_free(g);
	}
}

static void operands_and_slots(void **state)
{
	static const Case cases[] = {
		{ "(Mul ?0 (Sigmoid ?0))", G(X, R, "s = Sigmoid(x)\nr = Mul(x, s)\n"), NULL },
		{ "(Mul ?0 (Sigmoid ?0))", G(X, R, "s = Sigmoid(x)\nr = Mul(s, x)\n"), NULL },
		{ "(Mul ?0 (Sigmoid ?0)){ordered}", G(X, R, "s = Sigmoid(x)\nr = Mul(s, x)\n"),
		  "operand 1 of node 2 (Mul -> 'r'): the pattern wants (Sigmoid ?0), this is 'x', a graph "
		  "input" },
		{ "(Sub ?0 (Sigmoid ?0))", G(X, R, "s = Sigmoid(x)\nr = Sub(s, x)\n"), "wants (Sigmoid ?0)" },
		{ "(Mul ?0 (Sigmoid ?0))", G(XY, R, "s = Sigmoid(y)\nr = Mul(x, s)\n"),
		  "slot ?0 already stands for 'x', this is 'y', a graph input" },
		{ "(Mul ?0 (Sigmoid ?0))", G(X, R, "s = Tanh(x)\nr = Mul(x, s)\n"),
		  "wants (Sigmoid ?0), this is 's', made by Tanh" },
		{ "(Mul ?0 ?0)", G(X, R, "r = Mul(x, x)\n"), NULL },
		{ "(Mul ?0 ?0)", G(XY, R, "r = Mul(x, y)\n"), "slot ?0" },
		/* Backtracking: the first order of the inner Add fits, but only the second leads to a match.
		 */
		{ "(Mul (Add ?0 ?1) (Sub ?0 ?1))", G(XY, R, "a = Add(y, x)\nb = Sub(x, y)\nr = Mul(a, b)\n"),
		  NULL },
		{ "(Mul (Add ?0 ?1) (Sub ?0 ?1))", G(XY, R, "a = Add(y, x)\nb = Sub(x, y)\nr = Mul(b, a)\n"),
		  NULL },
		{ "(Add (Add (Add ?0 ?1) ?2) (Tanh ?2))",
		  G(XY ", float[2,3] z", R, "a = Add(z, y)\nb = Add(x, a)\nt = Tanh(x)\nr = Add(t, b)\n"),
		  NULL },
		{ "(Max ?0 ...)", G(XY, R, "r = Max(x, y, x)\n"), NULL },
		{ "(Max ?0 ?1)", G(XY, R, "r = Max(x, y, x)\n"), "Max has 3 operands" },
		{ "(Max ?0 ?1 ?2 ?3)", G(XY, R, "r = Max(x, y, x)\n"), "Max has 3 operands" },
		{ "(Clip ?0)", G(X, R, "r = Clip(x)\n"), NULL },
		{ "(Clip ?0 _ _)", G("float[2,3] x, float m", R, "r = Clip(x, , m)\n"),
		  "operand is omitted" },
		{ "(Clip ?0 ...)", G("float[2,3] x, float m", R, "r = Clip(x, , m)\n"), NULL },
		{ "(Clip ?0 ...)", G(X, R, "r = Clip(x)\n"), NULL },
		{ "(Clip ?0 ?1)", G(X, R, "r = Clip(x)\n"), "Clip has 1 operand" },
		{ "(Clip ?0 _)", G(X, R, "r = Clip(x)\n"), "Clip has 1 operand" },
		{ "(Clip ?0)", G("float[2,3] x, float m", R, "r = Clip(x, m)\n"), "Clip has 2 operands" },
		{ "(Add _ _)", G(XY, R, "r = Add(x, y)\n"), NULL },
	};

	(void)state;
	run(cases, sizeof cases / sizeof *cases);
}

static void alternatives_and_options(void **state)
{
	static const Case cases[] = {
		{ "(Relu (| (Add ?0 ?1) (Sub ?0 ?1)))", G(XY, R, "a = Sub(x, y)\nr = Relu(a)\n"), NULL },
		{ "(Relu (| (Add ?0 ?1) (Sub ?0 ?1)))", G(XY, R, "a = Mul(x, y)\nr = Relu(a)\n"),
		  "made by Mul" },
		{ "(Relu (Cast? (Add ?0 ?0)))", G(X, R, "a = Add(x, x)\nr = Relu(a)\n"), NULL },
		{ "(Relu (Cast? (Add ?0 ?0)))",
		  G("float16[2,3] x", R, "a = Add(x, x)\nb = Cast<to = 1>(a)\nr = Relu(b)\n"), NULL },
		/* The operator is there, but the match is without it. */
		{ "(Relu (Neg? ?0))", G(X, "float[2,3] n, float[2,3] r", "n = Neg(x)\nr = Relu(n)\n"), NULL },
		{ "(Add ?0 (Neg? ?0))", G(X, R, "n = Neg(x)\nr = Add(n, n)\n"), NULL },
		{ "(Relu ?1:(| (Neg ?0) (Abs ?0)))", G(X, R, "n = Abs(x)\nr = Relu(n)\n"), NULL },
	};

	(void)state;
	run(cases, sizeof cases / sizeof *cases);
}

static void attributes_are_strict(void **state)
{
	static const Case cases[] = {
		{ "(ReduceSum ?0){axes=1}{keepdims=0}",
		  G(X, "float[2] r", "r = ReduceSum<axes = [1], keepdims = 0>(x)\n"), NULL },
		{ "(ReduceSum ?0){axes=-1}{keepdims=0}",
		  G(X, "float[2] r", "r = ReduceSum<axes = [1], keepdims = 0>(x)\n"), NULL },
		{ "(ReduceSum ?0){axes=0}{keepdims=0}",
		  G(X, "float[2] r", "r = ReduceSum<axes = [1], keepdims = 0>(x)\n"),
		  "attribute axes of ReduceSum is [1], the pattern wants [0]" },
		{ "(ReduceSum ?0){axes=1}",
		  G(X, "float[2] r", "r = ReduceSum<axes = [1], keepdims = 0>(x)\n"),
		  "attribute keepdims of ReduceSum is 0, not its default, and the pattern does not mention "
		  "it" },
		{ "(ReduceSum ?0){axes=1}", G(X, "float[2,1] r", "r = ReduceSum<axes = [1]>(x)\n"), NULL },
		{ "(ReduceSum ?0){anyattr}",
		  G(X, "float[2] r", "r = ReduceSum<axes = [1], keepdims = 0>(x)\n"), NULL },
		{ "(ReduceSum ?0){axes=0}{anyattr}",
		  G(X, "float[2] r", "r = ReduceSum<axes = [1], keepdims = 0>(x)\n"), "attribute axes" },
		{ "(Unsqueeze ?0){axes=-1}", G(X, "float[2,3,1] r", "r = Unsqueeze<axes = [2]>(x)\n"), NULL },
		{ "(Softmax ?0){axis=-1}", G(X, R, "r = Softmax<axis = 1>(x)\n"), NULL },
		{ "(LeakyRelu ?0){alpha=0.1}", G(X, R, "r = LeakyRelu<alpha = 0.1>(x)\n"), NULL },
		{ "(LeakyRelu ?0)", G(X, R, "r = LeakyRelu<alpha = 0.1>(x)\n"),
		  "attribute alpha of LeakyRelu is 0.1" },
		{ "(LeakyRelu ?0)", G(X, R, "r = LeakyRelu<alpha = 0.01>(x)\n"), NULL },
		{ "(Gelu ?0){approximate=\"tanh\"}", G(X, R, "r = Gelu<approximate = \"tanh\">(x)\n"), NULL },
		{ "(Gelu ?0)", G(X, R, "r = Gelu<approximate = \"tanh\">(x)\n"),
		  "attribute approximate of Gelu is \"tanh\"" },
		{ "(Cast ?0)", G("float16[2,3] x", R, "r = Cast<to = 1>(x)\n"), NULL },
	};

	(void)state;
	run(cases, sizeof cases / sizeof *cases);
}

static void types_and_numbers(void **state)
{
	static const Case cases[] = {
		{ "(Relu ?0{float,r2})", G(X, R, "r = Relu(x)\n"), NULL },
		{ "(Relu ?0{r3})", G(X, R, "r = Relu(x)\n"),
		  "'x' has type float[2,3], the pattern wants {r3}" },
		{ "(Relu ?0{float})", G("double[2] x", "double[2] r", "r = Relu(x)\n"),
		  "'x' has type double[2], the pattern wants {float}" },
		{ "(Mul ?0 0.5)", "g (float[2] x) => (float[2] r) <float h = {0.5}>\n{\nr = Mul(h, x)\n}\n",
		  NULL },
		{ "(Mul ?0 0.5)",
		  "g (float[2] x) => (float[1,2] r) <float[1,1] h = {0.5}>\n{\nr = Mul(x, h)\n}\n", NULL },
		{ "(Mul ?0 0.5)",
		  "g (float[2] x) => (float[2] r) <float[1] h = {0.5000001}>\n{\nr = Mul(x, h)\n}\n", NULL },
		{ "(Mul ?0 0.5)", "g (float[2] x) => (float[2] r) <float h = {0.501}>\n{\nr = Mul(x, h)\n}\n",
		  "wants the constant 0.5, this is 0.501" },
		{ "(Mul ?0 0.044715)",
		  "g (float16[2] x) => (float16[2] r) <float16 h = {0.044715}>\n{\nr = Mul(x, h)\n}\n",
		  NULL },
		{ "(Mul ?0 0.5)",
		  "g (float[2] x) => (float[2] r) <float[2] h = {0.5, 0.5}>\n{\nr = Mul(x, h)\n}\n",
		  "this is 'h', a constant" },
		{ "(Mul ?0 0.5)", G(XY, R, "r = Mul(x, y)\n"), "this is 'y', a graph input" },
	};

	(void)state;
	run(cases, sizeof cases / sizeof *cases);
}

static void interior_values_must_not_escape(void **state)
{
	static const Case cases[] = {
		{ "(Mul ?0 (Sigmoid ?0))",
		  G(X, "float[2,3] s, float[2,3] r", "s = Sigmoid(x)\nr = Mul(x, s)\n"),
		  "interior value 's' is an output of the graph" },
		{ "(Mul ?0 (Sigmoid ?0))",
		  G(X, R ", float[2,3] t", "s = Sigmoid(x)\nr = Mul(x, s)\nt = Tanh(s)\n"),
		  "interior value 's' is used outside the match by node 3 (Tanh -> 't')" },
		{ "(Mul ?0 (Sigmoid ?0){keep})",
		  G(X, R ", float[2,3] t", "s = Sigmoid(x)\nr = Mul(x, s)\nt = Tanh(s)\n"), NULL },
		{ "(Mul ?0 ?1:(Sigmoid ?0))",
		  G(X, R ", float[2,3] t", "s = Sigmoid(x)\nr = Mul(x, s)\nt = Tanh(s)\n"), NULL },
		{ "(Mul (Sigmoid ?0) (Tanh (Sigmoid ?0)))",
		  G(X, R, "s = Sigmoid(x)\nt = Tanh(s)\nr = Mul(t, s)\n"), NULL },
		{ "(Tanh (Split ?0){#1}{anyattr})",
		  G("float[4] x", "float[2] r, float[2] a",
		    "a, b = Split<axis = 0, split = [2, 2]>(x)\nr = Tanh(b)\n"),
		  "interior value 'a'" },
		{ "(Tanh (Split ?0){#1}{anyattr}{keep})",
		  G("float[4] x", "float[2] r, float[2] a",
		    "a, b = Split<axis = 0, split = [2, 2]>(x)\nr = Tanh(b)\n"),
		  NULL },
		{ "(Tanh (Split ?0){anyattr}{keep})",
		  G("float[4] x", "float[2] r, float[2] a",
		    "a, b = Split<axis = 0, split = [2, 2]>(x)\nr = Tanh(b)\n"),
		  "wants result 0 of Split" },
	};

	(void)state;
	run(cases, sizeof cases / sizeof *cases);
}

static void open_values_are_reported(void **state)
{
	PmGraph *g = pm_test_graph(G(X, R ", float[2,3] t", "s = Sigmoid(x)\nr = Mul(x, s)\nt = Tanh(s)\n"));
	PmPattern *p = pattern("(Mul ?0 ?1:(Sigmoid ?0))");
	PmMatched m;

	(void)state;
	assert_true(pm_match(g, p, pm_graph_find_value(g, "r"), &m, NULL));
	assert_int_equal(m.n_nodes, 2);
	assert_int_equal(m.n_open, 1);
	assert_int_equal(m.open[0].id, pm_graph_find_value(g, "s").id);
	assert_int_equal(m.slot[0].id, pm_graph_find_value(g, "x").id);
	assert_int_equal(m.slot[1].id, pm_graph_find_value(g, "s").id);
	pm_pattern_free(p);
	pm_graph_free(g);
}

/* Sums of sums of x, with a pattern that fits everywhere but at the very end: exponential without a budget.
 */
static void steps_are_bounded(void **state)
{
	PmStr g_text = PM_STR_INIT, p_text = PM_STR_INIT;
	PmGraph *g;
	PmPattern *p;
	PmMatched m;
	PmMiss miss;
	PmStr s = PM_STR_INIT;

	(void)state;
	pm_str_add(&g_text, "g (float[2] x, float[2] y) => (float[2] r)\n{\n v0 = Add(x, y)\n");
	for (int k = 1; k < 20; k++)
		pm_str_addf(&g_text, " a%d = Neg(v%d)\n b%d = Neg(v%d)\n v%d = Add(a%d, b%d)\n", k, k - 1, k,
			    k - 1, k, k, k);
	pm_str_add(&g_text, " r = Relu(v19)\n}\n");
	pm_str_add(&p_text, "(Relu ");
	for (int k = 0; k < 19; k++)
		pm_str_add(&p_text, "(Add _ (Neg ");
	pm_str_add(&p_text, "(Sub _ _)");
	for (int k = 0; k < 19; k++)
		pm_str_add(&p_text, "))");
	pm_str_addc(&p_text, ')');
	g = pm_test_graph(g_text.s);
	p = pattern(p_text.s);
	assert_false(pm_match(g, p, pm_graph_find_value(g, "r"), &m, &miss));
	assert_int_equal(miss.kind, PM_MISS_BUDGET);
	pm_miss_describe(g, p, &miss, &s);
	assert_non_null(strstr(s.s, "steps"));
	pm_str_release(&s);
	pm_str_release(&g_text);
	pm_str_release(&p_text);
	pm_pattern_free(p);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_and_slots),
		cmocka_unit_test(alternatives_and_options),
		cmocka_unit_test(attributes_are_strict),
		cmocka_unit_test(types_and_numbers),
		cmocka_unit_test(interior_values_must_not_escape),
		cmocka_unit_test(open_values_are_reported),
		cmocka_unit_test(steps_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
