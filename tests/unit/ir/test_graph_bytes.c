/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph_bytes.c - a graph that went through bytes is the same graph, numbers included. */
#include "ir/core/graph_bytes.h"

#include "base/sys/io.h"
#include "extract/extract.h"
#include "extract/skeleton.h"
#include "ir/text/text.h"
#include "simplify/simplify.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ALL = 1 << 30 };

static PmGraph *through(const PmGraph *g, size_t max_const)
{
	PmStr bytes = PM_STR_INIT;
	PmGraph *c = NULL;

	pm_graph_to_bytes(g, max_const, &bytes);
	assert_int_equal(pm_graph_from_bytes(bytes.s, bytes.len, &c, NULL), PM_OK);
	pm_str_release(&bytes);
	return c;
}

static void same_text(const PmGraph *a, const PmGraph *b)
{
	PmStr x = PM_STR_INIT, y = PM_STR_INIT;

	assert_int_equal(pm_graph_print(a, NULL, &x, NULL), PM_OK);
	assert_int_equal(pm_graph_print(b, NULL, &y, NULL), PM_OK);
	assert_string_equal(x.s, y.s);
	pm_str_release(&x);
	pm_str_release(&y);
}

static void same_skeleton(const PmGraph *a, const PmGraph *b)
{
	PmSkeleton s, t;

	assert_int_equal(pm_skeleton_make(a, &s, NULL), PM_OK);
	assert_int_equal(pm_skeleton_make(b, &t, NULL), PM_OK);
	assert_true(pm_skeleton_same(&s, &t));
	assert_memory_equal(s.node, t.node, s.n * sizeof *s.node); /* their numbers */
	pm_skeleton_release(&s);
	pm_skeleton_release(&t);
}

/* Every number is what it was, dead ones included, and what is made next gets the same. */
static void same_numbers(PmGraph *a, PmGraph *b)
{
	PmOp op = PM_OP_Relu;
	PmValue v;
	PmNode n, m;

	assert_int_equal(pm_graph_node_limit(a), pm_graph_node_limit(b));
	assert_int_equal(pm_graph_value_limit(a), pm_graph_value_limit(b));
	assert_int_equal(pm_graph_n_nodes(a), pm_graph_n_nodes(b));
	for (uint32_t id = 0; id < pm_graph_node_limit(a); id++)
		assert_int_equal(pm_node_op(a, (PmNode){ id }), pm_node_op(b, (PmNode){ id }));
	for (size_t i = 0; i < pm_graph_n_nodes(a); i++)
		assert_int_equal(pm_graph_node_at(a, i).id, pm_graph_node_at(b, i).id);
	for (uint32_t id = 0; id < pm_graph_value_limit(a); id++) {
		assert_string_equal(pm_value_name(a, (PmValue){ id }), pm_value_name(b, (PmValue){ id }));
		assert_int_equal(pm_value_n_uses(a, (PmValue){ id }), pm_value_n_uses(b, (PmValue){ id }));
	}
	assert_int_equal(pm_graph_fresh_symbol(a), pm_graph_fresh_symbol(b));
	v = pm_graph_input(a, 0);
	assert_int_equal(pm_graph_add_node(a, op, &v, 1, 1, &n, NULL), PM_OK);
	assert_int_equal(pm_graph_add_node(b, op, &v, 1, 1, &m, NULL), PM_OK);
	assert_int_equal(n.id, m.id);
	assert_string_equal(pm_value_name(a, pm_node_out(a, n, 0)), pm_value_name(b, pm_node_out(b, m, 0)));
}

/* Names, symbols, metadata, attributes of every kind, a graph inside. */
static const char everything[] =
	"<ir_version: 8, opset_import: [\"\" : 18], metadata_props: [\"key\": \"value\", \"k2\": \"\"]>\n"
	"g (float[N,4] x, bool c) => (float[N,4] y, float[N,4] z, float[M] q)\n"
	"<float[4] w = {1, 2, 3, nan}, int64[2] sh = {0, 4} >\n"
	"{\n"
	"   i = Identity (x)\n"
	"   a = Add (i, w)\n"
	"   [named] r = Reshape (a, sh)\n"
	"   t = Transpose <perm = [1, 0]> (r)\n"
	"   u = Transpose <perm = [1, 0]> (t)\n"
	"   y = LeakyRelu <alpha = 0.5> (u)\n"
	"   z = \"com.acme:Thing\" <s = \"text\", f = [1.5, 2.0], n = [\"a\", \"b\"], t = float[2] {1, 2}, "
	"e: ints = [], body = inner (float[2] p) => (float[2] o) <float[2] k = {7, 8}> { o = Mul (p, k) }> "
	"(y, , c)\n"
	"   q = \"com.acme:Thing\" (z)\n"
	"}\n";

