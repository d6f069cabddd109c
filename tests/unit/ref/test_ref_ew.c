/* SPDX-License-Identifier: Apache-2.0 */
/* test_ref_ew.c - element-wise operators: values, broadcasting, integers that wrap, Cast. */
#include "ir/onnx/onnx.h"
#include "tests/lib/graphs/eval.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Values from tables, to the digits given, or exact. */
typedef struct Value {
	const char *op, *attrs;
	double a, want;
} Value;

static const Value values[] = {
	{ "Relu", "", -2, 0 },
	{ "Relu", "", 3, 3 },
	{ "Relu", "", NAN, NAN },
	{ "LeakyRelu", "alpha=0.25", -2, -0.5 },
	{ "Elu", "alpha=2.0", -1, -1.2642411176571153 },
	{ "Elu", "", 1.5, 1.5 },
	{ "Selu", "alpha=2.0 gamma=3.0", -1, -3.792723352971346 },
	{ "Sigmoid", "", 0, 0.5 },
	{ "Sigmoid", "", 1, 0.7310585786300049 },
	{ "Sigmoid", "", -800, 0 },
	{ "HardSigmoid", "alpha=0.5 beta=0.25", 1, 0.75 },
	{ "HardSigmoid", "", 9, 1 },
	{ "HardSwish", "", 1, 2.0 / 3 },
	{ "HardSwish", "", -4, 0 },
	{ "Tanh", "", 1, 0.7615941559557649 },
	{ "Gelu", "", 1, 0.8413447460685429 },
	{ "Gelu", "approximate='tanh'", 1, 0.8411919906082768 },
	{ "Softplus", "", 0, 0.6931471805599453 },
	{ "Softplus", "", 1000, 1000 },
	{ "Softsign", "", -3, -0.75 },
	{ "Erf", "", 0.5, 0.5204998778130465 },
	{ "Exp", "", 1, 2.718281828459045 },
	{ "Log", "", 10, 2.302585092994046 },
	{ "Log", "", -1, NAN },
	{ "Log", "", 0, -INFINITY },
	{ "Sqrt", "", 2, 1.4142135623730951 },
	{ "Reciprocal", "", -4, -0.25 },
	{ "Reciprocal", "", 0, INFINITY },
	{ "Sin", "", 1, 0.8414709848078965 },
	{ "Cos", "", 1, 0.5403023058681398 },
	{ "Neg", "", 2, -2 },
	{ "Abs", "", -INFINITY, INFINITY },
	{ "Sign", "", -0.1, -1 },
	{ "Sign", "", NAN, NAN },
	{ "Floor", "", -1.5, -2 },
	{ "Ceil", "", -1.5, -1 },
	{ "Round", "", 0.5, 0 },
	{ "Round", "", 1.5, 2 },
	{ "Round", "", -2.5, -2 },
};

static void functions_have_their_known_values(void **state)
{
	size_t k;

	(void)state;
	for (k = 0; k < sizeof values / sizeof values[0]; k++) {
		PmTensor a = eval_vector(PM_F64, &values[k].a, 1);

		eval_same(eval1(values[k].op, values[k].attrs, a), eval_vector(PM_F64, &values[k].want, 1),
			  4e-16, values[k].op);
		pm_tensor_release(&a);
	}
}

/* Shrink has no expression for integers: it is computed in double precision, what is behind the point is
 * dropped. The values are those of ONNX Runtime. */
static void integers_take_expressions_of_floats(void **state)
{
	static const int types[] = { PM_I8, PM_I32, PM_I64 };
	static const double x[] = { -3, -2, -1, 0, 1, 2, 3 },
			    want[2][7] = { { -1, 0, 0, 0, 0, 0, 1 }, { -4, -3, -2, -1, 0, 0, 4 } };
	static const char *const attrs[] = { "bias=1.5 lambd=1.5", "bias=-1.25 lambd=-2.5" };

	(void)state;
	for (size_t t = 0; t < sizeof types / sizeof *types; t++)
		for (int k = 0; k < 2; k++) {
			PmTensor a = eval_vector(types[t], x, 7);

			eval_same(eval1("Shrink", attrs[k], a), eval_vector(types[t], want[k], 7), 0,
				  "Shrink");
			pm_tensor_release(&a);
		}
}

static void a_negated_zero_keeps_its_sign(void **state)
{
	double zero = 0;
	PmTensor a = eval_vector(PM_F64, &zero, 1), y = eval1("Neg", "", a);

	(void)state;
	assert_true(signbit(pm_tensor_get(&y, 0)));
	pm_tensor_release(&a);
	pm_tensor_release(&y);
}

