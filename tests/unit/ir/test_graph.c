/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph.c - rules of the graph: handles, names, uses, order, cloning. */
#include "ir/core/graph.h"

#include "ir/core/graph_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static PmType f32(int64_t n)
{
	return pm_type(PM_F32, 1, &n);
}

static PmValue input(PmGraph *g, const char *name)
{
	PmType t = f32(4);
	PmValue v;

	assert_int_equal(pm_graph_add_input(g, name, &t, &v, NULL), PM_OK);
	return v;
}

static PmNode node(PmGraph *g, PmOp op, PmValue a, PmValue b)
{
	PmValue in[2] = { a, b };
	PmNode n;

	assert_int_equal(pm_graph_add_node(g, op, in, b.id ? 2 : 1, 1, &n, NULL), PM_OK);
	return n;
}

static const PmValue none = { 0 };

static void uses_follow_edits(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmValue x = input(g, "x"), y = input(g, "y");
	PmNode n = node(g, PM_OP_Mul, x, x);
	size_t seen = 0;

	(void)state;
	assert_int_equal(pm_value_n_uses(g, x), 2);
	for (PmUse u = pm_value_first_use(g, x); u.slot; u = pm_use_next(g, u)) {
		assert_int_equal(u.node.id, n.id);
		seen += 1u << u.operand;
	}
	assert_int_equal(seen, 3);
	pm_node_set_operand(g, n, 1, y);
	assert_int_equal(pm_value_n_uses(g, x), 1);
	assert_int_equal(pm_value_n_uses(g, y), 1);
	assert_int_equal(pm_graph_add_output(g, x, NULL), PM_OK);
	pm_graph_replace_uses(g, x, y);
	assert_int_equal(pm_value_n_uses(g, x), 0);
	assert_int_equal(pm_value_n_uses(g, y), 2);
	assert_int_equal(pm_graph_output(g, 0).id, y.id);
	assert_false(pm_value_is_output(g, x));
	pm_node_trim_operands(g, n, 1);
	assert_int_equal(pm_value_n_uses(g, y), 1);
	pm_graph_free(g);
}

static void a_given_name_takes_over_a_made_up_one(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmValue x = input(g, NULL), y = input(g, NULL);
	char auto_name[32];
	PmErr err;

	(void)state;
	strcpy(auto_name, pm_value_name(g, x));
	assert_string_not_equal(auto_name, pm_value_name(g, y));
	assert_int_equal(pm_value_set_name(g, y, auto_name, NULL), PM_OK);
	assert_string_equal(pm_value_name(g, y), auto_name);
	assert_string_not_equal(pm_value_name(g, x), auto_name);
	assert_int_equal(pm_graph_find_value(g, auto_name).id, y.id);
	assert_int_equal(pm_value_set_name(g, x, "a", NULL), PM_OK);
	assert_int_equal(pm_value_set_name(g, y, "a", &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "'a' is defined twice"));
	pm_graph_free(g);
}

/* A graph that is only read stays as it is: names are there before anybody asks for them. */
static void reading_a_graph_changes_nothing_in_it(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmValue x = input(g, NULL), y = input(g, NULL);
	PmNode n = node(g, PM_OP_Relu, x, none);
	char name[32];

	(void)state;
	snprintf(name, sizeof name, "v%u", (unsigned)pm_node_out(g, n, 0).id);
	assert_int_equal(pm_graph_find_value(g, name).id, pm_node_out(g, n, 0).id);
	assert_int_equal(pm_graph_find_given(g, name).id, 0);
	assert_string_equal(pm_value_name(g, pm_node_out(g, n, 0)), name);
	/* Who loses a made-up name gets another one at once, and so does who loses a given one. */
	assert_int_equal(pm_value_set_name(g, y, name, NULL), PM_OK);
	assert_int_equal(pm_graph_find_given(g, name).id, y.id);
	strcat(name, "_1");
	assert_int_equal(pm_graph_find_value(g, name).id, pm_node_out(g, n, 0).id);
	assert_int_equal(pm_value_set_name(g, y, NULL, NULL), PM_OK);
	assert_string_equal(pm_value_name(g, y), "v2");
	pm_graph_free(g);
}

