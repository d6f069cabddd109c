/* SPDX-License-Identifier: Apache-2.0 */
/* test_canon_brute.c - the canonical form against brute force over all small graphs.
 *
 * Two graphs must have one text exactly when some renumbering of the nodes and inputs makes them equal, which
 * is found by trying all. Everything up to the sizes below; larger ones by sample (PM_TEST_ALL=1: ten times
 * as many).
 */
#include "base/core/rng.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "ir/canon/canon.h"
#include "ir/onnx/onnx.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_N = 9, MAX_IN = 2, NEG = 0, SUB, ADD };

/* Operand a or b: an input below n_in, else node number minus n_in. */
typedef struct Small {
	int n_in, n;
	struct {
		int op, a, b;
	} node[MAX_N];
} Small;

static PmStr scratch = PM_STR_INIT;

static const char *text_of(const PmGraph *g)
{
	PmErr err;

	pm_err_init(&err);
	pm_str_clear(&scratch);
	if (pm_canon_text(g, PM_CANON_FULL, &scratch, &err))
		fail_msg("%s", err.text);
	return scratch.s;
}

/* The graph with its nodes stored in the order `at` (topological), inputs in the order `in`, and operands of
 * Add swapped where bits of `swap` say so. All values that nothing reads are outputs. */
static PmGraph *build(const Small *s, const int *at, const int *in, unsigned swap)
{
	static const PmOp ops[] = { PM_OP_Neg, PM_OP_Sub, PM_OP_Add };
	PmGraph *g = pm_graph_new(0);
	PmType t = pm_type(PM_F32, 1, (int64_t[]){ 2 });
	PmValue v[MAX_IN + MAX_N];
	int read[MAX_IN + MAX_N] = { 0 }, i;

	for (i = 0; i < s->n_in; i++)
		assert_int_equal(pm_graph_add_input(g, NULL, &t, &v[in[i]], NULL), PM_OK);
	for (i = 0; i < s->n; i++) {
		int k = at[i], flip = s->node[k].op == ADD && (swap >> k & 1);
		PmValue o[2] = { v[flip ? s->node[k].b : s->node[k].a],
				 v[flip ? s->node[k].a : s->node[k].b] };
		PmNode n;

		assert_int_equal(pm_graph_add_node(g, ops[s->node[k].op], o, s->node[k].op == NEG ? 1 : 2, 1,
						   &n, NULL),
				 PM_OK);
		v[s->n_in + k] = pm_node_out(g, n, 0);
		pm_value_set_type(g, v[s->n_in + k], &t);
		read[s->node[k].a] = 1;
		if (s->node[k].op != NEG)
			read[s->node[k].b] = 1;
	}
	for (i = 0; i < s->n; i++) {
		if (!read[s->n_in + at[i]])
			assert_int_equal(pm_graph_add_output(g, v[s->n_in + at[i]], NULL), PM_OK);
	}
	return g;
}

/* ---- brute force ---- */

typedef struct Least {
	const Small *s;
	int in[MAX_IN];    /* new number of each input */
	int number[MAX_N]; /* new number of each node, -1 = none yet */
	char code[3 * MAX_N + 1], best[3 * MAX_N + 1];
	int found;
} Least;

static int renamed(const Least *l, int operand)
{
	return operand < l->s->n_in ? l->in[operand] : l->s->n_in + l->number[operand - l->s->n_in];
}

