/* SPDX-License-Identifier: Apache-2.0 */
/* test_dim_expr.c - formulas of open sizes: spelling, arithmetic against numbers, and models bound to sizes.
 */
#include "base/core/rng.h"
#include "base/core/str.h"
#include "ir/infer/dim_expr.h"
#include "ir/onnx/onnx.h"
#include "tests/lib/graphs/onnx_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *name_of(const PmGraph *g, PmDim d)
{
	return pm_graph_symbol_name(g, d);
}

static void formulas_have_one_spelling(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmDim s = pm_graph_symbol(g, "seq"), b = pm_graph_symbol(g, "batch");

	(void)state;
	assert_string_equal(name_of(g, pm_dim_add(g, s, 1)), "seq + 1");
	assert_string_equal(name_of(g, pm_dim_add(g, 1, s)), "seq + 1");
	assert_string_equal(name_of(g, pm_dim_mul(g, s, b)), "batch*seq");
	assert_string_equal(name_of(g, pm_dim_mul(g, pm_dim_add(g, s, 1), pm_dim_mul(g, 2, b))),
			    "2*batch*seq + 2*batch");
	assert_string_equal(name_of(g, pm_dim_named(g, "3 + s*2*b")), "2*b*s + 3");
	assert_int_equal(pm_dim_sub(g, pm_dim_add(g, s, 5), 5), s);
	assert_int_equal(pm_dim_div(g, pm_dim_mul(g, s, b), b), s);
	assert_int_equal(pm_dim_div(g, pm_dim_mul(g, s, 768), 768), s);
	assert_int_equal(pm_dim_sub(g, s, s), 0);
	assert_int_equal(pm_dim_mul(g, s, 0), 0);
	pm_graph_free(g);
}

static void what_cannot_be_said_is_unknown(void **state)
{
	PmGraph *g = pm_graph_new(0);
	PmDim s = pm_graph_symbol(g, "seq"), odd = pm_graph_symbol(g, "floor(x/2)");

	(void)state;
	assert_int_equal(pm_dim_sub(g, s, 1), PM_DIM_UNKNOWN); /* -1 when seq is 0 */
	assert_int_equal(pm_dim_div(g, s, 2), PM_DIM_UNKNOWN);
	assert_int_equal(pm_dim_div(g, s, 0), PM_DIM_UNKNOWN);
	assert_int_equal(pm_dim_add(g, odd, 1), PM_DIM_UNKNOWN);
	assert_int_equal(pm_dim_add(g, PM_DIM_UNKNOWN, 1), PM_DIM_UNKNOWN);
	assert_int_equal(pm_dim_mul(g, pm_dim_mul(g, s, INT64_MAX), 2), PM_DIM_UNKNOWN);
	assert_int_equal(pm_dim_named(g, "a + +"), pm_graph_symbol(g, "a + +"));
	assert_int_equal(pm_dim_named(g, "7 - 7"), pm_graph_symbol(g, "7 - 7"));
	pm_graph_free(g);
}

/* One random formula and its value for the sizes below, built side by side. */
static PmDim grow(PmGraph *g, PmRng *r, int depth, const PmDimSize *sizes, size_t n, int64_t *value)
{
	int64_t what = pm_rng_range(r, 0, depth ? 4 : 1);
	int64_t x = 0, y = 0;
	PmDim a, b;

	if (what == 0) {
		*value = pm_rng_range(r, 0, 8);
		return *value;
	}
	if (what == 1) {
		size_t k = (size_t)pm_rng_range(r, 0, (int64_t)n - 1);

		*value = sizes[k].size;
		return pm_graph_symbol(g, sizes[k].name);
	}
	a = grow(g, r, depth - 1, sizes, n, &x);
	b = grow(g, r, depth - 1, sizes, n, &y);
	if (a == PM_DIM_UNKNOWN || b == PM_DIM_UNKNOWN)
		return PM_DIM_UNKNOWN;
	*value = what == 2 ? x + y : what == 3 ? x * y : x - y;
	return what == 2 ? pm_dim_add(g, a, b) : what == 3 ? pm_dim_mul(g, a, b) : pm_dim_sub(g, a, b);
}

static void formulas_have_the_value_of_their_parts(void **state)
{
	static const PmDimSize sizes[] = { { "a", 2 }, { "b", 3 }, { "seq.1", 7 } };
	PmGraph *g = pm_graph_new(0);
	PmRng r;
	int known = 0;

	(void)state;
	pm_rng_init(&r, 5);
	for (int i = 0; i < 3000; i++) {
		int64_t value;
		PmDim d = grow(g, &r, 4, sizes, 3, &value);

		if (d == PM_DIM_UNKNOWN)
			continue;
		known++;
		assert_int_equal(pm_dim_bind(g, d, sizes, 3), value);
		/* One after the other is the same as all at once. */
		for (int k = 2; k >= 0; k--)
			d = pm_dim_bind(g, d, &sizes[k], 1);
		assert_int_equal(d, value);
	}
	assert_true(known > 1500);
	pm_graph_free(g);
}

static void parts_of_a_formula_can_be_bound(void **state)
{
	static const PmDimSize a = { "a", 4 }, both[] = { { "a", 1 }, { "b", 1 } };
	PmGraph *g = pm_graph_new(0);
	PmDim d = pm_dim_named(g, "a*b - a");

	(void)state;
	assert_string_equal(name_of(g, pm_dim_bind(g, d, &a, 1)), "4*b - 4");
	assert_int_equal(pm_dim_bind(g, d, both, 2), 0);
	assert_int_equal(pm_dim_bind(g, 12, &a, 1), 12);
	assert_int_equal(pm_dim_bind(g, pm_graph_symbol(g, "a?"), &a, 1), pm_graph_symbol(g, "a?"));
	pm_graph_free(g);
}

