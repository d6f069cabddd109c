/* SPDX-License-Identifier: Apache-2.0 */
/* test_verify.c - rules of the verifier: what it accepts, and what it says of each way to break a graph. */
#include "ir/infer/infer.h"

#include "ir/core/kernel.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/one_node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void expect(const PmGraph *g, PmStatus want, const char *words)
{
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = pm_verify(g, &err);
	if (st != want || (words && !strstr(err.text, words)))
		fail_msg("got %s: %s", pm_status_name(st), err.text);
	assert_int_equal(pm_verify(g, NULL), want);
	if (want)
		assert_int_equal(err.text[strlen(err.text) - 1], '.');
}

/* x -> Relu -> a; (a, w) -> Add -> b, the output. */
static PmGraph *chain(PmNode *relu, PmNode *add)
{
	PmGraph *g = pm_graph_new(0);
	PmValue x, w, in[2];
	PmType t = pm_type(PM_F32, 2, (int64_t[]){ 2, 3 });

	t.dim[0] = pm_graph_symbol(g, "N");
	assert_int_equal(pm_graph_add_input(g, "x", &t, &x, NULL), PM_OK);
	t.dim[0] = 1;
	assert_int_equal(pm_graph_add_const(g, "w", &t, pm_blob_copy((float[3]){ 1, 2, 3 }, 12), &w, NULL),
			 PM_OK);
	assert_int_equal(pm_graph_add_node(g, PM_OP_Relu, &x, 1, 1, relu, NULL), PM_OK);
	in[0] = pm_node_out(g, *relu, 0);
	in[1] = w;
	assert_int_equal(pm_graph_add_node(g, PM_OP_Add, in, 2, 1, add, NULL), PM_OK);
	assert_int_equal(pm_graph_add_output(g, pm_node_out(g, *add, 0), NULL), PM_OK);
	assert_int_equal(pm_infer_graph(g, 0, NULL), PM_OK);
	return g;
}

static void a_good_graph_is_accepted(void **state)
{
	PmNode a, b;
	PmGraph *g = chain(&a, &b);

	(void)state;
	expect(g, PM_OK, NULL);
	pm_graph_free(g);
	g = pm_graph_new(0);
	expect(g, PM_OK, NULL);
	pm_graph_free(g);
}

static void types_must_be_what_inference_gives(void **state)
{
	PmNode a, b;
	PmGraph *g = chain(&a, &b);
	PmType t = *pm_value_type(g, pm_node_out(g, b, 0)), good = t;

	(void)state;
	t.dim[1] = 4;
	pm_value_set_type(g, pm_node_out(g, b, 0), &t);
	expect(g, PM_E_SHAPE, "float[?0,4] where inference gives float[?0,3]");
	t = good;
	t.dtype = PM_F16;
	pm_value_set_type(g, pm_node_out(g, b, 0), &t);
	expect(g, PM_E_TYPE, "float16[?0,3]");
	t = pm_type_unknown();
	pm_value_set_type(g, pm_node_out(g, b, 0), &t);
	expect(g, PM_E_TYPE, "undefined");
	t = good;
	t.dim[0] = 2; /* a size where inference knows the symbol */
	pm_value_set_type(g, pm_node_out(g, b, 0), &t);
	expect(g, PM_E_SHAPE, "float[2,3]");
	pm_value_set_type(g, pm_node_out(g, b, 0), &good);
	expect(g, PM_OK, NULL);
	pm_graph_free(g);
}

static void a_dimension_inference_cannot_know_may_be_anything(void **state)
{
	PmNode n;
	PmGraph *g = one_node("Add", "float[N] float[M]", "", 1, &n);
	PmType t = pm_type(PM_F32, 1, (int64_t[]){ 5 });

	(void)state;
	pm_value_set_type(g, pm_node_out(g, n, 0), &t);
	expect(g, PM_OK, NULL);
	assert_int_equal(pm_infer_node(g, n, NULL), PM_OK);
	assert_int_equal(pm_value_type(g, pm_node_out(g, n, 0))->dim[0], 5);
	t.dim[0] = -100;
	pm_value_set_type(g, pm_node_out(g, n, 0), &t);
	expect(g, PM_E_SHAPE, "neither a size nor a symbol");
	pm_graph_free(g);
}

