/* SPDX-License-Identifier: Apache-2.0 */
/* test_data_shapes.c - results as large as their data say, random numbers, and choosing: known values from
 * the ONNX specification, on graphs whose sizes only a run tells. */
#include "ir/infer/infer.h"
#include "runtime/worker/run.h"
#include "tests/lib/graphs/eval.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/graphs/one_node.h"
#include "tests/lib/need.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static PmGraph *parse(const char *body)
{
	return pm_test_graphf("<ir_version: 10, opset_import: [\"\" : 18]>\n%s", body);
}

/* Runs a graph of one input on ref; the result is released by the caller. */
static PmStatus run_on(const char *device, const PmGraph *g, PmTensor x, PmRunResult *r, PmErr *err)
{
	PmRunOpts o = { .device = device, .deadline = 60, .poison = 0x7fc1d00d };

	pm_err_init(err);
	return pm_run_graph(g, &x, 1, &o, r, err);
}

static void expect(const PmTensor *got, int dtype, int rank, const int64_t *dim, const double *want)
{
	PmType t = pm_type((PmDType)dtype, rank, dim);

	assert_true(pm_type_equal(&got->type, &t));
	for (int64_t k = 0; k < pm_tensor_numel(got); k++)
		if (pm_tensor_get(got, k) != want[k])
			fail_msg("element %d is %g instead of %g", (int)k, pm_tensor_get(got, k), want[k]);
}

/* ---- sizes found while running ---- */

/* NonZero, and behind it a Reshape to a shape that is computed from its size, and a Range up to it. */
static void shapes_follow_the_data(void **state)
{
	static const char *const text = "g (float[2,3] x) => (int64[\"2*_d0\"] flat, int64[m] count)\n"
					"<int64[1] minus = {-1}, int64 zero = {0}, int64 one = {1}>\n{\n"
					"  where = NonZero (x)\n"
					"  flat = Reshape (where, minus)\n"
					"  s = Shape <end = 9223372036854775807> (where)\n"
					"  n = Gather <axis = 0> (s, one)\n"
					"  count = Range (zero, n, one)\n}\n";
	static const double data[] = { 0, 1, 0, 2, 0, -3 }, none[6] = { 0 };
	static const double places[] = { 0, 1, 1, 1, 0, 2 }, upto[] = { 0, 1, 2 };
	int64_t dim[2] = { 2, 3 }, six = 6, three = 3, zero = 0;
	PmGraph *g = parse(text);
	PmTensor x = eval_tensor(PM_F32, 2, dim);
	PmRunResult r;
	PmErr err;

	(void)state;
	for (int k = 0; k < 6; k++)
		pm_tensor_set(&x, k, data[k]);
	if (run_on("ref", g, x, &r, &err))
		fail_msg("%s", err.text);
	expect(&r.out[0], PM_I64, 1, &six, places);
	expect(&r.out[1], PM_I64, 1, &three, upto);
	pm_run_result_release(&r);
	/* The graph is as it was, and other data give other sizes. */
	for (int k = 0; k < 6; k++)
		pm_tensor_set(&x, k, none[k]);
	if (run_on("ref", g, x, &r, &err))
		fail_msg("%s", err.text);
	expect(&r.out[0], PM_I64, 1, &zero, NULL);
	expect(&r.out[1], PM_I64, 1, &zero, NULL);
	pm_run_result_release(&r);
	/* Kernels are planned before. */
	assert_int_equal(run_on("emu", g, x, &r, &err), PM_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "(NonZero -> 'where') is depends on its data"));
	pm_tensor_release(&x);
	pm_graph_free(g);
}

