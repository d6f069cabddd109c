/* SPDX-License-Identifier: Apache-2.0 */
/* test_extract.c - cutting node sets out of graphs and growing fusible ones. */
#include "base/core/rng.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "extract/extract.h"
#include "ir/canon/canon.h"
#include "ir/infer/infer.h"
#include "ir/onnx/onnx.h"
#include "ir/text/text.h"
#include "runtime/exec/exec.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The producer of a value. */
static PmNode def_of(const PmGraph *g, const char *value)
{
	return pm_value_def(g, pm_graph_find_value(g, value), NULL);
}

/* What draws random numbers, and what is as large as its data say, belongs in no task. */
static void effects_and_open_sizes_are_not_cut(void **state)
{
	PmGraph *g = pm_test_graph("g (float[4] x) => (float[4] r, int64[1,n] where, float[4] y)\n{\n"
				   "  r = RandomUniformLike <dtype = 1, seed = 1.0> (x)\n"
				   "  where = NonZero (x)\n  y = Exp (x)\n}\n");

	(void)state;
	assert_false(pm_fusible_node(g, def_of(g, "r")));
	assert_false(pm_fusible_node(g, def_of(g, "where")));
	assert_true(pm_fusible_node(g, def_of(g, "y")));
	pm_graph_free(g);
}

/* ---- brute force on small graphs ---- */

enum { MAX_N = 64 };
typedef struct Reach {
	size_t n;
	uint64_t edge[MAX_N]; /* bit j of edge[i]: i feeds j */
	uint64_t path[MAX_N];
} Reach;

static size_t place_of(const PmGraph *g, PmNode n)
{
	size_t i;

	for (i = 0; i < pm_graph_n_nodes(g); i++) {
		if (pm_graph_node_at(g, i).id == n.id)
			return i;
	}
	fail();
	return 0;
}

static void reach(const PmGraph *g, Reach *r)
{
	size_t i, k, j;

	memset(r, 0, sizeof *r);
	r->n = pm_graph_n_nodes(g);
	assert_true(r->n <= MAX_N);
	for (i = 0; i < r->n; i++) {
		PmNode at = pm_graph_node_at(g, i);

		for (k = 0; k < pm_node_n_in(g, at); k++) {
			PmNode def = pm_value_def(g, pm_node_in(g, at, k), NULL);

			if (def.id)
				r->edge[place_of(g, def)] |= (uint64_t)1 << i;
		}
	}
	memcpy(r->path, r->edge, sizeof r->path);
	for (j = 0; j < r->n; j++) {
		for (i = 0; i < r->n; i++) {
			if (r->path[i] >> j & 1)
				r->path[i] |= r->path[j];
		}
	}
}

static int brute_convex(const Reach *r, uint64_t set)
{
	size_t i;
	uint64_t below = 0; /* what the set reaches */

	for (i = 0; i < r->n; i++) {
		if (set >> i & 1)
			below |= r->path[i];
	}
	for (i = 0; i < r->n; i++) {
		if (!(set >> i & 1) && (below >> i & 1) && (r->path[i] & set))
			return 0;
	}
	return 1;
}

static int brute_connected(const Reach *r, uint64_t set)
{
	uint64_t got = set & (~set + 1), was = 0;
	size_t i;

	while (got != was) {
		was = got;
		for (i = 0; i < r->n; i++) {
			if (!(set >> i & 1))
				continue;
			if (got >> i & 1)
				got |= r->edge[i] & set;
			else if (r->edge[i] & got)
				got |= (uint64_t)1 << i;
		}
	}
	return got == set;
}

/* A random graph of element-wise, view, reducing and contracting nodes over float[4,4]. */
static PmGraph *random_graph(PmRng *rng, int n)
{
	static const char *const one[] = { "Relu", "Tanh", "Transpose <perm = [1, 0]>", "Softmax <axis = 1>",
					   "Identity" };
	static const char *const two[] = { "Add", "Mul", "Sub", "MatMul", "Max" };
	PmStr s = PM_STR_INIT;
	PmGraph *g;
	int i;

	pm_str_add(&s, "r (float[4,4] v0, float[4,4] v1) => (");
	for (i = n - 1; i < n + 2; i++)
		pm_str_addf(&s, "%sfloat[4,4] v%d", i == n - 1 ? "" : ", ", i);
	pm_str_add(&s, ") {\n");
	for (i = 2; i < n + 2; i++) {
		int lo = pm_rng_range(rng, 0, 3) ? (i > 6 ? i - 6 : 0) : 0;
		int a = (int)pm_rng_range(rng, lo, i - 1), b = (int)pm_rng_range(rng, lo, i - 1);

		if (pm_rng_range(rng, 0, 1))
			pm_str_addf(&s, "v%d = %s (v%d)\n", i, one[pm_rng_range(rng, 0, 4)], a);
		else
			pm_str_addf(&s, "v%d = %s (v%d, v%d)\n", i, two[pm_rng_range(rng, 0, 4)], a, b);
	}
	pm_str_add(&s, "}\n");
	g = pm_test_graph(s.s);
	pm_graph_sweep(g); /* nodes that nothing uses cannot be cut */
	pm_str_release(&s);
	return g;
}

