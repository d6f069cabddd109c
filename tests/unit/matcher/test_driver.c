/* SPDX-License-Identifier: Apache-2.0 */
/* test_driver.c - applying rules in this process: order, fixed point, several outputs, regions; and on random
 * graphs, that it ends, verifies, repeats itself and changes no meaning. */
#include "matcher/rewrite/driver.h"

#include "base/sys/proc.h"
#include "ir/infer/infer.h"
#include "ir/text/text.h"
#include "matcher/rewrite/same.h"
#include "matcher/rewrite/session.h"
#include "tests/lib/graphs/gen_graph.h"

#include "passmith/dsl.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { X, Y, S };

/* ---- rules ---- */

/* A kernel that takes every operand and writes every output, whatever the match was. */
static PmStatus any_kernel(PmRewriter *rw, PmMatch *m)
{
	PmText t = pm_text(16384);
	uint32_t n = m->in.n + m->out.n;

	if (n > 100)
		return pm_decline(m, "too many operands");
	pm_text_add(&t, "extern \"C\" __global__ void f(");
	for (uint32_t k = 0; k < n; k++)
		pm_text_add(&t, k ? ", void *" : "void *");
	pm_text_add(&t, ") {}\n");
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "f", .source = t.s, .grid = { 1 }, .block = { 32 },
				      .in = m->in, .outs = m->out);
}

PM_RULE(add_relu, .pattern = OP(Relu, OP(Add, V(X), V(Y))), .rewrite = any_kernel);
PM_RULE(only_add, .pattern = OP(Add, V(X), V(Y)), .rewrite = any_kernel);
PM_RULE(eager_add, .pattern = OP(Add, V(X), V(Y)), .benefit = 10, .rewrite = any_kernel);
PM_RULE(sum_too, .pattern = OP(Relu, AS(S, OP(Add, V(X), V(Y)))), .benefit = 5, .rewrite = any_kernel);
PM_RULE(wide, .pattern = OP(Add, AS(S, OP(Tanh, V(X))), ANY), .rewrite = any_kernel);

static PmStatus one_output(PmRewriter *rw, PmMatch *m)
{
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "f", .grid = { 1 }, .block = { 32 },
				      .source = "__global__ void f(T *x, T *y) {}", .in = PM_VALS(m->v[X]));
}

PM_RULE(tanh_add_one, .pattern = OP(Neg, AS(S, OP(Tanh, V(X)))), .rewrite = one_output);
PM_RULE(kept_tanh, .pattern = OP(Neg, KEEP(OP(Tanh, V(X)))), .rewrite = one_output);

/* Everything element-wise that can be reached from the seed through operands. */
static void grow(PmRegion *r, PmVal v, int depth)
{
	if (!pm_expr(v) || pm_region_has(r, v) || depth > 6)
		return;
	pm_region_add(r, v);
	for (uint32_t k = 0; k < pm_n_in(v); k++)
		grow(r, pm_in(v, k), depth + 1);
}

static PmStatus cone(PmRegion *r, PmVal seed)
{
	grow(r, seed, 0);
	return pm_region_size(r) > 1 ? PM_OK : PM_DECLINED;
}

PM_REGION_RULE(cones, .region = cone, .rewrite = any_kernel);

/* The seed and the users of its operands' operands: often not connected or not convex. */
static PmStatus scattered(PmRegion *r, PmVal seed)
{
	pm_region_add(r, seed);
	for (uint32_t k = 0; k < pm_n_in(seed); k++)
		for (uint32_t j = 0; j < pm_n_in(pm_in(seed, k)); j++) {
			PmVal v = pm_in(pm_in(seed, k), j);

			pm_region_add(r, v);
			if (pm_n_uses(v) > 1)
				pm_region_add(r, pm_user(v, 0));
		}
	return pm_region_size(r) > 1 ? PM_OK : PM_DECLINED;
}

PM_REGION_RULE(scatter, .region = scattered, .rewrite = any_kernel);

static PmStatus whole(PmRegion *r, PmVal seed)
{
	pm_region_add(r, seed);
	for (uint32_t k = 0; k < pm_n_in(seed); k++)
		pm_region_add(r, pm_in(seed, k));
	return pm_region_size(r) > 1 ? PM_OK : PM_DECLINED;
}

PM_REGION_RULE(any_nodes, .region = whole, .rewrite = any_kernel);