/* Appends every node whose operands are numbered as number k, and goes on. */
static void number_from(Least *l, int k)
{
	int i, a, b;

	if (k == l->s->n) {
		if (!l->found || memcmp(l->code, l->best, (size_t)(3 * k)) < 0)
			memcpy(l->best, l->code, (size_t)(3 * k));
		l->found = 1;
		return;
	}
	for (i = 0; i < l->s->n; i++) {
		int op = l->s->node[i].op;

		if (l->number[i] >= 0)
			continue;
		a = l->s->node[i].a - l->s->n_in;
		b = op == NEG ? a : l->s->node[i].b - l->s->n_in;
		if ((a >= 0 && l->number[a] < 0) || (b >= 0 && l->number[b] < 0))
			continue;
		a = renamed(l, l->s->node[i].a);
		b = op == NEG ? a : renamed(l, l->s->node[i].b);
		l->code[3 * k] = (char)('0' + op);
		l->code[3 * k + 1] = (char)('0' + (op == ADD && b < a ? b : a));
		l->code[3 * k + 2] = (char)('0' + (op == ADD && b < a ? a : b));
		if (l->found && memcmp(l->code, l->best, (size_t)(3 * k + 3)) > 0)
			continue;
		l->number[i] = k;
		number_from(l, k + 1);
		l->number[i] = -1;
	}
}

static void least_code(const Small *s, char *out)
{
	Least l = { .s = s };
	int flip, i;

	for (i = 0; i < MAX_N; i++)
		l.number[i] = -1;
	for (flip = 0; flip < s->n_in; flip++) {
		for (i = 0; i < s->n_in; i++)
			l.in[i] = (i + flip) % s->n_in;
		number_from(&l, 0);
	}
	memcpy(out, l.best, (size_t)(3 * s->n));
	out[3 * s->n] = 0;
}

/* ---- the comparison ---- */

typedef struct Census {
	PmIntern *texts, *codes;
	PM_VEC(uint32_t) code_of; /* by text */
	PM_VEC(uint32_t) text_of; /* by code */
	size_t graphs;
	PmRng rng;
} Census;

static Census census_new(uint64_t seed)
{
	Census c = { .texts = pm_intern_new(), .codes = pm_intern_new() };

	pm_rng_init(&c.rng, seed);
	PM_VEC_PUSH(&c.code_of, 0);
	PM_VEC_PUSH(&c.text_of, 0);
	return c;
}

static void census_release(Census *c)
{
	pm_intern_free(c->texts);
	pm_intern_free(c->codes);
	PM_VEC_RELEASE(&c->code_of);
	PM_VEC_RELEASE(&c->text_of);
}

/* A random topological order. */
static void shuffle(const Small *s, PmRng *rng, int *at)
{
	int done[MAX_N] = { 0 }, ready[MAX_N], i, k, n;

	for (k = 0; k < s->n; k++) {
		n = 0;
		for (i = 0; i < s->n; i++) {
			int a = s->node[i].a - s->n_in, b = s->node[i].op == NEG ? a : s->node[i].b - s->n_in;

			if (!done[i] && (a < 0 || done[a]) && (b < 0 || done[b]))
				ready[n++] = i;
		}
		at[k] = ready[pm_rng_range(rng, 0, n - 1)];
		done[at[k]] = 1;
	}
}

static void look(Census *c, const Small *s)
{
	static const int same[MAX_N] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	char code[3 * MAX_N + 1];
	int at[MAX_N], in[MAX_IN] = { 0, 1 };
	PmGraph *g = build(s, same, same, 0), *other;
	const char *text = text_of(g);
	uint32_t t = pm_intern(c->texts, text, strlen(text)), k;

	least_code(s, code);
	k = pm_intern(c->codes, code, strlen(code));
	c->graphs++;
	if (t == c->code_of.n)
		PM_VEC_PUSH(&c->code_of, k);
	if (k == c->text_of.n)
		PM_VEC_PUSH(&c->text_of, t);
	if (c->code_of.v[t] != k)
		fail_msg("two graphs share a text: %s and\n%s", code, text);
	if (c->text_of.v[k] != t)
		fail_msg("one graph has two texts: %s\n%s and\n%s", code, text,
			 pm_intern_text(c->texts, c->text_of.v[k]));
	shuffle(s, &c->rng, at);
	if (s->n_in == 2 && pm_rng_range(&c->rng, 0, 1)) {
		in[0] = 1;
		in[1] = 0;
	}
	other = build(s, at, in, (unsigned)pm_rng_u64(&c->rng));
	text = text_of(other);
	if (strcmp(text, pm_intern_text(c->texts, t)))
		fail_msg("storage counts: %s\n%s and\n%s", code, text, pm_intern_text(c->texts, t));
	pm_graph_free(g);
	pm_graph_free(other);
}