/* A size that the graph states is kept to: by ref with a sentence, by the kernel with a trap. */
static void a_stated_size_must_be_right(void **state)
{
	PmGraph *g = parse("g (int32[3,1,2] x) => (int64[3,2] y)\n{\n  y = NonZero (x)\n}\n");
	static const double data[] = { 0, 5, 0, 0, -1, 0 }, want[] = { 0, 2, 0, 0, 1, 0 };
	int64_t dim[3] = { 3, 1, 2 }, out[2] = { 3, 2 };
	PmTensor x = eval_tensor(PM_I32, 3, dim);
	static const char *const devices[] = { "ref", "emu" };
	PmRunResult r;
	PmErr err;

	(void)state;
	pm_test_need_device("emu");
	for (int d = 0; d < 2; d++) {
		for (int k = 0; k < 6; k++)
			pm_tensor_set(&x, k, data[k]);
		if (run_on(devices[d], g, x, &r, &err))
			fail_msg("%s: %s", devices[d], err.text);
		expect(&r.out[0], PM_I64, 2, out, want);
		pm_run_result_release(&r);
		pm_tensor_set(&x, 0, 7);
		assert_int_equal(run_on(devices[d], g, x, &r, &err), d ? PM_E_DEVICE : PM_E_SHAPE);
		assert_non_null(strstr(err.text, d ? "__trap" : "int64[3,3], but the graph says int64[3,2]"));
	}
	pm_tensor_release(&x);
	pm_graph_free(g);
}

static void every_nonzero_is_found_by_the_kernel(void **state)
{
	int64_t dim[2] = { 37, 29 }, n = 0;
	PmTensor x = eval_tensor(PM_F16, 2, dim);
	char text[160];
	PmRunResult want, got;
	PmGraph *g;
	PmRng r;
	PmErr err;

	(void)state;
	pm_test_need_device("emu");
	pm_rng_init(&r, 3);
	for (int64_t k = 0; k < pm_tensor_numel(&x); k++) {
		double v = (double)pm_rng_range(&r, -1, 1);

		pm_tensor_set(&x, k, v);
		n += v != 0;
	}
	snprintf(text, sizeof text,
		 "g (float16[37,29] x) => (int64[2,%d] y)\n{\n  t = Transpose <perm = [1, 0]> (x)\n  y = "
		 "NonZero "
		 "(t)\n}\n",
		 (int)n);
	g = parse(text);
	if (run_on("ref", g, x, &want, &err) || run_on("emu", g, x, &got, &err))
		fail_msg("%s", err.text);
	assert_memory_equal(want.out[0].data, got.out[0].data, want.out[0].bytes);
	pm_run_result_release(&want);
	pm_run_result_release(&got);
	pm_tensor_release(&x);
	pm_graph_free(g);
}

/* ---- the operators ---- */

/* One node on constant operands in the words of one_node.h; all results. */
static PmStatus try_node(const char *op, const char *operands, const char *attrs, size_t n_out,
			 PmRunResult *r, PmErr *err)
{
	PmRunOpts o = { .device = "ref" };
	PmNode n;
	PmGraph *g = one_node(op, operands, attrs, n_out, &n);
	PmStatus st;

	pm_err_init(err);
	st = pm_infer_graph(g, 0, err);
	if (!st)
		st = pm_run_graph(g, NULL, 0, &o, r, err);
	pm_graph_free(g);
	return st;
}

static void check_node(const char *op, const char *operands, const char *attrs, size_t n_out,
		       const char *const *want)
{
	PmRunResult r;
	PmErr err;

	if (try_node(op, operands, attrs, n_out, &r, &err))
		fail_msg("%s: %s", op, err.text);
	for (size_t k = 0; k < n_out; k++) {
		PmStr s = PM_STR_INIT;

		for (int64_t i = 0; i < pm_tensor_numel(&r.out[k]); i++)
			pm_str_addf(&s, "%s%g", i ? " " : "", pm_tensor_get(&r.out[k], i));
		if (strcmp(s.s ? s.s : "", want[k]) != 0)
			fail_msg("%s (%s) result %d is '%s' instead of '%s'", op, operands, (int)k, s.s,
				 want[k]);
		pm_str_release(&s);
	}
	pm_run_result_release(&r);
}