static uint64_t bits_of(const PmGraph *g, const PmNode *v, size_t n)
{
	uint64_t set = 0;
	size_t i;

	for (i = 0; i < n; i++)
		set |= (uint64_t)1 << place_of(g, v[i]);
	return set;
}

/* ---- cutting ---- */

static const char chain[] = "m (float[2,3] x, float[3] b) => (float[2,3] y, float[2,3] z)\n"
			    "<float one = {1}, float[3] w = {1, 2, 3}, int64[2] to = {2, 3}> {\n"
			    "  a = Add (x, one)\n"
			    "  c = Mul (a, w)\n"
			    "  d = Reshape (c, to)\n"
			    "  y = Add (d, b)\n"
			    "  z = Relu (c)\n"
			    "}\n";

static void a_cut_has_what_crosses_its_border(void **state)
{
	PmGraph *g = pm_test_graph(chain), *sub = NULL;
	PmNode set[3];
	PmCutter *c = NULL;
	PmStr text = PM_STR_INIT;
	PmPrintOpts opts = { .no_header = 1 };

	(void)state;
	assert_int_equal(pm_cutter_new(g, NULL, &c, NULL), PM_OK);
	set[0] = def_of(g, "d"); /* any order */
	set[1] = def_of(g, "a");
	set[2] = def_of(g, "c");
	assert_int_equal(pm_cutter_cut(c, set, 3, &sub, NULL), PM_OK);
	assert_int_equal(pm_graph_print(sub, &opts, &text, NULL), PM_OK);
	/* the weight came in as an input; the number and the shape stayed; c is read outside */
	assert_string_equal(text.s, "subgraph (float[2,3] x, float[3] w) => (float[2,3] c, float[2,3] d)\n"
				    "<float one = {1},\n int64[2] to = {2, 3}>\n"
				    "{\n"
				    "   a = Add (x, one)\n"
				    "   c = Mul (a, w)\n"
				    "   d = Reshape (c, to)\n"
				    "}\n");
	pm_str_release(&text);
	pm_graph_free(sub);
	pm_cutter_free(c);
	pm_graph_free(g);
}

static void larger_constants_stay_when_asked(void **state)
{
	PmGraph *g = pm_test_graph(chain), *sub = NULL;
	PmNode set[1];
	PmCutOpts opts = { 0, 3, 0 };
	PmCutter *c = NULL;

	(void)state;
	assert_int_equal(pm_cutter_new(g, &opts, &c, NULL), PM_OK);
	set[0] = def_of(g, "c");
	assert_int_equal(pm_cutter_cut(c, set, 1, &sub, NULL), PM_OK);
	assert_int_equal(pm_graph_n_inputs(sub), 1);
	assert_true(pm_value_is_const(sub, pm_graph_find_value(sub, "w")));
	pm_graph_free(sub);
	pm_cutter_free(c);
	pm_graph_free(g);
}

static void scales_stay_constants(void **state)
{
	PmGraph *g = pm_test_graph("m (float[1,1,2,2] x) => (float[1,1,4,4] y)\n"
				   "<float[4] by = {1, 1, 2, 2}, float[4] b = {1, 2, 3, 4}> {\n"
				   " r = Resize <mode = \"nearest\"> (x, , by)\n y = Add (r, b) }"),
		*sub = NULL;
	PmCutter *c = NULL;
	PmNode set[2];

	(void)state;
	set[0] = def_of(g, "r");
	set[1] = def_of(g, "y");
	assert_int_equal(pm_cutter_new(g, NULL, &c, NULL), PM_OK);
	assert_int_equal(pm_cutter_cut(c, set, 2, &sub, NULL), PM_OK);
	assert_true(pm_value_is_const(sub, pm_graph_find_value(sub, "by")));
	assert_true(pm_value_is_input(sub, pm_graph_find_value(sub, "b"))); /* a weight */
	pm_graph_free(sub);
	pm_cutter_free(c);
	pm_graph_free(g);
}

