/* SPDX-License-Identifier: Apache-2.0 */
/* test_extract_variants.c - other sizes and element types of a graph, and tasks made of them. */
#include "base/core/half.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "bench/inputs/inputs.h"
#include "dataset/store/tasks.h"
#include "extract/extract.h"
#include "extract/variants/variants.h"
#include "ir/canon/canon.h"
#include "ir/infer/infer.h"
#include "ir/onnx/onnx.h"
#include "ir/text/text.h"
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

/* Checks each variant on its own and collects what the cases ask about. */
typedef struct Look {
	const PmGraph *base;
	PmDedup *hashes;
	size_t n, ones, primes,
		odd; /* graphs with a dimension of 1, a prime over 2, one over 32 off 32's multiples */
	int max_shape;
	uint32_t dtypes;
	PmStr text; /* of the inputs and numbers, when asked for */
	int want_text;
} Look;

static int is_prime(int64_t x)
{
	int64_t k;

	for (k = 2; k * k <= x; k++) {
		if (x % k == 0)
			return 0;
	}
	return x > 2;
}

static void note_sizes(Look *l, const PmGraph *g)
{
	int one = 0, prime = 0, odd = 0, k;
	size_t i;

	for (i = 0; i < pm_graph_n_inputs(g); i++) {
		const PmType *t = pm_value_type(g, pm_graph_input(g, i));

		assert_true(pm_type_is_static(t));
		for (k = 0; k < t->rank; k++) {
			one |= t->dim[k] == 1;
			prime |= is_prime(t->dim[k]);
			odd |= t->dim[k] > 32 && t->dim[k] % 32;
		}
	}
	l->ones += (size_t)one;
	l->primes += (size_t)prime;
	l->odd += (size_t)odd;
}

static PmStatus look(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	Look *l = arg;
	PmPrintOpts opts = { .no_header = 1 };
	char full[PM_SHA256_HEX], sa[PM_SHA256_HEX], sb[PM_SHA256_HEX];
	size_t seen, i;

	if (pm_verify(g, err))
		return PM_E_INTERNAL;
	assert_int_equal(pm_canon_hash(g, PM_CANON_FULL, full, err), PM_OK);
	pm_dedup_add(l->hashes, full, &seen);
	assert_int_equal(seen, 1);
	assert_int_equal(pm_canon_hash(g, PM_CANON_STRUCTURE, sa, err), PM_OK);
	assert_int_equal(pm_canon_hash(l->base, PM_CANON_STRUCTURE, sb, err), PM_OK);
	assert_string_equal(sa, sb);
	assert_int_equal(pm_graph_n_nodes(g), pm_graph_n_nodes(l->base));
	for (i = 0; i < pm_graph_n_nodes(g); i++)
		assert_int_equal(pm_node_op(g, pm_graph_node_at(g, i)),
				 pm_node_op(l->base, pm_graph_node_at(l->base, i)));
	assert_true(strlen(label) > 0);
	note_sizes(l, g);
	l->n++;
	if (dtype >= 0)
		l->dtypes |= 1u << dtype;
	if (shape > l->max_shape)
		l->max_shape = shape;
	return l->want_text ? pm_graph_print(g, &opts, &l->text, err) : PM_OK;
}

static Look look_at(const PmGraph *g, const PmVariantOpts *opts, PmVariantReport *rep, int want_text)
{
	Look l = { g, pm_dedup_new(), 0, 0, 0, 0, 0, 0, PM_STR_INIT, want_text };
	PmErr err;

	pm_err_init(&err);
	if (pm_variants_make(g, opts, look, &l, rep, &err))
		fail_msg("%s", err.text);
	assert_int_equal(l.n, rep->n_made);
	pm_dedup_free(l.hashes);
	l.hashes = NULL;
	return l;
}

static void a_linear_layer_has_three_classes(void **state)
{
	PmGraph *g = pm_test_graph("m (float[8,32] x, float[32,16] w, float[16] b) => (float[8,16] y) {\n"
				   " t = MatMul (x, w)\n y = Add (t, b) }");
	PmVariantReport rep;
	Look l = look_at(g, NULL, &rep, 0);

	(void)state;
	assert_int_equal(rep.n_classes, 3); /* rows; inner; columns with the bias */
	assert_int_equal(rep.n_shapes, 10);
	assert_int_equal(l.max_shape, 9);
	assert_true(rep.n_spans >= 7); /* of size classes, of three dimensions */
	assert_int_equal(rep.n_made, 30);
	assert_int_equal(l.dtypes, 1u << PM_F32 | 1u << PM_F16 | 1u << PM_BF16);
	assert_true(l.ones >= 3 && l.primes >= 3 && l.odd >= 3);
	pm_str_release(&l.text);
	pm_graph_free(g);
}

