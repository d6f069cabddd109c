/* SPDX-License-Identifier: Apache-2.0 */
/* test_canon.c - rules of the canonical form: what does not count, and what does. */
#include "ir/canon/canon.h"

#include "ir/infer/infer.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/one_node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void text_of(const PmGraph *g, PmCanonLevel level, PmStr *out)
{
	PmErr err;

	pm_err_init(&err);
	pm_str_clear(out);
	if (pm_canon_text(g, level, out, &err))
		fail_msg("%s", err.text);
}

static int equal_at(const PmGraph *a, const PmGraph *b, PmCanonLevel level)
{
	PmStr x = PM_STR_INIT, y = PM_STR_INIT;
	int same;

	text_of(a, level, &x);
	text_of(b, level, &y);
	same = pm_str_eq(x.s, y.s);
	pm_str_release(&x);
	pm_str_release(&y);
	return same;
}

static void add_outputs(PmGraph *g, const PmNode *n, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		assert_int_equal(pm_graph_add_output(g, pm_node_out(g, n[i], 0), NULL), PM_OK);
	assert_int_equal(pm_infer_graph(g, 0, NULL), PM_OK);
}

static PmNode named(PmGraph *g, const char *op, const char *in, const char *attrs, const char *name)
{
	PmNode n = one_node_add(g, op, in, attrs, 1);

	assert_int_equal(pm_value_set_name(g, pm_node_out(g, n, 0), name, NULL), PM_OK);
	return n;
}

static void the_text_is_as_documented(void **state)
{
	PmNode n;
	PmGraph *g = one_node("Add", "float[2,N] float=1", "", 1, &n);
	PmStr b = PM_STR_INIT;

	(void)state;
	assert_int_equal(pm_infer_graph(g, 0, NULL), PM_OK);
	text_of(g, PM_CANON_STRUCTURE, &b);
	assert_non_null(strstr(b.s, "input\n"));
	assert_non_null(strstr(b.s, "const\n"));
	assert_non_null(strstr(b.s, "Add 0 1\nout 2\n"));
	text_of(g, PM_CANON_SHAPES, &b);
	assert_non_null(strstr(b.s, "input:[2,s0]\n"));
	text_of(g, PM_CANON_FULL, &b);
	assert_non_null(strstr(b.s, "const=0000803f:float[]\n"));
	assert_non_null(strstr(b.s, "Add 0 1:float[2,s0]\nout 2\n"));
	pm_str_release(&b);
	pm_graph_free(g);
}

static void names_order_and_dead_nodes_do_not_count(void **state)
{
	uint64_t seed;
	int level;

	(void)state;
	for (seed = 0; seed < 300; seed++) {
		GenOpts o = { .seed = seed, .n_nodes = 2 + (int)(seed % 60), .symbols = seed % 3 == 0 };
		PmGraph *g = gen_graph(&o), *d = gen_disguise(g, seed);

		assert_true(pm_graph_n_nodes(g) > 0);
		for (level = PM_CANON_STRUCTURE; level <= PM_CANON_FULL; level++) {
			if (!equal_at(g, d, (PmCanonLevel)level))
				fail_msg("seed %d: the texts of level %d differ", (int)seed, level);
		}
		pm_graph_free(g);
		pm_graph_free(d);
	}
}

static void different_random_graphs_have_different_texts(void **state)
{
	char hex[40][PM_SHA256_HEX];
	int i, k;

	(void)state;
	for (i = 0; i < 40; i++) {
		GenOpts o = { .seed = 1000 + (uint64_t)i, .n_nodes = 20 };
		PmGraph *g = gen_graph(&o);

		assert_int_equal(pm_canon_hash(g, PM_CANON_STRUCTURE, hex[i], NULL), PM_OK);
		for (k = 0; k < i; k++)
			assert_string_not_equal(hex[i], hex[k]);
		pm_graph_free(g);
	}
}

/* ---- hand-made pairs: the lowest level at which the two differ ---- */