static void a_set_that_is_no_part_is_refused(void **state)
{
	PmGraph *g = pm_test_graph(chain), *sub;
	PmNode set[3];
	PmCutter *c = NULL;
	PmErr err;

	(void)state;
	assert_int_equal(pm_cutter_new(g, NULL, &c, NULL), PM_OK);
	set[0] = def_of(g, "a");
	set[1] = def_of(g, "d");
	assert_int_equal(pm_cutter_cut(c, set, 2, &sub, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "2 parts"));
	set[0] = def_of(g, "a");
	set[1] = def_of(g, "a");
	assert_int_equal(pm_cutter_cut(c, set, 2, &sub, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "twice"));
	assert_int_equal(pm_cutter_cut(c, set, 0, &sub, &err), PM_E_INVALID);
	set[0].id = 4000000;
	assert_int_equal(pm_cutter_cut(c, set, 1, &sub, &err), PM_E_INVALID);
	set[0].id = 0;
	assert_int_equal(pm_cutter_cut(c, set, 1, &sub, &err), PM_E_INVALID);
	assert_null(sub);
	pm_cutter_free(c);
	pm_graph_free(g);
}

static void a_path_out_and_back_is_found(void **state)
{
	PmGraph *g = pm_test_graph(
		"m (float[4] x) => (float[4] y) { a = Relu (x)\n b = Tanh (a)\n c = Exp (b)\n"
		" d = Neg (a)\n e = Add (c, d)\n y = Abs (e) }");
	PmNode set[] = { def_of(g, "a"), def_of(g, "d"), def_of(g, "e") };
	PmCutter *c = NULL;
	PmErr err;

	(void)state;
	assert_int_equal(pm_cutter_new(g, NULL, &c, NULL), PM_OK);
	assert_int_equal(pm_cutter_check(c, set, 3, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "comes back"));
	assert_int_equal(pm_cutter_check(c, set + 1, 2, &err), PM_OK);
	pm_cutter_free(c);
	pm_graph_free(g);
}

static void checks_agree_with_brute_force(void **state)
{
	PmRng rng;
	int round, k, convex = 0, broken = 0;

	(void)state;
	pm_rng_init(&rng, 7);
	for (round = 0; round < 30; round++) {
		PmGraph *g = random_graph(&rng, 14);
		PmCutter *c = NULL;
		Reach r;

		reach(g, &r);
		assert_int_equal(pm_cutter_new(g, NULL, &c, NULL), PM_OK);
		for (k = 0; k < 200; k++) {
			PmNode set[14];
			size_t n = 0, i;
			uint64_t bits;
			int want;

			for (i = 0; i < r.n; i++) {
				if (pm_rng_range(&rng, 0, 2) == 0)
					set[n++] = pm_graph_node_at(g, i);
			}
			if (n == 0)
				continue;
			bits = bits_of(g, set, n);
			want = brute_connected(&r, bits) && brute_convex(&r, bits);
			convex += want;
			broken += brute_connected(&r, bits) && !want;
			assert_int_equal(pm_cutter_check(c, set, n, NULL), want ? PM_OK : PM_E_INVALID);
		}
		pm_cutter_free(c);
		pm_graph_free(g);
	}
	assert_true(convex > 100 && broken > 50); /* both kinds were met */
}

/* ---- fusible sets ---- */

/* The nodes of a set by the values they produce, "a b; c d". */
static void sets_as_text(const PmGraph *g, const PmNodeSets *s, PmStr *out)
{
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		pm_str_add(out, i ? "; " : "");
		for (k = s->start[i]; k < s->start[i + 1]; k++)
			pm_str_addf(out, "%s%s", k == s->start[i] ? "" : " ",
				    pm_value_name(g, pm_node_out(g, s->nodes[k], 0)));
	}
}