/* All graphs of s->n nodes whose first k are fixed; one in `every`. */
static void enumerate(Census *c, Small *s, int k, int64_t every)
{
	int values = s->n_in + k;

	if (k == s->n) {
		if (every == 1 || pm_rng_range(&c->rng, 0, every - 1) == 0)
			look(c, s);
		return;
	}
	for (s->node[k].a = 0; s->node[k].a < values; s->node[k].a++) {
		s->node[k].op = NEG;
		s->node[k].b = s->node[k].a;
		enumerate(c, s, k + 1, every);
		for (s->node[k].op = SUB; s->node[k].op <= ADD; s->node[k].op++) {
			int from = s->node[k].op == ADD ? s->node[k].a : 0;

			for (s->node[k].b = from; s->node[k].b < values; s->node[k].b++)
				enumerate(c, s, k + 1, every);
		}
	}
}

static void all_graphs_up_to(int n_in, int max_n, int64_t every)
{
	Census c = census_new(5);
	Small s = { .n_in = n_in };

	for (s.n = 1; s.n <= max_n; s.n++)
		enumerate(&c, &s, 0, s.n == max_n ? every : 1);
	print_message("# %d inputs, up to %d nodes: %zu graphs, %zu texts, %zu classes\n", n_in, max_n,
		      c.graphs, c.code_of.n - 1, c.text_of.n - 1);
	assert_int_equal(c.code_of.n, c.text_of.n);
	census_release(&c);
}

static void small_graphs_have_one_text_each(void **state)
{
	int all = getenv("PM_TEST_ALL") != NULL;

	(void)state;
	all_graphs_up_to(1, 4, 1);
	all_graphs_up_to(1, 5, all ? 1 : 40);
	all_graphs_up_to(2, 3, 1);
	all_graphs_up_to(2, 4, all ? 1 : 20);
}

static void larger_graphs_by_sample(void **state)
{
	Census c = census_new(9);
	int i, k, n = getenv("PM_TEST_ALL") ? 60000 : 6000;

	(void)state;
	for (i = 0; i < n; i++) {
		Small s = { .n_in = 2, .n = 6 + i % 3 };

		for (k = 0; k < s.n; k++) {
			/* mostly Add, and few values to read, so that graphs are alike */
			int values = s.n_in + k, lo = i % 5 ? 0 : values / 2;

			s.node[k].op = (int)pm_rng_range(&c.rng, 0, 4);
			s.node[k].op = s.node[k].op > 2 ? ADD : s.node[k].op;
			s.node[k].a = (int)pm_rng_range(&c.rng, lo, values - 1);
			s.node[k].b = s.node[k].op == NEG ? s.node[k].a
							  : (int)pm_rng_range(&c.rng, 0, values - 1);
		}
		look(&c, &s);
	}
	print_message("# 6 to 8 nodes: %zu graphs, %zu classes\n", c.graphs, c.text_of.n - 1);
	assert_int_equal(c.code_of.n, c.text_of.n);
	census_release(&c);
}

/* ---- pairs that local refinement cannot tell apart ---- */

