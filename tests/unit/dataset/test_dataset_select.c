/* SPDX-License-Identifier: Apache-2.0 */
/* test_dataset_select.c - selection, grouping, likeness and components. */
#include "base/core/json.h"
#include "base/core/rng.h"
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "dataset/select/alike.h"
#include "dataset/select/group.h"
#include "dataset/select/select.h"
#include "dataset/select/split.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Sequences of operators, as pm_select takes them. */
typedef struct Seqs {
	PM_VEC(unsigned) ops;
	PM_VEC(size_t) start;
	PmIntern *names, *seen; /* operators; texts of sequences */
	size_t n;
} Seqs;

static void seqs_init(Seqs *s)
{
	memset(s, 0, sizeof *s);
	s->names = pm_intern_new();
	s->seen = pm_intern_new();
	PM_VEC_PUSH(&s->start, 0);
}

static void seqs_release(Seqs *s)
{
	PM_VEC_RELEASE(&s->ops);
	PM_VEC_RELEASE(&s->start);
	pm_intern_free(s->names);
	pm_intern_free(s->seen);
}

static unsigned n_names(const Seqs *s)
{
	unsigned n = 0;

	for (size_t i = 0; i < s->ops.n; i++)
		n = s->ops.v[i] + 1 > n ? s->ops.v[i] + 1 : n;
	return n;
}

/* Adds a JSON list of names unless it is there; returns its number. */
static size_t add_json(Seqs *s, const char *text)
{
	size_t known = pm_intern_find(s->seen, text, strlen(text));
	cJSON *j = NULL, *k;
	PmErr err;

	if (known != UINT32_MAX)
		return known - 1;
	pm_intern(s->seen, text, strlen(text));
	pm_err_init(&err);
	if (pm_json_parse(text, strlen(text), &j, &err))
		fail_msg("%s", err.text);
	cJSON_ArrayForEach(k, j)
		PM_VEC_PUSH(&s->ops, pm_intern(s->names, k->valuestring, strlen(k->valuestring)) - 1);
	PM_VEC_PUSH(&s->start, s->ops.n);
	cJSON_Delete(j);
	return s->n++;
}

/* ---- selection ---- */

static const char *fixtures(void)
{
	static char path[512];
	const char *shared = getenv("PASSMITH_SHARED");

	snprintf(path, sizeof path, "%s/spec/dataset_fixtures", shared && *shared ? shared : "../shared");
	return path;
}

/* A case that is skipped does not come back: nothing is held by then. */
static void read_fixture(const char *name, PmStr *out)
{
	char path[600];

	snprintf(path, sizeof path, "%s/%s", fixtures(), name);
	pm_test_need_path(path);
	assert_int_equal(pm_read_file(path, 0, out, NULL), PM_OK);
}