static void order_and_cycles_are_checked(void **state)
{
	PmNode a, b;
	PmGraph *g = chain(&a, &b);

	(void)state;
	pm_node_set_operand(g, a, 0, pm_node_out(g, b, 0));
	expect(g, PM_E_INVALID, "not sorted or has a cycle");
	pm_graph_free(g);
}

static void operand_and_result_counts_are_checked(void **state)
{
	PmNode n;
	PmGraph *g = one_node("Add", "float[2] float[2]", "", 1, &n);

	(void)state;
	assert_int_equal(pm_infer_node(g, n, NULL), PM_OK);
	expect(g, PM_OK, NULL);
	pm_node_trim_operands(g, n, 1);
	expect(g, PM_E_INVALID, "1 operands");
	pm_graph_free(g);
	g = one_node("Relu", "float[2]", "", 2, &n);
	expect(g, PM_E_INVALID, "2 results");
	pm_graph_free(g);
	g = one_node("Where", "bool[2] - float[2]", "", 1, &n);
	expect(g, PM_E_INVALID, "operand 1 is missing");
	pm_graph_free(g);
}

static void attributes_are_checked(void **state)
{
	PmNode n;
	PmGraph *g = one_node("Softmax", "float[2,3]", "axis=1", 1, &n);

	(void)state;
	assert_int_equal(pm_infer_node(g, n, NULL), PM_OK);
	expect(g, PM_OK, NULL);
	assert_int_equal(pm_node_set_i(g, n, "axsi", 1, NULL), PM_OK);
	expect(g, PM_E_INVALID, "'axsi'");
	pm_node_drop_attr(g, n, "axsi");
	assert_int_equal(pm_node_set_f(g, n, "axis", 1, NULL), PM_OK);
	expect(g, PM_E_TYPE, "a float where an int is needed");
	pm_node_drop_attr(g, n, "axis");
	expect(g, PM_E_INVALID, "required attribute 'axis'");
	pm_graph_free(g);
	g = one_node("ConstantOfShape", "int64{2}", "value=float{1}", 1, &n);
	assert_int_equal(pm_infer_node(g, n, NULL), PM_OK);
	expect(g, PM_OK, NULL);
	pm_graph_free(g);
}

static void operands_must_suit_the_operator(void **state)
{
	PmNode n;
	PmGraph *g = one_node("MatMul", "float[2,3] float[4,5]", "", 1, &n);

	(void)state;
	expect(g, PM_E_SHAPE, "operand 0 ('v1') is float[2,3] and operand 1 ('v2') is float[4,5]");
	pm_graph_free(g);
}

static void opaque_results_may_be_unknown_and_so_may_what_follows(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmType t = pm_type(PM_F32, 1, (int64_t[]){ 2 });
	PmValue x;
	PmNode o, r;

	(void)state;
	assert_int_equal(pm_graph_add_input(g, "x", &t, &x, NULL), PM_OK);
	assert_int_equal(pm_graph_add_node(g, PM_OP_Opaque, &x, 1, 1, &o, NULL), PM_OK);
	assert_int_equal(pm_node_set_opaque(g, o, "com.acme", "Thing", NULL), PM_OK);
	x = pm_node_out(g, o, 0);
	assert_int_equal(pm_graph_add_node(g, PM_OP_Relu, &x, 1, 1, &r, NULL), PM_OK);
	assert_int_equal(pm_graph_add_output(g, pm_node_out(g, r, 0), NULL), PM_OK);
	assert_int_equal(pm_infer_graph(g, 1, NULL), PM_OK);
	assert_int_equal(pm_value_type(g, x)->rank, -1);
	expect(g, PM_OK, NULL);
	pm_value_set_type(g, x, &t);
	expect(g, PM_E_TYPE, "where inference gives float[2]");
	assert_int_equal(pm_infer_graph(g, 1, NULL), PM_OK);
	expect(g, PM_OK, NULL);
	pm_graph_free(g);
}

/* A kernel whose body is Relu of float[N]. */
static PmGraph *kernel_graph(PmNode *n)
{
	PmNode r;
	PmGraph *body = one_node("Relu", "float[N]", "", 1, &r), *g = pm_graph_new(0);
	PmKLaunch launch = { "relu", { 1, 1, 1 }, { 32, 1, 1 }, 0, 0, NULL };
	PmKernelDesc d = { "r", 1, { { "void relu() {}", PM_F32, 0, NULL, 1, &launch } }, body };
	PmType t = pm_type(PM_F32, 1, (int64_t[]){ 7 });
	PmValue x;

	assert_int_equal(pm_infer_graph(body, 0, NULL), PM_OK);
	assert_int_equal(pm_graph_add_input(g, "x", &t, &x, NULL), PM_OK);
	assert_int_equal(pm_kernel_add(g, &d, &x, 1, n, NULL), PM_OK);
	assert_int_equal(pm_graph_add_output(g, pm_node_out(g, *n, 0), NULL), PM_OK);
	pm_graph_free(body);
	return g;
}

