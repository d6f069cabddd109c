/* SPDX-License-Identifier: Apache-2.0 */
/* test_diff.c - two graphs compared.
 *
 * How it is known: what diff.h states of every result is checked here anew, for random graphs and for pairs
 * of random graphs that have nothing to do with each other. Copies with other names and another order have no
 * difference. After one edit the difference is that node and what reads it. For small graphs all partial
 * matchings are tried: none has more nodes that are the same.
 */
#include "app/diff/diff.h"
#include "base/core/rng.h"
#include "base/core/str.h"
#include "ir/canon/canon.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- copies ---- */

static PmType copy_type(const PmGraph *from, const PmType *t, PmGraph *to)
{
	PmType r = *t;

	for (int k = 0; k < r.rank; k++) {
		if (r.dim[k] < 0)
			r.dim[k] = pm_graph_symbol(to, pm_graph_symbol_name(from, r.dim[k]));
	}
	return r;
}

static int ready(const PmGraph *g, PmNode n, const PmValue *map)
{
	for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
		if (pm_node_in(g, n, k).id && !map[pm_node_in(g, n, k).id].id)
			return 0;
	}
	return 1;
}

static void copy_node(const PmGraph *g, PmNode n, PmValue *map, PmGraph *to)
{
	PmValue in[64];
	PmNode copy;

	assert_true(pm_node_n_in(g, n) <= 64);
	for (size_t k = 0; k < pm_node_n_in(g, n); k++)
		in[k] = map[pm_node_in(g, n, k).id];
	assert_int_equal(pm_graph_add_node(to, pm_node_op(g, n), in, pm_node_n_in(g, n), pm_node_n_out(g, n),
					   &copy, NULL),
			 PM_OK);
	assert_int_equal(pm_node_copy_attrs(to, copy, g, n, NULL), PM_OK);
	for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
		PmType t = copy_type(g, pm_value_type(g, pm_node_out(g, n, k)), to);

		map[pm_node_out(g, n, k).id] = pm_node_out(to, copy, k);
		pm_value_set_type(to, pm_node_out(to, copy, k), &t);
	}
}

/* The same graph with other names, and its nodes in another topological order. Returns owned. */
static PmGraph *shuffled(const PmGraph *g, uint64_t seed)
{
	PmGraph *to = pm_graph_new(0);
	size_t n = pm_graph_n_nodes(g), left = n;
	PmValue *map = pm_xcalloc((size_t)pm_graph_value_limit(g) + 1, sizeof *map);
	char *done = pm_xcalloc(n + 1, 1);
	PmRng rng;

	pm_rng_init(&rng, seed);
	for (uint32_t id = pm_graph_value_limit(g); id-- > 1;) {
		PmValue v = { id };
		PmType t = copy_type(g, pm_value_type(g, v), to);

		if (pm_value_is_const(g, v))
			assert_int_equal(
				pm_graph_add_const(to, NULL, &t, pm_value_blob_ref(g, v), &map[id], NULL),
				PM_OK);
	}
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		PmValue v = pm_graph_input(g, i);
		PmType t = copy_type(g, pm_value_type(g, v), to);

		assert_int_equal(pm_graph_add_input(to, NULL, &t, &map[v.id], NULL), PM_OK);
	}
	while (left) {
		size_t i = (size_t)pm_rng_range(&rng, 0, (int64_t)n - 1);

		while (done[i] || !ready(g, pm_graph_node_at(g, i), map))
			i = (i + 1) % n;
		copy_node(g, pm_graph_node_at(g, i), map, to);
		done[i] = 1;
		left--;
	}
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		assert_int_equal(pm_graph_add_output(to, map[pm_graph_output(g, i).id], NULL), PM_OK);
	free(map);
	free(done);
	return to;
}

static PmGraph *random_graph(uint64_t seed, int n)
{
	GenOpts o = { .seed = seed, .n_nodes = n, .symbols = seed % 3 == 0 };

	return gen_graph(&o);
}

/* ---- what holds of every result ---- */

