/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_einsum.c - Einsum, group normalisation, running sums and remainders against other operators. */
#include "tests/lib/graphs/eval.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static PmTensor copy(const PmTensor *t)
{
	PmTensor c;

	assert_int_equal(pm_tensor_copy(&c, t, NULL), PM_OK);
	return c;
}

static void einsum_says_what_other_operators_do(void **state)
{
	int64_t ad[3] = { 2, 3, 4 }, bd[3] = { 2, 4, 5 }, sq[2] = { 4, 4 }, k;
	PmTensor a, b, s, trace = eval_vector(PM_F64, (double[]){ 0 }, 1);
	PmRng r;

	(void)state;
	pm_rng_init(&r, 31);
	a = eval_normal(&r, 3, ad);
	b = eval_normal(&r, 3, bd);
	s = eval_normal(&r, 2, sq);
	eval_same(eval_take2("Einsum", "equation='bij,bjk->bik'", copy(&a), copy(&b)),
		  eval_take2("MatMul", "", copy(&a), copy(&b)), 1e-12, "matrix product");
	eval_same(eval_take2("Einsum", "equation='...ij,...jk'", copy(&a), copy(&b)),
		  eval_take2("MatMul", "", copy(&a), copy(&b)), 1e-12, "ellipsis");
	eval_same(eval_take1("Einsum", "equation='bij->jbi'", copy(&a)),
		  eval_take1("Transpose", "perm=[2,0,1]", copy(&a)), 0, "transpose");
	eval_same(eval_take1("Einsum", "equation='bij->i'", copy(&a)),
		  eval_take1("ReduceSum", "axes=[0,2] keepdims=0", copy(&a)), 1e-12, "sum");
	eval_same(eval_take2("Einsum", "equation='bij,bij->bij'", copy(&a), copy(&a)),
		  eval_take2("Mul", "", copy(&a), copy(&a)), 0, "product");
	pm_tensor_release(&a);
	pm_tensor_release(&b);
	for (k = 0; k < 4; k++)
		pm_tensor_set(&trace, 0, pm_tensor_get(&trace, 0) + pm_tensor_get(&s, k * 5));
	eval_same(eval_take1("Einsum", "equation='ii->'", s), eval_take1("Squeeze", "axes=[0]", trace), 1e-12,
		  "trace");
}

/* Two operands, bit for bit: the sum over l and k, l first, in every order of the operands' and the result's
 * axes, and with extents of 1 that broadcast. */
static void products_have_the_bits_of_loops(void **state)
{
	static const char *const equation[] = { "bilk,blkj->bij", "lbki,kjlb->jbi", "likb,jlbk->ijb" };
	static const char *const axes[][3] = { { "bilk", "blkj", "bij" },
					       { "lbki", "kjlb", "jbi" },
					       { "likb", "jlbk", "ijb" } };
	const char *names = "bijlk";
	PmRng r;

	(void)state;
	pm_rng_init(&r, 33);
	for (int round = 0; round < 12; round++) {
		int64_t full[5] = { 3, 19, 31, 2, 13 }, dim[3][4], own[3][4];
		const char *const *a = axes[round % 3];
		PmTensor t[2], want;
		char attrs[64];

		for (int k = 0; k < 3; k++)
			for (int i = 0; i < (k < 2 ? 4 : 3); i++)
				dim[k][i] = full[strchr(names, a[k][i]) - names];
		if (round >= 6) /* the batch is broadcast */
			dim[1][strchr(a[1], 'b') - a[1]] = 1;
		for (int k = 0; k < 2; k++)
			t[k] = eval_normal(&r, 4, dim[k]);
		want = eval_tensor(PM_F64, 3, dim[2]);
		for (int k = 0; k < 3; k++)
			for (int64_t i = k < 2 ? 4 : 3, s = 1; i-- > 0; s *= dim[k][i])
				own[k][i] = dim[k][i] == 1 ? 0 : s;
		for (int64_t n = 0; n < 3 * 19 * 31 * 2 * 13; n++) {
			int64_t v[5], at[3] = { 0 }, rest = n;
			volatile double product;

			for (int i = 5; i-- > 0; rest /= full[i])
				v[i] = rest % full[i];
			for (int k = 0; k < 3; k++)
				for (int i = 0; a[k][i]; i++)
					at[k] += v[strchr(names, a[k][i]) - names] * own[k][i];
			product = ((double *)t[0].data)[at[0]] * ((double *)t[1].data)[at[1]];
			((double *)want.data)[at[2]] += product;
		}
		snprintf(attrs, sizeof attrs, "equation='%s'", equation[round % 3]);
		eval_same(eval_take2("Einsum", attrs, t[0], t[1]), want, 0, attrs);
	}
}

