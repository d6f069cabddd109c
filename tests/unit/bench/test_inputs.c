/* SPDX-License-Identifier: Apache-2.0 */
/* test_inputs.c - inputs get values that are legal for what the graph does with them. */
#include "base/core/hash.h"
#include "base/sys/threads.h"
#include "bench/inputs/inputs.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void roles_follow_the_uses(void **state)
{
	static const struct {
		const char *body, *role;
	} cases[] = {
		{ "(float[4,8] x) => (float[4,8] y) { y = Sqrt(x) }", "variance" },
		{ "(float[4,8] x) => (float[4,8] y) { t = Unsqueeze<axes=[0]>(x)\n s = "
		  "Squeeze<axes=[0]>(t)\n y = Log(s) }",
		  "variance" },
		{ "(int64[4] x, float[7,8] w) => (float[4,8] y) { y = Gather<axis=0>(w, x) }", "index" },
		{ "(int64[4] x, float[7,3,5,5] w, float[4,4] r) => (float[4,3,1,1] y) { y = RoiAlign(w, r, "
		  "x) }",
		  "index" },
		{ "(float x, float[4] a) => (uint8[4] y) { y = QuantizeLinear(a, x) }", "variance" },
		{ "(int64[4] x) => (float[4] y) <float one = {1}> { f = Cast<to=1>(x)\n y = Sub(one, f) }",
		  "mask" },
		{ "(float[4] x) => (float[4] y) <float c = {-3e38}> { y = Mul(x, c) }", "inverted mask" },
		{ "(bool[4] x) => (bool[4] y) { y = Not(x) }", "mask" },
		{ "(float[4,8] x, float[4,8] a) => (float[4,8] y) { y = MatMul(a, t)\n t = "
		  "Transpose<perm=[1,0]>(x)\n }",
		  "weight" },
		{ "(float[1,8] attention_mask, float[4,8] s) => (float[4,8] y) { t = Add(s, attention_mask)\n"
		  " y = Softmax<axis=1>(t) }",
		  "additive mask" },
		{ "(float[4] x) => (float[4] y) { y = Exp(x) }", "data" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[400];
		PmGraph *g;
		int64_t limit;
		const char *role;

		snprintf(text, sizeof text, "g %s", cases[i].body);
		if (strstr(text, "(float[4,8] y) { y = MatMul"))
			memcpy(strstr(text, "(float[4,8] y)"), "(float[4,4] y)", 14);
		g = pm_test_graph(text);
		role = pm_input_role_name(pm_input_role(g, pm_graph_input(g, 0), &limit));
		if (strcmp(role, cases[i].role))
			fail_msg("%s: drawn as %s, not %s", text, role, cases[i].role);
		if (!strcmp(role, "index"))
			assert_int_equal(limit, 7);
		pm_graph_free(g);
	}
}

static void drawn_values_are_legal_in_every_class(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[5,9] v, int64[40] i, bool[3,7] m, float16[5] h) => (float[5,9] a, float[40] b, "
		"bool[3,7] c, float16[5] d) <float[3] w = {1, 2, 3}> { a = Sqrt(v)\n b = Gather<axis=0>(w, "
		"i)\n"
		" c = Not(m)\n d = Exp(h) }");
	PmTensor t[4];

	(void)state;
	for (int cls = 0; cls < PM_N_INPUT_CLASSES; cls++) {
		int seen[3] = { 0 };

		assert_int_equal(pm_inputs_make(g, 3, (PmInputClass)cls, t, NULL), PM_OK);
		for (int64_t k = 0; k < 45; k++)
			assert_true(pm_tensor_get(&t[0], k) > 0);
		for (int64_t k = 0; k < 40; k++) {
			int64_t v = pm_tensor_get_i(&t[1], k);

			assert_true(v >= 0 && v < 3);
			seen[v] = 1;
		}
		assert_true(seen[0] && seen[1] && seen[2]);
		for (int64_t row = 0; row < 3; row++)
			assert_true(pm_tensor_get_i(&t[2], row * 7)); /* no row is masked away whole */
		for (int64_t k = 0; k < 5; k++)
			assert_true(isfinite(pm_tensor_get(&t[3], k)));
		pm_tensors_release(t, 4);
	}
	pm_graph_free(g);
}