#define CHECK(op, operands, attrs, ...)                                                                      \
	do {                                                                                                 \
		static const char *const want_[] = { __VA_ARGS__ };                                          \
		check_node(op, operands, attrs, sizeof want_ / sizeof *want_, want_);                        \
	} while (0)

static void operators_have_their_known_values(void **state)
{
	(void)state;
	CHECK("Range", "int64=10 int64=3 int64=-3", "", "10 7 4");
	CHECK("Range", "int64=3 int64=10 int64=-3", "", "");
	CHECK("Range", "float=1 float=5 float=2", "", "1 3");
	CHECK("Range", "uint16=65530 uint16=65535 uint16=2", "", "65530 65532 65534");
	CHECK("NonZero", "int64{0,4,0,5}", "", "1 3");
	CHECK("NonZero", "int64=7", "", "");
	CHECK("NonZero", "bool{0,0}", "", "");
	CHECK("Unique", "int64{2,1,1,3,4,3}", "axis=0", "1 2 3 4", "1 0 3 4", "1 0 0 2 3 2", "2 1 2 1");
	CHECK("Unique", "int64{2,1,1,3,4,3}", "axis=0 sorted=0", "2 1 3 4", "0 1 3 4", "0 1 1 2 3 2",
	      "1 2 2 1");
	CHECK("Unique", "uint64{-1,1,-1,0}", "axis=0", "0 1 1.84467e+19");
	CHECK("TopK", "int64{5,1,5,7} int64{3}", "axis=0", "7 5 5", "3 0 2");
	CHECK("TopK", "int64{5,1,5,7} int64{3}", "axis=0 largest=0", "1 5 5", "1 0 2");
	CHECK("TopK", "uint64{-1,1,2} int64{2}", "axis=0", "1.84467e+19 2", "0 2");
	CHECK("OneHot", "int64{1,-1,5} int64=3 float{2,7}", "axis=0", "2 2 2 7 2 2 2 7 2");
	CHECK("BitShift", "uint8{255,255,1} uint8{1,9,200}", "", "254 0 0");
	CHECK("BitShift", "uint8{255,255,1} uint8{1,9,200}", "direction='RIGHT'", "127 0 0");
	CHECK("BitShift", "uint64{-1,1} uint64{1,63}", "direction='RIGHT'", "9.22337e+18 0");
	CHECK("BitShift", "int8{-128,-128} int8{7,-1}", "direction='RIGHT'", "-1 -1");
	CHECK("BitwiseNot", "uint16{0,1}", "", "65535 65534");
	CHECK("BitwiseXor", "int8{-1,5} int8{1,5}", "", "-2 0");
}

static void nan_counts_as_the_largest(void **state)
{
	static const double v[] = { 1, NAN, 5, NAN, -2 };
	PmTensor x = eval_vector(PM_F32, v, 5), out[2];

	(void)state;
	eval_all("TopK", "axis=0", &x, 1, "int64{3}", out, 2);
	assert_true(isnan(pm_tensor_get(&out[0], 0)) && isnan(pm_tensor_get(&out[0], 1)));
	assert_true(pm_tensor_get(&out[0], 2) == 5);
	assert_int_equal(pm_tensor_get_i(&out[1], 0), 1);
	assert_int_equal(pm_tensor_get_i(&out[1], 1), 3);
	pm_tensor_release(&out[0]);
	pm_tensor_release(&out[1]);
	out[0] = eval1("Hardmax", "axis=0", x);
	for (int k = 0; k < 5; k++)
		assert_true(pm_tensor_get(&out[0], k) == (k == 1));
	pm_tensor_release(&out[0]);
	pm_tensor_release(&x);
}

