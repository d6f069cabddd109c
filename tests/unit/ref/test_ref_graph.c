/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_graph.c - whole graphs on the reference device: order, constants, kernels, errors, flops. */
#include "ir/core/kernel.h"
#include "ir/infer/infer.h"
#include "runtime/ref/ref.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(PM_HOSTILE)
#define COUNTED 0 /* its blocks are another allocator's, or larger on purpose */
#elif defined(__has_feature)
#define COUNTED !__has_feature(address_sanitizer)
#else
#define COUNTED 1
#endif

static PmTensor vector(int dtype, const double *v, int64_t n)
{
	PmType t = pm_type((PmDType)dtype, 1, &n);
	PmTensor x;
	int64_t i;

	assert_int_equal(pm_tensor_init(&x, &t, NULL), PM_OK);
	for (i = 0; i < n; i++)
		pm_tensor_set(&x, i, v[i]);
	return x;
}

static void values_used_twice_and_results_not_used(void **state)
{
	PmGraph *g = pm_test_graph("g (float[2] x) => (float[2] y, float[2] x2, float[2] x2again)\n"
				   "<float[2] w = {10, 20}>\n"
				   "{\n"
				   "  x2 = Mul (x, x)\n"
				   "  unused = Exp (x2)\n"
				   "  a = Add (x2, w)\n"
				   "  y = Sub (a, w)\n"
				   "  x2again = Identity (x2)\n"
				   "}\n");
	double v[] = { 3, -4 };
	PmTensor x = vector(PM_F32, v, 2), out[3];
	int k;

	(void)state;
	assert_int_equal(pm_ref_run(g, &x, 1, out, 3, NULL), PM_OK);
	for (k = 0; k < 3; k++) {
		assert_true(pm_tensor_get(&out[k], 0) == 9);
		assert_true(pm_tensor_get(&out[k], 1) == 16);
		pm_tensor_release(&out[k]);
	}
	assert_true(pm_tensor_get(&x, 0) == 3); /* inputs are only read */
	pm_tensor_release(&x);
	pm_graph_free(g);
}

static void inputs_and_constants_may_be_outputs(void **state)
{
	PmGraph *g = pm_test_graph("g (float[2] x) => (float[2] x, float[2] w, float[2] x)\n"
				   "<float[2] w = {10, 20}>\n{\n}\n");
	double v[] = { 3, -4 };
	PmTensor x = vector(PM_F32, v, 2), out[3];
	int k;

	(void)state;
	assert_int_equal(pm_ref_run(g, &x, 1, out, 3, NULL), PM_OK);
	assert_true(pm_tensor_get(&out[0], 1) == -4);
	assert_true(pm_tensor_get(&out[1], 1) == 20);
	assert_true(pm_tensor_get(&out[2], 0) == 3);
	for (k = 0; k < 3; k++)
		pm_tensor_release(&out[k]);
	pm_tensor_release(&x);
	pm_graph_free(g);
}

/* In float16 and float32, x + 2^-40 - x would be 0; here only the output is rounded, and only by run. */
static void nothing_is_rounded_before_the_output(void **state)
{
	PmGraph *g = pm_test_graph("g (float[1] x, float[1] t) => (float[1] y, float[1] a)\n"
				   "{\n  a = Add (x, t)\n  y = Sub (a, x)\n}\n");
	double one = 1, tiny = 9.094947017729282e-13;
	PmTensor in[2] = { vector(PM_F32, &one, 1), vector(PM_F32, &tiny, 1) }, out[2];
	PmRefTensor exact[2];

	(void)state;
	assert_int_equal(pm_ref_run(g, in, 2, out, 2, NULL), PM_OK);
	assert_true(pm_tensor_get(&out[0], 0) == tiny);
	assert_true(pm_tensor_get(&out[1], 0) == 1);
	assert_int_equal(pm_ref_run_exact(g, in, 2, exact, 2, NULL), PM_OK);
	assert_true(exact[1].f[0] == 1 + tiny);
	pm_tensor_release(&out[0]);
	pm_tensor_release(&out[1]);
	pm_ref_tensor_release(&exact[0]);
	pm_ref_tensor_release(&exact[1]);
	pm_tensor_release(&in[0]);
	pm_tensor_release(&in[1]);
	pm_graph_free(g);
}