/* What a region callback may ask of nodes, in the graph of a_node_tells_its_place_and_parameters(). */
static PmStatus ask(PmRegion *r, PmVal seed)
{
	double x = -1;

	if (pm_n_in(seed) && pm_order(pm_in(seed, 0)) >= pm_order(seed))
		return PM_E_INVALID;
	if (pm_is_op(seed, LeakyRelu) && (!pm_param(seed, 0, &x) || x != 0.25 || pm_param(seed, 1, &x)))
		return PM_E_INVALID;
	if (pm_is_op(seed, Gelu) && (!pm_param(seed, 0, &x) || x != 1)) /* a string that is not its default */
		return PM_E_INVALID;
	if (pm_is_op(seed, Transpose) && pm_param(seed, 0, &x)) /* no number */
		return PM_E_INVALID;
	return whole(r, seed);
}

PM_REGION_RULE(asking, .region = ask, .rewrite = any_kernel);

PM_PLUGIN("unit", "1", &add_relu)

/* ---- helpers ---- */

static void make_rules(const PmRule *const *list, uint32_t n, PmRules *rules)
{
	PmPlugin p = { .struct_size = sizeof p, .abi_major = 1, .n_rules = n, .name = "unit", .rules = list };
	PmStr problems = PM_STR_INIT;

	passmith_plugin_v1(pm_host_v1());
	pm_rules_init(rules);
	if (pm_rules_add(rules, &p, &problems) != PM_OK)
		fail_msg("%s", problems.s);
	pm_str_release(&problems);
}

static char *print(const PmGraph *g)
{
	PmStr s = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_graph_print(g, NULL, &s, &err), PM_OK);
	return pm_str_detach(&s, NULL);
}

/* A clone gives values without a name other names: name what is compared by name. */
static void keep_names(PmGraph *g)
{
	for (size_t i = 0; i < pm_graph_n_inputs(g) + pm_graph_n_outputs(g); i++) {
		PmValue v = i < pm_graph_n_inputs(g) ? pm_graph_input(g, i)
						     : pm_graph_output(g, i - pm_graph_n_inputs(g));
		char name[256];

		snprintf(name, sizeof name, "%s", pm_value_name(g, v));
		assert_int_equal(pm_value_set_name(g, v, name, NULL), PM_OK);
	}
}

/* Runs rules over a graph and checks what must hold of every run. Returns how often any applied. */
static int64_t drive(PmGraph *g, const PmRule *const *list, uint32_t n, PmDriverResult *res)
{
	PmGraph *before = NULL;
	PmRules rules;
	PmErr err;
	int64_t applied;

	pm_err_init(&err);
	make_rules(list, n, &rules);
	keep_names(g);
	assert_int_equal(pm_graph_clone(g, &before, &err), PM_OK);
	if (pm_driver_run(g, &rules, NULL, res, &err) != PM_OK)
		fail_msg("%s", err.text);
	if (res->misuse.code)
		fail_msg("%s", res->misuse.text);
	if (pm_verify(g, &err) != PM_OK || pm_rewrite_check(before, g, &err) != PM_OK)
		fail_msg("%s", err.text);
	applied = res->applied;
	pm_graph_free(before);
	pm_rules_release(&rules);
	return applied;
}

#define RULES(...)                                                                                           \
	(const PmRule *const[]){ __VA_ARGS__ },                                                              \
		sizeof((const PmRule *const[]){ __VA_ARGS__ }) / sizeof(PmRule *)

static const PmRuleStats *stats(const PmDriverResult *r, const char *name)
{
	for (size_t i = 0; i < r->n_rules; i++)
		if (!strcmp(r->rule[i].name, name))
			return &r->rule[i];
	fail_msg("no rule %s", name);
	return NULL;
}

/* ---- tests ---- */

static const char add_relu_text[] =
	"g (float[4] x, float[4] y) => (float[4] r)\n{\n a = Add(x, y)\n r = Relu(a)\n}\n";