typedef struct Pair {
	const char *op;
	int dtype;
	double a, b, want;
} Pair;

static const Pair pairs[] = {
	{ "Add", PM_I8, 127, 1, -128 },
	{ "Add", PM_I32, 2147483647, 1, -2147483648.0 },
	{ "Sub", PM_U8, 1, 2, 255 },
	{ "Mul", PM_U8, 16, 17, 16 },
	{ "Mul", PM_I64, 4611686018427387904.0, 2, -9223372036854775808.0 },
	{ "Div", PM_I32, -7, 2, -3 },
	{ "Div", PM_I32, 7, 0, 0 },
	{ "Div", PM_I64, -9223372036854775808.0, -1, -9223372036854775808.0 },
	{ "Pow", PM_I64, -3, 3, -27 },
	{ "Pow", PM_I64, 2, -1, 0 },
	{ "Pow", PM_I64, -1, -3, -1 },
	{ "Pow", PM_I32, 0, 0, 1 },
	{ "Pow", PM_F64, 2, 0.5, 1.4142135623730951 },
	{ "Max", PM_I8, -5, 3, 3 },
	{ "Max", PM_F64, NAN, 3, NAN },
	{ "Max", PM_F64, 3, NAN, NAN },
	{ "Min", PM_F64, NAN, 3, NAN },
	{ "Min", PM_F64, 3, NAN, NAN },
	{ "Min", PM_U8, 200, 3, 3 },
	/* From 2^63 on. */
	{ "Max", PM_U64, 0x1p63, 3, 0x1p63 },
	{ "Min", PM_U64, 0x1p63, 3, 3 },
	{ "Div", PM_U64, 0x1p63, 2, 0x1p62 },
	{ "Mod", PM_U64, 0x1p63, 3, 2 },
	{ "Pow", PM_U64, 2, 63, 0x1p63 },
	{ "Sub", PM_U64, 0, 0x1p63, 0x1p63 },
	{ "Sub", PM_U32, 1, 2, 4294967295.0 },
	{ "Add", PM_I16, 32767, 1, -32768 },
	{ "Add", PM_U16, 65535, 2, 1 },
	{ "PRelu", PM_F64, -2, 0.5, -1 },
	{ "PRelu", PM_I32, -2, 3, -6 },
};

static void pairs_have_their_known_values(void **state)
{
	size_t k;

	(void)state;
	for (k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
		PmTensor a = eval_vector(pairs[k].dtype, &pairs[k].a, 1);
		PmTensor b = eval_vector(pairs[k].dtype, &pairs[k].b, 1);

		eval_same(eval2(pairs[k].op, "", a, b), eval_vector(pairs[k].dtype, &pairs[k].want, 1), 4e-16,
			  pairs[k].op);
		pm_tensor_release(&a);
		pm_tensor_release(&b);
	}
}

/* Comparisons and logic against C, over all pairs of a few values, NaN among them. */
static void comparisons_answer_like_c(void **state)
{
	static const double v[] = { -1, 0, 2, INFINITY, NAN };
	int i, j;

	(void)state;
	for (i = 0; i < 5; i++)
		for (j = 0; j < 5; j++) {
			const struct {
				const char *op;
				double want;
			} c[] = {
				{ "Equal", v[i] == v[j] },          { "Less", v[i] < v[j] },
				{ "LessOrEqual", v[i] <= v[j] },    { "Greater", v[i] > v[j] },
				{ "GreaterOrEqual", v[i] >= v[j] },
			};
			PmTensor a = eval_vector(PM_F64, &v[i], 1), b = eval_vector(PM_F64, &v[j], 1);
			size_t k;

			for (k = 0; k < sizeof c / sizeof c[0]; k++)
				eval_same(eval2(c[k].op, "", a, b), eval_vector(PM_BOOL, &c[k].want, 1), 0,
					  c[k].op);
			pm_tensor_release(&a);
			pm_tensor_release(&b);
		}
	for (i = 0; i < 4; i++) {
		double p = i & 1, q = i >> 1, all = p && q, any = p || q, odd = p != q, none = !p;
		PmTensor a = eval_vector(PM_BOOL, &p, 1), b = eval_vector(PM_BOOL, &q, 1);

		eval_same(eval2("And", "", a, b), eval_vector(PM_BOOL, &all, 1), 0, "And");
		eval_same(eval2("Or", "", a, b), eval_vector(PM_BOOL, &any, 1), 0, "Or");
		eval_same(eval2("Xor", "", a, b), eval_vector(PM_BOOL, &odd, 1), 0, "Xor");
		eval_same(eval1("Not", "", a), eval_vector(PM_BOOL, &none, 1), 0, "Not");
		pm_tensor_release(&a);
		pm_tensor_release(&b);
	}
}