static void want_sets(const char *text, const PmFusibleOpts *opts, const char *want)
{
	PmGraph *g = pm_test_graph(text);
	PmNodeSets s;
	PmStr got = PM_STR_INIT;

	assert_int_equal(pm_fusible_sets(g, opts, &s, NULL), PM_OK);
	sets_as_text(g, &s, &got);
	assert_string_equal(got.s, want);
	pm_str_release(&got);
	pm_node_sets_release(&s);
	pm_graph_free(g);
}

static void a_set_begins_at_a_contraction_and_takes_what_follows(void **state)
{
	(void)state;
	want_sets("m (float[4,4] x, float[4,4] w, float[4] b) => (float[4,4] y) {\n"
		  " p = Relu (x)\n q = Neg (p)\n m = MatMul (q, w)\n a = Add (m, b)\n r = Relu (a)\n"
		  " n = MatMul (r, w)\n y = Tanh (n) }",
		  NULL, "p q; m a r; n y");
}

static void ends_that_only_relabel_are_left_out(void **state)
{
	static const char text[] =
		"m (float[2,8] x, int64[2,8] k) => (float[16] y)\n<int64[1] to = {16}, int64[2] from = {8, "
		"2}> {\n"
		" a = Reshape (x, from)\n t = Transpose <perm = [1, 0]> (a)\n i = Unsqueeze <axes = [0]> "
		"(k)\n"
		" c = Cast <to = 1> (i)\n s = Squeeze <axes = [0]> (c)\n m = Mul (s, t)\n e = Exp (m)\n"
		" y = Reshape (e, to) }";
	PmFusibleOpts keep = { .keep_ends = 1 };

	(void)state;
	/* the view of the integers shapes a mask: it stays */
	want_sets(text, NULL, "i c s m e");
	want_sets(text, &keep, "a t i c s m e y");
}

static void views_that_select_stay(void **state)
{
	(void)state;
	want_sets("m (float[8] x) => (float[8] y) {\n"
		  " a = Slice <starts = [0], ends = [2], axes = [0], steps = [1]> (x)\n"
		  " b = Slice <starts = [2], ends = [8], axes = [0], steps = [1]> (x)\n"
		  " c = Concat <axis = 0> (b, a)\n y = Relu (c) }",
		  NULL, "a b c y");
}

static void one_kernel_cannot_become_fewer(void **state)
{
	static const char text[] = "m (float[8] x) => (float[2] y, float[8] z) {\n"
				   " a = Slice <starts = [0], ends = [2], axes = [0], steps = [1]> (x)\n"
				   " y = Relu (a)\n b = Neg (x)\n z = Exp (b) }";
	PmFusibleOpts any = { .min_launches = 1 };
	uint32_t launches[32];
	PmFusibleOpts counted = { .launches = launches };
	PmGraph *g = pm_test_graph(text);
	size_t i;

	(void)state;
	want_sets(text, NULL, "b z");
	want_sets(text, &any, "a y; b z");
	/* a slice that is copied is a kernel */
	assert_true(pm_graph_node_limit(g) <= 32);
	for (i = 0; i < 32; i++)
		launches[i] = 1;
	want_sets(text, &counted, "a y; b z");
	pm_graph_free(g);
}

/* Attention's last step: what is transposed must be copied to be reshaped, which a kernel can save. A weight
 * that is transposed, and views of what a set makes, launch nothing: they are the set's ends. */
static void a_view_that_must_copy_stays(void **state)
{
	static const char text[] =
		"m (float[2,6,4] p, float[4,2,3] v, float[5,6] w) => (float[30] y)\n"
		"<int64[3] to = {2, 6, 4}, int64[2] flat = {12, 4}, int64[2] rows = {6, 6}, int64[1] all = "
		"{30}> {\n"
		" h = Transpose <perm = [1, 0, 2]> (v)\n a = Reshape (p, flat)\n s = Reshape (a, to)\n"
		" m = MatMul (s, h)\n t = Transpose <perm = [1, 0, 2]> (m)\n c = Reshape (t, rows)\n"
		" u = Transpose <perm = [1, 0]> (w)\n n = MatMul (c, u)\n e = Relu (n)\n y = Reshape (e, "
		"all) }";
	PmGraph *g = pm_test_graph(text);
	uint32_t *launches = pm_xcalloc((size_t)pm_graph_node_limit(g) + 1, sizeof *launches);
	PmFusibleOpts counted = { .launches = launches };
	PmNodeSets sets;

	(void)state;
	assert_int_equal(pm_plan_count(g, launches, NULL), PM_OK);
	want_sets(text, &counted, "m t c; n e");
	assert_int_equal(pm_fusible_sets(g, &counted, &sets, NULL), PM_OK);
	assert_int_equal(sets.n_ends, 5); /* h, a and s of the first, u and y of the second */
	pm_node_sets_release(&sets);
	free(launches);
	pm_graph_free(g);
}