/* Sums of neighbours in a ring: all rings of one total length look alike from any node. */
static PmGraph *rings(const int *length, int n, uint64_t seed)
{
	enum { MAX = 16 };
	PmGraph *g = pm_graph_new(0);
	PmType t = pm_type(PM_F32, 1, (int64_t[]){ 2 });
	PmValue x, leaf[MAX], sum[MAX];
	int order[MAX], i, k, r, at = 0, total = 0;
	PmRng rng;
	PmNode node;

	pm_rng_init(&rng, seed);
	for (r = 0; r < n; r++)
		total += length[r];
	assert_int_equal(pm_graph_add_input(g, NULL, &t, &x, NULL), PM_OK);
	for (i = 0; i < total; i++)
		order[i] = i;
	for (i = total - 1; i > 0; i--) {
		k = (int)pm_rng_range(&rng, 0, i);
		r = order[i];
		order[i] = order[k];
		order[k] = r;
	}
	for (i = 0; i < total; i++) {
		assert_int_equal(pm_graph_add_node(g, PM_OP_Neg, &x, 1, 1, &node, NULL), PM_OK);
		leaf[order[i]] = pm_node_out(g, node, 0);
		pm_value_set_type(g, leaf[order[i]], &t);
	}
	for (r = 0; r < n; at += length[r++]) {
		for (i = 0; i < length[r]; i++) {
			PmValue in[2] = { leaf[at + i], leaf[at + (i + 1) % length[r]] };

			if (pm_rng_range(&rng, 0, 1)) {
				PmValue v = in[0];

				in[0] = in[1];
				in[1] = v;
			}
			assert_int_equal(pm_graph_add_node(g, PM_OP_Add, in, 2, 1, &node, NULL), PM_OK);
			sum[at + i] = pm_node_out(g, node, 0);
			pm_value_set_type(g, sum[at + i], &t);
		}
	}
	for (i = 0; i < total; i++)
		assert_int_equal(pm_graph_add_output(g, sum[order[i]], NULL), PM_OK);
	return g;
}

static void rings_are_told_apart(void **state)
{
	static const int three[] = { 3, 3 }, six[] = { 6 }, mixed[] = { 3, 4, 5 }, other[] = { 5, 4, 3 },
			 pair[] = { 6, 6 };
	static const struct {
		const int *a;
		int na;
		const int *b;
		int nb, same;
	} cases[] = {
		{ three, 2, six, 1, 0 },   { three, 2, three, 2, 1 }, { six, 1, six, 1, 1 },
		{ mixed, 3, other, 3, 1 }, { mixed, 3, pair, 2, 0 },
	};
	size_t i;
	uint64_t seed;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		for (seed = 0; seed < 8; seed++) {
			PmGraph *a = rings(cases[i].a, cases[i].na, 100),
				*b = rings(cases[i].b, cases[i].nb, seed);
			char *first = strdup(text_of(a));

			if ((strcmp(first, text_of(b)) == 0) != cases[i].same)
				fail_msg("case %zu, seed %d", i, (int)seed);
			free(first);
			pm_graph_free(a);
			pm_graph_free(b);
		}
	}
}

/* ---- real models ---- */

static void core_models_in_any_order(void **state)
{
	static const char dir[] = "../shared/models/core";
	int rounds = getenv("PM_TEST_ALL") ? 100 : 5, k;
	PmNames names = { NULL, 0, 0 };
	size_t i, n = 0;

	(void)state;
	pm_test_need_path(dir);
	assert_int_equal(pm_list_dir(dir, &names, NULL), PM_OK);
	for (i = 0; i < names.n; i++) {
		PmStr path = PM_STR_INIT;
		PmGraph *g = NULL;

		pm_path_join(dir, names.v[i], &path);
		if (pm_str_ends(path.s, ".onnx") && pm_onnx_import(path.s, NULL, &g, NULL, NULL) == PM_OK) {
			char *text = strdup(text_of(g));

			for (k = 0; k < rounds; k++) {
				PmGraph *d = gen_disguise(g, (uint64_t)k + 1);

				if (strcmp(text, text_of(d)))
					fail_msg("%s: the text changes with the order, seed %d", names.v[i],
						 k + 1);
				pm_graph_free(d);
			}
			free(text);
			pm_graph_free(g);
			n++;
		}
		pm_str_release(&path);
	}
	print_message("# %zu models, %d orders each\n", n, rounds);
	assert_true(n >= 50);
	pm_names_release(&names);
}

static int release_scratch(void **state)
{
	(void)state;
	pm_str_release(&scratch);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_graphs_have_one_text_each),
		cmocka_unit_test(larger_graphs_by_sample),
		cmocka_unit_test(rings_are_told_apart),
		cmocka_unit_test(core_models_in_any_order),
	};

	return cmocka_run_group_tests_name("canon_brute", tests, NULL, release_scratch);
}