static void a_law_decides_the_first_class(void **state)
{
	PmGraph *g = pm_test_graph(
		"<ir_version: 8, opset_import: [\"\" : 18], metadata_props: [\"input_law.x\": "
		"\"uniform(5, 6)\"]> g (float[300,300] x, float[64] z) => (float[300,300] y, "
		"float[64] w) { y = Relu(x)\n w = Relu(z) }");
	PmGraph *plain = pm_test_graph("g (float[300,300] x, float[64] z) => (float[300,300] y, float[64] w) "
				       "{ y = Relu(x)\n w = Relu(z) }");
	PmTensor t[2], was[2], some;

	(void)state;
	for (int cls = 0; cls < PM_N_ALL_CLASSES; cls++) {
		assert_int_equal(pm_inputs_make(g, 3, (PmInputClass)cls, t, NULL), PM_OK);
		assert_int_equal(pm_inputs_make(plain, 3, (PmInputClass)cls, was, NULL), PM_OK);
		if (cls != PM_INPUTS_NORMAL)
			assert_memory_equal(t[0].data, was[0].data, t[0].bytes);
		for (int64_t k = 0; k < 90000 && cls == PM_INPUTS_NORMAL; k++)
			assert_true(pm_tensor_get(&t[0], k) >= 5 && pm_tensor_get(&t[0], k) < 6);
		assert_memory_equal(t[1].data, was[1].data, t[1].bytes);
		pm_tensors_release(t, 2);
		pm_tensors_release(was, 2);
	}
	/* What is timed is drawn so as well. */
	assert_int_equal(pm_inputs_draw(g, 0, 3, PM_INPUTS_NORMAL, 1000, &some, NULL), PM_OK);
	for (int64_t k = 0; k < 1000; k++)
		assert_true(pm_tensor_get(&some, k) >= 5 && pm_tensor_get(&some, k) < 6);
	pm_tensor_release(&some);
	pm_graph_free(plain);
	pm_graph_free(g);
}

static void the_seed_and_the_class_decide(void **state)
{
	PmGraph *g = pm_test_graph("g (float[64] x, float[64] z) => (float[64] y) { y = Add(x, z) }");
	PmTensor a[2], b[2], c[2], d[2];

	(void)state;
	assert_int_equal(pm_inputs_make(g, 1, PM_INPUTS_NORMAL, a, NULL), PM_OK);
	assert_int_equal(pm_inputs_make(g, 1, PM_INPUTS_NORMAL, b, NULL), PM_OK);
	assert_int_equal(pm_inputs_make(g, 2, PM_INPUTS_NORMAL, c, NULL), PM_OK);
	assert_int_equal(pm_inputs_make(g, 1, PM_INPUTS_SPARSE, d, NULL), PM_OK);
	assert_memory_equal(a[0].data, b[0].data, a[0].bytes);
	assert_memory_not_equal(a[0].data, c[0].data, a[0].bytes);
	assert_memory_not_equal(a[0].data, a[1].data, a[0].bytes);
	assert_memory_not_equal(a[0].data, d[0].data, a[0].bytes);
	pm_tensors_release(a, 2);
	pm_tensors_release(b, 2);
	pm_tensors_release(c, 2);
	pm_tensors_release(d, 2);
	pm_graph_free(g);
}

/* Those that are wanted are what they are among all; of the others nothing is made. */
static void some_inputs_are_those_of_all(void **state)
{
	static const char wanted[3] = { 0, 1, 0 };
	PmGraph *g = pm_test_graph("g (float[64,64] w, bool[4,64] mask, float[4,64] x) => (float[4,64] y) {\n"
				   "  h = MatMul(x, w)\n  y = Where(mask, h, x)\n}");
	PmTensor all[3], some[3];

	(void)state;
	assert_int_equal(pm_inputs_make(g, 3, PM_INPUTS_NORMAL, all, NULL), PM_OK);
	assert_int_equal(pm_inputs_make_some(g, 3, PM_INPUTS_NORMAL, wanted, some, NULL), PM_OK);
	for (int i = 0; i < 3; i++) {
		assert_true(pm_type_equal(&some[i].type, &all[i].type));
		assert_int_equal(some[i].bytes, wanted[i] ? all[i].bytes : 0);
		if (wanted[i])
			assert_memory_equal(some[i].data, all[i].data, all[i].bytes);
		else
			assert_null(some[i].data);
	}
	pm_tensors_release(all, 3);
	pm_tensors_release(some, 3);
	pm_graph_free(g);
}

