/* SPDX-License-Identifier: Apache-2.0 */
/* test_view.c - groups and levels of drawings.
 *
 * How it is known: over random graphs with random scopes in their names, every node is in one group, no group
 * has more items than it may, and each level has an edge exactly where one of its items uses what another one
 * computes, which is counted here by a walk over all pairs. Groups that are said to be the same are compared
 * node by node.
 */
#include "app/view/sheet.h"
#include "app/view/view.h"
#include "base/core/rng.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A random graph; `scopes`: in hundred nodes, those whose name has scopes. */
static PmGraph *scoped(uint64_t seed, int n, int scopes)
{
	GenOpts o = { .seed = seed, .n_nodes = n };
	PmGraph *g = gen_graph(&o);
	PmRng rng;

	pm_rng_init(&rng, seed);
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		char name[80];

		snprintf(name, sizeof name, "%s%d%c%d%cop%zu", i % 5 ? "/" : "",
			 (int)pm_rng_range(&rng, 0, 3), i % 7 ? '/' : '.', (int)pm_rng_range(&rng, 0, 9),
			 i % 7 ? '/' : '.', i);
		if (pm_rng_range(&rng, 0, 99) < scopes)
			assert_int_equal(pm_node_set_name(g, pm_graph_node_at(g, i), name, NULL), PM_OK);
	}
	return g;
}

static void look_at_groups(const PmFold *f)
{
	char *seen = pm_xcalloc(f->n_nodes + 1, 1);
	PmPlaces all = { 0 };

	for (uint32_t k = 0; k < f->group.n; k++) {
		const PmFoldGroup *g = &f->group.v[k];
		PmPlaces in = { 0 };

		assert_true(g->n <= (k ? PM_FOLD_MOST : PM_FOLD_ALL));
		assert_true(k ? g->n > 0 && g->parent < f->group.n : g->parent == PM_FOLD_NONE);
		pm_fold_places(f, k, &in);
		assert_int_equal(in.n, g->n_nodes);
		for (size_t i = 0; i < in.n; i++)
			assert_true(pm_fold_item_of(f, k, in.v[i]) < g->n);
		PM_VEC_RELEASE(&in);
	}
	pm_fold_places(f, 0, &all);
	assert_int_equal(all.n, f->n_nodes);
	for (size_t i = 0; i < all.n; i++)
		assert_false(seen[all.v[i]]++);
	PM_VEC_RELEASE(&all);
	free(seen);
}

/* Whether an operand of `to` is a result of `from`, both places. */
static int uses(const PmGraph *g, size_t from, size_t to)
{
	PmNode a = pm_graph_node_at(g, from), b = pm_graph_node_at(g, to);

	for (size_t k = 0; k < pm_node_n_in(g, b); k++) {
		if (pm_value_def(g, pm_node_in(g, b, k), NULL).id == a.id)
			return 1;
	}
	return 0;
}

static void look_at_wires(const PmFold *f, uint32_t group)
{
	size_t n = f->group.v[group].n;
	char *want = pm_xcalloc(n * n + 1, 1), *got = pm_xcalloc(n * n + 1, 1);
	PmSheet s;

	for (uint32_t a = 0; a < f->n_nodes; a++) {
		for (uint32_t b = 0; b < f->n_nodes; b++) {
			uint32_t x = pm_fold_item_of(f, group, a), y = pm_fold_item_of(f, group, b);

			if (x != PM_FOLD_NONE && y != PM_FOLD_NONE && x != y && uses(f->g, a, b))
				want[x * n + y] = 1;
		}
	}
	pm_sheet_make(f, group, &s);
	for (size_t i = 0; i < s.wire.n; i++) {
		PmWire w = s.wire.v[i];

		assert_true(w.from < s.box.n && w.to < s.box.n && w.from != w.to && w.n > 0);
		if (w.from < n && w.to < n)
			assert_int_equal(got[w.from * n + w.to]++, 0);
		else
			assert_true(s.box.v[w.from].kind == PM_BOX_IN || s.box.v[w.to].kind == PM_BOX_OUT);
	}
	assert_memory_equal(want, got, n * n);
	pm_sheet_release(&s);
	free(want);
	free(got);
}

static void look_at_same(const PmFold *f)
{
	for (uint32_t k = 0; k < f->group.n; k++) {
		PmPlaces a = { 0 }, b = { 0 };

		pm_fold_places(f, k, &a);
		pm_fold_places(f, f->group.v[k].same, &b);
		assert_true(f->group.v[k].same <= k && a.n == b.n);
		for (size_t i = 0; i < a.n; i++)
			assert_string_equal(pm_node_op_name(f->g, pm_graph_node_at(f->g, a.v[i])),
					    pm_node_op_name(f->g, pm_graph_node_at(f->g, b.v[i])));
		PM_VEC_RELEASE(&a);
		PM_VEC_RELEASE(&b);
	}
}

static void test_random(void **state)
{
	size_t folded = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 24; seed++) {
		PmGraph *g = scoped(seed, 40 + (int)seed * 12, (int)(seed % 3) * 45);
		PmFold f;

		assert_int_equal(pm_fold(g, 0, &f, NULL), PM_OK);
		look_at_groups(&f);
		look_at_same(&f);
		for (uint32_t k = 0; k < f.group.n && k < 6; k++)
			look_at_wires(&f, k);
		folded += f.group.n > 1;
		pm_fold_release(&f);
		pm_graph_free(g);
	}
	assert_true(folded > 12);
}