static void unknown_operators_end_a_set(void **state)
{
	(void)state;
	want_sets("<ir_version: 8, opset_import: [\"\" : 18, \"com.acme\" : 1]>\n"
		  "m (float[4] x) => (float[4] y)\n<float[4] o> {\n a = Relu (x)\n b = Neg (a)\n"
		  " o = \"com.acme:Thing\" (b)\n c = Exp (o)\n d = Abs (c)\n y = Add (d, b) }",
		  NULL, "a b; c d y");
}

static void sizes_that_are_computed_end_a_set(void **state)
{
	(void)state;
	want_sets("m (float[N,6] x, int64[2] to) => (float[A,B] c) {\n a = Relu (x)\n b = Neg (a)\n"
		  " c = Reshape (b, to) }",
		  NULL, "a b");
	want_sets("m (float[N,6] x) => (float[\"2*N\",3] c)\n<int64[2] to = {-1, 3}> {\n a = Relu (x)\n b = "
		  "Neg (a)\n"
		  " c = Reshape (b, to) }",
		  NULL, "a b"); /* 2*N is no operand's size */
}

static void long_chains_are_split_at_the_limit(void **state)
{
	PmStr s = PM_STR_INIT;
	PmGraph *g;
	PmNodeSets sets;
	int i;

	(void)state;
	pm_str_add(&s, "m (float[4] v0) => (float[4] v90) {\n");
	for (i = 1; i <= 90; i++)
		pm_str_addf(&s, "v%d = %s (v%d)\n", i, i % 2 ? "Relu" : "Neg", i - 1);
	pm_str_add(&s, "}");
	g = pm_test_graph(s.s);
	assert_int_equal(pm_fusible_sets(g, NULL, &sets, NULL), PM_OK);
	assert_int_equal(sets.n, 3);
	assert_int_equal(sets.start[1], 35);
	assert_int_equal(sets.start[2], 70);
	assert_int_equal(sets.start[3], 90);
	pm_node_sets_release(&sets);
	pm_graph_free(g);
	pm_str_release(&s);
}

static void random_sets_are_connected_convex_and_disjoint(void **state)
{
	PmRng rng;
	int round;
	size_t total = 0, nodes = 0;

	(void)state;
	pm_rng_init(&rng, 11);
	for (round = 0; round < 300; round++) {
		PmGraph *g = random_graph(&rng, 40);
		PmFusibleOpts opts = { .max_nodes = round % 3 ? 0 : 5,
				       .keep_ends = round % 2,
				       .min_launches = 1 };
		PmNodeSets s, again;
		PmCutter *c = NULL;
		Reach r;
		uint64_t used = 0;
		size_t i, j, k;

		reach(g, &r);
		nodes += r.n;
		assert_int_equal(pm_cutter_new(g, NULL, &c, NULL), PM_OK);
		assert_int_equal(pm_fusible_sets(g, &opts, &s, NULL), PM_OK);
		assert_int_equal(pm_fusible_sets(g, &opts, &again, NULL), PM_OK);
		assert_int_equal(s.n, again.n);
		for (i = 0; i < s.n; i++) {
			const PmNode *v = s.nodes + s.start[i];
			size_t n = s.start[i + 1] - s.start[i], dots = 0;
			uint64_t bits = bits_of(g, v, n);
			PmGraph *sub = NULL;

			assert_memory_equal(v, again.nodes + again.start[i], n * sizeof *v);
			assert_true(n >= 2 && n <= (opts.max_nodes ? opts.max_nodes : 35));
			assert_true(brute_connected(&r, bits));
			assert_true(brute_convex(&r, bits));
			assert_int_equal(bits & used, 0);
			used |= bits;
			for (k = 0; k < n; k++) {
				int dot = pm_node_op(g, v[k]) == PM_OP_MatMul;

				dots += dot;
				for (j = 0; j < n && dot; j++)
					assert_false(r.path[place_of(g, v[j])] >> place_of(g, v[k]) & 1);
			}
			assert_true(dots <= 1); /* and it reads nothing of its set */
			assert_int_equal(pm_cutter_cut(c, v, n, &sub, NULL), PM_OK);
			assert_int_equal(pm_graph_n_nodes(sub), n);
			assert_int_equal(pm_verify(sub, NULL), PM_OK);
			pm_graph_free(sub);
			total += n;
		}
		pm_node_sets_release(&s);
		pm_node_sets_release(&again);
		pm_cutter_free(c);
		pm_graph_free(g);
	}
	assert_true(total * 2 > nodes); /* most of the nodes are in some set */
}

