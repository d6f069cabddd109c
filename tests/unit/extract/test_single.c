/* SPDX-License-Identifier: Apache-2.0 */
/* test_single.c - classes of single operators: counts, representatives, names do not matter. */
#include "base/sys/io.h"
#include "extract/extract.h"
#include "extract/single.h"
#include "runtime/exec/exec.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void want(const char *text, size_t classes, const char *names)
{
	PmGraph *g = pm_test_graph(text);
	PmStr got = PM_STR_INIT;
	PmSingles s;
	size_t i;

	assert_int_equal(pm_single_ops(g, &s, NULL), PM_OK);
	for (i = 0; i < s.n; i++)
		pm_str_addf(&got, "%s%s*%zu", i ? " " : "", pm_value_name(g, pm_node_out(g, s.v[i].node, 0)),
			    s.v[i].count);
	assert_string_equal(got.s, names);
	assert_int_equal(s.n_classes, classes);
	assert_int_equal(s.n_nodes, pm_graph_n_nodes(g));
	pm_str_release(&got);
	pm_singles_release(&s);
	pm_graph_free(g);
}

static void what_tells_classes_apart(void **state)
{
	(void)state;
	/* the same: sizes of one size class, whatever the names */
	want("m (float[4,4] x, float[4,5] z) => (float[4,4] a, float[4,5] b) {\n"
	     " a = Relu (x)\n b = Relu (z) }",
	     1, "a*2");
	/* not the same: attributes, broadcasting, constants, what a view made, size classes, types */
	want("m (float[4,4] x) => (float[4,4] a, float[4,4] b) {\n"
	     " a = Softmax <axis = 0> (x)\n b = Softmax <axis = 1> (x) }",
	     2, "a*1 b*1");
	want("m (float[4,4] x, float[4] b, float[1] k) => (float[4,4] p, float[4,4] q, float[4,4] r)\n"
	     "<float[1] c = {2}> {\n p = Add (x, b)\n q = Add (x, k)\n r = Add (x, c) }",
	     3, "p*1 q*1 r*1");
	want("m (float[4,4] x) => (float[4,4] a, float[4,4] b) {\n"
	     " t = Transpose <perm = [1, 0]> (x)\n a = Exp (x)\n b = Exp (t) }",
	     3, "t*1 a*1 b*1");
	want("m (float[4,4] x, float[4,16] y, double[4,4] z) => (float[4,4] a, float[4,16] b, double[4,4] c) "
	     "{\n"
	     " a = Relu (x)\n b = Relu (y)\n c = Relu (z) }",
	     3, "a*1 b*1 c*1");
}

static void four_stand_for_many(void **state)
{
	/* Six classes of one operator by size: the smallest, the median, the largest, the most frequent. */
	PmStr s = PM_STR_INIT;
	int i;

	(void)state;
	pm_str_add(&s, "m (float[2] x0, float[16] x1, float[256] x2, float[4096] x3, float[65536] x4, "
		       "float[1048576] x5) => (float[2] y0, float[16] y1, float[256] y2, float[4096] y3, "
		       "float[65536] y4, float[1048576] y5, float[16] z) {\n");
	for (i = 0; i < 6; i++)
		pm_str_addf(&s, " y%d = Relu (x%d)\n", i, i);
	pm_str_add(&s, " z = Relu (y1) }");
	want(s.s, 6, "y0*1 y1*2 y3*1 y5*1");
	pm_str_release(&s);
}

/* The full hashes of the representatives, sorted by number. */
static PmStatus add_hash(void *arg, const PmExtracted *e, PmErr *err)
{
	(void)err;
	assert_int_equal(e->kind, PM_KIND_SINGLE);
	assert_int_equal(e->n, 1);
	assert_int_equal(pm_graph_n_nodes(e->sub), 1);
	pm_dedup_add(arg, e->full, NULL);
	return PM_OK;
}

static void counts_add_up_in_any_graph(void **state)
{
	int k;

	(void)state;
	for (k = 0; k < 60; k++) {
		GenOpts gen = { (uint64_t)k + 1, 60, 0, 0, k % 3 == 2, k % 2, 0 };
		PmGraph *g = gen_graph(&gen), *d = gen_disguise(g, 7);
		PmExtractOpts opts = { .kinds = 1u << PM_KIND_SINGLE };
		PmDedup *hashes = pm_dedup_new();
		PmExtractReport r;
		PmSingles a, b;
		size_t i, known = 0, in = 0;

		assert_int_equal(pm_single_ops(g, &a, NULL), PM_OK);
		for (i = 0; i < pm_graph_n_nodes(g); i++)
			known += (size_t)pm_fusible_node(g, pm_graph_node_at(g, i));
		for (i = 0; i < a.n; i++)
			in += a.v[i].count;
		assert_int_equal(a.n_nodes, known);
		assert_int_equal(in, a.n_covered);
		pm_graph_sweep(d); /* the disguise has dead nodes */
		assert_int_equal(pm_single_ops(d, &b, NULL), PM_OK);
		assert_int_equal(b.n_nodes, a.n_nodes);
		assert_int_equal(pm_extract_model(g, &opts, NULL, add_hash, hashes, &r, NULL), PM_OK);
		assert_int_equal(r.kind[PM_KIND_SINGLE].n_found, known);
		assert_int_equal(r.kind[PM_KIND_SINGLE].n_rejected, 0);
		pm_dedup_free(hashes);
		pm_singles_release(&a);
		pm_singles_release(&b);
		pm_graph_free(g);
		pm_graph_free(d);
	}
}

/* ---- kernels by node ---- */

static void launches_by_node_add_up_to_the_plan(void **state)
{
	int k, planned = 0;

	(void)state;
	for (k = 0; k < 60; k++) {
		GenOpts gen = { (uint64_t)k + 1, 50, 0, 0, 0, k % 2, 0 };
		PmGraph *g = gen_graph(&gen);
		uint32_t *launches = pm_xcalloc((size_t)pm_graph_node_limit(g) + 1, sizeof *launches);
		size_t i, sum = 0, outputs = pm_graph_n_outputs(g);
		PmPlanStats stats;
		PmErr err;

		pm_err_init(&err);
		if (pm_plan_count(g, launches, &err))
			fail_msg("%s", err.text);
		/* a row without a kernel for its type */
		if (pm_graph_plan_stats(g, NULL, 0, NULL, &stats, &err)) {
			free(launches);
			pm_graph_free(g);
			continue;
		}
		planned++;
		for (i = 0; i < pm_graph_node_limit(g); i++)
			sum += launches[i];
		/* outputs that are views are copied in the end, for no node */
		assert_true(sum <= (size_t)stats.n_launches && (size_t)stats.n_launches <= sum + outputs);
		free(launches);
		pm_graph_free(g);
	}
	assert_true(planned > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tells_classes_apart),
		cmocka_unit_test(four_stand_for_many),
		cmocka_unit_test(counts_add_up_in_any_graph),
		cmocka_unit_test(launches_by_node_add_up_to_the_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
