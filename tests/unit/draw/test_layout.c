/* SPDX-License-Identifier: Apache-2.0 */
/* test_layout.c - layouts: nothing overlaps, nothing sticks out, edges join their boxes, and nothing changes.
 *
 * How it is known: by these properties over random graphs, with circles, loops, parallel edges and boxes of
 * all sizes, for each engine that this build has.
 */
#include "base/core/rng.h"
#include "draw/layout/layout.h"
#include "tests/lib/need.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 60 };

typedef struct Case {
	PmLayNode node[MOST];
	PmLayEdge edge[3 * MOST];
	PmLayout l;
} Case;

/* `back`: in a hundred edges, those that may lead anywhere. */
static void make(Case *c, PmRng *rng, int back)
{
	size_t n = (size_t)pm_rng_range(rng, 1, MOST), m = (size_t)pm_rng_range(rng, 0, (int64_t)(3 * n));

	memset(c, 0, sizeof *c);
	c->l = (PmLayout){ .node = c->node, .n_nodes = n, .edge = c->edge, .n_edges = m };
	for (size_t i = 0; i < n; i++) {
		c->node[i].w = (double)pm_rng_range(rng, 1, 200);
		c->node[i].h = (double)pm_rng_range(rng, 1, 60);
	}
	for (size_t i = 0; i < m; i++) {
		uint32_t a = (uint32_t)pm_rng_range(rng, 0, (int64_t)n - 1);
		uint32_t b = (uint32_t)pm_rng_range(rng, 0, (int64_t)n - 1);
		int any = pm_rng_range(rng, 0, 99) < back;

		c->edge[i].from = any || a < b ? a : b;
		c->edge[i].to = any || a < b ? b : a;
	}
}

static int apart(const PmLayNode *a, const PmLayNode *b)
{
	return fabs(a->x - b->x) >= (a->w + b->w) / 2 - 0.1 || fabs(a->y - b->y) >= (a->h + b->h) / 2 - 0.1;
}

/* On the border of the box, or within `slack` of it. */
static int touches(const PmLayNode *b, PmPoint p, double slack)
{
	return fabs(p.x - b->x) <= b->w / 2 + slack && fabs(p.y - b->y) <= b->h / 2 + slack;
}

static void look(const Case *c, double slack)
{
	const PmLayout *l = &c->l;

	for (size_t i = 0; i < l->n_nodes; i++) {
		const PmLayNode *a = &l->node[i];

		assert_true(a->x - a->w / 2 >= -0.1 && a->x + a->w / 2 <= l->w + 0.1);
		assert_true(a->y - a->h / 2 >= -0.1 && a->y + a->h / 2 <= l->h + 0.1);
		for (size_t k = 0; k < i; k++)
			assert_true(apart(a, &l->node[k]));
	}
	for (size_t i = 0; i < l->n_edges; i++) {
		const PmLayEdge *e = &l->edge[i];

		if (e->from == e->to) {
			assert_int_equal(e->n, 0);
			continue;
		}
		assert_int_equal(e->n % 3, 1);
		assert_true(e->n >= 4 && e->first + e->n <= l->point.n);
		assert_true(touches(&l->node[e->from], l->point.v[e->first], slack));
		assert_true(touches(&l->node[e->to], l->point.v[e->first + e->n - 1], slack));
	}
}

static void same(const PmLayout *a, const PmLayout *b)
{
	assert_int_equal(a->n_nodes, b->n_nodes);
	assert_memory_equal(a->node, b->node, a->n_nodes * sizeof *a->node);
	assert_int_equal(a->point.n, b->point.n);
	if (a->point.n)
		assert_memory_equal(a->point.v, b->point.v, a->point.n * sizeof *a->point.v);
}

static void over_random_graphs(PmLayoutEngine engine, int rounds, double slack)
{
	PmRng rng;
	PmErr err;

	pm_err_init(&err);
	pm_rng_init(&rng, 7);
	for (int i = 0; i < rounds; i++) {
		static Case a, b;

		make(&a, &rng, i % 3 ? 0 : 20);
		a.l.engine = engine;
		b = a;
		b.l.node = b.node;
		b.l.edge = b.edge;
		assert_int_equal(pm_layout(&a.l, &err), PM_OK);
		assert_int_equal(pm_layout(&b.l, &err), PM_OK);
		look(&a, slack);
		same(&a.l, &b.l);
		pm_layout_release(&a.l);
		pm_layout_release(&b.l);
	}
}

static void test_own(void **state)
{
	(void)state;
	over_random_graphs(PM_LAYOUT_OWN, 400, 0.1);
}

/* Its curves may end a little beside a box. */
static void test_graphviz(void **state)
{
	(void)state;
	if (!pm_layout_has_graphviz())
		pm_test_skip("this program was built without Graphviz");
	over_random_graphs(PM_LAYOUT_GRAPHVIZ, 25, 3);
}

/* In a graph without circles every edge of ours leads downwards. */
static void test_downwards(void **state)
{
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 8);
	for (int i = 0; i < 100; i++) {
		static Case c;

		make(&c, &rng, 0);
		c.l.engine = PM_LAYOUT_OWN;
		assert_int_equal(pm_layout(&c.l, NULL), PM_OK);
		for (size_t k = 0; k < c.l.n_edges; k++) {
			const PmLayNode *a = &c.node[c.edge[k].from], *b = &c.node[c.edge[k].to];

			assert_true(a == b || a->y + a->h / 2 <= b->y - b->h / 2);
		}
		pm_layout_release(&c.l);
	}
}

/* A square of edges without crossings stays without; a chain stands upright. */
static void test_known(void **state)
{
	PmLayNode node[4] = { { 40, 20, 0, 0 }, { 40, 20, 0, 0 }, { 40, 20, 0, 0 }, { 40, 20, 0, 0 } };
	PmLayEdge edge[4] = { { 0, 3, 0, 0 }, { 1, 2, 0, 0 } }, chain[3] = { { 0, 1, 0, 0 }, { 1, 2, 0, 0 } };
	PmLayout l = { .engine = PM_LAYOUT_OWN, .node = node, .n_nodes = 4, .edge = edge, .n_edges = 2 };

	(void)state;
	assert_int_equal(pm_layout(&l, NULL), PM_OK);
	assert_true((node[0].x < node[1].x) == (node[3].x < node[2].x));
	pm_layout_release(&l);
	l.edge = chain;
	l.n_nodes = 3;
	assert_int_equal(pm_layout(&l, NULL), PM_OK);
	assert_true(fabs(node[0].x - node[1].x) < 0.1 && fabs(node[1].x - node[2].x) < 0.1);
	assert_true(node[0].y < node[1].y && node[1].y < node[2].y);
	pm_layout_release(&l);
}

static void test_refused(void **state)
{
	PmLayNode node[1] = { { 40, 20, 0, 0 } };
	PmLayEdge edge[1] = { { 0, 1, 0, 0 } };
	PmLayout l = { .node = node, .n_nodes = 1, .edge = edge, .n_edges = 1 };
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_layout(&l, &err), PM_E_INVALID);
	assert_string_equal(err.text, "Edge 0 of a drawing leads from box 0 to box 1, of 1 boxes.");
	node[0].w = NAN;
	l.n_edges = 0;
	pm_err_init(&err);
	assert_int_equal(pm_layout(&l, &err), PM_E_INVALID);
	pm_layout_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),       cmocka_unit_test(test_graphviz),
		cmocka_unit_test(test_downwards), cmocka_unit_test(test_known),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