static void kernels_take_types_from_their_body(void **state)
{
	PmNode n;
	PmGraph *g = kernel_graph(&n);
	PmType t = pm_type(PM_F32, 2, (int64_t[]){ 7, 1 });

	(void)state;
	assert_int_equal(pm_infer_graph(g, 0, NULL), PM_OK);
	assert_int_equal(pm_value_type(g, pm_node_out(g, n, 0))->dim[0], 7);
	expect(g, PM_OK, NULL);
	pm_value_set_type(g, pm_graph_input(g, 0), &t);
	expect(g, PM_E_TYPE, "does not fit the kernel's body");
	pm_graph_free(g);
}

static void kernels_must_decode_and_bodies_verify(void **state)
{
	PmNode n;
	PmGraph *g = kernel_graph(&n);
	PmGraph *body = pm_node_attr(g, n, "body")->graph;
	PmType bad = pm_type(PM_F16, 1, (int64_t[]){ 7 });

	(void)state;
	assert_int_equal(pm_infer_graph(g, 0, NULL), PM_OK);
	pm_value_set_type(body, pm_graph_output(body, 0), &bad);
	expect(g, PM_E_TYPE, "In the body of node");
	pm_graph_free(g);
	g = kernel_graph(&n);
	pm_node_drop_attr(g, n, "source_0");
	expect(g, PM_E_INVALID, "source_0");
	pm_graph_free(g);
}

/* Random graphs verify, infer to the same types again, and together use every operator of the table. */
static void random_graphs_verify_and_infer_alike_again(void **state)
{
	unsigned char used[PM_N_OPS] = { 0 };
	uint64_t seed;
	size_t i, k;
	int op;

	(void)state;
	for (seed = 0; seed < 200; seed++) {
		GenOpts o = { .seed = seed, .n_nodes = 30, .symbols = seed & 1, .zero_dims = seed % 5 == 0 };
		PmGraph *g = gen_graph(&o);

		expect(g, PM_OK, NULL);
		for (i = 0; i < pm_graph_n_nodes(g); i++) {
			PmNode n = pm_graph_node_at(g, i);
			PmType before[4];

			used[pm_node_op(g, n)] = 1;
			for (k = 0; k < pm_node_n_out(g, n); k++)
				before[k] = *pm_value_type(g, pm_node_out(g, n, k));
			assert_int_equal(pm_infer_node(g, n, NULL), PM_OK);
			for (k = 0; k < pm_node_n_out(g, n); k++)
				assert_true(
					pm_type_equal(&before[k], pm_value_type(g, pm_node_out(g, n, k))));
		}
		assert_int_equal(pm_infer_graph(g, 1, NULL), PM_OK);
		expect(g, PM_OK, NULL);
		pm_graph_free(g);
	}
	for (op = PM_OP_NONE + 1; op < PM_N_OPS; op++) {
		if (!used[op] && op != PM_OP_BitCast && /* which they leave out (gen_graph.c) */
		    !(pm_op_desc((PmOp)op)->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_DATA)))
			fail_msg("no random graph has %s", pm_op_desc((PmOp)op)->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_graph_is_accepted),
		cmocka_unit_test(types_must_be_what_inference_gives),
		cmocka_unit_test(a_dimension_inference_cannot_know_may_be_anything),
		cmocka_unit_test(order_and_cycles_are_checked),
		cmocka_unit_test(operand_and_result_counts_are_checked),
		cmocka_unit_test(attributes_are_checked),
		cmocka_unit_test(operands_must_suit_the_operator),
		cmocka_unit_test(opaque_results_may_be_unknown_and_so_may_what_follows),
		cmocka_unit_test(kernels_take_types_from_their_body),
		cmocka_unit_test(random_graphs_verify_and_infer_alike_again),
		cmocka_unit_test(kernels_must_decode_and_bodies_verify),
	};

	return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