static void equal_sizes_do_not_make_one_class(void **state)
{
	/* all 64: rows of w go with x, its columns with the bias, the residual and the norm */
	PmGraph *g = pm_test_graph(
		"m (float[2,64] x, float[64,64] w, float[64] b, float[2,64] r, float[64] s, float[64] t)"
		" => (float[2,64] y) {\n m = MatMul (x, w)\n a = Add (m, b)\n c = Add (a, r)\n"
		" y = LayerNormalization <axis = 1> (c, s, t) }");
	PmVariantReport rep;
	Look l = look_at(g, NULL, &rep, 0);

	(void)state;
	assert_int_equal(rep.n_classes, 3);
	pm_str_release(&l.text);
	pm_graph_free(g);
}

static void numbers_follow_the_sizes(void **state)
{
	static const struct {
		const char *graph, *op;
		size_t classes;
	} cases[] = {
		/* heads: [B,S,768] to [B,S,12,64] and back */
		{ "m (float[2,16,768] x, float[2,16,768] z) => (float[2,16,768] y)\n"
		  "<int64[4] split = {2, 16, 12, 64}, int64[3] join = {2, 16, 768}> {\n"
		  " a = Reshape (x, split)\n b = Relu (a)\n c = Reshape (b, join)\n y = Add (c, z) }",
		  "Reshape", 3 },
		/* "0" as operand 0 has it; with allowzero, numbers follow all the same */
		{ "m (float[2,16,24] x) => (float[2,4,96] y)\n<int64[3] to = {0, 4, 96}> {\n"
		  " a = Relu (x)\n y = Reshape (a, to) }",
		  "Reshape with 0", 3 },
		{ "m (float[2,5,16] x, float[80,2] w) => (float[2,2] y)\n<int64[2] to = {2, 80}> {\n"
		  " a = Relu (x)\n b = Reshape <allowzero = 1> (a, to)\n y = MatMul (b, w) }",
		  "Reshape with allowzero", 3 },
		/* a roll, and the halves of a rotary embedding */
		{ "m (float[4,16] x) => (float[4,16] y) {\n"
		  " a = Slice <starts = [0], ends = [8], axes = [1], steps = [1]> (x)\n"
		  " b = Slice <starts = [8], ends = [16], axes = [1], steps = [1]> (x)\n"
		  " n = Neg (b)\n r = Concat <axis = 1> (n, a)\n y = Add (r, x) }",
		  "Slice", 2 },
		{ "m (float[4,96] x) => (float[4,32] y) {\n"
		  " a, b, c = Split <axis = 1, split = [32, 32, 32]> (x)\n"
		  " d = Mul (a, b)\n y = Add (d, c) }",
		  "Split", 2 },
		{ "m (float[3,1] x, float[3,20] z) => (float[3,20] y)\n<int64[2] to = {3, 20}> {\n"
		  " e = Expand (x, to)\n y = Mul (e, z) }",
		  "Expand", 2 },
		/* indices that are constants pin the rows they may name */
		{ "m (float[3,8] x) => (float[1,8] y)\n<int64[1] k = {2}> {\n"
		  " e = Gather <axis = 0> (x, k)\n y = Relu (e) }",
		  "Gather", 2 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		PmGraph *g = pm_test_graph(cases[i].graph);
		PmVariantReport rep;
		Look l = look_at(g, NULL, &rep, 0);

		if (rep.n_classes != cases[i].classes || rep.n_shapes < 4)
			fail_msg("%s: %zu classes, %zu shapes", cases[i].op, rep.n_classes, rep.n_shapes);
		pm_str_release(&l.text);
		pm_graph_free(g);
	}
}

/* Nothing that constant or computed indices pick from becomes smaller than it was: 64 rows. */
static void known_indices_stay_inside(void **state)
{
	static const char *const picks[] = {
		"e = Gather <axis = 0> (x, k)",
		"j = Add (k, z)\n e = Gather <axis = 0> (x, j)",
		"j = Unsqueeze <axes = [1]> (k)\n e = GatherND <batch_dims = 0> (x, j)",
		"j = Unsqueeze <axes = [1]> (k)\n i = Expand (j, to)\n e = GatherElements <axis = 0> (x, i)",
	};
	PmVariantOpts opts = { .n_shapes = 8, .dtypes = 1u << PM_F32, .seed = 3 };

	(void)state;
	for (size_t i = 0; i < sizeof picks / sizeof picks[0]; i++) {
		PmStr text = PM_STR_INIT;
		PmVariantReport rep;
		PmGraph *g;
		Look l;
		int n = 0;

		pm_str_addf(&text,
			    "m (float[64,48] x) => (float[4,48] y)\n<int64[4] k = {63, 3, 17, 40}, int64[4] "
			    "z = {0, 0, 0, "
			    "0}, int64[2] to = {4, 48}> {\n %s\n y = Relu (e) }",
			    picks[i]);
		g = pm_test_graph(text.s);
		l = look_at(g, &opts, &rep, 1);
		for (const char *p = l.text.s; (p = strstr(p, "m (float[")) != NULL; p++, n++)
			if (atoi(p + 9) < 64)
				fail_msg("%s: the table shrinks: %.40s", picks[i], p);
		assert_true(n >= 2);
		pm_str_release(&l.text);
		pm_str_release(&text);
		pm_graph_free(g);
	}
}

static void more_heads_rather_than_other_widths(void **state)
{
	PmGraph *g = pm_test_graph("m (float[2,768] x) => (float[2,12,64] y)\n<int64[3] to = {2, 12, 64}> {\n"
				   " a = Relu (x)\n y = Reshape (a, to) }");
	PmVariantOpts opts = { .n_shapes = 6, .dtypes = 1u << PM_F32, .seed = 3 };
	PmVariantReport rep;
	Look l = look_at(g, &opts, &rep, 1);
	const char *p;
	int wide = 0;

	(void)state;
	for (p = l.text.s; (p = strstr(p, ",64] y")) != NULL; p++)
		wide++;
	assert_true(rep.n_shapes >= 4);
	assert_true(wide >= 3); /* the head's width stayed in most */
	pm_str_release(&l.text);
	pm_graph_free(g);
}

static void a_batch_of_one_is_not_turned_into_broadcasting(void **state)
{
	/* x has no dimension of one: growing r alone would still be valid */
	PmGraph *g = pm_test_graph(
		"m (float[16,8] x, float[1,16,8] r) => (float[1,16,8] y)\n<int64[3] to = {1, 16, 8}> {\n"
		" a = Reshape (x, to)\n b = Relu (a)\n y = Add (b, r) }");
	PmGraph *both = pm_test_graph(
		"m (float[1,16,8] x, float[1,16,8] r) => (float[1,16,8] y) {\n b = Relu (x)\n"
		" y = Add (b, r) }");
	PmVariantReport rep;
	Look l = look_at(g, NULL, &rep, 0);

	(void)state;
	assert_int_equal(rep.n_classes, 2);
	pm_str_release(&l.text);
	l = look_at(both, NULL, &rep, 0);
	assert_int_equal(rep.n_classes, 3);
	pm_str_release(&l.text);
	pm_graph_free(g);
	pm_graph_free(both);
}

static PmStatus keep_one(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	(void)label;
	(void)shape;
	(void)dtype;
	return pm_graph_clone(g, arg, err);
}

static void element_types_change_with_their_constants(void **state)
{
	PmGraph *g = pm_test_graph(
		"m (float[4] x, int64[4] k) => (float[4] y)\n"
		"<float fill = {-3.4e38}, float eps = {1e-12}, float third = {0.333333343}> {\n"
		" c = Cast <to = 1> (k)\n a = Add (x, fill)\n b = Max (a, eps)\n d = Mul (b, third)\n"
		" y = Add (d, c) }");
	PmVariantOpts opts = { .n_shapes = 1, .dtypes = 1u << PM_F16, .seed = 0 };
	PmGraph *v = NULL;
	double x[1];
	size_t n, i;

	(void)state;
	assert_int_equal(pm_variants_make(g, &opts, keep_one, &v, NULL, NULL), PM_OK);
	assert_int_equal(pm_value_type(v, pm_graph_input(v, 0))->dtype, PM_F16);
	assert_int_equal(pm_value_type(v, pm_graph_input(v, 1))->dtype, PM_I64);
	for (i = 0; i < 4; i++) {
		PmNode node = pm_graph_node_at(v, i + 1);

		if (i == 3) {
			node = pm_graph_node_at(v, 0);
			assert_int_equal(pm_node_i(v, node, "to", 0), pm_dtype_to_onnx(PM_F16));
			break;
		}
		assert_int_equal(pm_value_const_floats(v, pm_node_in(v, node, 1), x, 1, &n), PM_OK);
		assert_true(x[0] == (i == 0   ? -65504.0
				     : i == 1 ? 5.9604644775390625e-08
					      : pm_f16_to_f64(pm_f16_from_f64((double)0.333333343f))));
	}
	pm_graph_free(v);
	pm_graph_free(g);
}

/* The element type of an input of the variant in `to`. */
static int dtype_of(const PmGraph *g, const char *input)
{
	return pm_value_type(g, pm_graph_find_value(g, input))->dtype;
}

static void operands_of_their_own_type_keep_it(void **state)
{
	PmGraph *g = pm_test_graph(
		"m (float[2,3,4,4] x, float[3] s, float[3] b, float[3] m, float[3] v, float[3] k) => "
		"(float[2,3,8,8] y, float[2,3,4,4] z)\n<float[4] by = {1, 1, 2, 2}> {\n"
		" n = BatchNormalization (x, s, b, m, v)\n r = Relu (n)\n"
		" y = Resize <mode = \"nearest\"> (r, , by)\n"
		" z = BatchNormalization (r, k, k, m, v) }");
	PmGraph *mixed = pm_test_graph(
		"m (float[2,3] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3] y) {\n"
		" t = Exp (s)\n n = BatchNormalization (x, t, b, m, v)\n y = Relu (n) }");
	PmVariantOpts opts = { .n_shapes = 1, .dtypes = 1u << PM_F16, .seed = 0 };
	char once[PM_SHA256_HEX], twice[PM_SHA256_HEX];
	PmGraph *v = NULL, *again = NULL;

	(void)state;
	assert_int_equal(pm_variants_make(g, &opts, keep_one, &v, NULL, NULL), PM_OK);
	assert_int_equal(dtype_of(v, "x"), PM_F16);
	assert_int_equal(dtype_of(v, "s"), PM_F32);
	assert_int_equal(dtype_of(v, "v"), PM_F32);
	assert_int_equal(dtype_of(v, "by"), PM_F32);
	assert_int_equal(dtype_of(v, "y"), PM_F16);
	/* a second time changes nothing */
	assert_int_equal(pm_variants_make(v, &opts, keep_one, &again, NULL, NULL), PM_OK);
	assert_int_equal(pm_canon_hash(v, PM_CANON_FULL, once, NULL), PM_OK);
	assert_int_equal(pm_canon_hash(again, PM_CANON_FULL, twice, NULL), PM_OK);
	assert_string_equal(once, twice);
	pm_graph_free(again);
	pm_graph_free(v);
	/* a scale that is computed follows, and its bias with it */
	assert_int_equal(pm_variants_make(mixed, &opts, keep_one, &v, NULL, NULL), PM_OK);
	assert_int_equal(dtype_of(v, "x"), PM_F16);
	assert_int_equal(dtype_of(v, "s"), PM_F16);
	assert_int_equal(dtype_of(v, "b"), PM_F16);
	pm_graph_free(v);
	pm_graph_free(mixed);
	pm_graph_free(g);
}

static void symbols_get_numbers(void **state)
{
	PmGraph *g = pm_test_graph(
		"m (float[N,S,8] x, float[S,8] p) => (float[N,S,8] y) {\n a = Add (x, p)\n y = Relu (a) }");
	PmVariantReport rep;
	PmGraph *v = NULL;
	PmVariantOpts one = { .n_shapes = 1, .dtypes = 1u << PM_F32, .seed = 0 };
	Look l = look_at(g, NULL, &rep, 0);

	(void)state;
	assert_int_equal(rep.n_classes, 3);
	assert_int_equal(pm_variants_make(g, &one, keep_one, &v, NULL, NULL), PM_OK);
	assert_int_equal(pm_value_type(v, pm_graph_input(v, 0))->dim[0], 4);
	assert_int_equal(pm_value_type(v, pm_graph_input(v, 0))->dim[1], 16);
	assert_int_equal(pm_value_type(v, pm_graph_input(v, 1))->dim[0], 16);
	pm_graph_free(v);
	pm_str_release(&l.text);
	pm_graph_free(g);
}

static void what_cannot_have_variants_says_so(void **state)
{
	PmGraph *g = pm_test_graph(
		"m (float[4] x, int64[2] to) => (float[A,B] y) {\n a = Relu (x)\n y = Reshape (a, to) }");
	PmGraph *ints = pm_test_graph("m (int64[4] x) => (int64[4] y) {\n a = Neg (x)\n y = Abs (a) }");
	PmVariantOpts many = { .n_shapes = 65, .dtypes = 0, .seed = 0 };
	PmVariantReport rep;
	PmErr err;
	PmGraph *v = NULL;
	Look l;

	(void)state;
	assert_int_equal(pm_variants_make(g, NULL, keep_one, &v, NULL, &err), PM_E_SHAPE);
	assert_non_null(strstr(err.text, "Graph 'm'"));
	assert_int_equal(pm_variants_make(ints, &many, keep_one, &v, NULL, &err), PM_E_LIMIT);
	l = look_at(ints, NULL, &rep, 0); /* no floating point: shapes only */
	assert_int_equal(rep.n_made, rep.n_shapes);
	assert_int_equal(l.dtypes, 0);
	pm_str_release(&l.text);
	pm_graph_free(g);
	pm_graph_free(ints);
}

static void the_same_options_give_the_same_variants(void **state)
{
	PmGraph *g = pm_test_graph(
		"m (float[8,32] x, float[32] b) => (float[8,32] y) {\n t = Add (x, b)\n y = Relu (t) }");
	PmVariantOpts opts = { .n_shapes = 9, .dtypes = 0, .seed = 5 };
	PmVariantReport rep;
	Look a = look_at(g, &opts, &rep, 1), b = look_at(g, &opts, &rep, 1), c;

	(void)state;
	opts.seed = 6;
	c = look_at(g, &opts, &rep, 1);
	assert_string_equal(a.text.s, b.text.s);
	assert_string_not_equal(a.text.s, c.text.s);
	pm_str_release(&a.text);
	pm_str_release(&b.text);
	pm_str_release(&c.text);
	pm_graph_free(g);
}

/* ---- subgraphs of models ---- */

typedef struct Sum {
	size_t subgraphs, varied, shapes, made, tried, unsized;
	size_t ones, primes, odd;
	double slowest;
	int every, skip; /* look at one new subgraph in `every` */
} Sum;

static PmStatus vary(void *arg, const PmExtracted *e, PmErr *err)
{
	Sum *s = arg;
	Look l = { e->sub, NULL, 0, 0, 0, 0, 0, 0, PM_STR_INIT, 0 };
	PmVariantReport rep;
	PmStatus st;
	double t0 = pm_now();

	if (e->seen > 1 || s->skip++ % s->every)
		return PM_OK;
	l.hashes = pm_dedup_new();
	st = pm_variants_make(e->sub, NULL, look, &l, &rep, err);
	pm_dedup_free(l.hashes);
	if (st == PM_E_SHAPE) {
		s->unsized++;
		return PM_OK;
	}
	t0 = pm_now() - t0;
	if (t0 > s->slowest)
		s->slowest = t0;
	s->subgraphs++;
	s->varied += rep.n_shapes > 1;
	s->shapes += rep.n_shapes;
	s->made += rep.n_made;
	s->tried += rep.n_tried;
	s->ones += l.ones > 0;
	s->primes += l.primes > 0;
	s->odd += l.odd > 0;
	return st;
}

static void vary_model(const PmGraph *g, PmExtractSeen *seen, Sum *s)
{
	PmExtractOpts opts = { .kinds = 1u << PM_KIND_FUSIBLE };
	PmErr err;

	pm_err_init(&err);
	if (pm_extract_model(g, &opts, seen, vary, s, NULL, &err))
		fail_msg("%s", err.text);
}

static void show(const char *what, const Sum *s, double took)
{
	print_message("# %s: %zu subgraphs, %zu with other shapes, %zu shapes, %zu graphs, %zu tried, %zu "
		      "without sizes; "
		      "with a 1, a prime, an odd size: %zu %zu %zu; %.2f s, slowest %.2f s\n",
		      what, s->subgraphs, s->varied, s->shapes, s->made, s->tried, s->unsized, s->ones,
		      s->primes, s->odd, took, s->slowest);
}

static void bundled_subgraphs_all_vary(void **state)
{
	PmNames names = { NULL, 0, 0 };
	PmExtractSeen seen;
	Sum s = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0 };
	double t0 = pm_now();
	size_t i;

	(void)state;
	pm_extract_seen_init(&seen);
	assert_int_equal(pm_list_dir("models", &names, NULL), PM_OK);
	for (i = 0; i < names.n; i++) {
		PmStr path = PM_STR_INIT, text = PM_STR_INIT;
		PmGraph *g;

		pm_path_join("models", names.v[i], &path);
		if (pm_str_ends(path.s, ".gpt")) {
			assert_int_equal(pm_read_file(path.s, 0, &text, NULL), PM_OK);
			g = pm_test_graph(text.s);
			vary_model(g, &seen, &s);
			pm_graph_free(g);
		}
		pm_str_release(&path);
		pm_str_release(&text);
	}
	show("bundled", &s, pm_now() - t0);
	assert_true(s.subgraphs >= 25);
	assert_int_equal(s.unsized, 0);
	assert_int_equal(s.varied, s.subgraphs);
	assert_int_equal(s.ones, s.subgraphs);
	assert_true(s.shapes >= 7 * s.subgraphs);
	pm_names_release(&names);
	pm_extract_seen_release(&seen);
}