/* What one node is beside its operands that are not constant. */
static void label(const PmGraph *g, PmNode n, PmStr *out)
{
	pm_str_clear(out);
	assert_int_equal(pm_canon_node_text(g, n, PM_CANON_FULL, out, NULL), PM_OK);
	for (size_t k = 0; k < pm_node_n_out(g, n); k++)
		pm_graph_describe_type(g, pm_value_type(g, pm_node_out(g, n, k)), out);
}

static uint32_t *places(const PmGraph *g)
{
	uint32_t *place = pm_xcalloc((size_t)pm_graph_node_limit(g) + 1, sizeof *place);

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		place[pm_graph_node_at(g, i).id] = (uint32_t)i;
	return place;
}

static size_t input_number(const PmGraph *g, PmValue v)
{
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		if (pm_graph_input(g, i).id == v.id)
			return i;
	}
	return SIZE_MAX;
}

typedef struct Look {
	const PmGraph *a, *b;
	uint32_t *in_a, *in_b; /* places */
	const uint32_t *to_b, *input_to_b, *output_to_b;
} Look;

static int corresponds(const Look *l, PmValue v, PmValue w)
{
	size_t rv = 0, rw = 0;
	PmNode dv = pm_value_def(l->a, v, &rv), dw = pm_value_def(l->b, w, &rw);

	if (!v.id || !w.id)
		return v.id == w.id;
	if (dv.id && dw.id)
		return rv == rw && l->to_b[l->in_a[dv.id]] == l->in_b[dw.id];
	if (pm_value_is_input(l->a, v) && pm_value_is_input(l->b, w))
		return l->input_to_b[input_number(l->a, v)] == input_number(l->b, w);
	return pm_value_is_const(l->a, v) && pm_value_is_const(l->b, w) &&
	       pm_type_equal(pm_value_type(l->a, v), pm_value_type(l->b, w)) &&
	       !memcmp(pm_value_blob(l->a, v)->data, pm_value_blob(l->b, w)->data,
		       pm_value_blob(l->a, v)->size);
}

/* How many operands of two nodes correspond; commuting ones in the better order. */
static size_t n_correspond(const Look *l, PmNode x, PmNode y)
{
	size_t n = pm_node_n_in(l->a, x), m = pm_node_n_in(l->b, y), k = 0, sum = 0;

	if (n >= 2 && m >= 2 && (pm_op_desc(pm_node_op(l->a, x))->flags & PM_OPF_COMM)) {
		size_t straight = (size_t)corresponds(l, pm_node_in(l->a, x, 0), pm_node_in(l->b, y, 0)) +
				  (size_t)corresponds(l, pm_node_in(l->a, x, 1), pm_node_in(l->b, y, 1));
		size_t cross = (size_t)corresponds(l, pm_node_in(l->a, x, 0), pm_node_in(l->b, y, 1)) +
			       (size_t)corresponds(l, pm_node_in(l->a, x, 1), pm_node_in(l->b, y, 0));

		sum = straight > cross ? straight : cross;
		k = 2;
	}
	for (; k < n && k < m; k++)
		sum += (size_t)corresponds(l, pm_node_in(l->a, x, k), pm_node_in(l->b, y, k));
	return sum;
}

static int same_label(const Look *l, PmNode x, PmNode y)
{
	PmStr s = PM_STR_INIT, t = PM_STR_INIT;
	int same;

	label(l->a, x, &s);
	label(l->b, y, &t);
	same = !strcmp(s.s, t.s);
	pm_str_release(&s);
	pm_str_release(&t);
	return same;
}

static int is_same(const Look *l, PmNode x, PmNode y)
{
	return same_label(l, x, y) && pm_node_n_in(l->a, x) == pm_node_n_in(l->b, y) &&
	       n_correspond(l, x, y) == pm_node_n_in(l->a, x);
}

static int is_output(const Look *l, PmNode x, PmNode y)
{
	for (size_t i = 0; i < pm_graph_n_outputs(l->a); i++) {
		PmValue w = l->output_to_b[i] == PM_DIFF_NONE ? (PmValue){ 0 }
							      : pm_graph_output(l->b, l->output_to_b[i]);

		if (w.id && pm_value_def(l->a, pm_graph_output(l->a, i), NULL).id == x.id &&
		    pm_value_def(l->b, w, NULL).id == y.id)
			return 1;
	}
	return 0;
}