static const struct {
	const char *op[2], *in[2], *attrs[2];
	int first; /* level of the first difference, 3 = equal */
} pairs[] = {
	{ { "Add", "Add" }, { "float[2] float[1]", "float[1] float[2]" }, { "", "" }, 3 },
	{ { "Sub", "Sub" }, { "float[2] float[1]", "float[1] float[2]" }, { "", "" }, PM_CANON_SHAPES },
	{ { "Add", "Mul" }, { "float[2] float[2]", "float[2] float[2]" }, { "", "" }, PM_CANON_STRUCTURE },
	{ { "Add", "Add" }, { "float[2] float[2]", "float[2] float{1,2}" }, { "", "" }, PM_CANON_STRUCTURE },
	{ { "Relu", "Relu" }, { "float[2]", "float[3]" }, { "", "" }, PM_CANON_SHAPES },
	{ { "Relu", "Relu" }, { "float[2]", "float[2,1]" }, { "", "" }, PM_CANON_SHAPES },
	{ { "Relu", "Relu" }, { "float[N]", "float[2]" }, { "", "" }, PM_CANON_SHAPES },
	{ { "Relu", "Relu" }, { "float[N,N]", "float[N,M]" }, { "", "" }, PM_CANON_SHAPES },
	{ { "Relu", "Relu" }, { "float[N,M]", "float[S,T]" }, { "", "" }, 3 },
	{ { "Relu", "Relu" }, { "float[2]", "float16[2]" }, { "", "" }, PM_CANON_FULL },
	{ { "Softmax", "Softmax" }, { "float[2,2]", "float[2,2]" }, { "axis=0", "axis=1" }, PM_CANON_FULL },
	{ { "LeakyRelu", "LeakyRelu" },
	  { "float[2]", "float[2]" },
	  { "alpha=0.5", "alpha=0.25" },
	  PM_CANON_FULL },
	{ { "Elu", "Elu" }, { "float[2]", "float[2]" }, { "", "alpha=1.0" }, 3 },
	{ { "Add", "Add" }, { "float[2] float=1", "float[2] float=2" }, { "", "" }, PM_CANON_FULL },
	{ { "Clip", "Clip" }, { "float[2] - float", "float[2] float" }, { "", "" }, PM_CANON_STRUCTURE },
	{ { "Concat", "Concat" },
	  { "float[1] float[2]", "float[2] float[1]" },
	  { "axis=0", "axis=0" },
	  PM_CANON_SHAPES },
};

static void what_a_level_shows_counts_and_nothing_else(void **state)
{
	size_t i;
	int level;

	(void)state;
	for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		PmNode n;
		PmGraph *a = one_node(pairs[i].op[0], pairs[i].in[0], pairs[i].attrs[0], 1, &n);
		PmGraph *b = one_node(pairs[i].op[1], pairs[i].in[1], pairs[i].attrs[1], 1, &n);

		assert_int_equal(pm_infer_graph(a, 0, NULL), PM_OK);
		assert_int_equal(pm_infer_graph(b, 0, NULL), PM_OK);
		for (level = PM_CANON_STRUCTURE; level <= PM_CANON_FULL; level++) {
			if (equal_at(a, b, (PmCanonLevel)level) != (level < pairs[i].first))
				fail_msg("pair %zu is wrong at level %d", i, level);
		}
		pm_graph_free(a);
		pm_graph_free(b);
	}
}

static void sharing_counts(void **state)
{
	PmGraph *a = pm_graph_new(0), *b = pm_graph_new(0);
	PmNode n;

	(void)state;
	named(a, "Neg", "float[2]", "", "x");
	named(a, "Relu", "%x", "", "r");
	n = one_node_add(a, "Mul", "%r %r", "", 1);
	add_outputs(a, &n, 1);
	named(b, "Neg", "float[2]", "", "x");
	named(b, "Relu", "%x", "", "r");
	named(b, "Relu", "%x", "", "s");
	n = one_node_add(b, "Mul", "%r %s", "", 1);
	add_outputs(b, &n, 1);
	assert_false(equal_at(a, b, PM_CANON_STRUCTURE));
	pm_graph_free(a);
	pm_graph_free(b);
}