/* Which of two updates of one place stays is not defined, so there must not be two. */
static void a_scatter_meets_no_place_twice(void **state)
{
	static const struct {
		const char *body;
		int64_t len, inner, width; /* of a line, between its elements; elements of one index */
	} cases[] = {
		{ "(float[5,7] d, int64[12,2] k, float[12] u) => (float[5,7] y) { y = ScatterND(d, k, u) }",
		  12, 2, 2 },
		{ "(float[13] d, int64[13] k, float[13] u) => (float[13] y) { q = Unsqueeze<axes=[1]>(k)\n"
		  " y = ScatterND(d, q, u) }",
		  13, 1, 1 },
		{ "(float[9,6] d, int64[8,6] k, float[8,6] u) => (float[9,6] y) { y = "
		  "ScatterElements<axis=0>(d, k, u) }",
		  8, 6, 1 },
	};

	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		char text[400];
		PmTensor in[3];
		PmGraph *g;

		snprintf(text, sizeof text, "g %s", cases[c].body);
		g = pm_test_graph(text);
		for (uint64_t seed = 0; seed < 20; seed++) {
			assert_int_equal(pm_inputs_make(g, seed, PM_INPUTS_NORMAL, in, NULL), PM_OK);
			for (int64_t i = 0; i < cases[c].len; i++)
				for (int64_t j = 0; j < i; j++) {
					int64_t same = 0;

					for (int64_t k = 0; k < cases[c].width; k++)
						same += pm_tensor_get(&in[1], i * cases[c].inner + k) ==
							pm_tensor_get(&in[1], j * cases[c].inner + k);
					assert_true(same < cases[c].width);
				}
			pm_tensors_release(in, 3);
		}
		pm_graph_free(g);
	}
}

/* Inputs of some chunks, of which one is not whole, and rows that end in any of them. */
static void threads_draw_what_one_draws(void **state)
{
	static const char *const graphs[] = {
		"g (float[300,1001] x, float[300,1001] v, float16[300000,1] z, bfloat16[200001] b) =>"
		" (float[300,1001] y, float16[300000,1] t, bfloat16[200001] c) {\n"
		"s = Sqrt(v)\n y = Div(x, s)\n t = Relu(z)\n c = Relu(b) }",
		"g (bool[300,1001] m, float[300,1001] x, int32[300,1001] k) => (float[300,1001] y, "
		"int32[300,1001] n) {\n"
		"y = Where(m, x, x)\n n = Add(k, k) }",
		"g (float[7,512] x, float[512,401] w, float[3000,2] d, int64[400,501] i) =>"
		" (float[7,401] y, float[400,501,2] t) { y = MatMul(x, w)\n t = Gather <axis = 0> (d, i) }",
		"g (float[2,150001,1] x, float[150001] s, float[150001] b, float[150001] m, float[150001] v) "
		"=>"
		" (float[2,150001,1] y) { y = BatchNormalization <epsilon = 1e-05> (x, s, b, m, v) }",
		"g (float[2,301,301] x, float[2,301,301] attention_mask) => (float[2,301,301] y) {\n"
		"t = Add(x, attention_mask)\n y = Softmax <axis = 2> (t) }",
	};

	(void)state;
	for (size_t k = 0; k < sizeof graphs / sizeof *graphs; k++) {
		PmGraph *g = pm_test_graph(graphs[k]);
		size_t n = pm_graph_n_inputs(g);

		for (int cls = 0; cls < PM_N_ALL_CLASSES; cls++) {
			static const int threads[] = { 2, 7 };
			PmTensor one[8], some[8];
			PmErr err;

			pm_err_init(&err);
			pm_threads_limit(1);
			assert_int_equal(pm_inputs_make(g, 3, (PmInputClass)cls, one, &err), PM_OK);
			for (int c = 0; c < 2; c++) {
				pm_threads_limit(threads[c]);
				assert_int_equal(pm_inputs_make(g, 3, (PmInputClass)cls, some, &err), PM_OK);
				for (size_t i = 0; i < n; i++)
					assert_memory_equal(one[i].data, some[i].data, one[i].bytes);
				pm_tensors_release(some, n);
			}
			pm_threads_limit(0);
			pm_tensors_release(one, n);
		}
		pm_graph_free(g);
	}
}