/* What exporters write for attention over open sizes. */
static const char *const dynamic =
	"i x float batch,seq,32\no flat\no tw\no mask\nw i0 int64 - 0\nw i1 int64 - 1\nw a0 int64 1 0\n"
	"w h4 int64 1 4\nw h8 int64 1 8\nw m1 int64 1 -1\n"
	"n Shape x -> s\nn Gather s,i0 -> b axis=0\nn Gather s,i1 -> l axis=0\n"
	"n Unsqueeze b,a0 -> b1\nn Unsqueeze l,a0 -> l1\nn Concat b1,l1,h4,h8 -> sh axis=0\n"
	"n Reshape x,sh -> x4\nn Transpose x4 -> xt perm=[0,2,1,3]\nn Transpose xt -> xs perm=[0,1,3,2]\n"
	"n MatMul xt,xs -> sc\nn Softmax sc -> p axis=-1\nn MatMul p,xt -> o\nn Transpose o -> ot "
	"perm=[0,2,1,3]\n"
	"n Mul b,l -> bl\nn Unsqueeze bl,a0 -> bl1\nn Concat bl1,m1 -> sh2 axis=0\nn Reshape ot,sh2 -> flat\n"
	"n Concat flat,flat -> tw axis=0\n"
	"n Add l,i1 -> lp\nn Unsqueeze lp,a0 -> lp1\nn Concat b1,lp1 -> sh3 axis=0\n"
	"n ConstantOfShape sh3 -> mask";

static PmGraph *import_ok(const PmStr *m, const PmOnnxOpts *opts)
{
	static PmOnnxReport report;
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_onnx_import_mem(m->s, m->len, "m", opts, &g, &report, &err))
		fail_msg("%s", err.text);
	assert_int_equal(report.n_opaque_nodes, 0);
	return g;
}

static void is_type(const PmGraph *g, const char *value, const char *want)
{
	const PmType *t = pm_value_type(g, pm_graph_find_value(g, value));
	PmStr s = PM_STR_INIT;

	for (int k = 0; k < t->rank; k++) {
		pm_str_add(&s, k ? "," : "");
		if (t->dim[k] < 0)
			pm_str_add(&s, name_of(g, t->dim[k]));
		else
			pm_str_addi(&s, t->dim[k]);
	}
	assert_string_equal(s.s, want);
	pm_str_release(&s);
}

static void shapes_computed_by_nodes_stay_formulas(void **state)
{
	PmStr m = pm_ob_spec(18, dynamic);
	PmGraph *g = import_ok(&m, NULL);

	(void)state;
	is_type(g, "x4", "batch,seq,4,8");
	is_type(g, "sc", "batch,4,seq,seq");
	is_type(g, "flat", "batch*seq,32");
	is_type(g, "tw", "2*batch*seq,32");
	is_type(g, "mask", "batch,seq + 1");
	pm_graph_free(g);
	pm_str_release(&m);
}

/* Bound while it is read, or afterwards, in one go or name by name: the same model. */
static void binding_gives_the_model_of_those_sizes(void **state)
{
	static const PmDimSize sizes[] = { { "batch", 4 }, { "seq", 16 } };
	PmOnnxOpts opts = { .dims = sizes, .n_dims = 2 };
	PmStr m = pm_ob_spec(18, dynamic);
	PmGraph *read = import_ok(&m, &opts), *later = import_ok(&m, NULL);
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_graph_bind_dims(later, &sizes[1], 1, &err) || pm_graph_bind_dims(later, &sizes[0], 1, &err) ||
	    pm_verify(later, &err))
		fail_msg("%s", err.text);
	for (int k = 0; k < 2; k++) {
		const PmGraph *g = k ? later : read;

		is_type(g, "x4", "4,16,4,8");
		is_type(g, "flat", "64,32");
		is_type(g, "tw", "128,32");
		is_type(g, "mask", "4,17");
		assert_int_equal(pm_graph_n_nodes(g), 10); /* the shape arithmetic is gone */
	}
	pm_graph_free(read);
	pm_graph_free(later);
	pm_str_release(&m);
}

static void impossible_sizes_are_refused(void **state)
{
	static const PmDimSize bad = { "n", 3 }, negative = { "n", -1 };
	PmStr m = pm_ob_spec(18, "i x float n,4\ni y float 2,4\no z\nn Add x,y -> z");
	PmGraph *g = import_ok(&m, NULL);
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_graph_bind_dims(g, &negative, 1, &err), PM_E_INVALID);
	assert_string_equal(err.text, "The size -1 for 'n' is negative; give it one.");
	pm_err_init(&err);
	assert_int_equal(pm_graph_bind_dims(g, &bad, 1, &err), PM_E_SHAPE);
	assert_string_equal(err.text,
			    "In node 1 (Add -> 'z'), the operands cannot be broadcast together (3 against "
			    "2): operand 0 ('x') is float[3,4] and operand 1 ('y') is float[2,4].");
	pm_graph_free(g);
	pm_str_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas_have_one_spelling),
		cmocka_unit_test(what_cannot_be_said_is_unknown),
		cmocka_unit_test(formulas_have_the_value_of_their_parts),
		cmocka_unit_test(parts_of_a_formula_can_be_bound),
		cmocka_unit_test(shapes_computed_by_nodes_stay_formulas),
		cmocka_unit_test(binding_gives_the_model_of_those_sizes),
		cmocka_unit_test(impossible_sizes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