static void larger_patterns_go_first_unless_told(void **state)
{
	PmGraph *g = pm_test_graph(add_relu_text), *h = pm_test_graph(add_relu_text);
	PmDriverResult r;

	(void)state;
	assert_int_equal(drive(g, RULES(&only_add, &add_relu), &r), 1);
	assert_int_equal(stats(&r, "add_relu")->applied, 1);
	assert_int_equal(stats(&r, "only_add")->applied, 0);
	assert_int_equal(pm_graph_n_nodes(g), 1);
	pm_driver_result_release(&r);
	assert_int_equal(drive(h, RULES(&add_relu, &eager_add), &r), 1);
	assert_int_equal(stats(&r, "eager_add")->applied, 1);
	assert_int_equal(stats(&r, "add_relu")->rejected, 1); /* by its operand's operator alone */
	pm_driver_result_release(&r);
	pm_graph_free(g);
	pm_graph_free(h);
}

static void outputs_named_by_as_are_replaced_too(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[4] x, float[4] y) => (float[4] r, float[4] a, float[4] t)\n{\n a = Add(x, y)\n"
		" r = Relu(a)\n t = Tanh(a)\n}\n");
	PmDriverResult r;

	(void)state;
	assert_int_equal(drive(g, RULES(&sum_too), &r), 1);
	assert_int_equal(pm_graph_n_nodes(g), 2);
	assert_string_equal(pm_value_name(g, pm_graph_output(g, 1)), "a");
	pm_driver_result_release(&r);
	pm_graph_free(g);
}

static void an_escaping_value_that_is_not_replaced_declines(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[4] x) => (float[4] r, float[4] t)\n{\n t = Tanh(x)\n r = Neg(t)\n}\n");
	PmDriverResult r;

	(void)state;
	assert_int_equal(drive(g, RULES(&tanh_add_one), &r), 0);
	assert_int_equal(stats(&r, "tanh_add_one")->matched, 1);
	assert_string_equal(stats(&r, "tanh_add_one")->reason[0].text,
			    "an interior value is used outside the match and is not replaced");
	pm_driver_result_release(&r);
	pm_graph_free(g);
}

static void kept_nodes_stay(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[4] x) => (float[4] r, float[4] t)\n{\n t = Tanh(x)\n r = Neg(t)\n}\n");
	PmDriverResult r;

	(void)state;
	assert_int_equal(drive(g, RULES(&kept_tanh), &r), 1);
	assert_int_equal(pm_graph_n_nodes(g), 2);
	pm_driver_result_release(&r);
	pm_graph_free(g);
}

/* t is used by the match and, through n, by another operand of it: one kernel would need its own result. */
static void cycles_are_declined(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[4] x) => (float[4] r)\n{\n t = Tanh(x)\n n = Neg(t)\n r = Add(t, n)\n}\n");
	PmDriverResult r;

	(void)state;
	assert_int_equal(drive(g, RULES(&wide), &r), 0);
	assert_string_equal(stats(&r, "wide")->reason[0].text,
			    "an operand of the matched nodes depends on one of the replaced values");
	pm_driver_result_release(&r);
	pm_graph_free(g);
}

static void regions_grow_and_are_checked(void **state)
{
	static const char with_type[] =
		"g (float[4] x, float[4] y) => (float[4] r, float[4] q)\n<float[4] d>\n{\n"
		" a = Exp(x)\n b = Add(a, y)\n c = Tanh(b)\n d = \"acme:Thing\"(c)\n r = Neg(c)\n"
		" q = Neg(d)\n}\n";
	PmGraph *g = pm_test_graph(with_type);
	PmDriverResult r;

	(void)state;
	assert_int_equal(drive(g, RULES(&cones), &r), 1);
	assert_int_equal(pm_graph_n_nodes(g), 3); /* the kernel, the opaque node, and the Neg behind it */
	pm_driver_result_release(&r);
	pm_graph_free(g);
	g = pm_test_graph(with_type);
	drive(g, RULES(&any_nodes), &r);
	assert_true(stats(&r, "any_nodes")->declined > 0);
	assert_string_equal(stats(&r, "any_nodes")->reason[0].text,
			    "the proposed region holds a Thing node, which cannot be fused");
	pm_driver_result_release(&r);
	pm_graph_free(g);
}

static void a_node_tells_its_place_and_parameters(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[4,2] x) => (float[2,4] y) {\n a = LeakyRelu<alpha = 0.25>(x)\n"
		" b = Gelu<approximate = \"tanh\">(a)\n y = Transpose<perm = [1, 0]>(b)\n}\n");
	PmDriverResult r;

	(void)state;
	assert_true(drive(g, RULES(&asking), &r) > 0);
	assert_int_equal(stats(&r, "asking")->failed, 0);
	pm_driver_result_release(&r);
	pm_graph_free(g);
}