/* Rows of several chunks have one value, and one magnitude, in all of them. */
static void a_long_row_is_one_row(void **state)
{
	enum { ROWS = 3, LAST = 200001, PIECE = LAST / 3 };
	PmGraph *g = pm_test_graph("g (float[3,200001] x) => (float[3,200001] y) { y = Relu(x) }");
	PmTensor equal, wide;
	double least = INFINITY, most = 0;
	const float *x;

	(void)state;
	assert_int_equal(pm_inputs_make(g, 5, PM_INPUTS_EQUAL, &equal, NULL), PM_OK);
	assert_int_equal(pm_inputs_make(g, 5, PM_INPUTS_WIDE, &wide, NULL), PM_OK);
	x = equal.data;
	for (int row = 0; row < ROWS; row++) {
		for (int k = 1; k < LAST; k++)
			assert_true(x[row * LAST + k] == x[row * LAST]);
		assert_true(!row || x[row * LAST] != x[(row - 1) * LAST]);
	}
	x = wide.data;
	for (int row = 0; row < ROWS; row++) {
		double whole = 0;

		for (int piece = 0; piece < 3; piece++) {
			double s = 0;

			for (int k = piece * PIECE; k < (piece + 1) * PIECE; k++)
				s += (double)x[row * LAST + k] * x[row * LAST + k];
			assert_true(!piece || fabs(s / whole - 1) < 0.05); /* eight standard deviations */
			whole = piece ? whole : s;
		}
		least = fmin(least, whole);
		most = fmax(most, whole);
	}
	assert_true(most > 1.5 * least);
	pm_tensor_release(&equal);
	pm_tensor_release(&wide);
	pm_graph_free(g);
}

/* No chunk draws what another one has drawn: of floating-point numbers with 24 bits few are equal. */
static void chunks_are_not_each_others_copies(void **state)
{
	enum { LAST = 1 << 16, CHUNKS = 5 };
	PmGraph *g = pm_test_graph("g (float[5,65536] x) => (float[5,65536] y) { y = Relu(x) }");

	(void)state;
	for (int cls = 0; cls < PM_N_ALL_CLASSES; cls++) {
		PmTensor t;
		const float *x;

		if (cls == PM_INPUTS_EQUAL || cls == PM_INPUTS_INTS || cls == PM_INPUTS_SPARSE)
			continue;
		assert_int_equal(pm_inputs_make(g, 6, (PmInputClass)cls, &t, NULL), PM_OK);
		x = t.data;
		for (int a = 0; a < CHUNKS; a++)
			for (int b = 0; b < a; b++) {
				int same = 0;

				for (int k = 0; k < LAST; k++)
					same += x[a * LAST + k] != 0 && x[a * LAST + k] == x[b * LAST + k];
				assert_true(same < LAST / 20);
			}
		pm_tensor_release(&t);
	}
	pm_graph_free(g);
}

/* What an evaluation draws hangs on these numbers: they change with PM_VERSION alone. */
static void drawn_numbers_never_change(void **state)
{
	static const struct {
		const char *graph;
		uint64_t hash;
	} cases[] = {
		{ "g (float[300,200] x) => (float[300,200] y) { y = Relu(x) }",
		  0x9c7f0f290762bd13ull }, /* one chunk */
		{ "g (float[300,1001] x) => (float[300,1001] y) { y = Relu(x) }", 0x6bbae893341aae27ull },
		{ "g (float[2,150001] x) => (float[2,150001] y) { y = Relu(x) }", 0x93c2cf8b25134954ull },
	};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		PmGraph *g = pm_test_graph(cases[k].graph);
		PmTensor t;

		assert_int_equal(pm_inputs_make(g, 7, PM_INPUTS_UNIFORM, &t, NULL), PM_OK);
		if (pm_hash64(t.data, t.bytes, PM_HASH_SEED) != cases[k].hash)
			fail_msg("case %zu: hash 0x%016llx", k,
				 (unsigned long long)pm_hash64(t.data, t.bytes, PM_HASH_SEED));
		pm_tensor_release(&t);
		pm_graph_free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles_follow_the_uses),
		cmocka_unit_test(threads_draw_what_one_draws),
		cmocka_unit_test(a_long_row_is_one_row),
		cmocka_unit_test(chunks_are_not_each_others_copies),
		cmocka_unit_test(drawn_numbers_never_change),
		cmocka_unit_test(drawn_values_are_legal_in_every_class),
		cmocka_unit_test(some_inputs_are_those_of_all),
		cmocka_unit_test(a_scatter_meets_no_place_twice),
		cmocka_unit_test(a_law_decides_the_first_class),
		cmocka_unit_test(the_seed_and_the_class_decide),
	};

	return cmocka_run_group_tests_name("inputs", tests, NULL, NULL);
}