static void the_published_selection_is_reproduced(void **state)
{
	PmStr in = PM_STR_INIT, want = PM_STR_INIT;
	PmSelection sel;
	PmErr err;
	Seqs s;
	char *line, *save = NULL;
	size_t wanted[300], n_wanted = 0, same = 0, in_order = 0, groups = 0;

	(void)state;
	read_fixture("sample_uids_and_op_seq.txt", &in);
	read_fixture("selected_op_seq.txt", &want);
	seqs_init(&s);
	for (line = strtok_r(in.s, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		add_json(&s, strchr(line, '\t') + 1);
		groups++;
	}
	assert_int_equal(groups, 2878);
	assert_int_equal(s.n, 630);
	assert_int_equal(n_names(&s), 122);
	for (line = strtok_r(want.s, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		wanted[n_wanted++] = add_json(&s, line);
	assert_int_equal(n_wanted, 200);
	assert_int_equal(s.n, 630); /* the selected are among them */
	assert_int_equal(pm_select(s.ops.v, s.start.v, s.n, n_names(&s), 200, NULL, &sel, &err), PM_OK);
	assert_int_equal(sel.n, 200);
	assert_int_equal(sel.n_edges, 591);
	assert_int_equal(sel.n_covered, 534);
	while (in_order < 200 && sel.taken[in_order] == wanted[in_order])
		in_order++;
	for (size_t i = 0; i < 200; i++)
		for (size_t k = 0; k < 200; k++)
			same += sel.taken[i] == wanted[k];
	assert_true(in_order >= 63);
	assert_true(same >= 199);
	pm_selection_release(&sel);
	seqs_release(&s);
	pm_str_release(&in);
	pm_str_release(&want);
}

/* A random instance with many ties. */
static void random_seqs(Seqs *s, PmRng *r, size_t n, unsigned n_ops)
{
	memset(s, 0, sizeof *s);
	PM_VEC_PUSH(&s->start, 0);
	for (size_t i = 0; i < n; i++) {
		int64_t len = pm_rng_range(r, 0, 7);

		for (int64_t k = 0; k < len; k++)
			PM_VEC_PUSH(&s->ops, (unsigned)pm_rng_range(r, 0, n_ops - 1));
		PM_VEC_PUSH(&s->start, s->ops.n);
	}
	s->n = n;
}

static PmStatus every_third(void *arg, size_t i, int *yes, PmErr *err)
{
	(void)arg;
	(void)err;
	*yes = i % 3 != 0;
	return PM_OK;
}

static void lazy_takes_what_naive_takes(void **state)
{
	PmRng r;
	PmErr err;

	(void)state;
	pm_rng_init(&r, 11);
	for (int round = 0; round < 200; round++) {
		unsigned n_ops = (unsigned)pm_rng_range(&r, 1, 9);
		size_t n = (size_t)pm_rng_range(&r, 0, 60), k = (size_t)pm_rng_range(&r, 0, 70), part[64];
		PmSelectOpts o = { .weight = round % 3 ? -1 : 0.5 };
		PmSelection a, b;
		Seqs s;

		for (size_t i = 0; i < n; i++)
			part[i] = (size_t)pm_rng_range(&r, 0, 20);
		o.part = round % 4 == 1 ? part : NULL;
		o.accept = round % 5 == 1 ? every_third : NULL;
		random_seqs(&s, &r, n, n_ops);
		assert_int_equal(pm_select(s.ops.v, s.start.v, n, n_ops, k, &o, &a, &err), PM_OK);
		o.naive = 1;
		assert_int_equal(pm_select(s.ops.v, s.start.v, n, n_ops, k, &o, &b, &err), PM_OK);
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.taken, b.taken, a.n * sizeof *a.taken);
		assert_int_equal(a.n_covered, b.n_covered);
		if (!o.part && !o.accept)
			assert_int_equal(a.n, k < n ? k : n);
		pm_selection_release(&a);
		pm_selection_release(&b);
		PM_VEC_RELEASE(&s.ops);
		PM_VEC_RELEASE(&s.start);
	}
}

static void rare_edges_are_taken_first(void **state)
{
	static const char *const lists[] = { "[\"a\",\"b\"]", "[\"a\",\"b\",\"a\"]", "[\"a\",\"b\",\"c\"]",
					     "[\"x\",\"y\",\"z\"]", "[\"a\"]" };
	PmSelection sel;
	PmErr err;
	Seqs s;

	(void)state;
	seqs_init(&s);
	for (int i = 0; i < 5; i++)
		add_json(&s, lists[i]);
	assert_int_equal(pm_select(s.ops.v, s.start.v, s.n, n_names(&s), 5, NULL, &sel, &err), PM_OK);
	/* Two new edges each: b->a and b->c share their row, so they are rarer than x->y, y->z. Of the two
	 * the first wins; then two new edges, then one, then none but an edge, then none. */
	assert_int_equal(sel.taken[0], 1);
	assert_int_equal(sel.taken[1], 3);
	assert_int_equal(sel.taken[2], 2);
	assert_int_equal(sel.taken[3], 0);
	assert_int_equal(sel.taken[4], 4);
	assert_int_equal(sel.n_covered, 5);
	pm_selection_release(&sel);
	seqs_release(&s);
}

/* ---- grouping ---- */

/* 40 samples: operators, shapes, element types, in runs. Hashes ascend. */
static const struct {
	int count, op_seq, shapes, dtypes;
} runs[] = { { 18, 0, 0, 0 }, { 2, 0, 1, 0 }, { 1, 0, 1, 1 }, { 1, 0, 1, 2 }, { 1, 0, 1, 3 }, { 1, 0, 1, 4 },
	     { 1, 1, 2, 0 },  { 2, 2, 3, 0 }, { 2, 2, 3, 1 }, { 1, 2, 4, 0 }, { 10, 3, 5, 0 } };

static void print_groups(const PmGroups *g, const PmSample *s, PmStr *out)
{
	for (size_t i = 0; i < g->n; i++) {
		pm_str_addf(out, "%s", pm_group_rule_name(g->group[i].rule));
		for (size_t k = 0; k < g->group[i].n; k++)
			pm_str_addf(out, " %s", s[g->member[g->group[i].first + k]].hash);
		pm_str_addc(out, '\n');
	}
}

static void forty_samples_make_these_groups(void **state)
{
	PmSample s[40], t[40];
	char hash[40][16];
	PmStr a = PM_STR_INIT, b = PM_STR_INIT;
	PmGroups g;
	int n = 0;

	(void)state;
	for (size_t r = 0; r < sizeof runs / sizeof *runs; r++)
		for (int k = 0; k < runs[r].count; k++, n++) {
			snprintf(hash[n], sizeof hash[n], "%02d", n);
			s[n] = (PmSample){ hash[n], 5, runs[r].op_seq, runs[r].shapes, runs[r].dtypes };
		}
	assert_int_equal(n, 40);
	pm_group(s, 40, 0, &g);
	print_groups(&g, s, &a);
	assert_string_equal(
		a.s,
		/* operators 0: buckets 00..17 and 18..23 */
		"stride 16\n"
		"cross-shape 00 18\n"
		"dtype 01 19 20 21\n"     /* three element types of the second bucket, 22 and 23 are more */
		"sparse 02 03 04 22 23\n" /* left are 02..15, 17, and 22, 23 in a second window */
		"cross-shape 24\n"
		"cross-shape 25 29\n"
		"dtype 26 27\n"
		"sparse 28\n"
		"cross-shape 30\n"
		"dtype 31\n"
		"sparse 32 33 34\n");
	pm_groups_release(&g);
	/* Other numbers and another order: the same groups. */
	for (int i = 0; i < 40; i++) {
		t[i] = s[39 - i];
		t[i].op_seq = 100 - t[i].op_seq;
		t[i].shapes = 7 * (9 - t[i].shapes);
	}
	pm_group(t, 40, 16, &g);
	print_groups(&g, t, &b);
	assert_string_equal(a.s, b.s);
	pm_groups_release(&g);
	pm_group(NULL, 0, 0, &g);
	assert_int_equal(g.n, 0);
	pm_groups_release(&g);
	pm_str_release(&a);
	pm_str_release(&b);
}

/* ---- likeness ---- */

static double likeness(const char *a, const char *b)
{
	PmGraph *ga = pm_test_graph(a), *gb = pm_test_graph(b);
	PmColors ca, cb;
	double d;

	pm_colors_of(ga, &ca);
	pm_colors_of(gb, &cb);
	d = pm_colors_jaccard(&ca, &cb);
	pm_graph_free(ga);
	pm_graph_free(gb);
	pm_colors_release(&ca);
	pm_colors_release(&cb);
	return d;
}

/* A chain of n operators; number `odd` (from 0) is another one. */
static void chain(int n, int odd, int size, PmStr *out)
{
	pm_str_addf(out, "g (float[%d] x0) => (float[%d] x%d) {\n", size, size, n);
	for (int i = 0; i < n; i++)
		pm_str_addf(out, "x%d = %s (x%d)\n", i + 1, i == odd ? "Tanh" : i % 2 ? "Relu" : "Neg", i);
	pm_str_add(out, "}");
}

static void likeness_sees_structure_only(void **state)
{
	const char *g = "g (float[2] a, float[2] b) => (float[2] y) { t = Relu (a)\n y = Add (t, b) }";

	(void)state;
	assert_true(likeness(g, "h (float[7,7] q, float[7,7] p) => (float[7,7] z) { s = Relu (p)\n z = Add "
				"(q, s) }") == 1);
	assert_true(
		likeness(g, "g (float[2] a, float[2] b) => (float[2] y) { t = Relu (a)\n y = Sub (t, b) }") <
		0.5);
	/* Which operand matters where operands do not commute. */
	assert_true(likeness("g (float[2] a, float[2] b) => (float[2] y) { t = Relu (a)\n y = Sub (t, b) }",
			     "g (float[2] a, float[2] b) => (float[2] y) { t = Relu (a)\n y = Sub (b, t) }") <
		    1);
	assert_true(likeness(g, "g (float[2] a) => (float[2] y) { y = Tanh (a) }") == 0);
}

static void one_change_costs_its_neighbourhood(void **state)
{
	PmStr a = PM_STR_INIT, b = PM_STR_INIT, c = PM_STR_INIT;

	(void)state;
	/* 1 + 3 + 5 + 7 of 4 * n colours change: (4n - 16) / (4n + 16), which is 0.9 at n = 76. */
	chain(100, 50, 4, &a);
	chain(100, -1, 9, &b);
	assert_true(likeness(a.s, b.s) > 0.9 && likeness(a.s, b.s) < 0.95);
	chain(60, 30, 4, &c);
	pm_str_clear(&b);
	chain(60, -1, 4, &b);
	assert_true(likeness(c.s, b.s) < 0.9);
	pm_str_release(&a);
	pm_str_release(&b);
	pm_str_release(&c);
}

typedef struct Pairs {
	char hit[40][40];
} Pairs;

static void mark(void *arg, size_t i, size_t j)
{
	((Pairs *)arg)->hit[i][j] = 1;
}

static void min_hashing_misses_no_pair(void **state)
{
	static Pairs p;
	PmColors c[40];
	PmRng r;
	int alike = 0;

	(void)state;
	pm_rng_init(&r, 3);
	for (int i = 0; i < 40; i++) {
		PmStr s = PM_STR_INIT;
		PmGraph *g;

		chain((int)pm_rng_range(&r, 3, 7) * 20, i % 4 ? (int)pm_rng_range(&r, 0, 59) : -1, 4, &s);
		g = pm_test_graph(s.s);
		pm_colors_of(g, &c[i]);
		pm_graph_free(g);
		pm_str_release(&s);
	}
	pm_alike_pairs(c, 40, mark, &p);
	for (size_t i = 0; i < 40; i++)
		for (size_t j = i + 1; j < 40; j++) {
			int yes = pm_colors_jaccard(&c[i], &c[j]) >= PM_ALIKE;

			alike += yes;
			assert_int_equal(p.hit[i][j], yes);
			assert_int_equal(p.hit[j][i], 0);
		}
	assert_true(alike > 20 && alike < 600);
	for (int i = 0; i < 40; i++)
		pm_colors_release(&c[i]);
}

static void components_join_what_belongs_together(void **state)
{
	/* Structures 0 and 2 are alike (a long chain with one change); 1 and 3 stand alone. */
	PmSplitItem item[] = { { 0, 10 }, { 1, 11 }, { 2, 12 }, { 3, 13 }, { 3, 14 }, { 1, 13 } };
	PmColors c[4];
	size_t part[6];

	(void)state;
	for (int i = 0; i < 4; i++) {
		PmStr s = PM_STR_INIT;
		PmGraph *g;

		chain(i % 2 ? 5 + i : 100, i == 2 ? 50 : -1, 4, &s);
		g = pm_test_graph(s.s);
		pm_colors_of(g, &c[i]);
		pm_graph_free(g);
		pm_str_release(&s);
	}
	assert_int_equal(pm_components(item, 5, c, 4, part), 3);
	assert_int_equal(part[0], 0);
	assert_int_equal(part[1], 1);
	assert_int_equal(part[2], 0); /* a near duplicate */
	assert_int_equal(part[3], 2);
	assert_int_equal(part[4], 2); /* the same structure */
	assert_int_equal(pm_components(item, 6, c, 4, part), 2);
	assert_int_equal(part[3], 1); /* the same operators as item 5, whose structure item 1 has */
	for (int i = 0; i < 4; i++)
		pm_colors_release(&c[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_selection_is_reproduced),
		cmocka_unit_test(lazy_takes_what_naive_takes),
		cmocka_unit_test(rare_edges_are_taken_first),
		cmocka_unit_test(forty_samples_make_these_groups),
		cmocka_unit_test(likeness_sees_structure_only),
		cmocka_unit_test(one_change_costs_its_neighbourhood),
		cmocka_unit_test(min_hashing_misses_no_pair),
		cmocka_unit_test(components_join_what_belongs_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
