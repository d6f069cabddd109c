/* SPDX-License-Identifier: Apache-2.0 */
/* test_apply.c - regions of rewritten graphs: which nodes, which pass, and that costs add up. */
#include "app/apply/apply.h"
#include "app/apply/pairs.h"
#include "base/core/rng.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *pass_path(const char *name, char *out, size_t size)
{
	const char *build = getenv("PASSMITH_BUILD");

	snprintf(out, size, "%s/passes/%s.so", build && *build ? build : "build", name);
	return out;
}

static void apply(PmGraph *g, const char *one, const char *two, PmApply *a)
{
	char path[2][512];
	const char *pass[2] = { pass_path(one, path[0], sizeof path[0]),
				two ? pass_path(two, path[1], sizeof path[1]) : NULL };
	PmErr err;

	pm_err_init(&err);
	if (pm_apply(g, pass, two ? 2 : 1, 60, a, &err))
		fail_msg("%s", err.text);
}

/* ---- sums ---- */

static void close_to(double sum, double want)
{
	assert_true(fabs(sum - want) <= 1e-12 * fabs(want) + 1e-18);
}

/* The identity of regions.h. */
static void costs_add_up(const PmApply *a)
{
	PmNodeCost before = a->regions.outside_before, after = a->regions.outside_after;

	for (size_t i = 0; i < a->regions.list.n; i++) {
		pm_node_cost_add(&before, &a->regions.list.v[i].before);
		pm_node_cost_add(&after, &a->regions.list.v[i].after);
	}
	assert_int_equal(before.launches, a->cost_before.plan.n_launches);
	assert_int_equal(before.bytes, a->cost_before.plan.bytes);
	close_to(before.seconds, a->cost_before.plan.modelled_seconds);
	assert_int_equal(after.launches, a->cost_after.plan.n_launches);
	assert_int_equal(after.bytes, a->cost_after.plan.bytes);
	close_to(after.seconds, a->cost_after.plan.modelled_seconds);
}

/* Every node of the original is in one region or none; each region has a pass and a kernel. */
static void regions_are_parts(const PmApply *a)
{
	size_t in = 0, ops = 0;

	assert_int_equal(a->regions.list.n, a->applied);
	for (size_t i = 0; i < a->regions.list.n; i++) {
		const PmApplyRegion *r = &a->regions.list.v[i];

		assert_true(r->pass >= 0 && (size_t)r->pass < a->pass.n);
		assert_int_equal(pm_node_op(a->after, r->kernel), PM_OP_Kernel);
		assert_int_equal(pm_graph_node_at(a->after, r->place).id, r->kernel.id);
		for (size_t k = 0; k < r->n; k++) {
			uint32_t place = a->regions.node.v[r->first + k];

			assert_int_equal(a->regions.of[place], i + 1);
			assert_true(!k || place > a->regions.node.v[r->first + k - 1]);
		}
		in += r->n;
	}
	for (size_t i = 0; i < a->outside.op.n; i++)
		ops += a->outside.op.v[i].nodes;
	assert_int_equal(in, a->regions.node.n);
	assert_int_equal(ops + a->regions.list.n, pm_graph_n_nodes(a->after));
}

static void random_graphs(void **state)
{
	size_t rewritten = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		GenOpts o = { .seed = seed, .n_nodes = 10 + (int)(seed % 50), .float_only = 1 };
		PmApply a;

		apply(gen_graph(&o), "silu", "fuse", &a);
		regions_are_parts(&a);
		if (a.planned)
			costs_add_up(&a);
		rewritten += a.planned && a.regions.list.n;
		pm_apply_release(&a);
	}
	assert_true(rewritten >= 10);
}

/* A plan's costs by node are its statistics, copies of results with them. */
static void costs_of_nodes(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[8,4] x) => (float[4,8] t, float[4,8] y) { t = Transpose<perm=[1,0]>(x)\n "
		"y = Exp(t) }");
	PmNodeCost *by_node = calloc(pm_graph_node_limit(g), sizeof *by_node);
	PmNodeCost sum = { 0 };
	PmPlanStats s;
	PmPlan *p = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_plan_new(g, NULL, 0, &p, &err), PM_OK);
	pm_plan_stats(p, NULL, &s);
	pm_plan_node_costs(p, NULL, by_node);
	assert_int_equal(by_node[0].launches, 1); /* the view has to be written out: it is a result */
	assert_int_equal(by_node[pm_graph_node_at(g, 0).id].launches, 0);
	assert_int_equal(by_node[pm_graph_node_at(g, 1).id].launches, 1);
	for (uint32_t id = 0; id < pm_graph_node_limit(g); id++)
		pm_node_cost_add(&sum, &by_node[id]);
	assert_int_equal(sum.launches, s.n_launches);
	assert_int_equal(sum.bytes, s.bytes);
	close_to(sum.seconds, s.modelled_seconds);
	pm_plan_free(p);
	pm_graph_free(g);
	free(by_node);
}