static void sort_orders_and_names_a_cycle(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmValue x = input(g, "x");
	PmNode a = node(g, PM_OP_Relu, x, none), b = node(g, PM_OP_Exp, pm_node_out(g, a, 0), none);
	PmErr err;

	(void)state;
	/* b is made to come before a. */
	pm_node_set_operand(g, b, 0, x);
	pm_node_set_operand(g, a, 0, pm_node_out(g, b, 0));
	assert_int_equal(pm_graph_sort(g, NULL), PM_OK);
	assert_int_equal(pm_graph_node_at(g, 0).id, b.id);
	assert_int_equal(pm_graph_node_at(g, 1).id, a.id);
	pm_node_set_operand(g, b, 0, pm_node_out(g, a, 0));
	assert_int_equal(pm_graph_sort(g, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "cycle"));
	assert_non_null(strstr(err.text, "Relu"));
	assert_int_equal(pm_graph_n_nodes(g), 2);
	pm_graph_free(g);
}

static void a_used_node_cannot_be_killed_and_sweep_takes_the_rest(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmType t = f32(4);
	float data[4] = { 1, 2, 3, 4 };
	PmValue x = input(g, "x"), c;
	PmNode a, b, d;

	(void)state;
	assert_int_equal(pm_graph_add_const(g, "c", &t, pm_blob_copy(data, sizeof data), &c, NULL), PM_OK);
	a = node(g, PM_OP_Relu, x, none);
	b = node(g, PM_OP_Add, pm_node_out(g, a, 0), c);
	d = node(g, PM_OP_Exp, pm_node_out(g, a, 0), none);
	assert_int_equal(pm_graph_add_output(g, pm_node_out(g, d, 0), NULL), PM_OK);
	assert_int_equal(pm_graph_kill_node(g, a, NULL), PM_E_INVALID);
	assert_int_equal(pm_graph_kill_node(g, d, NULL), PM_E_INVALID); /* an output */
	assert_int_equal(pm_graph_sweep(g), 1);
	assert_int_equal(pm_node_op(g, b), PM_OP_NONE);
	assert_int_equal(pm_node_op(g, a), PM_OP_Relu);
	assert_false(pm_value_is_const(g, c));
	assert_int_equal(pm_graph_find_value(g, "c").id, 0);
	assert_int_equal(pm_graph_n_nodes(g), 2);
	pm_graph_free(g);
}

static void sweep_removes_whole_dead_chains(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmValue v = input(g, "x");

	(void)state;
	for (int i = 0; i < 1000; i++)
		v = pm_node_out(g, node(g, PM_OP_Relu, v, none), 0);
	assert_int_equal(pm_graph_sweep(g), 1000);
	assert_int_equal(pm_graph_n_nodes(g), 0);
	pm_graph_free(g);
}

static void constants_must_have_the_size_of_their_type(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmType t = f32(3);
	PmValue v;
	PmErr err;

	(void)state;
	assert_int_equal(pm_graph_add_const(g, "c", &t, pm_blob_copy("abcd", 4), &v, &err), PM_E_INVALID);
	assert_string_equal(err.text, "Constant 'c' holds 4 bytes but its type needs 12; fix the model.");
	pm_graph_free(g);
}

static void small_constants_read_as_numbers(void **state)
{
	PmGraph *g = pm_graph_new(0);
	int64_t dim = 2, out[2];
	double fout[2];
	int8_t bytes[2] = { -3, 7 };
	uint16_t halves[2] = { 0x3c00, 0xc000 };
	PmType t8 = pm_type(PM_I8, 1, &dim), t16 = pm_type(PM_F16, 1, &dim);
	PmValue a, b, w;
	size_t n;

	(void)state;
	assert_int_equal(pm_graph_add_const(g, NULL, &t8, pm_blob_copy(bytes, 2), &a, NULL), PM_OK);
	assert_int_equal(pm_graph_add_const(g, NULL, &t16, pm_blob_copy(halves, 4), &b, NULL), PM_OK);
	assert_int_equal(pm_graph_add_const(g, NULL, &t16, pm_blob_absent("w.bin", 0, 4), &w, NULL), PM_OK);
	assert_int_equal(pm_value_const_ints(g, a, out, 2, &n), PM_OK);
	assert_int_equal(out[0], -3);
	assert_int_equal(out[1], 7);
	assert_int_equal(pm_value_const_floats(g, b, fout, 2, &n), PM_OK);
	assert_true(fout[0] == 1 && fout[1] == -2);
	assert_int_equal(pm_value_const_ints(g, b, out, 2, &n), PM_DECLINED);
	assert_int_equal(pm_value_const_ints(g, a, out, 1, &n), PM_DECLINED);
	assert_int_equal(pm_value_const_floats(g, w, fout, 2, &n), PM_DECLINED);
	pm_graph_free(g);
}