static void comes_back(PmGraph *g)
{
	PmGraph *c = through(g, ALL);

	same_text(g, c);
	same_skeleton(g, c);
	same_numbers(g, c);
	pm_graph_free(c);
}

static void all_of_a_graph_comes_back(void **state)
{
	PmGraph *g = pm_test_graph(everything);

	(void)state;
	comes_back(g);
	pm_graph_free(g);
}

static void gaps_stay(void **state)
{
	PmGraph *g = pm_test_graph(everything);

	(void)state;
	assert_int_equal(pm_simplify(g, NULL, NULL, NULL), PM_OK);
	assert_true(pm_graph_n_nodes(g) + 1 < pm_graph_node_limit(g)); /* some were taken out */
	comes_back(g);
	pm_graph_free(g);
}

/* Their size and type stay, and those of a graph inside keep their data. */
static void large_constants_lose_their_data(void **state)
{
	PmGraph *g = pm_test_graph(everything), *c = through(g, 15);
	PmValue w = pm_graph_find_value(c, "w"), sh = pm_graph_find_value(c, "sh");
	PmNode z = pm_value_def(c, pm_graph_find_value(c, "z"), NULL);
	const PmAttr *body = pm_node_attr(c, z, "body"), *t = pm_node_attr(c, z, "t");

	(void)state;
	assert_true(pm_value_is_const(c, w));
	assert_false(pm_blob_readable(pm_value_blob(c, w)));
	assert_int_equal(pm_value_blob(c, w)->size, 16);
	assert_false(pm_blob_readable(pm_value_blob(c, sh))); /* 16 bytes too */
	assert_non_null(t->blob->data);
	assert_true(pm_blob_readable(pm_value_blob(body->graph, pm_graph_find_value(body->graph, "k"))));
	same_skeleton(g, c);
	pm_graph_free(c);
	c = through(g, 16);
	assert_memory_equal(pm_value_blob(c, pm_graph_find_value(c, "w"))->data,
			    pm_value_blob(g, pm_graph_find_value(g, "w"))->data, 16);
	pm_graph_free(c);
	pm_graph_free(g);
}

/* What is cut out of a graph and of its copy without large constants, hash by hash and node by node. */
static PmStatus list(void *arg, const PmExtracted *e, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%s %s %s %s", pm_extract_kind(e->kind), e->full, e->shapes, e->structure);
	for (size_t i = 0; i < e->n; i++)
		pm_str_addf(arg, " %u", (unsigned)e->nodes[i].id);
	pm_str_addc(arg, '\n');
	return PM_OK;
}

static void models_are_cut_alike(void **state)
{
	static const char *const models[] = { "models/swin_block.gpt", "models/llama_block.gpt",
					      "models/bert_encoder_layer.gpt" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof models / sizeof models[0]; i++) {
		PmStr text = PM_STR_INIT, a = PM_STR_INIT, b = PM_STR_INIT;
		PmGraph *g, *c;

		assert_int_equal(pm_read_file(models[i], 0, &text, NULL), PM_OK);
		g = pm_test_graph(text.s);
		assert_int_equal(pm_simplify(g, NULL, NULL, NULL), PM_OK);
		c = through(g, 4096);
		assert_int_equal(pm_extract_model(g, NULL, NULL, list, &a, NULL, NULL), PM_OK);
		assert_int_equal(pm_extract_model(c, NULL, NULL, list, &b, NULL, NULL), PM_OK);
		assert_true(a.len > 0);
		assert_string_equal(a.s, b.s);
		pm_graph_free(c);
		pm_graph_free(g);
		pm_str_release(&text);
		pm_str_release(&a);
		pm_str_release(&b);
	}
}

static void cut_short_it_is_refused(void **state)
{
	PmGraph *g = pm_test_graph(everything), *c = NULL;
	PmStr bytes = PM_STR_INIT;

	(void)state;
	pm_graph_to_bytes(g, ALL, &bytes);
	for (size_t n = 0; n < bytes.len; n++)
		assert_int_equal(pm_graph_from_bytes(bytes.s, n, &c, NULL), PM_E_INVALID);
	pm_str_addc(&bytes, 0);
	assert_int_equal(pm_graph_from_bytes(bytes.s, bytes.len, &c, NULL), PM_E_INVALID);
	pm_str_release(&bytes);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_a_graph_comes_back),       cmocka_unit_test(gaps_stay),
		cmocka_unit_test(large_constants_lose_their_data), cmocka_unit_test(models_are_cut_alike),
		cmocka_unit_test(cut_short_it_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