/* Whether a reader of x that is in a pair reads y there. */
static int is_read(const Look *l, PmNode x, PmNode y)
{
	for (size_t k = 0; k < pm_node_n_out(l->a, x); k++) {
		PmUse u = pm_value_first_use(l->a, pm_node_out(l->a, x, k));

		for (; u.slot; u = pm_use_next(l->a, u)) {
			uint32_t other = l->to_b[l->in_a[u.node.id]];
			PmNode m = other == PM_DIFF_NONE ? (PmNode){ 0 } : pm_graph_node_at(l->b, other);

			for (size_t i = 0; i < pm_node_n_in(l->b, m); i++) {
				if (pm_value_def(l->b, pm_node_in(l->b, m, i), NULL).id == y.id)
					return 1;
			}
		}
	}
	return is_output(l, x, y);
}

/* The order has every node of both graphs once, and is topological for both. */
static void look_at_order(const PmDiff *d, const Look *l)
{
	const PmGraph *g[2] = { d->a, d->b };
	const uint32_t *place[2] = { l->in_a, l->in_b };
	uint32_t *at[2];

	for (int s = 0; s < 2; s++)
		at[s] = pm_xcalloc(pm_graph_n_nodes(g[s]) + 1, sizeof *at[s]);
	for (size_t i = 0; i < d->order.n; i++) {
		uint32_t u = d->order.v[i];
		uint32_t x = u & PM_DIFF_IN_A ? u & ~PM_DIFF_IN_A : d->to_a[u];

		if (!(u & PM_DIFF_IN_A)) {
			assert_int_equal(at[1][u], 0);
			at[1][u] = (uint32_t)i + 1;
		}
		if (x != PM_DIFF_NONE) {
			assert_int_equal(at[0][x], 0);
			at[0][x] = (uint32_t)i + 1;
		}
	}
	for (int s = 0; s < 2; s++) {
		for (size_t i = 0; i < pm_graph_n_nodes(g[s]); i++) {
			PmNode n = pm_graph_node_at(g[s], i);

			assert_true(at[s][i] > 0);
			for (size_t k = 0; k < pm_node_n_in(g[s], n); k++) {
				PmNode def = pm_value_def(g[s], pm_node_in(g[s], n, k), NULL);

				assert_true(!def.id || at[s][place[s][def.id]] < at[s][i]);
			}
		}
		free(at[s]);
	}
}

static void look_at_pairs(const PmDiff *d, const Look *l)
{
	char *changed = pm_xcalloc(pm_graph_n_nodes(d->a) + 1, 1);
	size_t n_same = 0, n[3] = { 0 };

	for (size_t i = 0; i < d->change.n; i++) {
		const PmDiffChange *c = &d->change.v[i];

		if (c->subject != PM_DIFF_NODE)
			continue;
		n[c->kind]++;
		assert_int_equal(c->a == PM_DIFF_NONE, c->kind == PM_DIFF_ADDED);
		assert_int_equal(c->b == PM_DIFF_NONE, c->kind == PM_DIFF_REMOVED);
		if (c->kind == PM_DIFF_CHANGED) {
			assert_true(*c->what);
			changed[c->a] = 1;
		}
	}
	for (uint32_t x = 0; x < pm_graph_n_nodes(d->a); x++) {
		PmNode p = pm_graph_node_at(d->a, x), q;

		if (d->to_b[x] == PM_DIFF_NONE)
			continue;
		assert_int_equal(d->to_a[d->to_b[x]], x);
		q = pm_graph_node_at(d->b, d->to_b[x]);
		assert_string_equal(pm_node_op_name(d->a, p), pm_node_op_name(d->b, q));
		assert_int_equal(changed[x], !is_same(l, p, q));
		assert_true(!changed[x] || n_correspond(l, p, q) || is_read(l, p, q));
		n_same += !changed[x];
	}
	assert_int_equal(n_same, d->n_same);
	assert_memory_equal(n, d->n, sizeof n);
	assert_int_equal(n_same + n[PM_DIFF_CHANGED] + n[PM_DIFF_REMOVED], pm_graph_n_nodes(d->a));
	assert_int_equal(n_same + n[PM_DIFF_CHANGED] + n[PM_DIFF_ADDED], pm_graph_n_nodes(d->b));
	free(changed);
}