static void outputs_are_a_set(void **state)
{
	PmGraph *g[2];
	PmNode n[2];
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		g[i] = pm_graph_new(0);
		n[i] = named(g[i], "Relu", "float[2]", "", "a");
		n[1 - i] = named(g[i], "Exp", "%a", "", "b");
		add_outputs(g[i], n, 2);
	}
	assert_true(equal_at(g[0], g[1], PM_CANON_STRUCTURE));
	assert_true(equal_at(g[0], g[1], PM_CANON_FULL));
	pm_graph_free(g[0]);
	g[0] = pm_graph_new(0); /* but which values are outputs does count */
	named(g[0], "Relu", "float[2]", "", "a");
	n[0] = named(g[0], "Exp", "%a", "", "b");
	add_outputs(g[0], n, 1);
	assert_false(equal_at(g[0], g[1], PM_CANON_STRUCTURE));
	pm_graph_free(g[0]);
	pm_graph_free(g[1]);
}

/* Add(p, q), Add(r, s), Add(p * r, q * s): once p is chosen to be first, r must be too. `order` swaps
 * operands. */
static PmGraph *entangled(int order)
{
	PmGraph *g = pm_graph_new(0);
	PmNode out[3];

	named(g, "Relu", "float[2]", "", "p");
	named(g, "Relu", "float[2]", "", "q");
	named(g, "Relu", "float[2]", "", "r");
	named(g, "Relu", "float[2]", "", "s");
	named(g, "Mul", order & 1 ? "%p %r" : "%r %p", "", "pr");
	named(g, "Mul", order & 2 ? "%q %s" : "%s %q", "", "qs");
	out[0] = one_node_add(g, "Add", order & 4 ? "%p %q" : "%q %p", "", 1);
	out[1] = one_node_add(g, "Add", order & 8 ? "%r %s" : "%s %r", "", 1);
	out[2] = one_node_add(g, "Add", order & 16 ? "%pr %qs" : "%qs %pr", "", 1);
	add_outputs(g, out, 3);
	return g;
}

static void entangled_ties_are_broken_alike(void **state)
{
	PmGraph *a = entangled(0), *b;
	int order;

	(void)state;
	for (order = 1; order < 32; order++) {
		b = entangled(order);
		assert_true(equal_at(a, b, PM_CANON_FULL));
		pm_graph_free(b);
	}
	pm_graph_free(a);
}

static void deep_graphs_need_no_stack(void **state)
{
	enum { DEPTH = 200000 };
	PmGraph *g = pm_graph_new(0);
	PmType t = pm_type(PM_F32, 1, (int64_t[]){ 4 });
	char hex[PM_SHA256_HEX];
	PmValue v, in[2];
	PmNode n;
	int i;

	(void)state;
	assert_int_equal(pm_graph_add_input(g, "x", &t, &v, NULL), PM_OK);
	for (i = 0; i < DEPTH; i++) {
		in[0] = in[1] = v;
		assert_int_equal(pm_graph_add_node(g, PM_OP_Add, in, 2, 1, &n, NULL), PM_OK);
		v = pm_node_out(g, n, 0);
	}
	assert_int_equal(pm_graph_add_output(g, v, NULL), PM_OK);
	assert_int_equal(pm_infer_graph(g, 1, NULL), PM_OK);
	assert_int_equal(pm_canon_hash(g, PM_CANON_FULL, hex, NULL), PM_OK);
	assert_int_equal(strlen(hex), 64);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_is_as_documented),
		cmocka_unit_test(names_order_and_dead_nodes_do_not_count),
		cmocka_unit_test(different_random_graphs_have_different_texts),
		cmocka_unit_test(what_a_level_shows_counts_and_nothing_else),
		cmocka_unit_test(sharing_counts),
		cmocka_unit_test(outputs_are_a_set),
		cmocka_unit_test(entangled_ties_are_broken_alike),
		cmocka_unit_test(deep_graphs_need_no_stack),
	};

	return cmocka_run_group_tests_name("canon", tests, NULL, NULL);
}