static void core_subgraphs_vary(void **state)
{
	static const char dir[] = "../shared/models/core";
	PmNames names = { NULL, 0, 0 };
	PmExtractSeen seen;
	Sum s = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0 };
	double t0 = pm_now();
	size_t i;

	(void)state;
	pm_test_need_path(dir);
	if (getenv("PM_TEST_ALL"))
		s.every = 1;
	pm_extract_seen_init(&seen);
	assert_int_equal(pm_list_dir(dir, &names, NULL), PM_OK);
	for (i = 0; i < names.n; i++) {
		PmStr path = PM_STR_INIT;
		PmGraph *g = NULL;

		pm_path_join(dir, names.v[i], &path);
		if (pm_str_ends(path.s, ".onnx") && pm_onnx_import(path.s, NULL, &g, NULL, NULL) == PM_OK) {
			vary_model(g, &seen, &s);
			pm_graph_free(g);
		}
		pm_str_release(&path);
	}
	show("core", &s, pm_now() - t0);
	assert_true(s.varied * 10 >= s.subgraphs * 9);
	pm_names_release(&names);
	pm_extract_seen_release(&seen);
}

static void random_subgraphs_vary(void **state)
{
	PmExtractSeen seen;
	Sum s = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0 };
	double t0 = pm_now();
	int k;

	(void)state;
	pm_extract_seen_init(&seen);
	for (k = 0; k < 60; k++) {
		GenOpts o = { (uint64_t)k + 1, 20 + k % 40, 0, 0, k % 3 == 2, k % 2, 0 };
		PmGraph *g = gen_graph(&o);

		vary_model(g, &seen, &s);
		pm_graph_free(g);
	}
	show("random", &s, pm_now() - t0);
	assert_true(s.subgraphs > 100);
	assert_true(s.varied * 4 >= s.subgraphs * 3);
	pm_extract_seen_release(&seen);
}