/* ---- whole models ---- */

typedef struct Tally {
	const PmGraph *g;
	PmCutter *cutter;
	size_t n, bad;
	uint32_t *in; /* by node id: sets it is in */
	PmStr hashes;
} Tally;

static PmStatus tally(void *arg, const PmExtracted *e, PmErr *err)
{
	Tally *t = arg;
	size_t i;

	t->n++;
	t->bad += pm_verify(e->sub, err) != PM_OK;
	t->bad += pm_cutter_check(t->cutter, e->nodes, e->n, err) != PM_OK;
	t->bad += pm_graph_n_nodes(e->sub) != e->n || e->n < 2 || e->n > 35;
	for (i = 0; i < e->n; i++)
		t->in[e->nodes[i].id]++;
	pm_str_addf(&t->hashes, "%s\n", e->full);
	return PM_OK;
}

static void extract(const PmGraph *g, PmExtractSeen *seen, PmKindReport *rep, PmStr *hashes)
{
	PmExtractOpts opts = { .kinds = 1u << PM_KIND_FUSIBLE };
	PmExtractReport whole;
	Tally t = {
		g, NULL, 0, 0, pm_xcalloc((size_t)pm_graph_node_limit(g) + 1, sizeof *t.in), PM_STR_INIT
	};
	PmErr err;
	uint32_t i;
	size_t in_sets = 0;

	pm_err_init(&err);
	assert_int_equal(pm_cutter_new(g, NULL, &t.cutter, &err), PM_OK);
	if (pm_extract_model(g, &opts, seen, tally, &t, &whole, &err))
		fail_msg("%s", err.text);
	assert_int_equal(whole.n_nodes, pm_graph_n_nodes(g));
	*rep = whole.kind[PM_KIND_FUSIBLE];
	if (t.bad || rep->n_rejected)
		fail_msg("%zu bad, %zu rejected: %s %s", t.bad, rep->n_rejected, rep->why, err.text);
	for (i = 0; i <= pm_graph_node_limit(g); i++) {
		assert_true(t.in[i] <= 1);
		in_sets += t.in[i];
	}
	assert_int_equal(in_sets, rep->n_covered); /* counted independently */
	assert_int_equal(t.n, rep->n_found);
	if (hashes)
		pm_str_addn(hashes, t.hashes.s, t.hashes.len);
	pm_str_release(&t.hashes);
	pm_cutter_free(t.cutter);
	free(t.in);
}

static PmGraph *read_model(const char *path)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g;

	assert_int_equal(pm_read_file(path, 0, &text, NULL), PM_OK);
	g = pm_test_graph(text.s);
	pm_str_release(&text);
	return g;
}