/* op(x, y) with broadcasting is op of both expanded; rows longer than the loop's buffers included. */
static void broadcasting_is_expanding_first(void **state)
{
	static const char *const ops[] = { "Add", "Sub", "Mul", "Div", "Max", "Less", "Equal" };
	PmRng r;
	int round, d;

	(void)state;
	pm_rng_init(&r, 21);
	for (round = 0; round < 70; round++) {
		int64_t dim[2][4], out[4], n[2];
		char shape[128] = "int64{";
		PmTensor x[2], wide[2];
		int k;

		for (d = 0; d < 4; d++) {
			out[d] = pm_rng_range(&r, 1, d == 3 && round % 4 == 0 ? 700 : 5);
			for (k = 0; k < 2; k++)
				dim[k][d] = pm_rng_range(&r, 0, 2) ? out[d] : 1;
			if (dim[0][d] == 1 && dim[1][d] == 1)
				out[d] = 1;
			snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "%s%lld", d ? "," : "",
				 (long long)out[d]);
		}
		snprintf(shape + strlen(shape), sizeof shape - strlen(shape), "}");
		for (k = 0; k < 2; k++) {
			int skip = 0;

			n[k] = k ? pm_rng_range(&r, 0, 3) : 0; /* leading axes of 1 may be left out */
			while (skip < n[k] && dim[k][skip] == 1)
				skip++;
			x[k] = eval_normal(&r, 4 - skip, dim[k] + skip);
			wide[k] = eval_with("Expand", "", x[k], shape);
		}
		eval_same(eval2(ops[round % 7], "", x[0], x[1]), eval2(ops[round % 7], "", wide[0], wide[1]),
			  0, ops[round % 7]);
		for (k = 0; k < 2; k++) {
			pm_tensor_release(&x[k]);
			pm_tensor_release(&wide[k]);
		}
	}
}

static void variadic_rows_fold_from_the_left(void **state)
{
	PmTensor in[3], sum, pair;
	PmRng r;

	(void)state;
	pm_rng_init(&r, 22);
	in[0] = eval_normal(&r, 1, (int64_t[]){ 4 });
	in[1] = eval_normal(&r, 2, (int64_t[]){ 3, 1 });
	in[2] = eval_normal(&r, 3, (int64_t[]){ 2, 1, 1 });
	eval_all("Sum", "", in, 3, NULL, &sum, 1);
	pair = eval2("Add", "", in[0], in[1]);
	eval_same(sum, eval2("Add", "", pair, in[2]), 0, "Sum");
	eval_same(eval1("Max", "", in[1]), eval1("Identity", "", in[1]), 0, "Max of one");
	pm_tensor_release(&in[0]);
	pm_tensor_release(&in[1]);
	pm_tensor_release(&in[2]);
	pm_tensor_release(&pair);
}

static void clip_without_bounds_changes_nothing(void **state)
{
	double v[] = { -INFINITY, -3, 0, 3, INFINITY, NAN }, low[] = { -1, -1, 0, 3, INFINITY, NAN };
	double high[] = { -INFINITY, -3, 0, 1, 1, NAN }, ends[] = { INT64_MIN, -1 }, one = 1, less = -1;
	PmTensor x = eval_vector(PM_F64, v, 6), y, in[3], lo, hi;

	(void)state;
	eval_same(eval1("Clip", "", x), eval_vector(PM_F64, v, 6), 0, "no bounds");
	lo = eval_tensor(PM_F64, 0, NULL);
	hi = eval_tensor(PM_F64, 0, NULL);
	pm_tensor_set(&lo, 0, less);
	pm_tensor_set(&hi, 0, one);
	eval_same(eval2("Clip", "", x, lo), eval_vector(PM_F64, low, 6), 0, "lower bound");
	in[0] = x;
	in[1].type = pm_type_unknown();
	in[2] = hi;
	eval_all("Clip", "", in, 3, NULL, &y, 1);
	eval_same(y, eval_vector(PM_F64, high, 6), 0, "upper bound");
	pm_tensor_release(&x);
	x = eval_vector(PM_I64, ends, 2);
	eval_same(eval1("Clip", "", x), eval_vector(PM_I64, ends, 2), 0, "integers");
	pm_tensor_release(&x);
	pm_tensor_release(&lo);
	pm_tensor_release(&hi);
}