/* Casting to float16 and back is a rounding in the middle of a graph. */
static void cast_rounds_in_the_middle(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[1] x) => (float[1] y)\n"
		"{\n  h = Cast <to: int = 10> (x)\n  f = Cast <to: int = 1> (h)\n  y = Mul (f, f)\n}\n");
	double v = 2049;
	PmTensor x = vector(PM_F32, &v, 1), y;

	(void)state;
	assert_int_equal(pm_ref_run(g, &x, 1, &y, 1, NULL), PM_OK);
	assert_true(pm_tensor_get(&y, 0) == 2048.0 * 2048.0);
	pm_tensor_release(&x);
	pm_tensor_release(&y);
	pm_graph_free(g);
}

static void a_result_may_be_an_output_twice(void **state)
{
	PmGraph *g = pm_test_graph("g (float[1] x) => (y, y)\n{\n  y = Neg (x)\n}\n");
	double v = 5;
	PmTensor x = vector(PM_F32, &v, 1), out[2];

	(void)state;
	assert_int_equal(pm_ref_run(g, &x, 1, out, 2, NULL), PM_OK);
	assert_true(pm_tensor_get(&out[0], 0) == -5 && pm_tensor_get(&out[1], 0) == -5);
	pm_tensor_release(&out[0]);
	pm_tensor_release(&out[1]);
	pm_tensor_release(&x);
	pm_graph_free(g);
}

/* Every integer operator wraps, not only the output: 100 + 100 is -56 in int8 for whoever reads it next. */
static void integers_wrap_at_every_node(void **state)
{
	PmGraph *g = pm_test_graph("g (int8[2] x, int8[1,2] a, int8[2,1] b) => (s, m, e, p)\n"
				   "{\n"
				   "  s8 = ReduceSum <axes: ints = [0]> (x)\n  s = Cast <to: int = 6> (s8)\n"
				   "  m8 = MatMul (a, b)\n  m = Cast <to: int = 6> (m8)\n"
				   "  e8 = Add (x, x)\n  e = Cast <to: int = 6> (e8)\n"
				   "  p8 = Gemm (a, b)\n  p = Cast <to: int = 6> (p8)\n"
				   "}\n");
	double v[] = { 100, 100 };
	int64_t row[] = { 1, 2 }, column[] = { 2, 1 };
	PmTensor in[3], out[4];
	PmType t;
	int k;

	(void)state;
	for (k = 0; k < 3; k++) {
		in[k] = vector(PM_I8, v, 2);
		t = k ? pm_type(PM_I8, 2, k == 1 ? row : column) : in[k].type;
		in[k].type = t;
	}
	assert_int_equal(pm_ref_run(g, in, 3, out, 4, NULL), PM_OK);
	assert_int_equal(pm_tensor_get_i(&out[0], 0), -56);
	assert_int_equal(pm_tensor_get_i(&out[1], 0), 20000 % 256);
	assert_int_equal(pm_tensor_get_i(&out[2], 1), -56);
	assert_int_equal(pm_tensor_get_i(&out[3], 0), 20000 % 256);
	for (k = 0; k < 4; k++)
		pm_tensor_release(&out[k]);
	for (k = 0; k < 3; k++)
		pm_tensor_release(&in[k]);
	pm_graph_free(g);
}

static void bad_inputs_are_named(void **state)
{
	PmGraph *g = pm_test_graph("g (float[2] x) => (float[2] y)\n{\n  y = Relu (x)\n}\n");
	double v[] = { 1, 2, 3 };
	PmTensor x = vector(PM_F32, v, 3), y;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_ref_run(g, &x, 1, &y, 1, &err), PM_E_TYPE);
	assert_string_equal(err.text, "Input 'x' is float[2], but a tensor of type float[3] was given.");
	assert_int_equal(pm_ref_run(g, &x, 0, &y, 1, &err), PM_E_INVALID);
	pm_tensor_release(&x);
	pm_graph_free(g);
}