static void bundled_models_give_the_same_counts(void **state)
{
	/* Nodes, subgraphs, different subgraphs, nodes in them: reviewed by hand; a change is to be
	 * explained. */
	static const struct {
		const char *name;
		size_t nodes, found, fresh, covered;
	} want[] = {
		{ "bert_encoder_layer", 45, 7, 5, 30 }, { "bge_pooling_head", 12, 1, 1, 12 },
		{ "llama_block", 80, 9, 9, 60 },        { "mobilenetv3_se_block", 15, 5, 5, 15 },
		{ "resnet_bottleneck", 12, 4, 4, 12 },  { "swin_block", 68, 6, 6, 55 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof want / sizeof want[0]; i++) {
		PmKindReport rep;
		PmGraph *g;
		char path[128];

		snprintf(path, sizeof path, "models/%s.gpt", want[i].name);
		g = read_model(path);
		extract(g, NULL, &rep, NULL);
		assert_int_equal(pm_graph_n_nodes(g), want[i].nodes);
		assert_int_equal(rep.n_found, want[i].found);
		assert_int_equal(rep.n_new, want[i].fresh);
		assert_int_equal(rep.n_covered, want[i].covered);
		pm_graph_free(g);
	}
}

static void random_graphs_of_all_operators_are_extracted(void **state)
{
	size_t nodes = 0, covered = 0;
	int k;

	(void)state;
	for (k = 0; k < 300; k++) {
		GenOpts o = { (uint64_t)k + 1, 10 + k % 90, 0, k % 3 == 1, k % 3 == 2, k % 2, 0 };
		PmGraph *g = gen_graph(&o);
		PmKindReport rep;

		extract(g, NULL, &rep, NULL);
		nodes += pm_graph_n_nodes(g);
		covered += rep.n_covered;
		pm_graph_free(g);
	}
	assert_true(covered * 3 > nodes);
}

static void names_do_not_count(void **state)
{
	PmPrintOpts renumber = { .renumber = 1 };
	PmGraph *g = read_model("models/bert_encoder_layer.gpt"), *other = NULL;
	PmStr text = PM_STR_INIT, a = PM_STR_INIT, b = PM_STR_INIT;
	PmExtractSeen seen;
	PmKindReport rep;

	(void)state;
	pm_extract_seen_init(&seen);
	extract(g, &seen, &rep, &a);
	assert_int_equal(pm_dedup_size(seen.kind[PM_KIND_FUSIBLE]), rep.n_new);
	assert_int_equal(pm_graph_print(g, &renumber, &text, NULL), PM_OK);
	other = pm_test_graph(text.s);
	extract(other, &seen, &rep, &b);
	assert_string_equal(a.s, b.s);
	assert_int_equal(rep.n_new, 0);
	pm_extract_seen_release(&seen);
	pm_str_release(&text);
	pm_str_release(&a);
	pm_str_release(&b);
	pm_graph_free(g);
	pm_graph_free(other);
}

static PmStatus add_line(void *arg, const PmExtracted *e, PmErr *err)
{
	(void)err;
	pm_str_addf(arg, "%s %s\n", pm_extract_kind(e->kind), e->full);
	return PM_OK;
}

static int by_text(const void *a, const void *b)
{
	return memcmp(a, b, 70); /* kind and most of the hash */
}

/* Kinds and hashes of everything found, sorted. */
static void found_in(const PmGraph *g, uint32_t kinds, PmStr *out)
{
	PmExtractOpts opts = { .kinds = kinds };
	PmErr err;

	pm_err_init(&err);
	if (pm_extract_model(g, &opts, NULL, add_line, out, NULL, &err))
		fail_msg("%s", err.text);
}

static void same_lines(PmStr *a, PmStr *b, size_t width, const char *what)
{
	assert_int_equal(a->len, b->len);
	qsort(a->s, a->len / width, width, by_text);
	qsort(b->s, b->len / width, width, by_text);
	if (a->len && memcmp(a->s, b->s, a->len))
		fail_msg("%s: what is found depends on how the graph is stored", what);
	pm_str_release(a);
	pm_str_release(b);
}

static void storage_does_not_count(void **state)
{
	static const char *const bundled[] = { "bert_encoder_layer", "llama_block", "swin_block",
					       "resnet_bottleneck" };
	int k, kind;

	(void)state;
	for (k = 0; k < 64; k++) {
		GenOpts o = { (uint64_t)k + 1, 60, 0, 0, 0, 1, 0 };
		char path[64];
		PmGraph *g, *d;

		snprintf(path, sizeof path, "models/%s.gpt", bundled[k % 4]);
		g = k < 32 ? read_model(path) : gen_graph(&o);
		d = gen_disguise(g, (uint64_t)k);
		for (kind = 0; kind < PM_KIND_SINGLE; kind++) {
			PmStr a = PM_STR_INIT, b = PM_STR_INIT;

			found_in(g, 1u << kind, &a);
			found_in(d, 1u << kind, &b);
			same_lines(&a, &b, strlen(pm_extract_kind((PmExtractKind)kind)) + 66,
				   pm_extract_kind((PmExtractKind)kind));
		}
		pm_graph_free(g);
		pm_graph_free(d);
	}
}

static void every_core_model_is_extracted(void **state)
{
	static const char dir[] = "../shared/models/core";
	PmNames names = { NULL, 0, 0 };
	PmExtractSeen seen;
	size_t i, nodes = 0, covered = 0, found = 0, fresh = 0;
	double took = 0;

	(void)state;
	pm_test_need_path(dir);
	assert_int_equal(pm_list_dir(dir, &names, NULL), PM_OK);
	pm_extract_seen_init(&seen);
	for (i = 0; i < names.n; i++) {
		PmStr path = PM_STR_INIT;
		PmGraph *g = NULL;
		PmKindReport rep;
		PmErr err;
		double t0;

		pm_path_join(dir, names.v[i], &path);
		if (!pm_str_ends(path.s, ".onnx") || pm_onnx_import(path.s, NULL, &g, NULL, &err)) {
			pm_str_release(&path);
			continue;
		}
		t0 = pm_now();
		extract(g, &seen, &rep, NULL);
		took += pm_now() - t0;
		nodes += pm_graph_n_nodes(g);
		covered += rep.n_covered;
		found += rep.n_found;
		fresh += rep.n_new;
		pm_graph_free(g);
		pm_str_release(&path);
	}
	print_message("# %zu models, %zu nodes, %zu subgraphs, %zu different, %.1f %% of the nodes, %.2f s\n",
		      names.n, nodes, found, fresh, 100.0 * (double)covered / (double)nodes, took);
	assert_true(found > 0);
	pm_names_release(&names);
	pm_extract_seen_release(&seen);
}

static PmStatus count_nodes(void *arg, const PmExtracted *e, PmErr *err)
{
	(void)err;
	*(size_t *)arg += e->n;
	return PM_OK;
}

static void time_is_near_linear(void **state)
{
	/* A chain whose first value is read by every node: a hub and long spans at once. */
	enum { N = 300000 };
	PmGraph *g = pm_graph_new(0);
	PmType t = pm_type(PM_F32, 1, (int64_t[]){ 4 });
	PmExtractOpts opts = { .kinds = 1u << PM_KIND_FUSIBLE };
	PmValue x, last, in[2];
	PmExtractReport whole;
	PmKindReport rep;
	PmNode n;
	double t0;
	size_t i, covered = 0;

	(void)state;
	assert_int_equal(pm_graph_add_input(g, "x", &t, &x, NULL), PM_OK);
	last = x;
	for (i = 0; i < N; i++) {
		in[0] = last;
		in[1] = x;
		assert_int_equal(pm_graph_add_node(g, PM_OP_Add, in, 2, 1, &n, NULL), PM_OK);
		last = pm_node_out(g, n, 0);
		pm_value_set_type(g, last, &t);
	}
	assert_int_equal(pm_graph_add_output(g, last, NULL), PM_OK);
	t0 = pm_now();
	assert_int_equal(pm_extract_model(g, &opts, NULL, count_nodes, &covered, &whole, NULL), PM_OK);
	rep = whole.kind[PM_KIND_FUSIBLE];
	t0 = pm_now() - t0;
	print_message("# %d nodes in %.2f s\n", N, t0);
	assert_int_equal(covered, N);
	assert_int_equal(rep.n_found, (N + 34) / 35);
	assert_int_equal(rep.n_new, 3); /* the first adds x to itself, the last one is shorter */
	assert_true(t0 < 60);           /* quadratic growth would take hours */
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(effects_and_open_sizes_are_not_cut),
		cmocka_unit_test(a_cut_has_what_crosses_its_border),
		cmocka_unit_test(larger_constants_stay_when_asked),
		cmocka_unit_test(scales_stay_constants),
		cmocka_unit_test(a_set_that_is_no_part_is_refused),
		cmocka_unit_test(a_path_out_and_back_is_found),
		cmocka_unit_test(checks_agree_with_brute_force),
		cmocka_unit_test(a_set_begins_at_a_contraction_and_takes_what_follows),
		cmocka_unit_test(ends_that_only_relabel_are_left_out),
		cmocka_unit_test(views_that_select_stay),
		cmocka_unit_test(one_kernel_cannot_become_fewer),
		cmocka_unit_test(a_view_that_must_copy_stays),
		cmocka_unit_test(unknown_operators_end_a_set),
		cmocka_unit_test(sizes_that_are_computed_end_a_set),
		cmocka_unit_test(long_chains_are_split_at_the_limit),
		cmocka_unit_test(random_sets_are_connected_convex_and_disjoint),
		cmocka_unit_test(bundled_models_give_the_same_counts),
		cmocka_unit_test(random_graphs_of_all_operators_are_extracted),
		cmocka_unit_test(names_do_not_count),
		cmocka_unit_test(storage_does_not_count),
		cmocka_unit_test(every_core_model_is_extracted),
		cmocka_unit_test(time_is_near_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