/* Three boxes of one class: the second overlaps the first by 1/3, the third not at all. */
static void boxes_that_overlap_are_suppressed(void **state)
{
	static const double corners[] = { 0, 0, 2, 2, 0, 1, 2, 3, 5, 5, 6, 6 };
	static const double score[] = { 0.5, 0.9, 0.7 };
	static const struct {
		const char *extra, *want;
	} cases[] = { { "int64{9} float{0}", "0 0 1 0 0 2" },
		      { "int64{1} float{0}", "0 0 1" },
		      { "int64{9} float{1}", "0 0 1 0 0 2 0 0 0" },
		      { "int64{0} float{0}", "" },
		      { "", "" } };
	int64_t bd[3] = { 1, 3, 4 }, sd[3] = { 1, 1, 3 };
	PmTensor in[2] = { eval_tensor(PM_F32, 3, bd), eval_tensor(PM_F32, 3, sd) }, out;

	(void)state;
	for (int k = 0; k < 12; k++)
		pm_tensor_set(&in[0], k, corners[k]);
	for (int k = 0; k < 3; k++)
		pm_tensor_set(&in[1], k, score[k]);
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		PmStr s = PM_STR_INIT;

		eval_all("NonMaxSuppression", "", in, 2, *cases[c].extra ? cases[c].extra : NULL, &out, 1);
		for (int64_t i = 0; i < pm_tensor_numel(&out); i++)
			pm_str_addf(&s, "%s%d", i ? " " : "", (int)pm_tensor_get_i(&out, i));
		assert_string_equal(s.s ? s.s : "", cases[c].want);
		pm_str_release(&s);
		pm_tensor_release(&out);
	}
	pm_tensor_release(&in[0]);
	pm_tensor_release(&in[1]);
}

/* ---- random numbers ---- */

static PmTensor drawn(const char *op, const char *attrs, int64_t n)
{
	PmTensor x = eval_tensor(PM_F64, 1, &n), y = eval1(op, attrs, x);

	pm_tensor_release(&x);
	return y;
}

static void random_numbers_have_their_moments(void **state)
{
	static const struct {
		const char *op, *attrs;
		double mean, deviation;
	} cases[] = { { "RandomUniformLike", "dtype=1 seed=5.0", 0.5, 0.288675 },
		      { "RandomUniformLike", "dtype=11 seed=6.0 low=-3.0 high=1.0", -1, 1.154701 },
		      { "RandomNormalLike", "dtype=1 seed=7.0", 0, 1 },
		      { "RandomNormalLike", "dtype=11 seed=8.0 mean=2.0 scale=0.5", 2, 0.5 } };
	enum { N = 40000 };

	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		PmTensor y = drawn(cases[c].op, cases[c].attrs, N),
			 again = drawn(cases[c].op, cases[c].attrs, N);
		double sum = 0, squares = 0;

		assert_memory_equal(y.data, again.data, y.bytes);
		for (int64_t k = 0; k < N; k++) {
			double d = pm_tensor_get(&y, k) - cases[c].mean;

			sum += d;
			squares += d * d;
		}
		/* Five standard deviations of the estimates. */
		assert_true(fabs(sum / N) < 5 * cases[c].deviation / 200);
		assert_true(fabs(sqrt(squares / N) - cases[c].deviation) < 5 * cases[c].deviation / 200);
		pm_tensor_release(&y);
		pm_tensor_release(&again);
	}
}

static void seeds_make_the_difference(void **state)
{
	PmTensor a = drawn("RandomUniformLike", "dtype=1 seed=1.0", 100),
		 b = drawn("RandomUniformLike", "dtype=1 seed=2.0", 100);
	int same = 0;

	(void)state;
	for (int k = 0; k < 100; k++)
		same += pm_tensor_get(&a, k) == pm_tensor_get(&b, k);
	assert_true(same < 3);
	pm_tensor_release(&a);
	pm_tensor_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_follow_the_data),
		cmocka_unit_test(a_stated_size_must_be_right),
		cmocka_unit_test(every_nonzero_is_found_by_the_kernel),
		cmocka_unit_test(operators_have_their_known_values),
		cmocka_unit_test(nan_counts_as_the_largest),
		cmocka_unit_test(boxes_that_overlap_are_suppressed),
		cmocka_unit_test(random_numbers_have_their_moments),
		cmocka_unit_test(seeds_make_the_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