static void a_clone_has_the_same_content_in_execution_order(void **state)
{
	PmGraph *g = pm_graph_new(0), *c;
	PmValue x = input(g, "x");
	PmNode a = node(g, PM_OP_LeakyRelu, x, none), b = node(g, PM_OP_Mul, pm_node_out(g, a, 0), x);
	PmType t = f32(4);

	(void)state;
	assert_int_equal(pm_node_fill_defaults(g, a, NULL), PM_OK);
	assert_int_equal(pm_node_set_f(g, a, "alpha", 0.25, NULL), PM_OK);
	assert_int_equal(pm_node_set_name(g, a, "act", NULL), PM_OK);
	assert_int_equal(pm_value_set_name(g, pm_node_out(g, b, 0), "y", NULL), PM_OK);
	pm_value_set_type(g, pm_node_out(g, b, 0), &t);
	assert_int_equal(pm_graph_add_output(g, pm_node_out(g, b, 0), NULL), PM_OK);
	assert_int_equal(pm_graph_set_meta(g, "k", "v", NULL), PM_OK);
	assert_int_equal(pm_graph_clone(g, &c, NULL), PM_OK);
	pm_graph_free(g);
	assert_int_equal(pm_graph_n_nodes(c), 2);
	a = pm_graph_node_at(c, 0);
	assert_string_equal(pm_node_name(c, a), "act");
	assert_true(pm_node_f(c, a, "alpha", 0) == 0.25);
	assert_string_equal(pm_value_name(c, pm_graph_output(c, 0)), "y");
	assert_true(pm_type_equal(pm_value_type(c, pm_graph_output(c, 0)), &t));
	assert_string_equal(pm_graph_meta(c, "k"), "v");
	pm_graph_free(c);
}

static void budgets_are_errors_not_crashes(void **state)
{
	PmGraph *g = pm_graph_new(4096);
	PmValue v = input(g, "x");
	PmStatus st = PM_OK;
	PmNode n;

	(void)state;
	for (int i = 0; i < 1000 && !st; i++) {
		st = pm_graph_add_node(g, PM_OP_Relu, &v, 1, 1, &n, NULL);
		if (!st)
			v = pm_node_out(g, n, 0);
	}
	assert_int_equal(st, PM_E_LIMIT);
	pm_graph_free(g);
}

static void bad_handles_answer_as_none(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmValue v = { 99 };
	PmNode n = { 99 };

	(void)state;
	assert_int_equal(pm_node_op(g, n), PM_OP_NONE);
	assert_int_equal(pm_node_n_in(g, n), 0);
	assert_int_equal(pm_node_in(g, n, 5).id, 0);
	assert_string_equal(pm_value_name(g, v), "");
	assert_int_equal(pm_value_type(g, v)->rank, -1);
	assert_int_equal(pm_value_def(g, v, NULL).id, 0);
	assert_int_equal(pm_graph_add_output(g, v, NULL), PM_E_INVALID);
	assert_int_equal(pm_graph_add_node(g, PM_OP_Relu, &v, 1, 1, &n, NULL), PM_E_INVALID);
	pm_graph_free(g);
}

static void fresh_symbols_avoid_names_in_use(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmDim a = pm_graph_symbol(g, "_d0"), b = pm_graph_fresh_symbol(g);

	(void)state;
	assert_true(a < 0 && b < 0 && a != b);
	assert_int_equal(pm_graph_symbol(g, "_d0"), a);
	assert_string_equal(pm_graph_symbol_name(g, a), "_d0");
	assert_null(pm_graph_symbol_name(g, 3));
	pm_graph_free(g);
}

/* Twice over 100,000 names: each lookup touches one entry, and each name makes one. */
static void finding_symbols_takes_linear_work(void **state)
{
	enum { N = 100000 };
	PmGraph *g = pm_graph_new(0);
	char name[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < N; i++) {
			snprintf(name, sizeof name, "batch_%d", i);
			assert_int_equal(pm_graph_symbol(g, name), -(PmDim)i - 1);
		}
	assert_string_equal(pm_graph_symbol_name(g, -(PmDim)N), "batch_99999");
	assert_int_equal(g->symbols.n, N);
	assert_in_range(g->symbol_steps, 2 * N, 3 * N + 64);
	pm_graph_free(g);
}