typedef struct CastCase {
	int from, to;
	double v, want;
} CastCase;

static const CastCase casts[] = {
	{ PM_F64, PM_F32, 0.1, 0.10000000149011612 },
	{ PM_F64, PM_F16, 2049, 2048 },
	{ PM_F64, PM_F16, 2051, 2052 },
	{ PM_F64, PM_F16, 65520, INFINITY },
	{ PM_F64, PM_F16, 65519, 65504 },
	{ PM_F64, PM_BF16, 257, 256 },
	{ PM_F64, PM_BF16, 259, 260 },
	{ PM_F64, PM_I32, -1.9, -1 },
	{ PM_F64, PM_I32, 1e20, 2147483647 },
	{ PM_F64, PM_I8, -1000, -128 },
	{ PM_F64, PM_U8, 255.9, 255 },
	{ PM_F64, PM_I64, NAN, 0 },
	{ PM_F64, PM_BOOL, 0.25, 1 },
	{ PM_F64, PM_BOOL, NAN, 1 },
	{ PM_F64, PM_BOOL, -0.0, 0 },
	{ PM_I64, PM_I8, 200, -56 },
	{ PM_I64, PM_U8, -1, 255 },
	{ PM_I64, PM_BOOL, 256, 1 },
	{ PM_I64, PM_F32, 16777217, 16777216 },
	{ PM_I64, PM_F16, 4097, 4096 },
	{ PM_BOOL, PM_F32, 1, 1 },
	{ PM_F16, PM_F64, 0.5, 0.5 },
	{ PM_F64, PM_U64, 0x1.8p63, 0x1.8p63 },
	{ PM_F64, PM_U64, 1e30, 0x1p64 }, /* as a double; the element is 2^64 - 1 */
	{ PM_F64, PM_U64, -3, 0 },
	{ PM_U64, PM_F64, 0x1.8p63, 0x1.8p63 },
	{ PM_U64, PM_F32, 0x1p63, 0x1p63 },
	{ PM_F64, PM_U16, 70000, 65535 },
	{ PM_F64, PM_I16, -70000, -32768 },
	{ PM_I64, PM_U32, -1, 4294967295.0 },
};

static void casts_round_truncate_wrap_and_saturate(void **state)
{
	size_t k;

	(void)state;
	for (k = 0; k < sizeof casts / sizeof casts[0]; k++) {
		PmTensor x = eval_vector(casts[k].from, &casts[k].v, 1);
		char attrs[32];

		snprintf(attrs, sizeof attrs, "to=%d", pm_dtype_to_onnx(casts[k].to));
		eval_same(eval1("Cast", attrs, x), eval_vector(casts[k].to, &casts[k].want, 1), 0, attrs);
		pm_tensor_release(&x);
	}
}

/* Nothing but Cast rounds: 1 + 2^-40 - 1 survives in float32 graphs until the output. */
static void results_are_not_rounded_on_the_way(void **state)
{
	PmTensor in[2], big, out;
	double tiny = 9.094947017729282e-13, one = 1; /* 2^-40 */

	(void)state;
	in[0] = eval_vector(PM_F32, &one, 1);
	in[1] = eval_vector(PM_F32, &tiny, 1);
	/* One node: the sum of three is folded in doubles. */
	{
		double minus = -1;
		PmTensor three[3] = { in[0], in[1], eval_vector(PM_F32, &minus, 1) };

		eval_all("Sum", "", three, 3, NULL, &out, 1);
		eval_same(out, eval_vector(PM_F32, &tiny, 1), 0, "inside");
		pm_tensor_release(&three[2]);
	}
	big = eval2("Add", "", in[0], in[1]);
	eval_same(big, eval_vector(PM_F32, &one, 1), 0, "the output is rounded");
	pm_tensor_release(&in[0]);
	pm_tensor_release(&in[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_their_known_values),
		cmocka_unit_test(integers_take_expressions_of_floats),
		cmocka_unit_test(a_negated_zero_keeps_its_sign),
		cmocka_unit_test(pairs_have_their_known_values),
		cmocka_unit_test(comparisons_answer_like_c),
		cmocka_unit_test(broadcasting_is_expanding_first),
		cmocka_unit_test(variadic_rows_fold_from_the_left),
		cmocka_unit_test(clip_without_bounds_changes_nothing),
		cmocka_unit_test(casts_round_truncate_wrap_and_saturate),
		cmocka_unit_test(results_are_not_rounded_on_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