/* Compares, checks what holds of every result, and that the graphs the other way round give the mirror. */
static PmDiff compared(const PmGraph *a, const PmGraph *b)
{
	Look l = { .a = a, .b = b, .in_a = places(a), .in_b = places(b) };
	PmDiff d, mirror;

	assert_int_equal(pm_diff(a, b, &d, NULL), PM_OK);
	l.to_b = d.to_b;
	l.input_to_b = d.input_to_b;
	l.output_to_b = d.output_to_b;
	look_at_pairs(&d, &l);
	look_at_order(&d, &l);
	assert_int_equal(pm_diff(b, a, &mirror, NULL), PM_OK);
	assert_memory_equal(d.to_b, mirror.to_a, pm_graph_n_nodes(a) * sizeof *d.to_b);
	assert_memory_equal(d.to_a, mirror.to_b, pm_graph_n_nodes(b) * sizeof *d.to_b);
	assert_int_equal(d.change.n, mirror.change.n);
	assert_int_equal(d.n_signature, mirror.n_signature);
	pm_diff_release(&mirror);
	free(l.in_a);
	free(l.in_b);
	return d;
}

static void expect_none(const PmGraph *a, const PmGraph *b)
{
	PmDiff d = compared(a, b);

	assert_int_equal(d.change.n, 0);
	assert_int_equal(d.n_same, pm_graph_n_nodes(a));
	pm_diff_release(&d);
}

/* ---- tests ---- */

static void test_none(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		PmGraph *g = random_graph(seed, 5 + (int)seed), *h = shuffled(g, seed + 1000);

		expect_none(g, g);
		expect_none(g, h);
		pm_graph_free(g);
		pm_graph_free(h);
	}
}

/* A node with another attribute: the difference is that one node. */
static void test_changed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		PmGraph *g = random_graph(seed, 10 + (int)seed), *h = shuffled(g, seed);
		PmRng rng;
		PmNode n;
		PmDiff d;

		pm_rng_init(&rng, seed);
		n = pm_graph_node_at(h, (size_t)pm_rng_range(&rng, 0, (int64_t)pm_graph_n_nodes(h) - 1));
		assert_int_equal(pm_node_set_i(h, n, "edited", 7, NULL), PM_OK);
		d = compared(g, h);
		assert_int_equal(d.change.n, 1);
		assert_int_equal(d.change.v[0].kind, PM_DIFF_CHANGED);
		assert_int_equal(pm_graph_node_at(h, d.change.v[0].b).id, n.id);
		assert_string_equal(d.change.v[0].what, "attribute edited: none became 7");
		pm_diff_release(&d);
		pm_graph_free(g);
		pm_graph_free(h);
	}
}

/* Puts a node between a result and all that reads it. */
static PmNode insert(PmGraph *g, uint64_t seed)
{
	PmRng rng;
	PmNode at, n;
	PmValue v;
	PmType t;

	pm_rng_init(&rng, seed);
	at = pm_graph_node_at(g, (size_t)pm_rng_range(&rng, 0, (int64_t)pm_graph_n_nodes(g) - 1));
	v = pm_node_out(g, at, 0);
	t = *pm_value_type(g, v);
	assert_int_equal(pm_graph_add_node(g, PM_OP_Identity, &v, 1, 1, &n, NULL), PM_OK);
	assert_int_equal(pm_node_set_i(g, n, "inserted", 1, NULL), PM_OK);
	pm_value_set_type(g, pm_node_out(g, n, 0), &t);
	pm_graph_replace_uses(g, v, pm_node_out(g, n, 0));
	pm_node_set_operand(g, n, 0, v);
	assert_int_equal(pm_graph_sort(g, NULL), PM_OK);
	return n;
}

/* One node more: it is added, what reads its result has another operand, and nothing else changed. Mirrored
 * it is a node that was taken out. */