static void constants_move_into_bodies_or_become_operands(void **state)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g;
	PmDriverResult r;
	PmNode k;

	(void)state;
	pm_str_add(&text, "g (float[100] x) => (float[100] r)\n<float h = {0.5}, float[100] w = {");
	for (int i = 0; i < 100; i++)
		pm_str_addf(&text, "%s%d", i ? ", " : "", i);
	pm_str_add(&text, "}>\n{\n a = Add(x, w)\n t = Tanh(a)\n u = Mul(t, h)\n r = Neg(u)\n}\n");
	g = pm_test_graph(text.s);
	pm_str_release(&text);
	assert_int_equal(drive(g, RULES(&cones), &r), 1);
	assert_int_equal(pm_graph_n_nodes(g), 1);
	k = pm_graph_node_at(g, 0);
	assert_int_equal(pm_node_n_in(g, k), 3); /* x, w and h, as the rule asked for all */
	pm_driver_result_release(&r);
	pm_graph_free(g);
	g = pm_test_graph("g (float[4] x) => (float[4] r, float[4] t)\n{\n t = Tanh(x)\n r = Neg(t)\n}\n");
	assert_int_equal(drive(g, RULES(&kept_tanh), &r), 1);
	pm_driver_result_release(&r);
	pm_graph_free(g);
}

/* ---- random graphs ---- */

static void random_graphs_end_verify_and_repeat(void **state)
{
	const PmRule *const all[] = { &add_relu, &sum_too, &wide, &scatter, &cones, &only_add };
	int64_t applied = 0;
	double start = pm_now();

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		GenOpts o = { .seed = seed,
			      .n_nodes = 5 + (int)(seed % 40),
			      .symbols = seed % 3 == 0,
			      .zero_dims = 1 };
		PmGraph *g = gen_graph(&o), *h = gen_graph(&o);
		PmDriverResult r, q;
		char *a, *b;

		applied += drive(g, all, sizeof all / sizeof *all, &r);
		drive(h, all, sizeof all / sizeof *all, &q);
		a = print(g);
		b = print(h);
		assert_string_equal(a, b);
		assert_true(r.sweeps < PM_MAX_SWEEPS);
		free(a);
		free(b);
		pm_driver_result_release(&r);
		pm_driver_result_release(&q);
		pm_graph_free(g);
		pm_graph_free(h);
	}
	assert_true(applied > 300);
	assert_true(pm_now() - start < 100);
}

/* A chain of n links of x -> x + tanh(x): n matches, and time that grows with n. */
static void long_graphs_take_seconds(void **state)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g;
	PmDriverResult r;
	PmRules rules;
	PmErr err;
	double start;

	(void)state;
	pm_err_init(&err);
	pm_str_add(&text, "g (float[4] v0) => (float[4] v20000)\n{\n");
	for (int k = 0; k < 20000; k++)
		pm_str_addf(&text, " t%d = Add(v%d, v%d)\n v%d = Relu(t%d)\n", k, k, k, k + 1, k);
	pm_str_add(&text, "}\n");
	g = pm_test_graph(text.s);
	pm_str_release(&text);
	make_rules(RULES(&add_relu, &only_add), &rules);
	start = pm_now();
	assert_int_equal(pm_driver_run(g, &rules, NULL, &r, &err), PM_OK);
	assert_int_equal(r.applied, 20000);
	assert_true(pm_now() - start < 60);
	print_message("# 20000 matches in %.2f s\n", pm_now() - start);
	pm_driver_result_release(&r);
	pm_rules_release(&rules);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(larger_patterns_go_first_unless_told),
		cmocka_unit_test(outputs_named_by_as_are_replaced_too),
		cmocka_unit_test(an_escaping_value_that_is_not_replaced_declines),
		cmocka_unit_test(kept_nodes_stay),
		cmocka_unit_test(cycles_are_declined),
		cmocka_unit_test(regions_grow_and_are_checked),
		cmocka_unit_test(a_node_tells_its_place_and_parameters),
		cmocka_unit_test(constants_move_into_bodies_or_become_operands),
		cmocka_unit_test(random_graphs_end_verify_and_repeat),
		cmocka_unit_test(long_graphs_take_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