/* One group is LayerNormalization over everything but the batch, without weights. */
static void one_group_is_layer_normalisation(void **state)
{
	int64_t d[3] = { 2, 3, 5 }, c = 3, wd[2] = { 3, 5 }, k;
	PmTensor x, one = eval_tensor(PM_F64, 1, &c), zero = eval_tensor(PM_F64, 1, &c);
	PmTensor w = eval_tensor(PM_F64, 2, wd);
	PmRng r;

	(void)state;
	pm_rng_init(&r, 32);
	x = eval_normal(&r, 3, d);
	for (k = 0; k < 3; k++)
		pm_tensor_set(&one, k, 1);
	for (k = 0; k < 15; k++)
		pm_tensor_set(&w, k, 1);
	eval_same(eval_take3("GroupNormalization", "num_groups=1", copy(&x), copy(&one), copy(&zero)),
		  eval_take2("LayerNormalization", "axis=1", copy(&x), w), 1e-12, "one group");
	/* As many groups as channels are InstanceNormalization. */
	pm_tensor_set(&one, 1, 4);
	pm_tensor_set(&zero, 2, -2);
	eval_same(eval_take3("GroupNormalization", "num_groups=3", copy(&x), copy(&one), copy(&zero)),
		  eval_take3("InstanceNormalization", "", copy(&x), copy(&one), copy(&zero)), 0,
		  "a group per channel");
	pm_tensor_release(&x);
	pm_tensor_release(&one);
	pm_tensor_release(&zero);
}

/* sum(x[..k]) = product with a triangle of ones. */
static void running_sums_are_triangles(void **state)
{
	static const char *const attrs[] = { "", "exclusive=1", "reverse=1", "exclusive=1 reverse=1" };
	int64_t d[2] = { 3, 5 }, t[2] = { 5, 5 }, i, j;
	PmTensor x;
	PmRng r;
	int m;

	(void)state;
	pm_rng_init(&r, 33);
	x = eval_normal(&r, 2, d);
	for (m = 0; m < 4; m++) {
		PmTensor tri = eval_tensor(PM_F64, 2, t);

		for (i = 0; i < 5; i++)
			for (j = 0; j < 5; j++) {
				int64_t from = m & 2 ? j : i, to = m & 2 ? i : j;

				pm_tensor_set(&tri, i * 5 + j, m & 1 ? from < to : from <= to);
			}
		eval_same(eval_take_with("CumSum", attrs[m], copy(&x), "int64=-1"),
			  eval_take2("MatMul", "", copy(&x), tri), 1e-12, attrs[m]);
	}
	pm_tensor_release(&x);
}

static void remainders_have_the_right_sign(void **state)
{
	static const double a[] = { 7, -7, 7, -7, 6, 5 }, b[] = { 3, 3, -3, -3, 3, 0 };
	static const double python[] = { 1, 2, -2, -1, 0, 0 }, c[] = { 1, -1, 1, -1, 0, 0 };

	(void)state;
	eval_same(eval_take2("Mod", "", eval_vector(PM_I64, a, 6), eval_vector(PM_I64, b, 6)),
		  eval_vector(PM_I64, python, 6), 0, "imod");
	eval_same(eval_take2("Mod", "fmod=1", eval_vector(PM_I32, a, 6), eval_vector(PM_I32, b, 6)),
		  eval_vector(PM_I32, c, 6), 0, "irem");
	eval_same(eval_take2("Mod", "fmod=1", eval_vector(PM_F64, a, 5), eval_vector(PM_F64, b, 5)),
		  eval_vector(PM_F64, c, 5), 0, "fmod");
}

static void logarithms_of_sums_do_not_overflow(void **state)
{
	static const double x[] = { 1000, 1000, -INFINITY }, small[] = { 1, 3 };
	double want = 1000 + log(2), four = log(4);

	(void)state;
	eval_same(eval_take1("ReduceLogSumExp", "axes=[0]", eval_vector(PM_F64, x, 3)),
		  eval_vector(PM_F64, &want, 1), 1e-15, "large");
	eval_same(eval_take1("ReduceLogSum", "axes=[0]", eval_vector(PM_F64, small, 2)),
		  eval_vector(PM_F64, &four, 1), 1e-15, "sum");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(einsum_says_what_other_operators_do),
		cmocka_unit_test(products_have_the_bits_of_loops),
		cmocka_unit_test(one_group_is_layer_normalisation),
		cmocka_unit_test(running_sums_are_triangles),
		cmocka_unit_test(remainders_have_the_right_sign),
		cmocka_unit_test(logarithms_of_sums_do_not_overflow),
	};

	return cmocka_run_group_tests_name("ref_einsum", tests, NULL, NULL);
}