static void test_inserted(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		PmGraph *g = random_graph(seed, 10 + (int)seed), *h = shuffled(g, seed);
		PmNode n = insert(h, seed);
		size_t readers = 0;
		PmDiff d = compared(g, h);

		assert_int_equal(d.n[PM_DIFF_ADDED], 1);
		assert_int_equal(d.n[PM_DIFF_REMOVED], 0);
		for (size_t i = 0; i < d.change.n; i++) {
			const PmDiffChange *c = &d.change.v[i];
			PmNode m = c->subject == PM_DIFF_NODE ? pm_graph_node_at(h, c->b) : (PmNode){ 0 };
			int reads = c->subject == PM_DIFF_OUTPUT;

			for (size_t k = 0; k < pm_node_n_in(h, m); k++)
				reads |= pm_value_def(h, pm_node_in(h, m, k), NULL).id == n.id;
			assert_true(c->kind == PM_DIFF_ADDED ? m.id == n.id : reads);
			readers += c->kind == PM_DIFF_CHANGED;
		}
		assert_true(readers > 0);
		pm_diff_release(&d);
		pm_graph_free(g);
		pm_graph_free(h);
	}
}

/* Graphs that have nothing to do with each other: what is said holds all the same. */
static void test_strangers(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		GenOpts o = { .seed = seed, .n_nodes = 60, .float_only = 1 };
		PmGraph *a = gen_graph(&o), *b;
		PmDiff d;

		o.seed = seed + 5000;
		b = gen_graph(&o);
		d = compared(a, b);
		pm_diff_release(&d);
		pm_graph_free(b);
		/* Many edits of one graph: the two still share their inputs. */
		b = shuffled(a, seed);
		for (uint64_t k = 0; k < 20; k++)
			insert(b, seed * 100 + k);
		d = compared(a, b);
		pm_diff_release(&d);
		pm_graph_free(a);
		pm_graph_free(b);
	}
}

/* ---- all matchings of small graphs ---- */

typedef struct Brute {
	Look l;
	uint32_t to_b[16];
	char used[16];
	size_t best;
} Brute;

static void try_all(Brute *q, uint32_t x)
{
	size_t n = pm_graph_n_nodes(q->l.a), same = 0;

	if (x < n) {
		for (uint32_t y = 0; y < pm_graph_n_nodes(q->l.b); y++) {
			if (q->used[y] || strcmp(pm_node_op_name(q->l.a, pm_graph_node_at(q->l.a, x)),
						 pm_node_op_name(q->l.b, pm_graph_node_at(q->l.b, y))) != 0)
				continue;
			q->used[y] = 1;
			q->to_b[x] = y;
			try_all(q, x + 1);
			q->used[y] = 0;
		}
		q->to_b[x] = PM_DIFF_NONE;
		try_all(q, x + 1);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		same += q->to_b[i] != PM_DIFF_NONE &&
			is_same(&q->l, pm_graph_node_at(q->l.a, i), pm_graph_node_at(q->l.b, q->to_b[i]));
	q->best = same > q->best ? same : q->best;
}

static void test_largest(void **state)
{
	size_t found = 0, best = 0, edited = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		PmGraph *g = random_graph(seed, 6), *h = shuffled(g, seed);
		Brute q = { .l = { .a = g, .b = h } };
		PmDiff d;

		for (uint64_t k = 0; k < 1 + seed % 3; k++) {
			PmNode n = pm_graph_node_at(h, (seed + k) % pm_graph_n_nodes(h));

			if ((seed + k) % 2)
				insert(h, seed * 7 + k);
			else
				assert_int_equal(pm_node_set_i(h, n, "edited", (int64_t)k, NULL), PM_OK);
		}
		d = compared(g, h);
		q.l.in_a = places(g);
		q.l.in_b = places(h);
		q.l.to_b = q.to_b;
		q.l.input_to_b = d.input_to_b;
		assert_true(pm_graph_n_nodes(g) <= 16 && pm_graph_n_nodes(h) <= 16);
		try_all(&q, 0);
		assert_true(d.n_same <= q.best);
		found += d.n_same;
		best += q.best;
		edited += q.best < pm_graph_n_nodes(g);
		free(q.l.in_a);
		free(q.l.in_b);
		pm_diff_release(&d);
		pm_graph_free(g);
		pm_graph_free(h);
	}
	assert_true(edited > 100);
	assert_int_equal(found, best);
}