/* A layer with another attribute is not the same. */
static void test_same(void **state)
{
	static const uint32_t same[] = { 1, 1, 3 };
	PmStr text = PM_STR_INIT;
	PmGraph *g;
	PmFold f;

	(void)state;
	pm_str_add(&text, "m (float[4] x) => (float[4] y)\n{\n");
	for (int k = 0; k < 3; k++) {
		char name[16];

		snprintf(name, sizeof name, k ? "t%d_39" : "x", k - 1);
		pm_str_addf(&text, "[\"a.%d/first\"] ", k);
		pm_str_addf(&text, "r%d = LeakyRelu <alpha = 0.%s> (%s)", k, k == 2 ? "25" : "5", name);
		pm_str_addf(&text, "\n[\"a.%d/0\"] t%d_0 = Tanh (r%d)\n", k, k, k);
		for (int i = 1; i < 40; i++)
			pm_str_addf(&text, "[\"a.%d/%d\"] t%d_%d = Tanh (t%d_%d)\n", k, i, k, i, k, i - 1);
	}
	pm_str_add(&text, "y = Exp (t2_39)\n}\n");
	g = pm_test_graph(text.s);
	assert_int_equal(pm_fold(g, 0, &f, NULL), PM_OK);
	assert_int_equal(f.group.n, 4);
	for (uint32_t k = 1; k < 4; k++) {
		assert_int_equal(f.group.v[k].same, same[k - 1]);
		assert_int_equal(f.group.v[k].n_nodes, 41);
	}
	assert_int_equal(f.group.v[1].n_same, 2);
	pm_fold_release(&f);
	pm_graph_free(g);
	pm_str_release(&text);
}

/* Blocks of 11 nodes with two or three values alive inside, and one between them: parts end between blocks.
 */
static void test_cuts(void **state)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g;
	PmFold f;

	(void)state;
	pm_str_add(&text, "m (float[4] b0) => (float[4] b30)\n{\n");
	for (int k = 0; k < 30; k++) {
		pm_str_addf(&text, "p%d_0 = Tanh (b%d)\nq%d_0 = Exp (b%d)\n", k, k, k, k);
		for (int i = 1; i < 5; i++)
			pm_str_addf(&text, "p%d_%d = Tanh (p%d_%d)\nq%d_%d = Exp (q%d_%d)\n", k, i, k, i - 1,
				    k, i, k, i - 1);
		pm_str_addf(&text, "b%d = Add (p%d_4, q%d_4)\n", k + 1, k, k);
	}
	pm_str_add(&text, "}\n");
	g = pm_test_graph(text.s);
	assert_int_equal(pm_fold(g, 0, &f, NULL), PM_OK);
	assert_int_equal(f.group.n, 12);
	for (uint32_t k = 1; k < f.group.n; k++) {
		PmPlaces in = { 0 };

		pm_fold_places(&f, k, &in);
		assert_int_equal(in.n % 11, 0);
		PM_VEC_RELEASE(&in);
	}
	pm_fold_release(&f);
	pm_graph_free(g);
	pm_str_release(&text);
}

/* Every link of a page leads to a level of it. */
static void test_page(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		PmGraph *g = scoped(seed, 300, 90);
		PmViewOpts o = { .name = "m", .engine = PM_LAYOUT_OWN };
		PmStr out = PM_STR_INIT;
		PmViewDone done;
		size_t links = 0;

		assert_int_equal(pm_view(g, &o, &out, &done, NULL), PM_OK);
		for (const char *at = out.s; (at = strstr(at, "href=\"#g")); links++) {
			char id[40];
			unsigned number = 0;

			assert_int_equal(sscanf(at, "href=\"#g%u", &number), 1);
			snprintf(id, sizeof id, "<section id=\"g%u\"", number);
			assert_non_null(strstr(out.s, id));
			at++;
		}
		assert_true(links > 0);
		pm_str_release(&out);
		pm_graph_free(g);
	}
}

/* A mark is drawn as classes, a tag and a note; a group counts its marked nodes, and has the classes that all
 * of them have. */
static void test_marks(void **state)
{
	PmGraph *g = scoped(3, 200, 100);
	PmSheetMark *mark = pm_xcalloc(pm_graph_n_nodes(g), sizeof *mark);
	PmSheetMarks marks = { mark, "rewritten" };
	PmSheetStyle style = { .engine = PM_LAYOUT_OWN, .marks = &marks };
	size_t n_groups = 0;
	PmFold f;

	(void)state;
	assert_int_equal(pm_fold(g, 0, &f, NULL), PM_OK);
	for (size_t i = 0; i < f.n_nodes; i += 2)
		mark[i] = (PmSheetMark){ PM_SVG_CLASS(mark2) | (i % 4 ? 0 : PM_SVG_CLASS(changed)),
					 "kernel <2>", "taken by silu" };
	for (uint32_t k = 0; k < f.group.n; k++) {
		PmStr out = PM_STR_INIT;
		int any = 0;
		PmSheet s;

		pm_sheet_make(&f, k, &s);
		assert_int_equal(pm_sheet_draw(&s, &style, &out, NULL), PM_OK);
		for (size_t i = 0; i < f.group.v[k].n; i++) {
			PmFoldItem item = f.item.v[f.group.v[k].first + i];

			any |= !item.is_group && item.id % 2 == 0;
			n_groups += item.is_group;
		}
		assert_int_equal(any, !!strstr(out.s, "kernel &lt;2&gt;"));
		assert_int_equal(any, !!strstr(out.s, "taken by silu\n"));
		assert_null(strstr(out.s, "kernel <2>"));
		if (!k) {
			assert_non_null(strstr(out.s, " rewritten"));
			assert_non_null(strstr(out.s, " mark2"));
		}
		pm_sheet_release(&s);
		pm_str_release(&out);
	}
	assert_true(n_groups > 0);
	pm_fold_release(&f);
	free(mark);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random), cmocka_unit_test(test_same),  cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_page),   cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