/* ---- regions by hand ---- */

static const char two_silus[] = "g (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x)\n m = Mul(x, s)\n e = "
				"Exp(m)\n t = Sigmoid(e)\n "
				"y = Mul(e, t) }";

static void places_of_regions(void **state)
{
	PmApply a;

	(void)state;
	apply(pm_test_graph(two_silus), "silu", NULL, &a);
	assert_int_equal(a.regions.list.n, 2);
	assert_int_equal(a.regions.node.n, 4);
	assert_int_equal(a.regions.node.v[0], 0);
	assert_int_equal(a.regions.node.v[1], 1);
	assert_int_equal(a.regions.node.v[2], 3);
	assert_int_equal(a.regions.node.v[3], 4);
	assert_int_equal(a.regions.of[2], 0);
	assert_int_equal(a.regions.list.v[0].before.launches, 2);
	assert_int_equal(a.regions.list.v[0].after.launches, 1);
	/* x twice, s twice, m: each 1 KB. */
	assert_int_equal(a.regions.list.v[0].before.bytes, 5 * 8 * 32 * 4);
	assert_int_equal(a.regions.list.v[0].after.bytes, 2 * 8 * 32 * 4);
	assert_int_equal(a.outside.op.n, 1);
	assert_string_equal(a.outside.op.v[0].op, "Exp");
	costs_add_up(&a);
	pm_apply_release(&a);
}

/* By hand: which nodes, by place, belong to which kernel, and how many each has; "" = refused. */
static void has(const char *was, const char *is, const char *want)
{
	PmGraph *a = pm_test_graph(was), *b = pm_test_graph(is);
	PmStr got = PM_STR_INIT;
	PmRegions r = { 0 };
	PmErr err;

	pm_err_init(&err);
	if (pm_regions_find(a, b, &r, &err))
		assert_true(*err.text != 0);
	else
		for (size_t i = 0; i < r.n_before; i++)
			pm_str_addf(&got, "%u", r.of[i]);
	for (size_t k = 0; k < r.list.n; k++)
		pm_str_addf(&got, " %zu", r.list.v[k].n);
	assert_string_equal(got.s, want);
	pm_regions_release(&r);
	pm_graph_free(a);
	pm_graph_free(b);
	pm_str_release(&got);
}

#define KERNEL(body)                                                                                         \
	"Kernel <alts = 1, body = b " body                                                                   \
	", launch_0 = [\"f grid=1,1,1 block=1,1,1 smem=0 args=i0,o0\"], name = \"f\", "                      \
	"source_0 = \"s\", type_0 = \"float\">"
#define SILU      "(float[4] a) => (float[4] c) { b = Sigmoid (a)\n c = Mul (a, b) }"
#define TANH_TANH "(float[4] a) => (float[4] c) { b = Tanh (a)\n c = Tanh (b) }"

static void regions_are_found_through_bodies(void **state)
{
	static const char original[] =
		"g (float[4] x) => (float[4] y, float[4] z) { s = Sigmoid (x)\n m = Mul (x, s)\n "
		"e = Exp (m)\n t = Tanh (e)\n y = Tanh (t)\n z = Relu (e) }";

	(void)state;
	has(original,
	    "g (float[4] x) => (float[4] y, float[4] z) { m = " KERNEL(
		    SILU) " (x)\n e = Exp (m)\n y = " KERNEL(TANH_TANH) " (e)\n z = Relu (e) }",
	    "110220 2 2");
	has(original, original, "000000");
	has(original,
	    "g (float[4] x) => (float[4] y, float[4] z) { m = " KERNEL(
		    SILU) " (x)\n e = Abs (m)\n y = " KERNEL(TANH_TANH) " (e)\n z = Relu (e) }",
	    "");
	has(original, "g (float[4] x) => (float[4] y) { y = " KERNEL(SILU) " (x) }", "");
	/* Exp is computed in the kernel, and stays for another reader: it is not what the kernel took. */
	has("g (float[4] x) => (float[4] y, float[4] z) { s = Exp (x)\n y = Tanh (s)\n z = Relu (s) }",
	    "g (float[4] x) => (float[4] y, float[4] z) { y = " KERNEL(
		    "(float[4] a) => (float[4] c) { b = Exp (a)\n c = Tanh (b) }") " (x)\n s = Exp (x)\n z = "
										   "Relu "
										   "(s) }",
	    "010 1");
}