/* ---- graphs as text ---- */

static void expect(const char *from, const char *to, size_t same, size_t removed, size_t added,
		   size_t changed, const char *what)
{
	PmGraph *a = pm_test_graph(from), *b = pm_test_graph(to);
	PmDiff d = compared(a, b);
	PmStr all = PM_STR_INIT;

	for (size_t i = 0; i < d.change.n; i++)
		pm_str_addf(&all, "%s|", d.change.v[i].what);
	assert_int_equal(d.n_same, same);
	assert_int_equal(d.n[PM_DIFF_REMOVED], removed);
	assert_int_equal(d.n[PM_DIFF_ADDED], added);
	assert_int_equal(d.n[PM_DIFF_CHANGED], changed);
	assert_string_equal(all.s, what);
	pm_str_release(&all);
	pm_diff_release(&d);
	pm_graph_free(a);
	pm_graph_free(b);
}

/* Two nodes in the other order: with both as pairs the union would have a cycle. */
static void test_crossed(void **state)
{
	(void)state;
	/* Both have a weight of their own, which would be enough for a pair. */
	expect("m (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float[2] v = {3, 4}> {"
	       " a = Add(x, w)\n y = Mul(a, v) }",
	       "m (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float[2] v = {3, 4}> {"
	       " a = Mul(x, v)\n y = Add(a, w) }",
	       0, 1, 1, 1, "|operand 0: input x became Mul of a||was Mul of y, is Add of y|");
}

static void test_sentences(void **state)
{
	(void)state;
	expect("m (float[4] x) => (float[4] y) { a = LeakyRelu<alpha=0.5>(x)\n y = Tanh(a) }",
	       "m (float[4] x) => (float[4] y) { a = LeakyRelu<alpha=0.25>(x)\n y = Tanh(a) }", 1, 0, 0, 1,
	       "attribute alpha: 0.5 became 0.25|");
	expect("m (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { a = Exp(x)\n y = Mul(a, w) }",
	       "m (float[2] x) => (float[2] y) <float[2] w = {1, 3}> { a = Exp(x)\n y = Mul(a, w) }", 1, 0, 0,
	       1, "operand 1: other contents of constant w: float[2]|");
	expect("m (float[2] x, float[2] z) => (float[2] y) { a = Exp(x)\n y = Sub(a, z) }",
	       "m (float[2] x, float[2] z) => (float[2] y) { a = Exp(x)\n y = Sub(a, x) }", 1, 0, 0, 1,
	       "operand 1: input z became input x|");
	/* Commuting operands may be swapped. */
	expect("m (float[2] x, float[2] z) => (float[2] y) { a = Exp(x)\n y = Mul(a, z) }",
	       "m (float[2] x, float[2] z) => (float[2] y) { a = Exp(x)\n y = Mul(z, a) }", 2, 0, 0, 0, "");
	/* Of more inputs each has its name, and a type that became another one is said of all it reaches. */
	expect("m (float[2] x) => (float[2] y) { y = Exp(x) }",
	       "m (float[3] n, float[2] x) => (float[2] y) { y = Exp(x) }", 1, 0, 0, 0,
	       "|place: 0 became 1|");
	expect("m (float[2] x) => (float[2] y) { y = Exp(x) }",
	       "m (float[3] x) => (float[3] y) { y = Exp(x) }", 0, 0, 0, 1,
	       "type: float[2] became float[3]|type of result: float[2] became float[3]|"
	       "type: float[2] became float[3]|");
	/* A twin that is gone. */
	expect("m (float[2] x) => (float[2] y) { a = Exp(x)\n b = Exp(x)\n y = Sub(a, b) }",
	       "m (float[2] x) => (float[2] y) { a = Exp(x)\n y = Sub(a, a) }", 1, 1, 0, 1,
	       "|operand 1: Exp of b became Exp of a|");
}

/* A regular chain, in which no node is unlike the others: 600 operators, five of them in turn. `edited`: one
 * in three places is another operator, and one is put in. */