static void absent_constants_are_named(void **state)
{
	PmGraph *g = pm_graph_new(0);
	int64_t n = 4;
	PmType t = pm_type(PM_F32, 1, &n);
	PmValue in[2], w;
	PmNode node;
	double v[] = { 1, 2, 3, 4 };
	PmTensor x = vector(PM_F32, v, 4), y;
	PmErr err;

	(void)state;
	assert_int_equal(pm_graph_add_input(g, "x", &t, &in[0], NULL), PM_OK);
	assert_int_equal(pm_graph_add_const(g, "w", &t, pm_blob_absent("weights.bin", 0, 16), &w, NULL),
			 PM_OK);
	in[1] = w;
	assert_int_equal(pm_graph_add_node(g, PM_OP_Add, in, 2, 1, &node, NULL), PM_OK);
	assert_int_equal(pm_graph_add_output(g, pm_node_out(g, node, 0), NULL), PM_OK);
	assert_int_equal(pm_infer_graph(g, 0, NULL), PM_OK);
	pm_err_init(&err);
	assert_int_equal(pm_ref_run(g, &x, 1, &y, 1, &err), PM_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "'w'"));
	assert_non_null(strstr(err.text, "weights.bin"));
	pm_tensor_release(&x);
	pm_graph_free(g);
}

static void opaque_nodes_are_refused_by_name(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[2] x) => (float[2] y)\n<float[2] y>\n{\n  y = \"com.acme:Thing\" (x)\n}\n");
	double v[] = { 1, 2 };
	PmTensor x = vector(PM_F32, v, 2), y;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_ref_run(g, &x, 1, &y, 1, &err), PM_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "Thing"));
	pm_tensor_release(&x);
	pm_graph_free(g);
}

/* x -> Kernel(body: x * sigmoid(x)) `depth` deep. */
static PmGraph *kernels(int depth)
{
	PmGraph *g = pm_test_graph(
		"g (double[2] x) => (double[2] y)\n{\n  s = Sigmoid (x)\n  y = Mul (x, s)\n}\n");
	PmKLaunch launch = { "k", { 1, 1, 1 }, { 1, 1, 1 }, 0, 0, NULL };

	while (depth-- > 0) {
		PmGraph *outer = pm_graph_new(0);
		PmKernelDesc d;
		PmValue x;
		PmNode n;

		memset(&d, 0, sizeof d);
		d.name = "silu";
		d.n_alts = 1;
		d.alts[0].source = "extern \"C\" __global__ void k() {}";
		d.alts[0].type = PM_F64;
		d.alts[0].n_launches = 1;
		d.alts[0].launches = &launch;
		d.body = g;
		assert_int_equal(
			pm_graph_add_input(outer, "x", pm_value_type(g, pm_graph_input(g, 0)), &x, NULL),
			PM_OK);
		assert_int_equal(pm_kernel_add(outer, &d, &x, 1, &n, NULL), PM_OK);
		assert_int_equal(pm_graph_add_output(outer, pm_node_out(outer, n, 0), NULL), PM_OK);
		pm_graph_free(g);
		g = outer;
	}
	return g;
}

static void a_kernel_means_its_body_at_any_depth(void **state)
{
	double v[] = { 0.5, -3 };
	PmTensor x = vector(PM_F64, v, 2), want, got;
	PmGraph *plain = kernels(0);
	int depth;

	(void)state;
	assert_int_equal(pm_ref_run(plain, &x, 1, &want, 1, NULL), PM_OK);
	for (depth = 1; depth < 4; depth++) {
		PmGraph *g = kernels(depth);

		assert_int_equal(pm_ref_run(g, &x, 1, &got, 1, NULL), PM_OK);
		assert_memory_equal(got.data, want.data, want.bytes);
		/* The clock counts the body's operations, too. */
		assert_int_equal(pm_op_flops(g, pm_graph_node_at(g, 0)),
				 pm_op_flops(plain, pm_graph_node_at(plain, 0)) +
					 pm_op_flops(plain, pm_graph_node_at(plain, 1)));
		pm_tensor_release(&got);
		pm_graph_free(g);
	}
	pm_tensor_release(&x);
	pm_tensor_release(&want);
	pm_graph_free(plain);
}