/* Equal types and attributes are kept once; changing one node's leaves the other's alone. */
static void types_and_attributes_are_shared(void **state)
{
	static const int64_t list[] = { 1, 0 };
	PmGraph *g = pm_graph_new(0);
	PmValue x = input(g, "x"), y = input(g, "y");
	PmNode a = node(g, PM_OP_Transpose, x, none), b = node(g, PM_OP_Transpose, y, none);
	const PmAttr *of_a;
	PmType t;

	(void)state;
	assert_ptr_equal(pm_value_type(g, x), pm_value_type(g, y));
	t = pm_type(PM_F32, 1, (int64_t[]){ 5 });
	pm_value_set_type(g, y, &t);
	assert_int_equal(pm_value_type(g, x)->dim[0], 4);
	assert_int_equal(pm_value_type(g, y)->dim[0], 5);

	assert_int_equal(pm_node_set_ints(g, a, "perm", list, 2, NULL), PM_OK);
	assert_int_equal(pm_node_set_ints(g, b, "perm", list, 2, NULL), PM_OK);
	of_a = pm_node_attr(g, a, "perm");
	assert_ptr_equal(of_a, pm_node_attr(g, b, "perm"));
	/* Its own list as the new one, a second attribute between lists of other nodes, another kind. */
	assert_int_equal(pm_node_set_ints(g, b, "perm", pm_node_attr(g, b, "perm")->ints, 1, NULL), PM_OK);
	assert_int_equal(pm_node_set_i(g, a, "k", 7, NULL), PM_OK);
	assert_int_equal(pm_node_set_f(g, b, "k", 7, NULL), PM_OK);
	assert_int_equal(pm_node_set_s(g, a, "s", "", 0, NULL), PM_OK);
	assert_ptr_equal(pm_node_attr(g, a, "perm"), of_a);
	assert_int_equal(of_a->n, 2);
	assert_int_equal(pm_node_attr(g, b, "perm")->n, 1);
	assert_int_equal(pm_node_i(g, a, "k", 0), 7);
	assert_int_equal(pm_node_attr(g, b, "k")->kind, PM_ATTR_FLOAT);
	pm_node_drop_attr(g, a, "k");
	assert_int_equal(pm_node_n_attrs(g, a), 2);
	assert_int_equal(pm_node_n_attrs(g, b), 2);
	assert_string_equal(pm_node_s(g, a, "s", "?"), "");
	pm_graph_free(g);
}

/* What a tensor attribute owns goes with its node alone, also when two have the same tensor. */
static void tensors_belong_to_one_node(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmNode a = node(g, PM_OP_Relu, input(g, "x"), none), b = node(g, PM_OP_Relu, input(g, "y"), none);
	PmBlob *blob = pm_blob_copy("0123456789abcdef", 16);
	PmType t = f32(4);

	(void)state;
	assert_int_equal(pm_node_set_tensor(g, a, "t", &t, pm_blob_ref(blob), NULL), PM_OK);
	assert_int_equal(pm_node_set_tensor(g, b, "t", &t, pm_blob_ref(blob), NULL), PM_OK);
	assert_int_equal(blob->refs, 3);
	assert_int_equal(pm_node_copy_attrs(g, b, g, a, NULL), PM_OK);
	assert_int_equal(blob->refs, 3);
	assert_int_equal(pm_graph_kill_node(g, a, NULL), PM_OK);
	assert_int_equal(blob->refs, 2);
	assert_ptr_equal(pm_node_attr(g, b, "t")->blob, blob);
	pm_graph_free(g);
	assert_int_equal(blob->refs, 1);
	pm_blob_unref(blob);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uses_follow_edits),
		cmocka_unit_test(a_given_name_takes_over_a_made_up_one),
		cmocka_unit_test(reading_a_graph_changes_nothing_in_it),
		cmocka_unit_test(sort_orders_and_names_a_cycle),
		cmocka_unit_test(a_used_node_cannot_be_killed_and_sweep_takes_the_rest),
		cmocka_unit_test(sweep_removes_whole_dead_chains),
		cmocka_unit_test(constants_must_have_the_size_of_their_type),
		cmocka_unit_test(small_constants_read_as_numbers),
		cmocka_unit_test(a_clone_has_the_same_content_in_execution_order),
		cmocka_unit_test(budgets_are_errors_not_crashes),
		cmocka_unit_test(bad_handles_answer_as_none),
		cmocka_unit_test(fresh_symbols_avoid_names_in_use),
		cmocka_unit_test(finding_symbols_takes_linear_work),
		cmocka_unit_test(types_and_attributes_are_shared),
		cmocka_unit_test(tensors_belong_to_one_node),
	};

	return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