/* ---- tasks ---- */

static PmStatus count_member(void *arg, const PmVariantRow *row, PmErr *err)
{
	PmGraph *g = NULL;
	PmStatus st = pm_graph_parse(row->text, strlen(row->text), &g, err);

	*(size_t *)arg += st == PM_OK;
	pm_graph_free(g);
	return st;
}

static void a_task_is_made_of_a_subgraph(void **state)
{
	PmGraph *g = pm_test_graph(
		"m (float[8,32] x) => (float[8,32] y) {\n t = Sigmoid (x)\n y = Mul (x, t) }");
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmDb *db = NULL;
	int64_t id[2];
	int is_new, k;
	size_t n = 0;

	(void)state;
	assert_int_equal(pm_temp_dir("task", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "t.db", &path);
	assert_int_equal(pm_db_open(path.s, 0, &db, NULL), PM_OK);
	for (k = 0; k < 2; k++) {
		PmTaskBuilder *b = pm_task_begin("silu", "fusible");

		assert_int_equal(pm_variants_make(g, NULL, pm_task_add, b, NULL, NULL), PM_OK);
		assert_int_equal(pm_task_end(b, db, &id[k], &is_new, NULL), PM_OK);
		assert_int_equal(is_new, k == 0);
	}
	assert_int_equal(id[0], id[1]);
	assert_int_equal(pm_task_variants_each(db, id[0], count_member, &n, NULL), PM_OK);
	assert_int_equal(n, 30);
	pm_db_close(db);
	assert_int_equal(pm_remove_tree(dir.s, NULL), PM_OK);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_graph_free(g);
}

/* The reference runs a variant on inputs of every class that are drawn as an evaluation draws them. */
static PmStatus run_by_reference(void *arg, const PmGraph *g, const char *label, int shape, int dtype,
				 PmErr *err)
{
	size_t n = pm_graph_n_inputs(g);
	PmTensor *in = pm_xcalloc(n + 1, sizeof *in);
	int *made = arg;

	(void)shape;
	(void)dtype;
	for (int c = 0; c < PM_N_ALL_CLASSES; c++) {
		PmReached r;

		assert_int_equal(pm_inputs_make(g, 11, (PmInputClass)c, in, err), PM_OK);
		if (pm_reach(g, in, 0, &r, NULL, err))
			fail_msg("%s, class %s: %s", label, pm_input_class_name((PmInputClass)c), r.why);
		pm_tensors_release(in, n);
	}
	free(in);
	++*made;
	return PM_OK;
}

/* Indices that a graph computes do not follow the sizes: a table of 514 rows stays long enough for positions,
 * and one of three for a type that is 1 - mask. */
static void computed_indices_stay_on_their_axis(void **state)
{
	static const char *const text[] = {
		"g (int64[4,16] mask, float[514,8] places) => (float[4,16,8] y)\n"
		"<int64 one = {1}, int64 axis = {1}> {\n"
		"c = CumSum(mask, axis)\n m = Mul(c, mask)\n t = Add(m, one)\n"
		"e = Gather<axis = 0>(places, t)\n y = Tanh(e) }",
		"g (int64[4,16] mask, float[3,8] types) => (float[4,16,8] y)\n<int64 one = {1}> {\n"
		"t = Sub(one, mask)\n e = Gather<axis = 0>(types, t)\n y = Tanh(e) }",
		"g (int64[4,16] kind, float[3,8] types) => (float[4,16,8] y)\n<int64 two = {2}> {\n"
		"t = Sub(kind, two)\n e = Gather<axis = 0>(types, t)\n y = Tanh(e) }",
	};

	(void)state;
	for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
		PmVariantOpts o = { .n_shapes = 12, .max_elements = 1 << 14, .seed = 3 };
		PmGraph *g = pm_test_graph(text[i]);
		int made = 0;
		PmErr err;

		pm_err_init(&err);
		if (pm_variants_make(g, &o, run_by_reference, &made, NULL, &err))
			fail_msg("%s", err.text);
		assert_true(made >= 24);
		pm_graph_free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_linear_layer_has_three_classes),
		cmocka_unit_test(equal_sizes_do_not_make_one_class),
		cmocka_unit_test(numbers_follow_the_sizes),
		cmocka_unit_test(known_indices_stay_inside),
		cmocka_unit_test(computed_indices_stay_on_their_axis),
		cmocka_unit_test(more_heads_rather_than_other_widths),
		cmocka_unit_test(a_batch_of_one_is_not_turned_into_broadcasting),
		cmocka_unit_test(element_types_change_with_their_constants),
		cmocka_unit_test(operands_of_their_own_type_keep_it),
		cmocka_unit_test(symbols_get_numbers),
		cmocka_unit_test(what_cannot_have_variants_says_so),
		cmocka_unit_test(the_same_options_give_the_same_variants),
		cmocka_unit_test(bundled_subgraphs_all_vary),
		cmocka_unit_test(core_subgraphs_vary),
		cmocka_unit_test(random_subgraphs_vary),
		cmocka_unit_test(a_task_is_made_of_a_subgraph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