/* Elements: 2 * 3 * 16 * 16 = 1536; filters 8 x 3 x 3 x 3. */
static void flops_count_multiplies_and_adds(void **state)
{
	static const struct {
		const char *node;
		int64_t want;
	} cases[] = {
		{ "y = Add (x, x)", 1536 },
		{ "y = Exp (x)", 1536 },
		{ "y = Relu (x)", 1536 },
		{ "y = Sigmoid (x)", 3 * 1536 },
		{ "y = Sum (x, x, x)", 2 * 1536 },
		{ "y = Cast <to: int = 10> (x)", 0 },
		{ "y = Transpose <perm: ints = [0, 2, 3, 1]> (x)", 0 },
		{ "y = MatMul (x, x)", 2 * 16 * 1536 },
		{ "y = Conv <pads: ints = [1, 1, 1, 1], strides: ints = [1, 1], dilations: ints = [1, 1]> "
		  "(x, w)",
		  2 * 27 * 2 * 8 * 256 },
		{ "y = Conv <pads: ints = [1, 1, 1, 1], strides: ints = [1, 1], dilations: ints = [1, 1]> "
		  "(x, w, b)",
		  2 * 27 * 2 * 8 * 256 + 2 * 8 * 256 },
		{ "y = ReduceSum <axes: ints = [1]> (x)", 1536 },
		{ "y = Softmax <axis: int = 1> (x)", 5 * 1536 },
		{ "y = GlobalAveragePool (x)", 1536 },
		{ "y = MaxPool <kernel_shape: ints = [2, 2], strides: ints = [2, 2], pads: ints = [0, 0, 0, "
		  "0], "
		  "dilations: ints = [1, 1]> (x)",
		  1536 },
	};
	size_t k;

	(void)state;
	for (k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		PmStr text = PM_STR_INIT;
		PmGraph *g;

		pm_str_addf(&text,
			    "g (float[2,3,16,16] x, float[8,3,3,3] w, float[8] b) => (y)\n{\n  %s\n}\n",
			    cases[k].node);
		g = pm_test_graph(text.s);
		assert_int_equal(pm_op_flops(g, pm_graph_node_at(g, 0)), cases[k].want);
		pm_graph_free(g);
		pm_str_release(&text);
	}
}

/* Bytes that the process has from the allocator. */
static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static PmStatus see_memory(void *arg, const PmRefCall *c, PmErr *err)
{
	size_t *most = arg, now = in_use();

	(void)c;
	(void)err;
	*most = now > *most ? now : *most;
	return PM_OK;
}

/* Eight inputs that are added one after the other: beside them stand two sums and the one input of the node.
 */
static void inputs_are_wide_only_while_they_are_used(void **state)
{
	enum { N = 8, ELEMENTS = 1 << 18 };
	const size_t wide = ELEMENTS * sizeof(double);
	PmStr text = PM_STR_INIT;
	PmTensor x[N];
	PmGraph *g;
	size_t most = 0, before;

	(void)state;
	if (!COUNTED)
		pm_test_skip("memory is counted without sanitizers only");
	pm_str_addf(&text, "g (");
	for (int k = 0; k < N; k++)
		pm_str_addf(&text, "%sfloat[%d] x%d", k ? ", " : "", ELEMENTS, k);
	pm_str_addf(&text, ") => (float[%d] s%d)\n{\n  s1 = Add (x0, x1)\n", ELEMENTS, N - 1);
	for (int k = 2; k < N; k++)
		pm_str_addf(&text, "  s%d = Add (s%d, x%d)\n", k, k - 1, k);
	pm_str_addf(&text, "}\n");
	g = pm_test_graph(text.s);
	for (int k = 0; k < N; k++)
		assert_int_equal(pm_tensor_init(&x[k], pm_value_type(g, pm_graph_input(g, (size_t)k)), NULL),
				 PM_OK);
	before = in_use();
	assert_int_equal(pm_ref_run_watched(g, x, N, see_memory, &most, NULL), PM_OK);
	assert_true(most >= before + 3 * wide);
	assert_true(most < before + 4 * wide);
	for (int k = 0; k < N; k++)
		pm_tensor_release(&x[k]);
	pm_graph_free(g);
	pm_str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_used_twice_and_results_not_used),
		cmocka_unit_test(inputs_and_constants_may_be_outputs),
		cmocka_unit_test(nothing_is_rounded_before_the_output),
		cmocka_unit_test(cast_rounds_in_the_middle),
		cmocka_unit_test(a_result_may_be_an_output_twice),
		cmocka_unit_test(integers_wrap_at_every_node),
		cmocka_unit_test(bad_inputs_are_named),
		cmocka_unit_test(absent_constants_are_named),
		cmocka_unit_test(opaque_nodes_are_refused_by_name),
		cmocka_unit_test(a_kernel_means_its_body_at_any_depth),
		cmocka_unit_test(flops_count_multiplies_and_adds),
		cmocka_unit_test(inputs_are_wide_only_while_they_are_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
