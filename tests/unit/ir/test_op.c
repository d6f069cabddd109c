/* SPDX-License-Identifier: Apache-2.0 */
/* test_op.c - rules of the operator descriptors. */
#include "ir/core/op.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void every_name_finds_its_row(void **state)
{
	int i;

	(void)state;
	for (i = PM_OP_NONE + 1; i < PM_N_OPS; i++)
		assert_int_equal(pm_op_from_name(pm_op_desc((PmOp)i)->name), i);
	assert_int_equal(pm_op_from_name("relu"), PM_OP_NONE);
	assert_int_equal(pm_op_from_name(""), PM_OP_NONE);
	assert_int_equal(pm_op_from_name(NULL), PM_OP_NONE);
}

static void descriptors_hold_what_the_row_says(void **state)
{
	const PmOpDesc *d = pm_op_desc(PM_OP_Gemm);

	(void)state;
	assert_string_equal(d->name, "Gemm");
	assert_int_equal(d->in_min, 2);
	assert_int_equal(d->in_max, 3);
	assert_int_equal(d->flags, PM_OPF_DOT);
	assert_int_equal(d->types, PM_TYPES_NUM);
	assert_int_equal(d->n_attrs, 4);
	assert_string_equal(d->infer, "gemm");
	assert_null(d->expr);
	d = pm_op_desc(PM_OP_Max);
	assert_int_equal(d->in_max, -1);
	assert_int_equal(d->flags, PM_OPF_EW | PM_OPF_COMM | PM_OPF_FOLD);
	d = pm_op_desc(PM_OP_Add);
	assert_string_equal(d->expr, "a + b");
	assert_string_equal(d->iexpr, "iadd(a, b)");
	assert_int_equal(pm_op_desc(PM_OP_Split)->out_max, -1);
}

static void a_dash_is_no_expression_but_a_letter_is_one(void **state)
{
	(void)state;
	assert_string_equal(pm_op_desc(PM_OP_Cast)->expr, "a");
	assert_null(pm_op_desc(PM_OP_Not)->expr);
	assert_string_equal(pm_op_desc(PM_OP_Not)->iexpr, "a ? 0 : 1");
	assert_string_equal(pm_op_desc(PM_OP_Neg)->expr, "-a");
	assert_null(pm_op_desc(PM_OP_Sigmoid)->iexpr);
}

static void attributes_have_kind_and_default(void **state)
{
	const PmAttrDesc *a = pm_op_attr_desc(PM_OP_LeakyRelu, "alpha");

	(void)state;
	assert_int_equal(a->kind, PM_ATTR_FLOAT);
	assert_true(a->has_default && a->f == (double)0.01f);
	a = pm_op_attr_desc(PM_OP_Conv, "group");
	assert_true(a->kind == PM_ATTR_INT && a->has_default && a->i == 1);
	a = pm_op_attr_desc(PM_OP_Conv, "pads");
	assert_true(a->kind == PM_ATTR_INTS && !a->has_default);
	a = pm_op_attr_desc(PM_OP_Pad, "mode");
	assert_int_equal(a->kind, PM_ATTR_STRING);
	assert_string_equal(a->s, "constant");
	a = pm_op_attr_desc(PM_OP_Softmax, "axis");
	assert_true(a->kind == PM_ATTR_INT && !a->has_default);
	a = pm_op_attr_desc(PM_OP_ConstantOfShape, "value");
	assert_true(a->kind == PM_ATTR_TENSOR && !a->has_default);
	assert_null(pm_op_attr_desc(PM_OP_Conv, "kernel_shape"));
	assert_null(pm_op_attr_desc(PM_OP_Relu, "alpha"));
}

static void rows_are_consistent(void **state)
{
	int i;

	(void)state;
	for (i = PM_OP_NONE + 1; i < PM_N_OPS; i++) {
		const PmOpDesc *d = pm_op_desc((PmOp)i);

		assert_true(isupper((unsigned char)d->name[0]));
		assert_true(d->in_max < 0 || d->in_min <= d->in_max);
		assert_true(d->out_max < 0 || d->out_min <= d->out_max);
		/* An element-wise row has an expression, another row has none. */
		assert_int_equal((d->flags & PM_OPF_EW) != 0, d->expr || d->iexpr);
		if (d->flags & PM_OPF_COMM)
			assert_true(d->in_max == 2 || (d->flags & PM_OPF_FOLD));
	}
}

static void a_close_name_is_suggested(void **state)
{
	(void)state;
	assert_string_equal(pm_op_suggest("Sigmiod"), "Sigmoid");
	assert_string_equal(pm_op_suggest("relu"), "Relu");
	assert_string_equal(pm_op_suggest("LayerNormalisation"), "LayerNormalization");
	assert_string_equal(pm_op_suggest("Conv2d"), "Conv");
	assert_null(pm_op_suggest("Quaternion"));
	assert_null(pm_op_suggest(""));
	assert_null(pm_op_suggest(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_finds_its_row),
		cmocka_unit_test(descriptors_hold_what_the_row_says),
		cmocka_unit_test(a_dash_is_no_expression_but_a_letter_is_one),
		cmocka_unit_test(attributes_have_kind_and_default),
		cmocka_unit_test(rows_are_consistent),
		cmocka_unit_test(a_close_name_is_suggested),
	};

	return cmocka_run_group_tests_name("op", tests, NULL, NULL);
}