/* The second pass does not take over what the first one made. */
static void each_region_has_its_pass(void **state)
{
	PmApply a;

	(void)state;
	apply(pm_test_graph(
		      "g (float[8,32] x) => (float[8,32] y, float[8,32] z) { s = Sigmoid(x)\n y = Mul(x, s)\n"
		      " a = Exp(x)\n b = Tanh(a)\n z = Add(b, b) }"),
	      "silu", "fuse", &a);
	assert_int_equal(a.regions.list.n, 2);
	for (int k = 0; k < 2; k++) {
		const PmApplyRegion *r = &a.regions.list.v[k];
		const char *rule = pm_node_s(a.after, r->kernel, "name", "");

		assert_int_equal(r->pass, strcmp(rule, "silu") != 0);
		assert_int_equal(r->n, strcmp(rule, "silu") ? 3 : 2);
	}
	pm_apply_release(&a);
}

/* Applied to what was rewritten before, only what is new is a region. */
static void kernels_that_were_there_are_none(void **state)
{
	PmApply a, b;

	(void)state;
	apply(pm_test_graph(two_silus), "silu", NULL, &a);
	apply(a.after, "fuse", NULL, &b);
	a.after = NULL;
	assert_int_equal(b.regions.list.n, (size_t)b.applied);
	costs_add_up(&b);
	pm_apply_release(&a);
	pm_apply_release(&b);
}

static void strangers_are_refused(void **state)
{
	static const char *const other[] = {
		"g (float[8,32] x) => (float[8,32] y) { s = Tanh(x)\n y = Mul(x, s) }",
		"g (float[8,32] x) => (float[8,32] y, float[8,32] s) { s = Sigmoid(x)\n y = Mul(x, s) }",
		"g (float[8,32] x) => (float[8,32] y) { y = Identity(x) }",
	};
	PmGraph *g = pm_test_graph("g (float[8,32] x) => (float[8,32] y) { s = Sigmoid(x)\n y = Mul(x, s) }");

	(void)state;
	for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
		PmGraph *b = pm_test_graph(other[i]);
		PmPairs p;
		PmErr err;

		pm_err_init(&err);
		assert_int_equal(pm_pairs_make(g, b, &p, &err), PM_E_INVALID);
		pm_graph_free(b);
	}
	pm_graph_free(g);
}

/* ---- what stayed outside ---- */

static void why_is_bounded(void **state)
{
	PmPassOutcome o = { .n_rules = 4 };
	PmOutside out = { 0 };

	(void)state;
	o.rule = calloc(4, sizeof *o.rule);
	for (int i = 0; i < 4; i++) {
		PmRuleStats *st = &o.rule[i].stats;

		snprintf(st->name, sizeof st->name, "r%d", i);
		st->n_misses = 3;
		st->n_reasons = 2;
		for (int k = 0; k < 3; k++)
			st->miss[k].depth = (uint32_t)(10 * k + i);
		for (int k = 0; k < 2; k++)
			st->reason[k].count = 1 + i + 10 * k;
	}
	pm_outside_add_why(&out, 0, &o);
	pm_outside_add_why(&out, 1, &o);
	assert_int_equal(out.why.n, 4 * PM_OUTSIDE_WHY);
	assert_int_equal(out.left_out, 2 * (4 * 5 - 2 * PM_OUTSIDE_WHY));
	for (size_t i = 0; i < 2 * PM_OUTSIDE_WHY; i++) {
		static const int64_t count[] = { 14, 13, 12, 11, 4 };
		static const uint32_t depth[] = { 23, 22, 21, 20, 13 };

		assert_int_equal(out.why.v[i].pass, 0);
		assert_int_equal(out.why.v[i].count, i < PM_OUTSIDE_WHY ? count[i] : 0);
		assert_int_equal(out.why.v[i].depth, i < PM_OUTSIDE_WHY ? 0 : depth[i - PM_OUTSIDE_WHY]);
	}
	pm_outside_release(&out);
	free(o.rule);
}

/* The same model and passes, the same bytes. */
static void json_is_the_same(void **state)
{
	PmStr s[2] = { PM_STR_INIT, PM_STR_INIT };

	(void)state;
	for (int i = 0; i < 2; i++) {
		PmApply a;
		cJSON *j;

		apply(pm_test_graph(two_silus), "silu", "fuse", &a);
		j = pm_apply_json(&a, "m");
		pm_json_print(j, 1, &s[i]);
		cJSON_Delete(j);
		pm_apply_release(&a);
	}
	assert_string_equal(s[0].s, s[1].s);
	pm_str_release(&s[0]);
	pm_str_release(&s[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_of_nodes),
		cmocka_unit_test(places_of_regions),
		cmocka_unit_test(regions_are_found_through_bodies),
		cmocka_unit_test(each_region_has_its_pass),
		cmocka_unit_test(kernels_that_were_there_are_none),
		cmocka_unit_test(strangers_are_refused),
		cmocka_unit_test(why_is_bounded),
		cmocka_unit_test(json_is_the_same),
		cmocka_unit_test(random_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