static PmGraph *chain(int edited)
{
	static const char *const op[] = { "Exp", "Tanh", "Add", "Relu", "Mul" };
	PmStr text = PM_STR_INIT;
	char last[16] = "x", before[16] = "x";
	PmGraph *g;

	pm_str_add(&text, "m (float[4] x) => (float[4] v599)\n{\n");
	for (int i = 0; i < 600; i++) {
		int other = edited && (i == 40 || i == 300 || i == 560);

		pm_str_addf(&text, "v%d = %s (%s", i, other ? "Neg" : op[i % 5], last);
		pm_str_addf(&text, i % 5 == 2 || i % 5 == 4 ? ", %s)\n" : ")\n", before);
		memcpy(before, last, sizeof last);
		snprintf(last, sizeof last, "v%d", i);
		if (edited && i == 400) {
			pm_str_addf(&text, "w = Sqrt (%s)\n", last);
			memcpy(last, "w", 2);
		}
	}
	pm_str_add(&text, "}\n");
	g = pm_test_graph(text.s);
	pm_str_release(&text);
	return g;
}

/* Growth goes across edits, so that what lies between them is the same. Each edit changes the two readers. */
static void test_regular(void **state)
{
	PmGraph *a = chain(0), *b = chain(1), *c = shuffled(b, 3);
	PmDiff d;

	(void)state;
	d = compared(a, c);
	assert_int_equal(d.n[PM_DIFF_REMOVED], 3);
	assert_int_equal(d.n[PM_DIFF_ADDED], 4);
	assert_int_equal(d.n[PM_DIFF_CHANGED], 8);
	pm_diff_release(&d);
	pm_graph_free(a);
	pm_graph_free(b);
	pm_graph_free(c);
}

/* A kernel in place of two nodes, between two products that are alike. */
static void test_kernel(void **state)
{
	PmGraph *a, *b = pm_test_graph("m (float[4,4] x, float[4,4] w) => (float[4,4] z) {\n"
				       "s = MatMul(x, w)\ny = Relu(s)\nz = MatMul(y, w)\n}\n");
	PmGraph *body = pm_test_graph(
		"b (float[4,4] s) => (float[4,4] y) { t = Sigmoid(s)\n y = Mul(t, s) }");
	PmNode n = pm_graph_node_at(b, 1), kernel;
	PmValue in = pm_node_in(b, n, 0);
	PmDiff d;
	PmType t = *pm_value_type(b, in);

	(void)state;
	a = pm_test_graph("m (float[4,4] x, float[4,4] w) => (float[4,4] z) {\n"
			  "s = MatMul(x, w)\nt = Sigmoid(s)\ny = Mul(s, t)\nz = MatMul(y, w)\n}\n");
	assert_int_equal(pm_graph_add_node(b, PM_OP_Kernel, &in, 1, 1, &kernel, NULL), PM_OK);
	assert_int_equal(pm_node_set_graph(b, kernel, "body", body, NULL), PM_OK);
	pm_value_set_type(b, pm_node_out(b, kernel, 0), &t);
	pm_graph_replace_uses(b, pm_node_out(b, n, 0), pm_node_out(b, kernel, 0));
	assert_int_equal(pm_graph_kill_node(b, n, NULL), PM_OK);
	assert_int_equal(pm_graph_sort(b, NULL), PM_OK);
	d = compared(a, b);
	assert_int_equal(d.n_same, 1);
	assert_int_equal(d.n[PM_DIFF_REMOVED], 2);
	assert_int_equal(d.n[PM_DIFF_ADDED], 1);
	assert_int_equal(d.n[PM_DIFF_CHANGED], 1);
	for (size_t i = 0; i < d.change.n; i++) {
		if (d.change.v[i].kind == PM_DIFF_ADDED)
			assert_string_equal(d.change.v[i].what,
					    "stands for 2 removed nodes: Sigmoid of t, Mul of y");
	}
	pm_diff_release(&d);
	pm_graph_free(a);
	pm_graph_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),      cmocka_unit_test(test_changed),
		cmocka_unit_test(test_inserted),  cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_largest),   cmocka_unit_test(test_crossed),
		cmocka_unit_test(test_regular),   cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
